"""Show arrays as grids of cells that highlight related cells, with the arithmetic of each cell in words.

A `GridPicture` is plain data: static/grids/ draws it, and reacts to the pointer without the server.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from lab.autodiff.gradient_sources import Shape, Sources, Summand
from lab.autodiff.one_operation import Run
from lab.text import numeral

Kind = Literal["value", "copy", "gradient", "upstream", "wrong"]
MAX_TERMS = 12  # of a sum that are written out


@dataclass
class Grid:
    """An array on display. says: a sentence for each cell; lights: for each cell, the related cells of other grids."""

    key: str
    title: str
    array: np.ndarray
    kind: Kind
    says: list[str] = field(default_factory=list)
    lights: list[dict[str, list[int]]] = field(default_factory=list)

    def tell(self, sentence: str, lights: dict[str, list[int]]) -> None:
        """Add the sentence of the next cell, and the cells that it lights."""
        self.says.append(sentence)
        self.lights.append(lights)


@dataclass(frozen=True)
class GridPicture:
    """Rows of grids, with headings and signs between them; `start`: the grid and cell that are selected at first."""

    rows: Sequence[Sequence[Grid | str]]
    start: tuple[str, int]

    def until(self, key: str) -> GridPicture:
        """Return the first row up to the grid with this key: what may be seen before a guess."""
        row = self.rows[0]
        end = next(at for at, part in enumerate(row) if isinstance(part, Grid) and part.key == key)
        return GridPicture([row[: end + 1]], (key, 0))

    def data(self) -> dict[str, Any]:
        return {
            "rows": [[{"sign": part} if isinstance(part, str) else _plain(part) for part in row] for row in self.rows],
            "start": {"key": self.start[0], "cell": self.start[1]},
        }


def _plain(grid: Grid) -> dict[str, Any]:
    cells = [numeral(value) for value in grid.array.ravel()]
    fields = {name: getattr(grid, name) for name in ("key", "title", "kind", "says", "lights")}
    return fields | {"shape": [*grid.array.shape], "cells": cells}


# ---------------------------------------------------------------- how numbers, cells and sums are written


def _in_sum(value: float) -> str:
    return f"({numeral(value)})" if value < 0 else numeral(value)


def _exactly(value: float) -> bool:
    return abs(float(numeral(value).replace("−", "-").replace("∞", "inf")) - value) <= 1e-12 * max(1.0, abs(value))


def place(name: str, shape: Shape, cell: int) -> str:
    """Name a cell as Python does: `b[0, 1]`; the name alone if there is only one number."""
    index: list[str] = []
    for length in reversed(shape):
        cell, last = divmod(cell, length)
        index.insert(0, str(last))
    return f"{name}[{', '.join(index)}]" if shape else name


def _joined(parts: Sequence[str], sign: str = " + ") -> str:
    return sign.join([*parts[: MAX_TERMS - 2], "…", parts[-1]] if len(parts) > MAX_TERMS else parts)


def equation(terms: Sequence[tuple[float, ...]], result: float) -> str:
    """Write a sum of products, such as `1 × 10 + 4 × 20 = 90`, with ≈ if a number is rounded for display. If the engine
    has another result than the terms add up to, say so."""
    due = sum(math.prod(term) for term in terms)
    text = _joined([" × ".join(map(_in_sum, term)) for term in terms]) if terms else "nothing arrives"
    if not math.isclose(due, result, rel_tol=1e-9, abs_tol=1e-12):
        return f"{text} gives {numeral(due)}, but the engine has {numeral(result)}: its rule is different"
    if not terms:
        return f"{text}: {numeral(result)}"
    if len(terms) == len(terms[0]) == 1:
        return numeral(result)
    exact = all(map(_exactly, (result, *(number for term in terms for number in term))))
    return f"{text} {'=' if exact else '≈'} {numeral(result)}"


def _rounded(exact: float, computed: float) -> str:
    """Write a number, and the rounded value that was computed if it looks different."""
    if numeral(exact) == numeral(computed) or not math.isclose(exact, computed, rel_tol=1e-9, abs_tol=1e-12):
        return numeral(computed)
    return f"{numeral(exact)}, which rounding turns into {numeral(computed)}"


def _products(terms: Sequence[Summand], upstream: np.ndarray) -> list[tuple[float, ...]]:
    flat = upstream.ravel()
    factors_are_one = all(t.factor == 1.0 for t in terms)
    return [(flat[t.cell],) if factors_are_one else (flat[t.cell], t.factor) for t in terms]


# ---------------------------------------------------------------- one operation


def _grids(
    run: Run,
    sources: Sequence[Sources],
    names: Sequence[str],
    title: str,
    value: Callable[[int, list[str]], str],
    partners: bool = False,
    result_name: str = "result",
    upstream_name: str = "upstream",
) -> dict[str, Grid]:
    """Make grids of the operands, the result, the upstream gradient and the operands' gradients, by their keys.

    value     writes how a cell of the result was computed, from the names of the operands' cells that reach it
    partners  the factors of a gradient come from the other operand, whose cells then light
    """
    shape = run.result.shape
    result = Grid(result_name, title, run.result, "value")
    upstream = Grid("upstream", upstream_name, run.upstream, "upstream")
    grids = {grid.key: grid for grid in (result, upstream)}
    reaching: list[dict[str, list[int]]] = [{} for _ in range(result.array.size)]  # result's cell -> operand -> cells
    for number, (name, own, terms) in enumerate(zip(names, run.operands, sources, strict=True)):
        operand = grids[name] = Grid(name, name, own, "value")
        gradient = Grid(f"gradient of {name}", f"{name}.grad", run.gradients[number], "gradient")
        grids[gradient.key] = gradient
        for cell, summands in enumerate(terms):
            reached = sorted({term.cell for term in summands})
            for at in reached:
                reaching[at].setdefault(name, []).append(cell)
            times = f"is read {len(reached)} times" if len(reached) > 1 else "is read once"
            where = f"{times}:\nfor {_joined([place(result_name, shape, at) for at in reached], ', ')}."
            operand.tell(
                f"{place(name, own.shape, cell)} = {numeral(own.flat[cell])} "
                f"{where if reached else 'reaches nothing: its gradient is 0.'}",
                {result_name: reached, f"{name} copied": reached, gradient.key: [cell]},
            )
            lights = {name: [cell], "upstream": [t.cell for t in summands], f"message to {name}": reached}
            if partners:
                other = names[1 - number]
                lights[other] = sorted({t.partner for t in summands if t.partner is not None})
            gradient.tell(_summed(gradient, cell, summands, upstream), lights)
    for cell, operands in enumerate(reaching):
        come = {n: [place(n, run.operands[names.index(n)].shape, c) for c in cells] for n, cells in operands.items()}
        here, listed = place(result_name, shape, cell), [_joined(each, ", ") for each in come.values()]
        result.tell(
            f"{here} {value(cell, listed)}",
            operands | {f"{name} copied": [cell] for name in names} | {"upstream": [cell]},
        )
        gradients = {f"gradient of {name}": cells for name, cells in operands.items()}
        upstream.tell(
            f"{place(upstream_name, shape, cell)} = {numeral(run.upstream.flat[cell])} arrives at {here}.\n"
            f"It goes on to {' and to '.join(listed)}.",
            {result_name: [cell]} | gradients | {f"message to {name}": [cell] for name in names},
        )
    return grids


def _summed(grid: Grid, cell: int, terms: Sequence[Summand], upstream: Grid) -> str:
    """Write which upstream cells a cell of a gradient sums, and the sum."""
    number = float(grid.array.flat[cell])
    sign = " + " if all(term.factor == 1.0 for term in terms) else ", "
    cells = _joined([place(upstream.title, upstream.array.shape, term.cell) for term in terms], sign)
    count = f"{len(terms)} upstream cells" if len(terms) > 1 else "one upstream cell" if terms else "no upstream cell"
    text, here = equation(_products(terms, upstream.array), number), place(grid.title, grid.array.shape, cell)
    if text == numeral(number):  # nothing is summed
        return f"{here} is {cells}:\n{cells} = {text}"
    return f"{here} comes from {count}{f', {cells}' if terms else ''}:\n{text}"


def broadcast(run: Run, op: str, sources: tuple[Sources, Sources]) -> GridPicture:
    """Show a op b: on the left values are copied along axes, on the right messages are summed along the same axes."""
    names, shape = ("a", "b"), run.result.shape
    sign = {"*": "×", "/": "÷", "-": "−"}.get(op, op)
    copies = [np.broadcast_to(own, shape) for own in run.operands]

    def value(cell: int, operands: list[str]) -> str:
        first, second, result = (float(array.flat[cell]) for array in (*copies, run.result))
        equals = "=" if all(map(_exactly, (first, second, result))) else "≈"
        return f"= {f' {sign} '.join(operands)}:\n{_in_sum(first)} {sign} {_in_sum(second)} {equals} {numeral(result)}"

    grids = _grids(run, sources, names, f"a {sign} b", value, partners=op in "*/")
    forward: list[Grid | str] = []
    back: list[Grid | str] = []
    for number, name in enumerate(names):
        forward.append(grids[name])
        back.append(grids[f"gradient of {name}"])
        if run.operands[number].shape != shape:
            large = Grid(f"{name} copied", f"{name} copied", copies[number], "copy")
            message = Grid(f"message to {name}", f"sent to {name}", run.messages[number], "gradient")
            by_place = sorted((term.cell, cell, term) for cell, terms in enumerate(sources[number]) for term in terms)
            for at, cell, term in by_place:
                here, own = place("result", shape, at), place(name, run.operands[number].shape, cell)
                large.tell(
                    f"At {here} this is {own} again: {numeral(copies[number].flat[at])}.\n"
                    "NumPy stores no copy, it reads the same cell.",
                    {name: [cell], "result": [at]},
                )
                message.tell(
                    f"The copy of {name} at {here} receives:\n"
                    f"{equation(_products([term], run.upstream), float(message.array.flat[at]))}",
                    {"upstream": [at], f"gradient of {name}": [cell], large.key: [at]},
                )
            forward += ["copied to", large]
            back += ["sums", message]
    headings: list[Grid | str] = ["Forward: values are reused", "|", "Backward: gradients are summed"]
    rows: list[list[Grid | str]] = [headings, [*forward, "|", *back], [grids["result"], "|", grids["upstream"]]]
    most = max((len(each[0]), f"gradient of {name}") for name, each in zip(names, sources, strict=True))
    return GridPicture(rows, (most[1], 0))


def matmul(run: Run, sources: tuple[Sources, Sources]) -> GridPicture:
    """Show C = A @ B, and both gradients as products of the upstream gradient with the other matrix."""
    left, right = run.operands

    def value(cell: int, operands: list[str]) -> str:
        i, j = divmod(cell, right.shape[1])
        products = equation([*zip(left[i], right[:, j], strict=True)], float(run.result[i, j]))
        return f"is row {i} of A times column {j} of B:\n{products}"

    grids = _grids(run, sources, ("A", "B"), "C = A @ B", value, partners=True, result_name="C", upstream_name="G")
    a, b, c, g = (grids[key] for key in ("A", "B", "C", "upstream"))
    to_a, to_b = grids["gradient of A"], grids["gradient of B"]
    to_a.title, to_b.title, g.title = "A.grad = G @ Bᵀ", "B.grad = Aᵀ @ G", "G, upstream"
    return GridPicture([[a, "@", b, "=", c], [to_a, to_b, "from", g]], (to_a.key, 0))


def of_one(run: Run, sources: Sources, title: str) -> GridPicture:
    """Show an operation on one operand x: a reduction, or indexing."""

    def value(cell: int, operands: list[str]) -> str:
        return f"= {numeral(run.result.flat[cell])}\ncomes from {operands[0]}."

    grids = _grids(run, [sources], ["x"], title, value)
    first = next((cell for cell, terms in enumerate(sources) if len(terms) > 1), 0)
    x, result, gradient, upstream = (grids[key] for key in ("x", "result", "gradient of x", "upstream"))
    return GridPicture([[x, "→", result], [gradient, "←", upstream]], ("gradient of x", first))


def softmax_upstreams(logits: np.ndarray, result: np.ndarray, cotangent: np.ndarray) -> GridPicture:
    """Show softmax(x) and the upstream gradients that two checks send into its backward rule. All have one axis."""
    x, y = Grid("x", "x", logits, "value"), Grid("result", "softmax(x)", result, "value")
    ones = Grid("ones", "sum() sends", np.ones_like(result), "upstream")
    random = Grid("random", "the cotangent", cotangent, "upstream")
    total = _joined([numeral(value) for value in result])
    for cell in range(result.size):
        lights = {key: [cell] for key in ("result", "ones", "random")}
        here, there = place("x", logits.shape, cell), place("softmax(x)", result.shape, cell)
        x.tell(f"{here} = {numeral(logits[cell])}\nmoves every element of the softmax.", lights)
        sum_of_all = f"The elements add up to 1: {total} ≈ {numeral(result.sum())}"
        y.tell(f"{there} = {numeral(result[cell])}\n{sum_of_all}", lights)
        ones.tell(f"The check with sum() sends the same number to each element.\n{there} is sent 1.", lights)
        weight = numeral(cotangent[cell])
        random.tell(f"The random cotangent has another number for each element.\n{there} is sent {weight}.", lights)
    return GridPicture([[x, "→", y], ["backward", ones, random]], ("ones", 0))


# ---------------------------------------------------------------- a wrong gradient next to the right one


def bias_gradients(upstream: np.ndarray, right: np.ndarray, broken: np.ndarray) -> GridPicture:
    """Show the gradient of a bias (out,) that was added to (batch, out), from the engine and from a broken one."""
    arrived = Grid("upstream", "upstream", upstream, "upstream")
    good = Grid("right", "b.grad, right", right, "gradient")
    bad = Grid("broken", "b.grad, broken", broken, "wrong")
    rows, out = upstream.shape
    for j in range(out):
        column = [i * out + j for i in range(rows)]
        total = equation([(upstream.flat[cell],) for cell in column], right[j])
        sentence = f"b[{j}] was added in every row: column {j} of the upstream gradient is summed.\n{total}"
        good.tell(sentence, {"upstream": column})
    for at, value in enumerate(broken.ravel()):
        if broken.shape == upstream.shape:
            cells, why = [at], "no sum, the upstream cell alone;"
        else:
            cells, why = [at * out + j for j in range(out)], f"row {at} is summed, where column {at} is due."
        total = equation([(upstream.flat[cell],) for cell in cells], float(value))
        bad.tell(f"{place('b.grad', broken.shape, at)}: {why}\n{total}", {"upstream": cells})
    for at in range(upstream.size):
        here = f"{place('upstream', upstream.shape, at)} = {numeral(upstream.flat[at])}"
        summing = [cell for cell, lights in enumerate(bad.lights) if at in lights["upstream"]]
        arrived.tell(f"{here}\nbelongs to b[{at % out}], whatever its row.", {"right": [at % out], "broken": summing})
    return GridPicture([[arrived, "→", good, bad]], ("broken", 0))


def loss_trap(trap: Any, right: Any) -> GridPicture:
    """Show (N, 1) - (N,) next to (N, 1) - (N, 1); both arguments are lab.traps.faults.forgotten_sum.Loss."""
    count = len(trap.prediction)
    prediction = Grid("prediction", "prediction", trap.prediction, "value")
    target = Grid("target", "target", trap.target, "value")
    wrong = Grid("wrong", "prediction − target", trap.difference, "wrong")
    due = Grid("due", "the difference that was meant", right.difference, "value")
    bad = Grid("bad gradient", "its gradient", trap.gradient, "wrong")
    good = Grid("good gradient", "its gradient, the right one", right.gradient, "gradient")
    for i in range(count):
        row = [i * count + j for j in range(count)]
        p, t, meant = (numeral(array.flat[i]) for array in (trap.prediction, trap.target, right.difference))
        one = {"due": [i], "prediction": [i]}
        prediction.tell(
            f"prediction[{i}, 0] = {p}\nmeets every target, and should meet target[{i}] alone.",
            {"wrong": row, "due": [i], "bad gradient": [i], "good gradient": [i]},
        )
        target.tell(
            f"target[{i}] = {t}\nmeets every prediction, and should meet prediction[{i}, 0] alone.",
            {"wrong": [j * count + i for j in range(count)], "due": [i]},
        )
        due.tell(
            f"prediction[{i}, 0] − target[{i}]:\n{p} − {t} = {meant}",
            {"prediction": [i], "target": [i], "good gradient": [i]},
        )
        total = math.fsum(trap.difference[i])
        bad.tell(
            f"The gradient of prediction[{i}, 0] is 2/{count * count} of the sum of its row, "
            f"{equation([(d,) for d in trap.difference[i]], total)}:\n"
            f"{_rounded(2 / count**2 * total, float(trap.gradient[i, 0]))}. It is 0 at the mean of all targets.",
            {"wrong": row, "prediction": [i]},
        )
        good.tell(
            f"The gradient of prediction[{i}, 0] is 2/{count} of {meant}:\n"
            f"{numeral(right.gradient[i, 0])}. It is 0 at target[{i}].",
            one,
        )
    for i, j in np.ndindex(count, count):
        kind = "compares a prediction with its own target" if i == j else "compares it with another’s target"
        wrong.tell(
            f"prediction[{i}, 0] − target[{j}] {kind}:\n{numeral(trap.prediction[i, 0])} − "
            f"{_in_sum(trap.target[j])} = {numeral(trap.difference[i, j])}",
            {"prediction": [i], "target": [j], "bad gradient": [i]} | ({"due": [i]} if i == j else {}),
        )
    return GridPicture([[prediction, "−", target, "=", wrong, bad], [due, good]], ("bad gradient", 0))
