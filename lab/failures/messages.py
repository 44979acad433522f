"""The error messages about shapes, which are none of the 25 failures."""

from __future__ import annotations

from lab.failures import programs
from lab.failures.failure import Demonstration

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
