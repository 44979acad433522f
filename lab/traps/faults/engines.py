"""Engines with one wrong rule each.

Each is a subclass of Tensor. Wherever possible its method is a copy of the engine's with only the wrong lines changed,
because the page shows the two next to each other. The result of an operation has the class of its first operand, so an
expression on such tensors runs on the broken engine, and nothing else in the process does.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from model import (
    Tensor,
    _axes,
    _check_nothing_freed,
    _check_nothing_written_to,
    _chosen,
    _fitted,
    _Number,
    _reduced,
    _starting_gradient,
    _tick,
    topological_order,
)

# ---------------------------------------------------------------- engines with one wrong rule


class Overwrites(Tensor):
    __slots__ = ()

    def _accumulate(self, message):
        if not self.requires_grad:
            return
        if type(message) is not _Number or type(self._values) is not _Number:  # two such numbers always fit
            message = _fitted(message, self)
        if self.grad is None:
            self.grad = message
        else:
            self.grad = message


class SkipsUnbroadcast(Tensor):
    __slots__ = ()

    def _accumulate(self, message):
        if not self.requires_grad:
            return
        if type(message) is not _Number or type(self._values) is not _Number:  # two such numbers always fit
            message = message * 1.0
        if self.grad is None:
            self.grad = message
        else:
            self.grad += message


class WrongOrder(Tensor):
    __slots__ = ()

    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        upstream = _starting_gradient(self, grad)
        order: list[Tensor]
        seen: set[Tensor]
        order, seen = [self], {self}
        for node in order:  # the list grows as it is read: nodes nearest to the output come first
            order += [child for child in dict.fromkeys(node._children) if child not in seen]
            seen.update(node._children)
        order.reverse()
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


class Recursive(Tensor):
    __slots__ = ()

    def _accumulate(self, message):
        if not self.requires_grad:
            return
        if type(message) is not _Number or type(self._values) is not _Number:  # two such numbers always fit
            message = _fitted(message, self)
        if self.grad is None:
            self.grad = message
        else:
            self.grad += message
        if self._backward is not None:
            self._backward(message)

    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        self._accumulate(_starting_gradient(self, grad))


class LateReads(Tensor):
    __slots__ = ()

    def __mul__(self, other):
        other, left, right = self._operands(other, "*")

        def _backward(upstream):
            self._accumulate(upstream * other.numpy())
            other._accumulate(upstream * self.numpy())

        return self._node(left * right, (self, other), "*", _backward)


class WrongCapture(Tensor):
    __slots__ = ()

    def __add__(self, other):
        other, left, right = self._operands(other, "+")
        senders = []
        for operand in (self, other):
            senders.append(lambda upstream: operand._accumulate(upstream * 1.0))  # noqa: B023, PERF401 (the fault)

        def _backward(upstream):
            for send in senders:
                send(upstream)

        return self._node(left + right, (self, other), "+", _backward)


class BackwardTwice(Tensor):
    __slots__ = ()

    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        upstream = _starting_gradient(self, grad)
        order = topological_order(self)
        _check_nothing_freed(order)
        _check_nothing_written_to(order)
        interior = [node for node in order if node._backward is not None]
        for node in interior:
            node.grad = None  # only leaves add up over several passes
        self.grad = upstream
        for node in 2 * interior[::-1]:
            node._backward(node.grad)


class ReluWrongSide(Tensor):
    __slots__ = ()

    def relu(self) -> Tensor:
        result = np.maximum(self._read(), 0.0)

        def _backward(upstream):
            self._accumulate(_chosen(result <= 0.0, upstream))

        return self._node(result, (self,), "relu", _backward)


class MeanUndivided(Tensor):
    __slots__ = ()

    def mean(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        axes = _axes(self, axis)
        mean = self._read().mean(axis=axes, keepdims=True)

        def _backward(upstream):
            self._accumulate(np.broadcast_to(upstream.reshape(mean.shape), self.shape))

        return self._node(_reduced(mean, axes, keepdims), (self,), "mean", _backward)


class SoftmaxUnshifted(Tensor):
    __slots__ = ()

    def softmax(self, axis: Any = -1) -> Tensor:
        value, axes = self._read(), _axes(self, axis, empty=False)
        e = np.exp(value)
        result = e / e.sum(axis=axes, keepdims=True)

        def _backward(upstream):
            # d result_i/d value_j = result_i (1[i = j] - result_j)
            self._accumulate(result * (upstream - (upstream * result).sum(axis=axes, keepdims=True)))

        return self._node(result, (self,), "softmax", _backward)

    def log_softmax(self, axis: Any = -1) -> Tensor:
        value, axes = self._read(), _axes(self, axis, empty=False)
        result = value - np.log(np.exp(value).sum(axis=axes, keepdims=True))

        def _backward(upstream):
            # d result_i/d value_j = 1[i = j] - softmax_j
            self._accumulate(upstream - np.exp(result) * upstream.sum(axis=axes, keepdims=True))

        return self._node(result, (self,), "log_softmax", _backward)


class LogUnguarded(Tensor):
    __slots__ = ()

    def log_softmax(self, axis: Any = -1) -> Tensor:
        return self.softmax(axis).log()


class HalfPrecision(Tensor):
    __slots__ = ()

    def _accumulate(self, message):
        if not self.requires_grad:
            return
        message = message.astype(np.float16)
        if type(message) is not _Number or type(self._values) is not _Number:  # two such numbers always fit
            message = _fitted(message, self)
        if self.grad is None:
            self.grad = message
        else:
            self.grad += message


# Engines that a learner can choose in place of the right one: the name in an address -> the engine.
SWITCH: Mapping[str, type[Tensor]] = MappingProxyType(
    {"overwrites": Overwrites, "any-order": WrongOrder, "forgets-the-sum": SkipsUnbroadcast}
)
