"""Sweeps, as real processes: what they leave behind, Ctrl-C, and what is refused before anything starts."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib.font_manager  # noqa: F401 (the first process that imports it looks for fonts, which takes seconds)
import pytest

from lab.training import cli, sweep
from lab.training.run_folder import RunFolder, lock_run

SCRIPT = str(Path(__file__).resolve().parents[3] / "train.py")
SMALL = ["--data", "moons", "--hidden", "6", "--epochs", "3", "--batch-size", "200", "--optimizer", "sgd"]
MANY = 800  # epochs that take several times as long as the picture of a short run
pytestmark = pytest.mark.usefixtures("pictures_once")  # in this process; its workers draw theirs
linux = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="signals and processes of Linux")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, SCRIPT, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )


def finish(process):
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def assert_nobody_is_left(process):
    """No worker lives on. The dead may stay in the table of processes until somebody asks for them."""
    deadline = time.monotonic() + 120
    while alive := [stat for stat in map(status, Path("/proc").glob("[0-9]*")) if stat[2:3] == [str(process.pid)]]:
        if all(state == "Z" for state, *_ in alive):
            return
        assert time.monotonic() < deadline, alive
        time.sleep(0.02)


def status(entry):
    """The state, parent and process group of a process; nothing when it is gone."""
    try:
        return (entry / "stat").read_text().rpartition(")")[2].split()[:3]
    except OSError:
        return []


def metrics(folder):
    return [json.loads(line) | {"seconds": 0} for line in (Path(folder) / "metrics.jsonl").read_text().splitlines()]


def test_a_sweep_trains_every_combination_and_only_once(here, capsys):
    flags = [*SMALL, "--sweep", "lr=0.001,1", "init=he,zeros", "--out", "s"]
    code, out, err = finish(start(*flags))
    assert (code, err) == (0, "")
    head, *lines = out.splitlines()[1:]
    assert head.split()[:2] == ["lr", "init"]
    assert len(lines) == 4
    assert lines[0].split()[:2] == ["1.0", "he"]
    shares = [float(line.split()[2].rstrip("%")) for line in lines]
    assert shares == sorted(shares, reverse=True)
    folders = sorted(Path("s").iterdir())
    assert [f.name for f in folders] == [
        "lr=0.001,init=he",
        "lr=0.001,init=zeros",
        "lr=1.0,init=he",
        "lr=1.0,init=zeros",
    ]

    assert cli.main([*SMALL, "--lr", "1", "--init", "he", "--out", "alone", "--quiet"]) == 0
    assert metrics("alone") == metrics("s/lr=1.0,init=he")
    assert {p.name for p in Path("alone").iterdir()} == {p.name for p in Path("s/lr=1.0,init=he").iterdir()}

    before = {path: path.stat().st_mtime_ns for path in Path("s").rglob("*")}
    capsys.readouterr()
    assert cli.main([*flags, "--json"]) == 0  # nothing is left to train: no process is started
    table = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [f"{row['settings']['lr']} {row['settings']['init']}" for row in table] == [
        " ".join(line.split()[:2]) for line in lines
    ]
    assert before == {path: path.stat().st_mtime_ns for path in Path("s").rglob("*")}


@linux
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.exhaustive
def test_ctrl_c_keeps_the_finished_runs_and_the_same_command_goes_on(here):
    flags = [*SMALL, "--sweep", f"epochs=2,{MANY}", "--out", "a sweep"]
    process = start(*flags)
    short, long = Path("a sweep/epochs=2"), Path(f"a sweep/epochs={MANY}")
    while not ((short / "summary.png").exists() and (long / "checkpoint.npz").exists()):
        assert process.poll() is None
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
    code, _, err = finish(process)
    assert code == 130
    assert err.count("\n") == 1
    assert "1 of 2 runs finished. Continue with the same --sweep and --out 'a sweep'" in err
    assert_nobody_is_left(process)
    begun = len(metrics(long))
    assert 0 < begun < MANY
    first = (short / "checkpoint.npz").stat().st_mtime_ns
    code, out, _ = finish(start(*flags))
    assert code == 0
    assert "2 runs in a sweep, 1 of them already finished" in out
    assert out.splitlines()[1].split()[0] == "epochs"
    assert (short / "checkpoint.npz").stat().st_mtime_ns == first
    assert [record["epoch"] for record in metrics(long)] == list(range(1, MANY + 1))


@linux
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_the_runs_are_handed_out_is_not_lost(here):
    class Hurried(ThreadPoolExecutor):
        def submit(self, *call):
            signal.raise_signal(signal.SIGINT)
            return super().submit(*call)

    members = sweep.plan({"lr": [0.1, 0.2]}, {"data": "moons", "hidden": (), "epochs": 1}, here)
    sweep.make_folders(members)
    with Hurried() as executor, pytest.raises(KeyboardInterrupt):
        sweep.train_all(members, executor, on_progress=lambda epochs: None)
    assert all(member.finished() for member in members)  # all were handed out before it took effect


@linux
@pytest.mark.exhaustive
def test_a_worker_that_is_killed_is_told_in_a_sentence(here):
    process = start(*SMALL, "--sweep", "epochs=40000,90001", "--out", "s")
    while not Path("s/epochs=40000/checkpoint.npz").exists():
        assert process.poll() is None
        time.sleep(0.005)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    workers = [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(workers[0], signal.SIGKILL)
    code, _, err = finish(process)
    assert code == 2
    assert err.count("\n") == 1
    assert "A worker process was killed" in err
    assert_nobody_is_left(process)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--sweep lr=0.1,0", "--lr must be a positive number"),
        ("--sweep lr=0.1,fast", "--lr cannot be 'fast': write a number"),
        ("--sweep lr=0.1,,1", "--lr cannot be '': write a number"),
        ("--sweep lr", "--sweep lr has no values"),
        ("--sweep lr=", "has no values"),
        ("--sweep innit=he", "--sweep cannot vary 'innit': did you mean init?"),
        ("--sweep out=a,b", "--sweep cannot vary 'out'"),
        ("--sweep lr=1 lr=2", "names lr twice"),
        ("--sweep lr=1,1.0", "has 2 runs for the folder"),
        ("--sweep init=he,hee", "did you mean he?"),
        ("--sweep hidden=8-x", "--hidden must be whole numbers of at least 1 (the widths of the layers), not 8-x"),
        ("--sweep hidden=8,100000-100000", "10,000,600,002 weights, more than"),
        ("--sweep data=moons,mooons", "did you mean moons"),
        ("--sweep momentum=0,0.9", "choose the optimizer sgd"),
        ("--sweep lr=1 --resume", "--resume is for a single run"),
        ("--sweep lr=1 --out file", "could not be written"),
    ],
)
def test_a_bad_sweep_is_one_line_before_anything_starts(here, capsys, flags, words):
    Path("file").write_text("")
    assert cli.main(["--data", "moons", *shlex.split(flags)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert words in err
    assert os.listdir() == ["file"]


def test_a_folder_with_another_run_is_refused(here, capsys):
    assert cli.main([*SMALL, "--lr", "0.5", "--out", "s/lr=0.1", "--quiet"]) == 0
    assert cli.main([*SMALL, "--sweep", "lr=0.1", "--out", "s"]) == 2
    assert "holds a run with other settings: give the sweep another --out" in capsys.readouterr().err


@pytest.mark.usefixtures("workers_in_this_process")
def test_a_damaged_run_of_a_sweep_is_moved_away_and_the_sweep_goes_on(here, capsys):
    flags = [*SMALL, "--sweep", "lr=0.1,0.2", "--out", "s"]
    assert cli.main([*flags, "--quiet"]) == 0
    Path("s/lr=0.2/metrics.jsonl").write_text("{}\n")
    capsys.readouterr()
    assert cli.main(flags) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert (
        "metrics.jsonl in 's/lr=0.2' is damaged: move this folder away, and train its run again. Continue with" in err
    )
    assert "another" not in err  # which would be no going on
    Path("s/lr=0.2").rename("away")
    assert cli.main([*flags, "--quiet"]) == 0
    assert len(metrics("s/lr=0.2")) == 3


@pytest.mark.usefixtures("workers_in_this_process")
def test_every_sweep_gets_a_folder_of_its_own(here, capsys):
    """Also when another process has taken the next number meanwhile."""
    assert cli.main([*SMALL, "--sweep", "lr=0.1", "--quiet"]) == 0
    Path("runs/sweep-moons-2").mkdir()
    assert cli.main([*SMALL, "--sweep", "lr=0.1", "--quiet"]) == 0
    assert sorted(os.listdir("runs")) == ["sweep-moons-1", "sweep-moons-2", "sweep-moons-3"]
    assert not os.listdir("runs/sweep-moons-2")


@linux
def test_two_workers_never_train_the_same_run_at_once(here):
    (member,) = sweep.plan({"lr": [0.1]}, {"data": "moons", "epochs": 2}, here)
    sweep.make_folders([member])
    worker = threading.Thread(target=sweep.train_folder, args=(str(member.path),))
    with lock_run(member.path):
        worker.start()
        worker.join(timeout=0.3)
        assert worker.is_alive()
        assert not RunFolder(member.path).records()
    worker.join(timeout=300)
    before = (member.path / "checkpoint.npz").stat().st_mtime_ns
    sweep.train_folder(str(member.path))  # whoever comes second finds nothing left to do
    assert (member.path / "checkpoint.npz").stat().st_mtime_ns == before
    assert [record["epoch"] for record in RunFolder(member.path).records()] == [1, 2]


def test_a_folder_name_never_leads_elsewhere():
    name = sweep.folder_name({"data": "csv:../../x y.csv", "hidden": (8, 4), "lr": 0.1})
    assert name == "data=csv-..-..-x y.csv,hidden=8-4,lr=0.1"
    assert Path("s", name).parent == Path("s")


@pytest.mark.usefixtures("workers_in_this_process")
def test_a_sweep_of_a_regression_shows_the_score_it_is_ranked_by(here, capsys):
    flags = ["--data", "sine", "--samples", "60", "--hidden", "4", "--epochs", "2", "--sweep", "lr=0.1,0.0001"]
    assert cli.main([*flags, "--out", "s"]) == 0
    table = capsys.readouterr().out.splitlines()[-2:]
    assert cli.main(["--data", "sine", *flags[2:8], "--lr", "0.1", "--out", "alone", "--quiet"]) == 0
    alone = re.search(r"R² ([-0-9.]+)", capsys.readouterr().out)[0].replace("-", "−")
    assert table[0].split()[0] == "0.1"
    assert alone in table[0]
    assert table[0].count("R² ") == table[1].count("R² ") == 2
