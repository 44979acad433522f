"""Build the package `tensor_ops_lab` for a wheel: a copy of the project whose modules import each other from it.

In the source, `from model import Tensor` is what a learner writes. Installed under these names, the modules would hide,
or be hidden by, a `model.py` or `train.py` of the user's own project; so there they are in one package.
"""

import ast
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "tensor_ops_lab"
OWN = "app|model|nn|train|lab|pages|practice"
COPIED = ("app.py", "model.py", "nn.py", "train.py", "pages", "lab", "practice", "assets", "static", ".streamlit")
START = '"""A teaching lab for automatic differentiation."""\n\nfrom tensor_ops_lab.model import *\n'
COMMANDS = {  # in texts for readers
    r"python -m lab\.(watch|failures|practice)\b(?!\.)": r"tensor-ops-lab-\1",
    r"python -m lab\.": f"python -m {PACKAGE}.lab.",
    r"python train\.py": "tensor-ops-lab-train",
}


def in_package(source: str) -> str:
    """Return a module's text with the project's own imports taken from the package. Raises ValueError."""
    lines = source.split("\n")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and not node.level and re.fullmatch(rf"({OWN})(\..*)?", node.module or ""):
            at = node.lineno - 1
            lines[at] = re.sub(rf"\bfrom ({OWN})\b", rf"from {PACKAGE}.\1", lines[at], count=1)
        elif isinstance(node, ast.Import) and any(re.fullmatch(rf"({OWN})(\..*)?", name.name) for name in node.names):
            at, name = node.lineno - 1, node.names[0]
            if len(node.names) > 1 or ("." in name.name and not name.asname):
                raise ValueError(f"line {at + 1}: import one module of the project at a time, and give it a name")
            parent, _, last = f"{PACKAGE}.{name.name}".rpartition(".")
            alias = f" as {name.asname}" if name.asname else ""
            lines[at] = re.sub(
                rf"\bimport ({OWN})\S*( as \w+)?", f"from {parent} import {last}{alias}", lines[at], count=1
            )
    text = "\n".join(lines)
    for pattern, command in COMMANDS.items():
        text = re.sub(pattern, command, text)
    return text


def build(root: Path, target: Path) -> None:
    """Write the package into a folder, which must not exist."""
    target.mkdir()
    for path in filter(Path.exists, (root / name for name in COPIED)):
        if path.is_dir():
            shutil.copytree(path, target / path.name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, target)
    for path in target.rglob("*.py"):
        if not is_learners(path.relative_to(target)):
            path.write_text(in_package(path.read_text("utf-8")), "utf-8")
    (target / "__init__.py").write_text(START, "utf-8")


def is_learners(path: Path) -> bool:
    """Whether a file is a program of a learner, such as practice/programs/example_4_detach.py: `model` is the name by
    which the sandbox knows the engine."""
    return path.parts[0] == "practice" and len(path.parts) > 2 and path.name != "__init__.py"


class Hook(BuildHookInterface):
    """What hatchling calls before and after it packs a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            self.folder = tempfile.TemporaryDirectory()
            target = Path(self.folder.name) / PACKAGE
            build(Path(self.root), target)
            build_data["force_include"][str(target)] = PACKAGE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.folder.cleanup()
