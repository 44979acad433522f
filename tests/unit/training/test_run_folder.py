import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.training.config import Config, ConfigError
from lab.training.doctor import diagnose
from lab.training.records import slim
from lab.training.run_folder import RunError, RunFolder, new_folder, write_atomic
from train import train

CONFIG = Config(data="blobs", hidden=(3,), epochs=3, batch_size=400)
TRAINED = list(train(CONFIG))


def record(epoch):
    """The record of an epoch, of a run that learned nothing in the second."""
    return TRAINED[epoch - 1] | {"best": epoch != 2, "since_best": int(epoch == 2), "val_loss": None, "seconds": 0.1}


def state(epoch):
    return {"epoch": np.array(epoch), "weights": np.full(3, epoch, np.float32), "best_weights": np.arange(4.0)}


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path / "run", CONFIG)


def names(path):
    return sorted(entry.name for entry in path.iterdir())


def test_a_run_is_created_whole(tmp_path, run):
    assert names(tmp_path) == ["run"]
    assert names(run.path) == ["config.json"]
    assert RunFolder(run.path).config() == CONFIG
    assert run.records() == []
    assert run.checkpoint() is None


def test_an_existing_empty_folder_is_used(tmp_path):
    (tmp_path / "empty").mkdir()
    assert RunFolder.create(tmp_path / "empty", CONFIG).config() == CONFIG


def test_a_folder_with_files_is_never_overwritten(run):
    with pytest.raises(RunError, match="already holds files"):
        RunFolder.create(run.path, Config(lr=0.2))
    assert run.config() == CONFIG


def test_a_folder_that_cannot_be_made_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(RunError, match=r"could not be written .*: choose a folder"):
            RunFolder.create(path, CONFIG)
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(RunError, match="no run in"):
        RunFolder(tmp_path)


def test_saved_epochs_come_back(run):
    run.save(record(1), state(1))
    run.save(record(2), state(2))
    assert run.records() == [record(1), record(2)]
    assert run.checkpoint()["weights"].tolist() == [2, 2, 2]
    np.testing.assert_array_equal(np.load(run.path / "best_weights.npy"), np.arange(4.0))
    assert names(run.path) == ["best_weights.npy", "checkpoint.npz", "config.json", "metrics.jsonl"]


def test_rewind_drops_what_the_checkpoint_does_not_know(run):
    run.save(record(1), state(1))
    with (run.path / "metrics.jsonl").open("a") as file:
        file.write(json.dumps(record(2)) + "\n" + '{"epoch": 3, "val_l')  # killed in the middle of the third line
    np.save(run.path / "best_weights.npy", np.zeros(4))
    assert [entry["epoch"] for entry in run.records()] == [1, 2]
    run.rewind(1, state(1)["best_weights"])
    assert (run.path / "metrics.jsonl").read_text() == json.dumps(record(1)) + "\n"
    np.testing.assert_array_equal(np.load(run.path / "best_weights.npy"), np.arange(4.0))


def test_rewind_refuses_metrics_with_a_hole(run):
    run.save(record(1), state(1))
    run.save(record(3), state(3))
    with pytest.raises(RunError, match=r"metrics.jsonl in .* is damaged"):
        run.rewind(3, np.zeros(4))


# What makes a record, field by field: test_records.py.
LINES = ["3", "[]", "{}", json.dumps(record(1))]
LINES += [json.dumps(record(2) | {"weight_histogram": 5})]


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_rewind_refuses_lines_that_are_no_records(run, line):
    run.save(record(1), state(1))
    run.save(record(2), state(2))
    metrics = run.path / "metrics.jsonl"
    metrics.write_text(metrics.read_text().splitlines()[0] + "\n" + line + "\n")
    before = metrics.read_bytes()
    with pytest.raises(RunError, match=r"metrics.jsonl in .* is damaged"):
        run.rewind(2, np.zeros(4))
    assert metrics.read_bytes() == before


def test_numbers_that_are_not_json_are_never_written(run):
    with pytest.raises(ValueError, match="not JSON compliant"):
        run.save(record(1) | {"val_loss": float("nan")}, state(1))


@pytest.mark.parametrize("damage", ["cut", "flip", "text", "array", "empty"])
def test_a_damaged_checkpoint_is_one_sentence(run, damage):
    run.save(record(1), state(1))
    path = run.path / "checkpoint.npz"
    whole = path.read_bytes()
    if damage == "array":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
    else:
        middle = whole.index(np.full(3, 1, np.float32).tobytes()) + 5
        flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
        path.write_bytes({"cut": whole[: len(whole) // 2], "flip": flipped, "text": b"hello", "empty": b""}[damage])
    with pytest.raises(RunError, match=r"checkpoint.npz in .* is damaged"):
        run.checkpoint()


@pytest.mark.parametrize("content", ["{", "[1]", ""])
def test_a_damaged_config_is_one_sentence(run, content):
    (run.path / "config.json").write_text(content)
    with pytest.raises(RunError, match=r"config.json in .* is damaged"):
        run.config()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_told_and_the_checkpoint_stays(run):
    run.save(record(1), state(1))
    (run.path / "metrics.jsonl").unlink()
    (run.path / "metrics.jsonl").symlink_to("/dev/full")
    with pytest.raises(RunError, match=r"No space left on device\): free some space"):
        run.save(record(2), state(2))
    assert run.checkpoint()["epoch"] == 1


def test_a_file_is_replaced_and_not_written_over(tmp_path):
    path = tmp_path / "file"
    write_atomic(path, b"old")
    with path.open("rb") as reader:
        write_atomic(path, b"new")
        assert reader.read() == b"old"  # whoever has it open keeps a whole file
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["file"]


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_atomic(path, b"old")
    (tmp_path / "file.tmp").mkdir()  # the temporary name is taken: opening it fails
    with pytest.raises(RunError, match="could not be written"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"


def test_new_runs_are_numbered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(new_folder("moons")) == os.path.join("runs", "moons-1")
    assert new_folder("moons").name == "moons-2"
    assert new_folder("csv:../some where/a b.csv").name == "csv-a-b-1"
    (tmp_path / "runs" / "moons-3").mkdir()  # another process was there first
    assert new_folder("moons").name == "moons-4"


def test_a_folder_that_cannot_be_made_is_tried_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(RunError, match="could not be written"):
        new_folder("moons")


def test_the_first_and_the_last_record_are_read_with_histograms(run):
    for epoch in (1, 2, 3):
        run.save(record(epoch), state(epoch))
    assert run.records() == [record(1), *slim([record(2)]), record(3)]


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


@settings(max_examples=40)
@given(data=st.data())
def test_whatever_a_file_says_a_run_loads_or_is_a_sentence(tmp_path_factory, data):
    file = data.draw(st.sampled_from(["config.json", "metrics.jsonl"]))
    lines = [CONFIG.to_json()] if file == "config.json" else [dict(record) for record in TRAINED]
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
    folder = tmp_path_factory.mktemp("run")
    (folder / "config.json").write_text(json.dumps(CONFIG.to_json()))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in TRAINED))
    (folder / file).write_bytes(text)
    sentence = ""
    try:
        read = RunFolder(folder)
        if records := read.records():
            diagnose(records, read.config())
    except (RunError, ConfigError) as error:
        sentence = str(error)
    assert "\n" not in sentence
