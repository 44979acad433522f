"""The character model of the Training lab: its text, what it has to beat, and how far it gets."""

import csv
import json
from collections import Counter

import numpy as np
import pytest

from lab.training import cli as command_line
from lab.training import diagnose
from lab.training.data_card import baseline
from lab.training.datasets import load
from lab.training.lessons import LESSONS
from lab.training.letters import CONTEXT, LAST_NUMBER, bigram_loss, contexts, samples, spell
from model import Tensor
from train import Trainer, train

TEXT = [f"{'.' * CONTEXT}{spell(number)}." for number in range(1, LAST_NUMBER + 1)]
REACHED = 0.4  # nats for a letter; measured 0.32 to 0.36 with five seeds


def entropy(length):
    """What is left to guess of a letter by someone who has counted all of the text, after so many letters."""
    windows = [text[at - length : at + 1] for text in TEXT for at in range(CONTEXT, len(text))]
    seen, known = Counter(windows), Counter(window[:-1] for window in windows)
    return -sum(n * np.log(n / known[window[:-1]]) for window, n in seen.items()) / len(windows)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (7, "seven"), (19, "nineteen"), (40, "forty"), (99, "ninety-nine"), (100, "one hundred"),
        (241, "two hundred and forty-one"),
    ],
)  # read by rows  # fmt: skip
def test_numbers_in_words(number, words):
    assert spell(number) == words


def test_a_sample_is_the_letters_before_a_letter():
    before, after, alphabet = contexts()
    shown = [
        ("".join(alphabet[i][0] for i in row), alphabet[label])
        for row, label in zip(before[:4], after[:4], strict=True)
    ]
    assert shown == [("eeee", "o"), ("eeeo", "n"), ("eeon", "e"), ("eone", "end")]  # of "end", and of "one"
    assert len(before) == sum(len(text) - CONTEXT for text in TEXT)
    raw = samples()
    np.testing.assert_array_equal(raw.inputs.sum(axis=1), CONTEXT)
    assert len(raw.cells) == len(raw.columns) == raw.blocks[0].shape[1]


@pytest.fixture(scope="module")
def trainer():
    """Of the lesson, when it has ended."""
    trainer = Trainer(LESSONS["The next letter"].config)
    trainer.seen = list(train(trainer.config, trainer))
    return trainer


def test_two_layers_reach_the_loss_and_beat_what_counts_letters(trainer):
    last, plain = trainer.seen[-1], baseline(trainer.dataset)
    assert len(trainer.model.layers) == 2
    assert bigram_loss() == pytest.approx(entropy(1), rel=1e-12)
    assert entropy(0) == pytest.approx(plain.val_loss, abs=0.02)
    assert entropy(CONTEXT) < last["val_loss"] < REACHED < bigram_loss() / 2 < plain.val_loss / 4
    assert last["val_accuracy"] > 0.8 > 0.2 > plain.val_accuracy
    assert (
        f"{last['val_loss']:.2f}; the table’s is {bigram_loss():.2f}"
        in LESSONS["The next letter"].judge(trainer.seen)[1]
    )
    assert {finding.key for finding in diagnose(trainer.seen, trainer.config)} <= {"settled"}  # the rest is chance


def test_the_first_layer_is_an_embedding(trainer):
    """A row of its weights for each letter at each place: looked up and added, they give what the layer gives."""
    layer, data = trainer.model.layers[0], trainer.dataset
    weight = layer.weight.numpy() / data.scale[:, None]  # the inputs were standardised
    shift = layer.bias.numpy() - data.mean @ weight
    before, _, alphabet = contexts()
    tables = weight.reshape(CONTEXT, len(alphabet), -1)
    sums = sum(table[ids] for table, ids in zip(tables, before.T, strict=True)) + shift
    inputs = (samples().inputs - data.mean) / data.scale
    np.testing.assert_allclose(sums, layer(Tensor(inputs.astype(np.float32))).numpy(), atol=2e-4)


def test_on_the_command_line(tmp_path, capsys):
    words = f"--data letters --hidden 64 --lr 0.003 --epochs 2 --quiet --out {tmp_path / 'run'}"
    assert command_line.main(words.split()) == 0
    records = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text("utf-8").splitlines()]
    assert records[-1]["val_loss"] < bigram_loss() / 2
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["4 back", "3 back", "2 back", "1 back"], ["u", "n", "d", "r"], ["end", "end", "n", "i"]]
        )
    capsys.readouterr()
    assert command_line.main(["predict", str(tmp_path / "run"), str(tmp_path / "rows.csv")]) == 0
    answers = [line.split(",")[4] for line in capsys.readouterr().out.splitlines()[1:]]
    assert answers == ["e", "n"]
    assert load("letters").fingerprint == load("letters").fingerprint
