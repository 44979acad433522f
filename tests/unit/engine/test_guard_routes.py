"""Every way to write to a tensor, on every operand and on the result of every operation: right, refused, never silent.

The walk goes over the operations of op_table.py, so a new operation is walked without a line here. With the guard
switched off the same walk finds wrong gradients that nobody mentions: that is the trap, and it shows that the walk sees
what it looks for.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from op_table import CASES

from lab.traps import detect_mutation
from model import (
    _CAPTURED,
    MLP,
    SGD,
    Adam,
    MutationError,
    Tensor,
    allow_mutation,
    cross_entropy,
    no_grad,
    topological_order,
)


@dataclass(frozen=True)
class Route:
    """`prepare` runs before the operation (on its result: right after it), `write` between the two passes."""

    write: Callable[[Tensor, Any], Any]
    prepare: Callable[[Tensor], Any] = lambda t: None
    harmless: bool = False  # it writes to a copy: an error would be a false alarm


def augmented(t, _):
    t.data += 1.0


def step(make):
    def write(t, _):
        t.grad = np.ones(t.shape, t.dtype)  # what the batch before has left
        make([t]).step()
        t.grad = None

    return write


def add(t, array):
    array += 1.0


ROUTES = {
    "augmented assignment": Route(augmented),
    "item assignment": Route(lambda t, _: t.data.__setitem__(..., -3.0)),
    "one element": Route(lambda t, _: t.data.__setitem__((0,) * t.ndim, -3.0)),
    "out=": Route(lambda t, _: np.subtract(t.data, 9.0, out=t.data)),
    "a view taken after": Route(lambda t, _: t.data.reshape(-1)[:1].fill(-3.0)),
    "a view taken before": Route(add, lambda t: t.data.reshape(-1)[:1]),
    "another name, taken after": Route(lambda t, _: add(t, t.data)),
    "another name, taken before": Route(add, lambda t: t.data),
    "assignment to .data": Route(lambda t, _: setattr(t, "data", np.full(t.shape, -3.0))),
    "a detached tensor": Route(lambda t, detached: augmented(detached, None), lambda t: t.detach()),
    "an SGD step": Route(step(lambda p: SGD(p, lr=0.5))),
    "an Adam step": Route(step(lambda p: Adam(p, lr=0.5))),
    "an SGD step on an array handed out before": Route(step(lambda p: SGD(p, lr=0.5)), lambda t: t.data),
    "a copy by numpy(), taken before": Route(add, lambda t: t.numpy(), harmless=True),
    "a copy by numpy(), taken after": Route(lambda t, _: add(t, t.numpy()), harmless=True),
    "the array that the tensor was made from": Route(add, lambda t: t.source, harmless=True),
}


class Sourced(Tensor):
    """A leaf that remembers the array that it was made from."""

    __slots__ = ("source",)


def test_arrays_in_closures_are_called_what_the_guard_takes_them_for():
    """The guard finds the values that a closure captured by the names of its variables."""
    seen = set()
    for case in CASES:
        for node in topological_order(case.call([Tensor(array) for array in case.inputs])):
            tensors, closure = (node, *node._children), node._backward
            cells = zip(closure.__code__.co_freevars, closure.__closure__, strict=True) if closure else ()
            for name, cell in cells:
                if isinstance(cell.cell_contents, np.ndarray | np.generic):
                    owners = [i for i, tensor in enumerate(tensors) if tensor._values is cell.cell_contents]
                    expected = _CAPTURED.get(name)
                    assert expected in owners if name in _CAPTURED else not any(owners), (case.id, name)
                    seen.add(name)
    assert seen > {*_CAPTURED}


@pytest.mark.parametrize("op", ["*", "@"])
def test_a_write_to_what_only_a_constant_would_read_is_no_false_alarm(op):
    constant = Tensor(np.full((2, 2), 3.0), requires_grad=False)
    for first, second in ((w := Tensor(np.ones((2, 2))), constant), (constant, w)):
        result = first * second if op == "*" else first @ second
        w.data += 1.0
        w.zero_grad()
        result.backward(np.ones((2, 2)))
        assert (w.grad == (3.0 if op == "*" else 6.0)).all()


def leaf(array, label, tensor=Sourced):
    source = np.array(array)
    made = tensor(source, label=label)
    made.source = source
    return made


def gradients(case):
    leaves = [Tensor(array) for array in case.inputs]
    output = case.call(leaves)
    output.backward(np.ones(output.shape))
    return [leaf.grad for leaf in leaves]


def outcome(case, route, target, right, tensor=Sourced):
    """ "right", "refused" or "silent": what comes of a write to operand `target`, or to the result (None)."""
    leaves = [leaf(array, "abc"[i % 3], tensor) for i, array in enumerate(case.inputs)]
    handle = None if target is None else route.prepare(leaves[target])
    output = case.call(leaves)
    result = output * 1.0  # so that the result is an operand, too
    if target is None:
        output.source = output.numpy()
        handle = route.prepare(output)
    try:
        route.write(output if target is None else leaves[target], handle)
    except (ValueError, TypeError) as error:
        # the guard is off, and the array is a broadcast one that NumPy protects itself; or an optimizer of a result
        if not any(reason in str(error) for reason in ("read-only", "results of operations are none")):
            raise
        return "refused"
    try:
        result.backward(np.ones(result.shape))
    except MutationError:
        assert all(leaf.grad is None for leaf in leaves), "a refused pass has left a gradient behind"
        return "refused"
    same = all(np.array_equal(leaf.grad, g, equal_nan=True) for leaf, g in zip(leaves, right, strict=True))
    return "right" if same else "silent"


def arrays(case):
    return [*case.inputs, case.call([Tensor(array) for array in case.inputs]).numpy()]


def cases_of(op):
    """Two cases of the operation: a small one and a large one, of those that have elements."""
    cases = sorted(
        (case for case in CASES if case.op == op and all(a.size for a in arrays(case))), key=lambda c: c.size
    )
    return {cases[len(cases) // 4].id: cases[len(cases) // 4], cases[-1].id: cases[-1]}.values()


def walk(op, mode=nullcontext):
    """(route, outcome) -> how often, over the cases of an operation and everything that can be written to."""
    counts = Counter()
    for case in cases_of(op):
        right = gradients(case)
        for name, route in ROUTES.items():
            for target in (*range(len(case.inputs)), None):
                with mode() as tensor:
                    counts[name, outcome(case, route, target, right, tensor or Sourced)] += 1
    return counts


OPS = list(dict.fromkeys(case.op for case in CASES))


def refused_copies(counts):
    return [name for (name, what) in counts if what == "refused" and ROUTES[name].harmless]


def test_with_the_guard_no_route_is_silent_for_any_operation_and_no_copy_is_refused():
    total = Counter()
    for op in OPS:
        counts = walk(op)
        assert not [name for name, what in counts if what == "silent"], op
        assert not refused_copies(counts), op
        total += counts
    print(f"\n{'route':<42}   right  refused  silent")
    for name in ROUTES:
        print(f"{name:<42}" + "".join(f"{total[name, what]:>8}" for what in ("right", "refused", "silent")))
        assert ROUTES[name].harmless or total[name, "refused"], f"{name} is never refused: does it write at all?"
    print(f"{sum(total.values())} writes over {len(OPS)} operations")


def test_the_thorough_guard_is_silent_for_none_of_them_either():
    for op in OPS:
        counts = walk(op, lambda: detect_mutation(Sourced))
        assert not [name for name, what in counts if what == "silent"], op
        assert not refused_copies(counts), op


def test_without_the_guard_the_same_walk_finds_silent_wrong_gradients():
    total = sum((walk(op, allow_mutation) for op in OPS), Counter())
    # as the docstring of MutationError says: writing through `.data` spoils gradients, replacing the array does not
    spared = {"assignment to .data", "an SGD step", "an Adam step"}
    assert {name for name, what in total if what == "silent"} == {
        name for name, route in ROUTES.items() if not route.harmless and name not in spared
    }


# -- no false alarms


@pytest.fixture
def network():
    rng = np.random.default_rng(0)
    net = MLP([3, 8, 2], rng=0)
    x, labels = rng.normal(size=(12, 3)), rng.integers(0, 2, 12)
    return net, x, labels


def test_an_ordinary_training_loop_is_never_refused(network):
    """Graphs that are dropped, validation between steps, values that are read, two optimizers, shared parameters."""
    net, x, labels = network
    other = MLP([3, 8, 2], rng=1)
    other.layers[0].weight = net.layers[0].weight  # shared by two networks
    optimizers = [SGD(net.parameters(), lr=0.1, momentum=0.9), Adam(other.parameters(), lr=0.01)]
    losses = []
    for _ in range(5):
        for model, optimizer in zip((net, other), optimizers, strict=True):
            model(x).sum()  # a forward pass whose graph is dropped
            with no_grad():
                cross_entropy(model(x), labels)
            cross_entropy(model(x), labels)  # validation that recorded a graph nobody uses
            model.zero_grad()
            loss = cross_entropy(model(x), labels)
            for parameter in model.parameters():
                parameter.data.sum(), parameter.numpy()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_a_retained_graph_may_be_gone_through_again_until_something_is_written(network):
    net, x, labels = network
    loss = cross_entropy(net(x), labels)
    loss.backward(retain_graph=True)
    first = net.layers[0].weight.grad.copy()
    loss.backward(retain_graph=True)
    np.testing.assert_allclose(net.layers[0].weight.grad, 2 * first)
    SGD(net.parameters(), lr=0.1).step()
    with pytest.raises(MutationError):
        loss.backward()


def test_an_exception_in_the_middle_of_a_forward_pass_leaves_nothing_locked(network):
    net, x, labels = network
    with pytest.raises(ValueError, match="cannot"):
        net(x) + Tensor(np.ones(5))
    net.layers[0].weight.data += 0.1  # nothing that is alive needs the old values
    cross_entropy(net(x), labels).backward()
    assert np.isfinite(net.layers[0].weight.grad).all()


def test_an_exception_inside_a_guard_block_restores_the_mode():
    for block in (allow_mutation, no_grad):
        with pytest.raises(KeyError), block():
            raise KeyError
    x = Tensor([1.0, 2.0], label="x")
    y = x * x
    x.data += 1.0
    with pytest.raises(MutationError):
        y.backward(np.ones(2))
