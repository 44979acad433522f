"""Engines with one wrong rule each.

Each is a subclass of Tensor with methods of the engine in which a few words are replaced, so that the page can show the
two next to each other, and what it shows is what runs. The result of an operation has the class of its first operand,
so an expression on such tensors runs on the broken engine, and nothing else in the process does.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import model
from lab.text import define
from model import Tensor


def broken(name: str, **methods: Mapping[str, str]) -> type[Tensor]:
    """Make an engine of this name. methods: the name of a method -> text of its source, and what takes its place."""
    source = f"class {name}(Tensor):\n    __slots__ = ()\n"
    for method, replacements in methods.items():
        lines = inspect.getsource(inspect.unwrap(getattr(Tensor, method)))
        for right, wrong in replacements.items():
            if lines.count(right) != 1:
                raise ValueError(f"{name}: Tensor.{method} does not have this once:\n{right}")
            lines = lines.replace(right, wrong)
        source += f"\n{lines}"
    made: type[Tensor] = define(source, name, {**vars(model), "__name__": __name__})
    return made


# ---------------------------------------------------------------- engines with one wrong rule

Overwrites = broken("Overwrites", accumulate={"self.grad += message": "self.grad = message"})

SkipsUnbroadcast = broken("SkipsUnbroadcast", accumulate={"self.unbroadcast(message)": "message * 1.0"})

SumsTheWrongAxis = broken(  # the last axes, although broadcasting added the first
    "SumsTheWrongAxis",
    accumulate={"self.unbroadcast(message)": "message.sum(axis=tuple(range(self.ndim - message.ndim, 0)))"},
)

HalfPrecision = broken(
    "HalfPrecision",
    accumulate={
        "        if type(message)": """\
        message = message.astype(np.float16)
        if type(message)"""
    },
)

WrongOrder = broken(
    "WrongOrder",
    backward={
        "        interior = _prepare(topological_order(self))\n": """\
        order, seen = [self], {self}
        for node in order:  # the list grows as it is read: nodes nearest to the output come first
            order += [child for child in dict.fromkeys(node.children) if child not in seen]
            seen.update(node.children)
        interior = _prepare(order[::-1])
"""
    },
)

BackwardTwice = broken(
    "BackwardTwice",
    backward={
        """\
        for node in reversed(interior):
            node.closure(node.grad)
            if not retain_graph:
                node.closure, node.children = None, ()
""": """\
        for node in 2 * interior[::-1]:
            node.closure(node.grad)
"""
    },
)

WrongCapture = broken(
    "WrongCapture",
    __add__={
        """
        def _backward(upstream: Array) -> None:
            self.accumulate(upstream * 1.0)  # d(left + right)/d left = 1; a copy, to which `accumulate` may add
            other.accumulate(upstream * 1.0)  # d(left + right)/d right = 1
""": """\
        senders = []
        for operand in (self, other):
            senders.append(lambda upstream: operand.accumulate(upstream * 1.0))

        def _backward(upstream: Array) -> None:
            for send in senders:
                send(upstream)
"""
    },
)

ReluWrongSide = broken("ReluWrongSide", relu={"result > 0.0": "result <= 0.0"})

MeanUndivided = broken(
    "MeanUndivided",
    mean={
        "        return self.sum(axes, keepdims) / int(math.prod(self.shape[i] for i in axes))\n": """\
        mean = self.read().mean(axis=axes, keepdims=True)

        def _backward(upstream: Array) -> None:
            self.accumulate(np.broadcast_to(upstream.reshape(mean.shape), self.shape))

        return self.node(_reduced(mean, axes, keepdims), (self,), "mean", _backward)
"""
    },
)

SoftmaxUnshifted = broken(
    "SoftmaxUnshifted",
    softmax={
        "np.exp(value - value.max(axis=axes, keepdims=True))  # less the maximum, so that nothing overflows": (
            "np.exp(value)"
        )
    },
    log_softmax={
        """\
        shifted = value - value.max(axis=axes, keepdims=True)
        result = shifted - np.log(np.exp(shifted).sum(axis=axes, keepdims=True))
""": """\
        result = value - np.log(np.exp(value).sum(axis=axes, keepdims=True))
"""
    },
)


class LogUnguarded(Tensor):
    __slots__ = ()

    def log_softmax(self, axis: Any = -1) -> Tensor:
        return self.softmax(axis).log()


# Engines that a learner can choose in place of the right one: the name in an address -> the engine.
SWITCH: Mapping[str, type[Tensor]] = MappingProxyType(
    {"overwrites": Overwrites, "any-order": WrongOrder, "forgets-the-sum": SkipsUnbroadcast}
)
