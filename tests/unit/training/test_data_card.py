"""The facts about a table before training, each tried on a table that has it and on one that has not."""

import numpy as np
import pytest

from lab.training.config import Config
from lab.training.data_card import baseline, remarks
from lab.training.datasets import from_table, load
from lab.training.records import is_record
from train import Trainer, train


def table(rows, header="a,b,y"):
    return from_table("\n".join([header, *rows]), "t.csv")


def uneven():
    rng = np.random.default_rng(0)
    return [f"{rng.normal():.3f},{rng.normal():.3f},{'k1' if i % 40 == 0 else 'k0'}" for i in range(400)]


UNEVEN = uneven()


@pytest.fixture
def rng():  # each test its own: none depends on those before it
    return np.random.default_rng(0)


def test_the_commonest_class_is_the_answer_to_beat():
    data = table(UNEVEN)
    assert baseline(data)["baseline_val_accuracy"] == 0.975
    assert remarks(data)[0] == "baseline: always predicting 'k0' scores 97.5% on the training rows (k0 97.5%, k1 2.5%)"
    assert baseline(data)["baseline_train_loss"] == pytest.approx(
        -0.975 * np.log(0.975) - 0.025 * np.log(0.025), rel=0.02
    )


def test_the_mean_is_the_answer_to_beat_in_a_regression():
    assert baseline(load("sine"))["baseline_train_loss"] == pytest.approx(1)
    assert remarks(load("sine"))[0].startswith("baseline: always predicting the mean, ")


def test_few_rows_to_validate_are_said():
    few = table([f"{2 * i},{i * i},{'pq'[i % 2]}" for i in range(14)])
    assert "only 2 rows are held out for validation: each is 50 points of accuracy" in remarks(few)[1]
    assert not any("held out" in line for line in remarks(table(UNEVEN)))
    none = from_table("\n".join(["a,y", *(f"{2 * i},{'pq'[i % 2]}" for i in range(14))]), "t", val_fraction=0.0)
    assert len(remarks(none)) == 1


def test_rare_rows_held_out_are_counted(rng):
    assert remarks(table(UNEVEN))[1].startswith("of 80 validation rows only 2 are not 'k0'")
    even = table([f"{rng.normal():.3f},{rng.normal():.3f},{'pq'[i % 2]}" for i in range(400)])
    assert len(remarks(even)) == len(remarks(load("sine"))) == 1


def test_a_value_far_from_all_others_is_asked_about(rng):
    def of(value):
        inputs = [*rng.normal(size=299), value]
        return remarks(table([f"{rng.normal():.3f},{x:.3f},{'pq'[i % 2]}" for i, x in enumerate(inputs)]))

    assert "column 'b': its most extreme value, 900, lies" in of(900.0)[-1]
    assert len(of(900.0)) == 2
    assert len(of(4.0)) == 1


def test_a_mark_for_missing_numbers_is_asked_about_however_many_cells_have_it(rng):
    def of(cell):
        inputs = [cell(i) if i % 12 == 0 else f"{x:.3f}" for i, x in enumerate(rng.normal(size=300))]
        return remarks(table([f"{rng.normal():.3f},{x},{'pq'[i % 2]}" for i, x in enumerate(inputs)]))

    asked = of(lambda i: "-8888")[-1]
    assert asked.startswith("column 'b': its most extreme value, −8888, lies 8,")  # about that many
    assert asked.endswith("is it right, or should the cell be empty?")
    assert len(of(lambda i: "")) == 1


def test_the_rare_one_of_two_values_is_not_far_away(rng):
    for cell in (lambda i: int(i == 77), lambda i: "" if i % 50 == 7 else "DE" if i % 4 else "FR"):
        rows = [f"{rng.normal():.3f},{cell(i)},{'pq'[i % 2]}" for i in range(400)]
        assert not any("extreme" in line for line in remarks(table(rows)))


def test_a_target_far_from_all_others_is_asked_about(rng):
    def targets(*far):
        values = [*rng.uniform(size=300 - len(far)), *far]
        rows = [f"{rng.normal():.3f},{rng.normal():.3f},{value:.4f}" for value in rng.permutation(values)]
        return remarks(table(rows))

    assert targets(5000.0)[1].startswith("the target: its most extreme value, 5000, lies 1")
    assert "R² of 0" in targets()[0]
    assert len(targets()) == 1


def test_the_mean_of_large_targets_is_written_in_full(rng):
    large = table([f"{rng.normal():.3f},{rng.normal():.3f},{rng.uniform(3e6, 5e6):.1f}" for _ in range(100)])
    assert remarks(large)[0] == f"baseline: always predicting the mean, {large.target[0]:,.0f}, scores an R² of 0"


def test_records_know_the_untrained_network_and_the_baseline():
    config = Config(data="csv:t.csv", epochs=2, hidden=(8,))
    trainer = Trainer(config, table(UNEVEN))
    before, plain = trainer.measure(), baseline(trainer.dataset)
    for record in train(config, trainer):
        origin = record["origin"]
        assert (origin["train_loss"], origin["val_accuracy"]) == (before["train_loss"], before["val_accuracy"])
        assert (origin["baseline_val_loss"], origin["baseline_val_accuracy"]) == (plain["baseline_val_loss"], 0.975)
        assert (origin["train_samples"], origin["val_samples"], origin["classes"]) == (320, 80, 2)
        assert is_record(record, record["epoch"], config.layer_names)
        assert not is_record(record | {"origin": {}}, record["epoch"], config.layer_names)
