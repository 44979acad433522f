"""A sweep on a Dask cluster: a real scheduler and real workers, each in a process of its own."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.training import cli
from lab.training.run_folder import lock_run

ROOT = Path(__file__).resolve().parents[3]
FLAGS = ["--data", "moons", "--hidden", "6", "--batch-size", "200", "--optimizer", "sgd"]
MANY = 800  # epochs that are not over before Ctrl-C has arrived, however busy the machine
pytestmark = pytest.mark.xdist_group("dask")  # one scheduler for all of them
needs_dask = pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="Dask is an optional extra")


@pytest.fixture(scope="module")
def start():
    """Start `python ARGUMENTS`; whatever still runs at the end is killed."""
    processes = []

    def start(*arguments, cwd=ROOT):
        processes.append(
            subprocess.Popen(
                [sys.executable, *map(str, arguments)],
                cwd=cwd,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if cwd != ROOT else subprocess.DEVNULL,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            )
        )
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def scheduler(start, tmp_path_factory):
    """The address of a Dask scheduler without workers."""
    file = tmp_path_factory.mktemp("dask") / "scheduler.json"
    start("-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", file)
    wait_for(lambda: file.exists() and file.read_text().rstrip().endswith("}"))  # it is there before it is written
    return json.loads(file.read_text())["address"]


@pytest.fixture
def worker(start, scheduler):
    """Start a worker of the scheduler; it is killed at the end of the test."""
    workers = []

    def worker():
        workers.append(start("-m", "dask", "worker", scheduler, "--nthreads", 1, "--no-nanny", "--no-dashboard"))
        return workers[-1]

    yield worker
    for process in workers:
        process.kill()


def wait_for(condition):
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@needs_dask
@pytest.mark.exhaustive
def test_every_run_completes_once_although_a_worker_is_killed(tmp_path, start, scheduler, worker):
    workers = [worker(), worker()]
    flags = [*FLAGS, "--epochs", 100, "--sweep", "lr=0.01,0.1", "init=he,xavier", "--scheduler", scheduler]
    sweep = start(ROOT / "train.py", *flags, "--out", "s", cwd=tmp_path)
    folders = tmp_path / "s"
    wait_for(lambda: len(list(folders.glob("*/checkpoint.npz"))) >= 2)  # both are at work
    workers[0].kill()
    out, err = sweep.communicate(timeout=300)
    assert (sweep.returncode, err) == (0, "")
    assert len(out.splitlines()) == 1 + 1 + 4
    assert sum(1 for _ in folders.iterdir()) == 4
    for folder in folders.iterdir():
        records = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        assert [record["epoch"] for record in records] == list(range(1, 101))
        assert (folder / "summary.png").exists()
    assert workers[1].poll() is None


@needs_dask
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.exhaustive
def test_ctrl_c_takes_back_what_has_not_begun_and_ends_what_has(tmp_path, start, scheduler, worker):
    flags = [*FLAGS, "--sweep", f"epochs={MANY},2", "--scheduler", scheduler, "--out", "a sweep"]
    only = worker()
    sweep = start(ROOT / "train.py", *flags, cwd=tmp_path)
    folders = [tmp_path / "a sweep" / name for name in (f"epochs={MANY}", "epochs=2")]
    wait_for((folders[0] / "checkpoint.npz").exists)
    sweep.send_signal(signal.SIGINT)
    _, err = sweep.communicate(timeout=300)
    assert sweep.returncode == 130
    assert err.count("\n") == 1
    assert "0 of 2 runs finished. Runs that the cluster has begun stop after their present epoch. Continue with" in err
    with lock_run(folders[0], wait=True):  # the worker has let go of it
        assert len((folders[0] / "metrics.jsonl").read_text().splitlines()) < MANY
    assert not (folders[1] / "metrics.jsonl").exists()
    assert only.poll() is None
    sweep = start(ROOT / "train.py", *flags, cwd=tmp_path)
    _, err = sweep.communicate(timeout=300)
    assert (sweep.returncode, err) == (0, "")
    for folder, epochs in zip(folders, (MANY, 2), strict=True):
        records = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        assert [record["epoch"] for record in records] == list(range(1, epochs + 1))
    assert {path.name for path in (tmp_path / "a sweep").iterdir()} == {folder.name for folder in folders}


@needs_dask
def test_a_scheduler_that_is_not_there_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lab.training.sweep.CONNECT_SECONDS", 0.2)
    assert cli.main([*FLAGS, "--sweep", "lr=1", "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "There is no Dask scheduler at 'tcp://127.0.0.1:9'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_without_dask_it_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "distributed", None)  # as if it were not installed
    assert cli.main([*FLAGS, "--sweep", "lr=1", "--scheduler", "tcp://127.0.0.1:9"]) == 2
    err = capsys.readouterr().err
    assert "--scheduler needs Dask, which is not installed: pip install" in err
    assert err.count("\n") == 1


def test_a_scheduler_without_a_sweep_is_refused(capsys):
    assert cli.main(["--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "--scheduler needs a --sweep" in capsys.readouterr().err


@needs_dask
@pytest.mark.parametrize("address", ["foo", "tls://127.0.0.1:9", "smtp://127.0.0.1:25"])
@pytest.mark.exhaustive
def test_an_address_that_is_none_is_one_sentence_and_nothing_follows(tmp_path, start, address):
    """In a process of its own: what Dask has to say of it comes as the process ends."""
    sweep = start(ROOT / "train.py", *FLAGS, "--sweep", "lr=1", "--scheduler", address, cwd=tmp_path)
    out, err = sweep.communicate(timeout=120)
    assert (sweep.returncode, out) == (2, "")
    assert f"There is no Dask scheduler at '{address}'" in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())
