"""Engines with one wrong rule each.

Each is a subclass of Tensor. The result of an operation has the class of its first operand, so an expression on such
tensors runs on the broken engine, and nothing else in the process does.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from model import Tensor, _as_float_array, _axes, _fitted, _reduced, topological_order

# ---------------------------------------------------------------- engines with one wrong rule


class Overwrites(Tensor):
    __slots__ = ()

    def _accumulate(self, message):
        if self.requires_grad:
            self.grad = _fitted(message, self)


class SkipsUnbroadcast(Tensor):
    __slots__ = ()

    def _accumulate(self, message):
        if self.requires_grad:
            self.grad = message * 1.0 if self.grad is None else self.grad + message


class WrongOrder(Tensor):
    __slots__ = ()

    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        self.grad = _seed(self, grad)
        queue: list[Tensor] = [self]
        seen: set[Tensor] = {self}
        for node in queue:  # the queue grows as it is read: nodes nearest to the output come first
            if node._backward is not None:
                node._backward(node.grad)
            for child in node._children:
                if child not in seen:
                    seen.add(child)
                    queue.append(child)


class Recursive(Tensor):
    __slots__ = ()

    def _accumulate(self, message):
        super()._accumulate(message)
        if self._backward is not None:
            self._backward(_fitted(message, self))

    def backward(self, grad: Any = None, retain_graph: bool = False) -> None:
        self._accumulate(_seed(self, grad))


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
        order = topological_order(self)
        self.grad = _seed(self, grad)
        for node in order[::-1] + order[::-1]:
            if node._backward is not None:
                node._backward(node.grad)


class ReluWrongSide(Tensor):
    __slots__ = ()

    def relu(self) -> Tensor:
        result = np.maximum(self._read(), 0.0)

        def _backward(upstream):
            self._accumulate(upstream * (result <= 0.0))

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

    def softmax(self, axis: int = -1) -> Tensor:
        e = self.exp()
        return e / e.sum(axis, keepdims=True)

    def log_softmax(self, axis: int = -1) -> Tensor:
        return self - self.exp().sum(axis, keepdims=True).log()


class LogUnguarded(Tensor):
    __slots__ = ()

    def log_softmax(self, axis: int = -1) -> Tensor:
        return self.softmax(axis).log()


class HalfPrecision(Tensor):
    __slots__ = ()

    def _accumulate(self, message):
        super()._accumulate(message.astype(np.float16))


# Engines that a learner can choose in place of the right one: the name in an address -> the engine.
SWITCH: Mapping[str, type[Tensor]] = MappingProxyType(
    {"overwrites": Overwrites, "any-order": WrongOrder, "forgets-the-sum": SkipsUnbroadcast}
)


def _seed(output: Tensor, grad: Any) -> Any:
    return _as_float_array(np.ones(output.shape) if grad is None else grad, output.dtype)
