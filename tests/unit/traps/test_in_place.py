"""The in-place trap: every operation, route and guard, run for real and compared with numerical gradients."""

from itertools import product

import numpy as np
import pytest

from lab.trace.derivation import derive, first_disagreement
from lab.traps import detect_mutation
from lab.traps.in_place import (
    OPS,
    ROUTES,
    WRITTEN,
    Experiment,
    repaired,
    run,
    stages,
    verdict,
)
from model import Tensor, allow_mutation

ALL = [Experiment(*choices) for choices in product(OPS, WRITTEN, ROUTES, (False, True))]


def name(experiment):
    return f"{experiment.op}-{experiment.written}-{experiment.route}-{'on' if experiment.guard else 'off'}"


@pytest.mark.sample(20)
@pytest.mark.parametrize("experiment", ALL, ids=name)
def test_with_the_guard_no_wrong_gradient_is_silent(experiment):
    result = run(experiment)
    for leaf, right in result.right.items():
        np.testing.assert_allclose(right, result.numerical[leaf], rtol=1e-6, atol=1e-6)
    if experiment.guard:
        assert result.outcome in ("right", "error")
    else:
        assert result.outcome in ("right", "wrong")
    assert (result.gradients["a"] is None) == (result.outcome == "error")


SPOILED = {("mul", "input"), ("square", "input"), ("exp", "output"), ("relu", "output")}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(("op", "written"), [*product(OPS, WRITTEN)])
def test_what_breaks_depends_on_what_the_operation_saved(op, written, route):
    number = -1.0 if op == "relu" and route == "name" else 3.0  # relu only asks whether y is positive
    off, on = (run(Experiment(op, written, route, guard, number=number)) for guard in (False, True))
    assert off.outcome == ("wrong" if (op, written) in SPOILED else "right")
    assert on.outcome == ("error" if (op, written) in SPOILED else "right")


@pytest.mark.sample(8)
@pytest.mark.parametrize("experiment", ALL, ids=name)
def test_the_code_that_is_shown_does_what_was_run(experiment):
    """The learner can paste the lines: they give the same gradients, or raise the same error."""
    result = run(experiment)
    names = {"np": np, "Tensor": Tensor, "allow_mutation": allow_mutation, "detect_mutation": detect_mutation}
    error = ""
    try:
        with np.errstate(all="ignore"):
            exec("\n".join(line for lines in stages(experiment) for line in lines), names)
    except RuntimeError as problem:
        error = str(problem)
    assert error == result.error
    for leaf, gradient in result.gradients.items():
        np.testing.assert_array_equal(names[leaf].grad, gradient)


@pytest.mark.sample(8)
@pytest.mark.parametrize("experiment", ALL, ids=name)
def test_the_repair_runs_with_the_guard_on_and_is_right(experiment):
    lines, gradients = repaired(experiment)
    assert lines.splitlines()[-2:] == ["L.backward()", experiment.write]
    for leaf, right in run(experiment).right.items():
        np.testing.assert_array_equal(gradients[leaf], right)


def test_each_step_shows_no_more_than_has_happened():
    forward, written, backward, compared = (run(Experiment(), step) for step in (1, 2, 3, 4))
    assert not any(held.changed for held in forward.held)
    assert [held.name for held in written.held if held.changed] == ["left"]
    assert forward.gradients == written.gradients == {"a": None, "b": None}
    assert backward.gradients["b"] is not None
    assert not backward.right
    assert compared.right


@pytest.mark.parametrize("route", ["view", "name"])
def test_two_names_share_a_box_without_the_guard_and_not_with_it(route):
    shared = run(Experiment(route=route, guard=False), 2).boxes
    apart = run(Experiment(route=route, guard=True), 2).boxes
    assert [len(box.names) for box in shared] == [3]
    assert sorted(len(box.names) for box in apart) == [1, 2]
    closure = next(box for box in apart if box.names[0].startswith("closure"))
    np.testing.assert_array_equal(closure.values, [2, -1, 3])


@pytest.mark.sample(8)
@pytest.mark.parametrize("experiment", ALL, ids=name)
def test_the_events_are_those_of_the_steps_so_far(experiment):
    for steps in range(5):
        result = run(experiment, steps)
        kinds = [event["kind"] for event in result.trace.events]
        sent = 0 if steps < 3 or result.error else 1 + len(experiment.inputs)
        assert kinds == ["forward"] * 2 + ["seed"] * (sent > 0) + ["message", "accumulate"] * sent
        assert result.trace.error == result.error
        names = {node["label"]: node for node in result.trace.nodes}
        for leaf in experiment.inputs:
            np.testing.assert_array_equal(names[leaf]["value"], result.before[leaf])
            if sent:
                replayed = result.trace.gradients_after()[names[leaf]["id"]]
                np.testing.assert_array_equal(replayed, result.gradients[leaf])


@pytest.mark.sample(8)
@pytest.mark.parametrize("experiment", ALL, ids=name)
def test_the_event_that_went_wrong_and_the_array_that_was_written_to(experiment):
    trace = run(experiment).trace
    wrong = first_disagreement(trace)
    assert (wrong is not None) == (run(experiment).outcome == "wrong")
    if wrong is None:
        return
    message = trace.events[wrong]
    leaf = trace.nodes[message["child"]]["label"]
    np.testing.assert_array_equal(message["contribution"], run(experiment).gradients[leaf])
    terms = derive(trace)[message["child"]]["terms"]
    np.testing.assert_array_equal(
        np.multiply(trace.events[terms[0]["event"]]["upstream"], terms[0]["local"]), run(experiment).right[leaf]
    )
    written = [entry["name"] for entry in trace.nodes[message["node"]]["captured"] if entry.get("written")]
    assert written == [held.name for held in run(experiment).held if held.changed]
    assert written


def test_the_trace_has_the_write_from_the_moment_it_happens_and_what_is_due_once_compared():
    def marks(steps, **settings):
        nodes = run(Experiment(**settings), steps).trace.nodes
        written = {node["label"]: node["now"] for node in nodes if "now" in node}
        kept = {entry["name"]: entry["now"] for node in nodes for entry in node.get("captured", ()) if "now" in entry}
        return written, kept, {node["label"]: node["due"] for node in nodes if "due" in node}

    assert marks(1) == ({}, {}, {})
    assert marks(2) == marks(3) == ({"a": [3, 0, 4]}, {"left": [3, 0, 4]}, {})
    assert marks(4) == ({"a": [3, 0, 4]}, {"left": [3, 0, 4]}, {"b": [2, -1, 3]})
    assert marks(4, guard=True) == ({"a": [3, 0, 4]}, {}, {})  # the closure's own array is intact


def test_the_captured_array_of_a_tensor_with_equal_values_is_told_apart():
    held = run(Experiment("square", route="view", guard=True, a=(1.0, 1.0, 1.0))).held
    assert {(h.name, h.of) for h in held} >= {("left", "a"), ("result", "y")}


def test_the_explanation_follows_the_numbers():
    assert "same numbers" in verdict(run(Experiment(number=0.0)))
    assert "did not keep `a`" in verdict(run(Experiment("exp")))
    assert "do not depend" in verdict(run(Experiment("relu", "output", a=(1.0, 2.0, 3.0))))
    assert "another array" in verdict(run(Experiment("scale", guard=True)))
    refused = verdict(run(Experiment(guard=True)))
    assert refused.startswith("The closure of `*` still holds [2, −1, 3]: the guard let the write go into another")
    assert "numbers that `a` no longer has" in refused
    assert "With the guard off, the same write makes the gradient wrong" in refused


def test_the_effect_names_the_gradients_that_are_wrong():
    assert run(Experiment()).effect == "b"  # a was written to, and the gradient of b is a
    assert run(Experiment("square")).effect == "a"
    assert run(Experiment("add")).effect == ""
    assert run(Experiment(guard=True)).effect == "error"
