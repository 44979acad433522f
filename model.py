"""A reverse-mode automatic differentiation engine in NumPy. nn.py builds networks and optimizers on it.

Read it from top to bottom: by the end of the arithmetic section you have seen the engine, but for the sort and checks
that `backward()` calls. Each operation defines a function `_backward`, the `closure` of its result, which sends the
result's gradient to the operands. `backward()` calls the closures from the last operation to the first. That is all:

    message to an operand = upstream gradient * local derivative        (the chain rule)
    gradient of a tensor  = the sum of the messages it receives         (the multivariate chain rule)

Conventions where a derivative does not exist, or where NumPy has a choice

    relu'(0) = 0, leaky_relu'(0) = slope, |x|'(0) = 0      a subgradient, as most frameworks choose
    max, min, maximum, minimum with ties                   the gradient is split evenly among them
    clip                                                   passes the gradient inside and on the bounds
    x ** 0 at 0; 0 ** y from y = 0 on; norm, std at 0      gradient 0
    elements that relu, clip, max, ... do not choose       gradient 0, also where the upstream gradient is inf
    log(0), sqrt(0), division by 0, overflow of exp        inf, -inf or nan, without NumPy's warning
    where(c, a, b) with a branch that is inf or nan        0 * inf is nan: make the *input* of that branch safe first
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import ContextDecorator
from contextvars import ContextVar
from copy import deepcopy
from functools import partialmethod
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Tensor", "allow_mutation", "binary_cross_entropy_with_logits", "concatenate", "cross_entropy", "leaf_gradient",
    "linear", "maximum", "minimum", "mse_loss", "no_grad", "stack", "topological_order", "where",
]  # read by rows  # fmt: skip

Array: TypeAlias = NDArray[Any]  # of floats; a single number is a NumPy scalar, which has the same methods
_Number: Any = np.float64  # the usual type of such a scalar: two of one dtype always have one shape, which saves time
_quiet = np.errstate(all="ignore")  # inf and nan are answers of some functions: shown, not warned about


class _Elsewhere(str):
    """What to write here in place of a name of PyTorch."""

    def __get__(self, *_: object) -> Any:
        raise AttributeError(f"That is PyTorch's name. Here: {self}.")


class Tensor:
    """An array that remembers how it was computed, so that `backward()` can find its derivatives.

    data           number, nested list or array; copied. float32 stays, everything else becomes float64
    requires_grad  False for an input whose gradient nobody needs
    label          a name for drawings and error messages

    `grad` is None until a backward pass reaches the tensor. Gradients of leaves, which you made, add up until
    `zero_grad()`; one thread at a time may go back to a leaf. Arrays and numbers in an expression are constants. Update
    a leaf by `w.data -= ...`, not `w = w - ...`. Use `loss.item()` in a running total: `loss` keeps its graph alive.

    An extension uses `node`, `accumulate`, `unbroadcast`, `constant`, `read`, `replace`, `children`, `closure` and
    `leaf_gradient`, no private name. A subclass may override methods, operations, `backward`, and `grad` as a property.
    """

    __slots__ = ("__weakref__", "_exposed", "_values", "children", "closure", "grad", "label", "op", "requires_grad")

    def __init__(self, data: Any, requires_grad: bool = True, label: str = "") -> None:
        self._make_leaf(_as_float_array(data), requires_grad, label)

    def _make_leaf(self, values: Array, requires_grad: bool, label: str) -> None:
        self._values = values  # nobody writes to this array, unless `.data` has handed it out
        self._exposed: Array | None = None  # what `.data` has handed out: a view of `_values`
        self.children: tuple[Tensor, ...] = ()  # what this was computed from, in operand order, repeats kept
        self.closure: Any = None  # a function that passes the gradient on; None for a leaf, and once it is freed
        self.grad: Array | None = None
        self.requires_grad, self.label, self.op = requires_grad, label, ""  # "": no operation made it

    def node(self, values: Array, children: tuple[Tensor, ...], op: str, closure: Callable[[Any], None]) -> Tensor:
        """Return an operation's result, of this class; a leaf without history if there is nothing to differentiate."""
        out = object.__new__(type(self))
        for child in children:
            if child.requires_grad and not _no_grad_depth.get():
                out._values, out._exposed, out.children, out.closure = values, None, children, closure
                out.grad, out.requires_grad, out.label, out.op = None, True, "", op
                return out
        out._make_leaf(values, False, "")
        return out

    def accumulate(self, message: Array) -> None:
        """Add a message, which nobody else keeps, to the gradient. Closures test `requires_grad` before slow ones."""
        if not self.requires_grad:
            return
        if type(message) is not _Number or type(self._values) is not _Number:  # else there is nothing to undo
            message = self.unbroadcast(message)
        if self.grad is None:
            self.grad = message
        else:
            self.grad += message

    @_quiet
    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        """Add the derivatives of this tensor to the `grad` of every leaf that it was computed from.

        grad          the upstream gradient to start from, of this tensor's shape; 1 for a single element
        retain_graph  keep the graph for another pass

        Raises RuntimeError, before any gradient changes, if there is no graph, it was freed, or `grad` is missing.
        """
        upstream = _starting_gradient(self, grad)
        interior = _prepare(topological_order(self))
        for node in interior:
            node.grad = None  # only leaves add up over several passes
        self.grad = upstream
        for node in reversed(interior):
            node.closure(node.grad)
            if not retain_graph:
                node.closure, node.children = None, ()

    # -- the first operation, and what it calls

    def __add__(self, other: Any) -> Tensor:
        other, left, right = self._operands(other, "+")

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * 1.0)  # d(left + right)/d left = 1; a copy, to which `accumulate` may add
            other.accumulate(upstream * 1.0)  # d(left + right)/d right = 1

        return self.node(left + right, (self, other), "+", _backward)

    def _operands(self, other: Any, op: str) -> tuple[Tensor, Array, Array]:
        """Return the other operand of an elementwise operation as a tensor, then the values of both operands."""
        if not isinstance(other, Tensor):
            other = self.constant(other)
        left = self._values if self._exposed is None else self.read()
        right = other._values if other._exposed is None else other.read()
        if type(left) is np.ndarray and left.shape != right.shape:
            try:
                np.broadcast_shapes(left.shape, right.shape)
            except ValueError:
                raise ValueError(
                    f"`{op}` cannot combine {_name(self)} with {_name(other)}: from the last axis backwards, lengths "
                    "must be equal or one is 1."
                ) from None
        return other, left, right

    def constant(self, value: Any) -> Tensor:
        """Return a number or array as a constant of this class and dtype; a Tensor as it is. Values are copied, even
        read-only ones (their owner may still write to them), unless no graph is recorded."""
        if isinstance(value, Tensor):
            return value
        if isinstance(value, np.matrix):
            raise TypeError("NumPy's matrix means something else by `*` than a tensor: give np.asarray(matrix).")
        out, dtype = object.__new__(type(self)), self._values.dtype
        shared = type(value) is np.ndarray and value.ndim > 0 and value.dtype == dtype and _no_grad_depth.get()
        out._make_leaf(value if shared else _as_float_array(value, dtype), False, "")
        return out

    def read(self) -> Array:
        """Return the values for an operation and its closure, which never write to them: a copy, once `.data` has
        handed the array out. So no write reaches an array that a closure has captured, except in allow_mutation()."""
        if self._exposed is None or _allow_mutation_depth.get():
            return self._values
        return self._values.copy()[()]  # `[()]` turns an array without axes into a number, else changes nothing

    def unbroadcast(self, message: Array) -> Array:
        """Return a message in this tensor's shape and dtype, as its own array: summed over axes that were repeated."""
        values = self._values
        if message.shape != values.shape:
            extra = message.ndim - values.ndim
            repeated = [i for i, n in enumerate(message.shape) if i < extra or values.shape[i - extra] == 1 != n]
            summed = _sum(message, tuple(repeated))
            if extra < 0 or summed.shape[extra:] != values.shape:
                raise ValueError(f"A gradient of shape {message.shape} was sent to {_name(self)}: they must be equal.")
            message = summed.reshape(values.shape)
        if message.dtype != values.dtype:
            return +message.astype(values.dtype)
        return message if message.base is None else +message  # a copy, and a number for an array without axes

    # -- arithmetic

    def __sub__(self, other: Any) -> Tensor:
        other, left, right = self._operands(other, "-")

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * 1.0)  # d(left - right)/d left = 1
            other.accumulate(upstream * -1.0)  # d(left - right)/d right = -1

        return self.node(left - right, (self, other), "-", _backward)

    def __mul__(self, other: Any) -> Tensor:
        other, left, right = self._operands(other, "*")

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * right)  # d(left * right)/d left = right
            other.accumulate(upstream * left)  # d(left * right)/d right = left

        return self.node(left * right, (self, other), "*", _backward)

    @_quiet
    def __truediv__(self, other: Any) -> Tensor:
        other, left, right = self._operands(other, "/")
        result = left / right

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream / right)  # d(left / right)/d left = 1 / right
            other.accumulate(upstream * (-result / right))  # d(left / right)/d right = -left / right^2

        return self.node(result, (self, other), "/", _backward)

    @_quiet
    def __pow__(self, other: Any) -> Tensor:
        other, left, right = self._operands(other, "**")
        result = left**right

        def _backward(upstream: Array) -> None:
            # d(left^right)/d left = right left^(right-1), and 0 where right = 0
            self.accumulate(_chosen(right != 0, upstream * (right * left ** (right - 1))))
            if other.requires_grad:
                # d(left^right)/d right = left^right log left, and 0 for 0^right from right = 0 on
                other.accumulate(upstream * np.where((left == 0) & (right >= 0), 0.0, result * np.log(left)))

        return self.node(result, (self, other), "**", _backward)

    def __neg__(self) -> Tensor:
        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * -1.0)  # d(-value)/d value = -1

        return self.node(-self.read(), (self,), "neg", _backward)

    def __pos__(self) -> Tensor:
        return self

    def __matmul__(self, other: Any) -> Tensor:
        other = self.constant(other)
        left, right = self.read(), other.read()
        if not (left.ndim and right.ndim and left.shape[-1] == right.shape[-2:][0]):
            raise ValueError(
                f"`@` cannot multiply {_name(self)} by {_name(other)}: the inner axes must be equally long."
            )

        def _backward(upstream: Array) -> None:
            # For matrices: d left = upstream right^T and d right = left^T upstream. A vector on the left is a matrix
            # with one row, one on the right a matrix with one column; `@` dropped that axis, the rule needs it back.
            rows, columns = np.atleast_2d(left), right if right.ndim > 1 else right[:, None]
            upstream = upstream if right.ndim > 1 else np.expand_dims(upstream, -1)
            upstream = upstream if left.ndim > 1 else np.expand_dims(upstream, -2)
            if self.requires_grad:
                self.accumulate(upstream @ columns.swapaxes(-1, -2))
            if other.requires_grad:
                message = rows.swapaxes(-1, -2) @ upstream
                other.accumulate(message if right.ndim > 1 else message[..., 0])

        return self.node(left @ right, (self, other), "@", _backward)

    def _reflected(self, operation: str, left: Any) -> Any:
        """Compute `2 - t`: Python comes here because a number does not know tensors. The first operand stays first."""
        return getattr(self.constant(left), operation)(self)

    __radd__, __rsub__ = partialmethod(_reflected, "__add__"), partialmethod(_reflected, "__sub__")
    __rmul__, __rpow__ = partialmethod(_reflected, "__mul__"), partialmethod(_reflected, "__pow__")
    __rtruediv__, __rmatmul__ = partialmethod(_reflected, "__truediv__"), partialmethod(_reflected, "__matmul__")

    # -- elementwise functions

    @_quiet
    def exp(self) -> Tensor:
        """Raise e to the power of each element."""
        result = np.exp(self.read())

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * result)  # d(e^value)/d value = e^value

        return self.node(result, (self,), "exp", _backward)

    @_quiet
    def log(self) -> Tensor:
        """Compute the natural logarithm; -inf at 0, nan below."""
        value = self.read()

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream / value)  # d(log value)/d value = 1 / value

        return self.node(np.log(value), (self,), "log", _backward)

    @_quiet
    def sqrt(self) -> Tensor:
        """Compute the square root; nan below 0. Its gradient at 0 is inf."""
        result = np.sqrt(self.read())

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * 0.5 / result)  # d(sqrt value)/d value = 1 / (2 sqrt value)

        return self.node(result, (self,), "sqrt", _backward)

    @_quiet
    def sin(self) -> Tensor:
        """Compute the sine of angles in radians."""
        value = self.read()

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * np.cos(value))  # d(sin value)/d value = cos value

        return self.node(np.sin(value), (self,), "sin", _backward)

    @_quiet
    def cos(self) -> Tensor:
        """Compute the cosine of angles in radians."""
        value = self.read()

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * -np.sin(value))  # d(cos value)/d value = -sin value

        return self.node(np.cos(value), (self,), "cos", _backward)

    def tanh(self) -> Tensor:
        """Compute the hyperbolic tangent, between -1 and 1."""
        result = np.tanh(self.read())

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * (1.0 - result * result))  # d(tanh value)/d value = 1 - tanh^2 value

        return self.node(result, (self,), "tanh", _backward)

    @_quiet
    def sigmoid(self) -> Tensor:
        """Compute 1 / (1 + e^-x), between 0 and 1."""
        result = np.exp(-np.logaddexp(0.0, -self.read()))  # 1 / (1 + e^-value), without overflow for any value

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * (result * (1.0 - result)))  # s' = s (1 - s)

        return self.node(result, (self,), "sigmoid", _backward)

    @_quiet
    def softplus(self) -> Tensor:
        """Compute log(1 + e^x), a smooth relu."""
        value = self.read()

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * np.exp(-np.logaddexp(0.0, -value)))  # d log(1 + e^value)/d value = its sigmoid

        return self.node(np.logaddexp(0.0, value), (self,), "softplus", _backward)

    def relu(self) -> Tensor:
        """Return the larger of x and 0. The gradient at 0 is 0."""
        result = np.maximum(self.read(), 0.0)

        def _backward(upstream: Array) -> None:
            self.accumulate(_chosen(result > 0.0, upstream))  # 1 where the result is positive, else 0

        return self.node(result, (self,), "relu", _backward)

    def leaky_relu(self, slope: float = 0.01) -> Tensor:
        """Return x where it is positive, elsewhere slope * x."""
        value = self.read()
        local = np.where(value > 0.0, 1.0, slope).astype(value.dtype)[()]

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * local)  # 1 where the value is positive, else the slope

        return self.node(value * local, (self,), "leaky_relu", _backward)

    def abs(self) -> Tensor:
        """Return |x|. The gradient at 0 is 0."""
        value = self.read()

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * np.sign(value))  # d|value|/d value = sign value

        return self.node(np.abs(value), (self,), "abs", _backward)

    __abs__ = abs

    def clip(self, low: float | None = None, high: float | None = None) -> Tensor:
        """Limit values to low..high; None is no limit. The gradient is 1 inside and on the bounds, 0 outside."""
        value = self.read()
        low, high = -math.inf if low is None else low, math.inf if high is None else high
        if not low <= high:
            raise ValueError(f"clip needs low <= high, but low is {low:g} and high is {high:g}.")

        def _backward(upstream: Array) -> None:
            self.accumulate(_chosen((value >= low) & (value <= high), upstream))  # 1 inside and on the bounds, else 0

        return self.node(np.clip(value, low, high), (self,), "clip", _backward)

    # -- reductions: `axis` is None (all), an int, or a tuple of ints; may be negative

    def sum(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Add up along `axis`."""
        axes = _axes(self, axis)
        total = _sum(self.read(), axes)

        def _backward(upstream: Array) -> None:
            self.accumulate(np.broadcast_to(upstream.reshape(total.shape), self.shape))  # d(sum)/d value_i = 1

        return self.node(_reduced(total, axes, keepdims), (self,), "sum", _backward)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Average along `axis`."""
        axes = _axes(self, axis)
        return self.sum(axes, keepdims) / int(math.prod(self.shape[i] for i in axes))

    def var(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return the mean squared distance from the mean: divides by n, torch.var by n - 1."""
        axes = _axes(self, axis)
        return ((self - self.mean(axes, keepdims=True)) ** 2).mean(axes, keepdims)

    def std(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return the square root of var: divides by n, torch.std by n - 1. The gradient of equal elements is 0."""
        axes = _axes(self, axis)
        count = math.prod(self.shape[i] for i in axes)
        return (self - self.mean(axes, keepdims=True)).norm(axes, keepdims) / math.sqrt(count)

    def norm(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Compute the Euclidean norm, sqrt(sum of squares), along `axis`. The gradient at 0 is 0."""
        value, axes = self.read(), _axes(self, axis)
        norm = np.sqrt(_sum(value * value, axes))

        def _backward(upstream: Array) -> None:
            local = np.divide(value, norm, out=np.zeros_like(value), where=norm != 0.0)  # value / |value|, and 0 at 0
            self.accumulate(upstream.reshape(norm.shape) * local)

        return self.node(_reduced(norm, axes, keepdims), (self,), "norm", _backward)

    def max(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return the largest element along `axis`; if several tie, each gets an equal share of the gradient."""
        value, axes = self.read(), _axes(self, axis)
        top = value.max(axis=axes, keepdims=True)

        def _backward(upstream: Array) -> None:
            chosen = (value == top) | np.isnan(value)
            share = upstream.reshape(top.shape) / chosen.sum(axis=axes, keepdims=True)  # ties share the gradient evenly
            self.accumulate(_chosen(chosen, share))  # 1 for the largest element, else 0

        return self.node(_reduced(top, axes, keepdims), (self,), "max", _backward)

    def min(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return the smallest element along `axis`; if several tie, each gets an equal share of the gradient."""
        return -(-self).max(axis, keepdims)

    def prod(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Multiply along `axis`."""
        value, axes = self.read(), _axes(self, axis)
        product = value.prod(axis=axes, keepdims=True)

        def _backward(upstream: Array) -> None:
            # d(prod)/d value_i is the product of the others. Where the result is 0 or has overflowed, it cannot be
            # divided by value_i: multiply what lies before element i by what lies after it, along one axis that holds
            # all the reduced ones.
            order = [i for i in range(value.ndim) if i not in axes] + [*axes]
            moved = np.transpose(value, order)
            rows = moved.reshape(*moved.shape[: value.ndim - len(axes)], math.prod(value.shape[i] for i in axes))
            ones = np.ones((*rows.shape[:-1], 1), value.dtype)
            before = np.cumprod(np.concatenate([ones, rows], axis=-1)[..., :-1], axis=-1)
            after = np.cumprod(np.concatenate([ones, rows[..., ::-1]], axis=-1)[..., :-1], axis=-1)[..., ::-1]
            others = (before * after).reshape(moved.shape).transpose(np.argsort(order))
            divisible = np.isfinite(product) & np.isfinite(1.0 / product)
            others = np.where(divisible, product / value, others)
            self.accumulate(upstream.reshape(product.shape) * others)

        return self.node(_reduced(product, axes, keepdims), (self,), "prod", _backward)

    def softmax(self, axis: Any = -1) -> Tensor:
        """Compute e^x / sum(e^x) along `axis`: positive, adding up to 1."""
        value, axes = self.read(), _axes(self, axis)
        e = np.exp(value - value.max(axis=axes, keepdims=True))  # less the maximum, so that nothing overflows
        result = e / e.sum(axis=axes, keepdims=True)

        def _backward(upstream: Array) -> None:
            # d result_i/d value_j = result_i (1[i = j] - result_j)
            self.accumulate(result * (upstream - (upstream * result).sum(axis=axes, keepdims=True)))

        return self.node(result, (self,), "softmax", _backward)

    def log_softmax(self, axis: Any = -1) -> Tensor:
        """Compute the logarithm of softmax along `axis`, without overflow or log(0)."""
        value, axes = self.read(), _axes(self, axis)
        shifted = value - value.max(axis=axes, keepdims=True)
        result = shifted - np.log(np.exp(shifted).sum(axis=axes, keepdims=True))

        def _backward(upstream: Array) -> None:
            # d result_i/d value_j = 1[i = j] - softmax_j
            self.accumulate(upstream - np.exp(result) * upstream.sum(axis=axes, keepdims=True))

        return self.node(result, (self,), "log_softmax", _backward)

    @_quiet
    def logsumexp(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Compute log(sum(e^x)) along `axis`, without overflow."""
        value, axes = self.read(), _axes(self, axis)
        top = value.max(axis=axes, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0).astype(value.dtype)
        total = top + np.log(np.exp(value - top).sum(axis=axes, keepdims=True))

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream.reshape(total.shape) * np.exp(value - total))  # the softmax of value

        return self.node(_reduced(total, axes, keepdims), (self,), "logsumexp", _backward)

    # -- shape: values are moved, not changed, so a gradient is moved back

    def reshape(self, *shape: Any) -> Tensor:
        """Arrange the elements in another shape, given as numbers or one tuple; one length may be -1: the rest."""

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream.reshape(self.shape))

        return self.node(self.read().reshape(_unpack_varargs(shape)), (self,), "reshape", _backward)

    def transpose(self, *axes: Any) -> Tensor:
        """Put the axes in the order given, as numbers or one tuple; reverse them without arguments."""
        order = _axes(self, _unpack_varargs(axes) or range(self.ndim)[::-1])

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream.transpose(np.argsort(order)))  # the inverse permutation

        return self.node(self.read().transpose(order), (self,), "transpose", _backward)

    def swapaxes(self, first: int, second: int) -> Tensor:
        """Exchange two axes."""
        _refuse_bools((first, second))
        order = np.arange(self.ndim)
        order[[first, second]] = order[[second, first]]
        return self.transpose(order)

    def squeeze(self, axis: Any = None) -> Tensor:
        """Drop axes of length 1: the given ones, or all."""
        _refuse_bools(axis)
        return self.reshape(np.squeeze(self._values, axis).shape)

    def expand_dims(self, axis: Any) -> Tensor:
        """Insert an axis of length 1 at each given position."""
        _refuse_bools(axis)
        return self.reshape(np.expand_dims(self._values, axis).shape)

    def broadcast_to(self, *shape: Any) -> Tensor:
        """Repeat along axes of length 1, and along new ones in front, up to a shape."""

        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * 1.0)  # `unbroadcast` sums over the axes that were repeated

        return self.node(np.broadcast_to(self.read(), _unpack_varargs(shape)), (self,), "broadcast_to", _backward)

    def __getitem__(self, index: Any) -> Tensor:
        result = self.read()[_plain(index)]
        index = deepcopy(index)  # it may be a list or an array that the caller changes later

        def _backward(upstream: Array) -> None:
            full = np.zeros(self.shape, self.dtype)
            np.add.at(full, index, upstream)  # not `full[index] += `, which counts a repeated index once
            self.accumulate(full)

        return self.node(result, (self,), "getitem", _backward)

    # -- values, for code outside the engine

    @property
    def data(self) -> Array:
        """The values, to read or to write: the same array each time, never one that a closure has captured."""
        if self._exposed is None:
            if not _allow_mutation_depth.get() or self._values.ndim == 0:
                self._values = np.array(self._values)
            self._exposed = self._values.view()  # a view: giving it a new shape or dtype does not change this tensor
        return self._exposed

    @data.setter
    def data(self, new: Any) -> None:
        if new is self._exposed:  # `t.data += 1` has already written into the array that it assigns
            return
        values = _as_float_array(new, self.dtype)
        if values.shape != self.shape:
            raise ValueError(f"Data of shape {values.shape} cannot replace those of {_name(self)}. Make a new Tensor.")
        self._values, self._exposed = values, None

    def replace(self, values: Array) -> None:
        """Give a leaf new values of its shape and dtype, without a copy. Closures keep the old ones; an array that
        `.data` has handed out gets the new ones."""
        if self._exposed is None:
            self._values = values
        else:
            self._values[...] = values

    def numpy(self) -> Array:
        """Return a copy of the values."""
        return np.array(self._values)

    def item(self) -> float:
        """Return the only element as a Python number, without a graph."""
        return float(self._values.item())

    __float__ = item

    def __bool__(self) -> bool:
        return bool(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(len(self)))

    def __format__(self, spec: str) -> str:
        return format(self.item() if self.size == 1 else self._values, spec) if spec else repr(self)

    def __repr__(self) -> str:
        parts = [np.array2string(np.asarray(self._values), precision=4, separator=", ", prefix="Tensor(")]
        parts += [f"grad={np.array2string(np.asarray(self.grad), precision=4)}"] if self.grad is not None else []
        parts += [f"op={self.op!r}"] if self.op else []
        parts += [f"label={self.label!r}"] if self.label else []
        parts += ["requires_grad=False"] if not self.requires_grad else []
        return f"Tensor({', '.join(parts)})"

    shape = property(lambda self: self._values.shape, doc="How long each axis is: a tuple, () for a single number.")
    ndim = property(lambda self: self._values.ndim, doc="How many axes there are.")
    size = property(lambda self: self._values.size, doc="How many elements there are.")
    dtype = property(lambda self: self._values.dtype, doc="float64 or float32, as a NumPy dtype.")
    T = property(transpose, doc="The tensor with its axes reversed: transpose().")

    def detach(self) -> Tensor:
        """Return the same values without history: shares `data`, receives no gradient, passes none on."""
        exposed, out = self.data, object.__new__(type(self))
        out._make_leaf(self._values, False, self.label)
        out._exposed = exposed
        return out

    def zero_grad(self) -> None:
        """Forget the gradient: `grad` becomes None."""
        self.grad = None

    def __getstate__(self) -> Any:
        """Support copy and pickle for leaves only: a copied closure would send its messages to the originals."""
        if self.op:
            raise TypeError(f"{_name(self)} cannot be copied or pickled with its graph: use detach(), for its values.")
        own = {"_values": self._values.copy()[()], "_exposed": None, "grad": deepcopy(self.grad)}
        attributes_and_slots: Any = object.__getstate__(self)
        return attributes_and_slots[0], attributes_and_slots[1] | own

    __hash__ = object.__hash__  # tensors are told apart by identity; comparisons give arrays, without a derivative

    def _compare(self, other: Any, compare: Callable[[Any, Any], Any]) -> Any:
        return compare(self._values, _plain(other))

    __eq__, __ne__ = partialmethod(_compare, compare=operator.eq), partialmethod(_compare, compare=operator.ne)
    __lt__, __le__ = partialmethod(_compare, compare=operator.lt), partialmethod(_compare, compare=operator.le)
    __gt__, __ge__ = partialmethod(_compare, compare=operator.gt), partialmethod(_compare, compare=operator.ge)

    def _rebind(self, other: Any, sign: str) -> Any:
        """Let `t += other` compute t + other for a result; refuse it for a leaf, which would lose its gradient."""
        if self.requires_grad and not self.op:
            name = self.label if self.label.isidentifier() else "t"
            raise RuntimeError(
                f"`{sign}` would not change the leaf {_name(self)}, but give its name to a result: to update it, write "
                f"{name}.data {sign} ...; to add up losses, start from a plain 0.0."
            )
        return NotImplemented  # then Python uses the plain operator

    __iadd__, __isub__ = partialmethod(_rebind, sign="+="), partialmethod(_rebind, sign="-=")
    __imul__, __itruediv__ = partialmethod(_rebind, sign="*="), partialmethod(_rebind, sign="/=")
    __ipow__, __imatmul__ = partialmethod(_rebind, sign="**="), partialmethod(_rebind, sign="@=")

    # PyTorch's names, and what to write here
    unsqueeze, view, flatten = map(_Elsewhere, ("t.expand_dims(axis)", "t.reshape(shape)", "t.reshape(-1)"))
    permute, expand, mm = map(_Elsewhere, ("t.transpose(0, 2, 1)", "t.broadcast_to(shape)", "t @ u"))
    clamp, pow, square = map(_Elsewhere, ("t.clip(low, high)", "t ** 2", "t ** 2"))
    numel, dim, grad_fn, is_leaf = map(_Elsewhere, ("t.size", "t.ndim", "t.op", "t.op, which is '' for a leaf"))
    to = cuda = cpu = device = _Elsewhere("nothing, all tensors are NumPy arrays on the CPU")
    float = double = long = _Elsewhere("a tensor made with another dtype, Tensor(t.numpy().astype(np.float32))")
    argmax = argsort = topk = cumsum = tolist = _Elsewhere("the array t.numpy(), which has no graph")
    clone, requires_grad_ = map(_Elsewhere, ("t * 1.0 in the graph, Tensor(t) outside", "t.requires_grad = True"))

    __array_ufunc__ = None  # so that NumPy leaves `array * tensor` to `__rmul__`

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            f"NumPy would lose the graph of {_name(self)}: use t.exp(), where, ... or t.numpy(), the values."
        )


# ---------------------------------------------------------------- graph and mode


def topological_order(root: Tensor) -> list[Tensor]:
    """Return every tensor that `root` was computed from, each once and after its children; `root` is last."""
    order: list[Tensor] = []
    seen: set[Tensor] = set()
    stack: list[Any] = [root]  # no recursion: a graph can be deeper than Python's call stack
    while stack:
        node = stack.pop()
        if node is None:  # the marker above a node: all of its children are placed
            order.append(stack.pop())
        elif node not in seen:
            seen.add(node)
            if node.children:
                stack += (node, None, *node.children[::-1])  # the node, its marker, then its children on top
            else:
                order.append(node)
    return order


# How many nested no_grad and allow_mutation blocks this thread or task is in. Context variables, not globals: one user
# of a server must not switch off another user's gradients.
_no_grad_depth: ContextVar[int] = ContextVar("no_grad", default=0)
_allow_mutation_depth: ContextVar[int] = ContextVar("allow_mutation", default=0)


class _Block(ContextDecorator):
    """A `with` block or decorator that counts its depth in a context variable. Threads may share one; it may nest."""

    def __init__(self, depth: ContextVar[int]) -> None:
        self._depth = depth

    def __enter__(self) -> None:
        self._depth.set(self._depth.get() + 1)

    def __exit__(self, *exception: object) -> None:
        self._depth.set(max(self._depth.get() - 1, 0))

    def __call__(self, function: Any) -> Any:
        runs_later = (isgeneratorfunction, iscoroutinefunction, isasyncgenfunction)
        if any(kind(code) for kind in runs_later for code in (function, type(function).__call__)):
            raise TypeError("In a generator or async function, write `with no_grad():`, with no `yield` in the block.")
        return super().__call__(function)


def no_grad(function: Any = None) -> Any:
    """Compute values without recording a graph: `with no_grad():`, or as a decorator, with or without parentheses."""
    block = _Block(_no_grad_depth)
    return block if function is None else block(function)


def allow_mutation() -> _Block:
    """Let closures share the arrays that `.data` hands out: a write between the passes then spoils gradients."""
    return _Block(_allow_mutation_depth)


# ---------------------------------------------------------------- helpers


def _starting_gradient(root: Tensor, grad: Any) -> Array:
    """Return the upstream gradient that `backward()` starts from: `grad`, or 1 for a single element."""
    values = root._values
    if not root.op:
        raise RuntimeError(
            f"backward() has nothing to differentiate: {_name(root)} was not computed from tensors that require "
            "gradients, outside no_grad(). After w = w - ... there, w is no leaf: write w.data -= ... instead."
        )
    if grad is None:
        if values.size != 1:
            raise RuntimeError(
                f"backward() starts from a single number, but {_name(root)} has {values.size} elements. Reduce it, for "
                f"example with .sum() or .mean(), or pass the upstream gradient, of shape {values.shape}."
            )
        return values.dtype.type(1.0).reshape(values.shape)[()]  # type: ignore[no-any-return]
    upstream = _as_float_array(grad, values.dtype)
    if upstream.shape != values.shape:
        raise ValueError(f"backward() got a gradient of shape {upstream.shape}; it must be that of {_name(root)}.")
    return upstream


def _prepare(order: list[Tensor]) -> list[Tensor]:
    """Copy the gradients that the pass adds to, and return the results in it; refuse it if it would fail half-way."""
    for node in order:
        if not node.op:
            if node.grad is not None:  # the pass adds to a copy: an array that you keep does not change
                node.grad = deepcopy(leaf_gradient(node))
        elif node.closure is None:
            raise RuntimeError(
                f"backward() has already gone through {_name(node)} and freed its graph: give the first pass "
                "retain_graph=True. In a loop write w.data -= ..., not w = w - ..., and keep h.detach(), loss.item()."
            )
        elif not node.requires_grad:
            raise RuntimeError(f"requires_grad was switched off on {_name(node)}: use detach() to cut a graph.")
    return [node for node in order if node.closure is not None]


def leaf_gradient(leaf: Tensor) -> Array | None:
    """Return a leaf's gradient, first made to fit: a learner may have assigned another dtype, or one number for all."""
    grad, values = leaf.grad, leaf._values
    if grad is not None and (
        type(grad) is not type(values) or grad.shape != values.shape or grad.dtype != values.dtype
    ):
        grad = _as_float_array(grad, values.dtype)
        if grad.shape not in ((), values.shape):
            raise ValueError(f"The gradient of {_name(leaf)} was assigned, and has another shape: {grad.shape}.")
        leaf.grad = grad = np.array(np.broadcast_to(grad, values.shape))[()]
    return grad


def _name(tensor: Tensor) -> str:
    kind = f"'{tensor.label}'" if tensor.label else f"the result of `{tensor.op}`" if tensor.op else "a tensor"
    return f"{kind} of shape {tensor.shape}"


def _as_float_array(value: Any, dtype: Any = None) -> Array:
    """Copy a value into a float array; a single number becomes a NumPy scalar, which cannot be written to."""
    if isinstance(value, (float, int)):
        number: Array = (_Number if dtype is None else dtype.type)(value)
        return number
    try:
        array = np.array(_plain(value))
    except (ValueError, RecursionError):  # a list may hold itself
        raise ValueError("The rows have different lengths: each needs the same number of elements.") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"A tensor holds real numbers, not {type(value).__name__} ({array.dtype}).")
    dtype = dtype or (np.float32 if array.dtype.type is np.float32 else np.float64)
    array = array.astype(dtype, copy=not isinstance(value, np.ndarray))  # `__array__` may have returned its own array
    return array if array.ndim else array[()]


def _plain(value: Any) -> Any:
    """Return the values of a Tensor, anything else as it is; refuse a masked array: NumPy would read past its mask."""
    if _holds(value, np.ma.MaskedArray):
        raise TypeError("A tensor holds real numbers, not MaskedArray: give it .filled(...), or its .data.")
    return value._values if isinstance(value, Tensor) else value


def _holds(value: Any, kind: Any) -> bool:
    """Return whether a value is of a kind, or is a list or tuple that holds one that is."""
    return isinstance(value, kind) or (isinstance(value, (list, tuple)) and any(_holds(one, kind) for one in value))


def _axes(tensor: Tensor, axis: Any) -> tuple[int, ...]:
    """Return the axes that `axis` stands for, counted from the front."""
    _refuse_bools(axis)
    return tuple(np.lib.array_utils.normalize_axis_tuple(range(tensor.ndim) if axis is None else axis, tensor.ndim))


def _chosen(mask: Array, message: Array) -> Array:
    """Return the message where the mask holds, else 0. A product is fastest, but turns inf into nan."""
    if mask.ndim == 0:  # the fast way for single numbers
        return message * 1.0 if mask else np.zeros(message.shape, message.dtype)[()]
    product = message * mask
    flat = product.ravel()
    return product if math.isfinite(flat.dot(flat)) else np.where(mask, message, 0.0)


def _refuse_bools(axis: Any) -> None:
    if _holds(axis, (bool, np.bool_)):
        raise TypeError(f"An axis is an integer, not {axis}: write keepdims=True by its name.")


def _sum(array: Array, axes: tuple[int, ...], keepdims: bool = True) -> Array:
    total: Array = np.add.reduce(array, axes, keepdims=keepdims)  # type: ignore[call-overload]  # a bool is right
    if array.size > 1000 * total.size and array.dtype == np.float32:  # long float32 sums add up rounding errors
        total = array.sum(axis=axes, keepdims=keepdims, dtype=np.float64).astype(np.float32)
    return total


def _reduced(kept: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Drop the reduced axes of a reduction's result, which have length 1 in `kept`, unless keepdims is set."""
    if not isinstance(keepdims, (bool, np.bool_)):
        raise TypeError(f"keepdims is True or False, not {keepdims!r}: several axes are one tuple, as in axis=(0, 1).")
    return kept if keepdims else np.squeeze(kept, axes)[()]


def _unpack_varargs(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return lengths or axes as a tuple, whether given one by one or as one tuple, list or array."""
    return tuple(arguments[0]) if len(arguments) == 1 and np.iterable(arguments[0]) else arguments


def _as_tensors(op: str, *operands: Any) -> tuple[Tensor, ...]:
    """Return operands as tensors; numbers and arrays become constants of the class and dtype of the first Tensor."""
    if not operands:
        raise ValueError(f"{op} needs at least one tensor.")
    first = next((t for t in operands if isinstance(t, Tensor)), Tensor(0.0, requires_grad=False))
    return tuple(first.constant(operand) for operand in operands)


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
        first.accumulate(_chosen(share > 0.0, upstream * share))
        second.accumulate(_chosen(share < 1.0, upstream * (1.0 - share)))

    return first.node(choose(left, right), (first, second), op, _backward)


def where(condition: Any, left: Any, right: Any) -> Tensor:
    """Return `left` where the condition (an array of booleans, a constant) holds, `right` elsewhere."""
    first, second = _as_tensors("where", left, right)
    _, left, right = first._operands(second, "where")
    condition = np.array(_plain(condition))
    if condition.dtype.kind not in "biuf":
        raise TypeError(f"where chooses by an array of booleans, not by {condition.dtype}.")
    condition = condition.astype(bool)  # a copy: `__array__` may have returned its own array

    def _backward(upstream: Array) -> None:
        first.accumulate(np.where(condition, upstream, 0.0))  # 1 where it was chosen, else 0
        second.accumulate(np.where(condition, 0.0, upstream))

    return first.node(np.where(condition, left, right)[()], (first, second), "where", _backward)


def concatenate(tensors: Iterable[Any], axis: int = 0) -> Tensor:
    """Join tensors along an axis that they have."""
    return _join("concatenate", np.concatenate, tensors, axis)


def stack(tensors: Iterable[Any], axis: int = 0) -> Tensor:
    """Join tensors of one shape along a new axis."""
    return _join("stack", np.stack, tensors, axis)


def _join(op: str, join: Callable[..., Array], tensors: Iterable[Any], axis: int) -> Tensor:
    operands = _as_tensors(op, *tensors)
    _refuse_bools(axis)
    axis = operator.index(axis)  # a number of its own: the caller may change a 0-d array later
    result = join([operand.read() for operand in operands], axis)
    ends = np.cumsum([1 if op == "stack" else operand.shape[axis] for operand in operands])[:-1]

    def _backward(upstream: Array) -> None:
        for operand, part in zip(operands, np.split(upstream, ends, axis), strict=True):
            operand.accumulate(part.reshape(operand.shape))  # each operand receives its own part

    return operands[0].node(result, operands, op, _backward)


def linear(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Compute inputs @ weight + bias as one operation: inputs (n, n_in), weight (n_in, n_out), bias (n_out,)."""
    left, right = inputs.read(), weight.read()
    if not (left.ndim == right.ndim == 2 and left.shape[1] == right.shape[0] and bias.shape == right.shape[1:]):
        shapes = f"{left.shape}, {right.shape} and {bias.shape}"
        raise ValueError(f"linear needs inputs (n, n_in), a weight (n_in, n_out) and a bias (n_out,), not {shapes}.")
    result = left @ right
    result += bias.read()

    def _backward(upstream: Array) -> None:
        if inputs.requires_grad:
            inputs.accumulate(upstream @ right.T)
        weight.accumulate(left.T @ upstream)
        bias.accumulate(_sum(upstream, (0,), keepdims=False))  # the bias was added to every row

    return inputs.node(result, (inputs, weight, bias), "linear", _backward)


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
    if prediction.shape != target.shape:
        raise ValueError(f"{loss} compares element by element, but {_name(prediction)} met shape {target.shape}.")
    return both


def cross_entropy(logits: Any, labels: Any) -> Tensor:
    """Return the mean over rows of -log softmax(logits)[label]: logits (n, classes), labels (n,) integers from 0."""
    operand = logits if isinstance(logits, Tensor) else Tensor(logits, requires_grad=False)
    value, labels = operand.read(), np.array(_plain(labels)).copy()  # see `_as_float_array`
    if value.ndim != 2 or labels.shape != value.shape[:1] or not labels.size:
        raise ValueError(
            f"cross_entropy needs logits (n, classes) and n class numbers, n at least 1; {_name(operand)} came with "
            f"labels of shape {labels.shape}. One-hot rows become class numbers by labels.argmax(axis=1)."
        )
    if labels.dtype.kind not in "iu":
        raise TypeError(f"cross_entropy needs integers as labels, not {labels.dtype}: write labels.astype(int).")
    if np.maximum.reduce(labels.astype(np.uint64)) >= value.shape[1]:  # as unsigned, a negative one is huge
        raise ValueError(f"cross_entropy got labels {labels.min()} to {labels.max()}, not 0 to {value.shape[1] - 1}.")
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
        operand.accumulate(local)

    return operand.node(result, (operand,), "cross_entropy", _backward)
