"""The folder of a learner's own editor: what is read, what is written, and what is never lost."""

import os
from datetime import datetime
from pathlib import Path

import pytest

from lab.practice.folder import COPIES, MAX_BYTES, FileChangedError, FolderError, keep, read, start, write
from practice.task import Course

NOW = datetime(2026, 1, 2, 3, 4, 5)


@pytest.fixture
def course(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/starter.py").write_text("import math\n", "utf-8")
    return Course("small", "Small", "Does it work?", tmp_path / "texts", ())


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "own/engine"


def test_a_new_folder_gets_the_lines_to_begin_with(folder, course):
    began = start(folder, course)
    assert began.text == (folder / "small.py").read_text("utf-8") == "import math\n"
    assert began == read(folder, course)
    assert os.listdir(folder) == ["small.py"]


def test_a_file_that_is_there_is_taken_as_it_is(folder, course):
    folder.mkdir(parents=True)
    (folder / "small.py").write_text("mine = 1\n", "utf-8")
    assert start(folder, course).text == "mine = 1\n"


def test_a_text_that_was_seen_is_replaced_and_kept_as_a_copy(folder, course):
    seen = start(folder, course)
    written = write(folder, course, "mine = 2\n", seen.stamp)
    assert read(folder, course) == written
    assert [copy.read_text("utf-8") for copy in (folder / COPIES).iterdir()] == ["import math\n"]


def test_a_newer_file_is_not_written_over(folder, course):
    seen = start(folder, course)
    (folder / "small.py").write_text("newer\n", "utf-8")
    with pytest.raises(FileChangedError):
        write(folder, course, "older\n", seen.stamp)
    assert read(folder, course).text == "newer\n"
    assert write(folder, course, "newer\n", seen.stamp).text == "newer\n"  # both say the same


def test_a_file_that_came_meanwhile_is_not_written_over(folder, course):
    folder.mkdir(parents=True)
    (folder / "small.py").write_text("newer\n", "utf-8")
    with pytest.raises(FileChangedError):
        write(folder, course, "older\n", "")


def test_a_file_that_was_deleted_is_told_as_changed_and_then_written_anew(folder, course):
    seen = start(folder, course)
    (folder / "small.py").unlink()
    with pytest.raises(FileChangedError):
        write(folder, course, "mine\n", seen.stamp)
    assert write(folder, course, "mine\n", "").text == "mine\n"


def test_lines_end_as_they_did(folder, course):
    folder.mkdir(parents=True)
    (folder / "small.py").write_bytes(b"a = 1\r\nb = 2\r\n")
    seen = read(folder, course)
    assert seen.text == "a = 1\nb = 2\n"
    write(folder, course, "a = 1\nb = 3\n", seen.stamp)
    assert (folder / "small.py").read_bytes() == b"a = 1\r\nb = 3\r\n"


def test_each_text_has_one_dated_copy(folder, course):
    start(folder, course)
    first = keep(folder, course, "one\n", NOW)
    assert first.name.startswith("small 2026-01-02 03.04.05")
    assert keep(folder, course, "one\n", NOW.replace(hour=9)) == first
    assert keep(folder, course, "two\n", NOW) != first  # in the same second
    assert sorted(copy.read_text("utf-8") for copy in (folder / COPIES).iterdir()) == ["one\n", "two\n"]


def test_a_file_keeps_its_rights_and_its_place_behind_a_link(folder, course, tmp_path):
    folder.mkdir(parents=True)
    real = tmp_path / "real.py"
    real.write_text("a = 1\n", "utf-8")
    real.chmod(0o600)
    (folder / "small.py").symlink_to(real)
    write(folder, course, "a = 2\n", read(folder, course).stamp)
    assert (folder / "small.py").is_symlink()
    assert real.read_text("utf-8") == "a = 2\n"
    assert real.stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_used_is_one_sentence(folder, course, tmp_path):
    def refusal(call, *arguments):
        with pytest.raises(FolderError) as caught:
            call(*arguments)
        assert str(caught.value).endswith(".")
        return str(caught.value)

    (tmp_path / "file").write_text("", "utf-8")
    assert "no folder" in refusal(read, folder, course)
    assert "not the full path" in refusal(start, Path("engine"), course)
    assert "not the full path" in refusal(start, Path("/eng\0ine"), course)
    assert "cannot be created" in refusal(start, tmp_path / "file", course)
    assert "cannot be created" in refusal(start, tmp_path / "file/below", course)
    assert "cannot be created" in refusal(start, Path("/proc/none"), course)
    folder.mkdir(parents=True)
    (folder / "small.py").mkdir()
    assert "cannot be read" in refusal(read, folder, course)
    (folder / "small.py").rmdir()
    (folder / "small.py").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in refusal(read, folder, course)
    (folder / "small.py").write_bytes(b"#" * (MAX_BYTES + 1))
    assert "larger than 300 kB" in refusal(start, folder, course)
    (folder / "small.py").write_bytes(b"a = 1\n")
    (folder / COPIES).write_text("", "utf-8")
    assert "No copy could be kept" in refusal(keep, folder, course, "b", NOW)
    assert read(folder, course).text == "a = 1\n"


def test_a_file_that_goes_away_while_it_is_replaced_is_written_anew(folder, course, monkeypatch):
    """An editor may delete the file at any moment after it was read."""
    held = start(folder, course)

    def read_and_gone(*arguments):
        found = read(*arguments)
        (folder / course.file).unlink()
        return found

    monkeypatch.setattr("lab.practice.folder.read", read_and_gone)
    assert write(folder, course, "x = 1\n", held.stamp).text == "x = 1\n"
    assert (folder / course.file).read_text("utf-8") == "x = 1\n"


def test_a_text_that_could_not_be_read_again_is_not_written(folder, course):
    held = start(folder, course)
    for text, said in (("# " + "é" * 200_000, "larger than 300 kB"), ("x = 1\ny = '\ud800'\n", "Line 2 holds half")):
        with pytest.raises(FolderError, match=said):
            write(folder, course, text, held.stamp)
    with pytest.raises(FolderError, match="half a character"):
        keep(folder, course, "\ud800", NOW)
    assert read(folder, course) == held
