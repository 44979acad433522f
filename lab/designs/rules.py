"""How rules are tested: each against numerical differences, with a random upstream gradient, and broken on purpose.

A test that cannot fail is none. So each rule is checked twice: as it is, and with every message made 1 % too large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lab.gradcheck import gradcheck
from lab.ops import OPS, Op
from model import Tensor

INPUT = ("value", "values", "prediction")


class OnePercentMore(Tensor):
    """Each message is 1 % too large."""

    __slots__ = ()

    def _accumulate(self, message):
        super()._accumulate(message * 1.01)


@dataclass(frozen=True)
class Checked:
    """right: the rule as it is passes; found: the broken one fails with a random upstream gradient; by_sum: it fails
    with one that is 1 everywhere, too."""

    op: Op
    right: bool
    found: bool
    by_sum: bool


def checkable() -> list[Op]:
    """The operations that need nothing besides arrays."""
    return [
        op
        for op in OPS.values()
        if op.form != "layer" and all(kind in INPUT for kind in op.signature.values() if not kind.endswith("?"))
    ]


def check(op: Op, seed: int = 0) -> Checked:
    """Three gradient checks of one operation, on numbers between 0.5 and 1.5."""
    rng = np.random.default_rng(seed)
    needed = [kind for kind in op.signature.values() if not kind.endswith("?")]
    count = 2 if needed == ["values"] else len(needed)
    inputs = [rng.uniform(0.5, 1.5, (3, 2) if op.name == "@" and i else (2, 3)) for i in range(count)]
    function: Callable[..., Tensor] = op.function
    return Checked(
        op,
        right=gradcheck(function, inputs, seed=seed).passed,
        found=not gradcheck(function, inputs, seed=seed, tensor=OnePercentMore).passed,
        by_sum=not gradcheck(lambda *xs: function(*xs).sum(), inputs, seed=seed, tensor=OnePercentMore).passed,
    )
