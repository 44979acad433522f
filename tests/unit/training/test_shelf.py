"""The shelf of runs: names, what differs, and what is kept."""

import functools
import json
from dataclasses import replace

import pytest

from lab.training.config import Config
from lab.training.live import LiveRun
from lab.training.records import BULKY, best_text
from lab.training.shelf import MAX_RUNS, differences, from_text, put, table, to_text, unused


@pytest.fixture(scope="module")
def done():
    run = LiveRun(Config(data="blobs", hidden=(), epochs=3))
    run.advance(None)
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
    for seed in range(MAX_RUNS + 3):
        shelf = put(shelf, Config(data="blobs", hidden=(), epochs=3, seed=seed), done.records)
    assert len(shelf) == MAX_RUNS
    assert len({kept.name for kept in shelf}) == MAX_RUNS
    assert shelf[0].config.seed == 3
    assert unused(shelf[0].name, shelf) not in {kept.name for kept in shelf}


def test_what_is_bulky_is_left_out_and_the_rest_can_be_downloaded(done):
    (kept,) = put([], done.config, done.records)
    lines = [json.loads(line) for line in kept.to_jsonl().splitlines()]
    assert [line["val_loss"] for line in lines] == [record["val_loss"] for record in done.records]
    assert done.records[0].keys() >= BULKY
    assert not any(BULKY & line.keys() for line in lines)
    assert len(kept.to_jsonl()) < 0.4 * sum(len(json.dumps(record)) for record in done.records)


def test_runs_on_two_tables_are_named_after_their_files(done):
    config = replace(done.config, data="table")
    shelf = put([], config, done.records, {"table": "...", "name": "flowers.csv"})
    shelf = put(shelf, config, done.records, {"table": "...", "name": "houses.csv"})
    assert [kept.name.split()[0] for kept in shelf] == ["flowers.csv", "houses.csv"]


def test_regressions_are_compared_by_r_squared(done):
    wave = LiveRun(Config(data="sine", samples=60, hidden=(), epochs=3))
    wave.advance(None)
    kept = put([], wave.config, wave.records)
    (best,) = table(kept)["best validation R²"]
    assert f"R² {best:.3f}".replace("-", "−") in best_text(wave.records, wave.config)
    mixed = table(put(kept, done.config, done.records))
    assert mixed["best validation accuracy"] == [None, max(record["val_accuracy"] for record in done.records)]


def test_differences_are_said_in_words():
    one, other = Config(hidden=(), lr=0.1), Config(hidden=(16, 8), lr=0.01)
    assert differences(one, other) == "hidden none instead of 16-8, lr 0.1 instead of 0.01"
    assert differences(one, one) == "the same settings"
    assert differences(one, one, same_data=False) == "other data or target"


# ---------------------------------------------------------------- as a text, in the visitor's browser

TABLE = {"table": "a,b\n1,x\n", "name": "t.csv", "encoding": "UTF-8", "columns": ["a", "b"]}
TABLE |= {"target": "b", "task": None, "drop": [], "keep": ["a"]}


@pytest.mark.parametrize("own", [{}, {"points": "0.5,-0.25,A;1,0,B"}, TABLE])
def test_a_shelf_comes_back_from_a_text(done, own):
    shelf = put([], done.config, done.records, own)
    shelf = put(shelf, replace(done.config, seed=1), done.records[:2], own)
    shelf[1].name = "mine"
    text = to_text(shelf)
    assert from_text(text) == shelf
    assert text.count("1,x") == (own == TABLE)  # each table once


def test_the_text_of_a_shelf_is_bounded(done, monkeypatch):
    shelf = put(put([], done.config, done.records), replace(done.config, seed=1), done.records)
    long = to_text(shelf)
    monkeypatch.setattr("lab.training.shelf.MAX_TEXT", len(long) - 1)
    assert from_text(to_text(shelf)) == shelf[1:]
    with pytest.raises(ValueError, match="too long"):
        from_text(long)


BAD = {  # a place in the text of a shelf with one run on a table -> what stands there instead
    "runs": [None, 3, "x", [1], {"a": 1}],
    "tables": [None, [], 3],
    "runs 0 name": [None, 3, []],
    "runs 0 config": [None, [], {"lr": -1}, {"x": 1}],
    "runs 0 own": [None, [], {"table": 7}, {"table": None}, {"points": "1,2"}, {"points": 1}, {"x": "y"}],
    "runs 0 own target": [3, ["a"]],
    "runs 0 own drop": [None, [3], {"a": 1}],
    "runs 0 records": [3, [None], [{}], {"a": 1}],
    "runs 0 records 0": [None, {"epoch": 1}],
    "runs 0 records 1 epoch": [1, "2", None],
    "runs 0 records 0 grad_norm": [{}, {"layer2": 1.0}, None],
}


@pytest.mark.parametrize(("place", "value"), [(place, value) for place in BAD for value in BAD[place]])
def test_a_text_that_no_shelf_has_written_is_refused(done, place, value):
    known = json.loads(to_text(put([], done.config, done.records, TABLE)))
    *way, last = [int(name) if name.isdecimal() else name for name in place.split()]
    functools.reduce(lambda inside, name: inside[name], way, known)[last] = value
    with pytest.raises(ValueError, match=r"."):
        from_text(json.dumps(known))
