"""The script that the Graph lab offers runs, and prints what the lab shows."""

import contextlib
import io

import numpy as np
import pytest

from lab.expression import parse
from lab.trace.recording import attempt
from lab.trace.script import experiment

TEXT, VALUES = "h = a*b\nh.relu() + max(c, 0) + d", {"a": 2.0, "b": [1.5, -3.0], "c": 0.5, "d": 1.0}


def ran(script):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(script, {})
    return printed.getvalue()


@pytest.mark.parametrize(
    "changes", [{}, {"a": "constant"}, {"b": "detached"}, {"d": "written"}, {"a": "detached", "c": "constant"}], ids=str
)
def test_it_prints_the_gradients_of_the_pass(changes):
    expression, upstream = parse(TEXT), [1.0, 2.0]
    trace = attempt(expression, VALUES, np.array(upstream), changes)
    assert ("detect_mutation" in experiment(expression, VALUES, changes)) == ("written" in changes.values())
    printed = ran(experiment(expression, VALUES, changes, upstream))
    for name, gradient in trace.gradients.items():
        assert f"gradient of {name}: {'None' if gradient is None else np.asarray(gradient)}" in printed


def test_a_leaf_that_is_detached_gets_a_name_that_is_free():
    script = experiment(parse("a*a_leaf"), {"a": 2.0, "a_leaf": 3.0}, {"a": "detached"})
    assert script.startswith("# Run it in the folder of the lab, where model.py is.\n")
    assert "a_leaf_, a = a, a.detach()" in script
    assert "gradient of a: None" in ran(script)
