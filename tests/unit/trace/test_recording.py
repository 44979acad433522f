"""The trace tells what the engine did: the same numbers, every message, in order."""

import json
import re
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.expression import parse
from lab.text import brief
from lab.trace.derivation import kind_of
from lab.trace.export import playable
from lab.trace.recording import MAX_NUMBERS, Recording, _source_lines, attempt, record, starting_gradients
from lab.traps.faults.broken_engines import Overwrites
from model import Tensor, allow_mutation, concatenate, no_grad, stack
from tests.programs import LEAVES, OPERATIONS, program, shared

STEP = st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 30), st.integers(0, 30))


def check_arithmetic(trace):
    totals = {}
    for event in trace.events:
        if event["kind"] == "accumulate":
            before, message, after = (np.asarray(event[k]) for k in ("before", "message", "after"))
            np.testing.assert_array_equal(before + message, after)
            if event["first"]:
                np.testing.assert_array_equal(before, np.zeros_like(before))
            totals[event["node"]] = totals.get(event["node"], 0) + message
    for node, gradient in trace.gradients_after().items():
        if node != trace.output:
            np.testing.assert_allclose(totals[node], gradient, rtol=1e-12)


def test_gradients_of_the_shared_leaf():
    trace = record(shared, LEAVES)
    assert {name: float(g) for name, g in trace.gradients.items()} == {"a": 31, "b": 14, "c": 7, "d": 10}
    check_arithmetic(trace)


def test_nodes_are_plain_and_in_operand_order():
    trace = record(shared, LEAVES)
    assert [node["id"] for node in trace.nodes] == list(range(8))
    assert [node["op"] for node in trace.nodes] == ["", "", "", "", "*", "+", "+", "*"]
    assert trace.nodes[4]["children"] == [0, 1]
    assert trace.nodes[7]["children"] == [5, 6]
    assert trace.nodes[7]["value"] == 70.0
    assert trace.output == 7
    assert json.loads(trace.to_json())["nodes"][4]["children"] == [0, 1]


def test_events_come_in_the_order_of_the_passes():
    trace = record(shared, LEAVES)
    kinds = [event["kind"] for event in trace.events]
    assert kinds == ["forward"] * 4 + ["seed"] + ["message", "accumulate"] * 8
    assert trace.events[trace.forward_events]["kind"] == "seed"
    last = [event for event in trace.events if event["kind"] == "accumulate" and event["node"] == 0][-1]
    assert (last["before"], last["message"], last["after"]) == (10.0, 21.0, 31.0)


def test_a_reused_operand_gets_two_messages():
    trace = record(lambda a: a * a, {"a": 3.0})
    messages = [event for event in trace.events if event["kind"] == "message"]
    assert [(m["child"], m["operand"], m["contribution"]) for m in messages] == [(0, 0, 3.0), (0, 1, 3.0)]
    assert trace.nodes[1]["children"] == [0, 0]


def test_the_lines_are_those_that_ran():
    trace = record(shared, LEAVES)
    for event in trace.events:
        source = trace.sources[event["source"]]
        line = source["lines"][event["line"] - source["first"]]
        expected = {
            "forward": "self.node(",
            "seed": "self.grad = upstream",
            "message": ".accumulate(",
            "accumulate": "self.grad = message" if event.get("first") else "self.grad += message",
        }
        assert expected[event["kind"]] in line


def test_what_a_closure_captured():
    node = record(shared, LEAVES).nodes[4]
    assert {entry["name"]: entry["holds"] for entry in node["captured"]} == {
        "left": "value of operand 0",
        "right": "value of operand 1",
        "self": "operand",
        "other": "operand",
    }
    exponential = record(lambda a: a.exp(), {"a": 1.0}).nodes[1]
    assert {e["name"]: e["holds"] for e in exponential["captured"]} == {"result": "output", "self": "operand"}


def test_broadcasting_is_undone_in_the_message():
    trace = record(lambda row, m: (m + row).sum(), {"row": [1.0, 2.0], "m": np.ones((3, 2))})
    sent = next(e for e in trace.events if e["kind"] == "message" and e["child"] == 0)
    added = next(e for e in trace.events if e["kind"] == "accumulate" and e["node"] == 0)
    assert np.shape(sent["contribution"]) == (3, 2)
    assert added["message"] == [3.0, 3.0]
    check_arithmetic(trace)


def test_constants_receive_nothing():
    trace = record(lambda a: a * 2.0 + 1.0, {"a": 3.0})
    constants = [node for node in trace.nodes if not node["op"] and not node["requires_grad"]]
    assert [node["value"] for node in constants] == [2.0, 1.0]
    assert not {node["id"] for node in constants} & {e["child"] for e in trace.events if e["kind"] == "message"}


def test_a_leaf_without_a_path_has_no_gradient():
    trace = record(lambda a, b: a * 2.0, {"a": 3.0, "b": 1.0})
    assert trace.gradients["b"] is None


def test_nan_and_infinity_stay_in_the_trace_and_in_strict_json():
    trace = record(lambda a: a.log() * a, {"a": -1.0})
    assert np.isnan(trace.nodes[1]["value"])
    assert json.loads(trace.to_json())["nodes"][1]["value"] == "nan"
    assert json.loads(record(lambda a: 1.0 / a, {"a": 0.0}).to_json())["nodes"][-1]["value"] == "inf"


def test_a_pass_can_be_recorded_step_by_step():
    recording = Recording({"a": 2.0, "b": 3.0})
    a, b = recording.tensors.values()
    y = a * b
    assert [event["kind"] for event in recording.trace.events] == ["forward"]
    y.backward()
    y.label = "y"
    trace = recording.finish(y, "an error")
    assert trace.error == "an error"
    whole = record(lambda a, b: a * b, {"a": 2.0, "b": 3.0})
    assert trace.events == whole.events
    assert [node["label"] for node in trace.nodes] == ["a", "b", "y"]
    assert trace.gradients == whole.gradients


class Refused(RuntimeError):
    pass


class Refuses(Tensor):
    """An engine that refuses each backward pass."""

    __slots__ = ()

    def backward(self, grad=None, retain_graph=False):
        raise Refused("This engine refuses it.")


def test_a_pass_that_the_engine_refuses_has_a_forward_pass_and_no_seed():
    recording = Recording({"a": [1.0, 2.0]}, Refuses)
    y = recording.tensors["a"].exp().sum()
    with pytest.raises(Refused):
        y.backward()
    trace = recording.finish(y)
    assert [event["kind"] for event in trace.events] == ["forward", "forward"]
    assert trace.gradients == {"a": None}
    assert trace.forward_events == len(trace.events)


def test_a_closure_whose_array_was_written_to_is_told_when_it_runs():
    def build(a):
        y = a.exp()
        y.data += 1.0
        return y.sum()

    with allow_mutation():
        trace = record(build, {"a": [0.0, 1.0]})
    exp, total = trace.nodes[1], trace.nodes[2]
    written = {entry["name"]: entry.get("written") for entry in exp["captured"]}
    assert written == {"self": None, "result": True}
    assert exp["captured"][0]["value"] == [1.0, np.e]  # as it was in the forward pass
    assert not any(entry.get("written") for entry in total["captured"])


@pytest.mark.parametrize("join", [stack, concatenate])
def test_tensors_that_a_closure_holds_in_a_tuple_are_operands(join):
    def build(a, b):  # a has a gradient already when the closure of the join runs
        return (a * join([a, b])).sum()

    trace = record(build, {"a": [2.0], "b": [3.0]})
    captured = next(node for node in trace.nodes if node["op"] == join.__name__)["captured"]
    operands = [entry for entry in captured if entry["holds"] == "operand"]
    assert [(entry["node"], entry["shape"]) for entry in operands] == [(0, [1]), (1, [1])]
    assert [entry["name"].partition("[")[2] for entry in operands] == ["0]", "1]"]
    assert not [entry for node in trace.nodes for entry in node.get("captured", []) if entry.get("written")]


def test_the_kind_and_the_sign_of_an_operation_are_told():
    trace = record(lambda a, b: -(a @ b).exp().sum(), {"a": [[2.0]], "b": [[3.0]]})
    told = [(node["op"], node["kind"], node["symbol"]) for node in trace.nodes if node["op"]]
    assert told == [
        ("@", "matrix product", "@"),
        ("exp", "elementwise", None),
        ("sum", "reduction", None),
        ("neg", "elementwise", "−"),
    ]
    assert not any({"kind", "symbol"} & node.keys() for node in trace.nodes if not node["op"])


BOMB = "h = broadcast_to(a,100000)\nk=h" + ".sin()" * 17 + "\nk.sum()"


def count(part):
    """The numbers in a part of a trace, each list once: two messages may tell of one upstream gradient."""
    lists, pending = {}, [part]
    while pending:
        one = pending.pop()
        for item in one.values() if isinstance(one, dict) else one:
            if isinstance(item, (dict, list)) and id(item) not in lists:
                lists[id(item)] = item
                pending.append(item)
    return sum(isinstance(item, float) for one in lists.values() if isinstance(one, list) for item in one)


@pytest.mark.parametrize(
    ("text", "shape"),
    [(BOMB, ()), ("sum(" + "+".join(f"a{i}" for i in range(40)) + ")", 2_000)],
    ids=["in the forward pass", "in the backward pass"],
)
def test_a_pass_that_would_fill_the_memory_is_stopped_in_time(text, shape):
    expression = parse(text)
    recording = Recording({name: np.ones(shape) for name in expression.names})
    with pytest.raises(RuntimeError, match="more than 200,000 numbers"):
        expression(**recording.tensors).backward()
    assert MAX_NUMBERS / 3 < count(recording.trace.nodes) + count(recording.trace.events) <= MAX_NUMBERS


class Halves(Tensor):
    __slots__ = ()

    def __mul__(self, other):
        other, a, b = self._operands(other, "*")

        def _backward(upstream):
            self.accumulate(upstream * b / 2)
            other.accumulate(upstream * a / 2)

        return self.node(a * b, (self, other), "*", _backward)


def test_another_engine_is_recorded_with_its_own_lines_and_numbers():
    trace = record(shared, LEAVES, tensor=Halves)
    leaves = {name: Halves(value) for name, value in LEAVES.items()}
    shared(**leaves).backward()
    assert {name: float(g) for name, g in trace.gradients.items()} == {n: float(t.grad) for n, t in leaves.items()}
    assert trace.gradients["b"] != record(shared, LEAVES).gradients["b"]
    assert trace.sources["Halves.__mul__"]["file"] == "test_recording.py"
    assert trace.sources["Tensor.__add__"]["file"] == "model.py"
    check_arithmetic(trace)


def test_a_build_that_returns_no_recorded_tensor():
    with pytest.raises(TypeError, match="must return a Tensor"):
        record(lambda a: 3.0, {"a": 1.0})
    with pytest.raises(RuntimeError, match="nothing to differentiate"):
        record(lambda a: a, {"a": 1.0})


@settings(max_examples=60)
@given(st.lists(STEP, min_size=1, max_size=12), st.floats(0.5, 2.0), st.floats(-2.0, -0.5))
def test_random_programs_agree_with_the_engine(steps, a, b):
    build = program(steps)
    trace = record(build, {"a": a, "b": b})
    leaves = {"a": Tensor(a), "b": Tensor(b)}
    with np.errstate(all="ignore"):
        build(**leaves).backward()
    for name, leaf in leaves.items():
        expected, found = leaf.grad, trace.gradients[name]
        assert (expected is None and found is None) or np.array_equal(expected, found, equal_nan=True)
    if all(np.isfinite(e["after"]) for e in trace.events if e["kind"] == "accumulate"):
        check_arithmetic(trace)


def test_what_no_grad_computed_has_no_edges():
    def build(a):
        with no_grad():
            scale = a * 10.0
        return a * scale

    trace = record(build, {"a": 3.0})
    scale = trace.nodes[trace.nodes[trace.output]["children"][1]]
    assert (scale["value"], scale["op"], scale["children"]) == (30.0, "", [])


def test_arrays_are_written_briefly():
    assert brief([2.0, -1.0, 1 / 3]) == "[2, −1, 0.3333]"
    assert brief(np.arange(100.0)) == "[0, 1, ..., 98, 99]"
    assert brief([np.nan, -np.inf]) == "[NaN, −∞]"


def test_threads_that_record_at_once_do_not_disturb_each_other():
    # Python's own parser may fail when threads use it at the same time; the cache is emptied so that all of them read
    failures = []

    def visitor():
        try:
            for _ in range(20):
                _source_lines.cache_clear()
                assert record(shared, LEAVES).sources["Tensor.__mul__"]["lines"]
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=visitor) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (-1.5, "−1.5"), (1 / 3, "0.3333"), (12345.678, "12346"), (9999.96, "10000"),
        (999999.9, "1000000"), (-1234567.0, "−1.235e6"), (1.23456e-5, "1.235e−5"), (1e-4, "0.0001"), (1e20, "1e20"),
        (np.nan, "NaN"), (np.inf, "∞"), (-np.inf, "−∞"),
    ],
)  # read by rows  # fmt: skip
def test_numbers_are_written_as_in_the_player(number, text):
    assert brief(number) == text


def test_where_the_table_cannot_tell_the_closure_is_asked_for_the_derivatives_of_each_cell():
    matrix = np.array([[1.0, 2.0], [0.0, 4.0]])
    trace = record(lambda m, v: (m @ v).sum(), {"m": matrix, "v": [1.0, 3.0]})
    product, total = trace.nodes[2], trace.nodes[3]
    assert product["paths"] == [
        [[(0, 1.0)], [(0, 3.0)], [(1, 1.0)], [(1, 3.0)]],
        [[(0, 1.0)], [(0, 2.0), (1, 4.0)]],  # zeros are left out
    ]
    assert "paths" not in total  # of a sum to one number the table knows them
    assert [event["kind"] for event in trace.events].count("message") == 3  # what is only asked for is no event


def test_the_same_tensor_twice_has_paths_for_each_operand():
    trace = record(lambda a: concatenate([a, a]).sum(), {"a": [1.0, 2.0]})
    assert trace.nodes[1]["paths"] == [[[(0, 1.0)], [(1, 1.0)]], [[(2, 1.0)], [(3, 1.0)]]]


def test_derivatives_that_are_no_numbers_are_not_told():
    assert record(lambda a: a.prod(), {"a": [1e308, 1e308, 1e308]}).nodes[1]["paths"] == [None]


def test_another_engine_is_not_asked():
    trace = record(lambda m: (m @ m).sum(), {"m": np.eye(2)}, tensor=Overwrites)
    assert "paths" not in trace.nodes[1]


def test_an_index_stands_as_it_is_written():
    trace = record(lambda x: x[0, 1:].sum() + x[..., 1].sum() + x[[0, 1], ::2].sum(), {"x": np.ones((2, 3))})
    assert [node["index"] for node in trace.nodes if node["op"] == "getitem"] == ["0, 1:", "..., 1", "[0, 1], ::2"]


def test_the_line_that_sums_is_that_of_a_message_whose_receiver_was_repeated():
    trace = record(lambda m, row: (m + row).sum(), {"m": np.ones((2, 2)), "row": [1.0, 2.0]})
    lines = {}
    for event in trace.events:
        if event["kind"] == "accumulate":
            source = trace.sources[event["source"]]
            lines[trace.nodes[event["node"]]["label"]] = source["lines"][event["line"] - source["first"]]
    assert "_sum(message" in lines["row"]
    assert "self.grad = message" in lines["m"]


def test_a_result_of_many_numbers_is_run_backward_only_from_a_gradient_that_somebody_chose():
    build, leaves = lambda a: a * a, {"a": [1.0, 2.0, 4.0]}
    refused = attempt(build, leaves)
    with pytest.raises(RuntimeError) as said:
        build(Tensor(leaves["a"])).backward()
    assert [event["kind"] for event in refused.events] == ["forward"]
    assert re.match(r"backward\(\) starts from a single number, but .* has 3 elements", refused.error)
    assert refused.error == str(said.value)
    offered = starting_gradients((3,))
    for name, reduced in (("sum", lambda a: (a * a).sum()), ("mean", lambda a: (a * a).mean())):
        chosen = attempt(build, leaves, offered[name])
        np.testing.assert_allclose(chosen.gradients["a"], record(reduced, leaves).gradients["a"])
    own = attempt(build, leaves, [0.0, 0.0, 1.0])
    assert own.gradients["a"].tolist() == [0.0, 0.0, 8.0]


def test_what_is_done_to_a_leaf_before_the_backward_pass_is_what_the_engine_makes_of_it():
    build, leaves = lambda a, b: (a * b).sum(), {"a": [1.0, 2.0], "b": [3.0, 4.0]}
    constant = attempt(build, leaves, changes={"a": "constant"})
    assert constant.gradients["a"] is None
    assert kind_of(constant, constant.nodes[0]) == "constant"
    detached = attempt(build, leaves, changes={"a": "detached"})
    assert detached.gradients["a"] is None
    assert [node["requires_grad"] for node in detached.nodes[:3]] == [True, True, False]
    assert detached.nodes[2]["label"] == "a.detach()"
    for trace in (constant, detached):
        assert trace.gradients["b"].tolist() == [1.0, 2.0]
        playable(trace)
    written = attempt(build, leaves, changes={"a": "written"})
    assert written.gradients["b"].tolist() == [1.0, 2.0]  # as in the forward pass
    refused = attempt(build, leaves, tensor=Refuses, refusals=(Refused,))
    assert refused.error == "This engine refuses it."
    assert {event["kind"] for event in refused.events} == {"forward"}
    none = attempt(build, leaves, changes=dict.fromkeys(leaves, "constant"))
    assert none.events == []
    assert "nothing to differentiate" in none.error
    playable(none)


def test_a_result_of_one_number_needs_no_choice():
    for build in (lambda a: a * a, lambda a: (a * a).reshape(1)):
        assert attempt(build, {"a": 3.0}).gradients["a"] == 6.0
