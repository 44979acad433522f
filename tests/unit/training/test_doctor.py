"""Is the doctor right, after every epoch? Runs are really trained with one cause each, and remedies really tried."""

import re
from dataclasses import fields, replace

import numpy as np
import pytest

from benchmarks.labelled_runs import BETTER, CAUSES, FIRST, HELD_OUT, labelled, score, trained
from lab.training.config import SETTINGS, Config
from lab.training.datasets import from_table
from lab.training.doctor import MAX_REMARKS, REMARKS, TABLE, WELL, diagnose, rung
from lab.training.figures import WINDOW
from lab.training.lessons import LESSONS
from lab.training.trial import try_in_turn
from train import Trainer, train

# The labelled runs, which take longest, are trained once: in the process that all tests of this file share.
pytestmark = pytest.mark.xdist_group("doctor")

ORIGIN = {
    "train_loss": 0.7, "classes": 2, "baseline_train_loss": 0.69, "baseline_val_loss": 0.69,
    "baseline_train_accuracy": 0.5, "baseline_val_accuracy": 0.5, "val_samples": 100,
}  # read by rows  # fmt: skip
LESSON_EPOCHS = 30  # of the lessons, at most: what they show is plain by then


@pytest.fixture(scope="module")
def runs():
    """A quarter of the labelled runs; `python benchmarks/doctor.py` reads all of them, on two sets of seeds."""
    return list(labelled(HELD_OUT, every=4))


@pytest.fixture(scope="module")
def lessons():
    """Name -> (config, records) of every lesson."""
    configs = {name: lesson.config for name, lesson in LESSONS.items()}
    shorter = {name: replace(config, epochs=min(config.epochs, LESSON_EPOCHS)) for name, config in configs.items()}
    return {name: (config, list(train(config))) for name, config in shorter.items()}


def test_the_doctor_is_right_by_the_time_the_evidence_is_there_and_raises_no_false_alarm(runs):
    result = score(runs)
    print(f"\n{result}")
    assert result.ill >= 20
    assert result.healthy >= 150
    assert result.in_time >= 0.95 * result.ill
    assert result.right_later >= 0.9 * result.later
    assert result.false <= 0.01 * result.healthy


def test_a_finding_after_any_epoch_has_numbers_an_epoch_of_the_run_and_a_remedy_that_can_be_chosen(runs):
    for run in runs:
        for count in {*range(1, len(run.records), 4), len(run.records)}:
            found = diagnose(run.records[:count], run.config)
            keys = [finding.key for finding in found]
            assert len(set(keys)) == len(keys)
            for finding in found:
                assert all(any(c.isdigit() for c in sentence) for sentence in finding.evidence)
                assert all(sentence.endswith(".") and "nan" not in sentence for sentence in finding.evidence)
                assert 1 <= finding.epoch <= count
                assert finding.remedy.endswith(".")
                named = set(finding.settings).intersection(finding.remedy.split())  # by their labels on the page
                assert all(name in SETTINGS[name].label.lower().split() for name in named)
                assert str(finding).startswith(finding.name)
                tried = replace(run.config, **finding.settings)  # raises ConfigError for what cannot be chosen
                changed = {f.name for f in fields(Config) if getattr(tried, f.name) != getattr(run.config, f.name)}
                assert changed <= set(finding.settings)
                assert bool(changed) == bool(finding.settings)


CLAIMS = {  # what a sentence says of its numbers -> whether they bear it out
    r" is (\S+); it usually lies between (\S+) and (\S+)\.$": lambda value, low, high: not low <= value <= high,
    r"under a fiftieth of the last layer's gradient, lastly (\S+) against (\S+)\.$": lambda one, last: one < last / 49,
    r"^The learning rate is (\S+), (\S+) times what is usual\.$": lambda rate, times: times >= 10,
    r"falls from (\S+) to (\S+) in": lambda first, last: last < first,
    r"climbs from its first value, (\S+), to (\S+)\.$": lambda first, last: last > first,
    r"was lowest, (\S+); in epoch \d+ it is (\S+)\. ": lambda lowest, last: last >= lowest,
}


def test_the_numbers_of_a_sentence_bear_it_out(runs, lessons):
    told = set()
    for config, records in [*((run.config, run.records) for run in runs), *lessons.values()]:
        for count in {*range(1, len(records), 4), len(records)}:
            for sentence in (each for finding in diagnose(records[:count], config) for each in finding.evidence):
                assert not re.search(r"layer\d", sentence), sentence  # the page writes "layer 1"
                for claim, holds in CLAIMS.items():
                    if said := re.search(claim, sentence):
                        told.add(claim)
                        assert holds(*(float(number.replace("−", "-")) for number in said.groups())), sentence
    assert len(told) >= 5


def test_the_first_row_that_fits_is_the_verdict_and_others_are_remarks(runs):
    for run in runs:
        found = diagnose(run.records, run.config)
        assert 1 <= len(found) <= 1 + MAX_REMARKS
        assert found[0].key not in REMARKS
        assert not any(remark.well for remark in found[1:])
        order = [row.key for row in TABLE]
        assert sorted(found, key=lambda finding: order.index(finding.key)) == found
        assert [finding.grade for finding in found] == [
            "seen" if finding.key in WELL | REMARKS else "suspected" for finding in found
        ]


def test_all_weights_zero_is_one_cause_without_contradicting_itself(lessons):
    config, records = lessons["All weights zero"]
    finding, *_ = diagnose(records, config)
    assert finding.key == "flat"
    assert "though gradients arrive" not in str(finding)
    assert "decay" not in str(finding)


# ---------------------------------------------------------------- lessons and remedies

SAID = {  # lesson -> the words that may be the first after an epoch, and must be the first after the last
    "A healthy run": ("learning", "healthy"),
    "Rate too high": ("learning", "healthy", "unsettled", "rate-high"),
    "Rate too low": ("rate-low",),
    "All weights zero": ("flat",),
    "Vanishing gradients": ("vanishing",),
    "Exploding gradients": ("exploding",),
    "A layer dies": ("rate-high",),  # 300 times what is usual: the cause of what dies
    "Overfitting": ("learning", "healthy", "unsettled", "overfitting"),
}


@pytest.mark.parametrize("name", SAID)
def test_a_lesson_is_called_what_it_is_and_nothing_else_before(lessons, name):
    config, records = lessons[name]
    found = words(records, config)[FIRST - 1 :]
    assert set(found) <= set(SAID[name])
    assert found[-1] == SAID[name][-1]


def test_the_overfitting_lesson_is_called_so_within_ten_epochs_of_its_best(lessons):
    config, records = lessons["Overfitting"]
    best = 1 + int(np.argmin([record["val_loss"] for record in records]))
    finding, *_ = diagnose(records[: best + 10], config)
    assert finding.key == "overfitting"
    assert int(re.search(r"In epoch (\d+) validation loss was lowest", finding.evidence[0])[1]) == best
    for count in range(best + 10, len(records) + 1):
        assert diagnose(records[:count], config)[0].key == "overfitting", count


def assert_that_the_remedy_helps(records, config, verdict, **labels):
    finding = diagnose(records, config)[0]
    assert finding.key == verdict
    settings = {f.name: getattr(config, f.name) for f in fields(config)} | dict(finding.settings)
    seed = settings.pop("seed")
    tried = trained(seed, **settings, **labels)[0]
    assert BETTER[verdict](tried) < BETTER[verdict](records), finding
    return tried


@pytest.mark.parametrize("name", [name for name, said in SAID.items() if said[-1] != "healthy"])
@pytest.mark.sample(3)
def test_the_remedy_of_a_lesson_helps(lessons, name):
    config, records = lessons[name]
    assert_that_the_remedy_helps(records, config, SAID[name][-1])


@pytest.mark.parametrize(
    ("verdict", "settings"),
    [
        ("overflow", {"data": "moons", "optimizer": "sgd", "lr": 300.0, "activation": "leaky_relu"}),
        ("collapsed", {"data": "moons", "optimizer": "sgd", "lr": 0.1, "weight_decay": 0.2}),
        ("collapsed", {"data": "moons", "l1": 1.0}),
        ("collapsed", {"data": "digits", "lr": 0.01, "l1": 0.1, "weight_decay": 0.001}),
        ("clipped", {"data": "moons", "optimizer": "sgd", "clip": 0.01}),
        ("underfitting", {"data": "xor", "hidden": (), "lr": 0.01}),
        ("settled", {"data": "circles", "hidden": (2,), "activation": "tanh", "lr": 0.02, "epochs": 30}),
        ("overfitting", {"data": "digits", "train_samples": 60, "lr": 0.01}),
        ("overfitting", {"data": "digits", "train_samples": 60, "lr": 0.01, "weight_decay": 0.001}),
        ("overfitting", {"data": "xor", "hidden": (64, 64), "lr": 0.03, "epochs": 60, "samples": 100, "noise": 0.3}),
        ("rate-high", {"data": "digits", "lr": 0.3}),
        ("learning", {"data": "spirals", "hidden": (16,), "lr": 0.01, "epochs": 8}),
    ],
)
@pytest.mark.sample(4)
def test_other_remedies_help_too(verdict, settings):
    records, config = trained(0, **settings)
    labels = {name: settings[name] for name in ("train_samples", "bias", "mislabelled") if name in settings}
    assert_that_the_remedy_helps(records, config, verdict, **labels)


def test_a_rate_is_a_rung_of_1_3_10():
    assert [rung(rate) for rate in (0.03, 0.0299, 0.011, 0.01, 8.0, 0.5, 30.0)] == [0.03, 0.01, 0.01, 0.01, 3, 0.3, 30]


def test_a_remedy_is_from_the_settings_of_the_run():
    swings = [record(epoch, 0.4 + 0.3 * (epoch % 2)) for epoch in range(1, 12)]
    for optimizer in ("adam", "sgd"):
        assert "momentum" not in str(diagnose(swings, Config(optimizer=optimizer))[0])
    assert dict(diagnose(swings, Config(lr=0.3))[0].settings) == {"lr": 0.01}
    dead = [record(epoch, dead_units={"layer1": 1.0, "layer2": 0.2}) for epoch in range(1, 12)]
    assert dict(diagnose(dead, Config(activation="relu"))[0].settings) == {"activation": "leaky_relu"}
    assert dict(diagnose(dead, Config(activation="leaky_relu"))[0].settings) == {"lr": 0.0003}
    assert "he" not in diagnose(dead, Config(init="he"))[0].remedy.lower().split()


# ---------------------------------------------------------------- the cause, where several things show


def test_steps_that_are_far_too_large_are_the_cause_of_dead_units_and_wild_gradients():
    records, config = trained(0, data="digits", hidden=(64, 64), init="normal", optimizer="sgd", lr=10.0, epochs=4)
    for count in range(1, 5):
        finding, *_ = diagnose(records[:count], config)
        assert finding.key in ("rate-high", "overflow")
    for seed in range(2):
        records, config = trained(seed, data="moons", hidden=(16, 16), lr=10.0, epochs=5)
        assert [diagnose(records[:count], config)[0].key for count in range(1, 6)] == ["rate-high"] * 5


def test_the_dead_units_of_a_rate_far_above_usual_are_a_remark(lessons):
    config, records = lessons["A layer dies"]
    for count in range(1, len(records) + 1):
        first, *remarks = diagnose(records[:count], config)
        assert first.key == "rate-high", count
    assert "A layer has died" in [finding.name for finding in remarks]
    assert first.evidence[0] == "The learning rate is 0.3, 300 times what is usual."


def of_a_table(draw, seed, inputs=None, **settings):
    """A run on a table whose answers `draw` makes from its inputs and a generator; default: 300 rows of five grades."""
    rng = np.random.default_rng(seed)
    inputs = rng.integers(1, 6, (300, 5)) if inputs is None else rng.normal(size=inputs)
    rows = (f"{','.join(f'{v:.4g}' for v in row)},{y}" for row, y in zip(inputs, draw(inputs, rng), strict=True))
    config = Config(data="csv:table.csv", seed=seed, **settings)
    header = ",".join([*(f"x{index}" for index in range(inputs.shape[1])), "y"])
    dataset = from_table("\n".join([header, *rows]), "table.csv", seed=seed)
    return config, list(train(config, Trainer(config, dataset))), dataset


def words(records, config):
    """The doctor's first word after each epoch."""
    return [diagnose(records[:count], config)[0].key for count in range(1, len(records) + 1)]


def half(values):
    return np.where(values > 0, "a", "b")


def at_random(classes):
    return lambda inputs, rng: rng.integers(0, classes, len(inputs))


def test_of_labels_without_an_order_a_small_network_is_not_simply_called_too_small():
    config, records, dataset = of_a_table(
        lambda inputs, rng: rng.integers(0, 2, len(inputs)), 3, hidden=(2,), lr=0.01, epochs=40
    )
    found = diagnose(records, config)
    assert found[0].name == "Too small, or nothing to learn"
    assert "Always answering with the commonest class costs" in found[0].evidence[-1]
    assert ", with accuracy " in found[0].evidence[-1]
    trials = list(try_in_turn(found, config, dataset))
    assert trials
    assert not any(trial.helps for trial in trials)


def test_a_small_network_on_a_plateau_is_offered_a_larger_one_before_its_labels_are_doubted():
    def chequered(x, _):
        return half(np.sin(3 * x[:, 0]) * np.sin(3 * x[:, 1]))

    def last(draw, **settings):
        config, records, _ = of_a_table(draw, 1, (400, 2), lr=0.003, epochs=20, **settings)
        return diagnose(records, config)[0]

    small, large = last(chequered, hidden=(4,), activation="tanh"), last(at_random(2), hidden=(32, 32))
    assert large.key == "chance"
    assert small.key in ("chance", "settled")
    assert small.remedy.startswith("Use hidden layers 16-16 instead of 4.")
    assert dict(small.settings) == {"hidden": (16, 16)}
    assert large.remedy.startswith("Check that the labels belong to their samples")
    assert not large.settings


def test_more_epochs_are_advised_only_where_validation_gains_by_them():
    def at_the_end(val_loss):
        records = [record(e, 0.6 - e / 100, 0.7, 0.7, val_loss=val_loss(e)) for e in range(1, 21)]
        return diagnose(records, Config(epochs=20))[0]

    falls, stands, rises = (at_the_end(f) for f in (lambda e: 0.7 - e / 100, lambda e: 0.6, lambda e: 0.5 + e / 200))
    assert dict(falls.settings) == {"epochs": 40}
    for finding in (stands, rises):
        assert finding.key == "learning"
        assert not finding.settings
        assert finding.remedy.startswith("Training gets better and validation does not")
    assert "The best epoch so far is 1 by validation loss" in rises.remedy
    records = [record(e, 0.6 - e / 100, 0.7, 0.7, val_loss=0.5 + e / 100) for e in range(1, 13)]
    at_first, later = (diagnose(records[:count], Config(epochs=20))[0].remedy for count in (4, 12))
    assert at_first == "Train on."
    assert later.endswith("The best epoch so far is 1 by validation loss.")
    for epochs in (12, 20):  # without samples held out there is no validation to speak of
        assert "alidation" not in diagnose(records, Config(epochs=epochs, val_fraction=0.0))[0].remedy


def test_what_is_learned_by_heart_is_not_answered_by_a_larger_network_or_rate():
    def last(loss, accuracy, **settings):
        records = [record(e, loss - e / 1000, accuracy, 0.52, val_loss=0.71, origin=ORIGIN) for e in range(1, 16)]
        return diagnose(records, Config(hidden=(32,), **settings))[0]

    by_heart, nothing, fast = last(0.55, 0.62, lr=0.003), last(0.65, 0.55, lr=0.003), last(0.66, 0.55, lr=0.2)
    assert by_heart.key == nothing.key == fast.key == "chance"
    for finding in (by_heart, nothing):
        assert finding.remedy.startswith("Check that the labels belong to their samples")
        assert not finding.settings
    assert fast.remedy.startswith("Lower the learning rate from 0.2 to 0.01")
    assert "Check that the labels" in fast.remedy


def test_what_has_learned_but_swings_or_has_a_gap_is_not_called_healthy():
    swings = [record(e, 0.15 + 0.04 * (e % 3), 0.97, 0.96, origin=ORIGIN) for e in range(1, 13)]
    gap = [record(e, 0.5 / e, 0.97, 0.9, val_loss=0.2, origin=ORIGIN) for e in range(1, 13)]
    for records in (swings, gap):
        finding, *_ = diagnose(records, Config())
        assert finding.key == "unsettled"
        assert finding.well


def test_a_loss_that_rises_is_not_said_to_be_still_learning():
    def name(loss):
        records = [record(e, loss(e), 0.6, 0.6, origin={**ORIGIN, "train_loss": 3.0}) for e in range(1, 13)]
        return diagnose(records, Config(optimizer="sgd", lr=0.3))[0].name

    assert name(lambda e: 0.65 - e / 100) == "Still learning"
    assert name(lambda e: 1.4 if e == 12 else 0.65 - e / 100) == "Not settled yet, or with a gap"
    assert name(lambda e: 0.55 + (e - 6) ** 2 / 1000) == "It has settled"


def test_what_few_rows_say_against_a_network_is_said():
    records = [record(e, 0.5 / e, 1.0, 0.9, val_loss=0.9, origin={**ORIGIN, "val_samples": 10}) for e in range(1, 8)]
    finding = diagnose(records, Config())[0]
    assert finding.key == "few"
    assert (
        "validation loss is 0.9, validation accuracy 90.0%. Always answering with the commonest class costs 0.69"
        in str(finding)
    )


def test_a_rate_that_is_still_warming_up_is_not_too_low():
    records, config = trained(0, data="moons", optimizer="sgd", lr=0.01, warmup=6, epochs=8, batch_size=500)
    assert "rate-low" not in [diagnose(records[:count], config)[0].key for count in range(1, 7)]


def test_what_a_loop_of_ones_own_may_do_wrong_is_said_of_such_loops_alone():
    climbing = [record(epoch, 0.5 + 0.1 * epoch, 0.5, 0.5) for epoch in range(1, 8)]
    assert diagnose(climbing, Config(), own_loop=True)[0].key == "climbing"
    assert "sign" in diagnose(climbing, Config(), own_loop=True)[0].remedy
    assert all("sign" not in finding.remedy for finding in diagnose(climbing, Config()))


# ---------------------------------------------------------------- records made up for one rule


def record(epoch, loss=0.5, train=0.9, val=0.88, **more):
    return {
        "epoch": epoch,
        "train_loss": loss,
        "val_loss": loss,
        "train_accuracy": train,
        "val_accuracy": val,
        "gap": train - val,
        "grad_norm": {"layer1": 0.5, "layer2": 0.5, "layer3": 0.5},
        **more,
    }


def test_nothing_to_diagnose():
    with pytest.raises(ValueError, match="at least one epoch"):
        diagnose([], Config())


def test_a_few_epochs_are_too_early_to_tell():
    falling = [record(epoch, 1 / epoch, 0.95, 0.94) for epoch in range(1, WINDOW + 1)]
    assert [f.key for f in diagnose(falling[:-1], Config())] == ["early"]
    assert [f.key for f in diagnose(falling, Config())] == ["healthy"]


def test_where_nothing_is_held_out_nobody_is_called_healthy():
    falling = [record(epoch, 1 / epoch, 0.97, 0.97) for epoch in range(1, 31)]
    (finding,) = diagnose(falling, Config(val_fraction=0.0))
    assert finding.key == "few"
    assert finding.well
    assert "alidation" not in finding.evidence[0]


def test_nothing_needs_to_change_only_where_level_and_trend_are_good():
    def word(**columns):
        return diagnose([record(e, **{k: f(e) for k, f in columns.items()}) for e in range(1, 31)], Config())[0]

    good = {"loss": lambda e: 1 / e, "train": lambda e: 0.97, "val": lambda e: 0.95}
    for well in (good, good | {"val_loss": lambda e: max(1 / e, 0.1)}):
        assert word(**well).remedy == "Nothing in these numbers asks for a change."
    for worse in (
        {"train": lambda e: 0.7, "val": lambda e: 0.7},
        {"loss": lambda e: 0.2 + 0.05 * (e % 3)},
        {"loss": lambda e: 0.2 + e / 1000},
        {"val": lambda e: 0.8},
        {"val_loss": lambda e: 0.2 + e / 100},
    ):
        assert word(**good | worse).key != "healthy", worse


def test_records_without_the_optional_instruments_are_enough():
    records = [record(epoch, 0.4 + 0.3 * (epoch % 2)) for epoch in range(1, 10)]
    finding = diagnose(records, Config())[0]
    assert finding.key == "rate-high"
    assert "4 of 8 epochs" in finding.evidence[0]


def test_a_loss_that_is_no_number_is_named_with_its_epoch_and_the_loss_before():
    records = [record(1, 2.5), record(2, 40.0), record(3, None, diverged=True)]
    finding = diagnose(records, Config())[0]
    assert finding.key == "overflow"
    assert finding.epoch == 3
    assert (
        finding.evidence[0]
        == "In epoch 3 the training loss is no longer a number; one epoch before training loss was 40."
    )
    in_a_batch = diagnose([record(1, 2.5, diverged=True)], Config())[0]  # the network of before that step is measured
    assert in_a_batch.evidence[0] == "In epoch 1 the loss of a batch is no longer a number."
    on_others = diagnose([record(1, 2.5, val_loss=None)], Config())[0]
    assert on_others.evidence[0] == "In epoch 1 the validation loss is no longer a number."


def test_a_norm_that_is_no_number_is_left_out():
    wild = {"layer1": None, "layer2": 0.5, "layer3": 120.0}
    assert diagnose([record(1, grad_norm=wild)], Config())[0].key == "exploding"


def test_the_gap_has_to_stay_open():
    def gap(epoch, train, val, val_loss=0.9):
        return record(epoch, 1 / epoch, train, val, val_loss=val_loss)

    widening = [gap(e, 0.6 + 0.04 * e, 0.62 + 0.01 * e) for e in range(1, 11)]
    assert diagnose(widening, Config())[0].key == "overfitting"
    no_harm = [gap(e, 0.6 + 0.04 * e, 0.62 + 0.01 * e, val_loss=1.5 / e) for e in range(1, 11)]
    assert diagnose(no_harm, Config())[0].well  # validation loss still falls
    closing = [gap(e, 0.95, 0.75 + 0.02 * e, val_loss=1.5 / e) for e in range(1, 11)]
    assert diagnose(closing, Config())[0].key == "healthy"


def test_the_table_is_complete():
    assert set(CAUSES) <= {row.key for row in TABLE}
    needs = {name for row in TABLE for name in row.needs.split()}
    assert needs <= {"settings", "code", "log", "norms", "updates", "dead", "histograms", "accuracy", "validation"}


# ---------------------------------------------------------------- regression


QUIET = {"few", "early", "learning", "healthy", "settled", "unsettled"}


@pytest.mark.parametrize(
    ("last", "meanwhile", "settings"),
    [
        (QUIET, (), {}),
        (QUIET, (), {"activation": "tanh", "noise": 0.05}),
        (QUIET, (), {"activation": "tanh", "noise": 0.5, "epochs": 40}),
        (QUIET, (), {"activation": "tanh", "noise": 2.0, "hidden": (8,)}),
        ({"rate-low"}, (), {"optimizer": "sgd", "lr": 1e-5}),
        ({"rate-high"}, (), {"lr": 1.0, "activation": "tanh"}),
        ({"overflow"}, (), {"optimizer": "sgd", "lr": 100.0}),
        ({"flat"}, (), {"init": "zeros"}),
        ({"overfitting"}, ("rate-high",), {"samples": 20, "hidden": (64, 64), "epochs": 200}),  # it swings at first
    ],
)
@pytest.mark.sample(3)
def test_of_a_regression_the_doctor_says_what_is_so_or_nothing(last, meanwhile, settings):
    for seed in range(2):
        records, config = trained(seed, **{"data": "sine", "lr": 0.01, "epochs": 25, **settings})
        assert all(record["val_accuracy"] is None for record in records)
        found = [diagnose(records[:count], config)[0] for count in range(1, len(records) + 1)]
        assert not any("accuracy" in str(finding) or "nan" in str(finding) for finding in found)
        assert {finding.key for finding in found} <= {*QUIET, *last, *meanwhile}
        assert found[-1].key in last


def test_a_single_training_row_is_judged_without_a_division_by_0(tmp_path):
    (tmp_path / "two.csv").write_text("a,y\n1,2.5\n3,4.5\n")
    config = Config(data=f"csv:{tmp_path / 'two.csv'}", task="regression", hidden=(4,), epochs=12)
    records = list(train(config))
    assert diagnose(records, config)[0].well  # its layers are not dead: one sample cannot tell
