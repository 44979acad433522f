"""Backward passes recorded from running programs: what is shown is what PyTorch, or the lab's engine, computed."""

import gc
import json
import linecache
import weakref
from collections import defaultdict

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from lab.trace.derivation import derive, first_disagreement, table  # noqa: E402
from lab.trace.loading import load  # noqa: E402
from lab.watch import watch  # noqa: E402
from lab.watch.torch_recorder import NESTED  # noqa: E402
from model import Tensor, cross_entropy, no_grad  # noqa: E402
from nn import MLP  # noqa: E402
from tests.unit.watch import passes  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def dense(gradient):
    return None if gradient is None else gradient.detach().to_dense()


# Line -> the operations that its mark names
MARKS = {
    number + 1: {*line.split("#: ")[1].split()}
    for number, line in enumerate(linecache.getlines(passes.__file__), 1)
    if "    #: " in line
}


def changed_on_the_way(trace):
    """The nodes that used another upstream gradient than the sum of the messages to them, which is exact."""
    arrived = trace.gradients_after()
    own = {node["id"] for node in trace.nodes if "shares" not in node}
    sent = [event for event in trace.events if event["kind"] == "message" and event["node"] in own]
    return [event["node"] for event in sent if repr(event["upstream"]) != repr(arrived.get(event["node"]))]


@pytest.mark.parametrize("program", passes.PROGRAMS, ids=lambda program: program.__name__)
def test_a_recorded_pass_is_the_one_that_pytorch_runs(program):
    torch.manual_seed(1)
    plain = [dense(leaf.grad) for leaf in program()]
    torch.manual_seed(1)
    with watch() as pass_:
        leaves = program()
    gradients = {name: value for trace in pass_.traces for name, value in trace.gradients.items()}
    hidden = any(NESTED in part for trace in pass_.traces for node in trace.nodes for part in node.get("hides", ()))
    for leaf, wanted in zip(leaves, plain, strict=True):
        if wanted is None:
            assert leaf.grad is None
            continue
        assert torch.equal(dense(leaf.grad), wanted)
        numbers = dense(leaf.grad).numpy()
        assert hidden or any(value is not None and np.array_equal(value, numbers) for value in gradients.values())
    lines = defaultdict(set)
    for trace in pass_.traces:
        assert changed_on_the_way(trace) == []
        assert first_disagreement(trace) is None
        assert len(derive(trace)) == len(table(trace)) == len(trace.nodes)
        json.loads(trace.to_json())
        for node in trace.nodes:
            assert all(child < node["id"] for child in node["children"])
            assert np.shape(node["value"]) == tuple(node["shape"])
        for event in trace.events:
            if event["kind"] == "forward":
                code = trace.sources[event["source"]]
                written = linecache.getline(passes.__file__, event["line"]).strip()
                assert code["lines"][event["line"] - code["first"]].strip() == written
                lines[event["line"]].add(trace.nodes[event["node"]]["op"].replace(" ", "-"))
    own = {line for _, _, line in program.__code__.co_lines()} & MARKS.keys()
    assert {**lines} == {line: MARKS[line] for line in {*lines} | own}


def test_no_operation_is_left_out_where_the_memory_of_a_forgotten_one_is_used_again():
    """An initialised weight's first card goes, and what comes next may stand where it stood."""
    for turn in range(100):
        _ = [object() for _ in range(turn % 37)]  # so that it differs what stands there
        with watch() as pass_:
            passes.target_network()
        (trace,) = pass_.traces
        assert [node["op"] for node in trace.nodes].count("linear") == 2


def test_enough_programs():
    assert len(passes.PROGRAMS) >= 60


@pytest.mark.parametrize("program", passes.PROGRAMS, ids=lambda program: program.__name__)
def test_nothing_stays_behind(program):
    before = (torch.autograd._engine_run_backward, torch.autograd.Function.apply, Tensor.node, Tensor.backward)
    kept = []

    def run():
        real = torch.Tensor.backward
        leaves = program()
        kept.extend(weakref.ref(leaf) for leaf in leaves)
        kept.extend(weakref.ref(leaf.grad) for leaf in leaves if leaf.grad is not None)
        assert torch.Tensor.backward is real

    with watch():
        run()
    assert (torch.autograd._engine_run_backward, torch.autograd.Function.apply, Tensor.node, Tensor.backward) == before
    gc.collect()
    assert [ref() for ref in kept] == [None] * len(kept)


def test_a_graph_that_is_kept_has_no_hook_afterwards():
    w = torch.ones(3, requires_grad=True)
    with watch() as pass_:
        loss = (w * 2).exp().sum()
        loss.backward(retain_graph=True)
    events = len(pass_.trace.events)
    w.grad = None
    loss.backward()
    assert len(pass_.traces) == 1
    assert len(pass_.trace.events) == events


def test_names_modules_writes_and_ends():
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
    x = torch.ones(4, 2)
    with watch() as pass_:
        with torch.no_grad():
            net[0].bias.fill_(0.5)
        out = net(x)
        rows = out.detach()
        seen = out.argmax(1)
        loss = out.sum()
        number = loss.item()
        loss.backward()
    nodes = {node["op"] or node["label"]: node for node in pass_.trace.nodes}
    assert {*pass_.trace.gradients} == {"net.0.weight", "net.0.bias"}
    assert nodes["linear"]["calls"] == ["net 1", "net.0 1"]
    assert nodes["linear"]["hides"] == ["Addmm", "T"]
    assert nodes["tanh"]["label"] == "out"
    assert [write["op"] for write in nodes["net.0.bias"]["writes"]] == ["fill"]
    assert nodes["net.0.bias"]["writes"][0]["version"] == nodes["net.0.bias"]["version"] == 2
    assert all(nodes[op]["cut"] and not nodes[op]["requires_grad"] for op in ("detach", "argmax", "item"))
    assert nodes["item"]["value"] == number
    assert (rows.shape, seen.shape) == ((4, 3), (4,))
    saved = {entry["name"]: entry["holds"] for entry in nodes["tanh"]["captured"]}
    assert saved == {"result": "output"}


def test_the_values_of_leaves_are_those_of_the_forward_pass():
    with watch() as pass_:
        net = torch.nn.Linear(2, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
        before = []
        for _ in range(2):
            before.append(net.weight.tolist())
            optimizer.zero_grad()
            net(torch.ones(4, 2)).square().mean().backward()
            optimizer.step()
        net.weight.data.mul_(2)
        before.append(net.weight.tolist())
        net(torch.ones(1, 2)).sum().backward()
    for trace, wanted in zip(pass_.traces, before, strict=True):
        leaf = next(node for node in trace.nodes if node["shape"] == [3, 2])
        assert leaf["value"] == wanted
    assert before[0] != before[1] != before[2]


def test_of_a_large_array_some_cells_and_what_holds_for_all():
    w = torch.arange(1000.0).reshape(10, 100).requires_grad_()
    with watch() as pass_:
        (w * w).sum().backward()
    leaf = next(node for node in pass_.trace.nodes if node["label"] == "w")
    assert leaf["large"] == {"shape": [10, 100], "min": 0.0, "max": 999.0, "mean": 499.5, "not_finite": 0}
    shown = np.array(leaf["value"])
    assert shown.size <= 64
    assert np.isin(shown, w.detach().numpy()).all()
    assert np.array_equal(pass_.trace.gradients["w"], (2 * w).detach().numpy())
    arrival = [event for event in pass_.trace.events if event["kind"] == "accumulate"][-1]
    assert np.array_equal(np.array(arrival["after"]), 2 * shown)


def test_the_labs_own_engine_in_any_code():
    def train(net):
        for _ in range(2):
            loss = cross_entropy(net(np.arange(8.0).reshape(4, 2)), [0, 1, 0, 1])
            loss.backward()
            with no_grad():
                for parameter in net.parameters():
                    parameter.data = parameter.numpy() - 0.1 * parameter.grad
        return [parameter.grad for parameter in net.parameters()]

    plain = train(MLP([2, 4, 2], rng=0))
    with watch() as pass_:
        train(MLP([2, 4, 2], rng=0))
    assert len(pass_.traces) == 2
    assert not any(map(changed_on_the_way, pass_.traces))
    assert [*pass_.trace.gradients] == ["W1", "b1", "W2", "b2"]
    for wanted, got in zip(plain, pass_.trace.gradients.values(), strict=True):
        np.testing.assert_array_equal(got, wanted)
    assert first_disagreement(pass_.trace) is None
    forward = next(event for event in pass_.trace.events if event["kind"] == "forward")
    code = pass_.trace.sources[forward["source"]]
    assert "cross_entropy(net(" in code["lines"][forward["line"] - code["first"]]


def test_it_is_saved_and_displayed(tmp_path):
    w = torch.ones(2, requires_grad=True)
    with watch() as pass_:
        (w * 3).sum().backward()
    pass_.save(tmp_path / "pass.html")
    pass_.save(tmp_path / "pass.json")
    assert (tmp_path / "pass.html").read_text("utf-8").startswith("<!")
    assert json.loads((tmp_path / "pass.json").read_text("utf-8"))["nodes"][0]["label"] == "w"
    assert pass_._repr_html_().startswith("<iframe")
    with watch() as nothing:
        pass
    with pytest.raises(RuntimeError, match="No backward pass"):
        nothing.trace  # noqa: B018


def test_complex_numbers_are_said_to_be_shown_by_their_sizes():
    with watch() as pass_:
        passes.complex_leaf()
    trace = load(pass_.trace.to_json())
    assert [node.get("sizes", False) for node in trace.nodes] == [True, True, True, False, False]
