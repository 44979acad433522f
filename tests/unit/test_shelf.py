"""The shelf of runs: names, what differs, what is kept, and the folder of the command line with damaged runs in it."""

import json
import math

import pytest

from lab.live import LiveRun
from lab.runs import BULKY, Run
from lab.shelf import MOST, differences, from_folder, put, unused
from train import Config, Trainer, train


def records(config):
    return list(train(config))


@pytest.fixture(scope="module")
def done():
    run = LiveRun(Config(data="blobs", hidden=(), epochs=3))
    run.advance(math.inf)
    return run


def test_a_run_without_an_epoch_is_not_kept(done):
    assert put([], done.config, []) == []


def test_the_same_settings_are_kept_once_at_their_longest(done):
    shelf = put([], done.config, done.records[:2])
    shelf[0].name = "mine"
    shelf = put(shelf, done.config, done.records)
    assert [(kept.name, len(kept.records)) for kept in shelf] == [("mine", 3)]
    assert put(shelf, done.config, done.records[:1]) == shelf


def test_names_differ_and_the_oldest_run_makes_room(done):
    shelf = []
    for seed in range(MOST + 3):
        shelf = put(shelf, Config(data="blobs", hidden=(), epochs=3, seed=seed), done.records)
    assert len(shelf) == MOST
    assert len({kept.name for kept in shelf}) == MOST
    assert shelf[0].config.seed == 3
    assert unused(shelf[0].name, shelf) not in {kept.name for kept in shelf}


def test_what_is_bulky_is_left_out_and_the_rest_can_be_downloaded(done):
    (kept,) = put([], done.config, done.records)
    lines = [json.loads(line) for line in kept.to_jsonl().splitlines()]
    assert [line["val_loss"] for line in lines] == [record["val_loss"] for record in done.records]
    assert done.records[0].keys() >= BULKY
    assert not any(BULKY & line.keys() for line in lines)
    assert len(kept.to_jsonl()) < 0.3 * sum(len(json.dumps(record)) for record in done.records)


def test_differences_are_said_in_words():
    one, other = Config(hidden=(), lr=0.1), Config(hidden=(16, 8), lr=0.01)
    assert differences(one, other) == "hidden none instead of 16-8, lr 0.1 instead of 0.01"
    assert differences(one, one) == "the same settings"


def test_the_folder_of_the_command_line(tmp_path, done):
    assert from_folder(tmp_path / "nothing") == ([], [])
    run = Run.create(tmp_path / "good", done.config.to_json())
    for record in done.records:
        run.save(record, Trainer(done.config).state())
    (tmp_path / "notes").mkdir()
    (tmp_path / "a file").write_text("x")
    for name, config, metrics in [
        ("no json", "{", ""),
        ("a list", "[]", ""),
        ("strange setting", '{"colour": 1}', ""),
        ("bad value", '{"lr": -1}', ""),
        ("bad type", '{"hidden": 3}', ""),
        ("bad metrics", json.dumps(done.config.to_json()), "not json\n"),
        ("no records", json.dumps(done.config.to_json()), "[]\n"),
        ("half a record", json.dumps(done.config.to_json()), '{"epoch": 1}\n'),
    ]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(config)
        (tmp_path / name / "metrics.jsonl").write_text(metrics)
    found, complaints = from_folder(tmp_path)
    assert [kept.name for kept in found] == [f"{tmp_path.name}/good"]
    assert found[0].shared
    assert [record["epoch"] for record in found[0].records] == [1, 2, 3]
    assert len(complaints) == 8
    assert all("is left out" in sentence for sentence in complaints)
