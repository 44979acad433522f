"""The record of an epoch: what a trainer gives is one, and what lacks or garbles anything is none."""

import json
from dataclasses import replace

import numpy as np
import pytest

from lab.text import percent_text
from lab.training.config import Config
from lab.training.datasets import from_table
from lab.training.live import LiveRun
from lab.training.records import (
    BULKY,
    FIELDS,
    Curve,
    Measured,
    best_text,
    column,
    ending,
    is_record,
    r_squared,
    score,
    slim,
)
from train import Trainer, train

MOONS = Config(data="moons", hidden=(5, 4), epochs=2, batch_size=200)
RUNS = {
    "usual": MOONS,
    "clipped": replace(MOONS, clip=0.01, activation="tanh"),
    "no hidden layer": replace(MOONS, hidden=()),
    "zeros": replace(MOONS, init="zeros"),
    "diverged in the first batches": replace(MOONS, optimizer="sgd", lr=1e30),
    "weights that are nan": replace(MOONS, lr=1e300),
    "a loss of billions": replace(MOONS, optimizer="sgd", lr=1e6, activation="identity", epochs=3),
}


def test_the_mean_of_the_training_samples_has_an_r_squared_of_0_on_either_part():
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal():.3f},{rng.normal():.3f},{rng.standard_t(2):.4f}" for _ in range(200)]
    trainer = Trainer(Config(data="csv:t.csv", hidden=(2,), epochs=1), from_table("\n".join(["a,b,y", *rows]), "t.csv"))
    origin = trainer.origin
    assert abs(origin["baseline_val_loss"] - 1) > 0.1  # the validation samples vary more, or less
    for parameter in trainer.model.parameters():
        parameter.data = np.zeros_like(parameter.data)  # it answers 0, the mean
    mean = {**trainer.measure(), "origin": origin}
    assert score(mean, "train") == pytest.approx(0, abs=1e-5)
    assert score(mean, "val") == pytest.approx(0, abs=1e-5)
    (record,) = train(trainer.config, trainer)
    assert score(record, "val") == 1 - record["val_loss"] / origin["baseline_val_loss"]
    assert r_squared(None, 1.0) == r_squared(0.5, 0.0) == -np.inf
    assert score({**record, "origin": origin | {"baseline_val_loss": 0.0}}, "val") == -np.inf


def test_an_accuracy_is_never_rounded_up_to_all():
    assert [percent_text(share) for share in (0.974, 0.9953, 0.99996, 1.0)] == ["97%", "99.5%", "99.996%", "100%"]
    assert [percent_text(share, 1) for share in (0.9953, 0.9996, 1.0)] == ["99.5%", "99.96%", "100.0%"]
    assert percent_text(None) == percent_text(float("nan")) == "not a number"
    records = list(train(MOONS))
    records[-1] |= {"val_accuracy": 0.9996}
    assert best_text(records, MOONS) == "best validation accuracy 99.96%"


def written_and_read(record):
    return json.loads(json.dumps(record, allow_nan=False))


@pytest.mark.parametrize("config", RUNS.values(), ids=RUNS)
def test_what_a_trainer_gives_is_a_record_before_and_after_it_was_in_a_file(config):
    records = list(train(config))
    for epoch, record in enumerate(records, start=1):
        assert is_record(record, epoch, config.layer_names)
        assert written_and_read(record) == record
        assert is_record(written_and_read(record), epoch, config.layer_names)
        assert not is_record(record, epoch + 1, config.layer_names)
        assert not is_record(record, epoch, [*config.layer_names, "one more"])
        assert record.keys() == FIELDS
    assert ending(config, records) == ("diverged" if records[-1]["diverged"] else "trained")


def test_the_state_before_the_training_is_the_first_part_of_a_record():
    run = LiveRun(MOONS)
    assert run.history[0].keys() == {*Measured.__annotations__, "origin"}
    assert run.history[0]["epoch"] == 0


@pytest.fixture(scope="module")
def last():
    return list(train(MOONS))[-1]


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_every_field_counts(last, name):
    def holds(value):
        return is_record(last | {name: value}, 2, MOONS.layer_names)

    assert holds(last[name])
    assert not is_record({key: value for key, value in last.items() if key != name}, 2, MOONS.layer_names)
    if isinstance(last[name], dict) and "layer1" in last[name]:
        layers = list(last[name])
        assert not holds({layer: last[name][layer] for layer in layers[:-1]})
        assert not holds(None)


def test_a_slim_record_is_one_where_histograms_do_not_count(last):
    (thin,) = slim([last])
    assert last.keys() - thin.keys() == BULKY
    assert is_record(thin, 2, MOONS.layer_names, histograms=False)
    assert not is_record(thin, 2, MOONS.layer_names)
    assert len(json.dumps(thin)) < 0.3 * len(json.dumps(last))


@pytest.mark.parametrize("name", Curve.__args__)
def test_a_column_has_nan_for_what_is_no_number(name):
    records = [record | {name: None if record["epoch"] == 2 else 0.5} for record in train(MOONS)]
    np.testing.assert_array_equal(column(records, name), [0.5, np.nan])


def test_whatever_is_gathered_over_an_epoch_is_saved_and_restored():
    """A quantity that is new needs no line in `state` or `load_state`."""
    trainer = Trainer(MOONS)
    trainer.stats.a_new_quantity = np.arange(3)
    saved = trainer.state()
    trainer.stats.a_new_quantity[:] = 7
    trainer.load_state(saved)
    assert trainer.stats.a_new_quantity.tolist() == saved["a_new_quantity"].tolist() == [0, 1, 2]
