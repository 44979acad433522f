"""Engine designs without a browser: one expression through all, the code, the depth, the network."""

import pytest

from lab.designs import closures
from tests.pages.conftest import address, app, components, run, table, texts


def opened(**parameters):
    return run(app("pages/other_engines.py"), **{"tab": "designs"} | parameters)


def test_one_expression_runs_through_six_engines_at_once():
    at = opened()
    assert "a 31, b 14, c 7, d 10" in texts(at.markdown).replace("\\", "")
    assert "6 engines (no difference)" in texts(at.markdown)
    rows = table(at, "calls")
    assert [row[0] for row in rows] == [
        "This lab’s engine",
        "Closures",
        "Function objects",
        "Recursion",
        "Scalar Values",
        "Dual numbers",
    ]
    assert [row[1] for row in rows] == ["8"] * 5 + ["32"]
    assert [row[2] for row in rows] == ["4"] * 5 + ["0"]
    assert [row[3] for row in rows] == ["1"] * 5 + ["4"]
    assert [row[6] for row in rows] == [
        "error",
        "doubled",
        "error",
        "doubled",
        "wrong",
        "unchanged",
    ]


def test_an_example_brings_its_values_and_is_in_the_address():
    at = opened()
    at.selectbox(key="engine designs example").select("sum(tanh(x @ w + b)**2)").run()
    assert not at.exception
    assert at.session_state["engine designs inputs"]["w"] == [[0.5], [-0.3]]
    assert address(at)["expression"] == "sum(tanh(x @ w + b)**2)"
    rows = table(at, "calls")
    assert rows[4][0] == "Scalar Values"
    assert rows[4][1] == "20"
    assert rows[5][3] == "7"


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"expression": "sin(a)"}, "also uses"),
        ({"expression": "a +"}, "missing at the end"),
        ({"expression": "sum(a*b)", "in_a": "[1, 2]", "in_b": "[1, 2, 3]"}, "cannot combine"),
        ({"expression": "a*2", "in_a": "[1, 2]"}, "reduce it to a single number"),
    ],
)
def test_what_cannot_be_run_gets_a_sentence(parameters, said):
    at = opened(**parameters)
    assert len(at.error) == 1
    assert said in at.error[0].value.replace("\\", "")
    at.text_input(key="engine designs expression").set_value("sum(a*a)").run()
    assert not [error for error in at.error if said in error.value]


def test_a_design_that_does_not_get_through_says_why():
    rows = table(opened(expression="log(a)", in_a="0"), "calls")
    assert rows[4][6] == "Stopped with ValueError: math domain error."
    assert rows[4][1:6] == ["–"] * 5
    many = "; ".join(f"x{i + 1} = x{i} + x{i}" for i in range(14))
    rows = table(opened(expression=f"{many}; x14*1"), "calls")
    assert rows[3][6].startswith("Not run: ")


def test_a_broken_rule_is_seen_in_the_table(monkeypatch):
    """The numbers are those of this run: nothing is remembered of an earlier one."""
    for tab in ("designs", "depth"):
        opened(tab=tab, length=100)
    right = closures.Tensor.__add__
    monkeypatch.setattr(closures.Tensor, "__add__", lambda self, other: right(self, other) * 2.0)
    at = opened()
    assert "(no difference)" not in texts(at.markdown)
    assert table(at, "calls")[1][1] != "8"
    at = opened(tab="depth", depth=5, length=100, calls=144)
    assert table(at, "100 operations")[1][1] == f"✓ arrives: {2.0**100:g}"
    assert at.metric[0].value == "10"
    assert "24 in topological order" in texts(at.markdown)
    assert float(opened(tab="depth", length=100).metric[1].value.replace("−", "-")) > 1e-3


def test_the_code_of_two_designs_stands_side_by_side():
    at = opened(left="functions", right="recursive", part="*")
    left, right = at.code
    assert left.value.startswith("class Mul(Function):")
    assert right.value.startswith("class MulBackward(BackwardFunction):")
    at.selectbox(key="designs part").select("the whole file").run()
    assert all(code.value.startswith('"""') and "__main__" in code.value for code in at.code)
    assert address(at)["part"] == "the whole file"


def test_the_calls_of_recursion_double_and_from_some_depth_on_are_computed():
    at = opened(tab="depth", depth=10, length=100)
    assert not components(at, "charts")
    assert at.metric[0].label == "Parameters"  # of the network below: a guess comes first here
    assert "Guess first." in texts(at.markdown)
    assert at.get("graphviz_chart")[0].proto.spec.count("->") == 6  # three doublings, each with two edges
    at.button_group(key="designs calls").set_value("144").run()
    assert address(at)["calls"] == "144"
    assert "✗ Not as you guessed. **4,095 calls for 12 doublings**, counted in a run; 12 in " in texts(at.markdown)
    assert "✓ As you guessed." in texts(opened(tab="depth", calls=4095).markdown)
    assert [metric.value for metric in at.metric[:2]] == ["10", "1,023"]
    assert "counted in a run just now" in texts(at.markdown)
    assert len(components(at, "charts")) == 1
    at.slider(key="designs depth").set_value(40).run()
    assert [metric.value for metric in at.metric[:2]] == ["40", "1,099,511,627,775"]
    assert "computed as 2^40 − 1, not run" in texts(at.markdown)


def test_a_deep_chain_stops_recursion():
    rows = table(opened(tab="depth", length=2000), "2,000 operations")
    assert [row[1].startswith("✗ RecursionError") for row in rows] == [False, False, False, True, True, False]
    assert rows[0][1] == "✓ arrives: 1"


def test_the_order_is_found_step_by_step_in_two_ways():
    said = texts(opened(tab="depth").markdown).replace("\\", "")
    assert "| append y | a b p c s d t y |" in said
    assert "| b; ready: none | y s t p c d a b |" in said


def test_41_parameters_twice():
    at = opened(tab="depth")
    assert at.metric[0].value == "41"
    assert float(at.metric[1].value.replace("−", "-")) < 1e-12
    rows = table(at, "loss")
    assert rows[0][1] == rows[1][1]
    at.slider(key="designs hidden").set_value(2).run()
    assert at.metric[0].value == str(3 * 2 + 2 + 2 * 2 + 2 + 2 + 1)
    assert len(table(at, "scalars")) == 17
