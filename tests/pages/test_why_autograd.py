"""Why reverse mode without a browser: what a gradient costs, the formula."""

import re
import time

import pytest

from lab.autodiff import cost
from model import Tensor
from tests.pages.conftest import address, app, charts, press, run, table, texts

PAGE = "pages/why_reverse_mode.py"


def opened(**parameters):
    return run(app(PAGE), **parameters)


def wrong(right):
    """An operation whose backward rule sends twice what it should."""

    def operation(self, other):
        out = right(self, other)
        rule = out.closure
        if rule is not None:
            out.closure = lambda upstream: rule(upstream * 2.0)
        return out

    return operation


# ---------------------------------------------------------------- cost


def test_passes_are_counted_for_any_number_of_parameters_after_the_guess():
    at = opened(n=10**12)
    assert not at.select_slider
    at.segmented_control(key="why slower").set_value("100").run()
    assert [row[1:] for row in table(at, "one gradient")] == [
        ["2,000,000,000,000", "0", "23148 d 3 h"],
        ["1,000,000,000,000", "0", "11574 d 1 h"],
        ["1", "1", "2 ms"],
    ]


def test_a_number_that_is_not_on_the_slider_is_kept():
    at = opened(n=137, slower="100")
    assert at.select_slider(key="why parameters").value == 137
    assert table(at, "one gradient")[0][1] == "274"
    assert address(at)["n"] == "137"
    at.select_slider(key="why parameters").set_value(200).run()
    assert address(at)["n"] == "200"


def test_the_guess_comes_first_then_gradients_are_really_computed(monkeypatch):
    at = opened()
    assert at.button(key="why measure").disabled
    at.segmented_control(key="why slower").set_value("1000").run()
    press(at, "why measure")
    deadline = time.monotonic() + 60
    while at.session_state["why timing"] and time.monotonic() < deadline:
        assert at.button(key="why stop")
        at.run()  # as its fragment does by itself
    (timing,) = at.session_state["why timings"].values()
    assert timing.done
    chart = charts(at)["measured"]
    assert [series["name"] for series in chart["spec"]["series"]] == list(cost.METHODS.values())
    assert [point[0] for point in chart["spec"]["series"][0]["data"]] == [6, 30, 96, 300, 996]
    assert "At 996 parameters finite differences took" in texts(at.markdown)
    assert "✓ Your guess was the nearest." in texts(at.markdown)  # as the passes have it, too: 2,000 against 2
    rows = table(at, "error of differences")
    assert rows[-1][:4] == ["996", "1,992 + 0", "996 + 0", "1 + 1"]
    assert address(at)["slower"] == "1000"

    assert "1,992 passes against 2 are 996 times as many" in texts(at.markdown)
    timing.points[-1].seconds["reverse"] *= 300
    at.run()
    assert "The times contradict the passes" in texts(at.markdown)
    assert not re.search("Your guess|996 times", texts(at.markdown))  # no verdict on the learner by a busy machine

    right = float(rows[-1][4].replace("−", "-"))
    monkeypatch.setattr(Tensor, "__matmul__", wrong(Tensor.__matmul__))
    at.session_state["why timings"] = {"network": cost.Timing(cost.FAMILIES["network"], (6,))}
    at.session_state["why timing"] = "network"
    at.run()
    while at.session_state["why timing"]:  # on a busy machine it takes more than one run of the page
        at.run()
    assert not at.exception
    assert float(table(at, "error of differences")[-1][4]) > 1e3 * right


def test_one_of_the_choices_is_the_number_of_times_that_the_passes_say():
    options = opened().segmented_control(key="why slower").options
    finite, reverse = (sum(cost.passes(method, 1000)) for method in ("finite", "reverse"))
    assert f"{finite // reverse:,}×" in options


def test_a_measurement_can_be_stopped():
    at = opened(function="chain", slower="100")
    press(at, "why measure")
    press(at, "why stop")
    assert at.session_state["why timing"] is None
    assert at.session_state["why timings"]["chain"].share < 1
    assert "Stopped" in texts(at.markdown)
    assert at.button(key="why measure").label == "Go on"
    stopped = at.session_state["why timings"]["chain"]
    press(at, "why measure")
    assert at.session_state["why timings"]["chain"] is stopped
    at.selectbox(key="why family").select("sum").run()
    assert at.button(key="why measure").label == "Measure"


# ---------------------------------------------------------------- formula


def test_three_ways_to_one_derivative():
    at = opened(tab="formula", expression="4*x*(1 - x)", in_x="0.3", times="2")
    assert "The function, applied 2 times, each result in place of x in the next. Guess first" in texts(at.markdown)
    assert at.segmented_control(key="why longer").label.endswith("is how many times as long as for 1?")
    assert [code.value for code in at.code] == [
        "(4 * ((4 * x) * (1 - x))) * (1 - ((4 * x) * (1 - x)))"
    ]  # no derivative
    assert [line["name"] for line in charts(at)["growth"]["spec"]["series"]] == ["autograd, forward and backward"]
    at.segmented_control(key="why longer").set_value("150").run()
    formula, difference, autograd = table(at, "difference")
    assert formula[1] == autograd[1] == "−4.352"
    assert "27 operations as written, 14 simplified" in formula[3]
    assert abs(float(difference[2].replace("−", "-"))) < 1e-8
    assert difference[2] != "0"
    assert "6 operations and 6 backward rules" in autograd[3]
    assert "174×" in texts(at.markdown)
    assert "✓" in texts(at.markdown)
    assert at.code[0].value.startswith("((1 - ")
    lines = {series["name"]: series["data"] for series in charts(at)["growth"]["spec"]["series"]}
    assert lines["formula as written"] == [[1, 7], [2, 27], [3, 79], [4, 207], [5, 511], [6, 1215]]
    at.select_slider(key="why h").set_value(1e-15).run()
    assert abs(float(table(at, "difference")[1][2].replace("−", "-"))) > 1e-4


def test_a_wrong_rule_of_the_engine_parts_autograd_from_the_other_ways(monkeypatch):
    parameters = {"tab": "formula", "expression": "4*x*(1 - x)", "in_x": "0.3", "times": "2", "longer": "6"}
    right = table(opened(**parameters), "difference")
    monkeypatch.setattr(Tensor, "__rsub__", wrong(Tensor.__rsub__))  # 1 - x
    formula, difference, autograd = table(opened(**parameters), "difference")
    assert autograd[1] != right[2][1]
    assert (formula[1], difference[1]) == (right[0][1], right[1][1])
    for way in (formula, difference):
        apart, ways = (float(text.replace("−", "-")) for text in (way[2], way[1]))
        assert apart == pytest.approx(ways - float(autograd[1].replace("−", "-")), abs=1e-3)
        assert abs(apart) > 1


def test_without_sympy_the_page_says_what_brings_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    at = opened(tab="formula", longer="6")
    assert "pip install sympy" in at.info[0].value
    assert "operations as written" in table(at, "difference")[0][3]
    assert "simplified" not in [series["name"] for series in charts(at)["growth"]["spec"]["series"]]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"expression": "sum(v)", "in_v": "[1, 2]"}, "for single numbers"),
        ({"expression": "maximum(a, b)"}, "no rule for"),
        ({"expression": "sum([a, 2*a])"}, "for single numbers"),
        ({"expression": "a +"}, "missing at the end"),
    ],
)
def test_what_has_no_formula_gets_a_sentence(parameters, said):
    at = opened(tab="formula", longer="6", **parameters)
    assert said in at.error[0].value.replace("\\", "")
    at.text_input(key="why expression").set_value("a*a").run()
    assert not at.error
    assert at.session_state["why longer"] is None  # another function: another guess


@pytest.mark.parametrize(
    ("expression", "said"),
    [("sqrt(a - 2)", "no finite value"), ("abs(a - 1)", "a kink, and no derivative with respect to a")],
)
def test_where_there_is_no_derivative_the_three_ways_are_not_called_equal(expression, said):
    at = opened(tab="formula", expression=expression, times=1, in_a=1, longer=6)
    assert said in texts(at.markdown)
    table = next(text.value for text in at.markdown if text.value.startswith("| way"))
    assert ("| 0 |" in table) is (expression != "sqrt(a - 2)")
    assert said not in texts(opened(tab="formula", expression=expression, times=1, in_a=7, longer=6).markdown)
