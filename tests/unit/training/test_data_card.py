"""The facts about a table before training, each tried on a table that has it and on one that has not."""

from dataclasses import replace

import numpy as np
import pytest

from lab.training.config import Config
from lab.training.data_card import baseline, card, sentences
from lab.training.datasets import from_table, load
from lab.training.records import is_record
from train import Trainer, train


def table(rows, header="a,b,y"):
    return from_table("\n".join([header, *rows]), "t.csv")


RNG = np.random.default_rng(0)
UNEVEN = [f"{RNG.normal():.3f},{RNG.normal():.3f},{'k1' if i % 40 == 0 else 'k0'}" for i in range(400)]


def test_the_commonest_class_is_the_answer_to_beat():
    found = card(table(UNEVEN))
    assert found.shares == (("k0", 0.975), ("k1", 0.025))
    assert found.baseline.val_accuracy == 0.975
    assert (
        sentences(found)[0] == "baseline: always predicting 'k0' scores 97.5% on the training rows (k0 97.5%, k1 2.5%)"
    )
    assert found.baseline.train_loss == pytest.approx(-0.975 * np.log(0.975) - 0.025 * np.log(0.025), rel=0.02)


def test_the_mean_is_the_answer_to_beat_in_a_regression():
    found = card(load("sine"))
    assert found.shares == ()
    assert found.baseline.train_loss == pytest.approx(1)
    assert sentences(found)[0].startswith("baseline: always predicting the mean, ")


def test_few_rows_to_validate_are_said():
    few = card(table([f"{2 * i},{i * i},{'pq'[i % 2]}" for i in range(14)]))
    assert few.val_rows == 2
    assert "only 2 rows are held out for validation: each is 50 points of accuracy" in sentences(few)[1]
    assert not any("held out" in line for line in sentences(card(table(UNEVEN))))
    none = card(from_table("\n".join(["a,y", *(f"{2 * i},{'pq'[i % 2]}" for i in range(14))]), "t", val_fraction=0.0))
    assert none.val_rows == 0
    assert len(sentences(none)) == 1


def test_validation_rows_that_are_training_rows_are_counted():
    rows = [f"{RNG.normal():.3f},{RNG.normal():.3f},{'pq'[i % 2]}" for i in range(40)]
    twice = card(table(RNG.permutation(rows * 4)))
    assert twice.known == twice.val_rows == 32
    assert "32 of 32 validation rows have the same inputs as a training row" in sentences(twice)[1]
    assert card(table(UNEVEN)).known == 0
    few = card(table([*UNEVEN, *UNEVEN[:16]]))
    assert 0 < few.known < few.val_rows / 10
    assert not any("the same inputs" in line for line in sentences(few))


def test_a_target_that_numbers_the_rows_is_asked_about():
    rows = [f"{RNG.normal():.3f},{RNG.normal():.3f},{i + 1000}" for i in range(100)]
    for order in (rows, RNG.permutation(rows)):
        numbered = card(table(order))
        assert numbered.numbers_rows
        assert sentences(numbered)[-1].startswith("the target is a different whole number in each row")
    assert not card(table([f"{i},{i * i},{0.5 * i + 0.25}" for i in range(100)])).numbers_rows
    assert not card(table([*rows, rows[0]])).numbers_rows


def test_rare_rows_held_out_are_counted():
    rare = card(table(UNEVEN))
    assert (rare.val_rows, rare.val_others) == (80, 2)
    assert sentences(rare)[1].startswith("of 80 validation rows only 2 are not 'k0'")
    even = card(table([f"{RNG.normal():.3f},{RNG.normal():.3f},{'pq'[i % 2]}" for i in range(400)]))
    assert even.val_others >= 30
    assert len(sentences(even)) == 1
    assert card(load("sine")).val_others is None


def test_a_value_far_from_all_others_is_asked_about():
    def of(value):
        inputs = [*RNG.normal(size=299), value]
        return card(table([f"{RNG.normal():.3f},{x:.3f},{'pq'[i % 2]}" for i, x in enumerate(inputs)]))

    ((column, value, away),) = of(900.0).farthest
    assert (column, round(value)) == ("column 'b'", 900)
    assert away > 12
    assert "column 'b': its most extreme value, 900, lies" in sentences(of(900.0))[-1]
    assert of(4.0).farthest == ()


def test_a_mark_for_missing_numbers_is_asked_about_however_many_cells_have_it():
    def of(cell):
        inputs = [cell(i) if i % 12 == 0 else f"{x:.3f}" for i, x in enumerate(RNG.normal(size=300))]
        return card(table([f"{RNG.normal():.3f},{x},{'pq'[i % 2]}" for i, x in enumerate(inputs)]))

    marked = of(lambda i: "-9999")
    assert [(column, round(value)) for column, value, _ in marked.farthest] == [("column 'b'", -9999)]
    assert "its most extreme value, −9999, lies 1" in sentences(marked)[-1]
    assert sentences(marked)[-1].endswith("is it right, or should the cell be empty?")
    assert of(lambda i: "").farthest == ()


def test_the_rare_one_of_two_values_is_not_far_away():
    rows = [f"{RNG.normal():.3f},{int(i == 77)},{'pq'[i % 2]}" for i in range(400)]
    assert card(table(rows)).farthest == ()


def test_as_many_columns_as_rows_are_said():
    def wide(columns):
        rows = (",".join([*(f"{v:.3f}" for v in RNG.normal(size=columns)), "pq"[i % 2]]) for i in range(60))
        return card(from_table("\n".join([",".join([*(f"x{i}" for i in range(columns)), "y"]), *rows]), "t.csv"))

    assert "48 columns for 48 training rows: a network can learn so few rows by heart" in sentences(wide(48))
    assert not any("by heart" in line for line in sentences(wide(47)))
    single = card(from_table("a,y\n1,2.5\n3,4.5", "t.csv", task="regression"))
    assert "1 column for 1 training row: a network can learn so few rows by heart" in sentences(single)
    few_images = replace(card(load("digits")), train_rows=50)
    assert not any("by heart" in line for line in sentences(few_images))  # pixels are no columns


def test_targets_far_from_all_others_are_said():
    def targets(*far):
        values = [*RNG.uniform(size=300 - len(far)), *far]
        return card(table([f"{RNG.normal():.3f},{RNG.normal():.3f},{value:.4f}" for value in RNG.permutation(values)]))

    outliers = targets(20.0, 30.0, 40.0)
    assert outliers.extreme_rows == 3
    assert outliers.extreme_share > 0.9
    assert "the 3 rows with the most extreme target make" in sentences(outliers)[-1]
    assert sentences(targets(5000.0))[1].startswith("the target: its most extreme value, 5000, lies 17,")
    assert "R² of 0" in sentences(targets())[0]
    assert len(sentences(targets())) == 1


def test_the_mean_of_large_targets_is_written_in_full():
    large = card(table([f"{RNG.normal():.3f},{RNG.normal():.3f},{RNG.uniform(3e6, 5e6):.1f}" for _ in range(100)]))
    assert sentences(large)[0] == f"baseline: always predicting the mean, {large.mean:,.0f}, scores an R² of 0"


def test_records_know_the_untrained_network_and_the_baseline():
    config = Config(data="csv:t.csv", epochs=2, hidden=(8,))
    trainer = Trainer(config, table(UNEVEN))
    before, plain = trainer.measure(), baseline(trainer.dataset)
    for record in train(config, trainer):
        origin = record["origin"]
        assert (origin["train_loss"], origin["val_accuracy"]) == (before["train_loss"], before["val_accuracy"])
        assert (origin["baseline_val_loss"], origin["baseline_val_accuracy"]) == (plain.val_loss, 0.975)
        assert (origin["train_samples"], origin["val_samples"], origin["classes"]) == (320, 80, 2)
        assert is_record(record, record["epoch"], config.layer_names)
        assert not is_record(record | {"origin": {}}, record["epoch"], config.layer_names)
