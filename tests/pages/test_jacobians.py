"""Jacobian without a browser: the picture, its passes, the product with v, chains."""

import json

import pytest

from model import Tensor
from pages.parts.jacobian import WAYS, ZEROS
from tests.pages.conftest import app, charts, press, run, table, texts


def opened(**parameters):
    labels = {"zeros": ZEROS, "way": WAYS}
    shown = {name: labels.get(name, {}).get(value, value) for name, value in parameters.items()}
    return run(app("pages/why_reverse_mode.py"), **{"tab": "one"} | shown)


def expression(at):
    """The field for the function, which has another key after each example."""
    (field,) = (field for field in at.text_input if field.label == "Expression")
    return field


def entry(at, name):
    """The field of an input that is an array."""
    (field,) = (field for field in at.text_input if field.label.startswith(f"{name} ("))
    return field


def cells(at):
    return [list(row[1:]) for row in charts(at)["jacobian"]["rows"]]


def test_the_picture_fills_column_by_column_and_row_by_row():
    at = opened(expression="[a*b, a + b, b]", in_a="2", in_b="3")
    assert at.button(key="jacobian next").disabled
    at.segmented_control(key="why-zeros").set_value("other").run()
    press(at, "jacobian next")
    assert cells(at) == [["3", "·"], ["1", "·"], ["0", "·"]]
    assert "a changes by 1, all other inputs by 0" in texts(at.markdown)
    press(at, "jacobian next")
    whole = [["3", "2"], ["1", "1"], ["0", "1"]]
    assert cells(at) == whole
    assert at.button(key="jacobian next").disabled
    assert "1 of 6 cells are 0" in texts(at.markdown)
    assert "✓" in texts(at.markdown)
    at.segmented_control(key="why-way").set_value("rows").run()
    assert cells(at) == [["·", "·"]] * 3
    at.slider(key="why-passes").set_value(2).run()
    assert cells(at) == [*whole[:2], ["·", "·"]]
    session = at.session_state
    assert (session["why-way"], session["why-passes"], session["why-zeros"]) == ("rows", 2, "other")


def test_backward_is_the_product_with_v():
    at = opened(expression="[a*b, a + b]", in_a="2", in_b="3", zeros="nowhere")
    assert [row[2] for row in table(at, "from the picture")] == ["–", "–"]
    at.slider(key="why-passes").set_value(2).run()
    at.text_input(key="why-v").set_value("[10, -1]").run()
    assert table(at, "from the picture") == [["a", "29", "29"], ["b", "19", "19"]]
    assert "Largest difference: 0" in texts(at.markdown)
    for text, said in (("[1, 2, 3]", "v has 3 numbers; the result has 2"), ("[1, ", "Write a number")):
        at.text_input(key="why-v").set_value(text).run()
        assert said in at.error[0].value
    expression(at).set_value("[a*b]").run()  # another function: another v, another guess
    assert not at.error
    assert json.loads(at.text_input(key="why-v").value) == [1]
    assert at.session_state["why-zeros"] is None


def test_v_is_as_long_as_the_result_when_an_array_has_changed():
    at = opened(expression="tanh(x)", in_x="[1, 2]", zeros="off")
    at.text_input(key="why-v").set_value("[10, -1]").run()
    entry(at, "x").set_value("[1, 2, 3]").run()
    assert not at.error
    assert json.loads(at.text_input(key="why-v").value) == [1, 2, 3]
    assert "The result has 3 numbers now" in texts(at.caption)
    at.text_input(key="why-v").set_value("[1, 2]").run()  # a mistake of one's own stays
    assert "v has 2 numbers; the result has 3" in at.error[0].value
    at = opened(expression="tanh(x)", in_x="[1, 2]", v="[7, 8]")
    assert json.loads(at.text_input(key="why-v").value) == [7, 8]


@pytest.mark.parametrize(
    ("text", "x", "where"),
    [
        ("softmax(x)", "[1, 2]", "nowhere"),
        ("tanh(x)", "[1, 2]", "all off the diagonal"),
        ("x*0", "[1, 2]", "elsewhere"),
    ],
)
def test_where_the_zeros_are(text, x, where):
    at = opened(expression=text, in_x=x, passes=2, zeros="nowhere")
    assert f"cells are 0**: {where}." in texts(at.markdown)


def test_a_broken_rule_of_the_engine_is_in_the_picture(monkeypatch):
    right = Tensor.tanh

    def wrong(self):
        out = right(self)
        rule = out.closure
        out.closure = lambda upstream: rule(upstream * 3.0)
        return out

    monkeypatch.setattr(Tensor, "tanh", wrong)
    for way in ("columns", "rows"):
        at = opened(expression="tanh(x)", in_x="[0, 0]", passes=2, zeros="off", way=way, v="[1, 2]")
        assert cells(at) == [["3", "0"], ["0", "3"]]
        assert table(at, "from the picture") == [["x[0]", "3", "3"], ["x[1]", "6", "6"]]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"expression": "x*2", "in_x": "[1,2,3,4,5,6,7,8,9]"}, "9 numbers from 9"),
        ({"expression": "a +"}, "missing at the end"),
        ({"expression": "sum(broadcast_to(x, 2000))", "in_x": "1"}, "1,000 at most"),
    ],
)
def test_what_has_no_picture_gets_a_sentence(parameters, said):
    at = opened(**parameters)
    assert said in at.error[0].value.replace("\\", "")


@pytest.mark.parametrize(
    ("text", "said"), [("log(-x)", "result[0] is NaN, result[2] is −∞"), ("x / 0", "result[2] is NaN")]
)
def test_a_result_that_is_no_number_is_named(text, said):
    at = opened(expression=text, in_x="[1, -1, 0]")
    assert said in at.warning[0].value.replace("\\", "")
    expression(at).set_value("x*x").run()
    assert not at.warning


@pytest.mark.parametrize(
    ("text", "x", "said"),
    [
        ("x * [1, 2, 3]", "2", "Forward mode needs fewer passes for this picture.** 1 input and 3 results: 1 pass of"),
        ("softmax(x) @ [1, 2]", "[1, 2]", "Reverse mode needs fewer passes for this picture.** 2 inputs and 1 result"),
        ("x*2", "[1,2,3,4,5,6,7,8,9]", "Both need as many passes for this picture.** 9 inputs and 9 results: 9 passes"),
    ],
)
def test_the_passes_of_both_directions_are_counted(text, x, said):
    assert said in texts(opened(expression=text, in_x=x).markdown)


def test_a_kink_is_named_and_numbers_stay_as_they_were_written():
    at = opened(expression="relu(x)", in_x="[1, 2, 0, -1]")
    assert "a kink where x\\[2\\] is" in texts(at.warning)
    assert "kink" not in texts(opened(expression="relu(x)", in_x="[1, 2, 3, -1]").warning)
    assert "[1, 2, 0, -1]" in [box.value for box in at.text_input]
