"""A reverse-mode automatic differentiation engine in NumPy. nn.py builds networks and optimizers on it.

Read it from top to bottom; by the end of the arithmetic section you have seen the whole engine. An operation computes
its result and keeps a closure, `_backward`, which takes the gradient of the result and sends gradients to the operands.
`backward()` calls these closures from the last operation to the first. That is all:

    message to an operand = upstream gradient * local derivative        (the chain rule)
    gradient of a tensor  = the sum of the messages it receives         (the multivariate chain rule)

Conventions where a derivative does not exist, or where NumPy has a choice

    relu'(0) = 0, leaky_relu'(0) = slope, |x|'(0) = 0      a subgradient, as most frameworks choose
    max, min, maximum, minimum with ties                   the gradient is split evenly among them
    clip                                                   passes the gradient inside and on the bounds
    x ** 0 at 0 has gradient 0                             a negative base with a tensor exponent gives nan
    0 ** y                                                 the gradient of y is 0 from y = 0 on, below it -inf
    norm and std at 0, also where all squares round to 0   gradient 0
    elements that relu, clip, max, ... do not choose       gradient 0, also where the upstream gradient is inf
    nan                                                    reaches the result; relu sends it gradient 0, maximum and
                                                           minimum send all to the second operand
    log(0), sqrt(0), division by 0, overflow of exp        inf, -inf or nan, and the gradients that follow; no warning
    overflow of + - * @ sum and prod, also on the way      inf, with NumPy's warning: silence costs more than the work
    inf - inf and 0 * inf, also in var, std and softmax    nan, with NumPy's warning; so for the losses of inf logits
    where(c, a, b) with a branch that is inf or nan        0 * inf is nan: make the *input* of that branch safe first
    integers and booleans                                  become float64; float32 stays float32 throughout
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ContextDecorator, contextmanager
from contextvars import ContextVar
from copy import deepcopy
from functools import partialmethod, wraps
from inspect import isasyncgenfunction, iscoroutinefunction, isfunction, isgeneratorfunction, signature
from itertools import count
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MutationError", "Tensor", "allow_mutation", "binary_cross_entropy_with_logits", "concatenate", "cross_entropy",
    "linear", "maximum", "minimum", "mse_loss", "no_grad", "stack", "topological_order", "where",
]  # read by rows  # fmt: skip

_Number: Any = np.float64
Array: TypeAlias = NDArray[Any]  # of floats; a single number is a NumPy scalar, which has the same methods
Backward: TypeAlias = Callable[[Any], None]  # takes the gradient of a result, sends messages to its operands


def _reflected(name: str) -> Callable[[Tensor, Any], Tensor]:
    return lambda self, left: getattr(Tensor, name)(left if isinstance(left, Tensor) else self._constant(left), self)


class Tensor:
    """An array that remembers how it was computed, so that `backward()` can find its derivatives.

    data           number, nested list or array; copied. float32 stays, everything else becomes float64
    requires_grad  False for an input whose gradient nobody needs
    label          a name for drawings and error messages

    `grad` is None until a backward pass reaches the tensor; then an array like `data`. Gradients of leaves (tensors
    that you made) add up until `zero_grad()`; each pass adds into a new array, so one that you keep does not change.
    Only one thread at a time may run a backward pass to a leaf. Arrays and numbers in an expression are constants. Use
    `loss.item()` in a running total: `loss` keeps its whole graph alive. Use `t.exp()`: `math.exp(t)`, `float(t)` and
    `array[0] = t` have no graph. Update a leaf by `w.data -= ...`: `w = w - ...` only gives its name to a result.

    Results have the class of the first operand. A subclass may override operations, `backward`, `grad` (as a property)
    and the methods that operations share: `_node`, `_constant`, `detach`, `_accumulate`. It reads values by `_read`.
    """

    __slots__ = ("__weakref__", "_backward", "_children", "_lent", "_made", "_touched", "_values",
                 "grad", "label", "op", "requires_grad")  # read by rows  # fmt: skip
    _made: int  # when a result was computed, by the same clock

    def __init__(self, data: Any, requires_grad: bool = True, label: str = "") -> None:
        self._make_leaf(_as_float_array(data), requires_grad, label)

    def _make_leaf(self, data: Array, requires_grad: bool, label: str) -> None:
        self._values = data  # the values. Never written to, unless `.data` has handed the array out
        self._lent: Array | None = None  # what `.data` has handed out: a view of `_values`
        self._touched = 0.0  # when the array was replaced, by `_tick`; inf once it is handed out
        self._children: tuple[Tensor, ...] = ()  # what this was computed from, in operand order, repeats kept
        self._backward: Any = None  # the closure that passes a gradient on; None for a leaf; once freed, the clock time
        self.grad: Array | None = None
        self.requires_grad, self.label, self.op = requires_grad, label, ""

    # -- how every operation is made

    def _node(self, data: Array, children: tuple[Tensor, ...], op: str, backward: Backward) -> Tensor:
        """Return an operation's result as a tensor; a leaf without history if there is nothing to differentiate."""
        out = object.__new__(type(self))
        for child in children if not _unrecorded.get() else ():
            if child.requires_grad:
                out._values, out._lent, out._touched = data, None, 0.0
                out._children, out._backward, out._made = children, backward, _tick()
                out.grad, out.requires_grad, out.label, out.op = None, True, "", op
                return out
        out._make_leaf(data, False, "")
        return out

    def _accumulate(self, message: Array) -> None:
        """Add one message to the gradient. It must be an array of its own, or a view, which is copied. Closures check
        `requires_grad` themselves only where the message is expensive."""
        if not self.requires_grad:
            return
        if type(message) is not _Number or type(self._values) is not _Number:  # two such numbers always fit
            message = _fitted(message, self)
        if self.grad is None:
            self.grad = message
        else:
            self.grad += message

    def _constant(self, value: Any) -> Tensor:
        """Return a number or array as a constant tensor of this dtype. The values are copied, even read-only ones
        (their owner may still write to them), unless no graph is recorded."""
        out, dtype = object.__new__(type(self)), self._values.dtype
        if isinstance(value, np.matrix):
            raise _error("matrix", kind=TypeError)
        shared = type(value) is np.ndarray and value.ndim > 0 and value.dtype == dtype and _unrecorded.get()
        out._make_leaf(value if shared else _as_float_array(value, dtype), False, "")
        return out

    def _operands(self, other: Any, op: str) -> tuple[Tensor, Array, Array]:
        """Return the other operand of an elementwise operation as a tensor, then the values of both operands."""
        if not isinstance(other, Tensor):
            other = self._constant(other)
        left = self._values if self._lent is None else self._read()
        right = other._values if other._lent is None else other._read()
        if type(left) is np.ndarray and left.shape != right.shape:
            with _refusing("operands", op, self, other):
                np.broadcast_shapes(left.shape, right.shape)
        return other, left, right

    # -- the backward pass

    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        """Add the derivatives of this tensor to the `grad` of every leaf that it was computed from.

        `grad` is the upstream gradient to start from, of this tensor's shape; 1 for a single element.
        retain_graph=True keeps the graph for another pass.

        Raises RuntimeError if there is no graph, it was freed, or `grad` is missing, and MutationError if values that
        the pass needs were written to. In each case no gradient has changed. A pass that is interrupted leaves
        gradients half added up: forget them with `zero_grad()`.
        """
        upstream = _starting_gradient(self, grad)
        order = topological_order(self)
        _check_nothing_freed(order)
        _check_nothing_written_to(order)
        interior = [node for node in order if node._backward is not None]
        for node in interior:
            node.grad = None  # only leaves add up over several passes
        self.grad = upstream
        now = _tick()
        for node in reversed(interior):
            node._backward(node.grad)
            if not retain_graph:
                node._backward, node._children = now, ()

    # -- arithmetic

    def __add__(self, other: Any) -> Tensor:
        other, left, right = self._operands(other, "+")

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * 1.0)  # d(left + right)/d left = 1
            other._accumulate(upstream * 1.0)  # d(left + right)/d right = 1

        return self._node(left + right, (self, other), "+", _backward)

    def __sub__(self, other: Any) -> Tensor:
        other, left, right = self._operands(other, "-")

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * 1.0)  # d(left - right)/d left = 1
            other._accumulate(upstream * -1.0)  # d(left - right)/d right = -1

        return self._node(left - right, (self, other), "-", _backward)

    def __mul__(self, other: Any) -> Tensor:
        other, left, right = self._operands(other, "*")

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * right)  # d(left * right)/d left = right
            other._accumulate(upstream * left)  # d(left * right)/d right = left

        return self._node(left * right, (self, other), "*", _backward)

    def __truediv__(self, other: Any) -> Tensor:
        other, left, right = self._operands(other, "/")
        result = left / right

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream / right)  # d(left / right)/d left = 1 / right
            other._accumulate(upstream * (-result / right))  # d(left / right)/d right = -left / right^2

        return self._node(result, (self, other), "/", _backward)

    def __pow__(self, other: Any, modulus: None = None) -> Tensor:
        if modulus is not None:
            raise _error("modulus", kind=TypeError)
        other, left, right = self._operands(other, "**")
        result = left**right

        def _backward(upstream: Array) -> None:
            # d(left^right)/d left = right left^(right-1), and 0 where right = 0
            self._accumulate(_chosen(right != 0, upstream * (right * left ** (right - 1))))
            if other.requires_grad:
                # d(left^right)/d right = left^right log left, and 0 for 0^right from right = 0 on
                other._accumulate(upstream * np.where((left == 0) & (right >= 0), 0.0, result * np.log(left)))

        return self._node(result, (self, other), "**", _backward)

    def __neg__(self) -> Tensor:
        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * -1.0)  # d(-value)/d value = -1

        return self._node(-self._read(), (self,), "neg", _backward)

    def __pos__(self) -> Tensor:
        return self

    def __matmul__(self, other: Any) -> Tensor:
        if not isinstance(other, Tensor):
            other = self._constant(other)
        left, right = self._read(), other._read()
        with _refusing("@", self, other):
            result = left @ right

        def _backward(upstream: Array) -> None:
            # For matrices: d left = upstream right^T and d right = left^T upstream. A vector on the left is a matrix
            # with one row, one on the right a matrix with one column; `@` dropped that axis, the rule needs it back.
            rows, columns = np.atleast_2d(left), right if right.ndim > 1 else right[:, None]
            upstream = upstream if right.ndim > 1 else np.expand_dims(upstream, -1)
            upstream = upstream if left.ndim > 1 else np.expand_dims(upstream, -2)
            if self.requires_grad:
                self._accumulate(upstream @ columns.swapaxes(-1, -2))
            if other.requires_grad:
                message = rows.swapaxes(-1, -2) @ upstream
                other._accumulate(message if right.ndim > 1 else message[..., 0])

        return self._node(result, (self, other), "@", _backward)

    # `2 - t` comes here because a number does not know tensors. The operand typed first stays first in the graph.
    __radd__, __rsub__, __rmul__ = _reflected("__add__"), _reflected("__sub__"), _reflected("__mul__")
    __rtruediv__, __rpow__, __rmatmul__ = _reflected("__truediv__"), _reflected("__pow__"), _reflected("__matmul__")

    # -- elementwise functions

    def exp(self) -> Tensor:
        """Raise e to the power of each element."""
        result = np.exp(self._read())

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * result)  # d(e^value)/d value = e^value

        return self._node(result, (self,), "exp", _backward)

    def log(self) -> Tensor:
        """Compute the natural logarithm; -inf at 0, nan below."""
        value = self._read()

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream / value)  # d(log value)/d value = 1 / value

        return self._node(np.log(value), (self,), "log", _backward)

    def sqrt(self) -> Tensor:
        """Compute the square root; nan below 0. Its gradient at 0 is inf."""
        result = np.sqrt(self._read())

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * 0.5 / result)  # d(sqrt value)/d value = 1 / (2 sqrt value)

        return self._node(result, (self,), "sqrt", _backward)

    def sin(self) -> Tensor:
        """Compute the sine of angles in radians."""
        value = self._read()

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * np.cos(value))  # d(sin value)/d value = cos value

        return self._node(np.sin(value), (self,), "sin", _backward)

    def cos(self) -> Tensor:
        """Compute the cosine of angles in radians."""
        value = self._read()

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * -np.sin(value))  # d(cos value)/d value = -sin value

        return self._node(np.cos(value), (self,), "cos", _backward)

    def tanh(self) -> Tensor:
        """Compute the hyperbolic tangent, between -1 and 1."""
        result = np.tanh(self._read())

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * (1.0 - result * result))  # d(tanh value)/d value = 1 - tanh^2 value

        return self._node(result, (self,), "tanh", _backward)

    def sigmoid(self) -> Tensor:
        """Compute 1 / (1 + e^-x), between 0 and 1."""
        result = np.exp(-np.logaddexp(0.0, -self._read()))  # 1 / (1 + e^-value), without overflow for any value

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * (result * (1.0 - result)))  # s' = s (1 - s)

        return self._node(result, (self,), "sigmoid", _backward)

    def softplus(self) -> Tensor:
        """Compute log(1 + e^x), a smooth relu."""
        value = self._read()

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * np.exp(-np.logaddexp(0.0, -value)))  # d log(1 + e^value)/d value = its sigmoid

        return self._node(np.logaddexp(0.0, value), (self,), "softplus", _backward)

    def relu(self) -> Tensor:
        """Return the larger of x and 0. The gradient at 0 is 0."""
        result = np.maximum(self._read(), 0.0)

        def _backward(upstream: Array) -> None:
            self._accumulate(_chosen(result > 0.0, upstream))  # 1 where the result is positive, else 0

        return self._node(result, (self,), "relu", _backward)

    def leaky_relu(self, slope: float = 0.01) -> Tensor:
        """Return x where it is positive, elsewhere slope * x."""
        value, slope = self._read(), _setting("slope", slope)
        local = np.where(value > 0.0, value.dtype.type(1.0), value.dtype.type(slope))

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * local)  # 1 where the value is positive, else the slope

        return self._node(value * local, (self,), "leaky_relu", _backward)

    def abs(self) -> Tensor:
        """Return |x|. The gradient at 0 is 0."""
        value = self._read()

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * np.sign(value))  # d|value|/d value = sign value

        return self._node(np.abs(value), (self,), "abs", _backward)

    __abs__ = abs

    def clip(self, low: float | None = None, high: float | None = None) -> Tensor:
        """Limit values to low..high; None is no limit. The gradient is 1 inside and on the bounds, 0 outside."""
        value = self._read()
        low = _setting("bound", -math.inf if low is None else low)
        high = _setting("bound", math.inf if high is None else high)
        _require(low <= high, "clip", low, high)

        def _backward(upstream: Array) -> None:
            self._accumulate(_chosen((value >= low) & (value <= high), upstream))  # 1 inside and on the bounds, else 0

        return self._node(np.clip(value, low, high), (self,), "clip", _backward)

    # -- reductions: `axis` is None (all), an int, or a tuple of ints; may be negative

    def sum(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Add up along `axis`."""
        axes = _axes(self, axis)
        total = _sum(self._read(), axes)

        def _backward(upstream: Array) -> None:
            self._accumulate(np.broadcast_to(upstream.reshape(total.shape), self.shape))  # d(sum)/d value_i = 1

        return self._node(_reduced(total, axes, keepdims), (self,), "sum", _backward)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Average along `axis`."""
        axes = _axes(self, axis)
        return self.sum(axes, keepdims) / _count(self.shape, axes)

    def var(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return the mean squared distance from the mean: divides by n, torch.var by n - 1."""
        axes = _axes(self, axis)
        return ((self - self.mean(axes, keepdims=True)) ** 2).mean(axes, keepdims)

    def std(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return the square root of var: divides by n, torch.std by n - 1. The gradient of equal elements is 0."""
        axes = _axes(self, axis)
        return (self - self.mean(axes, keepdims=True)).norm(axes, keepdims) / math.sqrt(_count(self.shape, axes))

    def norm(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Compute the Euclidean norm, sqrt(sum of squares), along `axis`. The gradient at 0 is 0."""
        value, axes = self._read(), _axes(self, axis)
        norm = np.sqrt(_sum(value * value, axes))

        def _backward(upstream: Array) -> None:
            local = np.divide(value, norm, out=np.zeros_like(value), where=norm != 0.0)  # value / |value|, and 0 at 0
            self._accumulate(upstream.reshape(norm.shape) * local)

        return self._node(_reduced(norm, axes, keepdims), (self,), "norm", _backward)

    def max(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return the largest element along `axis`; if several tie, each gets an equal share of the gradient."""
        value, axes = self._read(), _axes(self, axis, empty=False)
        top = value.max(axis=axes, keepdims=True)

        def _backward(upstream: Array) -> None:
            chosen = (value == top) | np.isnan(value)
            share = upstream.reshape(top.shape) / chosen.sum(axis=axes, keepdims=True)  # ties share the gradient evenly
            self._accumulate(_chosen(chosen, share))  # 1 for the largest element, else 0

        return self._node(_reduced(top, axes, keepdims), (self,), "max", _backward)

    def min(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return the smallest element along `axis`; if several tie, each gets an equal share of the gradient."""
        return -(-self).max(_axes(self, axis, empty=False), keepdims)

    def prod(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Multiply along `axis`."""
        value, axes = self._read(), _axes(self, axis)
        product = value.prod(axis=axes, keepdims=True)

        def _backward(upstream: Array) -> None:
            # d(prod)/d value_i is the product of the others. Where the result is 0 or has overflowed, it cannot be
            # divided by value_i: multiply what lies before element i by what lies after it, along one axis that holds
            # all the reduced ones.
            order = [i for i in range(value.ndim) if i not in axes] + [*axes]
            moved = np.transpose(value, order)
            rows = moved.reshape(*moved.shape[: value.ndim - len(axes)], _count(value.shape, axes))
            ones = np.ones((*rows.shape[:-1], 1), value.dtype)
            before = np.cumprod(np.concatenate([ones, rows], axis=-1)[..., :-1], axis=-1)
            after = np.cumprod(np.concatenate([ones, rows[..., ::-1]], axis=-1)[..., :-1], axis=-1)[..., ::-1]
            others = (before * after).reshape(moved.shape).transpose(np.argsort(order))
            divisible = np.isfinite(product) & np.isfinite(1.0 / product)
            others = np.where(divisible, product / value, others)
            self._accumulate(upstream.reshape(product.shape) * others)

        return self._node(_reduced(product, axes, keepdims), (self,), "prod", _backward)

    def softmax(self, axis: Any = -1) -> Tensor:
        """Compute e^x / sum(e^x) along `axis`: positive, adding up to 1."""
        value, axes = self._read(), _axes(self, axis, empty=False)
        e = np.exp(value - value.max(axis=axes, keepdims=True))  # less the maximum, so that nothing overflows
        result = e / e.sum(axis=axes, keepdims=True)

        def _backward(upstream: Array) -> None:
            # d result_i/d value_j = result_i (1[i = j] - result_j)
            self._accumulate(result * (upstream - (upstream * result).sum(axis=axes, keepdims=True)))

        return self._node(result, (self,), "softmax", _backward)

    def log_softmax(self, axis: Any = -1) -> Tensor:
        """Compute the logarithm of softmax along `axis`, without overflow or log(0)."""
        value, axes = self._read(), _axes(self, axis, empty=False)
        shifted = value - value.max(axis=axes, keepdims=True)
        result = shifted - np.log(np.exp(shifted).sum(axis=axes, keepdims=True))

        def _backward(upstream: Array) -> None:
            # d result_i/d value_j = 1[i = j] - softmax_j
            self._accumulate(upstream - np.exp(result) * upstream.sum(axis=axes, keepdims=True))

        return self._node(result, (self,), "log_softmax", _backward)

    def logsumexp(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Compute log(sum(e^x)) along `axis`, without overflow."""
        value, axes = self._read(), _axes(self, axis, empty=False)
        top = value.max(axis=axes, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0).astype(value.dtype)
        total = top + np.log(np.exp(value - top).sum(axis=axes, keepdims=True))

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream.reshape(total.shape) * np.exp(value - total))  # the softmax of value

        return self._node(_reduced(total, axes, keepdims), (self,), "logsumexp", _backward)

    # -- shape: values are moved, not changed, so a gradient is moved back

    def reshape(self, *shape: Any) -> Tensor:
        """Arrange the elements in another shape, given as numbers or one tuple; one length may be -1: the rest."""
        shape = _listed(shape)
        with _refusing("reshape", self.size, self, shape):
            result = self._read().reshape(shape)

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream.reshape(self.shape))

        return self._node(result, (self,), "reshape", _backward)

    def transpose(self, *axes: Any) -> Tensor:
        """Put the axes in the order given, as numbers or one tuple; reverse them without arguments."""
        _refuse_bools(axes)
        with _refusing("transpose", self, axes):
            order = _axes(self, _listed(axes) or range(self.ndim)[::-1])
            result = self._read().transpose(order)

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream.transpose(np.argsort(order)))  # the inverse permutation

        return self._node(result, (self,), "transpose", _backward)

    def swapaxes(self, first: int, second: int) -> Tensor:
        """Exchange two axes."""
        order = list(range(self.ndim))
        _refuse_bools((first, second))
        with _refusing("swapaxes", first, second, self):
            order[first], order[second] = order[second], order[first]
        return self.transpose(order)

    def squeeze(self, axis: Any = None) -> Tensor:
        """Drop axes of length 1: the given ones, or all."""
        return self._reshaped("squeeze", np.squeeze, axis)

    def expand_dims(self, axis: Any = None) -> Tensor:
        """Insert an axis of length 1 at each given position."""
        return self._reshaped("expand_dims", np.expand_dims, axis)

    def _reshaped(self, op: str, change: Callable[..., Array], axis: Any) -> Tensor:
        _refuse_bools(axis)
        with _refusing("axis", op, axis, self):
            return self.reshape(change(self._values, axis).shape)

    def broadcast_to(self, *shape: Any) -> Tensor:
        """Repeat along axes of length 1, and along new ones in front, up to a shape."""
        shape = _listed(shape)
        with _refusing("broadcast_to", self, shape):
            result = np.broadcast_to(self._read(), shape)

        def _backward(upstream: Array) -> None:
            self._accumulate(upstream * 1.0)  # `_accumulate` sums over the axes that were repeated

        return self._node(result, (self,), "broadcast_to", _backward)

    def __getitem__(self, index: Any) -> Tensor:
        _plain(index)
        try:
            index = deepcopy(index)  # it may be a list or an array that the caller changes later
            result = self._read()[index]
        except (IndexError, TypeError) as error:
            tensor = _holds(index, Tensor)
            why = "take integers, t.numpy().astype(int), not a tensor" if tensor else str(error).rstrip(".")
            raise _error("index", self, why, kind=IndexError) from None

        def _backward(upstream: Array) -> None:
            full = np.zeros(self.shape, self.dtype)
            np.add.at(full, index, upstream)  # not `full[index] += `, which counts a repeated index once
            self._accumulate(full)

        return self._node(result, (self,), "getitem", _backward)

    # -- values, for code outside the engine

    def numpy(self) -> Array:
        """Return a copy of the values."""
        return np.array(self._values)

    def item(self) -> float:
        """Return the only element as a Python number, without a graph."""
        _require(self.size == 1, "item", self.size, self)
        return float(self._values.item())

    __float__ = item

    def __int__(self) -> int:
        return int(self.item())

    def __round__(self, digits: int | None = None) -> float:
        return round(self.item(), digits)

    def detach(self) -> Tensor:
        """Return the same values without history: shares `data`, receives no gradient, passes none on."""
        out = object.__new__(type(self))
        lent = self.data
        out._make_leaf(self._values, False, self.label)
        out._lent, out._touched = lent, math.inf
        return out

    def zero_grad(self) -> None:
        """Forget the gradient: `grad` becomes None."""
        self.grad = None

    shape = property(lambda self: self._values.shape, doc="How long each axis is: a tuple, () for a single number.")
    ndim = property(lambda self: self._values.ndim, doc="How many axes there are.")
    size = property(lambda self: self._values.size, doc="How many elements there are.")
    dtype = property(lambda self: self._values.dtype, doc="float64 or float32, as a NumPy dtype.")
    T = property(transpose, doc="The tensor with its axes reversed: transpose().")

    def __repr__(self) -> str:
        parts = [np.array2string(np.asarray(self._values), precision=4, separator=", ", prefix="Tensor(")]
        parts += [f"grad={np.array2string(np.asarray(self.grad), precision=4)}"] if self.grad is not None else []
        parts += [f"op={self.op!r}"] if self.op else []
        parts += [f"label={self.label!r}"] if self.label else []
        parts += ["requires_grad=False"] if not self.requires_grad else []
        return f"Tensor({', '.join(parts)})"

    def __len__(self) -> int:
        _require(self.ndim, "length", kind=TypeError)
        return len(self._values)

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(len(self)))

    # Comparisons give boolean arrays: they have no derivative. Tensors are told apart by identity.
    __hash__ = object.__hash__

    def _compare(self, other: Any, compare: Callable[[Any, Any], Any]) -> Any:
        other = _plain(other)
        with _refusing("comparison", self):
            result = compare(self._values, other)
        # `Tensor(1.0) == None` is a plain False
        return np.asarray(result).view(Comparison) if np.ndim(result) else result

    __eq__, __ne__ = partialmethod(_compare, compare=operator.eq), partialmethod(_compare, compare=operator.ne)
    __lt__, __le__ = partialmethod(_compare, compare=operator.lt), partialmethod(_compare, compare=operator.le)
    __gt__, __ge__ = partialmethod(_compare, compare=operator.gt), partialmethod(_compare, compare=operator.ge)

    # -- the guard: code may write to the array that `.data` hands out, and no write may reach a closure

    def _read(self) -> Array:
        """Return the values for an operation and its closure: a copy, once `.data` has handed the array out."""
        if self._lent is not None and not _unguarded.get():
            return self._values.copy()[()]
        return self._values

    @property
    def data(self) -> Array:
        """The values, to read or to write: the same array each time, never one that a closure has captured."""
        if self._lent is None:
            if not _unguarded.get() or self._values.ndim == 0:
                self._values = np.array(self._values)
            self._touched = math.inf
            self._lent = self._values.view()  # a view: giving it a new shape or dtype does not change this tensor
        return self._lent

    @data.setter
    def data(self, new: Any) -> None:
        if new is self._lent:  # `t.data += 1` has already written into the array that it assigns
            return
        values = _as_float_array(new, self.dtype)
        _require(values.shape == self.shape, "data", values.shape, self)
        self._values, self._lent, self._touched = values, None, _tick()


# ---------------------------------------------------------------- the guard, continued: before each backward pass


class MutationError(RuntimeError):
    """Values that a backward pass needs were written to after the forward pass.

    An array that `.data` hands out is never one that a closure has captured, so no write can reach a gradient;
    `backward()` finds writes by comparing the two. Inside `allow_mutation()` a write gives a wrong gradient, silently.
    For arrays that your own closures capture, use lab.traps.detect_mutation.
    """


def _check_nothing_freed(order: list[Tensor]) -> None:
    """Refuse a pass that would fail half-way, before it changes any gradient."""
    for node in order:
        if node._backward is None:
            if node.grad is not None:
                node.grad = deepcopy(_own_gradient(node))  # the pass adds to a copy: an array that you keep stays
        elif type(node._backward) is int:
            users = [user for user in order if any(child is node for child in user._children)]
            later = any(user._made >= node._backward for user in users)  # a new graph continues a freed one
            raise _error("no leaf" if later else "freed", node, node.op, kind=RuntimeError)
        elif not node.requires_grad:
            raise _error("switched off", node, kind=RuntimeError)


def _check_nothing_written_to(order: list[Tensor]) -> None:
    """Raise MutationError if captured values changed; look only where an array was handed out or replaced later."""
    latest = max([node._touched for node in order])
    for node in order if not _unguarded.get() else ():
        made = node._made if node._children else latest
        if made < latest and any(tensor._touched > made for tensor in (node, *node._children)):
            _check_captured(node)


# Name of a captured array -> whose values it has: those of operand 1 or 2, or 0 for the result. An array in the second
# table is read only for the message to that operand: if the operand needs no gradient, a write is harmless.
_CAPTURED = MappingProxyType({"value": 1, "left": 1, "right": 2, "result": 0})
_READ_FOR = MappingProxyType({
    ("*", "left"): 2, ("*", "right"): 1, ("@", "left"): 2, ("@", "right"): 1, ("linear", "left"): 2,
    ("linear", "right"): 1, ("/", "result"): 2, ("**", "result"): 2,
})  # read by rows  # fmt: skip


def _check_captured(node: Tensor) -> None:
    """Raise MutationError if values that the closure captured are no longer those of their tensor."""
    closure = getattr(node._backward, "__wrapped__", node._backward)
    if getattr(closure, "__globals__", None) is not globals():  # an operation from another file: not guarded
        return
    tensors = (node, *node._children)
    for name, cell in zip(closure.__code__.co_freevars, closure.__closure__, strict=True):
        reader = _READ_FOR.get((node.op, name))
        if name in _CAPTURED and (reader is None or tensors[reader].requires_grad):
            tensor, kept = tensors[_CAPTURED[name]], cell.cell_contents
            same = tensor._values is kept
            if same and tensor._lent is None:
                continue  # no code outside the engine has this array
            if same or tensor._values.tobytes() != kept.tobytes():  # as bytes, nan equals nan
                which = "its own output" if tensor is node else "its input"
                why = "was handed out under allow_mutation()" if same else "has been written to since"
                raise _mutation_error(node, f"{which}, {_name(tensor)},", why)


# ---------------------------------------------------------------- graph and mode

Function = TypeVar("Function", bound=Callable[..., Any])


def topological_order(root: Tensor) -> list[Tensor]:
    """Return every tensor that `root` was computed from, each once and after its children; `root` is last."""
    _require(hasattr(root, "_children"), "order", type(root).__name__, kind=TypeError)
    order: list[Tensor] = []
    seen: set[Tensor] = set()
    stack: list[Any] = [root]  # no recursion: a graph can be deeper than Python's call stack
    while stack:
        node = stack.pop()
        if node is None:  # the marker above a node: all of its children are placed
            order.append(stack.pop())
        elif node not in seen:
            seen.add(node)
            if node._children:
                stack += (node, None, *node._children[::-1])  # the node, its marker, then its children on top
            else:
                order.append(node)
    return order


# How many nested no_grad and allow_mutation blocks this thread or task is in. Context variables, not globals: one user
# of a server must not switch off another user's gradients.
_unrecorded: ContextVar[int] = ContextVar("no_grad", default=0)
_unguarded: ContextVar[int] = ContextVar("allow_mutation", default=0)
_tick = count(1).__next__  # a clock: orders results, backward passes and replaced arrays in time, over all threads


class _Block(ContextDecorator):
    """A `with` block or decorator that counts its depth in a context variable. Threads may share one; it may nest."""

    def __init__(self, depth: ContextVar[int]) -> None:
        self._depth = depth

    def __enter__(self) -> None:
        self._depth.set(self._depth.get() + 1)

    def __exit__(self, *exception: object) -> None:
        self._depth.set(max(self._depth.get() - 1, 0))

    def __call__(self, function: Function) -> Function:
        runs_later = (isgeneratorfunction, iscoroutinefunction, isasyncgenfunction)
        later = any(kind(code) for kind in runs_later for code in (function, type(function).__call__))
        _require(not later, "later", kind=TypeError)
        return super().__call__(function)


class _NoGrad:
    """Compute values without recording a graph: `with no_grad():`, or as a decorator, with or without parentheses.

    A generator that yields inside the block leaves recording off for its caller: keep `yield` out of it.
    """

    def __call__(self, function: Any = None) -> Any:
        block = _Block(_unrecorded)
        return block if function is None else block(function)

    def __enter__(self) -> None:
        raise _error("call it", kind=TypeError)

    def __exit__(self, *exception: object) -> None: ...


no_grad = _NoGrad()


def allow_mutation() -> _Block:
    """Switch the guard off in a `with` block: `.data` hands out the live array, and writes to it go unnoticed, also
    when the tensor gets new data later."""
    return _Block(_unguarded)


# ---------------------------------------------------------------- helpers


def _starting_gradient(root: Tensor, grad: Any) -> Array:
    """Return the upstream gradient that `backward()` starts from: `grad`, or 1 for a single element."""
    data = root._values
    if root._backward is None:
        raise _error("no graph", root, kind=RuntimeError)
    if grad is None:
        _require(data.size == 1, "no number", root, data.size, data.shape, kind=RuntimeError)
        one: Array = data.dtype.type(1.0)
        return one.reshape(data.shape) if data.ndim else one
    upstream = _as_float_array(grad, data.dtype)
    _require(upstream.shape == data.shape, "upstream", upstream.shape, root)
    return upstream


def _own_gradient(leaf: Tensor) -> Array | None:
    """Return a leaf's gradient, first made to fit: a learner may have assigned another dtype, or one number for all."""
    grad, data = leaf.grad, leaf._values
    if grad is not None and (type(grad) is not type(data) or grad.shape != data.shape or grad.dtype != data.dtype):
        grad = _as_float_array(grad, data.dtype)
        _require(grad.shape in ((), data.shape), "assigned", leaf, grad.shape)
        leaf.grad = grad = np.array(np.broadcast_to(grad, data.shape))[()]
    return grad


def _as_float_array(value: Any, dtype: Any = None) -> Array:
    """Copy a value into a float array; a single number becomes a NumPy scalar, which cannot be written to."""
    if isinstance(value, (float, int)):
        try:
            number: Array = (_Number if dtype is None else dtype.type)(value)
            return number
        except OverflowError:
            raise _error("digits") from None
    try:
        array = np.array(_plain(value))
    except (ValueError, RecursionError):  # a list may hold itself
        raise _error("rows") from None
    if array.dtype.kind not in "fiub":
        raise _error("no numbers", type(value).__name__, array.dtype, kind=TypeError)
    dtype = dtype or (np.float32 if array.dtype.type is np.float32 else np.float64)
    array = array.astype(dtype, copy=not isinstance(value, np.ndarray))  # `__array__` may have returned its own array
    return array if array.ndim else array[()]


def _plain(value: Any) -> Any:
    """Return the values of a Tensor, anything else as it is; refuse a masked array: NumPy would read past its mask."""
    _require(not _holds(value, np.ma.MaskedArray), "masked", kind=TypeError)
    return value._values if isinstance(value, Tensor) else value


def _holds(value: Any, kind: Any) -> bool:
    """Return whether a value is of a kind, or is a list or tuple that holds one that is."""
    return isinstance(value, kind) or (isinstance(value, (list, tuple)) and any(_holds(one, kind) for one in value))


def _fitted(message: Array, tensor: Tensor) -> Array:
    """Return the message in the shape and dtype of the tensor, as an array of its own."""
    data = tensor._values
    if message.shape != data.shape:
        message = _unbroadcast(message, tensor)
    if message.dtype != data.dtype:
        return message.astype(data.dtype)
    return message if message.base is None else message.copy()


def _unbroadcast(message: Array, tensor: Tensor) -> Array:
    """Undo broadcasting: an operand that was repeated along an axis receives the sum over that axis."""
    shape, extra = tensor.shape, message.ndim - tensor.ndim
    repeated = [i for i, n in enumerate(message.shape) if i < extra or (shape[i - extra] == 1 and n != 1)]
    summed = _sum(message, tuple(repeated))
    if extra < 0 or summed.shape[extra:] != shape:
        raise _error("message", message.shape, tensor)
    return summed.reshape(shape)


def _axes(tensor: Tensor, axis: Any, empty: bool = True) -> tuple[int, ...]:
    """Return the axes that `axis` stands for, counted from the front. empty=False refuses axes without elements."""
    _refuse_bools(axis)
    with _refusing("axes", tensor, axis):
        axes = range(tensor.ndim) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, tensor.ndim)
    _require(empty or _count(tensor.shape, axes), "empty", tensor)
    return tuple(axes)


def _chosen(mask: Array, message: Array) -> Array:
    """Return the message where the mask holds, else 0: a product with the mask would turn inf into nan."""
    if mask.ndim == 0:  # the fast way for single numbers
        return message * 1.0 if mask else np.zeros(message.shape, message.dtype)[()]
    return np.where(mask, message, 0.0)


def _refuse_bools(axis: Any) -> None:
    _require(not _holds(axis, (bool, np.bool_)), "bool axis", axis, kind=TypeError)


def _count(shape: tuple[int, ...], axes: Iterable[int]) -> int:
    return math.prod(shape[i] for i in axes)


def _sum(array: Array, axes: tuple[int, ...], keepdims: bool = True) -> Array:
    total: Array = np.add.reduce(array, axes, keepdims=keepdims)  # type: ignore[call-overload]  # a bool is right
    if array.size > 1000 * total.size and array.dtype == np.float32:  # long float32 sums add up rounding errors
        total = array.sum(axis=axes, keepdims=keepdims, dtype=np.float64).astype(np.float32)
    return total


def _reduced(kept: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Drop the reduced axes of a reduction's result, which have length 1 in `kept`, unless keepdims is set."""
    _require(isinstance(keepdims, (bool, np.bool_)), "keepdims", keepdims, kind=TypeError)
    return kept if keepdims else np.squeeze(kept, axes)[()]


def _listed(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return lengths or axes as a tuple, whether given one by one or as one tuple, list or array."""
    return tuple(arguments[0]) if len(arguments) == 1 and np.iterable(arguments[0]) else arguments


def _as_tensors(op: str, *operands: Any) -> tuple[Tensor, ...]:
    """Return operands as tensors; numbers and arrays become constants of the class and dtype of the first Tensor."""
    _require(operands, "nothing", op)
    first = next((t for t in operands if isinstance(t, Tensor)), Tensor(0.0, requires_grad=False))
    return tuple(t if isinstance(t, Tensor) else first._constant(t) for t in operands)


# ---------------------------------------------------------------- functions and losses


def maximum(left: Any, right: Any) -> Tensor:
    """Return the elementwise larger of two. Where they are equal, each receives half of the gradient."""
    return _choose("maximum", left, right, np.maximum, np.greater)


def minimum(left: Any, right: Any) -> Tensor:
    """Return the elementwise smaller of two. Where they are equal, each receives half of the gradient."""
    return _choose("minimum", left, right, np.minimum, np.less)


def _choose(op: str, left: Any, right: Any, choose: Callable[..., Array], chosen: Callable[..., Array]) -> Tensor:
    first, second = _as_tensors(op, left, right)
    _, left, right = first._operands(second, op)

    def _backward(upstream: Array) -> None:
        share = chosen(left, right) + 0.5 * (left == right)
        first._accumulate(_chosen(share > 0.0, upstream * share))
        second._accumulate(_chosen(share < 1.0, upstream * (1.0 - share)))

    return first._node(choose(left, right), (first, second), op, _backward)


def where(condition: Any, left: Any, right: Any) -> Tensor:
    """Return `left` where the condition (an array of booleans, a constant) holds, `right` elsewhere."""
    first, second = _as_tensors("where", left, right)
    _, left, right = first._operands(second, "where")
    condition = np.array(_plain(condition))
    _require(condition.dtype.kind in "biuf", "where", condition.shape, condition.dtype, first, second)
    with _refusing("where", condition.shape, condition.dtype, first, second):
        condition = condition.astype(bool)  # a copy: `__array__` may have returned its own array
        result = np.where(condition, left, right)[()]

    def _backward(upstream: Array) -> None:
        first._accumulate(np.where(condition, upstream, 0.0))  # 1 where it was chosen, else 0
        second._accumulate(np.where(condition, 0.0, upstream))

    return first._node(result, (first, second), "where", _backward)


def concatenate(tensors: Iterable[Any], axis: int = 0) -> Tensor:
    """Join tensors along an axis that they have."""
    return _join("concatenate", np.concatenate, tensors, axis)


def stack(tensors: Iterable[Any], axis: int = 0) -> Tensor:
    """Join tensors of one shape along a new axis."""
    return _join("stack", np.stack, tensors, axis)


def _join(op: str, join: Callable[..., Array], tensors: Iterable[Any], axis: int) -> Tensor:
    operands = _as_tensors(op, *tensors)
    _refuse_bools(axis)
    with _refusing("join", op, ", ".join(str(operand.shape) for operand in operands), axis):
        axis = operator.index(axis)  # a number of its own: the caller may change a 0-d array later
        result = join([operand._read() for operand in operands], axis)
    ends = np.cumsum([1 if op == "stack" else operand.shape[axis] for operand in operands])[:-1]

    def _backward(upstream: Array) -> None:
        for operand, part in zip(operands, np.split(upstream, ends, axis), strict=True):
            operand._accumulate(part.reshape(operand.shape))  # each operand receives its own part

    return operands[0]._node(result, operands, op, _backward)


def linear(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Compute inputs @ weight + bias as one operation: inputs (n, n_in), weight (n_in, n_out), bias (n_out,)."""
    left, right = inputs._read(), weight._read()
    _require(right.ndim == 2 and bias.shape == right.shape[1:], "linear", weight, bias)
    if left.ndim != 2 or left.shape[1] != right.shape[0]:
        raise _error("inputs", right.shape[0], inputs)
    result = left @ right
    result += bias._read()

    def _backward(upstream: Array) -> None:
        if inputs.requires_grad:
            inputs._accumulate(upstream @ right.T)
        weight._accumulate(left.T @ upstream)
        bias._accumulate(_sum(upstream, (0,), keepdims=False))  # the bias was added to every row

    return inputs._node(result, (inputs, weight, bias), "linear", _backward)


def mse_loss(prediction: Any, target: Any) -> Tensor:
    """Return the mean of (prediction - target)^2. Shapes must be equal: broadcasting here is nearly always wrong."""
    first, second = _same_shape("mse_loss", prediction, target)
    return ((first - second) ** 2).mean()


def binary_cross_entropy_with_logits(logits: Any, targets: Any) -> Tensor:
    """Return the mean of -t log s - (1 - t) log(1 - s), s = sigmoid(logit), for targets t in 0..1 of the same shape."""
    first, second = _same_shape("binary_cross_entropy_with_logits", logits, targets)
    return (first.softplus() - first * second).mean()


def _same_shape(loss: str, prediction: Any, target: Any) -> tuple[Tensor, ...]:
    prediction, target = both = _as_tensors(loss, prediction, target)
    _require(prediction.shape == target.shape, "same shape", loss, prediction, target.shape)
    return both


def cross_entropy(logits: Any, labels: Any) -> Tensor:
    """Return the mean over rows of -log softmax(logits)[label]: logits (n, classes), labels (n,) integers from 0."""
    operand = logits if isinstance(logits, Tensor) else Tensor(logits, requires_grad=False)
    value, labels = operand._read(), np.array(_plain(labels)).copy()  # see `_as_float_array`
    if value.ndim != 2 or labels.shape != value.shape[:1]:
        raise _error("one-hot" if labels.ndim == value.ndim == 2 else "logits", operand, labels.shape)
    _require(labels.size, "empty batch")
    if labels.dtype.kind not in "iu":
        raise _error("labels", labels.dtype, kind=TypeError)
    if np.maximum.reduce(labels.astype(np.uint64)) >= value.shape[1]:  # as unsigned, a negative one is huge
        raise _error("range", labels.min(), labels.max(), value.shape[1], value.shape[1] - 1)
    rows = np.arange(len(labels))
    shifted = value - np.maximum.reduce(value, 1, keepdims=True)
    e = np.exp(shifted)
    total = np.add.reduce(e, 1, keepdims=True)
    result = np.add.reduce(np.log(total[:, 0]) - shifted[rows, labels]) / len(labels)

    def _backward(upstream: Array) -> None:
        # d loss/d logits = (softmax - one-hot label) / n. See Bishop, Pattern Recognition, eq. 4.109.
        local = e / total
        local[rows, labels] -= 1.0
        local *= upstream / len(labels)
        operand._accumulate(local)

    return operand._node(result, (operand,), "cross_entropy", _backward)


# ---------------------------------------------------------------- misuse: error messages that say what to do

# The error messages; each {} stands for the name of a tensor, a shape, an axis, ...
_SENTENCES = MappingProxyType({
    # operations
    "operands": "`{}` cannot combine {} with {}: from the last axis backwards, lengths must be equal or one is 1.",
    "@": "`@` cannot multiply {} by {}: both need at least one axis, and the last axis of the first must be as long "
    "as the second-to-last (or only) axis of the other.",
    "clip": "clip needs low <= high, but low is {:g} and high is {:g}.",
    "reshape": "reshape cannot arrange the {} elements of {} as {}.",
    "transpose": "transpose of {} needs each of its axes once, not {}.",
    "swapaxes": "swapaxes of axes {} and {} does not fit {}.",
    "axis": "{} with axis {} does not fit {}.",
    "axes": "{} has no axis {}: it is out of bounds (from 0, or from the end from -1), or repeated.",
    "empty": "{} has no elements along the axes to reduce, so there is no largest or smallest one.",
    "broadcast_to": "{} cannot be broadcast to {}: each axis must be 1 or as long as the one asked for.",
    "index": "{} cannot be indexed like this: {}.",
    "comparison": "{} can be compared with numbers, and with arrays that broadcast to its shape.",
    "where": "where cannot choose by a condition of shape {} ({}) from {} and {}.",
    "join": "{} cannot join shapes {} along axis {}: it must exist (in the result), and all other axes must agree.",
    "nothing": "{} needs at least one tensor.",
    # values
    "digits": "A tensor holds numbers up to about 1.8e308, and this one has more digits.",
    "rows": "The rows have different lengths: each needs the same number of elements.",
    "no numbers": "A tensor holds real numbers, not {} ({}).",
    "masked": "A tensor holds real numbers, not MaskedArray: give it .filled(...), or its .data, and choose elements "
    "by where(condition, ..., ...).",
    "matrix": "NumPy's matrix means something else by `*` and `**` than a tensor: give np.asarray(matrix).",
    "modulus": "A tensor has no remainder: pow takes a base and an exponent.",
    "item": "item() needs exactly one element (so do float() and math.exp()), not {}, as in {}: numpy() gives all "
    "values, t.exp() keeps the graph.",
    "length": "A single number has no length.",
    "truth": "The truth of {} is ambiguous: it does not have exactly one element.",
    "truths": "A comparison of tensors gives {} booleans, not one: use maximum(t, u) for the larger elements, .all() "
    "or .any(), `is` for the same tensor.",
    "format": "A format such as '{}' is for one number, but {} has {}: see repr.",
    "data": "Data of shape {} cannot replace those of {}. Make a new Tensor.",
    "element": "The elements of {} cannot be assigned, the graph needs them: t.data[...] = changes a leaf before the "
    "forward pass; where, concatenate and stack build a result.",
    "rebound": "`{0}` would not change the leaf {1}, but give its name to a result: to update it, write {2}.data {0} "
    "...; to add up losses, start from a plain 0.0.",
    "elsewhere": "'{}' object has no attribute '{}': here it is {}.",
    "copied": "{} cannot be copied or pickled with its graph: use detach(), for its values.",
    "numpy": "NumPy would lose the graph of {}: use {}, or take t.numpy(), the values alone.",
    "axis only": "Here it is axis and keepdims, as in NumPy (PyTorch: dim, keepdim), not {}.",
    "bool axis": "An axis is an integer, not {}: write keepdims=True by its name.",
    "tensor axis": "The second argument of {} is the axis, an integer and no tensor: several tensors are one list, as "
    "in stack([t, u]).",
    "keepdims": "keepdims is True or False, not {!r}: several axes are one tuple, as in axis=(0, 1).",
    # the backward pass
    "order": "topological_order needs the Tensor that a graph ends with, not {}.",
    "later": "The body of a generator or an async function runs later, in pieces: inside it, put `with no_grad():` "
    "around the computation, with no `yield` in the block.",
    "call it": "no_grad needs its parentheses here: write `with no_grad():`.",
    "no graph": "backward() has nothing to differentiate: {} was not computed from tensors that require gradients. "
    "Call it on a result, computed outside no_grad() and without detach(). A leaf that was updated by w = w - ... "
    "under no_grad() is no longer a leaf: write w.data -= ... instead.",
    "no number": "backward() starts from a single number, but {} has {} elements. Reduce it first, for example with "
    ".sum() or .mean(), or pass the upstream gradient, of shape {}.",
    "upstream": "backward() got a gradient of shape {}; it must be that of {}.",
    "message": "A gradient of shape {} was sent to {}: the shapes must be equal.",
    "assigned": "The gradient of {} was assigned, and has another shape: {}.",
    "switched off": "requires_grad was switched off on {}: use detach() to cut a graph.",
    "freed": "backward() has already gone through {} and freed its graph. To go through it again, call "
    "backward(retain_graph=True) the first time; otherwise run the forward pass again.",
    "no leaf": "{} is no longer a leaf: it was computed (by `{}`) in an earlier turn, whose backward() freed its "
    "graph. Update a leaf in place, w.data -= ..., or make a new one, Tensor(...); what is carried from one turn to "
    "the next needs detach(), a running total of losses loss.item().",
    "mutation": "The backward pass of `{}` needs {} as it was in the forward pass, but it {}. No gradient was "
    "computed. Run the forward pass again after the change, or make a new tensor (t = t + change) instead of writing "
    "to t; an optimizer steps after backward(), not before.",
    # losses
    "same shape": "{} compares element by element, but {} met a target of shape {}. Reshape one of them.",
    "logits": "cross_entropy needs logits (n, classes) and n labels; {} came with labels of shape {}.",
    "one-hot": "cross_entropy needs one class number for each row of {}, not one-hot rows of shape {}: write "
    "labels.argmax(axis=1).",
    "empty batch": "cross_entropy is a mean over rows, and this batch has none.",
    "labels": "cross_entropy needs integer class numbers as labels, not {}: write labels.astype(int), for a Tensor "
    "labels.numpy().astype(int).",
    "range": "cross_entropy got labels from {} to {}, but with {} classes they go from 0 to {}.",
    "linear": "linear needs a weight of shape (n_in, n_out) and a bias of shape (n_out,), not {} and {}.",
    "inputs": "A layer of {0} inputs needs an input of shape (n, {0}), not {1}.",
})  # read by rows  # fmt: skip

# What each numeric setting must be, in words and as a test
_RULES: Mapping[str, tuple[str, Callable[[float], bool]]] = MappingProxyType(
    {
        "slope": ("The slope of leaky_relu must be a number (no gradient would reach it)", math.isfinite),
        "bound": ("A bound of clip must be a number (no gradient would reach it)", lambda number: True),
    }
)


def _error(key: str, *things: Any, kind: type[Exception] = ValueError) -> Exception:
    return kind(_SENTENCES[key].format(*(_name(thing) if isinstance(thing, Tensor) else thing for thing in things)))


def _require(holds: Any, key: str, *things: Any, kind: type[Exception] = ValueError) -> None:
    if not holds:
        raise _error(key, *things, kind=kind)


@contextmanager
def _refusing(key: str, *things: Any) -> Iterator[None]:
    """Turn an error that NumPy raises in this block into one of the messages above."""
    try:
        yield
    except (TypeError, ValueError, IndexError, OverflowError, RuntimeError):
        raise _error(key, *things) from None


def _setting(rule: str, value: Any) -> float:
    """Check a setting against its rule and return it as a Python float: a NumPy one would turn float32 into float64."""
    sentence, holds = _RULES[rule]
    if not isinstance(value, (float, int, np.floating, np.integer)):
        raise TypeError(f"{sentence}, not a {type(value).__name__}.")
    if not holds(float(value)):
        raise ValueError(f"{sentence}, not {value}.")
    return float(value)


def _name(tensor: Tensor) -> str:
    kind = f"'{tensor.label}'" if tensor.label else f"the result of `{tensor.op}`" if tensor.op else "a tensor"
    return f"{kind} of shape {tensor.shape}"


def _mutation_error(node: Tensor, what: str, why: str = "has been written to since") -> Exception:
    return _error("mutation", node.op, what, why, kind=MutationError)


class Comparison(np.ndarray):
    """The boolean array of a comparison, with an error that says what to do for `max(t, u)` and `t in [u]`."""

    def __bool__(self) -> bool:
        _require(self.size == 1, "truths", self.size)
        return bool(self.all())

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()]  # results computed from it are plain arrays


# NumPy's name of an operator between an array and a tensor -> the method of the tensor that computes it
_REFLECTED = MappingProxyType({
    "add": "__radd__", "subtract": "__rsub__", "multiply": "__rmul__", "divide": "__rtruediv__", "power": "__rpow__",
    "matmul": "__rmatmul__", "equal": "__eq__", "not_equal": "__ne__", "less": "__gt__", "less_equal": "__ge__",
    "greater": "__lt__", "greater_equal": "__le__",
})  # read by rows  # fmt: skip


class _Protocols:
    """Methods of Tensor for what Python, NumPy and PyTorch code expects: they do it, or raise an error that helps."""

    def _rebind(self: Any, other: Any, sign: str) -> Any:
        """Let `t += other` compute t + other for a result; refuse it for a leaf, which would lose its gradient."""
        name = self.label if self.label.isidentifier() else "t"
        _require(self._backward is not None or not self.requires_grad, "rebound", sign, self, name, kind=RuntimeError)
        return NotImplemented  # then Python uses the plain operator

    __iadd__, __isub__ = partialmethod(_rebind, sign="+="), partialmethod(_rebind, sign="-=")
    __imul__, __itruediv__ = partialmethod(_rebind, sign="*="), partialmethod(_rebind, sign="/=")
    __ipow__, __imatmul__ = partialmethod(_rebind, sign="**="), partialmethod(_rebind, sign="@=")

    def __setitem__(self: Any, index: Any, value: Any) -> None:
        raise _error("element", self, kind=TypeError)

    def __format__(self: Any, spec: str) -> str:
        _require(not spec or self.size == 1, "format", spec, self, self.size, kind=TypeError)
        return format(self.item(), spec) if spec else repr(self)

    def __bool__(self: Any) -> bool:
        _require(self.size == 1, "truth", self)
        return bool(self._values)

    def __array__(self: Any, *_: Any, **__: Any) -> Any:
        return self._refuse_numpy("")

    def __array_ufunc__(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute `array * tensor`, which NumPy sends here as np.multiply; refuse functions such as np.exp(tensor)."""
        reflected = _REFLECTED.get(ufunc.__name__)
        if reflected is None or method != "__call__" or options or isinstance(inputs[0], Tensor):
            return self._refuse_numpy(ufunc.__name__)
        return getattr(self, reflected)(inputs[0])

    def __array_function__(self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        asks = function in (np.shape, np.ndim, np.size)  # about the values, and computes nothing
        return function(self._values, *args[1:], **kwargs) if asks else self._refuse_numpy(function.__name__)

    def _refuse_numpy(self: Any, name: str) -> Any:
        name = "abs" if name == "absolute" else name
        own = f"t.{name}()" if callable(getattr(Tensor, name, None)) else "the engine's own clip, where, stack, ..."
        raise _error("numpy", self, f"{name}() of this engine" if name in __all__ else own, kind=TypeError)

    def __dir__(self: Any) -> list[str]:
        return [name for name in object.__dir__(self) if not isinstance(vars(Tensor).get(name), _Elsewhere)]

    def __getstate__(self: Any) -> Any:
        """Support copy and pickle for leaves only: a copied closure would send its messages to the originals."""
        _require(self._backward is None, "copied", self, kind=TypeError)
        own = {"_values": self._values.copy()[()], "_lent": None, "_touched": 0.0, "grad": deepcopy(self.grad)}
        attributes_and_slots: Any = object.__getstate__(self)
        return attributes_and_slots[0], attributes_and_slots[1] | own


class _Elsewhere:
    """A name from PyTorch or NumPy: raises an error with the name here. (`__getattr__` would slow every attribute.)"""

    def __init__(self, name: str, instead: str) -> None:
        self._name, self._instead = name, instead

    def __get__(self, tensor: Any, owner: type) -> Any:
        raise _error("elsewhere", owner.__name__, self._name, self._instead, kind=AttributeError)


# Names of PyTorch and NumPy -> what to write here instead
_INSTEAD = MappingProxyType({
    "unsqueeze": "t.expand_dims(axis)", "view view_as": "t.reshape(shape)", "flatten ravel": "t.reshape(-1)",
    "permute": "t.transpose(0, 2, 1)", "t mT": "t.T, or t.swapaxes(-1, -2)",
    "expand expand_as": "t.broadcast_to(shape)", "repeat tile": "concatenate([t, t])",
    "clamp": "t.clip(low, high)", "amax": "t.max(axis)", "amin": "t.min(axis)", "pow": "t ** 2", "square": "t ** 2",
    "add": "t + u", "sub": "t - u", "mul": "t * u", "div": "t / u", "neg": "-t", "mm bmm mv dot matmul": "t @ u",
    "split chunk narrow select index_select gather": "an index, such as t[:, :2]",
    "masked_fill": "where(condition, value, t)", "numel": "t.size", "dim": "t.ndim",
    "argmax argmin argsort sort topk cumsum round floor ceil sign any all nonzero isnan tolist astype fill copy":
    "the array t.numpy(), which has no graph",
    "float double half int long bool type": "a dtype given when a tensor is made: Tensor(t.numpy().astype(np.float32))",
    "to cuda cpu device contiguous": "nothing: all tensors are NumPy arrays on the CPU",
    "clone": "t * 1.0 in the graph, Tensor(t) outside", "requires_grad_": "t.requires_grad = True",
    "zero_ fill_ copy_ add_ sub_ mul_ div_": "t.data[...] = on a leaf, before the forward pass",
    "detach_": "t.detach()", "grad_fn": "t.op", "is_leaf": "t.op, which is '' for a leaf",
    "retain_grad register_hook": "t.grad, which every result keeps after backward()",
})  # read by rows  # fmt: skip

_quiet = np.errstate(all="ignore")  # inf and nan are answers here, not accidents: shown, not warned about


def _axis_only(function: Function) -> Function:
    """Wrap a function so that PyTorch's `dim` and `keepdim`, and a tensor as axis, raise an error that helps."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if wrong := options.keys() - {"axis", "keepdims", "tensors"}:
            raise _error("axis only", ", ".join(sorted(wrong)), kind=TypeError)
        if len(args) > 1 and isinstance(args[1], Tensor):
            raise _error("tensor axis", function.__name__, kind=TypeError)
        return function(*args, **options)

    return cast(Function, call)


for _one, _method in vars(_Protocols).items():
    if callable(getattr(_Protocols, _one)):
        setattr(Tensor, _one, _method)
for _names, _instead in _INSTEAD.items():
    for _one in _names.split():
        setattr(Tensor, _one, _Elsewhere(_one, _instead))
for _one, _method in [*vars(Tensor).items()]:
    if isfunction(_method) and "axis" in signature(_method).parameters:
        setattr(Tensor, _one, _axis_only(_method))
for _one in (
    "backward", "__truediv__", "__pow__", "exp", "log", "sqrt", "sin", "cos", "sigmoid", "softplus", "logsumexp"
):  # read by rows  # fmt: skip
    setattr(Tensor, _one, _quiet(getattr(Tensor, _one)))
concatenate, stack = _axis_only(concatenate), _axis_only(stack)
