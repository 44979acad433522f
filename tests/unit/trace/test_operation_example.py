"""Every operation as an example that runs: its numbers, its code, its curves."""

from dataclasses import replace

import numpy as np
import pytest

import model
from lab.operation_table import OPS, Op
from lab.trace.operation_example import element_curve, elements, entry, example, parts, sources
from model import Tensor


@pytest.mark.parametrize("seed", [0, 1])
def test_every_operation_has_an_example_that_passes_its_check(seed):
    for op in OPS.values():
        shown = example(op, seed)
        assert shown.check(), shown.text
        assert sum(value.size for value in shown.values.values()) <= 14


def test_an_example_runs_the_operation_and_shows_the_lines_of_it():
    for op in OPS.values():
        shown = example(op)
        trace, upstream = shown.record()
        assert op.composed or parts(trace) == [op.name]
        assert upstream.flat[0] == 1
        text = "\n".join(line for code in sources(shown, trace) for line in code["lines"])
        assert op.composed or ("def _backward(upstream" in text and ".node(" in text), op.name
        assert text.startswith(("def ", "@_quiet\ndef "))
        assert [rule.operand for rule in shown.rules()] == list(shown.values), op.name


def test_the_code_is_that_of_the_engine():
    assert entry(OPS["*"]) is Tensor.__mul__
    assert entry(OPS["neg"]) is Tensor.__neg__
    assert entry(OPS["getitem"]) is Tensor.__getitem__
    assert entry(OPS["T"]) is Tensor.transpose
    assert entry(OPS["linear"]) is model.linear
    shown = example(OPS["minimum"])
    assert [code["lines"][0].split("(")[0] for code in sources(shown, shown.record()[0])] == [
        "def minimum",
        "def _choose",
    ]


def test_a_curve_is_what_the_engine_gives():
    def along(op, element, **values):
        shown = replace(example(OPS[op]), values={name: np.array(value) for name, value in values.items()})
        return element_curve(shown, np.array(1.0), element, np.array([-1.0, 0.0, 2.0]))

    found = along("relu", "x", x=7.0)
    assert found.y.tolist() == [0, 0, 2]
    assert found.slopes["x"].tolist() == [0, 0, 1]
    found = along("*", "b", a=5.0, b=7.0)
    assert found.y.tolist() == [-5, 0, 10]
    assert {name: slopes.tolist() for name, slopes in found.slopes.items()} == {"b": [5, 5, 5]}
    assert not np.isfinite(along("log", "x", x=7.0).y[:2]).any()


def test_what_has_no_example_says_so():
    with pytest.raises(LookupError, match="no small inputs were found that `reshape\\(x, 7, 7\\)` takes"):
        example(Op("reshape", "shape", parameters="x:value shape:ints", example="reshape(x, 7, 7)"))
    with pytest.raises(LookupError, match="There is no function `unknown`"):
        example(Op("unknown", "elementwise"))


def test_every_operation_has_a_curve_whose_slope_is_the_slope_of_the_drawn_line():
    for op in OPS.values():
        shown = example(op)
        _, upstream = shown.record()
        for element, (name, index) in elements(shown).items():
            x = float(shown.values[name][index])
            found = element_curve(shown, upstream, element, np.array([x - 1e-6, x, x + 1e-6]))
            rise = (found.y[2] - found.y[0]) / 2e-6
            assert found.slopes[element][1] == pytest.approx(rise, abs=1e-6 * max(1, abs(rise)) + 1e-7), (
                op.name,
                element,
            )
