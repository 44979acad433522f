"""Show arrays as grids of cells that highlight related cells, with the arithmetic of each cell in words.

A `GridPicture` is plain data: static/grids/ draws it, and reacts to the pointer without the server.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from lab.autodiff.one_operation import Run
from lab.autodiff.sources import Shape, Sources, Summand, destinations, numbered
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


def _about_gradient(
    name: str,
    array: np.ndarray,
    sources: Sources,
    upstream: np.ndarray,
    grid: Grid,
    partner: str = "",
    message: str = "",
) -> None:
    """Fill in the sentence and the highlighted cells for each cell of a gradient.

    partner  the key of the grid that the factors come from
    message  the key of the grid with the message to each copy
    """
    numbers = array.ravel()
    for cell, terms in enumerate(sources):
        cells = [term.cell for term in terms]
        sign = " + " if all(term.factor == 1.0 for term in terms) else ", "
        from_where = _joined([place("upstream", upstream.shape, c) for c in cells], sign)
        what = (
            f"{len(cells)} upstream cells" if len(cells) > 1 else "one upstream cell" if cells else "no upstream cell"
        )
        text = equation(_products(terms, upstream), float(numbers[cell]))
        here = place(grid.title, array.shape, cell)
        if text == numeral(numbers[cell]):  # nothing is summed
            grid.says.append(f"{here} is {from_where}:\n{from_where} = {text}")
        else:
            grid.says.append(f"{here} comes from {what}{f', {from_where}' if cells else ''}:\n{text}")
        lights = {name: [cell], "upstream": cells}
        if message:
            lights[message] = cells
        if partner:
            lights[partner] = sorted({t.partner for t in terms if t.partner is not None})
        grid.lights.append(lights)


def _copied(name: str, own: np.ndarray, shape: Shape) -> tuple[Grid, Grid]:
    """Return grids of an operand and of its broadcast copy in the shape of the result."""
    origin = np.broadcast_to(numbered(own.shape), shape)
    places = destinations(origin, own.size)
    small = Grid(name, name, own, "value")
    large = Grid(f"{name} copied", f"{name}, copied", np.broadcast_to(own, shape), "copy")
    for cell, reached in enumerate(places):
        times = f"read {len(reached)} times" if len(reached) > 1 else "read once"
        small.says.append(
            f"{place(name, own.shape, cell)} = {numeral(own.ravel()[cell])} is {times}:\n"
            f"for {_joined([place('result', shape, r) for r in reached], ', ')}."
        )
        small.lights.append({large.key: reached, "result": reached, f"gradient of {name}": [cell]})
    for at, cell in enumerate(origin.ravel()):
        large.says.append(
            f"At {place('result', shape, at)} this is {place(name, own.shape, int(cell))} again: "
            f"{numeral(own.ravel()[cell])}.\nNumPy stores no copy, it reads the same cell."
        )
        large.lights.append({name: [int(cell)], "result": [at]})
    return small, large


def broadcast(run: Run, op: str, sources: tuple[Sources, Sources]) -> GridPicture:
    """Show a op b: on the left values are copied along axes, on the right messages are summed along the same axes."""
    shape = run.result.shape
    names = ("a", "b")
    sign = {"*": "×", "/": "÷", "-": "−"}.get(op, op)
    result = Grid("result", f"a {sign} b", run.result, "value")
    upstream = Grid("upstream", "upstream", run.upstream, "upstream")
    forward: list[Grid | str] = []
    back: list[Grid | str] = []
    origins = [np.broadcast_to(numbered(operand.shape), shape).ravel() for operand in run.operands]
    for number, name in enumerate(names):
        own = run.operands[number]
        small, large = _copied(name, own, shape)
        large.title, copies = f"{name} copied", own.shape != shape
        message = Grid(f"message to {name}", f"sent to {name}", run.messages[number], "gradient")
        backward = Grid(f"gradient of {name}", f"{name}.grad", run.gradients[number], "gradient")
        if copies:
            _about_messages(message, sources[number], origins[number], run.upstream, name)
        _about_gradient(
            name,
            run.gradients[number],
            sources[number],
            run.upstream,
            backward,
            names[1 - number] if op in "*/" else "",
            message.key if copies else "",
        )
        forward += [small, "copied to", large] if copies else [small]
        back += [backward, "sums", message] if copies else [backward]
    for cell in range(run.result.size):
        first, second = (float(operand.ravel()[o[cell]]) for operand, o in zip(run.operands, origins, strict=True))
        value = float(run.result.ravel()[cell])
        exact = all(map(_exactly, (first, second, value)))
        places = [place(n, o.shape, int(at[cell])) for n, o, at in zip(names, run.operands, origins, strict=True)]
        equals = "=" if exact else "≈"
        result.says.append(
            f"{place('result', shape, cell)} = {places[0]} {sign} {places[1]}:\n"
            f"{_in_sum(first)} {sign} {_in_sum(second)} {equals} {numeral(value)}"
        )
        lights = {
            f"{n}{suffix}": [c]
            for n, at in zip(names, origins, strict=True)
            for suffix, c in (("", int(at[cell])), (" copied", cell))
        }
        result.lights.append(lights | {"upstream": [cell]})
        upstream.says.append(
            f"{place('upstream', shape, cell)} = {numeral(run.upstream.ravel()[cell])} arrives at "
            f"{place('result', shape, cell)}.\nIt goes on to {' and to '.join(places)}."
        )
        upstream.lights.append(
            {"result": [cell]}
            | {
                f"{kind} {n}": [c]
                for n, at in zip(names, origins, strict=True)
                for kind, c in (("gradient of", int(at[cell])), ("message to", cell))
            }
        )
    headings: list[Grid | str] = ["Forward: values are reused", "|", "Backward: gradients are summed"]
    rows: list[list[Grid | str]] = [headings, [*forward, "|", *back], [result, "|", upstream]]
    most = max(
        ((len(terms), f"gradient of {name}") for name, each in zip(names, sources, strict=True) for terms in each[:1])
    )
    return GridPicture(rows, (most[1], 0))


def _about_messages(grid: Grid, sources: Sources, origin: np.ndarray, upstream: np.ndarray, name: str) -> None:
    """Fill in the message that each copy of an operand receives, before the sum."""
    by_place = {term.cell: term for terms in sources for term in terms}
    for at, value in enumerate(grid.array.ravel()):
        term = by_place[at]
        grid.says.append(
            f"The copy of {name} at {place('result', upstream.shape, at)} receives:\n"
            f"{equation(_products([term], upstream), float(value))}"
        )
        grid.lights.append({"upstream": [at], f"gradient of {name}": [int(origin[at])], f"{name} copied": [at]})


def matmul(run: Run, sources: tuple[Sources, Sources]) -> GridPicture:
    """Show C = A @ B, and both gradients as products of the upstream gradient with the other matrix."""
    left, right = run.operands
    (n, inner), m = left.shape, right.shape[1]
    a, b = Grid("A", "A", left, "value"), Grid("B", "B", right, "value")
    c, g = Grid("C", "C = A @ B", run.result, "value"), Grid("upstream", "G, upstream", run.upstream, "upstream")
    to_a = Grid("gradient of A", "A.grad = G @ Bᵀ", run.gradients[0], "gradient")
    to_b = Grid("gradient of B", "B.grad = Aᵀ @ G", run.gradients[1], "gradient")

    def row(i: int, width: int) -> list[int]:
        return [i * width + j for j in range(width)]

    def column(j: int, height: int, width: int) -> list[int]:
        return [i * width + j for i in range(height)]

    for i, j in np.ndindex(n, m):
        terms = [(left[i, k], right[k, j]) for k in range(inner)]
        c.says.append(f"C[{i}, {j}] is row {i} of A times column {j} of B:\n{equation(terms, float(run.result[i, j]))}")
        c.lights.append({"A": row(i, inner), "B": column(j, inner, m), "upstream": [i * m + j]})
        g.says.append(
            f"G[{i}, {j}] = {numeral(float(run.upstream[i, j]))} arrives at C[{i}, {j}].\n"
            f"It goes on to row {i} of A.grad and to column {j} of B.grad."
        )
        g.lights.append({"C": [i * m + j], "gradient of A": row(i, inner), "gradient of B": column(j, inner, m)})
    for i, k in np.ndindex(n, inner):
        at = i * inner + k
        a.says.append(
            f"A[{i}, {k}] is used {'once' if m == 1 else f'{m} times'}, in row {i} of C:\n"
            f"each time it meets a cell of row {k} of B."
        )
        a.lights.append({"C": row(i, m), "B": row(k, m), "gradient of A": [at]})
        terms = [(run.upstream.flat[t.cell], t.factor) for t in sources[0][at]]
        to_a.says.append(
            f"A.grad[{i}, {k}] is row {i} of G times row {k} of B, which is column {k} of Bᵀ:\n"
            f"{equation(terms, float(run.gradients[0][i, k]))}"
        )
        to_a.lights.append({"upstream": row(i, m), "B": row(k, m), "A": [at]})
    for k, j in np.ndindex(inner, m):
        at = k * m + j
        b.says.append(
            f"B[{k}, {j}] is used {'once' if n == 1 else f'{n} times'}, in column {j} of C:\n"
            f"each time it meets a cell of column {k} of A."
        )
        b.lights.append({"C": column(j, n, m), "A": column(k, n, inner), "gradient of B": [at]})
        terms = [(t.factor, run.upstream.flat[t.cell]) for t in sources[1][at]]
        to_b.says.append(
            f"B.grad[{k}, {j}] is column {k} of A, which is row {k} of Aᵀ, times column {j} of G:\n"
            f"{equation(terms, float(run.gradients[1][k, j]))}"
        )
        to_b.lights.append({"A": column(k, n, inner), "upstream": column(j, n, m), "B": [at]})
    return GridPicture([[a, "@", b, "=", c], [to_a, to_b, "from", g]], ("gradient of A", 0))


def of_one(run: Run, sources: Sources, title: str) -> GridPicture:
    """Show an operation on one operand x: a reduction, or indexing."""
    (own,) = run.operands
    x, result = Grid("x", "x", own, "value"), Grid("result", title, run.result, "value")
    gradient = Grid("gradient of x", "x.grad", run.gradients[0], "gradient")
    upstream = Grid("upstream", "upstream", run.upstream, "upstream")
    _about_gradient("x", run.gradients[0], sources, run.upstream, gradient)
    inputs: list[list[int]] = [[] for _ in range(run.result.size)]
    for cell, terms in enumerate(sources):
        reached = sorted({term.cell for term in terms})
        for at in reached:
            inputs[at].append(cell)
        where = _joined([place("result", run.result.shape, at) for at in reached], ", ")
        x.says.append(
            f"{place('x', own.shape, cell)} = {numeral(own.ravel()[cell])}\n"
            f"{f'reaches {where}.' if reached else 'reaches nothing: its gradient is 0.'}"
        )
        x.lights.append({"result": reached, "gradient of x": [cell]})
    for at, cells in enumerate(inputs):
        listed = _joined([place("x", own.shape, cell) for cell in cells], ", ")
        value, arrived = numeral(run.result.ravel()[at]), numeral(run.upstream.ravel()[at])
        result.says.append(f"{place('result', run.result.shape, at)} = {value}\ncomes from {listed}.")
        result.lights.append({"x": cells, "upstream": [at]})
        upstream.says.append(f"{place('upstream', run.result.shape, at)} = {arrived}\ngoes on to {listed}.")
        upstream.lights.append({"gradient of x": cells, "result": [at]})
    first = next((cell for cell, terms in enumerate(sources) if len(terms) > 1), 0)
    return GridPicture([[x, "→", result], [gradient, "←", upstream]], ("gradient of x", first))


def softmax_upstreams(logits: np.ndarray, result: np.ndarray, cotangent: np.ndarray) -> GridPicture:
    """Show softmax(x) and the upstream gradients that two checks send into its backward rule. All have one axis."""
    x, y = Grid("x", "x", logits, "value"), Grid("result", "softmax(x)", result, "value")
    ones = Grid("ones", "sum() sends", np.ones_like(result), "upstream")
    random = Grid("random", "the cotangent", cotangent, "upstream")
    total = _joined([numeral(value) for value in result])
    for cell in range(result.size):
        here, there = place("x", logits.shape, cell), place("softmax(x)", result.shape, cell)
        x.says.append(f"{here} = {numeral(logits[cell])}\nmoves every element of the softmax.")
        y.says.append(f"{there} = {numeral(result[cell])}\nThe elements add up to 1: {total} ≈ {numeral(result.sum())}")
        ones.says.append(f"The check with sum() sends the same number to each element.\n{there} is sent 1.")
        weight = numeral(cotangent[cell])
        random.says.append(f"The random cotangent has another number for each element.\n{there} is sent {weight}.")
        for grid in (x, y, ones, random):
            grid.lights.append({other.key: [cell] for other in (y, ones, random)})
    return GridPicture([[x, "→", y, "backward", ones, random]], ("ones", 0))


# ---------------------------------------------------------------- a wrong gradient next to the right one


def bias_gradients(upstream: np.ndarray, right: np.ndarray, broken: np.ndarray) -> GridPicture:
    """Show the gradient of a bias (out,) that was added to (batch, out), from the engine and from a broken one."""
    arrived = Grid("upstream", "upstream", upstream, "upstream")
    good = Grid("right", "b.grad, right", right, "gradient")
    bad = Grid("broken", "b.grad, broken", broken, "wrong")
    rows, out = upstream.shape
    for j in range(out):
        column = [i * out + j for i in range(rows)]
        good.says.append(
            f"b[{j}] was added in every row: column {j} of the upstream gradient is summed.\n"
            f"{equation([(upstream.flat[c],) for c in column], right[j])}"
        )
        good.lights.append({"upstream": column})
    for at, value in enumerate(broken.ravel()):
        if broken.shape == upstream.shape:
            cells, why = [at], "no sum, the upstream cell alone;"
        else:
            cells, why = [at * out + j for j in range(out)], f"row {at} is summed, where column {at} is due."
        bad.says.append(
            f"{place('b.grad', broken.shape, at)}: {why}\n"
            f"{equation([(upstream.flat[c],) for c in cells], float(value))}"
        )
        bad.lights.append({"upstream": cells})
    for at in range(upstream.size):
        arrived.says.append(
            f"{place('upstream', upstream.shape, at)} = {numeral(upstream.flat[at])}\n"
            f"belongs to b[{at % out}], whatever its row."
        )
        arrived.lights.append(
            {"right": [at % out], "broken": [cell for cell, light in enumerate(bad.lights) if at in light["upstream"]]}
        )
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
        p, t = numeral(trap.prediction[i, 0]), numeral(trap.target[i])
        prediction.says.append(f"prediction[{i}, 0] = {p}\nmeets every target, and should meet target[{i}] alone.")
        prediction.lights.append({"wrong": row, "due": [i], "bad gradient": [i], "good gradient": [i]})
        target.says.append(f"target[{i}] = {t}\nmeets every prediction, and should meet prediction[{i}, 0] alone.")
        target.lights.append({"wrong": [j * count + i for j in range(count)], "due": [i]})
        due.says.append(f"prediction[{i}, 0] − target[{i}]:\n{p} − {t} = {numeral(right.difference[i, 0])}")
        due.lights.append({"prediction": [i], "target": [i], "good gradient": [i]})
        terms = [(d,) for d in trap.difference[i]]
        bad.says.append(
            f"The gradient of prediction[{i}, 0] is 2/{count * count} of the sum of its row, "
            f"{equation(terms, math.fsum(trap.difference[i]))}:\n"
            f"{_rounded(2 / count**2 * math.fsum(trap.difference[i]), float(trap.gradient[i, 0]))}. "
            "It is 0 at the mean of all targets."
        )
        bad.lights.append({"wrong": row, "prediction": [i]})
        good.says.append(
            f"The gradient of prediction[{i}, 0] is 2/{count} of {numeral(right.difference[i, 0])}:\n"
            f"{numeral(right.gradient[i, 0])}. It is 0 at target[{i}]."
        )
        good.lights.append({"due": [i], "prediction": [i]})
    for i, j in np.ndindex(count, count):
        kind = "compares a prediction with its own target" if i == j else "compares it with another’s target"
        wrong.says.append(
            f"prediction[{i}, 0] − target[{j}] {kind}:\n{numeral(trap.prediction[i, 0])} − "
            f"{_in_sum(trap.target[j])} = {numeral(trap.difference[i, j])}"
        )
        wrong.lights.append({"prediction": [i], "target": [j], "bad gradient": [i]} | ({"due": [i]} if i == j else {}))
    return GridPicture([[prediction, "−", target, "=", wrong, bad], [due, good]], ("bad gradient", 0))
