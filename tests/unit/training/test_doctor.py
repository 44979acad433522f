"""Is the doctor right? Runs are really trained with one cause each, on small data, and their histories diagnosed."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from lab.training.config import Config
from lab.training.datasets import load
from lab.training.doctor import EARLY, FEWEST, HEALTHY, RULES, diagnose
from lab.training.trainer import Trainer, train


def history(seed, *, noise=0.0, noisy_validation=False, keep=None, weight_decay=0.0, bias=0.0, **settings):
    """Train for real. noise: the share of wrong labels; keep: how many training samples; bias: of hidden units."""
    config = Config(**{"hidden": (32, 32), "epochs": 15, **settings, "seed": seed})
    data = load(config.data, val_fraction=config.val_fraction, seed=seed)
    rng = np.random.default_rng(seed)

    def with_noise(labels):
        shift = rng.integers(1, len(data.classes), len(labels))
        return np.where(rng.random(len(labels)) < noise, (labels + shift) % len(data.classes), labels)

    val_y = with_noise(data.val_y) if noisy_validation else data.val_y
    data = replace(data, train_x=data.train_x[:keep], train_y=with_noise(data.train_y[:keep]), val_y=val_y)
    trainer = Trainer(config, data)
    trainer.optimizer.weight_decay = weight_decay
    for layer in trainer.model.layers[:-1]:
        layer.bias.data = layer.bias.numpy() + bias
    return list(train(config, trainer)), config


# The labelled runs, which take longest, are trained once: in the process that all tests of this file share.
pytestmark = pytest.mark.xdist_group("doctor")

SMALL = ("moons", "circles", "xor", "blobs", "spirals", "digits")
SGD = {"optimizer": "sgd"}
CAUSES = {
    "rate-high": [
        {"data": "moons", **SGD, "lr": 10.0, "activation": "tanh"},
        {"data": "digits", "lr": 0.1, "activation": "tanh"},
        {"data": "xor", **SGD, "lr": 8.0, "activation": "tanh"},
        {"data": "digits", **SGD, "lr": 5.0, "activation": "tanh"},
        {"data": "circles", "lr": 1.0, "activation": "tanh"},
        {"data": "digits", "lr": 0.1},
    ],
    "rate-low": [
        {"data": "moons", **SGD, "lr": 1e-4},
        {"data": "circles", **SGD, "lr": 1e-4},
        {"data": "digits", **SGD, "lr": 1e-4},
        {"data": "digits", "lr": 1e-6},
        {"data": "xor", "lr": 1e-5},
        {"data": "spirals", **SGD, "lr": 1e-4},
    ],
    "flat": [{"data": data, "init": "zeros", "lr": 0.01} for data in SMALL],
    "overflow": [
        {"data": "moons", **SGD, "lr": 300.0, "activation": "leaky_relu"},
        {"data": "xor", **SGD, "lr": 100.0, "activation": "leaky_relu"},
        {"data": "digits", **SGD, "lr": 100.0, "activation": "identity"},
        {"data": "circles", **SGD, "lr": 1000.0, "activation": "leaky_relu"},
        {"data": "spirals", **SGD, "lr": 300.0, "activation": "leaky_relu"},
        {"data": "digits", **SGD, "lr": 30.0, "momentum": 0.9, "activation": "leaky_relu"},
    ],
    "exploding": [
        {"data": "moons", "init": "normal", "hidden": (64, 64, 64)},
        {"data": "digits", "init": "normal", "hidden": (64, 64, 64)},
        {"data": "digits", "init": "normal", "hidden": (128, 128), **SGD, "lr": 1e-4},
        {"data": "spirals", "init": "normal", "hidden": (64, 64, 64, 64), **SGD, "lr": 1e-5},
        {"data": "circles", "init": "normal", "hidden": (64, 64, 64), **SGD, "lr": 1e-4},
        {"data": "blobs", "init": "normal", "hidden": (64, 64, 64)},
    ],
    "vanishing": [
        {"data": "moons", "hidden": (16,) * 6, "activation": "sigmoid", **SGD, "lr": 0.1},
        {"data": "digits", "hidden": (32,) * 6, "activation": "sigmoid", **SGD, "lr": 0.1},
        {"data": "spirals", "hidden": (16,) * 8, "activation": "sigmoid"},
        {"data": "circles", "hidden": (16,) * 8, "activation": "sigmoid", **SGD, "lr": 0.1},
        {"data": "xor", "hidden": (16,) * 6, "activation": "sigmoid", "lr": 0.003},
        {"data": "digits", "hidden": (32,) * 5, "activation": "sigmoid", **SGD, "lr": 0.05},
    ],
    "dying": [
        {"data": "moons", "bias": -3.0},
        {"data": "digits", "bias": -3.0},
        {"data": "xor", "bias": -2.0},
        {"data": "circles", "bias": -2.0},
        {"data": "blobs", "bias": -2.0, **SGD, "lr": 0.05},
        {"data": "digits", "lr": 0.3},
    ],
    "collapsed": [
        {"data": "moons", **SGD, "lr": 0.1, "weight_decay": 0.2},
        {"data": "digits", **SGD, "lr": 0.1, "weight_decay": 0.2},
        {"data": "digits", "weight_decay": 1.0},
        {"data": "spirals", **SGD, "lr": 0.1, "weight_decay": 0.2},
        {"data": "circles", **SGD, "lr": 0.1, "weight_decay": 0.5},
        {"data": "xor", **SGD, "lr": 0.1, "weight_decay": 0.1},
    ],
    "overfitting": [
        {"data": "digits", "keep": 60, "lr": 0.01, "epochs": 30},
        {"data": "digits", "keep": 100, "lr": 0.003, "epochs": 30},
        {"data": "digits", "keep": 80, "lr": 0.003, "epochs": 30, "activation": "tanh"},
        {"data": "spirals", "keep": 40, "lr": 0.01, "epochs": 60, "batch_size": 10},
        {"data": "digits", "keep": 40, "lr": 0.003, "epochs": 40},
        {"data": "spirals", "keep": 30, "lr": 0.01, "epochs": 60, "batch_size": 10},
    ],
    "noise": [
        {"data": "moons", "noise": 0.3, "lr": 0.005},
        {"data": "digits", "noise": 0.3, "lr": 0.005},
        {"data": "digits", "noise": 0.3, "noisy_validation": True, "lr": 0.005, "epochs": 30},
        {"data": "xor", "noise": 0.3, "lr": 0.005},
        {"data": "circles", "noise": 0.3, "lr": 0.005},
        {"data": "blobs", "noise": 0.3, "lr": 0.005},
    ],
}
WELL = [
    *({"data": data, "lr": 0.01} for data in SMALL),
    *({"data": data, **SGD, "lr": 0.1} for data in SMALL),
    {"data": "digits"},
    {"data": "digits", "hidden": (64,)},
    {"data": "digits", "activation": "tanh"},
    {"data": "digits", **SGD, "lr": 0.02, "momentum": 0.9},
    {"data": "moons", "hidden": (16,), "lr": 0.02},
    {"data": "blobs", "hidden": ()},
    {"data": "xor", "activation": "tanh", "lr": 0.01},
    {"data": "circles", "activation": "leaky_relu", "lr": 0.01, "batch_size": 64},
]
SEED = 100  # the thresholds were set while looking at seeds below this one


@pytest.fixture(scope="module")
def histories():
    """(cause, records, config) of every labelled run."""
    labelled = [(cause, settings) for cause, runs in CAUSES.items() for settings in runs]
    labelled += [("healthy", settings) for settings in WELL]
    return [(cause, *history(SEED + i, **settings)) for i, (cause, settings) in enumerate(labelled)]


def test_the_doctor_is_right_on_labelled_histories_and_raises_no_false_alarm(histories):
    verdicts = Counter((cause, diagnose(records, config)[0].key) for cause, records, config in histories)
    said = sorted({verdict for _, verdict in verdicts})
    print("\ncause \\ verdict ".ljust(19) + " ".join(f"{verdict[:9]:>9}" for verdict in said))
    for cause in (*CAUSES, "healthy"):
        print(cause.ljust(18) + " ".join(f"{verdicts[cause, verdict] or '.':>9}" for verdict in said))
    runs = sum(map(len, CAUSES.values()))
    right = sum(verdicts[cause, cause] for cause in CAUSES)
    print(f"{right} of {runs} causes named, {len(WELL) - verdicts['healthy', 'healthy']} of {len(WELL)} false alarms")
    assert runs >= 60
    assert len(WELL) >= 20
    assert right >= 57
    assert verdicts["healthy", "healthy"] == len(WELL)


def test_a_run_can_be_diagnosed_after_any_epoch(histories):
    for cause, records, config in histories:
        for count in range(1, len(records)):
            findings = diagnose(records[:count], config)
            assert findings
            if cause == "healthy" and count >= 8:
                assert findings[0].key == "healthy", f"{count} epochs: {findings[0]}"
            if count < FEWEST and cause == "healthy":
                assert findings[0].key in ("early", "overfitting", "vanishing", "exploding")


def test_every_finding_has_numbers_an_epoch_of_the_run_and_a_remedy(histories):
    instruments = {"loss", "gap", "norms", "updates", "histogram", "dead units"}
    for _, records, config in histories:
        for finding in diagnose(records, config):
            assert all(any(c.isdigit() for c in sentence) for sentence in finding.evidence)
            assert all(sentence.endswith(".") and "nan" not in sentence for sentence in finding.evidence)
            assert 1 <= finding.epoch <= len(records) + 1
            assert finding.instrument in instruments
            assert finding.remedy.endswith(".")
            assert str(finding).startswith(finding.name)


def test_nothing_to_diagnose():
    with pytest.raises(ValueError, match="at least one epoch"):
        diagnose([], Config())


def record(epoch, loss=0.5, train=0.9, val=0.88, **more):
    return {
        "epoch": epoch, "train_loss": loss, "val_loss": loss, "train_accuracy": train, "val_accuracy": val,
        "gap": train - val, "grad_norm": {"layer1": 0.5, "layer2": 0.5, "layer3": 0.5}, **more,
    }  # fmt: skip


def test_a_few_healthy_epochs_are_too_early_to_tell():
    assert [f.key for f in diagnose([record(1), record(2, 0.4)], Config())] == [EARLY.key]
    falling = [record(epoch, 1 / epoch, 0.95, 0.94) for epoch in range(1, FEWEST + 1)]
    assert [f.key for f in diagnose(falling, Config())] == [HEALTHY.key]


def test_records_without_the_optional_instruments_are_enough():
    records = [record(epoch, 0.4 + 0.3 * (epoch % 2)) for epoch in range(1, 8)]
    finding = diagnose(records, Config())[0]
    assert finding.key == "rate-high"
    assert "3 of 6 epochs" in finding.evidence[0]


def test_a_loss_that_is_no_number_is_named_with_its_epoch_and_the_loss_before():
    records = [record(1, 2.5), record(2, 40.0), record(3, None, diverged=True)]
    finding = diagnose(records, Config())[0]
    assert finding.key == "overflow"
    assert finding.epoch == 3
    assert "40" in finding.evidence[0]


def test_a_norm_that_is_no_number_is_left_out():
    wild = {"layer1": None, "layer2": 0.5, "layer3": 120.0}
    assert diagnose([record(1, grad_norm=wild)], Config())[0].key == "exploding"


def test_the_gap_has_to_stay_open():
    widening = [record(e, 1 / e, 0.6 + 0.04 * e, 0.62 + 0.01 * e) for e in range(1, 11)]
    assert diagnose(widening, Config())[0].key == "overfitting"
    closing = [record(e, 1 / e, 0.95, 0.75 + 0.02 * e) for e in range(1, 11)]
    assert diagnose(closing, Config())[0].key == "healthy"


def test_the_table_of_rules_is_complete():
    assert set(CAUSES) <= {rule.key for rule in RULES}
    for rule in (*RULES, HEALTHY, EARLY):
        assert rule.name
        assert rule.remedy
