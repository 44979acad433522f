"""From the text of an autograd error to a small program that causes exactly that, and one that does not.

The messages are PyTorch's, with those of this engine and of other libraries for the same mistake. Each demonstration
is a pair of functions: their lines are shown, and they are run to get this engine's own error and the right gradient.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

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


@dataclass(frozen=True)
class Message:
    """One mistake: the phrases by which it is known, what it means, and the pair of programs."""

    title: str
    phrases: tuple[str, ...]
    keywords: tuple[str, ...]
    meaning: str
    fix: str
    broken: Callable[[], None]
    fixed: Callable[[], Any]

    def cause(self) -> tuple[str, str]:
        """The lines that go wrong, and the error that this engine raised when they were run now."""
        try:
            self.broken()
        except RuntimeError as error:
            return body(self.broken), f"{type(error).__name__}: {error}"
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
            "needs its own output as it was in the forward pass, but it has been written to since",
            "needs its input as it was in the forward pass, but it has been written to since",
        ),
        ("inplace", "modified", "version"),
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
            "backward() has already gone through and freed its graph",
            "A non-persistent GradientTape can only be used to compute one set of gradients",
        ),
        ("second", "retain_graph", "freed", "twice"),
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
            "backward() starts from a single number, but has elements",
            "Gradient only defined for scalar-output functions",
        ),
        ("scalar", "implicitly"),
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
            "backward() has nothing to differentiate: it was not computed from tensors that require gradients",
            "No gradients provided for any variable",
        ),
        ("grad_fn", "require", "requires_grad", "no_grad"),
        "The loss has no history: it was computed under `no_grad()`, from `detach()`ed tensors, by way of NumPy or "
        "`.item()`, or from inputs that do not require gradients.",
        "Compute the loss from the parameters: outside `no_grad()`, and without `detach()`, `.numpy()` or `.item()` on "
        "the way.",
        _no_graph,
        _no_graph_fixed,
    ),
}


def find(text: str) -> list[str]:
    """The keys of the messages that a text (a line, a fragment or a whole traceback) is about, the best match first."""
    pairs = _pairs(text)
    scores = {}
    for key, message in MESSAGES.items():
        known = [_pairs(phrase) for phrase in message.phrases]
        scores[key] = max(len(pairs & phrase) / max(1, min(len(pairs), len(phrase))) for phrase in known)
    best = sorted((key for key, score in scores.items() if score >= 0.5), key=lambda key: -scores[key])
    words = set(_words(text))
    return best or [key for key, message in MESSAGES.items() if words & set(message.keywords)]


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


def _words(text: str) -> list[str]:
    text = re.sub(r"\bin[- ]place\b", "inplace", text.lower())
    return re.findall(r"[a-z_]+", text)


def _pairs(text: str) -> set[tuple[str, str]]:
    """The pairs of neighbouring words: they tell phrases apart better than words alone."""
    return set(pairwise(_words(text)))
