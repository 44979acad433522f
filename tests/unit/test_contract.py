"""The engine's extension contract, and its size: a reader sees all of it in one sitting."""

import ast
from pathlib import Path

import pytest

import model
from model import Tensor

ROOT = Path(__file__).resolve().parents[2]
LINES = {"model.py": 1000, "nn.py": 260}
# Private names of the engine; a room that has an attribute of the same name means its own.
PRIVATE = {name for name in (*vars(model), *vars(Tensor)) if name.startswith("_") and not name.startswith("__")}
ROOMS = sorted(path for room in ("lab", "pages", "benchmarks") for path in ROOT.glob(f"{room}/**/*.py"))


@pytest.mark.parametrize("file", LINES)
def test_a_file_stays_small(file):
    assert len((ROOT / file).read_text("utf-8").splitlines()) <= LINES[file]


def test_the_first_operation_and_the_whole_engine_come_early():
    lines = (ROOT / "model.py").read_text("utf-8").splitlines()
    at = {name: next(i for i, line in enumerate(lines, 1) if f"def {name}(" in line) for name in ("__add__", "exp")}
    assert at["__add__"] <= 130
    assert at["exp"] <= 300  # the first operation after the arithmetic, with which the whole engine has been seen


def test_no_room_touches_a_private_name_of_the_engine():
    touched = set()
    for path in ROOMS:
        tree = ast.parse(path.read_text("utf-8"))
        own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        own |= {
            node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in ("model", "nn"):
                touched |= {(path.name, alias.name) for alias in node.names if alias.name.startswith("_")}
            elif isinstance(node, ast.Attribute) and node.attr in PRIVATE - own:
                touched.add((path.name, node.attr))
    assert touched == set()
