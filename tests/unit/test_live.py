"""A watched run: it is the command line's run, it goes back exactly, and what it keeps is bounded."""

import pytest

from lab.live import LiveRun
from train import Config, train

CONFIG = Config(data="moons", hidden=(8,), lr=0.01, epochs=6, batch_size=64)


def without_time(records):
    return [{key: value for key, value in record.items() if key != "seconds"} for record in records]


def test_it_is_the_run_of_the_command_line():
    run = LiveRun(CONFIG)
    while not run.done:
        run.advance(0.005)
    assert without_time(run.records) == without_time(train(CONFIG))
    assert run.progress == 1
    assert len(run.batch_losses) == 6 * run.trainer.steps_per_epoch


def test_a_step_is_one_batch():
    run = LiveRun(CONFIG)
    run.step()
    assert (run.trainer.epoch, run.trainer.batch, len(run.batch_losses)) == (0, 1, 1)
    run.advance(seconds=60, batches=3)
    assert run.trainer.batch == 4


def test_advance_takes_about_the_time_it_is_given_and_one_batch_at_least():
    run = LiveRun(CONFIG)
    run.advance(0.0)
    assert len(run.batch_losses) == 1


@pytest.mark.parametrize("epoch", [0, 1, 4])
def test_going_back_and_on_again_gives_the_same_numbers(epoch):
    run = LiveRun(CONFIG)
    run.advance(seconds=60)
    records, losses = without_time(run.records), list(run.batch_losses)
    run.rewind(epoch)
    assert without_time(run.records) == records[:epoch]
    run.step()
    run.advance(seconds=60)
    assert without_time(run.records) == records
    assert run.batch_losses == losses


def test_going_back_from_the_middle_of_an_epoch():
    run = LiveRun(CONFIG)
    run.advance(seconds=60, batches=3 * run.trainer.steps_per_epoch + 2)
    run.rewind(3)
    assert (run.trainer.epoch, run.trainer.batch) == (3, 0)
    assert len(run.batch_losses) == 3 * run.trainer.steps_per_epoch


def test_what_it_keeps_is_bounded_and_the_rest_can_be_reached_from_before():
    one_state = sum(array.nbytes for array in LiveRun(CONFIG).trainer.state().values())
    run = LiveRun(CONFIG, state_bytes=3 * one_state)
    run.advance(seconds=60)
    kept = {run.kept_epoch(epoch) for epoch in range(7)}
    assert 0 in kept
    assert 6 in kept
    assert len(kept) <= 3
    assert run.kept_epoch(5) < 5
