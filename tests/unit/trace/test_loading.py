"""A trace from a file: what was saved comes back, and nothing else gets in."""

import copy
import json

import numpy as np
import pytest

from lab.trace import loading, record
from lab.trace.derivation import derive
from lab.trace.export import playable, standalone
from lab.trace.loading import LoadError, load
from lab.watch import watch
from model import Tensor, cross_entropy
from nn import MLP

X = np.array([[1.0, 2.0], [3.0, -1.0]])


def saved():
    net = MLP([2, 3, 2], "tanh", rng=0)
    w = Tensor(np.arange(100.0).reshape(10, 10), label="w")
    with watch() as pass_:
        (cross_entropy(net(X), [0, 1]) + (w * w).mean()).backward()
    return pass_.trace


def test_what_was_saved_comes_back():
    for trace in (saved(), record(lambda a, b: (a / b).log().sum(), {"a": [1.0, 0.0], "b": [2.0, 0.0]})):
        loaded = load(trace.to_json())
        for node, wanted in zip(loaded.nodes, trace.nodes, strict=True):
            assert repr(node["value"]) == repr(wanted["value"])
            assert [node[key] for key in ("op", "label", "children", "shape")] == [
                wanted[key] for key in ("op", "label", "children", "shape")
            ]
            assert node.get("large") == wanted.get("large")
            for one in (node, wanted):  # of other operations a file does not tell the kind
                one["elementwise"] = one.get("kind") == "elementwise" and one["symbol"]
            assert node["elementwise"] == wanted["elementwise"]
        assert [repr(sorted(event.items())) for event in loaded.events] == [
            repr(sorted(event.items())) for event in trace.events
        ]
        assert loaded.sources == trace.sources
        assert {name: repr(gradient) for name, gradient in loaded.gradients.items()} == {
            name: repr(gradient) for name, gradient in trace.gradients.items()
        }
        assert len(derive(loaded)) == len(playable(loaded)["nodes"])
        assert standalone(loaded)


def broken():
    """Files that are almost right."""
    parts = json.loads(saved().to_json())
    accumulation = next(i for i, event in enumerate(parts["events"]) if event["kind"] == "accumulate")
    operation = next(i for i, node in enumerate(parts["nodes"]) if node["op"])
    changes = {
        "no list of nodes": lambda p: p.update(nodes=3),
        "no output": lambda p: p.update(output=len(p["nodes"])),
        "a truth as a number": lambda p: p.update(output=True),
        "a later operand": lambda p: p["nodes"][operation].update(children=[len(p["nodes"]) - 1]),
        "another shape": lambda p: p["nodes"][0].update(shape=[7]),
        "ragged": lambda p: p["nodes"][0].update(value=[[1.0], [1.0, 2.0]]),
        "words for numbers": lambda p: p["nodes"][0].update(value="alert(1)"),
        "deep": lambda p: p["nodes"][0].update(value=json.loads("[" * 500 + "]" * 500)),
        "a long name": lambda p: p["nodes"][0].update(label="x" * 1000),
        "a name that is a list": lambda p: p["nodes"][0].update(label=["x"]),
        "no such source": lambda p: p["nodes"][operation].update(source="nowhere"),
        "an event of no kind": lambda p: p["events"][0].update(kind="eval"),
        "an accumulation alone": lambda p: p["events"].pop(accumulation - 1),
        "a message alone": lambda p: p["events"].pop(accumulation),
        "a message to another": lambda p: p["events"][accumulation - 1].update(child=10**6),
        "a gradient of another shape": lambda p: p["events"][accumulation].update(after=[1.0, 2.0, 3.0]),
    }
    for name, change in changes.items():
        changed = copy.deepcopy(parts)
        change(changed)
        yield pytest.param(json.dumps(changed), id=name)


@pytest.mark.parametrize("file", [*broken(), "", "[]", "null", "<html>", "[" * 100_000, b"\xff\xfe", '{"nodes": []}'])
def test_nothing_else_gets_in(file):
    with pytest.raises(LoadError, match="This file holds no recorded pass"):
        load(file)


def test_unknown_keys_stay_outside():
    parts = json.loads(saved().to_json())
    parts["nodes"][0]["extra"] = parts["extra"] = "<script>"
    loaded = load(json.dumps(parts))
    assert "extra" not in loaded.nodes[0]
    assert "<script>" not in json.dumps(playable(loaded))


@pytest.mark.parametrize("limit", ["MAX_BYTES", "MAX_NODES", "MAX_EVENTS", "MAX_NUMBERS", "MAX_LINES"])
def test_limits(limit, monkeypatch):
    monkeypatch.setattr(loading, limit, 1)
    with pytest.raises(LoadError, match=r"larger than|more than"):
        load(saved().to_json())
