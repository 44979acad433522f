"""What a class has handed in: a row a file, a sentence for each that is damaged, changed or a double, a CSV."""

import csv
import json

import pytest

from lab.practice.__main__ import main
from lab.practice.summary import LARGEST, checksum
from practice.questions import QUESTIONS

CARDS = {"first-gradient": "2026-01-02", "two-messages": "2026-03-04"}
TASKS = {"scalars/value": "2026-03-05", "scalars/add": "2026-05-06", "debug/order": "2026-02-01",
         "questions/why-add": "2026-02-02", "pages/graph": "2026-02-02"}  # fmt: skip
HEADER = ["student", "cards", "scalars (of 8)", "tensors (of 11)", "function objects (of 9)", "debug (of 12)",
          f"questions (of {len(QUESTIONS)})", "last day"]  # fmt: skip


@pytest.fixture
def hand_in(tmp_path):
    def hand_in(name, cards=CARDS, tasks=TASKS, **other):
        content = {"lab": "tensor-ops-lab", "version": 1, "cards": cards, "tasks": tasks}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(content | {"checksum": checksum(cards, tasks)} | other), "utf-8")
        return path

    return hand_in


def summarized(capsys, *arguments):
    code = main(["summary", *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out.splitlines(), said.err.splitlines()


def test_the_checksum_is_that_of_the_browser():
    # The same numbers stand in tests/js/progress.test.js.
    assert checksum({}, {}) == "811c9dc5"
    tasks = {"scalars/add": "2026-05-06", "scalars/é": "2026-01-02"}
    assert checksum({"two-messages": "2026-03-04"}, tasks) == "e518c6fe"
    assert checksum({"two-messages": "2026-03-04"}, dict(reversed(tasks.items()))) == "e518c6fe"


def test_each_file_is_a_row_on_the_terminal_and_in_the_csv(hand_in, tmp_path, capsys):
    files = hand_in("ada"), hand_in("=bo", {"first-gradient": "2026-07-08"}, {}), hand_in("cy", {}, {})
    out = tmp_path / "class.csv"
    link = "https://lab.example/?set=cards.two-messages~scalars.add.train~pages.graph&name=Monday"
    code, lines, notes = summarized(capsys, *files, "--csv", out, "--set", link)
    assert (code, notes) == (0, [])
    assert [line.split()[0] for line in lines] == ["student", "ada", "=bo", "cy"]
    with out.open(encoding="utf-8-sig", newline="") as opened:
        table = [*csv.reader(opened)]
    assert table == [
        [*HEADER, "two-messages", "scalars/add", "scalars/train", "pages/graph"],
        ["ada", "2", "2", "0", "0", "1", "1", "2026-05-06", "2026-03-04", "2026-05-06", "", "2026-02-02"],
        ["'=bo", "1", "0", "0", "0", "0", "0", "2026-07-08", "", "", "", ""],
        ["cy", "0", "0", "0", "0", "0", "0", "", "", "", "", ""],
    ]


def test_an_older_file_has_no_checksum_and_is_read(tmp_path, capsys):
    old = tmp_path / "old.json"
    old.write_text(json.dumps({"lab": "tensor-ops-lab", "version": 1, "cards": CARDS}), "utf-8")
    code, lines, notes = summarized(capsys, old)
    assert (code, notes) == (0, [])
    assert lines[1].split() == ["old", "2", "0", "0", "0", "0", "0", "2026-03-04"]


def test_a_file_whose_checksum_was_taken_out_is_named(hand_in, capsys):
    path = hand_in("eve")
    content = json.loads(path.read_text("utf-8"))
    del content["checksum"]
    path.write_text(json.dumps(content), "utf-8")
    code, lines, notes = summarized(capsys, path)
    assert (code, len(lines)) == (0, 2)
    assert notes == [f"{path} has no checksum: an older version of the lab saved it, or it was changed."]


def test_what_is_damaged_changed_or_a_double_is_named_and_the_others_are_read(hand_in, tmp_path, capsys):
    good, edited = (
        hand_in("ada"),
        hand_in("bo", tasks=TASKS | {"scalars/train": "2026-05-07"}, checksum=checksum(CARDS, TASKS)),
    )
    double = hand_in("cy")
    wrong = {
        "half": good.read_bytes()[:90], "binary": b"\xff\xfe\x00", "list": b"[]", "other": b'{"cards": {}}', "deep": b"[" * 50_000,
        "large": b" " * (LARGEST + 1), "cards": b'{"lab": "tensor-ops-lab", "cards": 7}',
    }  # fmt: skip
    for name, content in wrong.items():
        (tmp_path / f"{name}.json").write_bytes(content)
    damaged = [tmp_path / f"{name}.json" for name in (*wrong, "missing")]
    code, lines, notes = summarized(capsys, *damaged, good, edited, double, tmp_path)
    assert code == 1
    assert [line.split()[0] for line in lines] == ["student", "ada", "bo", "cy"]
    assert len(notes) == len(damaged) + 3
    for path in (*damaged, tmp_path):
        assert [note for note in notes if note.startswith(f"{path} is left out: ") and note.endswith(".")]
    assert f"{edited} does not fit its checksum: it was changed after it was saved." in notes
    assert f"{double} says the same as {good}, on the same days." in notes


def test_what_is_no_day_does_not_count_and_a_name_gives_no_orders(hand_in, tmp_path, capsys):
    cards = {"first-gradient": "soon", "two-messages": 7, "by-hand": "2026-01-02\n"}
    path = hand_in("a\x1b[2Jb", cards, {"scalars/add": ["2026-01-02"]}, checksum=checksum({}, {}))
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
    assert (code, notes) == (2, ["The link carries no set: copy it whole, from the page For teachers."])
    code, lines, notes = summarized(capsys, hand_in("ada"), "--csv", tmp_path)
    assert code == 1
    assert len(lines) == 2
    assert notes == [f"{tmp_path} cannot be written: is a directory."]
