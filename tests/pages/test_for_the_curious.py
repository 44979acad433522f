"""Why reverse mode > For the curious without a browser: formulas, depth, checkpointing, a chain."""

import pytest

from lab.designs import closures
from model import Tensor
from pages.parts.curious.chain import SIDES
from pages.parts.curious.checkpointing import SEGMENT_GUESSES
from pages.parts.for_the_curious import TITLES
from tests.pages.conftest import app, charts, components, run, table, texts
from tests.pages.test_gradient_cost import wrong


def opened(**parameters):
    at = app("pages/why_reverse_mode.py")
    labels = {
        "topic": TITLES.get,
        "longer": "{}×".format,
        "calls": lambda n: f"{int(n):,}",
        "fewest": SEGMENT_GUESSES.get,
    }
    labels |= {"operations": "{:,}".format, "end": SIDES.get}
    for name in [name for name in parameters if name == "expression" or name.startswith("in_")]:
        at.query_params[f"formula-{name}"] = str(parameters.pop(name))
    shown = {name: labels.get(name, str)(value) for name, value in parameters.items()}
    return run(at, **{"tab": "curious"} | shown)


# ---------------------------------------------------------------- formula


def test_three_ways_to_one_derivative():
    at = opened(topic="formula", expression="4*x*(1 - x)", in_x="0.3", times="2")
    assert "The function, applied 2 times, each result in place of x in the next. Guess first" in texts(at.markdown)
    assert at.segmented_control(key="why-longer").label.endswith("is how many times as long as for 1?")
    assert [code.value for code in at.code] == ["4 * (4 * x * (1 - x)) * (1 - 4 * x * (1 - x))"]  # no derivative
    assert not components(at, "charts")
    at.segmented_control(key="why-longer").set_value("150").run()
    formula, difference, autograd = table(at, "difference")
    assert formula[1] == autograd[1] == "−4.352"
    assert "27 operations as written" in formula[3]
    assert abs(float(difference[2].replace("−", "-"))) < 1e-8
    assert difference[2] != "0"
    assert "6 operations and 6 backward rules" in autograd[3]
    assert "174×" in texts(at.markdown)
    assert "✓" in texts(at.markdown)
    assert at.code[0].value.startswith("(1 - 4 * x * (1 - x)) * (4 * ")
    assert "too long to be written" in texts(
        opened(topic="formula", expression="4*x*(1 - x)", times="6", longer="6").code
    )
    lines = {series["name"]: series["data"] for series in charts(at)["growth"]["spec"]["series"]}
    assert lines["formula as written"] == [[1, 7], [2, 27], [3, 79], [4, 207], [5, 511], [6, 1215]]
    assert lines["autograd, forward and backward"] == [[1, 6], [2, 12], [3, 18], [4, 24], [5, 30], [6, 36]]


def test_a_wrong_rule_of_the_engine_parts_autograd_from_the_other_ways(monkeypatch):
    parameters = {"topic": "formula", "expression": "4*x*(1 - x)", "in_x": "0.3", "times": "2", "longer": "6"}
    right = table(opened(**parameters), "difference")
    monkeypatch.setattr(Tensor, "__rsub__", wrong(Tensor.__rsub__))  # 1 - x
    formula, difference, autograd = table(opened(**parameters), "difference")
    assert autograd[1] != right[2][1]
    assert (formula[1], difference[1]) == (right[0][1], right[1][1])
    for way in (formula, difference):
        apart, ways = (float(text.replace("−", "-")) for text in (way[2], way[1]))
        assert apart == pytest.approx(ways - float(autograd[1].replace("−", "-")), abs=1e-3)
        assert abs(apart) > 1


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
    at = opened(topic="formula", longer="6", **parameters)
    assert said in at.error[0].value.replace("\\", "")
    next(field for field in at.text_input if field.label == "Expression").set_value("a*a").run()
    assert not at.error


@pytest.mark.parametrize(
    ("expression", "said"),
    [("sqrt(a - 2)", "no finite value"), ("abs(a - 1)", "a kink, and no derivative with respect to a")],
)
def test_where_there_is_no_derivative_the_three_ways_are_not_called_equal(expression, said):
    at = opened(topic="formula", expression=expression, times=1, in_a=1, longer=6)
    assert said in texts(at.markdown)
    table = next(text.value for text in at.markdown if text.value.startswith("| way"))
    assert ("| 0 |" in table) is (expression != "sqrt(a - 2)")
    assert said not in texts(opened(topic="formula", expression=expression, times=1, in_a=7, longer=6).markdown)


def test_the_calls_of_recursion_double_with_each_doubling():
    at = opened(topic="depth", operations=100)
    assert not components(at, "charts")
    assert "Guess first." in texts(at.markdown)
    assert at.get("graphviz_chart")[0].proto.spec.count("->") == 6  # three doublings, each with two edges
    at.button_group(key="why-calls").set_value("144").run()
    assert at.session_state["why-calls"] == "144"
    assert "✗ Not as you guessed. **4,095 calls for 12 doublings**, and 12 in topological order" in texts(at.markdown)
    assert "✓ As you guessed." in texts(opened(topic="depth", calls=4095).markdown)
    recursion, ordered = (series["data"] for series in charts(at)["calls"]["spec"]["series"])
    assert recursion == [[n, 2**n - 1] for n in range(1, 15)]
    assert ordered == [[n, n] for n in range(1, 15)]


def test_a_deep_chain_stops_recursion():
    rows = table(opened(topic="depth", operations=2000), "2,000 operations")
    assert [row[1].startswith("✗ RecursionError") for row in rows] == [False, False, False, True, True, False]
    assert rows[0][1] == "✓ arrives: 1"


def test_the_order_is_found_step_by_step_in_two_ways():
    said = texts(opened(topic="depth").markdown).replace("\\", "")
    assert "| append y | a b p c s d t y |" in said
    assert "| b; ready: none | y s t p c d a b |" in said


def test_a_broken_rule_of_a_design_is_seen(monkeypatch):
    """The numbers are those of this run: nothing is remembered of an earlier one."""
    opened(topic="depth", operations=100)
    right = closures.Tensor.__add__
    monkeypatch.setattr(closures.Tensor, "__add__", lambda self, other: right(self, other) * 2.0)
    at = opened(topic="depth", operations=100, calls=144)
    assert table(at, "100 operations")[1][1] == f"✓ arrives: {2.0**100:g}"
    assert "24 in topological order" in texts(at.markdown)


# ---------------------------------------------------------------- checkpointing


def test_checkpointing_is_counted_for_the_chain_that_was_asked_for():
    at = opened(topic="memory", layers=9, segments=3)
    kept, runs, difference = at.metric
    assert kept.label == "Bytes kept"
    assert runs.value == "15"  # the last three run once
    assert "only the last segment records its graph" in at.markdown[0].value
    assert float(difference.value.replace("−", "-")) <= 1e-12
    first = kept.value
    assert "Least with" not in texts(at.markdown)  # a guess comes first
    assert not components(at, "charts")
    at.segmented_control(key="why-fewest").set_value("all").run()
    assert "✗ Not as you guessed. Least with **" in texts(at.markdown)
    spec = charts(at)["kept"]["spec"]
    assert [x for x, _ in spec["series"][0]["data"]] == [*range(2, 10)]
    assert spec["series"][0]["markLine"]["data"][0]["yAxis"] == spec["yAxis"]["max"]  # a plain pass
    for guess, said in (("between", "✓ As you guessed."), ("two", "✗ Not as you guessed.")):
        assert said in texts(opened(topic="memory", layers=9, fewest=guess).markdown)
    at.slider(key="why-segments").set_value(5).run()
    assert at.metric[0].value != first
    assert at.metric[1].value == "17"
    at.slider(key="why-layers").set_value(4).run()
    assert at.slider(key="why-segments").value == 4
    assert not at.exception


def test_a_broken_operation_changes_the_bytes(monkeypatch):
    tanh = Tensor.tanh
    at = opened(topic="memory", layers=4)
    kept = at.metric[0].value
    monkeypatch.setattr(Tensor, "tanh", lambda self: tanh(self) * 1.0)  # one more node in each layer
    at.slider(key="why-layers").set_value(5).run()
    at.slider(key="why-layers").set_value(4).run()
    assert at.metric[0].value != kept


# ---------------------------------------------------------------- a chain


def test_a_chain_is_multiplied_from_both_ends():
    at = opened(topic="chain")
    assert "Guess first" in texts(at.markdown)
    assert at.get("graphviz_chart")[0].proto.spec.count("100 × 100") == 3
    at.segmented_control(key="why-end").set_value("left").run()
    assert [row[1] for row in table(at, "multiplications, counted")] == ["30,000", "2,010,000", "30,000"]
    assert "67.0× cheaper" in texts(at.markdown)
    at.number_input(key="why-results").set_value(100).run()
    assert "Both ends cost the same here" in texts(at.markdown)
    at.number_input(key="why-inputs").set_value(1).run()
    assert "From the right" in texts(at.markdown)
    assert "✗" in texts(at.markdown)
    assert [at.session_state[f"why-{name}"] for name in ("width", "inputs", "results")] == [100, 1, 100]
