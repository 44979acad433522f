"""Gradient check without a browser: the step and its arithmetic, and the blind sum."""

import json

import numpy as np
import pytest

from model import Tensor
from tests.pages.conftest import address, app, components, run, table, texts


def opened(**parameters):
    return run(app("pages/gradient_check.py"), **parameters)


def picture(at):
    """What the page wants chosen in the picture, and what the picture shows."""
    (component,) = components(at, "steps")
    shown = json.loads(component.proto.bytes)
    return shown["choice"], shown["picture"]


def step(at, **change):
    """Another step, as the browser tells it."""
    chosen = picture(at)[0] | change
    for key, value in chosen.items():
        at.session_state[f"check-{key}"] = value
    at.run()
    assert not at.exception
    return shown(at)


def shown(at):
    """What the picture shows of the chosen step."""
    chosen, data = picture(at)
    found = data["steps"][-chosen["h"]]["methods"][chosen["method"]]
    return found | {"rows": dict(found["rows"])}


def test_a_step_is_arithmetic_with_the_digits_that_cancel():
    at = opened()
    assert "h = 1 is too large: the curve bends" in shown(at)["sentence"]
    found = step(at, h=-5)
    rows = found["rows"]
    assert float(rows["divided by 2h = 2e−5"]) == pytest.approx(9.361658460, abs=1e-8)
    assert rows["backward()"] == "9.361658460044808"
    assert rows["f(x + h)"][: found["shared"]] == rows["f(x − h)"][: found["shared"]] == "11.026"
    assert "h = 1e−5 is a good step" in found["sentence"]
    assert "share 5 of about 16 digits" in found["sentence"]
    assert address(at)["h"] == "-5"
    assert found["ends"][1][1] == pytest.approx(9.36166e-5, rel=1e-4)
    assert "divided by h = 0.1" in step(at, h=-1, method="forward", numbers="float32")["rows"]
    assert address(at)["method"] == "forward"


def test_the_error_has_two_straight_regimes():
    _, data = picture(opened())
    slopes = {method: [round(line["slope"]) for line in lines] for method, lines in data["lines"].items()}
    assert slopes == {"forward": [1, -1], "central": [2, -1]}
    assert data["lines"]["central"][0]["label"] == "bends: slope 2"
    _, product = picture(opened(expression="a*b"))
    assert [line for line in product["lines"]["central"] if line["slope"] > 0] == []  # nothing bends


def test_what_the_step_loses_is_said():
    at = opened(h=-17)
    assert "x + h is x itself" in shown(at)["sentence"]
    assert shown(at)["ends"] is None
    assert "two values of f are the same" in shown(opened(expression="x*1e-9 + 7", in_x="0.5", h=-9))["sentence"]
    assert "and the slope is 0" in shown(opened(expression="x * 0 + 7", h=-3))["sentence"]
    at = opened(expression="log(x)", in_x="0.1", h=-1)
    assert "no finite value one step from x" in shown(at)["sentence"]
    assert step(at, h=-3)["ends"]
    at = opened(expression="1/x", in_x="0")
    assert "no slope at x" in shown(at)["sentence"]
    assert shown(at)["ends"] is None
    at = opened(expression="sqrt(x)", in_x="0")
    assert "undefined on the left and without bound on the right" in shown(at)["sentence"]
    assert shown(at)["rows"]["error"] == "no derivative"
    assert picture(at)[1]["smooth"] is False
    assert "The result is NaN here" in shown(opened(expression="log(x)", in_x="-1"))["sentence"]


def test_a_kink_has_two_slopes_and_no_tangent():
    _, data = picture(opened(expression="relu(x) + 0.1*x", in_x="0"))
    assert data["smooth"] is False
    assert data["sides"] == [pytest.approx(0.1), pytest.approx(1.1)]
    assert data["lines"] == {"forward": [], "central": []}


def test_of_an_array_an_element_is_chosen():
    at = opened(expression="sum(abs(v) * w)", in_v="[1.5, 0, -2]", in_w="[1, 2, 3]", element="v[1]", h=-4)
    assert "the slope is −2 on the left and 2 on the right" in shown(at)["sentence"]
    at.selectbox(key="check-element").select("w[2]").run()
    assert shown(at)["rows"]["backward()"] == "2.0"


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
    assert shown(at)["sentence"].endswith("Trust neither. No h can help.")
    assert "Trust neither" in texts(at.error)


def test_a_broken_rule_of_the_engine_is_seen(monkeypatch):
    def sin(self):
        return self.node(np.sin(self.read()), (self,), "sin", lambda upstream: self.accumulate(upstream * 1.0))

    monkeypatch.setattr(Tensor, "sin", sin)
    at = opened(expression="sin(x)", in_x="1", h=-5)
    assert "The gradients disagree, most at x" in texts(at.error).replace("\\", "")
    assert "The slope at x is 0.5403, but backward() gives 1. No h can help." in shown(at)["sentence"]
    errors = [one["methods"]["central"]["error"] for one in picture(at)[1]["steps"][3:9]]
    assert min(errors) > 0.4  # whatever the step


def test_numbers_below_zero_keep_their_digits():
    rows = shown(opened(expression="x*x", in_x="-0.5", h=-3))["rows"]
    assert rows["f(x + h)"] == "0.249001"
    assert rows["backward()"] == "−1.0"
