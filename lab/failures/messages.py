"""The error messages that Simulate Error explains: those of the failures that have one, and two about shapes."""

from __future__ import annotations

import re

from lab.failures import programs
from lab.failures.catalogue import BY_KEY
from lab.failures.failure import Demonstration
from lab.traps.in_place import Experiment

SHAPES = {
    "product": Demonstration(
        "Shapes that cannot be multiplied",
        (
            "mat1 and mat2 shapes cannot be multiplied",
            "size mismatch, got input (2), mat (2x3), vec (4)",
            "inconsistent tensor size, expected tensor [3] and src [4]",
            "the last axis of the first must be as long as the second-to-last",
            "matmul: Input operand 1 has a mismatch in its core dimension",
            "dot_general requires contracting dimensions to have the same shape",
        ),
        ("mat", "matmul", "multiplied"),
        "A matrix product or a layer (Linear) stops in the forward pass.",
        "In a matrix product the last axis of the left one must be as long as the second-to-last of the right one. In "
        "a layer: its number of inputs must be what the layer before, or the data, has as outputs.",
        "Print both shapes. Often one of the two has to be transposed (`x @ W.T`), an image has to be flattened first, "
        "or the layer was given the wrong number of inputs.",
        programs.product,
        programs.product_fixed,
    ),
    "sizes": Demonstration(
        "Sizes that do not match",
        (
            "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0",
            "from the last axis backwards, lengths must be equal or one",
            "operands could not be broadcast together with shapes",
            "Incompatible shapes for broadcasting",
        ),
        ("broadcast", "broadcasting", "singleton"),
        "A sum, a difference, a product element by element, or a loss stops in the forward pass.",
        "Element by element, two tensors must have the same shape, or one that can be repeated to it: from the last "
        "axis backwards, lengths must be equal or one of them 1.",
        "Print both shapes, and make them equal where they are made. Do not add an axis just to silence it: (N, 1) "
        "minus (N,) is allowed, and gives N x N numbers that nobody wanted.",
        programs.sizes,
        programs.sizes_fixed,
    ),
}
MESSAGES: dict[str, Demonstration] = {
    **{key: BY_KEY[key] for key in ("inplace", "twice", "scalar", "leaf", "nograph", "numpy")},
    **SHAPES,
    **{key: BY_KEY[key] for key in ("nonleafgrad", "integers", "optimizer")},
}


def experiment_for(text: str) -> Experiment:
    """The four steps that cause what an in-place message of PyTorch is about, with the guard on.

    "which is output 0 of ExpBackward0" says that the array that was written to is the result of exp. Of the operations
    here exp and relu need their result; any other array can only have been needed as the input of something.
    """
    made_by = re.search(r"output \d+ of ([a-z]+?)(?:Backward\d*)?\b", text, re.IGNORECASE)
    op = made_by[1].lower() if made_by else ""
    if op in ("relu", "threshold"):
        return Experiment("relu", "output", guard=True)
    if op in ("exp", "sigmoid", "tanh", "sqrt", "softmax", "logsoftmax"):
        return Experiment("exp", "output", guard=True)
    return Experiment("mul", "input", guard=True)
