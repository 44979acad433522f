"""The shelf of runs: names, what differs, what is kept, and the folder of the command line with damaged runs in it."""

import functools
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.training.config import Config, ConfigError
from lab.training.doctor import diagnose
from lab.training.live import LiveRun
from lab.training.records import BULKY, best_text, slim
from lab.training.run_folder import RunError, RunFolder
from lab.training.shelf import (
    MAX_RUNS,
    default_name,
    differences,
    from_folder,
    from_text,
    open_with_histograms,
    put,
    table,
    to_text,
    unused,
)

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes, locks and users of POSIX")


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


# ---------------------------------------------------------------- runs of the command line, in a folder


def save(path, done):
    """The run `done` as the command line leaves it in the folder `path`, but for the picture."""
    run = RunFolder.create(path, done.config)
    for record in done.records:
        run.save(record, done.trainer.state())
    return run


@pytest.fixture
def runs(tmp_path, done):
    """A folder with a run, a sweep of two, and beside it a run that nobody must get at."""
    save(tmp_path / "runs" / "good", done)
    for rate in ("0.1", "0.2"):
        save(tmp_path / "runs" / "sweep-1" / f"lr={rate}", done)
    save(tmp_path / "secret", done)
    return tmp_path / "runs"


def tree(folder):
    """Every path below, with the content of the files."""
    return {
        path: os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        for path in Path(folder).rglob("*")
    }


def test_the_folder_has_runs_and_those_of_sweeps(runs, done):
    assert from_folder(runs / "nothing") == ([], [])
    found, complaints = from_folder(runs)
    assert [kept.name for kept in found] == ["runs/good", "runs/sweep-1/lr=0.1", "runs/sweep-1/lr=0.2"]
    assert complaints == []
    for kept in found:
        assert kept.shared
        assert kept.config == done.config
        assert kept.records == slim(done.records)


def test_a_run_is_opened_whole(runs, done):
    for name in ("runs/good", "runs/sweep-1/lr=0.2"):
        kept = open_with_histograms(runs, name)
        assert (kept.name, kept.config, kept.records, kept.shared) == (name, done.config, done.records, True)
    assert "gradient_histogram" in kept.records[-1]


def test_of_a_long_run_the_histograms_are_thinned(runs, done, monkeypatch):
    monkeypatch.setattr("lab.training.shelf.MAX_HISTOGRAMS", 2)
    first, second, third = open_with_histograms(runs, "runs/good").records
    assert [first, third] == [done.records[0], done.records[2]]
    assert second == slim(done.records)[1]


def test_a_run_without_an_epoch_is_listed_but_cannot_be_shown(runs, done):
    RunFolder.create(runs / "new", done.config)
    assert "runs/new" in [kept.name for kept in from_folder(runs)[0]]
    with pytest.raises(RunError, match="cannot be opened"):
        open_with_histograms(runs, "runs/new")


def test_what_is_damaged_is_a_sentence_and_the_rest_still_loads(runs, done):
    (runs / "notes").mkdir()
    (runs / "a file").write_text("x")
    config = json.dumps(done.config.to_json())
    for name, written, metrics in [
        ("no json", "{", ""),
        ("too deep", "[" * 100_000, ""),
        ("a list", "[]", ""),
        ("strange setting", '{"colour": 1}', ""),
        ("bad value", '{"lr": -1}', ""),
        ("beyond floats", '{"lr": 1' + "0" * 400 + "}", ""),
        ("bad type", '{"hidden": 3}', ""),
        ("bad metrics", config, "not json\n"),
        ("deep metrics", config, "[" * 100_000 + "\n"),
        ("no records", config, "[]\n"),
        ("half a record", config, '{"epoch": 1}\n'),
        ("a hole", config, "".join(json.dumps(done.records[n]) + "\n" for n in (0, 2))),
    ]:
        (runs / "damaged" / name).mkdir(parents=True)
        (runs / "damaged" / name / "config.json").write_text(written)
        (runs / "damaged" / name / "metrics.jsonl").write_text(metrics)
    found, complaints = from_folder(runs)
    assert [kept.name for kept in found] == ["runs/good", "runs/sweep-1/lr=0.1", "runs/sweep-1/lr=0.2"]
    assert len(complaints) == 12
    for sentence in complaints:
        assert "\n" not in sentence
        name = sentence.split("'")[1]
        assert name.startswith("runs/damaged/")
        with pytest.raises((RunError, ConfigError)) as error:
            open_with_histograms(runs, name)
        assert "\n" not in str(error.value)


@posix
def test_links_pipes_and_names_that_cannot_be_shown_are_left_out(runs, done):
    (runs / "link").symlink_to(runs.parent / "secret")
    (runs / "sweep-1" / "link").symlink_to(runs.parent / "secret")
    (runs / "round").symlink_to(runs)
    for name, file in (("linked", "metrics.jsonl"), ("own config", "config.json")):
        path = save(runs / name, done).path / file
        path.unlink()
        path.symlink_to(runs.parent / "secret" / file)
    pipe = save(runs / "pipe", done).path / "metrics.jsonl"
    pipe.unlink()
    os.mkfifo(pipe)  # reading it would wait for ever
    hidden = ["line\nbreak", "turn\u202eround", os.fsdecode(b"not \xff text")]
    for name in hidden:
        save(runs / name, done)
    found, complaints = from_folder(runs)
    assert [kept.name for kept in found] == ["runs/good", "runs/sweep-1/lr=0.1", "runs/sweep-1/lr=0.2"]
    assert len(complaints) == 3 + 3 + 3
    for sentence in complaints:
        assert sentence.isprintable()
    before = tree(runs.parent)
    for name in ("link", "sweep-1/link", "round/good", "linked", "own config", "pipe", *hidden):
        with pytest.raises(RunError):
            open_with_histograms(runs, f"runs/{name}")
    assert tree(runs.parent) == before


PIECES = [
    "..", ".", "/", "//", "\\", "runs", "good", "sweep-1", "lr=0.1", "secret", "~", "C:", "%2e%2e%2f", "*", "GOOD",
]  # read by rows  # fmt: skip
PIECES += ["", " ", "\0", "\n", "／", "․․", "．．", "Ｇood", "go\u200bod", "good\u0301", "\ud800", "config.json"]
HOSTILE = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from(PIECES), max_size=9).map("".join),
    st.sampled_from(
        ["runs/good/../../secret", "runs/../secret", "runs/good/", "runs//good", "/etc", "runs", "good", ""]
    ),
)
often = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def below(folder):
    return set(folder.rglob("*"))


@often
@given(name=HOSTILE)
def test_no_name_leads_out_of_the_folder(runs, name):
    before = below(runs.parent)
    for spoken in {name, f"{runs.parent}/{name}", f"runs/{name}", f"runs/good/{name}"} - {
        "runs/good",
        "runs/sweep-1/lr=0.1",
    }:
        with pytest.raises(RunError, match="There is no run called") as error:
            open_with_histograms(runs, spoken)
        assert str(error.value).isprintable()
    assert below(runs.parent) == before


def places(value, path=()):
    """The ways to every part of a JSON value."""
    yield path
    for key in value if isinstance(value, dict) else range(min(len(value), 3)) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


@often
@given(data=st.data())
def test_whatever_a_file_says_a_run_loads_or_is_a_sentence(runs, done, data):
    file = data.draw(st.sampled_from(["config.json", "metrics.jsonl"]))
    lines = [done.config.to_json()] if file == "config.json" else [dict(record) for record in done.records]
    lines = json.loads(json.dumps(lines))
    *way, last = data.draw(st.sampled_from([place for place in places(lines) if place]))
    inner = lines
    for step in way:
        inner = inner[step]
    if isinstance(inner, dict) and data.draw(st.booleans()):
        del inner[last]
    elif file == "config.json" or isinstance(inner[last], dict):  # records are checked by their keys
        inner[last] = data.draw(JSON)
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    if data.draw(st.integers(0, 3)) == 0:
        at = data.draw(st.integers(0, len(text) - 1))
        text = text[:at] + data.draw(st.binary(max_size=4)) + text[at + data.draw(st.integers(0, 9)) :]
    (runs / "good" / file).write_bytes(text)
    found, complaints = from_folder(runs)
    assert len(found) + len(complaints) == 3
    assert all("\n" not in sentence for sentence in complaints)
    for kept in found:
        assert default_name(kept.config, kept.own)
        assert differences(kept.config, done.config)
        kept.to_jsonl().encode()
    sentence = ""
    try:
        kept = open_with_histograms(runs, "runs/good")
        diagnose(kept.records, kept.config)
    except (RunError, ConfigError) as error:
        sentence = str(error)
    assert "\n" not in sentence
