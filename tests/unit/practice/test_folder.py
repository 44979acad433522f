"""The folder of a learner's own editor: what is read, what is written, and what is never lost."""

import os
from datetime import datetime
from pathlib import Path

import pytest

from lab.practice.folder import COPIES, LARGEST, Changed, FolderError, keep, read, start, write
from practice.task import Ladder

NOW = datetime(2026, 1, 2, 3, 4, 5)


@pytest.fixture
def ladder(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/starter.py").write_text("import math\n", "utf-8")
    return Ladder("small", "Small", "Does it work?", tmp_path / "texts", ())


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "own/engine"


def test_a_new_folder_gets_the_lines_to_begin_with(folder, ladder):
    began = start(folder, ladder)
    assert began.text == (folder / "small.py").read_text("utf-8") == "import math\n"
    assert began == read(folder, ladder)
    assert os.listdir(folder) == ["small.py"]


def test_a_file_that_is_there_is_taken_as_it_is(folder, ladder):
    folder.mkdir(parents=True)
    (folder / "small.py").write_text("mine = 1\n", "utf-8")
    assert start(folder, ladder).text == "mine = 1\n"


def test_a_text_that_was_seen_is_replaced_and_kept_as_a_copy(folder, ladder):
    seen = start(folder, ladder)
    written = write(folder, ladder, "mine = 2\n", seen.stamp)
    assert read(folder, ladder) == written
    assert [copy.read_text("utf-8") for copy in (folder / COPIES).iterdir()] == ["import math\n"]


def test_a_newer_file_is_not_written_over(folder, ladder):
    seen = start(folder, ladder)
    (folder / "small.py").write_text("newer\n", "utf-8")
    with pytest.raises(Changed):
        write(folder, ladder, "older\n", seen.stamp)
    assert read(folder, ladder).text == "newer\n"
    assert write(folder, ladder, "newer\n", seen.stamp).text == "newer\n"  # both say the same


def test_a_file_that_came_meanwhile_is_not_written_over(folder, ladder):
    folder.mkdir(parents=True)
    (folder / "small.py").write_text("newer\n", "utf-8")
    with pytest.raises(Changed):
        write(folder, ladder, "older\n", "")


def test_a_file_that_was_deleted_is_told_as_changed_and_then_written_anew(folder, ladder):
    seen = start(folder, ladder)
    (folder / "small.py").unlink()
    with pytest.raises(Changed):
        write(folder, ladder, "mine\n", seen.stamp)
    assert write(folder, ladder, "mine\n", "").text == "mine\n"


def test_lines_end_as_they_did(folder, ladder):
    folder.mkdir(parents=True)
    (folder / "small.py").write_bytes(b"a = 1\r\nb = 2\r\n")
    seen = read(folder, ladder)
    assert seen.text == "a = 1\nb = 2\n"
    write(folder, ladder, "a = 1\nb = 3\n", seen.stamp)
    assert (folder / "small.py").read_bytes() == b"a = 1\r\nb = 3\r\n"


def test_each_text_has_one_dated_copy(folder, ladder):
    start(folder, ladder)
    first = keep(folder, ladder, "one\n", NOW)
    assert first.name.startswith("small 2026-01-02 03.04.05")
    assert keep(folder, ladder, "one\n", NOW.replace(hour=9)) == first
    assert keep(folder, ladder, "two\n", NOW) != first  # in the same second
    assert sorted(copy.read_text("utf-8") for copy in (folder / COPIES).iterdir()) == ["one\n", "two\n"]


def test_a_file_keeps_its_rights_and_its_place_behind_a_link(folder, ladder, tmp_path):
    folder.mkdir(parents=True)
    real = tmp_path / "real.py"
    real.write_text("a = 1\n", "utf-8")
    real.chmod(0o600)
    (folder / "small.py").symlink_to(real)
    write(folder, ladder, "a = 2\n", read(folder, ladder).stamp)
    assert (folder / "small.py").is_symlink()
    assert real.read_text("utf-8") == "a = 2\n"
    assert real.stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_used_is_one_sentence(folder, ladder, tmp_path):
    def said(call, *arguments):
        with pytest.raises(FolderError) as caught:
            call(*arguments)
        assert str(caught.value).endswith(".")
        return str(caught.value)

    (tmp_path / "file").write_text("", "utf-8")
    assert "no folder" in said(read, folder, ladder)
    assert "not the whole path" in said(start, Path("engine"), ladder)
    assert "not the whole path" in said(start, Path("/eng\0ine"), ladder)
    assert "cannot be made" in said(start, tmp_path / "file", ladder)
    assert "cannot be made" in said(start, tmp_path / "file/below", ladder)
    assert "cannot be made" in said(start, Path("/proc/none"), ladder)
    folder.mkdir(parents=True)
    (folder / "small.py").mkdir()
    assert "cannot be read" in said(read, folder, ladder)
    (folder / "small.py").rmdir()
    (folder / "small.py").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in said(read, folder, ladder)
    (folder / "small.py").write_bytes(b"#" * (LARGEST + 1))
    assert "larger than 300 kB" in said(start, folder, ladder)
    (folder / "small.py").write_bytes(b"a = 1\n")
    (folder / COPIES).write_text("", "utf-8")
    assert "No copy could be kept" in said(keep, folder, ladder, "b", NOW)
    assert read(folder, ladder).text == "a = 1\n"


def test_a_file_that_goes_away_while_it_is_replaced_is_written_anew(folder, ladder, monkeypatch):
    """An editor may delete the file at any moment after it was read."""
    held = start(folder, ladder)

    def read_and_gone(*arguments):
        found = read(*arguments)
        (folder / ladder.file).unlink()
        return found

    monkeypatch.setattr("lab.practice.folder.read", read_and_gone)
    assert write(folder, ladder, "x = 1\n", held.stamp).text == "x = 1\n"
    assert (folder / ladder.file).read_text("utf-8") == "x = 1\n"


def test_a_text_that_could_not_be_read_again_is_not_written(folder, ladder):
    held = start(folder, ladder)
    for text, said in (("# " + "é" * 200_000, "larger than 300 kB"), ("x = 1\ny = '\ud800'\n", "Line 2 holds half")):
        with pytest.raises(FolderError, match=said):
            write(folder, ladder, text, held.stamp)
    with pytest.raises(FolderError, match="half a character"):
        keep(folder, ladder, "\ud800", NOW)
    assert read(folder, ladder) == held
