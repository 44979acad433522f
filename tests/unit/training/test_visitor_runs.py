"""The runs of the page's visitors in files: whole, bounded, and nobody else's."""

import contextlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from lab.practice import sandbox
from lab.training import points, visitor_runs
from lab.training.config import Config
from lab.training.live import LiveRun
from lab.training.run_folder import RunError
from lab.training.shelf import ShelvedRun, put
from lab.training.visitor_runs import Visit
from pages.parts.training import visit as keeping

ROOT = Path(__file__).resolve().parents[3]

CONFIG = Config(data="blobs", hidden=(4,), epochs=6, lr=0.01)
TEXT = points.to_text(points.START)


@pytest.fixture
def visit(tmp_path):
    return Visit(tmp_path, "a" * 32)


def trained(batches, config=CONFIG, own=None):
    run = LiveRun(config, visitor_runs.own_dataset(own or {}, config), own=own)
    run.advance(batches)
    return run


def same(one, other):
    numbers = ([r | {"seconds": 0} for r in run.history] for run in (one, other))
    assert next(numbers) == next(numbers)
    assert (other.losses() == one.losses()).all()
    assert (other.trainer.weights() == one.trainer.weights()).all()
    assert (other.config, other.own) == (one.config, one.own)


@pytest.mark.parametrize("batches", [0, 1, 60, 150])
def test_a_run_comes_back_as_it_was_and_goes_on_bit_for_bit(visit, batches):
    run = trained(batches)
    visit.keep_present(run)
    again = Visit(visit.files, visit.key).present()
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
        {"table": "a;b;c\n" + "".join(f"{i};{i % 3};{i % 2}\n" for i in range(30)), "name": "x.csv", "target": "b"},
    ],
)
def test_own_data_live_with_their_run(visit, own):
    config = Config(data=next(iter(own)), hidden=(3,), epochs=4)
    run = trained(3, config, own)
    visit.keep_present(run)
    same(run, visit.present())
    run.advance(1000)
    visit.keep_present(run)
    assert not visitor_runs.finished_path(visit.files, config).exists()  # nobody else's


def test_a_finished_run_is_there_for_a_link_and_one_that_is_not_is_not(visit):
    visit.keep_present(trained(10))
    assert visitor_runs.open_run(visitor_runs.finished_path(visit.files, CONFIG)) is None
    run = trained(10_000)
    visit.keep_present(run)
    same(run, visitor_runs.open_run(visitor_runs.finished_path(visit.files, CONFIG)))
    assert (
        visitor_runs.open_run(
            visitor_runs.finished_path(visit.files, Config(data="blobs", hidden=(4,), epochs=7, lr=0.01))
        )
        is None
    )


def test_another_key_sees_nothing(visit):
    run = trained(30)
    visit.keep_present(run)
    visit.shelve(ShelvedRun("mine", run.config, run.records), run)
    other = Visit(visit.files, "b" * 32)
    assert other.present() is None
    assert not other.shelf()
    assert visit.key not in str(visit.folder)


def test_each_window_finds_its_own_run_again(visit):
    runs = [trained(5 + seed, Config(data="blobs", hidden=(4,), epochs=6, seed=seed)) for seed in range(6)]
    for run in runs:
        visit.keep_present(run)
    for run in runs[2:]:
        same(run, visit.present(run.config))
    same(runs[-1], visit.present(runs[0].config))  # too old: the one that was shown last
    assert visit.shelf() == []


def test_the_shelf_comes_back_without_its_bulk_and_opens_whole(visit):
    run = trained(60)
    (kept,) = put([], run.config, run.records)
    visit.shelve(kept, run)
    (found,) = visit.shelf()
    assert (found.name, found.config, found.records) == (kept.name, kept.config, kept.records)
    same(run, visitor_runs.open_run(found.file))


def test_a_new_name_and_an_end_reach_the_file(visit):
    names = []
    for seed in range(2):
        run = trained(30, Config(data="blobs", hidden=(4,), epochs=6, seed=seed))
        kept = ShelvedRun(str(seed), run.config, run.records)
        visit.shelve(kept, run)
        names.append(kept)
    first, second = names
    os.utime(first.file, (1, 1))
    first.name = "the first"
    visitor_runs.rename(first)
    assert [kept.name for kept in visit.shelf()] == ["the first", "1"]
    same(visitor_runs.unpack(second.file), run)
    assert visitor_runs.unpack(first.file).config == first.config
    visitor_runs.delete(second)
    assert [kept.name for kept in visit.shelf()] == ["the first"]
    visitor_runs.delete(second)  # another window was faster
    with pytest.raises(RunError, match="can no longer be read"):
        visitor_runs.rename(second)
    for memory_only in (visitor_runs.rename, visitor_runs.delete):
        memory_only(ShelvedRun("x", CONFIG, []))


def test_what_is_damaged_is_left_out(visit):
    run = trained(30)
    visit.keep_present(run)
    visit.shelve(ShelvedRun("mine", run.config, run.records), run)
    for path in visit.folder.glob("*.npz"):
        path.write_bytes(path.read_bytes()[:-100])
    assert visit.present() is None
    assert visit.shelf() == []


def test_two_visitors_may_finish_the_same_run_at_once(visit):
    run = trained(150)
    assert run.done
    both = (visit, Visit(visit.files, "b" * 32))
    with ThreadPoolExecutor(4) as pool:
        for kept in [pool.submit(one.keep_present, run) for _ in range(20) for one in both]:
            kept.result()
    same(run, visitor_runs.open_run(visitor_runs.finished_path(visit.files, CONFIG)))


def test_a_file_that_another_window_has_just_deleted_is_left_out(visit):
    run = trained(30)
    visit.keep_present(run)
    for name in ("present-gone.npz", "gone.npz"):  # still in the list of the folder's files, and there no more
        (visit.folder / name).symlink_to("nowhere")
    same(run, visit.present())
    assert visit.shelf() == []
    visit.keep_present(run)


def test_the_oldest_make_room(visit, monkeypatch):
    monkeypatch.setattr(visitor_runs, "MAX_RUNS", 3)
    for seed in range(5):
        run = trained(30, Config(data="blobs", hidden=(4,), epochs=6, seed=seed))
        visit.shelve(ShelvedRun(str(seed), run.config, run.records), run)
    assert [kept.name for kept in visit.shelf()] == ["2", "3", "4"]


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*.npz"))


def filled(visit, runs=3):
    """The visit with so many runs on its shelf; returns the bytes of one."""
    for seed in range(runs):
        run = trained(30, Config(data="blobs", hidden=(4,), epochs=6, seed=seed))
        visit.shelve(ShelvedRun(str(seed), run.config, run.records), run)
    return size_of(visit.folder) // runs


def test_a_visitor_has_a_quota_and_loses_only_runs_of_their_own(visit, monkeypatch):
    one = filled(visit)
    monkeypatch.setattr(visitor_runs, "VISIT_LIMIT", one * 7 // 2)
    other = Visit(visit.files, "b" * 32)
    filled(other, 6)
    assert [kept.name for kept in other.shelf()] == ["3", "4", "5"]
    assert size_of(other.folder) <= visitor_runs.VISIT_LIMIT
    assert len(visit.shelf()) == 3
    monkeypatch.setattr(visitor_runs, "VISIT_LIMIT", one // 2)
    with pytest.raises(RunError, match="too large"):
        other.keep_present(trained(30))
    assert len(other.shelf()) == 3


def test_nobody_pushes_out_what_others_have_kept_in_the_last_day(visit, monkeypatch):
    one = filled(visit)
    monkeypatch.setattr(visitor_runs, "TOTAL_LIMIT", one * 9 // 2)
    for key in "bcdef":  # somebody who makes up keys
        with contextlib.suppress(RunError):
            filled(Visit(visit.files, key * 32), 1)
    assert len(visit.shelf()) == 3
    assert size_of(visit.files) <= visitor_runs.TOTAL_LIMIT
    late = Visit(visit.files, "9" * 32)
    with pytest.raises(RunError, match="no room for more"):
        late.keep_present(trained(30))
    oldest = visit.shelf()[0].file
    os.utime(oldest, (1, 1))
    late.keep_present(trained(30))
    assert late.present() is not None
    assert [kept.name for kept in visit.shelf()] == ["1", "2"]


def test_the_number_of_visits_is_bounded(visit, monkeypatch):
    monkeypatch.setattr(visitor_runs, "MAX_VISITS", 3)
    several = [Visit(visit.files, key * 32) for key in "abc"]
    for one in several:
        one.keep_present(trained(30))
    with pytest.raises(RunError, match="no room for more visitors"):
        Visit(visit.files, "d" * 32).keep_present(trained(30))
    os.utime(several[1].folder, (1, 1))
    Visit(visit.files, "d" * 32).keep_present(trained(30))
    assert [one.present() is not None for one in several] == [True, False, True]


def test_what_the_manual_says_of_limits_is_what_holds():
    text = " ".join((ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("deployment", "security"))
    text = " ".join(text.split())
    per_visit, in_all, seconds = visitor_runs.VISIT_LIMIT // 10**6, visitor_runs.TOTAL_LIMIT // 10**9, keeping.KEEP
    assert f"({per_visit} MB for each visitor, {in_all} GB in total)" in text
    assert f"a crash of the server at most {seconds:g} seconds of training" in text
    assert (per_visit * 10**6, in_all * 10**9) == (visitor_runs.VISIT_LIMIT, visitor_runs.TOTAL_LIMIT)
    check = sandbox.CHECK
    assert f"has {check.seconds:g} seconds of processor time and {check.memory >> 20} MB" in text


@pytest.mark.parametrize("place", ["a file", "not to be written"])
def test_where_nothing_can_be_written_it_is_known_at_once(tmp_path, place):
    folder = tmp_path / "runs"
    folder.touch() if place == "a file" else folder.symlink_to("/proc/nothing")
    visit = Visit(folder / ".visits", "a" * 32)
    for call in (visit.prepare, lambda: visit.keep_present(trained(1))):
        with pytest.raises(RunError, match="cannot be kept"):
            call()


def test_a_file_holds_some_of_the_weights_and_always_the_first(visit, monkeypatch):
    run = trained(120)
    one = sum(array.nbytes for array in run.trainer.state().values())
    monkeypatch.setattr(visitor_runs, "STATES_LIMIT", 2 * one)
    visit.keep_present(run)
    again = visit.present()
    assert again.kept_epoch(0) == 0
    assert len(again._states) <= 3
    assert np.array_equal(again.network(0).parameters()[0].numpy(), run.network(0).parameters()[0].numpy())
