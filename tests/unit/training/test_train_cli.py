"""The command line: as a real process where the process matters (exit codes, signals, kills, full disks)."""

import contextlib
import functools
import gzip
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

import train
from lab.practice import mnist
from lab.training import cli, terminal
from lab.training.config import ConfigError
from lab.training.doctor import diagnose
from lab.training.run_folder import RunFolder, lock_run, uninterrupted
from practice import COURSES
from tests.answers import unusual

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = str(ROOT / "train.py")
posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
SMALL = ["--data", "moons", "--hidden", "6", "--epochs", "2", "--batch-size", "200"]
FILES = ["best_weights.npy", "checkpoint.npz", "config.json", "metrics.jsonl", "summary.png"]


def command(*arguments):
    return [sys.executable, SCRIPT, *map(str, arguments)]


def environment():
    return os.environ | {"OPENBLAS_NUM_THREADS": "1", "COLUMNS": "80"}


def run(*arguments, cwd, **options):
    """The real command line, in another process."""
    return subprocess.run(
        command(*arguments), cwd=cwd, env=environment(), capture_output=True, text=True, timeout=300, **options
    )


@pytest.fixture
def here(tmp_path, monkeypatch, pictures_once):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(capsys, *arguments):
    """The command line inside this process, which is quicker: exit code, stdout, stderr."""
    code = cli.main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def refused(capsys, *arguments):
    """The one line with which a bad command is answered."""
    code, out, err = call(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("train.py: ")
    assert err.count("\n") == 1
    return err


def names(path):
    return sorted(entry.name for entry in Path(path).iterdir())


def metrics(path):
    records = [json.loads(line) for line in (Path(path) / "metrics.jsonl").read_text().splitlines()]
    return [record | {"seconds": 0} for record in records]


def assert_same_run(first, second):
    assert metrics(first) == metrics(second)
    np.testing.assert_array_equal(np.load(first / "best_weights.npy"), np.load(second / "best_weights.npy"))
    with np.load(first / "checkpoint.npz") as a, np.load(second / "checkpoint.npz") as b:
        assert a.files == b.files
        for name in set(a.files) - {"seconds"}:
            np.testing.assert_array_equal(a[name], b[name])


def contents(folder):
    """The bytes of each file."""
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small") / "r"
    assert cli.main([*SMALL, "--out", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture
def trained(here, small_run):
    """The files of a small run of two epochs, which is in the folder "r"."""
    shutil.copytree(small_run, "r")
    return contents("r")


# What it prints and leaves behind


def test_without_arguments_it_trains_on_digits_past_95_percent(here):
    done = run(cwd=here)
    assert done.returncode == 0
    assert done.stderr == ""  # no bar where there is no terminal
    lines = done.stdout.splitlines()
    assert "standardised with the training mean" in done.stdout
    assert len([line for line in lines if line.startswith("epoch ")]) == 20
    assert lines[-2].startswith("best validation accuracy 9")
    assert lines[-2].endswith("; run in runs/digits-1")
    folder = here / "runs" / "digits-1"
    assert names(folder) == FILES
    assert max(record["val_accuracy"] for record in metrics(folder)) > 0.95
    counts, _ = np.histogram(np.load(folder / "best_weights.npy"))
    assert counts.sum() == 64 * 128 + 128 + 128 * 64 + 64 + 64 * 10 + 10
    draw = shlex.split(lines[-1].removeprefix("histogram of runs/digits-1/best_weights.npy: "))
    subprocess.run([sys.executable, *draw[1:]], cwd=here, check=True)
    assert (here / "weights.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "summary.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((folder / "config.json").read_text())["data"] == "digits"


def write_stripes(folder, count):
    """A pair of files in MNIST's format: in each image a stripe, brighter than the noise, stands where its label says."""
    labels = np.arange(count, dtype=np.uint8) % 10
    images = np.random.default_rng(0).integers(0, 100, (count, 28, 28), dtype=np.uint8)
    for label in range(10):
        images[labels == label, 2 * label + 4 : 2 * label + 6] += 150
    for name, array in (("t10k-images-idx3-ubyte.gz", images), ("t10k-labels-idx1-ubyte.gz", labels)):
        header = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
        (folder / name).write_bytes(gzip.compress(header + array.tobytes(), compresslevel=1))


def test_files_in_the_format_of_mnist_are_trained_on(here, capsys):
    write_stripes(here, 400)
    code, out, _ = call(capsys, "--data", "mnist", "--data-dir", here, "--hidden", 16, "--epochs", 5, "--out", "m")
    assert code == 0
    assert "network: 784-16-10" in out
    assert max(record["val_accuracy"] for record in metrics("m")) > 0.93


@pytest.mark.parametrize("path", unusual(COURSES["tensors"]), ids=lambda path: path.stem)
def test_a_learner_s_own_engine_trains_on_them(here, capsys, path):
    write_stripes(here, 400)
    shutil.copy(path, "tensors.py")
    mnist.main([".", "--data-dir", ".", "--epochs", "5"])
    assert float(re.findall(r"reads ([\d.]+)% of 80 images", capsys.readouterr().out)[-1]) > 90


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="the peak of memory is read as Linux tells it")
@pytest.mark.exhaustive
def test_a_run_takes_hardly_more_memory_than_its_data(here):
    write_stripes(here, 10_000)
    program = f"""
import re, numpy, tqdm, train

def memory(what):
    return 1024 * int(re.search(what + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1])

list(train.train(train.Config(data="moons", epochs=1)))  # imports all there is and starts the threads of BLAS
numpy.ones((32, 784), "f") @ numpy.ones((784, 128), "f")
before = memory("VmRSS")
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
config = train.Config(data="mnist", data_dir={str(here)!r}, epochs=1)
trainer = train.Trainer(config)
for record in train.train(config, trainer):
    trainer.state()
data = trainer.dataset
arrays = [data.train_x, data.train_y, data.val_x, data.val_y, trainer.weights()]
batch = 4 * config.batch_size * sum(trainer.sizes)
print((memory("VmHWM") - before) / (sum(array.nbytes for array in arrays) + batch))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert done.stderr == ""
    assert 1 < float(done.stdout) < 1.35  # the bytes of the images are a quarter of their numbers


def test_json_prints_one_object_per_epoch_and_nothing_else(here, capsys):
    code, out, err = call(capsys, *SMALL, "--json", "--out", "r")
    assert code == 0
    records = [json.loads(line) | {"seconds": 0} for line in out.splitlines()]
    assert records == metrics(here / "r")
    assert {"epoch", "train_loss", "val_loss", "train_accuracy", "val_accuracy", "gap", "grad_norm", "seconds"} <= set(
        records[0]
    )
    assert "moons" in err


def test_every_flag_reaches_the_config(here, capsys):
    flags = "--data moons --hidden 5 4 --activation tanh --init xavier --optimizer sgd --lr 0.2 --momentum 0.5 --clip 2"
    flags += " --noise 0.3 --samples 500 --weight-decay 0.01 --l1 0.002 --skip --schedule cosine --warmup 1 --patience 3 --batch-size 300 --epochs 2 --seed 7 --val-fraction 0.4 --quiet --out r"
    assert call(capsys, *flags.split())[0] == 0
    config = train.Config.from_json(json.loads(Path("r/config.json").read_text()))
    expected = {"data": "moons", "noise": 0.3, "samples": 500, "hidden": (5, 4), "activation": "tanh", "init": "xavier"}
    expected |= {"optimizer": "sgd", "lr": 0.2, "momentum": 0.5, "clip": 2.0, "weight_decay": 0.01, "l1": 0.002}
    expected |= {"skip": True, "schedule": "cosine", "warmup": 1, "patience": 3, "batch_size": 300, "epochs": 2}
    assert config == train.Config(**expected, seed=7, val_fraction=0.4)


@pytest.mark.usefixtures("workers_in_this_process")
def test_a_regression_has_no_accuracy_and_everything_else(here, capsys):
    code, out, err = call(capsys, *["--data", "sine", "--hidden", "8", "--lr", "0.02", "--epochs", "8", "--out", "r"])
    assert (code, err) == (0, "")
    assert "accuracy" not in out
    assert "one target" in out
    records = metrics("r")
    best = max(1 - record["val_loss"] / record["origin"]["baseline_val_loss"] for record in records)
    assert f"best validation R² {best:.4f} in epoch" in out.splitlines()[-2]
    assert records[-1]["val_accuracy"] is None
    assert call(capsys, "--resume", "--out", "r", "--epochs", 8, "--quiet")[0] == 0
    assert call(capsys, "--data", "sine", "--epochs", 1, "--sweep", "lr=0.1,0.01", "--out", "s")[0] == 0
    Path("few.csv").write_text("x,y\n1,2.5\n2,3.5\n3,4.5\n4,5.5\n")
    assert call(capsys, "--data", "csv:few.csv", "--task", "regression", "--epochs", 3, "--out", "f", "--quiet")[0] == 0


@pytest.mark.sample(1)
@pytest.mark.parametrize("widths", [["5", "4"], ["5,4"], ["5-4"], ["5,", "4"], ["5x4"]])
def test_widths_may_be_written_as_a_sweep_and_the_page_write_them(here, capsys, widths):
    assert call(capsys, *SMALL, "--hidden", *widths, "--out", "r", "--quiet")[0] == 0
    assert RunFolder(Path("r")).config().hidden == (5, 4)


def test_no_widths_are_no_hidden_layer(here, capsys):
    assert call(capsys, *SMALL, "--out", "r", "--quiet", "--hidden")[0] == 0
    assert RunFolder(Path("r")).config().hidden == ()


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(3))
def test_four_points_are_learned_in_a_hundred_steps_without_validation(here, capsys, seed):
    Path("four.csv").write_text("a,b,c,wanted\n2,3,-1,1\n3,-1,0.5,-1\n0.5,1,1,-1\n1,1,-1,1\n")
    flags = "--data csv:four.csv --task regression --hidden 4 4 --activation tanh --init xavier --optimizer sgd"
    flags += f" --lr 0.1 --epochs 100 --batch-size 4 --val-fraction 0 --seed {seed} --out r"
    code, out, err = call(capsys, *flags.split())
    assert code == 0
    assert "4 training samples, none held out" in out
    assert "41 weights" in out
    last = metrics("r")[-1]
    assert (last["epoch"], last["train_loss"]) == (100, last["val_loss"])
    assert last["train_loss"] < 0.01
    line = next(line for line in out.splitlines() if line.startswith("epoch 100/100"))
    assert "val" not in line
    assert "validation" not in out.splitlines()[-2]
    assert err == ""


def test_a_csv_trains(here, capsys):
    rows = [f"{x},{x * x},{'high' if x > 0 else 'low'}" for x in np.linspace(-1, 1, 60)]
    Path("own.csv").write_text("x,square,side\n" + "\n".join(rows))
    code, out, _ = call(capsys, "--data", "csv:own.csv", "--epochs", 2)
    assert code == 0
    assert "target 'side'" in out
    assert names("runs") == ["csv-own-1"]
    assert call(capsys, "--data", "csv:own.csv", "--target", "side", "--epochs", 2, "--quiet")[0] == 0
    assert names("runs") == ["csv-own-1", "csv-own-2"]


def on_a_terminal(arguments, cwd, columns, **options):
    """The exit code, and the bytes that a terminal receives. It is stderr; stdout too, unless the options say else."""
    import termios  # only POSIX has it

    main_end, terminal = os.openpty()
    termios.tcsetwinsize(terminal, (24, columns))
    process = subprocess.Popen(
        arguments, cwd=cwd, env=environment(), **{"stdout": terminal, **options}, stderr=terminal
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # raised at the end, when the process has closed its side
        while True:
            shown += os.read(main_end, 4096)
    os.close(main_end)
    return process.wait(timeout=300), shown


@posix
@pytest.mark.exhaustive
def test_a_terminal_shows_a_progress_bar(here):
    with open("out", "wb") as out:
        code, shown = on_a_terminal(command(*SMALL, "--epochs", "60"), here, 80, stdout=out)
    assert code == 0
    assert b"batch" in shown
    assert b"%|" in shown
    assert Path("out").read_bytes().count(b"\nepoch ") == 60


def test_help_names_flags_and_exit_codes(here, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    for flag in ("--data-dir", "--val-fraction", "--resume", "exit codes", "130"):
        assert flag in text


# The doctor's warnings


def found(folder):
    """The doctor's verdict on the run in a folder."""
    return diagnose(metrics(folder), RunFolder(Path(folder)).config())[:1]


def warnings(folder):
    """The same, as warnings."""
    return [f"warning: {finding}" for finding in found(folder)]


STUCK = ["--data", "moons", "--init", "zeros", "--epochs", "6"]


def test_what_the_doctor_finds_is_a_warning_at_the_end(here, capsys):
    _, _, err = call(capsys, *STUCK, "--out", "r")
    assert [finding.key for finding in found("r")] == ["flat"]
    assert err.splitlines() == warnings("r")
    _, out, err = call(capsys, "--resume", "--out", "r", "--json")  # nothing is left to train: the same words again
    assert out == ""
    assert [line for line in err.splitlines() if line.startswith("warning")] == warnings("r")


def test_a_healthy_run_and_a_run_too_short_to_judge_are_not_warned_of(here, capsys):
    assert call(capsys, "--data", "blobs", "--hidden", 8, "--lr", 0.01, "--epochs", 8, "--out", "r")[2] == ""
    assert [finding.key for finding in found("r")] == ["healthy"]
    assert call(capsys, *SMALL)[2] == ""


def test_quiet_is_quiet_about_the_doctor_too(here, capsys):
    _, out, err = call(capsys, *STUCK, "--quiet")
    assert (out.count("\n"), err) == (1, "")


def test_a_mistyped_flag_is_answered_with_the_nearest_one(here, capsys):
    assert cli.main(["--hiden", "3"]) == 2
    assert capsys.readouterr().err == "train.py: There is no --hiden: did you mean --hidden?\n"
    assert cli.main(["dcotor", "runs/moons-1"]) == 2
    assert capsys.readouterr().err == "train.py: There is no dcotor: did you mean doctor?\n"
    assert cli.main(["--qqq"]) == 2
    assert "unrecognized arguments: --qqq" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [["doctor", "gone"], ["predict", "gone", "rows.csv"], ["--resume", "--out", "gone"]]
)
def test_a_run_that_is_not_there_is_answered_with_advice_that_every_command_can_take(here, capsys, command):
    assert cli.main(command) == 2
    assert (
        capsys.readouterr().err == "train.py: There is no run in 'gone' (no config.json): name the folder of a run.\n"
    )


def test_an_epoch_is_one_line_with_the_name_before_each_number(here, capsys):
    flags = ["--data", "moons", "--epochs", "1", "--hidden", "4"]
    for folder, more in (("r", []), ("verbose", ["-v"])):
        assert cli.main([*flags, *more, "--out", folder]) == 0
        (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("epoch ")]
        (record,) = metrics(folder)
        losses = f"train_loss {record['train_loss']:#.4g}  val_loss {record['val_loss']:#.4g}"
        scores = f"train_accuracy {record['train_accuracy']:.1%}  val_accuracy {record['val_accuracy']:.1%}"
        assert line.startswith(f"epoch 1/1  {losses}  {scores}  ")
        assert ("grad_norm" in line) == bool(more)


def test_the_doctor_tries_its_remedy(here, capsys):
    flags = ["--data", "moons", "--samples", "100", "--init", "zeros", "--lr", "0.01", "--hidden", "16"]
    assert cli.main([*flags, "--epochs", "25", "--quiet", "--out", str(here / "r")]) == 0
    capsys.readouterr()
    assert cli.main(["doctor", str(here / "r")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("suspected: No gradient reaches the hidden layers: ")
    assert "tried" not in said
    assert cli.main(["doctor", str(here / "r"), "--try"]) == 0
    assert "tried init he: cured: validation loss 0.693 to " in capsys.readouterr().out
    assert cli.main(["doctor", str(here / "none")]) == 2


def test_settings_that_are_no_config_get_a_sentence():
    with pytest.raises(ConfigError, match=r"must be a Config, not a dict: write Config\(lr=0.01"):
        next(train.train({"lr": 0.1}))


# Resuming


def test_a_longer_run_is_the_same_as_a_short_one_that_was_extended(here, capsys):
    assert call(capsys, *SMALL, "--out", "whole", "--epochs", 5, "--quiet")[0] == 0
    assert call(capsys, *SMALL, "--out", "parts", "--quiet")[0] == 0
    code, out, _ = call(capsys, "--resume", "--out", "parts", "--epochs", 5)
    assert code == 0
    assert "continued after epoch 2" in out
    assert_same_run(here / "whole", here / "parts")
    assert Path("whole/config.json").read_text() == Path("parts/config.json").read_text()


def test_a_run_that_stopped_early_says_so_and_goes_on_with_more_patience(here, capsys):
    flags = ["--data", "moons", "--hidden", 8, "--lr", 0.05, "--epochs", 40]
    code, out, _ = call(capsys, *flags, "--patience", 3, "--out", "r", "--quiet")
    assert code == 0
    assert "Stopped early, after 3 epochs without a better one; best validation accuracy" in out
    stopped = metrics("r")
    assert stopped[-1]["since_best"] == 3
    assert len(stopped) < 40
    assert call(capsys, "--resume", "--out", "r", "--patience", 6, "--quiet")[0] == 0
    assert call(capsys, *flags, "--patience", 6, "--out", "whole", "--quiet")[0] == 0
    assert_same_run(here / "whole", here / "r")


def test_a_schedule_cannot_be_extended(here, capsys):
    call(capsys, *SMALL, "--schedule", "cosine", "--out", "r", "--quiet")
    assert "its cosine schedule is laid out over 2 epochs" in refused(capsys, "--resume", "--out", "r", "--epochs", 3)
    assert call(capsys, "--resume", "--out", "r", "--epochs", 2, "--quiet")[0] == 0


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--lr", "0.5"], "--lr 0.5 contradicts the run in 'r', which has 0.001"),
        (["--hidden", "7"], "--hidden 7 contradicts"),
        (["--data", "circles"], "--data 'circles' contradicts"),
        (["--seed", "1"], "--seed 1 contradicts"),
        (["--epochs", "1"], "less than the 2 epochs"),
    ],
)
def test_resume_refuses_flags_that_contradict_the_run(capsys, trained, flags, words):
    assert words in refused(capsys, "--resume", "--out", "r", *flags)
    assert contents("r") == trained


def test_resume_needs_a_run(here, capsys):
    assert "--resume needs --out" in refused(capsys, "--resume")
    assert "no run in 'nowhere'" in refused(capsys, "--resume", "--out", "nowhere")
    assert names(here) == []


@posix
@pytest.mark.usefixtures("trained")
def test_a_run_in_training_is_not_resumed_a_second_time(here, capsys):
    with lock_run(here / "r"):
        assert "Another process is training the run in 'r'" in refused(capsys, "--resume", "--out", "r", "--epochs", 3)
    assert call(capsys, "--resume", "--out", "r", "--epochs", 3, "--quiet")[0] == 0


@pytest.mark.usefixtures("trained")
def test_resume_refuses_a_config_edited_into_nonsense(capsys):
    config = Path("r/config.json")
    config.write_text(config.read_text().replace("200", '"many"'))
    assert "--batch-size must be a whole number" in refused(capsys, "--resume", "--out", "r")
    config.write_text("{")
    assert "config.json in 'r' is damaged" in refused(capsys, "--resume", "--out", "r")


def test_resume_without_the_checkpoint_does_not_begin_anew(capsys, trained):
    before = trained
    Path("r/checkpoint.npz").unlink()
    words = refused(capsys, "--resume", "--out", "r", "--epochs", 3)
    assert "checkpoint.npz in 'r' is missing, though 2 epochs were trained: put it back" in words
    del before["checkpoint.npz"]
    assert contents("r") == before
    Path("r/metrics.jsonl").write_bytes(before["metrics.jsonl"].splitlines(keepends=True)[0])
    assert call(capsys, "--resume", "--out", "r", "--quiet")[0] == 0  # as if it was killed before its first checkpoint


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("best", None),
        ("weight_histogram", 5),
    ],
)
@pytest.mark.usefixtures("trained")
def test_metrics_that_somebody_has_changed_are_neither_resumed_nor_judged(capsys, name, value):
    lines = Path("r/metrics.jsonl").read_text().splitlines()
    last = {key: part for key, part in json.loads(lines[-1]).items() if key != name}
    lines[-1] = json.dumps(last | ({} if value is None else {name: value}))
    Path("r/metrics.jsonl").write_text("\n".join(lines) + "\n")
    before = contents("r")
    for command in (["--resume", "--out", "r", "--epochs", 3], ["doctor", "r"]):
        assert "metrics.jsonl in 'r' is damaged: move this folder away" in refused(capsys, *command)
    assert contents("r") == before


KILLS = int(os.environ.get("TRAIN_KILLS", "3"))
EPOCHS = 15
KILLED = (
    f"--data digits --hidden 16 --epochs {EPOCHS} --schedule cosine --warmup 3 --clip 1 --patience 99 --quiet --out run"
)


def going_on(folder):
    """What whoever finds the run in this folder types: --resume, unless it was killed before it was there."""
    return command(*KILLED.split(), *(["--resume"] if (folder / "run" / "config.json").exists() else []))


def kill(folder, moment):
    """Start or resume the run in a folder and kill it when moment() returns; returns where that was, None if too late."""
    process = subprocess.Popen(going_on(folder), cwd=folder, env=environment(), stderr=subprocess.PIPE)
    moment()
    early = process.poll() is None
    process.kill()
    assert process.communicate()[1] == b""
    if not early:
        return None
    if not (folder / "run" / "config.json").exists():
        return "before there was a run"
    opened = RunFolder(folder / "run")  # every file can be loaded, whenever the kill came
    config, records, state = opened.config(), opened.records(), opened.checkpoint()
    train.Trainer(config).load_state(state) if state else None
    if any(record["best"] for record in records[: state["epoch"] if state else 0]):
        assert np.load(folder / "run" / "best_weights.npy").size == 64 * 16 + 16 + 16 * 10 + 10
    if (folder / "run" / "summary.png").exists():
        assert matplotlib.image.imread(folder / "run" / "summary.png").size > 0
        return "after the summary was written"
    if state is None:
        return "before the first checkpoint"
    half = f", with the line of epoch {len(records)} written" if len(records) > state["epoch"] else ""
    return f"after epoch {state['epoch']}{half}"


def content(folder):
    """The bytes of all files of a run, but for its timings."""
    files = {path.name: path.read_bytes() for path in (folder / "run").iterdir()}
    timing = rb'"seconds": [^,}]+'
    assert len(re.findall(timing, files["metrics.jsonl"])) == EPOCHS
    files["metrics.jsonl"] = re.sub(timing, b"", files["metrics.jsonl"])
    with np.load(folder / "run" / "checkpoint.npz") as checkpoint:
        files["checkpoint.npz"] = {name: checkpoint[name].tobytes() for name in checkpoint.files}
    return files


def goes_on_as_if_never_stopped(folder, expected):
    done = subprocess.run(going_on(folder), cwd=folder, env=environment(), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert content(folder) == expected


@pytest.fixture
def whole(here):
    """The files of the run that nobody stops, and the seconds that it took."""
    (here / "whole").mkdir()
    started = time.monotonic()
    assert run(*KILLED.split(), cwd=here / "whole").returncode == 0
    expected = content(here / "whole")
    assert sorted(expected) == FILES
    return expected, time.monotonic() - started


@posix
def test_a_run_killed_in_its_third_epoch_ends_as_if_never_stopped(here, whole):
    def third_epoch():
        while not Path("run/metrics.jsonl").exists() or Path("run/metrics.jsonl").read_bytes().count(b"\n") < 2:
            time.sleep(0.001)

    assert kill(here, third_epoch).startswith("after epoch")
    goes_on_as_if_never_stopped(here, whole[0])


@posix
@pytest.mark.exhaustive
def test_a_run_killed_at_any_moment_ends_as_if_never_stopped(here, whole):
    """TRAIN_KILLS=50 in the environment makes it 50 kills; with -s, pytest shows where they hit."""
    expected, longest = whole
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    moments = random.Random(seed)
    kills = runs = 0
    while kills < KILLS:
        runs += 1
        folder = here / str(runs)
        folder.mkdir()
        places = [kill(folder, functools.partial(time.sleep, moments.uniform(0, longest)))]
        if places == [None]:
            longest *= 0.7  # the machine is less busy than it was
        elif runs % 2 == 0:  # what is resumed is killed, too
            places.append(kill(folder, functools.partial(time.sleep, moments.uniform(0, 0.7 * longest))))
        kills += sum(place is not None for place in places)
        print(f"run {runs}, killed {', then '.join(place or 'not at all: too late' for place in places)}")
        goes_on_as_if_never_stopped(folder, expected)


@posix
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("also", [[], ["--json"]])
@pytest.mark.sample(1)
def test_ctrl_c_leaves_a_run_that_can_be_continued(here, also):
    flags = ["--data", "spirals", "--hidden", "8", "--epochs", "100000", "--out", "a run", *also]
    process = subprocess.Popen(
        command(*flags), cwd=here, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while "epoch" not in process.stdout.readline() or not Path("a run/checkpoint.npz").exists():
        pass
    process.send_signal(signal.SIGINT)
    out, err = process.stdout.read(), process.stderr.read()
    assert process.wait(timeout=300) == 130
    process.stdout.close()
    process.stderr.close()
    assert "Traceback" not in err
    assert "python train.py --resume --out 'a run'" in err
    assert names("a run") == FILES
    complete = len(metrics("a run"))
    assert f"{complete} of 100000 epochs complete" in err
    with np.load("a run/checkpoint.npz") as checkpoint:
        assert checkpoint["epoch"] == complete
    if also:
        assert all(json.loads(line) for line in out.splitlines())


def test_ctrl_c_between_an_epoch_and_its_files_counts_what_is_on_disk(here, capsys, monkeypatch):
    original = train.Trainer.finish_epoch

    def interrupted(trainer):
        original(trainer)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(train.Trainer, "finish_epoch", interrupted)
        code, _, err = call(capsys, *SMALL, "--out", "r")
    assert code == 130
    assert "0 of 2 epochs complete" in err
    assert call(capsys, "--resume", "--out", "r", "--quiet")[0] == 0
    assert names("r") == FILES


def test_ctrl_c_before_the_first_batch_says_how_to_go_on_too(here, capsys, monkeypatch):
    def interrupted(trainer, run):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(terminal, "introduction", interrupted)
        code, out, err = call(capsys, *SMALL, "--out", "r")
    assert (code, out) == (130, "")
    assert err == "Stopped by Ctrl-C with 0 of 2 epochs complete. Continue with: python train.py --resume --out r\n"
    assert call(capsys, "--resume", "--out", "r", "--quiet")[0] == 0


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_waits_while_files_are_written():
    written = []

    def write():
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            written.append("all")

    with pytest.raises(KeyboardInterrupt):
        write()
    assert written == ["all"]
    with uninterrupted(ignore=True):
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@posix
@pytest.mark.exhaustive
def test_where_ctrl_c_is_ignored_the_run_goes_on(here):
    """As in the background of a shell script: who stops the script with Ctrl-C does not mean the run."""
    flags = ["--data", "moons", "--hidden", "6", "--epochs", "60", "--quiet", "--out", "r"]
    ignore = functools.partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    process = subprocess.Popen(
        command(*flags), cwd=here, env=environment(), stderr=subprocess.PIPE, preexec_fn=ignore, text=True
    )
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)
    assert (process.returncode, process.stderr.read()) == (0, "")
    process.stderr.close()
    assert len(metrics("r")) == 60


# Bad input: one line, exit code 2, nothing left behind


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--data", "digit"], "did you mean digits"),
        (["--lr", "fast"], "--lr"),
        (["--hidden", "8", "x"], "--hidden must be whole numbers of at least 1 (the widths of the layers), not 8 x"),
        (["--hidden", "-8"], "--hidden must be whole numbers of at least 1"),
        (["--init", "hee"], "did you mean he?"),
        (["--momentum", "0.9"], "choose the optimizer sgd"),
        (["--leanring-rate", "1"], "--help"),
        (["--noise", "-1"], "--noise must be a number from 0 to 10"),
        (["--samples", "9"], "--samples must be a whole number of at least 10"),
        (["--data", "digits", "--noise", "0.1"], "--noise is for generated data (moons, circles"),
        (["--data", "csv:single.csv", "--samples", "50"], "--samples is for generated data"),
        (["--data", "sine", "--task", "regression"], "--task is for a CSV file"),
        (["--data", "csv:single.csv", "--task", "guess"], "--task cannot be 'guess'"),
        (["--data", "mnist", "--data-dir", "nowhere"], "no folder 'nowhere'"),
        (["--data", "csv:nothing.csv"], "check the path"),
        (["--data", "csv:words.csv"], "'words.csv' has no column left that can be an input"),
        (
            ["--data", "csv:single.csv", "--drop", "1"],
            "has no column left that can be an input. Classes with a single row",
        ),
        (["--data", "csv:single.csv", "--task", "regression"], "task classification. Options: --target, --task.\n"),
        (["--drop", "x"], "--drop is for a CSV file, but the data is 'digits'"),
        (["--hidden", "100000", "100000"], "10,007,600,010 weights, more than"),
        (["--out", "empty.csv"], "'empty.csv' could not be written"),
        (["--out", "empty.csv/run"], "choose a folder that you may write to"),
        (["--out", "."], "already holds files"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(here, capsys, flags, words):
    Path("empty.csv").write_text("")
    Path("words.csv").write_text("1,a\nx,b\n")
    Path("single.csv").write_text("1,a\n2,a\n3,b\n4,b\n5,c\n")
    assert words in refused(capsys, *flags)
    assert names(here) == ["empty.csv", "single.csv", "words.csv"]


def real_refusal(here, *flags, **options):
    """The one line with which the real command line answers a bad command."""
    done = run(*flags, cwd=here, **options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "runs" not in names(here)
    return done.stderr


def test_bad_input_through_the_real_command_line(here):
    assert "did you mean moons" in real_refusal(here, "--data", "mooons")


@pytest.mark.exhaustive
def test_a_download_that_fails_is_one_sentence(here, capsys, monkeypatch):
    # A proxy that does not answer: every download fails at once, also on a machine with a network.
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(here))
    code, _, err = call(capsys, "--data", "mnist")
    assert code == 2
    assert "Traceback" not in err
    assert "MNIST could not be downloaded" in err.splitlines()[-1]


def limit_file_size(size):
    """In the child: no file may grow beyond `size` bytes; writing more fails as on a full disk."""

    def limit():
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.sample(1)
@posix
@pytest.mark.parametrize(("width", "first_to_fail"), [(6, "metrics.jsonl"), (100, "checkpoint.npz")])
def test_a_disk_that_fills_up_during_the_run(here, capsys, width, first_to_fail):
    # A checkpoint takes 8 kB or 15 kB, a line of the metrics 3 kB: the limit lies well between them.
    flags = ["--data", "moons", "--batch-size", "200", "--hidden", width, "--epochs", "12", "--quiet"]
    assert call(capsys, *flags, "--out", "whole")[0] == 0
    done = run(*flags, "--out", "r", cwd=here, preexec_fn=limit_file_size(12_000))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"'r/{first_to_fail}' could not be written" in done.stderr
    assert "free some space" in done.stderr
    assert "--resume --out r" in done.stderr
    assert not [name for name in names("r") if name.endswith(".tmp")]
    assert metrics("r")  # whole lines only
    assert call(capsys, "--resume", "--out", "r", "--quiet")[0] == 0  # there is room again
    assert_same_run(here / "whole", here / "r")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.exhaustive
def test_output_to_a_full_disk_is_told(here):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command(*SMALL), cwd=here, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr


@posix
@pytest.mark.exhaustive
def test_a_reader_that_goes_away_ends_the_run_without_a_traceback(here):
    process = subprocess.Popen(
        command("--data", "moons", "--epochs", "100000", "--json", "--out", "r"),
        cwd=here,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=300) == 2
    assert "Traceback" not in err
    assert "Broken pipe" in err


def test_a_loss_that_diverges_is_one_sentence(here, capsys):
    code, out, err = call(capsys, *SMALL, "--optimizer", "sgd", "--lr", "1e30", "--out", "r", "--quiet")
    assert (code, err) == (1, "")
    assert "diverged in epoch 1" in out
    assert "a smaller --lr" in out
    assert names("r") == FILES
    assert metrics("r")[-1]["train_loss"] is None


def test_the_options_that_change_what_was_decided_can_be_copied(tmp_path, capsys):
    rows = "".join(f"{i},{i * i % 17},{i % 5},{i % 3}\n" for i in range(60))
    (tmp_path / "t.csv").write_text(f"id,the größe,b,y\n{rows}", "cp1252")
    words = ["--data", f"csv:{tmp_path / 't.csv'}", "--epochs", "1", "--hidden", "4"]
    assert cli.main([*words, "--out", str(tmp_path / "one")]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("to change what was decided"))
    assert line.endswith("--target COLUMN --task regression --encoding NAME --drop 'the größe' --keep id")
    options = shlex.split(line.partition("COLUMN ")[2].replace("NAME", "cp1250"))
    assert cli.main([*words, *options, "--out", str(tmp_path / "two")]) == 0
    said = capsys.readouterr().out
    assert "(regression)" in said
    assert "left out, as you asked: 'the größe'" in said
    assert "2 inputs" in said
