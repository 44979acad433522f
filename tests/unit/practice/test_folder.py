"""The folder of a learner's own editor: how its files begin, and what is read."""

import os
from pathlib import Path

import pytest

from lab.practice.folder import MAX_BYTES, FolderError, read, replace, start
from practice.task import Course


@pytest.fixture
def course(tmp_path):
    return Course("small", "Small", "Does it work?", tmp_path / "texts", ())


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "own/engine"


def test_a_new_folder_gets_the_lines_to_begin_with(folder, course):
    start(folder, course, "import math\n")
    assert read(folder, course) == "import math\n"
    assert os.listdir(folder) == ["small.py"]


@pytest.mark.parametrize("text", ["mine = 1\n", ""])
def test_a_file_that_is_there_is_taken_as_it_is(folder, course, text):
    folder.mkdir(parents=True)
    (folder / "small.py").write_text(text, "utf-8")
    start(folder, course, "import math\n")
    assert read(folder, course) == text


def test_lines_end_in_one_way(folder, course):
    folder.mkdir(parents=True)
    (folder / "small.py").write_bytes(b"a = 1\r\nb = 2\r\n")
    assert read(folder, course) == "a = 1\nb = 2\n"


def test_a_file_keeps_its_rights_and_its_place_behind_a_link(tmp_path):
    real = tmp_path / "real.json"
    real.write_text("{}", "utf-8")
    real.chmod(0o600)
    (tmp_path / "link.json").symlink_to(real)
    replace(tmp_path / "link.json", b"[]")
    assert (tmp_path / "link.json").is_symlink()
    assert real.read_text("utf-8") == "[]"
    assert real.stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_used_is_one_sentence(folder, course, tmp_path):
    def refusal(call, *arguments):
        with pytest.raises(FolderError) as caught:
            call(*arguments)
        assert str(caught.value).endswith(".")
        return str(caught.value)

    (tmp_path / "file").write_text("", "utf-8")
    assert "no folder" in refusal(read, folder, course)
    for name in (tmp_path / "file", tmp_path / "file/below", Path("/proc/none"), tmp_path / "eng\0ine"):
        assert "cannot be created" in refusal(start, name, course, "")
    folder.mkdir(parents=True)
    (folder / "small.py").mkdir()
    assert "cannot be read" in refusal(read, folder, course)
    (folder / "small.py").rmdir()
    (folder / "small.py").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in refusal(read, folder, course)
    (folder / "small.py").write_bytes(b"#" * (MAX_BYTES + 1))
    assert "larger than 300 kB" in refusal(start, folder, course, "")
