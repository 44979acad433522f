"""From the text of an autograd error to a small program that causes exactly that, and one that does not.

The messages are PyTorch's, with those of this engine and of other libraries for the same mistake. Each demonstration
is a pair of functions: their lines are shown, and they are run to get this engine's own error and the right gradient.
"""

import re
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np

from lab.traps import finder
from lab.traps.finder import Match
from lab.traps.in_place import Experiment
from lab.traps.lines import body
from model import SGD, Tensor, no_grad


def _written_to() -> None:
    x = Tensor([1.0, 2.0], label="x")
    y = x.exp()
    y.label = "y"
    loss = y.sum()
    y.data += 1  # exp needs y to compute its gradient
    loss.backward()


def _written_to_fixed() -> Any:
    x = Tensor([1.0, 2.0], label="x")
    y = x.exp()
    y.label = "y"
    loss = y.sum()
    z = y + 1  # a new tensor: y stays as it was
    loss.backward()
    return x.grad, z


def _twice() -> None:
    w = Tensor(3.0, label="w")
    loss = w * w
    loss.backward()  # frees the graph
    loss.backward()


def _twice_fixed() -> Any:
    w = Tensor(3.0, label="w")
    loss = w * w
    loss.backward()
    w.zero_grad()
    loss = w * w  # a new forward pass makes a new graph
    loss.backward()
    return w.grad, None


def _not_scalar() -> None:
    w = Tensor([1.0, 2.0, 3.0], label="w")
    loss = w * w  # three numbers
    loss.backward()


def _not_scalar_fixed() -> Any:
    w = Tensor([1.0, 2.0, 3.0], label="w")
    loss = (w * w).sum()  # one number
    loss.backward()
    return w.grad, None


def _leaf() -> None:
    w = Tensor([1.0, 2.0], label="w")
    loss = (w * w).sum()
    w.data -= 0.1  # PyTorch refuses this line when it is written w -= 0.1
    loss.backward()


def _leaf_fixed() -> Any:
    w = Tensor([1.0, 2.0], label="w")
    loss = (w * w).sum()
    loss.backward()
    SGD([w], lr=0.1).step()  # changes w, once its gradient is there
    return w.grad, None


def _no_graph() -> None:
    w = Tensor([1.0, 2.0], label="w")
    with no_grad():
        loss = (w * w).sum()  # computed, but nothing is written down
    loss.label = "loss"
    loss.backward()


def _no_graph_fixed() -> Any:
    w = Tensor([1.0, 2.0], label="w")
    loss = (w * w).sum()  # outside no_grad()
    loss.backward()
    return w.grad, None


def _numpy() -> None:
    x = Tensor([1.0, 2.0], label="x")
    y = np.exp(np.asarray(x))  # NumPy knows nothing of gradients
    loss = Tensor(y).sum()
    loss.backward()


def _numpy_fixed() -> Any:
    x = Tensor([1.0, 2.0], label="x")
    y = x.exp()  # the tensor's own exp
    y.sum().backward()
    shown = y.detach().numpy()  # the values alone, to print or to plot
    return x.grad, shown


def _product() -> None:
    x = Tensor(np.ones((2, 3)), label="x")  # two samples of three numbers
    W = Tensor(np.ones((4, 3)), label="W")
    (x @ W).sum().backward()


def _product_fixed() -> Any:
    x = Tensor(np.ones((2, 3)), label="x")
    W = Tensor(np.ones((4, 3)), label="W")
    (x @ W.T).sum().backward()  # (2, 3) @ (3, 4): the 3 in the middle agrees
    return W.grad, None


def _sizes() -> None:
    x = Tensor([1.0, 2.0, 3.0], label="x")
    target = Tensor([1.0, 2.0, 3.0, 4.0], label="target")
    loss = ((x - target) ** 2).sum()
    loss.backward()


def _sizes_fixed() -> Any:
    x = Tensor([1.0, 2.0, 3.0], label="x")
    target = Tensor([1.0, 2.0, 4.0], label="target")  # as many as x has
    loss = ((x - target) ** 2).sum()
    loss.backward()
    return x.grad, None


def _non_leaf_grad() -> None:
    w = Tensor([1.0, 2.0], label="w")
    h = w * 3
    h.sum().backward()
    print(h.grad)  # h is a result: PyTorch has let its gradient go


def _non_leaf_grad_fixed() -> Any:
    w = Tensor([1.0, 2.0], label="w")
    h = w * 3
    h.sum().backward()
    return w.grad, h  # ask the leaf


def _integers() -> None:
    x = Tensor([1, 2], label="x")  # whole numbers
    (x * x).sum().backward()


def _integers_fixed() -> Any:
    x = Tensor([1.0, 2.0], label="x")
    (x * x).sum().backward()
    return x.grad, None


def _optimizes_result() -> None:
    w = Tensor([1.0, 2.0], label="w")
    scaled = w * 0.1  # a result, not a parameter
    SGD([scaled], lr=0.1)


def _optimizes_result_fixed() -> Any:
    w = Tensor([1.0, 2.0], label="w")
    optimizer = SGD([w], lr=0.1)  # the leaf itself
    loss = ((w * 0.1) ** 2).sum()
    loss.backward()
    optimizer.step()
    return w.grad, None


@dataclass(frozen=True)
class Message:
    """One mistake: the phrases by which it is known, what it means, and the pair of programs.

    phrases   PyTorch's text first, then that of other versions, of this engine and of other libraries
    keywords  words that speak for it where nothing better is found
    tells     what tells it from the others, for a text that is not clear
    silent    what this engine does where it raises no error
    """

    title: str
    phrases: tuple[str, ...]
    keywords: tuple[str, ...]
    tells: str
    meaning: str
    fix: str
    broken: Callable[[], None]
    fixed: Callable[[], Any]
    silent: str = ""

    def cause(self) -> tuple[str, str]:
        """The lines that go wrong, and the error that this engine raised when they were run now; "" for none."""
        with redirect_stdout(StringIO()):
            try:
                self.broken()
            except (RuntimeError, TypeError, ValueError) as error:
                return body(self.broken), f"{type(error).__name__}: {error}"
        if self.silent:
            return body(self.broken), ""
        raise AssertionError(f"The demonstration of “{self.title}” raised no error.")

    def cure(self) -> tuple[str, np.ndarray]:
        """The lines that go right, and the gradient that they gave when they were run now."""
        return body(self.fixed), np.array(self.fixed()[0])


MESSAGES = {
    "inplace": Message(
        "Modified by an inplace operation",
        (
            "one of the variables needed for gradient computation has been modified by an inplace operation",
            "is at version 1; expected version 0 instead",
            "as it was in the forward pass, but it has been written to since",
        ),
        ("inplace", "modified"),
        "backward() stops, and the text speaks of a version, or of a variable that was modified.",
        "An operation kept an array for its backward step, and something wrote to that array before `backward()` ran. "
        "With the changed numbers the gradient would be wrong, so it is refused.",
        "Make a new tensor instead of writing into an old one: `y = y + 1`, not `y += 1`; `F.relu(x)`, not "
        "`inplace=True`. If it is a parameter, step the optimizer after `backward()`. Do not reach for `.data` in "
        "PyTorch: its check does not see such a write, and the gradient is wrong without a word.",
        _written_to,
        _written_to_fixed,
    ),
    "twice": Message(
        "Backward a second time",
        (
            "Trying to backward through the graph a second time",
            "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad()",
            "the buffers have already been freed",
            "Specify retain_graph=True if you need to backward through the graph a second time",
            "backward() has already gone through",
            "A non-persistent GradientTape can only be used to compute one set of gradients",
        ),
        ("retain_graph", "freed", "twice"),
        "backward() stops the second time it goes through a graph, often in the second round of a loop.",
        "`backward()` takes the graph apart as it goes, to give the memory back. A second call finds nothing to go "
        "through. Often a loss, or a hidden state, is carried from one step of a loop into the next.",
        "Run the forward pass again for each `backward()`. If a tensor is carried over on purpose, cut it off with "
        "`detach()`. Two losses on one trunk: add them and call `backward()` once, or give the first call "
        "`retain_graph=True`.",
        _twice,
        _twice_fixed,
    ),
    "scalar": Message(
        "Only for scalar outputs",
        (
            "grad can be implicitly created only for scalar outputs",
            "backward() starts from a single number",
            "Gradient only defined for scalar-output functions",
        ),
        ("scalar", "implicitly"),
        "backward() is called on a tensor of more than one number.",
        "A backward pass starts with the derivative of the result by itself. For one number that is 1. For several it "
        "has to be said how much each of them counts.",
        "Reduce the result to one number: `.sum()` or `.mean()`. Or pass the weights: `backward(grad)` with the shape "
        "of the result.",
        _not_scalar,
        _not_scalar_fixed,
    ),
    "leaf": Message(
        "A leaf used in an in-place operation",
        (
            "a leaf Variable that requires grad is being used in an in-place operation",
            "a leaf Variable that requires grad has been used in an in-place operation",
            "a view of a leaf Variable that requires grad is being used in an in-place operation",
        ),
        ("leaf",),
        "The line that writes to a parameter stops, before any backward().",
        "A parameter was changed in place where operations are recorded. Nothing but the graph would remember its old "
        "value, and the gradient belongs to that value. PyTorch refuses the write itself. Here a write is allowed, and "
        "`backward()` refuses if it needed the old values.",
        "Change parameters after `backward()`, with the optimizer. By hand in PyTorch: "
        "`with torch.no_grad(): w -= lr * w.grad`.",
        _leaf,
        _leaf_fixed,
    ),
    "nograph": Message(
        "Does not require grad",
        (
            "element 0 of tensors does not require grad and does not have a grad_fn",
            "backward() has nothing to differentiate",
            "was not computed from tensors that require gradients",
            "No gradients provided for any variable",
        ),
        ("grad_fn", "requires_grad", "no_grad", "none"),
        "backward() stops at once: nothing that the loss was computed from requires a gradient.",
        "The loss has no history: it was computed under `no_grad()`, from `detach()`ed tensors, by way of NumPy or "
        "`.item()`, or from inputs that do not require gradients.",
        "Compute the loss from the parameters: outside `no_grad()`, and without `detach()`, `.numpy()` or `.item()` on "
        "the way.",
        _no_graph,
        _no_graph_fixed,
    ),
    "numpy": Message(
        "NumPy on a tensor that requires grad",
        (
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
            "Can't call numpy() on Tensor that requires grad",
            "Can't call numpy() on Variable that requires grad",
            "NumPy would lose the graph of",
            "does not support ufuncs (__array_ufunc__=None)",
            "The numpy.ndarray conversion method __array__() was called on traced array",
        ),
        ("numpy", "ndarray"),
        "A line makes an array of a tensor: .numpy(), np.something(tensor), a plot.",
        "NumPy knows no gradients. What it computes from this tensor would have no history, and the gradient would "
        "stop there without a word. So it is refused.",
        "On the way to the loss use the tensor's own functions: `x.exp()`, not `np.exp(x)`. To print or to plot, take "
        "the values alone: `y.detach().numpy()`. In PyTorch that array is the memory of y: write to a `.copy()` only.",
        _numpy,
        _numpy_fixed,
    ),
    "product": Message(
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
        _product,
        _product_fixed,
    ),
    "sizes": Message(
        "Sizes that do not match",
        (
            "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0",
            "from the last axis backwards, lengths must be equal or one of them 1",
            "operands could not be broadcast together with shapes",
            "Incompatible shapes for broadcasting",
        ),
        ("broadcast", "broadcasting", "singleton"),
        "A sum, a difference, a product element by element, or a loss stops in the forward pass.",
        "Element by element, two tensors must have the same shape, or one that can be repeated to it: from the last "
        "axis backwards, lengths must be equal or one of them 1.",
        "Print both shapes, and make them equal where they are made. Do not add an axis just to silence it: (N, 1) "
        "minus (N,) is allowed, and gives N x N numbers that nobody wanted.",
        _sizes,
        _sizes_fixed,
    ),
    "nonleafgrad": Message(
        "The .grad of a result",
        (
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
            "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
            "Tensor, use .retain_grad() on the non-leaf Tensor.",
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed",
            "use .retain_grad() on the non-leaf Tensor",
        ),
        ("retain_grad", "leaf", "populated", "none"),
        "It is a warning, at a line that reads .grad, and what it reads is None.",
        "PyTorch keeps gradients of leaves only: of tensors that you made, not of results. This engine keeps both.",
        "Read the `.grad` of the leaf. To see that of a result in PyTorch, call `h.retain_grad()` before `backward()`. "
        "A parameter that was moved or scaled (`.to(device)`, `* 0.1`) has become a result: make it a leaf again with "
        "`.detach().requires_grad_()`.",
        _non_leaf_grad,
        _non_leaf_grad_fixed,
        silent="No error and no warning here: this engine keeps the gradients of results. In PyTorch this is None.",
    ),
    "integers": Message(
        "Whole numbers that require gradients",
        (
            "Only Tensors of floating point and complex dtype can require gradients",
            "only Tensors of floating point dtype can require gradients",
            "grad requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact)",
        ),
        ("floating", "dtype", "integer"),
        "A line that makes a tensor, or calls requires_grad_(), stops: its numbers are whole.",
        "A derivative asks what happens when a number moves a little. Whole numbers cannot.",
        "Write `1.0`, not `1`, or convert: `.float()`. What must stay whole, such as class labels, needs no gradient: "
        "leave `requires_grad` off.",
        _integers,
        _integers_fixed,
        silent="No error here: this engine turns whole numbers into float64. PyTorch keeps them whole, and refuses.",
    ),
    "optimizer": Message(
        "An optimizer for a result",
        ("can't optimize a non-leaf Tensor",),
        ("optimize", "optimizer", "parameters", "leaf"),
        "The line that makes the optimizer stops.",
        "An optimizer changes parameters: leaves, which keep their value from step to step. A result is computed anew "
        "in each forward pass, so a change to it would be lost.",
        "Give the optimizer the leaf that the result was computed from. If the result is what you want to learn, cut "
        "it off and make it a leaf: `w = (w * 0.1).detach().requires_grad_()`.",
        _optimizes_result,
        _optimizes_result_fixed,
    ),
}


def find(text: str) -> list[Match]:
    """What a text (a line, a fragment or a whole traceback) is about: one sure match, or at most three candidates."""
    phrases = {key: message.phrases for key, message in MESSAGES.items()}
    return finder.find(text, phrases, {key: message.keywords for key, message in MESSAGES.items()})


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
