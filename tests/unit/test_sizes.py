"""Rooms stay small enough to read: each has a cap, which is lowered when the room has become smaller."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CAPS = {  # lines of code and of data, in rooms separated by spaces
    "model.py": 1_000,
    "nn.py": 260,
    "train.py": 180,
    "app.py": 45,
    "lab/failures": 8_769,
    "lab/watch": 4_717,
    "lab/training": 6_244,
    "lab/training/doctor.py lab/training/figures.py": 694,
    "lab/practice": 5_200,
    "lab/practice/sandbox.py lab/practice/driver.py lab/practice/syscalls.py": 800,
    "lab/traps lab/designs lab/autodiff lab/gradcheck": 5_800,
    "lab/ui": 1_368,
    "pages": 8_834,
    "static": 10_217,
    "tests": 57_890,
}
CODE = {".py", ".js", ".ts", ".css", ".html"}
COUNTED = CODE | {".toml", ".txt", ".json"}
THEIRS = {"codemirror", "echarts", "graphviz"}  # folders of code that others wrote
PRODUCT, PRODUCT_CAP = "app.py model.py nn.py train.py lab pages static practice assets", 61_640  # lines of code


def lines_of(rooms, counted=COUNTED):
    listed = subprocess.run(["git", "ls-files", "-z", *rooms.split()], cwd=ROOT, check=True, capture_output=True)
    files = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return sum(
        path.read_bytes().count(b"\n")
        for path in files
        if path.suffix in counted and path.is_file() and THEIRS.isdisjoint(path.parts)
    )


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="what belongs to the project is known in its repository")
@pytest.mark.parametrize("rooms", CAPS)
def test_a_room_stays_within_its_cap(rooms):
    lines = lines_of(rooms)
    assert 0 < lines <= CAPS[rooms], f"{rooms}: {lines} lines"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="what belongs to the project is known in its repository")
def test_the_whole_product_stays_within_its_cap():
    lines = lines_of(PRODUCT, CODE)
    assert 0 < lines <= PRODUCT_CAP, f"{lines} lines"
