"""The picture of an operation: what each cell says is true, and each cell that it lights is there."""

import re

import numpy as np
import pytest

from lab.autodiff import array_pictures, gradient_sources, one_operation
from lab.traps.faults import forgotten_sum
from model import Tensor


def all_pictures():
    for a, b in [((3, 3), (3,)), ((3, 1), (1, 3)), ((), (2, 1, 3)), ((2,), (2,)), ((4, 4, 4), (4, 1)), ((), ())]:
        for op in gradient_sources.SIGNS:
            found = broadcast_run(op, a, b)
            yield array_pictures.broadcast(found, op, gradient_sources.broadcast(op, *found.operands))
    for n, k, m in [(2, 3, 2), (1, 1, 1), (4, 4, 4)]:
        found = one_operation.run(lambda x, y: x @ y, one_operation.counted((n, k)), one_operation.counted((k, m)))
        yield array_pictures.matmul(found, gradient_sources.matmul(*found.operands))
    value = one_operation.counted((3, 4))
    for op in ("sum", "mean", "max"):
        for axis in (None, 0, 1):
            found = one_operation.run(lambda x, op=op, axis=axis: getattr(x, op)(axis), value)
            yield array_pictures.of_one(found, gradient_sources.reduction(op, value, axis), "title")
    found = one_operation.run(lambda x: x[[0, 0, 2]], value)
    yield array_pictures.of_one(found, gradient_sources.indexing(value, [0, 0, 2]), "title")
    for rows in (2, 3):
        right = forgotten_sum.train(Tensor, rows, forgotten_sum.UPDATES[0])
        for engine in forgotten_sum.BROKEN.values():
            broken = forgotten_sum.train(engine, rows, forgotten_sum.UPDATES[0])
            yield array_pictures.bias_gradients(right.upstream, right.gradient, broken.gradient)
    yield array_pictures.softmax_upstreams(np.array([1.0, 2.0]), np.array([0.25, 0.75]), np.array([-0.5, 1.25]))
    yield array_pictures.loss_trap(forgotten_sum.loss(4, (4,)), forgotten_sum.loss(4, (4, 1)))


def broadcast_run(op, a, b):
    operation = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/": lambda x, y: x / y}[op]
    return one_operation.run(operation, one_operation.counted(a), one_operation.counted(b, 10.0))


def test_every_cell_says_something_true_and_lights_what_is_there():
    equations = 0
    for picture in all_pictures():
        parts = [part for row in picture.rows for part in row if isinstance(part, array_pictures.Grid)]
        sizes = {part.key: part.array.size for part in parts}
        assert picture.start[1] < sizes[picture.start[0]]
        for part in parts:
            assert len(part.says) == len(part.lights) == part.array.size
            for said, lights in zip(part.says, part.lights, strict=True):
                assert "another one" not in said
                for key, cells in lights.items():
                    assert all(cell < sizes[key] for cell in cells if key in sizes)
                for left, right in re.findall(r"^([^=…≈a-zA-Z]+) = ([−\d.e+]+)$", said, re.M):
                    signs = str.maketrans({"×": "*", "−": "-", "÷": "/"})
                    assert eval(left.translate(signs)) == pytest.approx(float(right.translate(signs)), rel=1e-12)
                    equations += 1
    assert equations > 300


def test_the_three_cells_that_a_bias_sums():
    found = broadcast_run("+", (3, 3), (3,))
    picture = array_pictures.broadcast(found, "+", gradient_sources.broadcast("+", *found.operands))
    assert picture.start == ("gradient of b", 0)
    (grid,) = [part for row in picture.rows for part in row if getattr(part, "key", "") == "gradient of b"]
    assert grid.says[0].endswith("1 + 4 + 7 = 12")
    assert grid.lights[0]["upstream"] == [0, 3, 6]


def test_numbers_that_were_rounded_are_not_called_equal():
    assert array_pictures.equation([(1.0, 1 / 3)], 1 / 3) == "1 × 0.3333 ≈ 0.3333"
    assert array_pictures.equation([(-1.0,), (3.0,)], 2.0) == "(−1) + 3 = 2"
    assert array_pictures.equation([(1 / 3,)], 1 / 3) == "0.3333"
    assert array_pictures.equation([], 0.0) == "nothing arrives: 0"


def test_an_engine_with_another_rule_is_found_out(monkeypatch):
    monkeypatch.setattr(Tensor, "__mul__", _wrong)
    found = broadcast_run("*", (3, 1), (3,))
    picture = array_pictures.broadcast(found, "*", gradient_sources.broadcast("*", *found.operands))
    grid = picture.rows[1][7]
    assert "gives 140, but the engine has 60: its rule is different" in grid.says[0]


def _wrong(self, other):
    other, left, right = self._operands(other, "*")

    def _backward(upstream):
        self.accumulate(upstream * 10.0 * np.ones(np.broadcast_shapes(left.shape, right.shape)))
        other.accumulate(upstream * left)

    return self.node(left * right, (self, other), "*", _backward)


@pytest.mark.parametrize("update", forgotten_sum.UPDATES)
@pytest.mark.parametrize("rows", [1, 2, 3, 4])
@pytest.mark.parametrize("name", forgotten_sum.BROKEN)
def test_the_outcome_of_a_forgotten_sum_is_what_somebody_sees(name, rows, update):
    right, broken = (
        forgotten_sum.train(Tensor, rows, update),
        forgotten_sum.train(forgotten_sum.BROKEN[name], rows, update),
    )
    harmless = broken.bias.shape == right.bias.shape and np.array_equal(broken.bias, right.bias)
    if broken.error:
        expected = "error" if broken.error.startswith("Step 1,") else "later"
    else:
        expected = "same" if harmless and broken.losses == right.losses else "wrong"
    assert forgotten_sum.outcome(right, broken) == expected
    silent = (name, rows, update) == ("forgets the sum", 1, forgotten_sum.UPDATES[0])
    assert (expected == "wrong") is silent
    if silent:
        assert broken.bias.shape == (2, 3)  # and the loss of the next step shows it
        assert broken.losses[-1] != pytest.approx(right.losses[-1])
    if expected == "later":
        assert forgotten_sum.silent_steps(right, broken) == sum(
            a != b for a, b in zip(right.losses, broken.losses, strict=False)
        )


def test_no_line_of_arithmetic_is_false_where_rounding_shows():
    for count in range(2, 7):
        trap, right = forgotten_sum.loss(count, (count,)), forgotten_sum.loss(count, (count, 1))
        for row in array_pictures.loss_trap(trap, right).rows:
            for grid in row:
                for said in [] if isinstance(grid, str) else grid.says:
                    assert ": 2.776e" not in said, said
                    assert "that is" not in said, said
    assert "which rounding turns into" in str(
        array_pictures.loss_trap(forgotten_sum.loss(6, (6,)), forgotten_sum.loss(6, (6, 1)))
    )


def test_the_loss_that_broadcasts_leads_to_the_mean():
    trap, right = forgotten_sum.loss(5, (5,)), forgotten_sum.loss(5, (5, 1))
    assert trap.difference.shape == (5, 5)
    assert right.difference.shape == (5, 1)
    np.testing.assert_allclose(trap.after.ravel(), trap.target.mean())
    np.testing.assert_allclose(right.after.ravel(), trap.target, atol=1e-6)
