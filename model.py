"""A reverse-mode automatic differentiation engine in NumPy, and the neural network built on it.

Read it from top to bottom. An operation on tensors does two things: it computes its result, and it writes down, in a
closure called `_backward`, how a gradient that arrives at the result is passed on to the operands. `backward()` then
calls those closures from the last operation to the first. That is all of backpropagation:

    message to an operand = upstream gradient * local derivative        (the chain rule)
    gradient of a tensor  = the sum of the messages it receives         (the multivariate chain rule)

Conventions where a derivative does not exist, or where NumPy has a choice

    relu'(0) = 0, leaky_relu'(0) = slope, |x|'(0) = 0      a subgradient, as most frameworks choose
    max, min, maximum, minimum with ties                   the gradient is split evenly among them
    clip                                                   passes the gradient inside and on the bounds
    x ** 0 at 0 has gradient 0;  0 ** y for y is 0         a negative base with a tensor exponent gives nan
    norm and std at 0                                      gradient 0
    log(0), sqrt(0), division by 0, overflow of exp        inf, -inf or nan, and the gradients that follow; no warning
    overflow of + - * @ and sum                            inf, with NumPy's warning: silence costs more than the work
    where(c, a, b) with a branch that is inf or nan        0 * inf is nan: make the *input* of that branch safe first
    integers and booleans                                  become float64; float32 stays float32 throughout

Writing to values that a backward pass still needs

    route                                                     with the guard (always on)     allow_mutation()
    t.data += 1, t.data[...] = 1, np.exp(x, out=t.data)       MutationError in backward()    wrong gradient, silently
    a view or another name of t.data, taken before or after   MutationError in backward()    wrong gradient, silently
    an optimizer step between forward and backward            MutationError in backward()    wrong if `.data` was read
    t.data = other                                            MutationError in backward()    the right gradient
    an array captured by a closure that you wrote yourself    only under detect_mutation()   wrong gradient, silently

The guard works by copying on hand-out: an array that leaves the engine through `.data` is never the one a closure has
captured. So a write cannot reach a gradient, and `backward()` finds it by comparing. `t.numpy()` gives a copy to read.
"""

import math
import operator
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from functools import wraps
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

# ---------------------------------------------------------------- gradient mode


class Mode(NamedTuple):
    """What the engine does besides computing values, in this thread or task."""

    recording: bool = True  # do operations write down their backward step?
    guarded: bool = True  # are written-to values detected?
    fingerprints: WeakKeyDictionary | None = None  # closure -> hashes of the arrays it captured


# A context variable, not a global: one visitor of a server must not switch off another one's gradients.
_mode: ContextVar[Mode] = ContextVar("mode", default=Mode())  # noqa: B039 (a NamedTuple is immutable)


@contextmanager
def _mode_set(**changes: Any) -> Iterator[None]:
    previous = _mode.get()
    _mode.set(previous._replace(**changes))
    try:
        yield
    finally:
        _mode.set(previous)


class no_grad:
    """Compute values without recording a graph: `with no_grad():`, or as a decorator, with or without parentheses."""

    def __new__(cls, function: Callable | None = None):
        self = super().__new__(cls)
        self._entered = []
        return self if function is None else self(function)

    def __enter__(self) -> None:
        block = _mode_set(recording=False)
        block.__enter__()
        self._entered.append(block)

    def __exit__(self, *exception) -> None:
        self._entered.pop().__exit__(*exception)

    def __call__(self, function: Callable) -> Callable:
        if iscoroutinefunction(function) or isasyncgenfunction(function):
            raise TypeError("no_grad cannot decorate an async function: write `with no_grad():` inside it.")
        if isgeneratorfunction(function):
            return wraps(function)(lambda *args, **kwargs: _Unrecorded(function(*args, **kwargs)))
        return _mode_set(recording=False)(function)


class _Unrecorded(Generator):
    """A generator that runs under no_grad, while whoever consumes it keeps their own mode between its steps."""

    def __init__(self, steps: Generator) -> None:
        self._steps = steps

    def send(self, value: Any) -> Any:
        with no_grad():
            return self._steps.send(value)

    def throw(self, *exception) -> Any:
        with no_grad():
            return self._steps.throw(*exception)


def allow_mutation() -> Any:
    """Switch the guard off in a `with` block: `.data` hands out the live array, writes to it are not noticed."""
    return _mode_set(guarded=False)


def detect_mutation() -> Any:
    """The thorough guard, for a `with` block: fingerprint every array that a closure captures, whoever wrote it.

    `backward()` inside the block raises MutationError when one of them has changed since the forward pass. It reads
    every captured array twice, so it is for lessons and for debugging operations of your own.
    """
    return _mode_set(guarded=True, fingerprints=WeakKeyDictionary())


class MutationError(RuntimeError):
    """Values that a backward pass needs were written to after the forward pass."""


# ---------------------------------------------------------------- Tensor


def _reflected(operation: Callable) -> Callable:
    return lambda self, other: operation(self._constant(other), self)


def _comparison(compare: Callable) -> Callable:
    return lambda self, other: compare(self._data, _values(other))


class Tensor:
    """An array that remembers how it was computed, so that `backward()` can find its derivatives.

    Tensor(data, requires_grad=True, label="")
        data           number, nested list or array; copied. float32 stays, everything else becomes float64.
        requires_grad  False for an input whose gradient nobody needs
        label          a name for drawings and error messages

    `grad` is None until a backward pass has reached the tensor; then an array of the shape and dtype of `data`.
    Gradients of leaves (tensors that you made) add up over backward passes until `zero_grad()`.
    Arrays and numbers mixed into an expression are constants: they receive no gradient.
    Keep `loss.item()`, not `loss`, in a running total: a tensor keeps alive the graph that it was computed by.
    """

    __slots__ = (
        "__weakref__",
        "_backward",  # the closure that passes a gradient on to the children; None for a leaf
        "_children",  # the tensors this one was computed from, in operand order, repeats kept
        "_data",  # the values. Never written to, unless `.data` has handed the array out
        "_handed_out",  # may code outside the engine hold a name for the array `_data`?
        "_saved",  # (tensor, array) for each array that the closure keeps; None stands for this tensor itself
        "grad",
        "label",
        "op",
        "requires_grad",
    )

    def __init__(self, data: Any, requires_grad: bool = True, label: str = "") -> None:
        self._make_leaf(_as_float_array(data), requires_grad, label)

    def _make_leaf(self, data: Any, requires_grad: bool, label: str) -> None:
        self._data = data
        self._handed_out = False
        self._children = self._saved = ()
        self._backward = self.grad = None
        self.requires_grad = requires_grad
        self.label = label
        self.op = ""

    # -- how every operation is made

    def _node(self, data: Any, children: tuple, op: str, backward: Callable, saved: tuple = ()) -> "Tensor":
        """The tensor that an operation returns; a leaf without history where there is nothing to differentiate."""
        mode = _mode.get()
        out = object.__new__(type(self))
        for child in children:
            if child.requires_grad and mode.recording:
                out._data, out._handed_out, out._saved = data, False, saved
                out._children, out._backward, out.op = children, backward, op
                out.grad, out.requires_grad, out.label = None, True, ""
                if mode.fingerprints is not None:
                    mode.fingerprints[backward] = _fingerprints(backward)
                return out
        out._make_leaf(data, False, "")
        return out

    def _accumulate(self, message: Any) -> None:
        """Add one message to the gradient. It must be an array that nobody else keeps, or a view (which is copied)."""
        if not self.requires_grad:
            return
        if not type(message) is type(self._data) is np.float64:  # two float64 scalars always fit
            message = _fitted(message, self)
        if self.grad is None:
            self.grad = message
        else:
            self.grad += message

    def _read(self) -> Any:
        """The values, for an operation to compute with and for its closure to keep."""
        if self._handed_out and _mode.get().guarded:
            return self._data.copy()[()]
        return self._data

    def _constant(self, value: Any) -> "Tensor":
        """A number or array that meets this tensor in an expression: a tensor of the same dtype, without gradient."""
        out = object.__new__(type(self))
        dtype = self._data.dtype
        data = dtype.type(value) if isinstance(value, (float, int)) else _as_float_array(value, dtype)
        out._make_leaf(data, False, "")
        return out

    def _operands(self, other: Any, op: str) -> tuple["Tensor", Any, Any]:
        """For an elementwise operation of two: the other operand as a tensor, then the values of both."""
        if not isinstance(other, Tensor):
            other = self._constant(other)
        a = self._read() if self._handed_out else self._data
        b = other._read() if other._handed_out else other._data
        if type(a) is np.ndarray and a.shape != b.shape:
            _check_broadcast(op, self, other)
        return other, a, b

    # -- arithmetic

    def __add__(self, other: Any) -> "Tensor":
        other, a, b = self._operands(other, "+")

        def _backward(upstream):
            self._accumulate(upstream * 1.0)  # d(a + b)/da = 1
            other._accumulate(upstream * 1.0)  # d(a + b)/db = 1

        return self._node(a + b, (self, other), "+", _backward)

    def __sub__(self, other: Any) -> "Tensor":
        other, a, b = self._operands(other, "-")

        def _backward(upstream):
            self._accumulate(upstream * 1.0)  # d(a - b)/da = 1
            other._accumulate(upstream * -1.0)  # d(a - b)/db = -1

        return self._node(a - b, (self, other), "-", _backward)

    def __mul__(self, other: Any) -> "Tensor":
        other, a, b = self._operands(other, "*")

        def _backward(upstream):
            self._accumulate(upstream * b)  # d(a * b)/da = b
            other._accumulate(upstream * a)  # d(a * b)/db = a

        return self._node(a * b, (self, other), "*", _backward, saved=_crosswise(self, a, other, b))

    def __truediv__(self, other: Any) -> "Tensor":
        other, a, b = self._operands(other, "/")
        with _quiet():
            y = a / b

        def _backward(upstream):
            self._accumulate(upstream / b)  # d(a / b)/da = 1 / b
            other._accumulate(upstream * (-a / b**2))  # d(a / b)/db = -a / b^2

        saved = ((other, b), (self, a)) if other.requires_grad else ((other, b),)
        return self._node(y, (self, other), "/", _backward, saved)

    def __pow__(self, exponent: Any) -> "Tensor":
        exponent, a, p = self._operands(exponent, "**")
        with _quiet():
            y = a**p

        def _backward(upstream):
            # d(a^p)/da = p a^(p-1). At p = 0 that is 0 * a^0, so that a = 0 does not make it 0 * inf.
            self._accumulate(upstream * (p * a ** (p - (p != 0))))
            if exponent.requires_grad:
                # d(a^p)/dp = a^p log a, and 0 where a = 0
                exponent._accumulate(upstream * np.where(a == 0, 0.0, y * np.log(a)))

        return self._node(y, (self, exponent), "**", _backward, saved=((self, a), (exponent, p)))

    def __neg__(self) -> "Tensor":
        def _backward(upstream):
            self._accumulate(upstream * -1.0)  # d(-a)/da = -1

        return self._node(-self._read(), (self,), "neg", _backward)

    def __matmul__(self, other: Any) -> "Tensor":
        if not isinstance(other, Tensor):
            other = self._constant(other)
        a, b = self._read(), other._read()
        try:
            y = a @ b
        except (TypeError, ValueError):
            raise ValueError(
                f"`@` cannot multiply {_name(self)} by {_name(other)}: both need at least one axis, and the last axis "
                "of the first must be as long as the second-to-last (or only) axis of the other."
            ) from None

        def _backward(upstream):
            # With matrices: Y = A B gives dA = G B^T and dB = A^T G. A vector on the left is a matrix with one row, one
            # on the right a matrix with one column; `@` dropped that axis from the result, the rule needs it back.
            left, right = np.atleast_2d(a), b if b.ndim > 1 else b[:, None]
            g = upstream if b.ndim > 1 else np.expand_dims(upstream, -1)
            g = g if a.ndim > 1 else np.expand_dims(g, -2)
            if self.requires_grad:
                self._accumulate(g @ right.swapaxes(-1, -2))
            if other.requires_grad:
                message = left.swapaxes(-1, -2) @ g
                other._accumulate(message if b.ndim > 1 else message[..., 0])

        return self._node(y, (self, other), "@", _backward, saved=_crosswise(self, a, other, b))

    # `2 - t` comes here because a number does not know tensors. The operand typed first stays first in the graph.
    __radd__ = _reflected(__add__)
    __rsub__ = _reflected(__sub__)
    __rmul__ = _reflected(__mul__)
    __rtruediv__ = _reflected(__truediv__)
    __rpow__ = _reflected(__pow__)
    __rmatmul__ = _reflected(__matmul__)

    # -- elementwise functions

    def exp(self) -> "Tensor":
        with _quiet():
            y = np.exp(self._read())

        def _backward(upstream):
            self._accumulate(upstream * y)  # d(e^a)/da = e^a

        return self._node(y, (self,), "exp", _backward, saved=((None, y),))

    def log(self) -> "Tensor":
        a = self._read()
        with _quiet():
            y = np.log(a)

        def _backward(upstream):
            self._accumulate(upstream / a)  # d(log a)/da = 1 / a

        return self._node(y, (self,), "log", _backward, saved=((self, a),))

    def sqrt(self) -> "Tensor":
        with _quiet():
            y = np.sqrt(self._read())

        def _backward(upstream):
            self._accumulate(upstream * 0.5 / y)  # d(sqrt a)/da = 1 / (2 sqrt a)

        return self._node(y, (self,), "sqrt", _backward, saved=((None, y),))

    def sin(self) -> "Tensor":
        a = self._read()

        def _backward(upstream):
            self._accumulate(upstream * np.cos(a))  # d(sin a)/da = cos a

        with _quiet():
            return self._node(np.sin(a), (self,), "sin", _backward, saved=((self, a),))

    def cos(self) -> "Tensor":
        a = self._read()

        def _backward(upstream):
            self._accumulate(upstream * -np.sin(a))  # d(cos a)/da = -sin a

        with _quiet():
            return self._node(np.cos(a), (self,), "cos", _backward, saved=((self, a),))

    def tanh(self) -> "Tensor":
        y = np.tanh(self._read())

        def _backward(upstream):
            self._accumulate(upstream * (1.0 - y * y))  # d(tanh a)/da = 1 - tanh^2 a

        return self._node(y, (self,), "tanh", _backward, saved=((None, y),))

    def sigmoid(self) -> "Tensor":
        with _quiet():
            y = np.exp(-np.logaddexp(0.0, -self._read()))  # 1 / (1 + e^-a), without overflow for any a

        def _backward(upstream):
            self._accumulate(upstream * (y * (1.0 - y)))  # s' = s (1 - s)

        return self._node(y, (self,), "sigmoid", _backward, saved=((None, y),))

    def softplus(self) -> "Tensor":
        a = self._read()

        def _backward(upstream):
            self._accumulate(upstream * np.exp(-np.logaddexp(0.0, -a)))  # d log(1 + e^a)/da = sigmoid(a)

        with _quiet():
            return self._node(np.logaddexp(0.0, a), (self,), "softplus", _backward, saved=((self, a),))

    def relu(self) -> "Tensor":
        y = np.maximum(self._read(), 0.0)

        def _backward(upstream):
            self._accumulate(upstream * (y > 0.0))  # 1 where the output is positive, else 0

        return self._node(y, (self,), "relu", _backward, saved=((None, y),))

    def leaky_relu(self, slope: float = 0.01) -> "Tensor":
        a = self._read()
        local = np.where(a > 0.0, a.dtype.type(1.0), a.dtype.type(slope))

        def _backward(upstream):
            self._accumulate(upstream * local)  # 1 where the input is positive, else the slope

        return self._node(a * local, (self,), "leaky_relu", _backward)

    def abs(self) -> "Tensor":
        a = self._read()

        def _backward(upstream):
            self._accumulate(upstream * np.sign(a))  # d|a|/da = sign a

        return self._node(np.abs(a), (self,), "abs", _backward, saved=((self, a),))

    __abs__ = abs

    def clip(self, low: float | None = None, high: float | None = None) -> "Tensor":
        a = self._read()
        low = -math.inf if low is None else float(low)
        high = math.inf if high is None else float(high)
        if not low <= high:
            raise ValueError(f"clip needs low <= high, but low is {low:g} and high is {high:g}.")

        def _backward(upstream):
            self._accumulate(upstream * ((a >= low) & (a <= high)))  # 1 inside and on the bounds, 0 outside

        return self._node(np.clip(a, low, high), (self,), "clip", _backward, saved=((self, a),))

    # -- reductions: `axis` is None (all), an int, or a tuple of ints; may be negative

    def sum(self, axis: Any = None, keepdims: bool = False) -> "Tensor":
        a = self._read()

        def _backward(upstream):
            # d(sum)/da_i = 1: every element receives the whole upstream gradient
            self._accumulate(np.broadcast_to(_with_axes(upstream, axis, a.ndim, keepdims), a.shape))

        return self._node(a.sum(axis=axis, keepdims=keepdims), (self,), "sum", _backward)

    def mean(self, axis: Any = None, keepdims: bool = False) -> "Tensor":
        return self.sum(axis, keepdims) / _count(self.shape, axis)

    def var(self, axis: Any = None, keepdims: bool = False) -> "Tensor":
        return ((self - self.mean(axis, keepdims=True)) ** 2).mean(axis, keepdims)

    def std(self, axis: Any = None, keepdims: bool = False) -> "Tensor":
        spread = self - self.mean(axis, keepdims=True)
        return spread.norm(axis, keepdims) / math.sqrt(_count(self.shape, axis))

    def norm(self, axis: Any = None, keepdims: bool = False) -> "Tensor":
        """The Euclidean norm, sqrt(sum of squares)."""
        a = self._read()
        y = np.sqrt((a * a).sum(axis=axis, keepdims=True))

        def _backward(upstream):
            # d|a|/da = a / |a|, and 0 at 0
            local = np.divide(a, y, out=np.zeros(a.shape, a.dtype), where=y != 0.0)
            self._accumulate(_with_axes(upstream, axis, a.ndim, keepdims) * local)

        return self._node(y if keepdims else _without_axes(y, axis), (self,), "norm", _backward, saved=((self, a),))

    def max(self, axis: Any = None, keepdims: bool = False) -> "Tensor":
        a = self._read()
        _require_elements(self, axis)
        y = a.max(axis=axis, keepdims=True)

        def _backward(upstream):
            # 1 for the element that was chosen; ties share it evenly
            chosen = (a == y) | np.isnan(a)
            share = chosen / chosen.sum(axis=axis, keepdims=True)
            self._accumulate(_with_axes(upstream, axis, a.ndim, keepdims) * share)

        return self._node(y if keepdims else _without_axes(y, axis), (self,), "max", _backward, saved=((self, a),))

    def min(self, axis: Any = None, keepdims: bool = False) -> "Tensor":
        return -(-self).max(axis, keepdims)

    def prod(self, axis: Any = None, keepdims: bool = False) -> "Tensor":
        a = self._read()

        def _backward(upstream):
            # d(prod)/da_i is the product of the others. Dividing the product by a_i would fail at 0, so multiply
            # what lies before element i by what lies after it, along one axis that holds all the reduced ones.
            reduced = _axes(axis, a.ndim)
            kept = tuple(i for i in range(a.ndim) if i not in reduced)
            rows = np.transpose(a, kept + reduced).reshape(*[a.shape[i] for i in kept], _count(a.shape, axis))
            ones = np.ones((*rows.shape[:-1], 1), a.dtype)
            before = np.cumprod(np.concatenate([ones, rows[..., :-1]], axis=-1), axis=-1)
            after = np.cumprod(np.concatenate([ones, rows[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
            others = (before * after)[..., : rows.shape[-1]]
            others = others.reshape([a.shape[i] for i in kept + reduced]).transpose(np.argsort(kept + reduced))
            self._accumulate(_with_axes(upstream, axis, a.ndim, keepdims) * others)

        return self._node(a.prod(axis=axis, keepdims=keepdims), (self,), "prod", _backward, saved=((self, a),))

    def softmax(self, axis: int = -1) -> "Tensor":
        a = self._read()
        _require_elements(self, axis)
        e = np.exp(a - a.max(axis=axis, keepdims=True))  # the maximum is taken away so that nothing overflows
        y = e / e.sum(axis=axis, keepdims=True)

        def _backward(upstream):
            # dy_i/da_j = y_i (1[i = j] - y_j)
            self._accumulate(y * (upstream - (upstream * y).sum(axis=axis, keepdims=True)))

        return self._node(y, (self,), "softmax", _backward, saved=((None, y),))

    def log_softmax(self, axis: int = -1) -> "Tensor":
        a = self._read()
        _require_elements(self, axis)
        shifted = a - a.max(axis=axis, keepdims=True)
        y = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))

        def _backward(upstream):
            # dy_i/da_j = 1[i = j] - softmax_j
            self._accumulate(upstream - np.exp(y) * upstream.sum(axis=axis, keepdims=True))

        return self._node(y, (self,), "log_softmax", _backward, saved=((None, y),))

    def logsumexp(self, axis: Any = None, keepdims: bool = False) -> "Tensor":
        a = self._read()
        _require_elements(self, axis)
        top = a.max(axis=axis, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0).astype(a.dtype)
        with _quiet():
            y = top + np.log(np.exp(a - top).sum(axis=axis, keepdims=True))

        def _backward(upstream):
            # d logsumexp/da = softmax(a)
            self._accumulate(_with_axes(upstream, axis, a.ndim, keepdims) * np.exp(a - y))

        out = y if keepdims else _without_axes(y, axis)
        return self._node(out, (self,), "logsumexp", _backward, saved=((self, a),))

    # -- shape: values are moved, not changed, so a gradient is moved back

    def reshape(self, *shape: Any) -> "Tensor":
        a = self._read()

        def _backward(upstream):
            self._accumulate(upstream.reshape(a.shape))

        try:
            y = a.reshape(*shape)
        except ValueError:
            raise ValueError(f"reshape cannot arrange the {a.size} elements of {_name(self)} as {shape}.") from None
        return self._node(y, (self,), "reshape", _backward)

    def transpose(self, *axes: Any) -> "Tensor":
        """The axes in the order given, as separate numbers or one tuple; reversed without arguments."""
        a = self._read()
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = order or tuple(range(a.ndim))[::-1]
        try:
            y = a.transpose(order)
        except ValueError:
            raise ValueError(f"transpose of {_name(self)} needs each of its axes once, not {order}.") from None

        def _backward(upstream):
            self._accumulate(upstream.transpose(np.argsort(_axes(order, a.ndim))))  # the inverse permutation

        return self._node(y, (self,), "transpose", _backward)

    def swapaxes(self, first: int, second: int) -> "Tensor":
        order = list(range(self.ndim))
        try:
            order[first], order[second] = order[second], order[first]
        except IndexError:
            raise ValueError(f"swapaxes of axes {first} and {second} does not fit {_name(self)}.") from None
        return self.transpose(order)

    def squeeze(self, axis: Any = None) -> "Tensor":
        return self._reshaped("squeeze", np.squeeze, axis)

    def expand_dims(self, axis: Any) -> "Tensor":
        return self._reshaped("expand_dims", np.expand_dims, axis)

    def _reshaped(self, op: str, change: Callable, axis: Any) -> "Tensor":
        try:
            return self.reshape(change(self._data, axis).shape)
        except ValueError:
            raise ValueError(f"{op} with axis {axis} does not fit {_name(self)}.") from None

    def broadcast_to(self, *shape: Any) -> "Tensor":
        def _backward(upstream):
            self._accumulate(upstream * 1.0)  # `_accumulate` sums over the axes that were repeated

        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        try:
            y = np.broadcast_to(self._read(), shape)
        except ValueError:
            raise ValueError(
                f"{_name(self)} cannot be broadcast to {tuple(shape)}: from the last axis backwards, each of its axes "
                "must be 1 or as long as the one asked for."
            ) from None
        return self._node(y, (self,), "broadcast_to", _backward)

    def __getitem__(self, index: Any) -> "Tensor":
        a = self._read()
        index = deepcopy(index)  # it may be a list or an array that its owner writes to

        def _backward(upstream):
            full = np.zeros(a.shape, a.dtype)
            np.add.at(full, index, upstream)  # not `full[index] += `, which counts a repeated index once
            self._accumulate(full)

        try:
            y = a[index]
        except IndexError as error:
            raise IndexError(f"{_name(self)} cannot be indexed like this: {error}.") from None
        return self._node(y, (self,), "getitem", _backward)

    # -- the backward pass

    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        """Add the derivatives of this tensor to the `grad` of every leaf that it was computed from.

        grad          the upstream gradient to start from, of this tensor's shape; 1 for a single element
        retain_graph  keep the graph, to go backward through it again

        RuntimeError: there is no graph, or it was freed, or `grad` is missing. MutationError: values that the pass
        needs were written to. In each case no gradient was changed.
        """
        if self._backward is None:
            raise RuntimeError(
                f"backward() has nothing to differentiate: {_name(self)} was not computed from tensors that require "
                "gradients. Call it on a result, computed outside no_grad() and without detach()."
            )
        if grad is None and self.size != 1:
            raise RuntimeError(
                f"backward() starts from a single number, but {_name(self)} has {self.size} elements. Reduce it first, "
                f"for example with .sum() or .mean(), or pass the upstream gradient, of shape {self.shape}."
            )
        if grad is None:
            seed = self.dtype.type(1.0).reshape(self.shape) if self.ndim else self.dtype.type(1.0)
        else:
            seed = _as_float_array(grad, self.dtype)
        if seed.shape != self.shape:
            raise ValueError(
                f"The gradient passed to backward() has shape {seed.shape}; it must be that of {_name(self)}."
            )

        interior = [node for node in topological_order(self) if node._backward is not None]
        mode = _mode.get()
        for node in interior:  # check everything first: after an error, no gradient has been changed
            if node._backward is _freed:
                _freed(node)
            if mode.guarded:
                _check_unwritten(node, mode)
        for node in interior:
            node.grad = None  # only leaves add up over several passes
        self.grad = seed
        with _quiet():
            for node in reversed(interior):
                node._backward(node.grad)
                if not retain_graph:
                    node._backward, node._children, node._saved = _freed, (), ()

    def zero_grad(self) -> None:
        self.grad = None

    def detach(self) -> "Tensor":
        """The same values without history: shares `data`, receives no gradient, passes none on."""
        out = object.__new__(type(self))
        out._make_leaf(self.data, False, self.label)
        out._handed_out = True
        return out

    # -- values from outside

    @property
    def data(self) -> np.ndarray:
        """The values, to read or to write. The same array each time; closures keep another one (see the guard)."""
        if not self._handed_out:
            if _mode.get().guarded or self._data.ndim == 0:
                self._data = np.array(self._data)
            self._handed_out = True
        return self._data

    @data.setter
    def data(self, value: Any) -> None:
        if value is self._data:  # `t.data += 1` has already written into the array that it assigns
            return
        values = _as_float_array(value, self.dtype)
        if values.shape != self.shape:
            raise ValueError(
                f"The new data have shape {values.shape}; they cannot replace {_name(self)}. Make a new Tensor."
            )
        self._data, self._handed_out = values, False

    def _assign(self, values: Any) -> None:
        """New values from an optimizer. A closure may keep the old array: it is replaced, and written to only if it
        was handed out (then no closure keeps it, and whoever holds it expects to see the new values)."""
        if self._handed_out:
            self._data[...] = values
        else:
            self._data = values

    def numpy(self) -> np.ndarray:
        """A copy of the values."""
        return np.array(self._data)

    def item(self) -> float:
        if self.size != 1:
            raise ValueError(
                f"item() needs exactly one element, but {_name(self)} has {self.size}; numpy() gives them all."
            )
        return self._data.item()

    shape = property(lambda self: self._data.shape)
    ndim = property(lambda self: self._data.ndim)
    size = property(lambda self: self._data.size)
    dtype = property(lambda self: self._data.dtype)
    T = property(transpose)

    def __repr__(self) -> str:
        parts = [np.array2string(np.asarray(self._data), precision=4, separator=", ", prefix="Tensor(")]
        parts += [f"grad={np.array2string(np.asarray(self.grad), precision=4)}"] if self.grad is not None else []
        parts += [f"op={self.op!r}"] if self.op else []
        parts += [f"label={self.label!r}"] if self.label else []
        parts += ["requires_grad=False"] if not self.requires_grad else []
        return f"Tensor({', '.join(parts)})"

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("A single number has no length.")
        return self.shape[0]

    def __iter__(self) -> Iterator["Tensor"]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(f"The truth of {_name(self)} is ambiguous: it does not have exactly one element.")
        return bool(self._data)

    def __float__(self) -> float:
        return float(self.item())

    # Comparisons give boolean arrays: they have no derivative. Tensors are told apart by identity.
    __hash__ = object.__hash__

    __eq__, __ne__ = _comparison(operator.eq), _comparison(operator.ne)
    __lt__, __le__ = _comparison(operator.lt), _comparison(operator.le)
    __gt__, __ge__ = _comparison(operator.gt), _comparison(operator.ge)

    __array_ufunc__ = None  # so that `array * tensor` comes to `__rmul__`, and `np.exp(tensor)` is a TypeError


def topological_order(root: Tensor) -> list[Tensor]:
    """Every tensor that `root` was computed from, each once and after its children; `root` is last.

    A stack instead of recursion: a graph can be deeper than Python's call stack.
    """
    order, seen, stack = [], set(), [root]
    while stack:
        node = stack.pop()
        if node is None:  # the marker above a node: all of its children are placed
            order.append(stack.pop())
        elif node not in seen:
            seen.add(node)
            if node._children:
                stack += (node, None, *node._children[::-1])
            else:
                order.append(node)
    return order


def _crosswise(first: Tensor, a: Any, second: Tensor, b: Any) -> tuple[Any, Any]:
    """What a product saves: the message to an operand reads the values of the other one."""
    if first.requires_grad:
        return ((second, b), (first, a)) if second.requires_grad else ((second, b),)
    return ((first, a),)


def _freed(node: Tensor) -> None:
    """Stands in for the closure of a tensor whose graph has been freed."""
    raise RuntimeError(
        f"backward() has already gone through {_name(node)} and freed its graph. To go through it again, call "
        "backward(retain_graph=True) the first time; otherwise run the forward pass again."
    )


def _check_unwritten(node: Tensor, mode: Mode) -> None:
    for tensor, kept in node._saved:
        tensor = node if tensor is None else tensor
        if tensor._data is not kept and _bytes(tensor._data) != _bytes(kept):
            which = "its own output" if tensor is node else "its input"
            raise _mutation_error(node, f"{which}, {_name(tensor)},")
    if mode.fingerprints is not None:
        before = mode.fingerprints.get(node._backward, {})
        for name, fingerprint in _fingerprints(node._backward).items():
            if before.get(name, fingerprint) != fingerprint:
                raise _mutation_error(node, f"the array `{name}`, captured by its closure,")


def _mutation_error(node: Tensor, what: str) -> MutationError:
    return MutationError(
        f"The backward pass of `{node.op}` needs {what} as it was in the forward pass, but it has been written to "
        "since. No gradient was computed. Run the forward pass again after the change, or write to a copy (t.numpy()) "
        "instead; an optimizer steps after backward(), not before."
    )


def _fingerprints(closure: Callable) -> dict[str, int]:
    """A hash for each array that a closure captured, also through a function inside it; by variable name."""
    found = {}
    for name, cell in zip(closure.__code__.co_freevars, closure.__closure__ or (), strict=True):
        if isinstance(cell.cell_contents, np.ndarray):
            found[name] = hash(cell.cell_contents.tobytes())
        elif hasattr(cell.cell_contents, "__closure__"):
            found |= _fingerprints(cell.cell_contents)
    return found


def _bytes(array: Any) -> bytes:
    return np.asarray(array).tobytes()  # exact: nan equals nan


def _quiet():
    """inf and nan are answers here, not accidents: they are shown, not warned about."""
    return np.errstate(all="ignore")


def _name(tensor: Tensor) -> str:
    kind = f"'{tensor.label}'" if tensor.label else f"the result of `{tensor.op}`" if tensor.op else "a tensor"
    return f"{kind} of shape {tensor.shape}"


def _as_float_array(value: Any, dtype: Any = None) -> Any:
    """A copy of the value as a float array; a single number becomes a NumPy scalar, which nobody can write to."""
    if isinstance(value, Tensor):
        value = value._data
    try:
        array = np.array(value)
    except ValueError:
        raise ValueError(
            "The rows have different lengths: a tensor needs the same number of elements in each."
        ) from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"A tensor holds real numbers, not {type(value).__name__} ({array.dtype}).")
    dtype = dtype or (np.float32 if array.dtype == np.float32 else np.float64)
    array = array if array.dtype == dtype else array.astype(dtype)
    return array if array.ndim else array[()]


def _values(other: Any) -> Any:
    return other._data if isinstance(other, Tensor) else other


def _check_broadcast(op: str, first: Tensor, second: Tensor) -> None:
    try:
        np.broadcast_shapes(first.shape, second.shape)
    except (ValueError, RuntimeError):  # RuntimeError: more axes than NumPy has
        raise ValueError(
            f"`{op}` cannot combine {_name(first)} with {_name(second)}: from the last axis backwards, the lengths "
            "must be equal or one of them 1."
        ) from None


def _fitted(message: Any, tensor: Tensor) -> Any:
    """The message in the shape and dtype of the tensor, as an array of its own."""
    data = tensor._data
    if message.shape != data.shape:
        message = _unbroadcast(message, tensor)
    if message.dtype != data.dtype:
        return message.astype(data.dtype)
    return message if message.base is None else message.copy()


def _unbroadcast(message: np.ndarray, tensor: Tensor) -> np.ndarray:
    """Undo broadcasting: an operand that was repeated along an axis receives the sum over that axis."""
    shape, extra = tensor.shape, message.ndim - tensor.ndim
    repeated = [i for i, n in enumerate(message.shape) if i < extra or (shape[i - extra] == 1 and n != 1)]
    summed = message.sum(axis=tuple(repeated), keepdims=True)
    if extra < 0 or summed.shape[extra:] != shape:
        raise ValueError(f"A gradient of shape {message.shape} was sent to {_name(tensor)}: the shapes must be equal.")
    return summed.reshape(shape)


def _require_elements(tensor: Tensor, axis: Any) -> None:
    if _count(tensor.shape, axis) == 0:
        raise ValueError(f"{_name(tensor)} has no elements along axis {axis}, so there is no largest or smallest one.")


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes that `axis` stands for, counted from the front."""
    if axis is None:
        return tuple(range(ndim))
    return np.lib.array_utils.normalize_axis_tuple(axis, ndim)


def _with_axes(reduced: Any, axis: Any, ndim: int, keepdims: bool) -> Any:
    """A reduced array with its reduced axes put back, each of length 1."""
    return reduced if keepdims else np.expand_dims(reduced, _axes(axis, ndim))


def _without_axes(kept: Any, axis: Any) -> Any:
    return np.squeeze(kept, _axes(axis, kept.ndim))[()]


def _count(shape: tuple[int, ...], axis: Any) -> int:
    return math.prod(shape[i] for i in _axes(axis, len(shape)))


# ---------------------------------------------------------------- functions and losses


def maximum(a: Any, b: Any) -> Tensor:
    """The larger of two, elementwise. Where they are equal, each receives half of the gradient."""
    return _choose("maximum", a, b, np.maximum, np.greater)


def minimum(a: Any, b: Any) -> Tensor:
    """The smaller of two, elementwise. Where they are equal, each receives half of the gradient."""
    return _choose("minimum", a, b, np.minimum, np.less)


def _choose(op: str, a: Any, b: Any, choose: Callable, chosen: Callable) -> Tensor:
    first = _first_tensor(op, a, b)
    a = a if isinstance(a, Tensor) else first._constant(a)
    b, x, y = a._operands(b, op)

    def _backward(upstream):
        share = chosen(x, y) + 0.5 * (x == y)
        a._accumulate(upstream * share)
        b._accumulate(upstream * (1.0 - share))

    return first._node(choose(x, y), (a, b), op, _backward, saved=((a, x), (b, y)))


def where(condition: Any, a: Any, b: Any) -> Tensor:
    """`a` where the condition (an array of booleans, a constant) holds, `b` elsewhere."""
    first = _first_tensor("where", a, b)
    a = a if isinstance(a, Tensor) else first._constant(a)
    b, x, y = a._operands(b, "where")
    condition = np.array(_values(condition), dtype=bool)

    def _backward(upstream):
        a._accumulate(np.where(condition, upstream, 0.0))  # 1 where it was chosen, else 0
        b._accumulate(np.where(condition, 0.0, upstream))

    return first._node(np.where(condition, x, y)[()], (a, b), "where", _backward)


def concatenate(tensors: Sequence[Any], axis: int = 0) -> Tensor:
    """Tensors joined along an axis that they have."""
    first = _first_tensor("concatenate", *tensors)
    tensors = tuple(t if isinstance(t, Tensor) else first._constant(t) for t in tensors)
    try:
        y = np.concatenate([t._read() for t in tensors], axis=axis)
    except ValueError:
        shapes = ", ".join(str(t.shape) for t in tensors)
        raise ValueError(
            f"concatenate cannot join shapes {shapes} along axis {axis}: it must exist, and all other axes must agree."
        ) from None
    ends = np.cumsum([t.shape[axis] for t in tensors])[:-1]

    def _backward(upstream):
        for tensor, part in zip(tensors, np.split(upstream, ends, axis=axis), strict=True):
            tensor._accumulate(part)

    return first._node(y, tensors, "concatenate", _backward)


def stack(tensors: Sequence[Any], axis: int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis."""
    first = _first_tensor("stack", *tensors)
    tensors = tuple(t if isinstance(t, Tensor) else first._constant(t) for t in tensors)

    def _backward(upstream):
        for tensor, part in zip(tensors, np.moveaxis(upstream, axis, 0), strict=True):
            tensor._accumulate(part)

    try:
        y = np.stack([t._read() for t in tensors], axis=axis)
    except ValueError:
        shapes = ", ".join(str(t.shape) for t in tensors)
        raise ValueError(f"stack cannot join shapes {shapes} along a new axis {axis}: they must be equal.") from None
    return first._node(y, tensors, "stack", _backward)


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """x @ weight + bias as one operation, for speed: x (n, n_in), weight (n_in, n_out), bias (n_out,)."""
    a, w = x._read(), weight._read()
    if a.ndim != 2 or a.shape[1] != w.shape[0]:
        raise ValueError(f"A layer of {w.shape[0]} inputs needs an input of shape (n, {w.shape[0]}), not {_name(x)}.")
    y = a @ w
    y += bias._read()

    def _backward(upstream):
        if x.requires_grad:
            x._accumulate(upstream @ w.T)  # dX = G W^T
        weight._accumulate(a.T @ upstream)  # dW = X^T G
        bias._accumulate(np.add.reduce(upstream, 0))  # db = the sum of G over the rows

    return x._node(y, (x, weight, bias), "linear", _backward, saved=_crosswise(x, a, weight, w))


def mse_loss(prediction: Tensor, target: Any) -> Tensor:
    """The mean of (prediction - target)^2. The shapes must be equal: broadcasting here is nearly always a mistake."""
    _same_shape("mse_loss", prediction, target)
    return ((prediction - target) ** 2).mean()


def cross_entropy(logits: Tensor, labels: Any) -> Tensor:
    """The mean over rows of -log softmax(logits)[label]: logits (n, classes), labels (n,) integers from 0."""
    a = logits._read()
    labels = np.array(_values(labels))
    if a.ndim != 2 or labels.shape != a.shape[:1] or not labels.size:
        raise ValueError(
            f"cross_entropy needs logits of shape (n, classes) and n labels, n at least 1; {_name(logits)} came with "
            f"labels of shape {labels.shape}."
        )
    if labels.dtype.kind not in "iu":
        raise TypeError(f"cross_entropy needs integer class numbers as labels, not {labels.dtype}.")
    if np.maximum.reduce(labels.astype(np.uint64)) >= a.shape[1]:  # as unsigned, a negative one is huge
        raise ValueError(
            f"cross_entropy got labels from {labels.min()} to {labels.max()}, but with {a.shape[1]} classes they go "
            f"from 0 to {a.shape[1] - 1}."
        )
    rows = np.arange(len(labels))
    # ufunc.reduce is what .max() and .sum() call; calling it directly saves a microsecond each on small batches
    shifted = a - np.maximum.reduce(a, 1, keepdims=True)
    e = np.exp(shifted)
    total = np.add.reduce(e, 1, keepdims=True)
    loss = np.add.reduce(np.log(total[:, 0]) - shifted[rows, labels]) / len(labels)

    def _backward(upstream):
        # d loss/d logits = (softmax - one-hot label) / n. See Bishop, Pattern Recognition, eq. 4.109.
        local = e / total
        local[rows, labels] -= 1.0
        local *= upstream / len(labels)
        logits._accumulate(local)

    return logits._node(loss, (logits,), "cross_entropy", _backward, saved=((logits, a),))


def binary_cross_entropy_with_logits(logits: Tensor, targets: Any) -> Tensor:
    """The mean of -t log s - (1 - t) log(1 - s) with s = sigmoid(logit), for targets of the same shape in 0..1."""
    _same_shape("binary_cross_entropy_with_logits", logits, targets)
    return (logits.softplus() - logits * targets).mean()


def _same_shape(loss: str, prediction: Tensor, target: Any) -> None:
    if np.shape(_values(target)) != prediction.shape:
        raise ValueError(
            f"{loss} compares element with element, but {_name(prediction)} met a target of shape "
            f"{np.shape(_values(target))}. Reshape one of them."
        )


def _first_tensor(op: str, *operands: Any) -> Tensor:
    """The operand whose type and dtype the result takes."""
    if not operands:
        raise ValueError(f"{op} needs at least one tensor.")
    return next((t for t in operands if isinstance(t, Tensor)), Tensor(0.0, requires_grad=False))


# ---------------------------------------------------------------- layers and initialisation

ACTIVATIONS = ("relu", "leaky_relu", "tanh", "sigmoid", "softplus", "sin", "identity")
INITS = ("xavier", "he", "zeros", "normal", "uniform")


def init_weight(n_in: int, n_out: int, init: str, rng: Any = None) -> np.ndarray:
    """A weight matrix (n_in, n_out) in float64.

    xavier   normal, std sqrt(2 / (n_in + n_out))   Glorot and Bengio 2010: keeps the variance in both directions
    he       normal, std sqrt(2 / n_in)             He et al. 2015: the same for relu, which halves the variance
    normal   normal, std 1                          far too large for wide layers: here to see why
    uniform  uniform in +-1 / sqrt(n_in)            LeCun et al. 1998
    zeros    0                                      every unit of a layer then learns the same: here to see why
    """
    rng = np.random.default_rng(rng)
    if init == "zeros":
        return np.zeros((n_in, n_out))
    if init == "uniform":
        return rng.uniform(-1.0, 1.0, (n_in, n_out)) / math.sqrt(n_in)
    std = {"xavier": math.sqrt(2.0 / (n_in + n_out)), "he": math.sqrt(2.0 / n_in), "normal": 1.0}.get(init)
    if std is None:
        raise ValueError(f"There is no initialisation '{init}'; choose one of {', '.join(INITS)}.")
    return rng.normal(0.0, std, (n_in, n_out))


class Linear:
    """A layer x @ weight + bias: weight (n_in, n_out), bias (n_out,) starting at 0."""

    def __init__(self, n_in: int, n_out: int, init: str = "xavier", rng: Any = None, dtype: Any = np.float64) -> None:
        if n_in < 1 or n_out < 1:
            raise ValueError(f"A layer needs at least one input and one output, not {n_in} and {n_out}.")
        self.weight = Tensor(init_weight(n_in, n_out, init, rng).astype(dtype), label="weight")
        self.bias = Tensor(np.zeros(n_out, dtype), label="bias")

    def __call__(self, x: Any) -> Tensor:
        if not isinstance(x, Tensor):
            x = self.weight._constant(x)
        return linear(x, self.weight, self.bias) if x.ndim == 2 else x @ self.weight + self.bias

    def parameters(self) -> list[Tensor]:
        return [self.weight, self.bias]


class MLP:
    """Linear layers of the given sizes, inputs first, with an activation between them and none after the last."""

    def __init__(
        self,
        sizes: Sequence[int],
        activation: str = "relu",
        init: str = "xavier",
        rng: Any = None,
        dtype: Any = np.float64,
    ) -> None:
        if activation not in ACTIVATIONS:
            raise ValueError(f"There is no activation '{activation}'; choose one of {', '.join(ACTIVATIONS)}.")
        if len(sizes) < 2:
            raise ValueError(f"A network needs at least an input and an output size, not {list(sizes)}.")
        rng = np.random.default_rng(rng)
        self.activation = activation
        self.layers = [Linear(n_in, n_out, init, rng, dtype) for n_in, n_out in pairwise(sizes)]
        for number, layer in enumerate(self.layers, start=1):
            layer.weight.label, layer.bias.label = f"W{number}", f"b{number}"

    def __call__(self, x: Any) -> Tensor:
        for layer in self.layers[:-1]:
            x = layer(x)
            if self.activation != "identity":
                x = getattr(x, self.activation)()
        return self.layers[-1](x)

    def parameters(self) -> list[Tensor]:
        return [parameter for layer in self.layers for parameter in layer.parameters()]

    def zero_grad(self) -> None:
        for parameter in self.parameters():
            parameter.grad = None


# ---------------------------------------------------------------- optimizers


def clip_grad_norm(parameters: Iterable[Tensor], max_norm: float) -> float:
    """Scale all gradients together so that their common norm is at most `max_norm`; returns the norm before.

    A norm that is inf or nan is returned, and the gradients stay as they are: no scaling can save them.
    """
    if not max_norm > 0:
        raise ValueError(f"The largest gradient norm must be a positive number, not {max_norm}.")
    parameters = [p for p in dict.fromkeys(parameters) if p.grad is not None]
    norm = math.sqrt(sum(float(np.square(p.grad, dtype=np.float64).sum()) for p in parameters))
    if max_norm < norm < math.inf:
        for p in parameters:
            p.grad = p.grad * (float(max_norm) / norm)
    return norm


class Optimizer:
    """What SGD and Adam share. A parameter that is given twice is stepped once; one without a gradient not at all."""

    def __init__(self, parameters: Iterable[Tensor], lr: float, weight_decay: float) -> None:
        parameters = list(parameters)
        if not all(isinstance(p, Tensor) for p in parameters):
            raise TypeError("An optimizer steps Tensors: give it a list of them, such as network.parameters().")
        self.parameters = list(dict.fromkeys(parameters))
        self.lr = lr
        self.weight_decay = float(weight_decay)  # float: a NumPy number would turn float32 into float64
        if not lr > 0 or not math.isfinite(lr):
            raise ValueError(f"The learning rate must be a positive number, not {lr}.")

    def zero_grad(self) -> None:
        for p in self.parameters:
            p.grad = None

    def step(self) -> None:
        for i, p in enumerate(self.parameters):
            if p.grad is not None:
                gradient = p.grad + self.weight_decay * p._data if self.weight_decay else p.grad
                update = self._update(i, gradient)
                # `update` is an array that nobody else has: the new values are written into it, not into a third one
                p._assign(np.subtract(p._data, update, out=update if p._data.ndim else None))

    def _zeros(self) -> list[Any]:
        return [np.zeros_like(p._data) for p in self.parameters]

    def _checked(self, arrays: list[Any]) -> list[Any]:
        for p, array in zip(self.parameters, arrays, strict=True):
            if array.shape != p.shape or array.dtype != p.dtype:
                raise ValueError(f"This state is of another network: {array.shape} {array.dtype} for {_name(p)}.")
        return [np.array(array) for array in arrays]


class SGD(Optimizer):
    """Stochastic gradient descent: v = momentum v + gradient; parameter -= lr v."""

    def __init__(
        self, parameters: Iterable[Tensor], lr: float, momentum: float = 0.0, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, lr, weight_decay)
        self.momentum = float(momentum)
        self.velocity = self._zeros()

    def _update(self, i: int, gradient: np.ndarray) -> np.ndarray:
        if self.momentum:
            self.velocity[i] = gradient = self.momentum * self.velocity[i] + gradient
        return float(self.lr) * gradient

    def state(self) -> dict[str, np.ndarray]:
        """What is needed to go on as if never stopped."""
        return {f"velocity{i}": np.array(v) for i, v in enumerate(self.velocity)}

    def load_state(self, state: dict[str, np.ndarray]) -> None:
        self.velocity = self._checked([state[f"velocity{i}"] for i in range(len(self.velocity))])


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015, algorithm 1): steps scaled by running means of the gradient and of its square."""

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, lr, weight_decay)
        self.betas, self.eps = (float(betas[0]), float(betas[1])), float(eps)
        self.mean, self.square = self._zeros(), self._zeros()
        self.steps = [0] * len(self.parameters)

    def _update(self, i: int, gradient: np.ndarray) -> np.ndarray:
        beta1, beta2 = self.betas
        self.steps[i] += 1
        self.mean[i] = beta1 * self.mean[i] + (1.0 - beta1) * gradient
        self.square[i] = beta2 * self.square[i] + (1.0 - beta2) * gradient * gradient
        # Both start at 0, which these two factors correct for; eps stands outside the square root.
        mean = self.mean[i] / (1.0 - beta1 ** self.steps[i])
        square = self.square[i] / (1.0 - beta2 ** self.steps[i])
        return float(self.lr) * mean / (np.sqrt(square) + self.eps)

    def state(self) -> dict[str, np.ndarray]:
        """What is needed to go on as if never stopped."""
        arrays = {f"mean{i}": np.array(m) for i, m in enumerate(self.mean)}
        arrays |= {f"square{i}": np.array(s) for i, s in enumerate(self.square)}
        return arrays | {"steps": np.array(self.steps)}

    def load_state(self, state: dict[str, np.ndarray]) -> None:
        self.mean = self._checked([state[f"mean{i}"] for i in range(len(self.mean))])
        self.square = self._checked([state[f"square{i}"] for i in range(len(self.square))])
        self.steps = [int(n) for n in state["steps"]]
