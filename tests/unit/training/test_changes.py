"""Settings that change while a network trains: in the configuration, bit for bit the same on any way there."""

import time
from dataclasses import replace

import pytest

from lab.training import cli
from lab.training.config import Config, ConfigError
from lab.training.live import LiveRun
from lab.training.run_folder import RunFolder
from lab.training.worker import Worker
from train import Trainer, train

PLAIN = Config(data="moons", samples=200, hidden=(4,), optimizer="sgd", lr=0.05, epochs=6)
CHANGES = (
    (2, "lr", 0.01), (2, "momentum", 0.9), (3, "l1", 0.01), (3, "batch_size", 8), (4, "clip", 0.1),
)  # read by rows  # fmt: skip
CHANGED = replace(PLAIN, changes=CHANGES)


def test_each_change_acts_from_its_epoch_on_and_is_in_the_record():
    records = list(train(CHANGED))
    plain = list(train(PLAIN))
    assert [a["train_loss"] == b["train_loss"] for a, b in zip(records, plain, strict=True)] == 2 * [True] + 4 * [False]
    assert [record["changed"] for record in records] == [
        {},
        {},
        {"lr": 0.01, "momentum": 0.9},
        {"l1": 0.01, "batch_size": 8},
        {"clip": 0.1},
        {},
    ]
    assert [record["lr"] for record in records] == [0.05, 0.05, 0.01, 0.01, 0.01, 0.01]
    assert [record["clipped"] > 0 for record in records] == 4 * [False] + 2 * [True]
    assert CHANGED.at(3) == replace(PLAIN, lr=0.01, momentum=0.9, l1=0.01, batch_size=8)
    assert CHANGED.latest.clip == 0.1


def test_a_run_that_is_changed_as_it_goes_is_the_run_with_these_changes():
    run = LiveRun(PLAIN)
    for after, name, value in CHANGES:
        while run.next_epoch < after:
            run.advance()
        run.change({name: value})
    run.advance(None)
    assert run.config == CHANGED
    assert [r["val_loss"] for r in run.records] == [r["val_loss"] for r in train(CHANGED)]
    at = run.loss_epochs()
    assert len(at) == run.batches == 3 * 5 + 3 * 20
    assert at[14] == 3
    assert at[-1] == 6


def test_going_back_forgets_the_changes_that_came_later():
    run = LiveRun(CHANGED)
    run.advance(None)
    run.rewind(3)
    assert run.config.changes == CHANGES[:4]
    assert run.batches == 15
    assert run.trainer.steps_per_epoch == 20
    run.advance(None)
    assert [r["val_loss"] for r in run.records] == [r["val_loss"] for r in train(replace(PLAIN, changes=CHANGES[:4]))]


def test_a_state_knows_the_settings_of_its_epoch():
    trainer = Trainer(CHANGED)
    states = {}
    for record in train(CHANGED, trainer):
        states[record["epoch"]] = trainer.state()
    for epoch in (5, 1, 4):
        trainer.load_state(states[epoch])
        assert trainer.config_now == CHANGED.at(epoch)


def test_a_process_that_trains_hears_of_a_change():
    worker = Worker(LiveRun(replace(PLAIN, epochs=40)))
    worker.rate = 100
    deadline = time.monotonic() + 60
    changed = False
    while not worker.run.done:
        assert time.monotonic() < deadline
        worker.watch(worker.take_turn())
        if not changed and worker.run.trainer.epoch >= 2:
            worker.change({"lr": 0.5, "batch_size": 16})
            worker.rate, changed = float("inf"), True
        time.sleep(0.02)
    config = worker.run.config
    assert {name: value for _, name, value in config.changes} == {"lr": 0.5, "batch_size": 16}
    assert [r["val_loss"] for r in worker.run.records] == [r["val_loss"] for r in train(config)]


def test_the_command_line_takes_changes_and_resumes_in_the_midst_of_them(tmp_path):
    words = "--data moons --samples 200 --hidden 4 --optimizer sgd --lr 0.05 --quiet --changes 2:lr=0.01 "
    words += "2:momentum=0.9 3:l1=0.01 3:batch-size=8 4:clip=0.1"
    out = str(tmp_path / "run")
    assert cli.main([*words.split(), "--epochs", "3", "--out", out]) == 0
    assert cli.main(["--resume", "--out", out, "--epochs", "6", "--quiet"]) == 0
    run = RunFolder(tmp_path / "run")
    assert run.config() == CHANGED
    assert [r["val_loss"] for r in run.records()] == [r["val_loss"] for r in train(CHANGED)]


@pytest.mark.parametrize(
    "changes",
    [((0, "lr", 0.1),), ((3, "hidden", 4),), ((3, "lr", -1),), ((3, "lr", 0.1), (2, "lr", 0.2)), ((1, "lr"),)],
)
def test_what_is_no_change_is_refused(changes):
    with pytest.raises(ConfigError):
        replace(PLAIN, changes=changes)


def test_bad_changes_on_the_command_line_get_a_sentence(capsys):
    for words, said in (
        ("5", "is not a change"),
        ("5:hidden=4", "cannot change 'hidden'"),
        ("5:noise=1", "cannot change 'noise'"),
        ("5:lr=x", "lr"),
    ):
        assert cli.main(["--changes", words]) == 2
        assert said in capsys.readouterr().err
