"""The runs of the page's visitors in files: whole, bounded, and nobody else's."""

import contextlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from lab.practice import sandbox
from lab.training import points, run_store
from lab.training.config import Config
from lab.training.live import LiveRun
from lab.training.run_folder import RunError
from lab.training.run_store import RunStore
from lab.training.shelf import ShelvedRun, put
from pages.parts.training import saved_runs

ROOT = Path(__file__).resolve().parents[3]

CONFIG = Config(data="blobs", hidden=(4,), epochs=6, lr=0.01)
TEXT = points.to_text(points.START)


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path, "a" * 32)


def trained(batches, config=CONFIG, own=None):
    run = LiveRun(config, run_store.own_dataset(own or {}, config), own=own)
    run.advance(batches)
    return run


def same(one, other):
    numbers = ([r | {"seconds": 0} for r in run.history] for run in (one, other))
    assert next(numbers) == next(numbers)
    assert (other.losses() == one.losses()).all()
    assert (other.trainer.weights() == one.trainer.weights()).all()
    assert (other.config, other.own) == (one.config, one.own)


@pytest.mark.parametrize("batches", [0, 1, 60, 150])
def test_a_run_comes_back_as_it_was_and_goes_on_bit_for_bit(store, batches):
    run = trained(batches)
    store.save_present(run)
    again = RunStore(store.files, store.key).present()
    same(run, again)
    for one in (run, again):
        one.advance(40)
    same(run, again)
    for one in (run, again):
        one.rewind(one.kept_epoch(1))
        one.advance(30)
    same(run, again)


@pytest.mark.parametrize(
    "own",
    [
        {"points": TEXT},
        {
            "table": "a;b;c\n" + "".join(f"{i};{i % 3};{i % 2}\n" for i in range(30)),
            "name": "x.csv",
            "encoding": "UTF-8",
        }
        | {"target": "b", "task": None, "drop": [], "keep": ["a"]},
    ],
)
def test_own_data_live_with_their_run(store, own):
    config = Config(data=next(iter(own)), hidden=(3,), epochs=4)
    run = trained(3, config, own)
    store.save_present(run)
    same(run, store.present())
    run.advance(1000)
    store.save_present(run)
    assert not run_store.finished_path(store.files, config).exists()  # nobody else's


def test_a_finished_run_is_there_for_a_link_and_one_that_is_not_is_not(store):
    store.save_present(trained(10))
    assert run_store.open_run(run_store.finished_path(store.files, CONFIG)) is None
    run = trained(10_000)
    store.save_present(run)
    same(run, run_store.open_run(run_store.finished_path(store.files, CONFIG)))
    assert (
        run_store.open_run(run_store.finished_path(store.files, Config(data="blobs", hidden=(4,), epochs=7, lr=0.01)))
        is None
    )


def test_another_key_sees_nothing(store):
    run = trained(30)
    store.save_present(run)
    store.shelve(ShelvedRun("mine", run.config, run.records), run)
    other = RunStore(store.files, "b" * 32)
    assert other.present() is None
    assert not other.shelf()
    assert store.key not in str(store.folder)


def test_each_window_finds_its_own_run_again(store):
    runs = [trained(5 + seed, Config(data="blobs", hidden=(4,), epochs=6, seed=seed)) for seed in range(6)]
    for run in runs:
        store.save_present(run)
    for run in runs[2:]:
        same(run, store.present(run.config))
    same(runs[-1], store.present(runs[0].config))  # too old: the one that was shown last
    assert store.shelf() == []


def test_the_shelf_comes_back_without_its_bulk_and_opens_whole(store):
    run = trained(60)
    (kept,) = put([], run.config, run.records)
    store.shelve(kept, run)
    (found,) = store.shelf()
    assert (found.name, found.config, found.records) == (kept.name, kept.config, kept.records)
    same(run, run_store.open_run(found.file))


def test_a_new_name_and_an_end_reach_the_file(store):
    names = []
    for seed in range(2):
        run = trained(30, Config(data="blobs", hidden=(4,), epochs=6, seed=seed))
        kept = ShelvedRun(str(seed), run.config, run.records)
        store.shelve(kept, run)
        names.append(kept)
    first, second = names
    os.utime(first.file, (1, 1))
    first.name = "the first"
    run_store.rename(first)
    assert [kept.name for kept in store.shelf()] == ["the first", "1"]
    same(run_store.unpack(second.file), run)
    assert run_store.unpack(first.file).config == first.config
    run_store.delete(second)
    assert [kept.name for kept in store.shelf()] == ["the first"]
    run_store.delete(second)  # another window was faster
    with pytest.raises(RunError, match="can no longer be read"):
        run_store.rename(second)
    for memory_only in (run_store.rename, run_store.delete):
        memory_only(ShelvedRun("x", CONFIG, []))


def test_what_is_damaged_is_left_out(store):
    run = trained(30)
    store.save_present(run)
    store.shelve(ShelvedRun("mine", run.config, run.records), run)
    for path in store.folder.glob("*.npz"):
        path.write_bytes(path.read_bytes()[:-100])
    assert store.present() is None
    assert store.shelf() == []


def test_two_visitors_may_finish_the_same_run_at_once(store):
    run = trained(150)
    assert run.done
    both = (store, RunStore(store.files, "b" * 32))
    with ThreadPoolExecutor(4) as pool:
        for kept in [pool.submit(one.save_present, run) for _ in range(20) for one in both]:
            kept.result()
    same(run, run_store.open_run(run_store.finished_path(store.files, CONFIG)))


def test_a_file_that_another_window_has_just_deleted_is_left_out(store):
    run = trained(30)
    store.save_present(run)
    for name in ("present-gone.npz", "gone.npz"):  # still in the list of the folder's files, and there no more
        (store.folder / name).symlink_to("nowhere")
    same(run, store.present())
    assert store.shelf() == []
    store.save_present(run)


def test_the_oldest_make_room(store, monkeypatch):
    monkeypatch.setattr(run_store, "MAX_RUNS", 3)
    for seed in range(5):
        run = trained(30, Config(data="blobs", hidden=(4,), epochs=6, seed=seed))
        store.shelve(ShelvedRun(str(seed), run.config, run.records), run)
    assert [kept.name for kept in store.shelf()] == ["2", "3", "4"]


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*.npz"))


def filled(store, runs=3):
    """Put runs on the shelf of a store; return the bytes of one."""
    for seed in range(runs):
        run = trained(30, Config(data="blobs", hidden=(4,), epochs=6, seed=seed))
        store.shelve(ShelvedRun(str(seed), run.config, run.records), run)
    return size_of(store.folder) // runs


def test_a_visitor_has_a_quota_and_loses_only_runs_of_their_own(store, monkeypatch):
    one = filled(store)
    monkeypatch.setattr(run_store, "BROWSER_LIMIT", one * 7 // 2)
    other = RunStore(store.files, "b" * 32)
    filled(other, 6)
    assert [kept.name for kept in other.shelf()] == ["3", "4", "5"]
    assert size_of(other.folder) <= run_store.BROWSER_LIMIT
    assert len(store.shelf()) == 3
    monkeypatch.setattr(run_store, "BROWSER_LIMIT", one // 2)
    with pytest.raises(RunError, match="too large"):
        other.save_present(trained(30))
    assert len(other.shelf()) == 3


def test_nobody_pushes_out_what_others_have_kept_in_the_last_day(store, monkeypatch):
    one = filled(store)
    monkeypatch.setattr(run_store, "TOTAL_LIMIT", one * 9 // 2)
    for key in "bcdef":  # somebody who makes up keys
        with contextlib.suppress(RunError):
            filled(RunStore(store.files, key * 32), 1)
    assert len(store.shelf()) == 3
    assert size_of(store.files) <= run_store.TOTAL_LIMIT
    late = RunStore(store.files, "9" * 32)
    with pytest.raises(RunError, match="no room for more"):
        late.save_present(trained(30))
    oldest = store.shelf()[0].file
    os.utime(oldest, (1, 1))
    late.save_present(trained(30))
    assert late.present() is not None
    assert [kept.name for kept in store.shelf()] == ["1", "2"]


def test_the_number_of_browsers_is_bounded(store, monkeypatch):
    monkeypatch.setattr(run_store, "MAX_BROWSERS", 3)
    several = [RunStore(store.files, key * 32) for key in "abc"]
    for one in several:
        one.save_present(trained(30))
    with pytest.raises(RunError, match="no room for more visitors"):
        RunStore(store.files, "d" * 32).save_present(trained(30))
    os.utime(several[1].folder, (1, 1))
    RunStore(store.files, "d" * 32).save_present(trained(30))
    assert [one.present() is not None for one in several] == [True, False, True]


def test_who_only_looks_has_no_folder_and_an_empty_one_goes_first(store, monkeypatch):
    monkeypatch.setattr(run_store, "MAX_BROWSERS", 2)
    for number in range(5):
        RunStore(store.files, f"{number:032}").prepare()
    assert list(store.files.iterdir()) == []
    run = trained(1)
    store.save_present(run)
    (store.files / "empty").mkdir()  # newer than the other one
    other = RunStore(store.files, "b" * 32)
    other.save_present(run)
    assert {path.name for path in store.files.iterdir()} == {store.folder.name, other.folder.name}


def test_a_time_in_the_future_counts_as_old(store, monkeypatch):
    """The clock was wrong, and has been set back."""
    monkeypatch.setattr(run_store, "MAX_BROWSERS", 1)
    runs = [trained(5 + seed, Config(data="blobs", hidden=(4,), epochs=6, seed=seed)) for seed in range(5)]
    ahead = time.time() + 10 * run_store.PROTECTED_SECONDS
    for run in runs[:4]:
        store.save_present(run)
    for path in (*store.folder.iterdir(), store.folder):
        os.utime(path, (ahead, ahead))
    store.save_present(runs[4])
    same(runs[4], store.present())
    os.utime(store.folder, (ahead, ahead))
    other = RunStore(store.files, "b" * 32)
    other.save_present(runs[0])
    assert store.present() is None
    same(runs[0], other.present())


def test_what_the_manual_says_of_limits_is_what_holds():
    text = " ".join((ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("deployment", "security"))
    text = " ".join(text.split())
    per_browser, in_all, seconds = (
        run_store.BROWSER_LIMIT // 10**6,
        run_store.TOTAL_LIMIT // 10**9,
        saved_runs.SAVE_INTERVAL,
    )
    assert f"({per_browser} MB for each visitor, {in_all} GB in total)" in text
    assert f"a crash of the server at most {seconds:g} seconds of training" in text
    assert (per_browser * 10**6, in_all * 10**9) == (run_store.BROWSER_LIMIT, run_store.TOTAL_LIMIT)
    check = sandbox.CHECK
    assert f"has {check.seconds:g} seconds of processor time and {check.memory >> 20} MB" in text


@pytest.mark.parametrize("place", ["a file", "not to be written"])
def test_where_nothing_can_be_written_it_is_known_at_once(tmp_path, place):
    folder = tmp_path / "runs"
    folder.touch() if place == "a file" else folder.symlink_to("/proc/nothing")
    store = RunStore(folder / ".visits", "a" * 32)
    for call in (store.prepare, lambda: store.save_present(trained(1))):
        with pytest.raises(RunError, match="cannot be kept"):
            call()


def test_a_file_holds_some_of_the_weights_and_always_the_first(store, monkeypatch):
    run = trained(120)
    one = sum(array.nbytes for array in run.trainer.state().values())
    monkeypatch.setattr(run_store, "STATES_LIMIT", 2 * one)
    store.save_present(run)
    again = store.present()
    assert again.kept_epoch(0) == 0
    assert len(again._states) <= 3
    assert np.array_equal(again.network(0).parameters()[0].numpy(), run.network(0).parameters()[0].numpy())
