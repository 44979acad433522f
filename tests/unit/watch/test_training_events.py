"""The sequence of events of a training loop: what is one event, what is kept, and what is found again."""

import pytest

torch = pytest.importorskip("torch")

from lab.watch.records import Leaf, WatchedOptimizer  # noqa: E402
from lab.watch.sites import NOWHERE, Site  # noqa: E402
from lab.watch.training_events import MAX_EVENTS, MAX_SETS, Act, EventLog, TrainingEvent  # noqa: E402


def event(act, line=1, leaves=(7,), opt=None):
    return TrainingEvent(act, Site("script.py", line), {*leaves}, 1, 0, 0, False, opt=opt)


def test_one_line_that_clears_leaf_by_leaf_is_one_event():
    log = EventLog()
    for one in (event(Act.CLEAR, 3, [7]), event(Act.CLEAR, 3, [8]), event(Act.CLEAR, 4, [9]), event(Act.STEP, 4, [9])):
        log.add(one)
    assert [(one.act, one.touched) for one in log] == [(Act.CLEAR, {7, 8}), (Act.CLEAR, {9}), (Act.STEP, {9})]


def test_the_last_event_is_found_by_kind_leaf_and_optimizer():
    log, tensor, other = EventLog(), torch.ones(1), torch.ones(1)
    leaf, opt = Leaf(lambda: tensor, NOWHERE, ()), WatchedOptimizer(lambda: None, NOWHERE, "SGD")
    log.add(event(Act.BACKWARD, 1, [id(tensor)]))
    log.add(event(Act.STEP, 2, [id(tensor)], opt=opt))
    log.add(event(Act.BACKWARD, 3, [id(other)]))
    log.add(event(Act.STEP, 4))
    assert log.last(Act.BACKWARD, of=leaf).site.line == 1
    assert log.last(Act.STEP, opt=opt).site.line == 2
    assert log.last(Act.ZERO_GRAD) is None
    assert [one.site.line for one in log.passes_since_step(opt)] == [3]


def test_what_touched_another_leaf_of_the_same_id_is_not_found():
    log, tensor = EventLog(), torch.ones(1)
    log.add(event(Act.BACKWARD, 1, [id(tensor)]))
    assert log.last(Act.BACKWARD, of=Leaf(lambda: tensor, NOWHERE, ())) is None


def test_a_long_run_keeps_its_first_and_its_last_events():
    log = EventLog()
    for line in range(MAX_EVENTS + 50):
        log.add(event(Act.STEP, line))
    assert (len(log), log[0].site.line, log[-1].site.line) == (MAX_EVENTS, 0, MAX_EVENTS + 49)


def test_events_that_touched_the_same_leaves_share_one_set():
    log = EventLog()
    assert log.shared(frozenset([7, 8])) is log.shared(frozenset([8, 7]))
    sets = [log.shared(frozenset([number])) for number in range(2 * MAX_SETS)]
    assert len(sets) > len(log.sets)
