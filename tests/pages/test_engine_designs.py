"""Engine designs without a browser: one expression through all, the code, the depth, the network."""

import pytest

from lab.designs import closures
from lab.designs.compare import DESIGNS
from tests.pages.conftest import address, app, run, table, texts


def opened(**parameters):
    titles = {side: DESIGNS[parameters[side]].title for side in ("left", "right") if side in parameters}
    return run(app("pages/other_engines.py"), **{"tab": "designs"} | parameters | titles)


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
    at.selectbox(key="engines example").select("sum(tanh(x @ w + b)**2)").run()
    assert not at.exception
    assert "[[0.5], [-0.3]]" in [field.value for field in at.text_input]
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
    next(field for field in at.text_input if field.label == "Expression").set_value("sum(a*a)").run()
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
    opened()
    right = closures.Tensor.__add__
    monkeypatch.setattr(closures.Tensor, "__add__", lambda self, other: right(self, other) * 2.0)
    at = opened()
    assert "(no difference)" not in texts(at.markdown)
    assert table(at, "calls")[1][1] != "8"


def test_the_code_of_two_designs_stands_side_by_side():
    at = opened(left="functions", right="recursive", part="*")
    left, right = at.code
    assert left.value.startswith("class Mul(Function):")
    assert right.value.startswith("class MulBackward(BackwardFunction):")
    at.selectbox(key="engines-part").select("the whole file").run()
    assert all(code.value.startswith('"""') and "__main__" in code.value for code in at.code)
