"""The training process: it keeps to the rate, pauses within a batch, ends in time, and survives nothing but its page."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lab.training.config import Config
from lab.training.fair_queue import FairQueue
from lab.training.live import LiveRun
from lab.training.worker import Worker, start_spare_process
from train import train

ROOT = Path(__file__).resolve().parents[3]
CONFIG = Config(data="moons", hidden=(8,), lr=0.01, epochs=6, batch_size=64)
LONG = Config(data="moons", hidden=(8,), lr=0.01, epochs=100_000)


def without_time(records):
    return [{key: value for key, value in record.items() if key != "seconds"} for record in records]


def watch_until(worker, condition):
    turn = worker.take_turn()
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        worker.watch(turn)
        time.sleep(0.005)


def assert_as_if_never_interrupted(run):
    alone = LiveRun(LONG)
    alone.advance(run.batches)
    assert alone.losses().tolist() == run.losses().tolist()


def wait_until_ended(pid):
    deadline = time.monotonic() + 120
    while running(pid):
        assert time.monotonic() < deadline, "it goes on"
        time.sleep(0.01)


def running(pid):
    """Does a process compute? One that has ended, but whose parent has not asked for its exit code, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def worker():
    worker = Worker(LiveRun(LONG))
    yield worker
    worker.pause()


def test_it_trains_while_it_is_watched_and_pauses_within_a_batch(worker):
    watch_until(worker, lambda: worker.run.batches > 50)
    worker.pause()
    count = worker.run.batches
    worker.pause()
    assert worker.run.batches == count
    assert not worker.training
    worker.watch(worker.take_turn())
    assert worker.run.batches == count  # nothing was trained in between
    watch_until(worker, lambda: worker.run.batches > count)


def test_the_pause_shows_every_batch_that_was_trained(worker):
    for _ in range(2):
        watch_until(worker, lambda before=worker.run.batches: worker.run.batches > before)
        worker.pause()
        alone = LiveRun(LONG)
        alone.advance(worker.run.batches)
        assert alone.losses().tolist() == worker.run.losses().tolist()
        assert (alone.trainer.weights() == worker.run.trainer.weights()).all()
        assert without_time(alone.records) == without_time(worker.run.records)


def test_at_a_slow_rate_a_pause_does_not_wait_for_the_next_batch(worker):
    worker.rate = 1 / 3600  # the next batch is due in an hour
    watch_until(worker, lambda: worker.run.batches == 1)
    pause = threading.Thread(target=worker.pause, daemon=True)
    pause.start()
    pause.join(timeout=120)
    assert not pause.is_alive()
    assert worker.run.batches == 1


@pytest.mark.parametrize("until", [(0, 1), (3, 0), (4, 7)])
def test_it_stops_where_it_is_told_to_with_the_numbers_of_a_run_that_was_never_interrupted(worker, until):
    """So a reloaded page trains a run again to the place that its link names."""
    worker.until = until
    watch_until(worker, lambda: worker.run.position >= until)
    for _ in range(3):
        worker.watch(worker.take_turn())
        time.sleep(0.02)
    assert worker.run.position == until
    alone = LiveRun(LONG)
    alone.advance(worker.run.batches)
    assert alone.position == until
    assert (alone.trainer.weights() == worker.run.trainer.weights()).all()
    assert alone.losses().tolist() == worker.run.losses().tolist()
    assert without_time(alone.history) == without_time(worker.run.history)
    worker.until = None  # and it goes on
    watch_until(worker, lambda: worker.run.position > until)


def test_it_keeps_to_the_rate(worker):
    worker.rate = 100
    began = time.monotonic()
    watch_until(worker, lambda: worker.run.batches >= 30)
    worker.pause()
    assert worker.run.batches <= 100 * (time.monotonic() - began) + 2  # on a slow machine, fewer


def test_the_rate_changes_at_once(worker):
    worker.rate = 1 / 3600
    watch_until(worker, lambda: worker.run.batches == 1)
    worker.rate = 1000
    watch_until(worker, lambda: worker.run.batches > 20)  # and not only when the next batch was due, in an hour


def test_a_run_begins_in_the_process_that_waits(monkeypatch):
    start_spare_process()
    start_spare_process()  # one is enough
    with monkeypatch.context() as here:
        here.setattr("sys.executable", "/bin/false")  # another could not start
        worker = Worker(LiveRun(LONG))
        watch_until(worker, lambda: worker.run.batches)
        worker.pause()
        with pytest.raises(RuntimeError, match="ended before it answered"):
            watch_until(Worker(LiveRun(LONG)), lambda: False)
    assert_as_if_never_interrupted(worker.run)


def test_one_that_waits_ends_with_the_server_and_complains_of_nothing():
    code = "from lab.training import worker; worker.start_spare_process(); print(worker._spare.get().pid, flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, **pipes) as server:
        pid = int(server.stdout.readline())
        said = server.communicate(b"\n", timeout=120)[1]
    wait_until_ended(pid)
    assert said == b""


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="priorities of Unix")
def test_the_picture_that_a_press_waits_for_comes_before_others_and_the_rest_after(monkeypatch):
    """On a busy machine the first batches of a process that computes with what others leave took seconds."""
    monkeypatch.setenv("TENSOR_LAB_NICENESS", "5")
    worker, own = Worker(LiveRun(LONG)), os.getpriority(os.PRIO_PROCESS, 0)
    worker.watch(worker.take_turn())
    assert os.getpriority(os.PRIO_PROCESS, worker._process.pid) == own
    watch_until(worker, lambda: os.getpriority(os.PRIO_PROCESS, worker._process.pid) == min(own + 5, 19))
    worker.pause()


def test_it_goes_on_from_where_the_run_was_taken_meanwhile(worker):
    watch_until(worker, lambda: worker.run.trainer.epoch >= 4)
    worker.pause()
    worker.run.rewind(2)
    worker.run.advance(3)
    count = worker.run.batches
    watch_until(worker, lambda: worker.run.batches > count)
    worker.pause()
    assert_as_if_never_interrupted(worker.run)


def test_its_process_ends_when_nobody_watches_and_the_visitor_can_come_back():
    worker = Worker(LiveRun(LONG), patience=0.3)
    watch_until(worker, lambda: worker.run.batches)
    count = worker.run.batches
    wait_until_ended(worker._process.pid)
    watch_until(worker, lambda: worker.run.batches > count)
    worker.pause()
    assert_as_if_never_interrupted(worker.run)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes of Linux")
def test_a_process_that_has_ended_leaves_nothing_behind():
    """Without anybody watching or pausing the run any more: the visitor has closed the page."""
    worker = Worker(LiveRun(LONG), patience=0.5)
    worker.watch(worker.take_turn())
    entry = Path(f"/proc/{worker._process.pid}")
    deadline = time.monotonic() + 60
    while entry.exists():
        assert time.monotonic() < deadline, entry.joinpath("stat").read_text()
        time.sleep(0.01)


def test_a_process_that_is_killed_costs_no_number():
    worker = Worker(LiveRun(LONG))
    for _ in range(3):
        watch_until(worker, lambda before=worker.run.batches: worker.run.batches > before)
        os.kill(worker._process.pid, signal.SIGKILL)
    worker.pause()
    assert_as_if_never_interrupted(worker.run)


def test_its_process_ends_with_the_server():
    code = (
        "import time; from lab.training.live import LiveRun; from lab.training.worker import Worker; from train import Config;"
        "worker = Worker(LiveRun(Config(epochs=100_000)), patience=1000); worker.watch(worker.take_turn());"
        "print(worker._process.pid, flush=True); time.sleep(1000)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as server:
        pid = int(server.stdout.readline())
        server.kill()
    wait_until_ended(pid)


def test_ctrl_c_is_left_to_the_server(worker):
    watch_until(worker, lambda: worker.run.batches)
    pid = worker._process.pid
    os.kill(pid, signal.SIGINT)
    count = worker.run.batches
    watch_until(worker, lambda: worker.run.batches > count)
    assert worker._process.pid == pid


def test_watching_again_does_not_start_a_second_process(worker):
    worker.watch(worker.take_turn())
    pid = worker._process.pid
    for _ in range(5):
        worker.watch(worker.take_turn())
    assert worker._process.pid == pid


def test_an_older_turn_no_longer_changes_the_run(worker):
    turn = worker.take_turn()
    worker.watch(turn)
    worker.pause()
    count = worker.run.batches
    worker.watch(turn)
    assert not worker.training
    newer = worker.take_turn()
    worker.watch(turn)
    assert not worker.training
    worker.watch(newer)
    assert worker.training
    assert worker.run.batches == count


def test_a_process_that_cannot_start_is_one_sentence(monkeypatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(RuntimeError, match="ended before it answered"):
        watch_until(Worker(LiveRun(CONFIG)), lambda: False)


def test_it_ends_with_the_run_and_the_numbers_are_those_of_the_command_line():
    worker = Worker(LiveRun(CONFIG))
    watch_until(worker, lambda: worker.run.done)
    assert not worker.training
    assert without_time(worker.run.records) == without_time(train(CONFIG))
    worker.watch(worker.take_turn())
    assert not worker.training


def test_a_run_that_waits_goes_on_with_the_same_numbers():
    places = FairQueue(1)
    first, second, other = (Worker(LiveRun(LONG), 1000, visitor, places) for visitor in ("a", "a", "b"))
    watch_until(first, lambda: first.run.batches)
    second.watch(second.take_turn())
    assert (second.queue_position, second.training, second.run.batches) == (1, False, 0)
    first.pause()
    watch_until(second, lambda: second.run.batches > 10)
    first.watch(first.take_turn())
    assert first.queue_position == 1
    second.pause()
    watch_until(first, lambda before=first.run.batches: first.run.batches > before)
    other.watch(other.take_turn())
    assert other.queue_position == 1  # the first to come stays
    first.pause()
    for worker in (first, second, other):
        worker.pause()
        assert_as_if_never_interrupted(worker.run)
