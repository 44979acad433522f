"""What a class has handed in: a row a file, a sentence for each that is damaged or a double, a CSV."""

import csv
import json
import os
import re
import socket
from pathlib import Path

import pytest

from lab.practice import isolation
from lab.practice.__main__ import main
from lab.practice.class_summary import width
from lab.practice.progress_file import MAX_BYTES, Progress, Stumble, Work, hashed, packed, parse
from practice import COURSES
from practice.questions import QUESTIONS

CARDS = {"first-gradient": "2026-01-02", "two-messages": "2026-03-04"}
TASKS = {
    "scalars/value": "2026-03-05", "scalars/add": "2026-05-06", "debug/order": "2026-02-01",
    "questions/why-add": "2026-02-02", "pages/graph-lab": "2026-02-02",
}  # read by rows  # fmt: skip
HEADER = [
    "student", "cards", "scalars (of 9)", "tensors (of 12)", "function objects (of 9)", "debug (of 12)",
    f"questions (of {len(QUESTIONS)})", "last day",
]  # read by rows  # fmt: skip


@pytest.fixture
def hand_in(tmp_path):
    def hand_in(name, cards=CARDS, tasks=TASKS):
        content = {"lab": "tensor-ops-lab", "cards": cards, "tasks": tasks}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(content), "utf-8")
        return path

    return hand_in


def summarized(capsys, *arguments):
    code = main(["summary", *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out.splitlines(), said.err.splitlines()


def test_the_hash_of_a_text_is_that_of_the_browser():
    # The same number stands in tests/js/progress.test.js.
    assert hashed("李小龍 é 𝔘 \ud800") == "6a98d304"


def test_each_file_is_a_row_on_the_terminal_and_in_the_csv(hand_in, tmp_path, capsys):
    files = hand_in("ada"), hand_in("=bo", {"first-gradient": "2026-07-08"}, {}), hand_in("cy", {}, {})
    out = tmp_path / "class.csv"
    link = "https://lab.example/?set=cards.two-messages~scalars.add.train~pages.graph-lab&name=Monday"
    code, lines, notes = summarized(capsys, *files, "--csv", out, "--set", link)
    assert (code, notes) == (0, [])
    assert [line.split()[0] for line in lines] == ["student", "ada", "=bo", "cy"]
    with out.open(encoding="utf-8-sig", newline="") as opened:
        table = [*csv.reader(opened)]
    assert table == [
        [
            *HEADER,
            "code",
            "set (of 4)",
            "Two messages add up",
            "Task: Addition (Scalars)",
            "Task: Train it (Scalars)",
            "Page: Graph lab",
        ],
        [
            "ada",
            "2",
            "2",
            "0",
            "0",
            "1",
            "1",
            "2026-05-06",
            "unchecked",
            "3",
            "2026-03-04",
            "2026-05-06",
            "",
            "2026-02-02",
        ],
        ["'=bo", "1", "0", "0", "0", "0", "0", "2026-07-08", "", "0", "", "", "", ""],
        ["cy", "0", "0", "0", "0", "0", "0", "", "", "0", "", "", "", ""],
    ]


def test_what_is_damaged_or_a_double_is_named_and_the_others_are_read(hand_in, tmp_path, capsys):
    good, other = hand_in("ada"), hand_in("bo", tasks=TASKS | {"scalars/train": "2026-05-07"})
    double = hand_in("cy")
    wrong = {
        "half": good.read_bytes()[:90],
        "binary": b"\xff\xfe\x00",
        "list": b"[]",
        "other": b'{"cards": {}}',
        "deep": b"[" * 50_000,
        "large": b" " * (MAX_BYTES + 1),
        "cards": b'{"lab": "tensor-ops-lab", "cards": 7}',
    }
    for name, content in wrong.items():
        (tmp_path / f"{name}.json").write_bytes(content)
    damaged = [tmp_path / f"{name}.json" for name in (*wrong, "missing")]
    code, lines, notes = summarized(capsys, *damaged, good, other, double)
    assert code == 1
    assert [line.split()[0] for line in lines] == ["student", *(path.stem for path in damaged), "ada", "bo", "cy"]
    assert [line.split()[1:] for line in lines[1 : len(damaged) + 1]] == [["not", "read"]] * len(damaged)
    assert len(notes) == len(damaged) + 1
    for path in damaged:
        assert [note for note in notes if note.startswith(f"{path} is skipped: ") and note.endswith(".")]
    assert f"{double} has the same entries and dates as {good}." in notes


def test_what_is_no_day_does_not_count_and_a_name_gives_no_orders(hand_in, tmp_path, capsys):
    cards = {"first-gradient": "soon", "two-messages": 7, "by-hand": "2026-01-02\n"}
    path = hand_in("a\x1b[2Jb", cards, {"scalars/add": ["2026-01-02"]})
    code, lines, _ = summarized(capsys, path)
    assert code == 0
    assert lines[1].split() == ["a?[2Jb", "0", "0", "0", "0", "0", "0"]


def test_files_of_one_name_keep_their_folders(hand_in, tmp_path, capsys):
    (tmp_path / "other").mkdir()
    first = hand_in("ada")
    second = first.rename(tmp_path / "other" / "ada.json")
    _, lines, _ = summarized(capsys, hand_in("ada", {}, {}), second)
    assert str(second) in lines[2]


def test_a_link_without_a_set_and_a_place_that_cannot_be_written_are_sentences(hand_in, tmp_path, capsys):
    code, _, notes = summarized(capsys, hand_in("ada"), "--set", "https://lab.example/")
    assert (code, notes) == (2, ["The link carries no list: copy it whole, from the page For teachers."])
    code, lines, notes = summarized(capsys, hand_in("ada"), "--csv", tmp_path)
    assert code == 1
    assert len(lines) == 2
    assert notes == [f"{tmp_path} cannot be written: is a directory."]


# ---------------------------------------------------------------- code that was handed in

SCALARS = COURSES["scalars"]
ALL = {SCALARS.progress_key(task.key): "2026-05-06" for task in SCALARS.tasks}
FIRST = SCALARS.grown(SCALARS.reference, 1)  # with one task done, which is soon checked
needs_sandbox = pytest.mark.skipif(bool(isolation.unavailable()), reason=isolation.unavailable())
MISTAKE = next(one for one in SCALARS.tasks[1].mistakes)


def written(path, **fields):
    path.write_text(packed(Progress(**fields)), "utf-8")
    return path


def with_code(path, text, name="", **fields):
    return written(path, name=name, tasks=ALL, texts={"scalars": Work(text, text, 9)}, **fields)


@needs_sandbox
def test_the_code_is_checked_and_the_table_says_what_passes_now(tmp_path, capsys):
    with_code(tmp_path / "one.json", SCALARS.reference, "Ada Lovelace")
    with_code(tmp_path / "two.json", SCALARS.with_mistake(MISTAKE), "Bo")
    code, lines, _ = summarized(capsys, tmp_path)
    assert code == 0
    assert [line.split()[:5] for line in lines[1:3]] == [["Ada", "Lovelace", "0", "9", "0"], ["Bo", "0", "1", "0", "0"]]
    assert all(line.endswith("checked") for line in lines[1:3])
    stop = lines[lines.index("Where they stop:") + 2]
    assert stop.split()[0] == "1"
    assert "2. Addition" in stop
    assert MISTAKE.key in stop


UNREAD, STOPPED = "not read", "stopped"
ODD = {  # name of a file or folder in a class -> what it holds, and the end of its row
    "long numbers.json": (packed(Progress()).replace('"cards": {}', '"cards": {"a": ' + "9" * 4301 + "}"), UNREAD),
    "deep.json": ('{"lab": "tensor-ops-lab", "version": 2, "cards": {}, "x": ' + "[" * 3000 + "]" * 3000 + "}", UNREAD),
    "half a letter.json": (packed(Progress(texts={"scalars": Work("x = '\ud800'", "\ud800", 0)})), "checked"),
    "scalars of bytes.py": (bytes(range(256)), UNREAD),
    "scalars with a 0.py": ("x = 1\0", "checked"),
    "large scalars.py": ("#" * 300_001, UNREAD),
    "scalars of brackets.py": ("x = " + "(" * 5000, "checked"),
    "scalars of dots.py": (f"{SCALARS.reference}\nclass A: pass\nA.a = A\nA{'.a' * 5000}\n", "checked"),
    "scalars with a long message.py": (SCALARS.reference.replace("def __add__(self, other):", "def __add__(self, other):\n        raise E('_' * 25_000)") + "\nclass E(TypeError): pass\n", "checked"),
    "scalars with a bomb.py": ("import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n", STOPPED),
    "scalars.py": (None, UNREAD),  # a folder
    "scalars of another.py": (Path("good scalars.py"), UNREAD),  # a link
    "tensors/scalars.py": (Path("../good scalars.py"), UNREAD),
    "up": (Path(".."), UNREAD),  # a link to a folder
}  # fmt: skip


@needs_sandbox
def test_whatever_is_handed_in_is_one_row_and_others_are_judged_rightly(tmp_path, capsys):
    place = tmp_path / "class"
    for name, (held, _) in {"good scalars.py": (SCALARS.reference, ""), **ODD}.items():
        path = place / name
        path.parent.mkdir(exist_ok=True, parents=True)
        if held is None:
            path.mkdir()
        elif isinstance(held, Path):
            path.symlink_to(held)
        else:
            path.write_bytes(held if isinstance(held, bytes) else held.encode())
    _, lines, notes = summarized(capsys, place)
    rows = {" ".join(line.split()): line for line in lines[: lines.index("")]}
    assert len(rows) == len(ODD) + 2
    (good,) = [row for row in rows if row.startswith("good scalars ")]
    assert good == "good scalars 0 9 0 0 0 0 checked"
    for name, (_, end) in ODD.items():
        student = Path(name.partition("/")[0]).stem
        assert sum(bool(re.fullmatch(rf"{re.escape(student)}( \d)* {end}", row)) for row in rows) == 1, (student, rows)
    assert all("\n" not in note for note in notes)


@pytest.mark.parametrize("trusted", [False, True])
def test_code_runs_unconfined_only_if_the_teacher_says_so(tmp_path, capsys, monkeypatch, trusted):
    monkeypatch.setattr(isolation, "unconfined", lambda: isolation.UNCONFINED)
    with_code(tmp_path / "one.json", FIRST, "Ada")
    _, lines, notes = summarized(capsys, tmp_path, *["--run-unconfined"] * trusted)
    assert lines[1].split()[-1] == ("checked" if trusted else "unchecked")
    assert [note for note in notes if "--run-unconfined" in note] == notes[1:] * (not trusted)


@pytest.mark.parametrize(
    "name",
    [
        "=1+1",
        "Ada;=1+1",
        "Ada, +1",
        "\t=1",
        " =1",
        "@SUM(1)",
        "-1",
        "Ada -1",
        *["；＝1", "＝1+1", "＋1", "－1", "−1", "＠A", "﹦1"],
    ],
)
def test_no_cell_of_the_csv_begins_a_formula(tmp_path, capsys, name):
    written(tmp_path / "one.json", name=name)
    written(tmp_path / "two.json", name="Anne-Marie")
    summarized(capsys, tmp_path, "--csv", tmp_path / "class.csv")
    _, guarded, plain = (tmp_path / "class.csv").read_text("utf-8-sig").splitlines()
    assert guarded.startswith("\"'")
    assert plain.startswith('"Anne-Marie","0",')


@needs_sandbox
@pytest.mark.parametrize(("texts", "said"), [({}, "unchecked"), ({"scalars": FIRST}, "partly checked")])
def test_ticks_without_code_are_marked(tmp_path, capsys, texts, said):
    ticks = {one.progress_key(task.key): "2026-05-06" for one in COURSES.values() for task in one.tasks}
    works = {key: Work(text, text, 0) for key, text in texts.items()}
    written(tmp_path / "ada.json", name="Ada", tasks=ticks, texts=works)
    _, lines, _ = summarized(capsys, tmp_path)
    assert lines[1].endswith(said)


@needs_sandbox
def test_folders_and_python_files_are_learners_too(tmp_path, capsys):
    for name in ("ada", "bo"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "scalars.py").write_text(FIRST, "utf-8")
    (tmp_path / "cy_scalars.py").write_text(FIRST, "utf-8")
    code, lines, notes = summarized(capsys, tmp_path / "class", tmp_path / "cy_scalars.py")
    assert (code, notes) == (0, [])
    assert [line.split()[:3] for line in lines[1:4]] == [["ada", "0", "1"], ["bo", "0", "1"], ["cy_scalars", "0", "1"]]


def test_patterns_are_expanded_and_one_that_fits_nothing_is_named(hand_in, tmp_path, capsys):
    hand_in("ada")
    hand_in("bo", {}, {})
    code, lines, notes = summarized(capsys, tmp_path / "*.json", tmp_path / "*.txt")
    assert [line.split()[0] for line in lines] == ["student", "ada", "bo"]
    assert (code, notes) == (1, [f"No file matches {tmp_path / '*.txt'}."])


def test_a_name_that_looks_like_an_option_is_a_file(hand_in, tmp_path, capsys, monkeypatch):
    hand_in("-ada")
    monkeypatch.chdir(tmp_path)
    code, lines, _ = summarized(capsys, "-ada.json")
    assert (code, lines[1].split()[0]) == (0, "-ada")


def test_wide_letters_do_not_shift_a_column_and_a_long_name_is_cut(tmp_path, capsys):
    for number, name in enumerate(("李小龍", "Ada", "é\u0301" * 5, "x" * 200)):
        written(tmp_path / f"{number}.json", name=name, cards=CARDS)
    _, lines, _ = summarized(capsys, tmp_path)
    assert len({width(line[: line.index(" 2 ")]) for line in lines[1:]}) == 1
    assert max(map(width, lines)) < 200


def test_what_is_no_file_is_one_sentence(hand_in, tmp_path, capsys, monkeypatch):
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    with (tmp_path / "huge.json").open("wb") as huge:
        huge.truncate(1_000_000_000)
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(tmp_path)  # the name of a socket is short
        listening.bind("socket.json")
        code, lines, notes = summarized(capsys, hand_in("ada"), tmp_path, tmp_path / "empty")
    assert [line.split()[0] for line in lines] == ["student", "ada", "empty", "huge", "pipe", "socket"]
    assert (code, len(notes)) == (1, 4)
    assert all(" is skipped: " in note and "\n" not in note for note in notes)


@pytest.mark.parametrize("day", ["9999-99-99", "2026-02-30", "0000-01-01", "2026-13-01"])
def test_a_day_that_is_in_no_calendar_does_not_count(hand_in, capsys, day):
    _, lines, _ = summarized(capsys, hand_in("ada", {"first-gradient": day}, {}))
    assert lines[1].split() == ["ada", *"000000"]


def test_a_file_is_read_as_it_was_written():
    progress = Progress(
        "Ada",
        CARDS,
        TASKS,
        {"scalars": Work("a = 1\n", "", 0)},
        {"scalars/mul": Stumble("A product", "sign", "2026-05-06")},
    )
    assert parse(packed(progress).encode()) == progress


@needs_sandbox
def test_a_learning_platforms_folder_for_each_learner_is_read(tmp_path, capsys):
    (tmp_path / "Ada" / "my-engine").mkdir(parents=True)
    (tmp_path / "Ada" / "my-engine" / "scalars.py").write_text(FIRST, "utf-8")
    for name in ("Bo", "Cy", "Di", "__MACOSX"):
        (tmp_path / name).mkdir()
    written(tmp_path / "Bo" / "progress.json", cards=CARDS)
    (tmp_path / "Cy" / "scalars (1).py").write_text(f"{FIRST}# Cy's\n", "utf-8")
    code, lines, notes = summarized(capsys, tmp_path)
    assert [line.split()[:3] for line in lines[1:5]] == [
        ["my-engine", "0", "1"],
        ["Bo", "2", "0"],
        ["Cy", "0", "1"],
        ["Di", "not", "read"],
    ]
    assert (code, len(notes)) == (1, 1)
    assert notes[0].startswith(f"{tmp_path / 'Di'} is skipped: ")


@needs_sandbox
def test_a_class_next_to_a_stray_file_is_not_lost_silently(tmp_path, capsys):
    (tmp_path / "ada").mkdir()
    for path in ("ada/scalars.py", "scalars.py", "bo_scalars.py"):
        (tmp_path / path).write_text(FIRST, "utf-8")
    _, _, notes = summarized(capsys, tmp_path)
    assert notes == [f"{tmp_path} is read as one learner's folder, so these are not read: ada and bo_scalars.py."]


@needs_sandbox
def test_the_same_tasks_on_the_same_day_in_class_are_no_copy(tmp_path, capsys):
    with_code(tmp_path / "ada.json", FIRST, "Ada")
    with_code(tmp_path / "bo.json", FIRST.replace("self", "me"), "Bo")
    with_code(tmp_path / "cy.json", FIRST, "Cy")
    _, _, notes = summarized(capsys, tmp_path)
    assert notes == [f"{tmp_path / 'cy.json'} has the same entries and dates as {tmp_path / 'ada.json'}."]
