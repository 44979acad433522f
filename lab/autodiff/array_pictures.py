"""Show arrays as grids of cells that highlight related cells, with the arithmetic of each cell in words.

A `GridPicture` is plain data: static/grids/ draws it, and reacts to the pointer without the server.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from lab.autodiff.one_operation import Run, Summand
from lab.autodiff.shapes import Shape
from lab.gradcheck.finite_differences import ElementName
from lab.operation_table import OPS
from lab.text import equals, numeral, rounded

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

    def before(self, sign: str) -> GridPicture:
        """Return each row up to this sign: what may be seen before a guess."""
        rows = [row[: row.index(sign)] for row in self.rows]
        return GridPicture(rows, next((part.key, 0) for row in rows for part in row if isinstance(part, Grid)))

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


def place(name: str, shape: Shape, cell: int) -> str:
    """Name a cell as Python does: `b[0, 1]`; the name alone if there is only one number."""
    return str(ElementName(name, tuple(map(int, np.unravel_index(cell, shape)))))


def _joined(parts: Sequence[str], sign: str = " + ") -> str:
    return sign.join([*parts[: MAX_TERMS - 2], "…", parts[-1]] if len(parts) > MAX_TERMS else parts)


def equation(terms: Sequence[tuple[float, ...]], result: float) -> str:
    """Write a sum of products, such as `1 × 10 + 4 × 20 = 90`, with ≈ if the digits shown do not hold. If the engine
    has another result than the terms add up to, say so."""
    due = sum(math.prod(term) for term in terms)
    text = _joined([" × ".join(map(_in_sum, term)) for term in terms]) if terms else "nothing arrives"
    if not math.isclose(due, result, rel_tol=1e-9, abs_tol=1e-12):
        return f"{text} gives {numeral(due)}, but the engine has {numeral(result)}: its rule is different"
    if not terms:
        return f"{text}: {numeral(result)}"
    if len(terms) == len(terms[0]) == 1:
        return numeral(result)
    return f"{text} {equals([math.prod(map(rounded, term)) for term in terms], result)} {numeral(result)}"


def _products(terms: Sequence[Summand], upstream: np.ndarray) -> list[tuple[float, ...]]:
    if all(term.factor == 1.0 for term in terms):
        return [(upstream.flat[term.cell],) for term in terms]
    return [(upstream.flat[term.cell], term.factor) for term in terms]


# ---------------------------------------------------------------- one operation


def _grids(
    run: Run,
    names: Sequence[str],
    title: str,
    value: Callable[[int, list[str]], str],
    result_name: str = "result",
    upstream_name: str = "upstream",
) -> dict[str, Grid]:
    """Make grids of the operands, the result, the upstream gradient and the operands' gradients, by their keys.

    value: writes how a cell of the result was computed, from the names of the operands' cells that reach it
    """
    shape = run.result.shape
    result = Grid(result_name, title, run.result, "value")
    upstream = Grid("upstream", upstream_name, run.upstream, "upstream")
    grids = {grid.key: grid for grid in (result, upstream)}
    reaching: list[dict[str, list[int]]] = [{} for _ in range(result.array.size)]  # result's cell -> operand -> cells
    for number, (name, own, terms) in enumerate(zip(names, run.operands, run.sources, strict=True)):
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


def broadcast(run: Run, op: str) -> GridPicture:
    """Show a op b: on the left values are copied along axes, on the right messages are summed along the same axes."""
    names = "a", "b"
    shape = run.result.shape
    sign = {"*": "×", "/": "÷", "-": "−"}.get(op, op)
    copies = [np.broadcast_to(own, shape) for own in run.operands]
    origins = [np.broadcast_to(np.arange(own.size).reshape(own.shape), shape).ravel().tolist() for own in run.operands]

    def value(cell: int, operands: list[str]) -> str:
        first, second, result = (float(array.flat[cell]) for array in (*copies, run.result))
        found = OPS[op].function(rounded(first), rounded(second))
        written = f"{_in_sum(first)} {sign} {_in_sum(second)} {equals([found], result)} {numeral(result)}"
        return f"= {f' {sign} '.join(operands)}:\n{written}"

    grids = _grids(run, names, f" {sign} ".join(names), value)
    forward: list[Grid | str] = []
    back: list[Grid | str] = []
    for number, name in enumerate(names):
        gradient = grids[f"gradient of {name}"]
        forward.append(grids[name])
        back.append(gradient)
        if op in "*/":  # a factor comes from the other operand
            for lights, terms in zip(gradient.lights, run.sources[number], strict=True):
                lights[names[1 - number]] = sorted({origins[1 - number][term.cell] for term in terms})
        if run.operands[number].shape != shape:
            large = Grid(f"{name} copied", f"{name} copied", copies[number], "copy")
            factors = {(term.cell, cell): term.factor for cell, own in enumerate(run.sources[number]) for term in own}
            terms = [Summand(at, factors.get((at, cell), 0.0)) for at, cell in enumerate(origins[number])]
            sent = np.array([run.upstream.flat[term.cell] * term.factor for term in terms]).reshape(shape)
            message = Grid(f"message to {name}", f"sent to {name}", sent, "gradient")
            for at, (cell, term) in enumerate(zip(origins[number], terms, strict=True)):
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
    most, _ = max(zip(names, run.sources, strict=True), key=lambda pair: len(pair[1][0]))
    return GridPicture(rows, (f"gradient of {most}", 0))


def matmul(run: Run) -> GridPicture:
    """Show C = A @ B, and both gradients as products of the upstream gradient with the other matrix."""
    left, right = run.operands

    def value(cell: int, operands: list[str]) -> str:
        i, j = divmod(cell, right.shape[1])
        products = equation([*zip(left[i], right[:, j], strict=True)], float(run.result[i, j]))
        return f"is row {i} of A times column {j} of B:\n{products}"

    grids = _grids(run, ("A", "B"), "C = A @ B", value, result_name="C", upstream_name="G")
    a, b, c, g = (grids[key] for key in ("A", "B", "C", "upstream"))
    to_a, to_b = grids["gradient of A"], grids["gradient of B"]
    (rows, inner), columns = left.shape, right.shape[1]
    for cell, lights in enumerate(to_a.lights):  # A[i, k] meets row k of B, and B[k, j] column k of A
        lights["B"] = [cell % inner * columns + j for j in range(columns)]
    for cell, lights in enumerate(to_b.lights):
        lights["A"] = [i * inner + cell // columns for i in range(rows)]
    to_a.title, to_b.title, g.title = "A.grad = G @ Bᵀ", "B.grad = Aᵀ @ G", "G, upstream"
    return GridPicture([[a, "@", b, "=", c], [to_a, to_b, "from", g]], (to_a.key, 0))


def of_one(run: Run, title: str) -> GridPicture:
    """Show an operation on one operand x: a reduction, or indexing."""

    def value(cell: int, operands: list[str]) -> str:
        return f"= {numeral(run.result.flat[cell])}\ncomes from {operands[0]}."

    grids = _grids(run, ["x"], title, value)
    first = next((cell for cell, terms in enumerate(run.sources[0]) if len(terms) > 1), 0)
    x, result, gradient, upstream = (grids[key] for key in ("x", "result", "gradient of x", "upstream"))
    return GridPicture([[x, "→", result], [gradient, "←", upstream]], ("gradient of x", first))


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
