"""The facts about a table before training, each tried on a table that has it and on one that has not."""

import numpy as np
import pytest

from lab.training.config import Config
from lab.training.data_card import baseline, card, sentences
from lab.training.datasets import from_table, load
from lab.training.records import is_record
from lab.training.samples import DataError
from lab.training.trainer import Trainer, train


def table(rows, header="a,b,y"):
    return from_table("\n".join([header, *rows]), "t.csv")


RNG = np.random.default_rng(0)
UNEVEN = [f"{RNG.normal():.3f},{RNG.normal():.3f},{'k1' if i % 40 == 0 else 'k0'}" for i in range(400)]


def test_the_commonest_class_is_the_answer_to_beat():
    found = card(table(UNEVEN))
    assert found.shares == (("k0", 0.975), ("k1", 0.025))
    assert found.baseline.val_accuracy == 0.975
    assert sentences(found) == ("to beat: always answering 'k0' is right in 97.5% (training rows: k0 97.5%, k1 2.5%)",)
    assert found.baseline.train_loss == pytest.approx(-0.975 * np.log(0.975) - 0.025 * np.log(0.025), rel=0.02)


def test_the_mean_is_the_answer_to_beat_in_a_regression():
    found = card(load("sine"))
    assert found.shares == ()
    assert found.baseline.train_loss == pytest.approx(1)
    assert sentences(found)[0].startswith("to beat: always answering with the mean, ")


def test_columns_that_say_nothing_are_named():
    found = card(table([f"{i * i},7,{3 * i * i + 1},{'pq'[i % 2]}" for i in range(200)], "a,b,c,y"))
    assert found.constant == ("b",)
    assert found.copies == (("a", "c"),)
    assert "column 'b': the same number in every training row, so it tells the network nothing" in sentences(found)
    assert "columns 'a' and 'c': identical except for their unit" in sentences(found)
    varied = card(table(UNEVEN))
    assert not varied.constant
    assert not varied.copies


def test_a_table_of_constant_inputs_is_refused():
    with pytest.raises(DataError, match="each of the 2 inputs is the same in every training row"):
        table([f"1,5,{'pq'[i % 2]}" for i in range(40)])
    with pytest.raises(DataError, match="the only input, 'a', is the same"):
        table([f"1,{'pq'[i % 2]}" for i in range(40)], "a,y")


def test_few_rows_to_validate_are_said():
    few = card(table([f"{i},{i * i},{'pq'[i % 2]}" for i in range(14)]))
    assert few.val_rows == 2
    assert "only 2 rows are held out for validation: each is 50 points of accuracy" in sentences(few)[1]
    assert len(sentences(card(table(UNEVEN)))) == 1
    none = card(from_table("\n".join(["a,y", *(f"{i},{'pq'[i % 2]}" for i in range(14))]), "t", val_fraction=0.0))
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
    assert len(sentences(few)) == 1


def test_a_target_that_numbers_the_rows_is_asked_about():
    rows = [f"{RNG.normal():.3f},{RNG.normal():.3f},{i + 1000}" for i in range(100)]
    assert card(table(rows)).numbers_rows
    assert not card(table(RNG.permutation(rows))).numbers_rows
    assert not card(table([f"{i},{i * i},{0.5 * i + 0.25}" for i in range(100)])).numbers_rows


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
        older = {name: value for name, value in record.items() if name != "origin"}
        assert is_record(older, record["epoch"], config.layer_names)
        assert not is_record(record | {"origin": origin | {"classes": -1}}, record["epoch"], config.layer_names)
        assert not is_record(record | {"origin": {}}, record["epoch"], config.layer_names)
