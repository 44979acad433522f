"""Gradient check without a browser: the step and its arithmetic, and the blind sum."""

import re

import numpy as np
import pytest

from lab.gradcheck.finite_differences import Difference
from lab.gradcheck.step_size import PRECISIONS
from model import Tensor
from pages.parts.step_picture import arithmetic
from tests.pages.conftest import app, charts, run, table, texts


def opened(**parameters):
    return run(app("pages/gradient_check.py"), **parameters)


def shown(at):
    """What the page says of the chosen step: its sentence and its arithmetic."""
    said = next(text.value for text in at.markdown if text.value.startswith("**"))
    rows = [[cell.removeprefix(":small[").removesuffix("]") for cell in row] for row in table(at, "arithmetic")]
    return said.strip("*").replace("\\", ""), dict(rows)


def names(at, chart):
    """The names of the lines in one of the two pictures."""
    return [line["name"] for line in charts(at)[chart]["spec"]["series"]]


def test_a_step_is_arithmetic_with_the_digits_that_cancel():
    at = opened()
    assert "h = 1 is too large: the curve bends" in shown(at)[0]
    at.slider(key="check-h").set_value(-5).run()
    sentence, rows = shown(at)
    assert float(rows["divided by 2h = 2e−5"]) == pytest.approx(9.361658460, abs=1e-8)
    assert rows["backward()"] == "9.361658460044808"
    assert rows["f(x + h)"].startswith("~~11.026~~")
    assert rows["f(x − h)"].startswith("~~11.026~~")
    assert "h = 1e−5 is a good step" in sentence
    assert "agree to about 5 of 16 digits" in sentence
    assert names(at, "curve") == ["f", "secant 9.36", "tangent 9.36"]
    f, secant, tangent = (line["data"] for line in charts(at)["curve"]["spec"]["series"])
    assert secant[1][1] == pytest.approx(1.6 * 9.36166e-5, rel=1e-4)
    assert tangent == [pytest.approx(end, rel=1e-4) for end in secant]
    assert f[-1] == pytest.approx(secant[1], rel=1e-3)
    at.slider(key="check-h").set_value(-1).run()
    at.segmented_control(key="check-method").set_value("forward").run()
    at.segmented_control(key="check-numbers").set_value("float32").run()
    assert "divided by h = 0.1" in shown(at)[1]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_what_is_struck_out_ends_with_a_digit_and_stands_in_both_numbers(precision):
    rng = np.random.default_rng(0)
    for above in 10 ** rng.uniform(-9, 9, 2000).round(rng.integers(3)) * rng.choice([-1, 1, 1.5], 2000):
        below = above * (1 - 10.0 ** rng.integers(-9, -1))
        found = Difference("central", 1.0, 0.0, -1.0, 1.0, below, above, 2.0, above - below, (above - below) / 2)
        shown = [row.split(":small[")[2] for row in arithmetic(found, precision, "x", None)[:2]]
        parts = [re.fullmatch(r"(?:~~(−?\d(?:.*\d)?)~~)?([^~]*)\] \|", text) for text in shown]
        assert all(parts), shown  # after a sign or a point and before a digit ~~ is no end of a strike
        assert parts[0][1] == parts[1][1]


def test_the_error_has_two_straight_regimes():
    at = opened()
    assert names(at, "errors") == ["error", "bends: slope 2", "cancels: slope −1.1"]
    assert len(charts(at)["errors"]["rows"]) == 18
    assert names(opened(method="forward"), "errors")[1] == "bends: slope 1"
    assert names(opened(expression="a*b"), "errors") == ["error", "cancels: slope −1"]  # nothing bends


def test_what_the_step_loses_is_said():
    at = opened(h=-17)
    assert "x + h is x itself" in shown(at)[0]
    assert names(at, "curve") == ["f", "tangent 9.36"]
    assert "two values of f are the same" in shown(opened(expression="x*1e-9 + 7", in_x="0.5", h=-9))[0]
    assert "and the slope is 0" in shown(opened(expression="x * 0 + 7", h=-3))[0]
    at = opened(expression="log(x)", in_x="0.1", h=-1)
    assert "no finite value one step from x" in shown(at)[0]
    at.slider(key="check-h").set_value(-3).run()
    assert names(at, "curve")[1].startswith("secant")
    at = opened(expression="1/x", in_x="0")
    assert "no slope at x" in shown(at)[0]
    assert names(at, "curve") == ["f"]
    at = opened(expression="sqrt(x)", in_x="0")
    assert "undefined on the left and without bound on the right" in shown(at)[0]
    assert shown(at)[1]["error"] == "**no derivative**"
    assert names(at, "errors") == ["error"]
    assert "The result is NaN here" in shown(opened(expression="log(x)", in_x="-1"))[0]


def test_a_kink_has_two_slopes_and_no_tangent():
    at = opened(expression="relu(x) + 0.1*x", in_x="0")
    assert names(at, "curve") == ["f", "secant 0.6", "left 0.1", "right 1.1"]
    assert "~" not in str(shown(opened(expression="relu(x)", in_x="0", h=-2))[1])  # 0.01 and 0.0 share no digit
    assert names(at, "errors") == ["error"]


def test_of_an_array_an_element_is_chosen():
    at = opened(expression="sum(abs(v) * w)", in_v="[1.5, 0, -2]", in_w="[1, 2, 3]", element="v[1]", h=-4)
    assert "the slope is −2 on the left and 2 on the right" in shown(at)[0]
    at.selectbox(key="check-element").select("w[2]").run()
    assert shown(at)[1]["backward()"] == "2.0"


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"expression": "x*(y"}, "never closed"),
        ({"expression": "sum(a*b)", "in_a": "[1, 2]", "in_b": "[1, 2, 3]"}, "cannot combine"),
        ({"expression": "sum(a + b + c)", **{f"in_{name}": str([1] * 90) for name in "abc"}}, "At most 200"),
    ],
)
def test_what_cannot_be_checked_gets_a_sentence_and_nothing_is_lost(parameters, said):
    at = opened(**parameters)
    assert said in texts(at.error).replace("\\", "")
    next(field for field in at.text_input if field.label == "Expression").set_value("x*x").run()
    assert not at.error
    assert not at.exception


def upstreams(at):
    """The upstream gradients that the page shows: of the check by sum(), and of the one by a random cotangent."""
    return [list(column) for column in zip(*table(at, "sends back"), strict=True)][2:]


def test_the_sum_is_blind_and_the_random_cotangent_is_not():
    at = opened(tab="cotangent")
    sent = upstreams(at)
    assert sent[0] == ["1", "1", "1"]
    at.slider(key="check-seed").set_value(1).run()
    other = upstreams(at)
    assert other[0] == sent[0]
    assert other[1] != sent[1]
    at.segmented_control(key="check-finds").set_value("sum").run()
    assert "✗ Not as you guessed. **Only the random cotangent** finds a mistake." in texts(at.markdown)
    at.radio(key="check-rule").set_value("diagonal").run()
    assert at.segmented_control(key="check-finds").value is None
    at.segmented_control(key="check-finds").set_value("both").run()
    assert "✓ As you guessed. **Each** finds a mistake." in texts(at.markdown)
    at.radio(key="check-rule").set_value("right").run()
    at.segmented_control(key="check-finds").set_value("none").run()
    assert "✓ As you guessed. **Neither** finds a mistake." in texts(at.markdown)
    at.text_input(key="check-logits").set_value("[1").run()
    assert "Write a number, or a vector" in texts(at.error)


def test_where_rounding_spoils_both_numbers_no_step_is_called_good():
    at = opened(expression="(1 - cos(x)) / x**2", in_x="1e-6")
    assert shown(at)[0].endswith("Trust neither. No h can help.")
    assert "Trust neither" in texts(at.error)


def test_a_broken_rule_of_the_engine_is_seen(monkeypatch):
    def sin(self):
        return self.node(np.sin(self.read()), (self,), "sin", lambda upstream: self.accumulate(upstream * 1.0))

    monkeypatch.setattr(Tensor, "sin", sin)
    at = opened(expression="sin(x)", in_x="1", h=-5)
    assert "The gradients disagree, most at x" in texts(at.error).replace("\\", "")
    assert "The slope at x is 0.5403, but backward() gives 1. No h can help." in shown(at)[0]
    errors = dict(charts(at)["errors"]["spec"]["series"][0]["data"])
    assert min(errors[step] for step in (1e-3, 1e-5, 1e-8)) > 0.4  # whatever the step


def test_numbers_below_zero_keep_their_digits():
    at = opened(expression="x*x", in_x="-0.5", h=-3)
    rows = shown(at)[1]
    assert charts(at)["curve"]["spec"]["xAxis"][0]["name"] == "(x − (−0.5)) / h"
    assert rows["f(x + h)"].replace("~", "") == "0.249001"
    assert rows["backward()"] == "−1.0"
