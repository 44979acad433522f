"""`python -m lab.practice`: files to begin with, checks of what is there, and at each save."""

import os
import signal
import subprocess
import sys
import threading
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from lab.practice.__main__ import _format_value, main
from lab.practice.progress_file import Progress, Work, packed, parse
from lab.practice.render_report import shown
from practice import COURSES

ROOT = Path(__file__).resolve().parents[3]
SCALARS = COURSES["scalars"]


@pytest.fixture
def place(tmp_path, capsys):
    assert main(["start", "scalars", str(tmp_path / "engine")]) == 0
    capsys.readouterr()
    return tmp_path / "engine"


def test_start_writes_a_file_and_its_tasks_and_never_over_what_is_there(place, capsys):
    assert (place / "scalars.py").read_text("utf-8") == SCALARS.starter
    sheet = (place / "scalars.md").read_text("utf-8")
    assert [f"## {number}. {task.title}" in sheet for number, task in enumerate(SCALARS.tasks, 1)] == [True] * len(
        SCALARS.tasks
    )
    (place / "scalars.py").write_text("# mine\n", "utf-8")
    assert main(["start", "scalars", str(place)]) == 0
    assert (place / "scalars.py").read_text("utf-8") == "# mine\n"


def test_the_command_that_start_prints_runs_in_a_shell_as_it_stands(tmp_path):
    start = [sys.executable, "-m", "lab.practice", "start", "scalars", str(tmp_path / "my engine")]
    said = subprocess.run(start, cwd=ROOT, capture_output=True, text=True).stdout.strip().split("\n")[-1]
    checked = subprocess.run(said, shell=True, cwd=ROOT, capture_output=True, text=True, env={})
    assert (checked.returncode, checked.stderr) == (1, "")
    assert "Your progress is in" in checked.stdout


def test_check_says_what_passes(place, capsys):
    (place / "scalars.py").write_text(SCALARS.reference, "utf-8")
    assert main(["check", str(place)]) == 0
    said = capsys.readouterr().out
    assert [f"✓ {task.title}" in said for task in SCALARS.tasks] == [True] * len(SCALARS.tasks)


def test_check_shows_the_case_that_fails_its_line_and_the_mistake(place, capsys):
    mistake = next(one for task in SCALARS.tasks for one in task.mistakes)
    (place / "scalars.py").write_text(SCALARS.with_mistake(mistake), "utf-8")
    assert main(["check", str(place)]) == 1
    said = capsys.readouterr().out
    assert mistake.sentence in said
    assert "  a.grad with your code: " in said
    (place / "scalars.py").write_text("class Value:\n    def __init__(self, data):\n        self.data = dat\n", "utf-8")
    assert main(["check", str(place)]) == 1
    assert f"{place / 'scalars.py'}:3: self.data = dat" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\xff\xfe", "not UTF-8 text"),
        (b"#" * 400_000, "larger than"),
    ],
    ids=["not text", "too large"],
)
def test_a_file_that_cannot_be_read_is_told_in_a_sentence(place, capsys, text, said):
    (place / "scalars.py").write_bytes(text)
    assert main(["check", str(place)]) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_cannot_be_read_does_not_hide_the_others(place, capsys):
    assert main(["start", "functions", str(place)]) == 0
    (place / "scalars.py").write_bytes(b"\xff\xfe")
    assert main(["check", str(place)]) == 2
    said = capsys.readouterr()
    assert "not UTF-8 text" in said.err
    assert f"✗ {COURSES['functions'].tasks[0].title}" in said.out


def test_the_file_may_be_named_instead_of_its_folder(place, capsys):
    (place / "scalars.py").write_text(SCALARS.reference, "utf-8")
    assert main(["check", str(place / "scalars.py")]) == 0
    assert f"All {len(SCALARS.tasks)} tasks are passed" in capsys.readouterr().out


def test_a_folder_without_a_course_says_how_to_begin(tmp_path, capsys):
    assert main(["check", str(tmp_path)]) == 2
    assert "begin with `python -m lab.practice start`" in capsys.readouterr().err
    for command, name in product(("check", "watch"), ("none", "n" * 300)):
        assert main([command, str(tmp_path / name)]) == 2
        assert capsys.readouterr().err.count("There is no folder") == 1


@pytest.mark.parametrize(
    ("rows", "written"), [([1.0], "[>1<]"), ([[1.0]], "[[>1<]]"), ([[1.0], [2]], "[[>1<], [>2<]]")]
)
def test_an_array_is_written_with_all_its_axes(rows, written):
    assert _format_value(shown("v", np.array(rows), wrong=np.array(True))) == written


def test_watch_checks_at_each_save_until_it_is_interrupted(place):
    command = [
        sys.executable,
        "-c",
        "import signal, runpy; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "runpy.run_module('lab.practice', run_name='__main__')",
        "watch",
        str(place),
    ]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as watch:
        timer = threading.Timer(180, watch.kill)
        timer.start()
        try:
            assert any("Waiting for the next save" in line for line in watch.stdout)
            (place / "scalars.py").write_bytes(b"\xff\xfe")  # what cannot be read does not end the watch
            assert any("not UTF-8 text" in line for line in watch.stdout)
            assert any("Waiting for the next save" in line for line in watch.stdout)
            (place / "scalars.py").write_text(SCALARS.reference, "utf-8")
            assert any(f"All {len(SCALARS.tasks)} tasks are passed" in line for line in watch.stdout)
            watch.send_signal(signal.SIGINT)
            assert watch.wait(60) == 130
        finally:
            timer.cancel()
            watch.kill()


def test_what_passes_is_written_into_the_folder_with_the_code(place, capsys):
    (place / "scalars.py").write_text(SCALARS.reference, "utf-8")
    assert main(["check", str(place)]) == 0
    progress = parse((place / "progress.json").read_bytes())
    assert [*progress.tasks] == [SCALARS.progress_key(task.key) for task in SCALARS.tasks]
    assert progress.texts == {"scalars": Work(SCALARS.reference, SCALARS.reference, len(SCALARS.tasks))}
    mistake = SCALARS.tasks[1].mistakes[0]
    broken = SCALARS.with_mistake(mistake)
    (place / "scalars.py").write_text(broken, "utf-8")
    assert main(["check", str(place)]) == 1
    later = parse((place / "progress.json").read_bytes())
    assert later.tasks == progress.tasks
    assert later.texts == {"scalars": Work(broken, SCALARS.reference, len(SCALARS.tasks))}
    assert later.stumbles["scalars/add"].mistake == mistake.key


def test_a_course_that_was_begun_on_the_page_goes_on_in_the_folder(tmp_path, capsys):
    saved = Progress("Ada", tasks={"scalars/value": "2026-01-02"}, texts={"scalars": Work("# mine\n", "# mine\n", 1)})
    (tmp_path / "progress.json").write_text(packed(saved), "utf-8")
    assert main(["start", "scalars", str(tmp_path)]) == 0
    assert (tmp_path / "scalars.py").read_text("utf-8") == "# mine\n"
    (tmp_path / "scalars.py").write_text(SCALARS.reference, "utf-8")
    assert main(["check", str(tmp_path)]) == 0
    progress = parse((tmp_path / "progress.json").read_bytes())
    assert (progress.name, progress.tasks["scalars/value"]) == ("Ada", "2026-01-02")


def test_a_file_of_progress_that_cannot_be_read_is_not_written_over(place, capsys):
    (place / "progress.json").write_text("{", "utf-8")
    assert main(["check", str(place)]) == 2
    assert (place / "progress.json").read_text("utf-8") == "{"
    told = capsys.readouterr().err
    assert "progress.json cannot be read: it is damaged" in told
    assert "Rename it: the next check makes a new one." in told  # without a way on, no check would ever run again


@pytest.mark.parametrize(
    "text",
    [
        'print("\\x1b[2J\\x1b[H ✓ all passed\\rforged\\x9b2J\\u202e")',
        'raise ValueError("\\x1b[2J\\rforged")',
        "x = 1 / 0  # \x1b[2J forged",
        'raise type("\\x1b[2J", (Exception,), {})',
    ],
)
def test_a_terminal_obeys_nothing_that_a_learner_wrote(place, capsys, text):
    (place / "scalars.py").write_text(f"{SCALARS.starter}\n{text}\n", "utf-8")
    assert main(["check", str(place)]) == 1
    said = capsys.readouterr().out
    assert [sign for sign in said if not (sign.isprintable() or sign == "\n")] == []


def test_a_pipe_or_a_folder_in_the_place_of_the_file_is_one_sentence(place, capsys):
    (place / "scalars.py").unlink()
    os.mkfifo(place / "scalars.py")
    assert main(["check", str(place)]) == 2
    assert capsys.readouterr().err == f"{place / 'scalars.py'} cannot be read: it is not a file.\n"
    (place / "scalars.py").unlink()
    (place / "scalars.py").mkdir()
    assert main(["check", str(place)]) == 2
    assert capsys.readouterr().err == f"{place / 'scalars.py'} cannot be read: is a directory.\n"
