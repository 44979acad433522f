"""The picture of an operation: what each cell says is true, and each cell that it lights is there."""

import operator
import re

import numpy as np
import op_table
import pytest

from lab.autodiff import array_pictures, one_operation
from lab.autodiff.one_operation import count_up
from lab.traps.faults import forgotten_sum
from model import Tensor

OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def all_pictures():
    for a, b in [((3, 3), (3,)), ((3, 1), (1, 3)), ((), (2, 1, 3)), ((2,), (2,)), ((4, 4, 4), (4, 1)), ((), ())]:
        for op in OPERATIONS:
            yield array_pictures.broadcast(broadcast_run(op, a, b), op)
    for n, k, m in [(2, 3, 2), (1, 1, 1), (4, 4, 4)]:
        yield array_pictures.matmul(one_operation.run(operator.matmul, count_up((n, k)), count_up((k, m))))
    value = count_up((3, 4))
    for op in ("sum", "mean", "max"):
        for axis in (None, 0, 1):
            found = one_operation.run(lambda x, op=op, axis=axis: getattr(x, op)(axis), value)
            yield array_pictures.of_one(found, "title")
    yield array_pictures.of_one(one_operation.run(lambda x: x[[0, 0, 2]], value), "title")
    for rows in (2, 3):
        right = forgotten_sum.train(Tensor, rows, forgotten_sum.UPDATES[0])
        for engine in forgotten_sum.BROKEN.values():
            broken = forgotten_sum.train(engine, rows, forgotten_sum.UPDATES[0])
            yield array_pictures.bias_gradients(right.upstream, right.gradient, broken.gradient)


def broadcast_run(op, a, b):
    return one_operation.run(OPERATIONS[op], count_up(a), count_up(b, 10.0))


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
    picture = array_pictures.broadcast(broadcast_run("+", (3, 3), (3,)), "+")
    assert picture.start == ("gradient of b", 0)
    summing = grid(picture, "gradient of b")
    assert summing.says[0].endswith("1 + 4 + 7 = 12")
    assert summing.lights[0]["upstream"] == [0, 3, 6]


def test_what_the_digits_shown_do_not_give_is_not_called_equal():
    assert array_pictures.equation([(1.0, 1 / 3)], 1 / 3) == "1 × 0.3333 = 0.3333"
    assert array_pictures.equation([(3.0, 1 / 3)], 1.0) == "3 × 0.3333 ≈ 1"
    assert array_pictures.equation([(12.184, 1.0004)], 12.184 * 1.0004) == "12.18 × 1 ≈ 12.19"
    assert array_pictures.equation([(-1.0,), (3.0,)], 2.0) == "(−1) + 3 = 2"
    assert array_pictures.equation([(1 / 3,)], 1 / 3) == "0.3333"
    assert array_pictures.equation([], 0.0) == "nothing arrives: 0"


def grid(picture, key):
    (found,) = [part for row in picture.rows for part in row if getattr(part, "key", "") == key]
    return found


@pytest.mark.parametrize("op", OPERATIONS)
def test_a_factor_lights_where_it_comes_from(op):
    picture = array_pictures.broadcast(broadcast_run(op, (2, 1), (3,)), op)
    assert grid(picture, "gradient of a").lights[1].get("b", []) == ([0, 1, 2] if op in "*/" else [])
    assert grid(picture, "gradient of b").lights[2].get("a", []) == ([0, 1] if op in "*/" else [])


def test_a_matrix_product_lights_a_row_of_the_one_and_a_column_of_the_other():
    picture = array_pictures.matmul(one_operation.run(operator.matmul, count_up((2, 3)), count_up((3, 2))))
    assert grid(picture, "gradient of A").lights[4]["B"] == [2, 3]  # A[1, 1]: row 1 of B
    assert grid(picture, "gradient of B").lights[4]["A"] == [2, 5]  # B[2, 0]: column 2 of A


def test_an_engine_with_another_rule_is_in_the_picture(monkeypatch):
    monkeypatch.setattr(Tensor, "__mul__", op_table.doubled_product)
    picture = array_pictures.broadcast(one_operation.run(operator.mul, count_up((3, 1)), count_up((3,))), "*")
    assert grid(picture, "gradient of a").says[0].endswith("1 × 2 + 2 × 4 + 3 × 6 = 28")


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
    assert right.misled == 0
    if expected == "later":
        stopped = int(broken.error.split()[1].rstrip(","))  # the error names the step
        assert broken.misled == stopped - 1


def test_before_a_guess_only_what_stands_left_of_the_sign_is_seen():
    before = array_pictures.broadcast(broadcast_run("-", (2, 1), (2,)), "-").before("|")
    assert before.start == ("a", 0)
    keys = [part.key for row in before.rows for part in row if not isinstance(part, str)]
    assert keys == ["a", "a copied", "b", "b copied", "result"]
