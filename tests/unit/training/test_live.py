"""A watched run: it is the command line's run, it goes back exactly, what it keeps is bounded, and it stops in time."""

import numpy as np
import pytest

from lab.training.config import Config
from lab.training.live import LiveRun
from train import train

CONFIG = Config(data="moons", hidden=(8,), lr=0.01, epochs=6, batch_size=64)
LONG = Config(data="moons", hidden=(8,), lr=0.01, epochs=100_000)
ALL = None


def without_time(records):
    return [{key: value for key, value in record.items() if key != "seconds"} for record in records]


def test_it_is_the_run_of_the_command_line():
    run = LiveRun(CONFIG)
    while not run.done:
        run.advance(7)
    assert without_time(run.records) == without_time(train(CONFIG))
    assert run.reached == 6
    assert len(run.losses()) == run.batches == 6 * run.trainer.steps_per_epoch


def test_its_history_begins_before_the_training():
    run = LiveRun(CONFIG)
    first = run.history[0]
    assert first["epoch"] == 0
    assert first["train_loss"] == pytest.approx(run.trainer.measure()["train_loss"])
    run.advance(3)
    assert run.history == [first]
    assert run.trainer.measure()["val_loss"] != first["val_loss"]


@pytest.mark.parametrize("epoch", [0, 1, 4])
def test_going_back_and_on_again_gives_the_same_numbers(epoch):
    run = LiveRun(CONFIG)
    run.advance(ALL)
    records, losses = without_time(run.records), run.losses().tolist()
    run.rewind(epoch)
    assert without_time(run.records) == records[:epoch]
    run.advance()
    run.advance(ALL)
    assert without_time(run.records) == records
    assert run.losses().tolist() == losses


def test_going_back_from_the_middle_of_an_epoch():
    run = LiveRun(CONFIG)
    run.advance(3 * run.trainer.steps_per_epoch + 2)
    run.rewind(3)
    assert (run.trainer.epoch, run.trainer.batch) == (3, 0)
    assert run.batches == 3 * run.trainer.steps_per_epoch


@pytest.mark.parametrize("states", [3, 4, 7, 100])
def test_what_it_keeps_is_bounded_and_spread_evenly(states):
    config = Config(data="moons", hidden=(8,), epochs=40, batch_size=800)
    one = sum(array.nbytes for array in LiveRun(config).trainer.state().values())
    run = LiveRun(config, state_bytes=states * one)
    run.advance(ALL)
    kept = sorted({run.kept_epoch(epoch) for epoch in range(41)})
    assert len(kept) <= states
    assert len(kept) >= min(states // 2, 40)
    assert kept[0] == 0
    assert kept[-1] == 40
    assert len(set(np.diff(kept[:-1]).tolist())) <= 1


def test_the_network_of_an_epoch_is_a_copy():
    run = LiveRun(CONFIG)
    initial = run.network()
    run.advance(ALL)
    assert np.array_equal(run.network(0).layers[0].weight.numpy(), initial.layers[0].weight.numpy())
    assert np.array_equal(run.network(6).layers[1].bias.numpy(), run.trainer.model.layers[1].bias.numpy())
    run.network().layers[0].weight.data[...] = 0
    assert run.trainer.model.layers[0].weight.numpy().any()
