"""What `pip install .` installs: the same as the source has, with the same requirements."""

import ast
import importlib.util
import itertools
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
RUN_TIME = {"app.py", "model.py", "nn.py", "train.py", "pages", "lab", "practice", "assets", "static", ".streamlit"}


def requirements(file):
    lines = (ROOT / file).read_text("utf-8").splitlines()
    return [line.split("  #")[0].replace('"', "'").strip() for line in lines if line and not line.startswith("-r")]


def test_the_requirements_are_those_of_the_project():
    assert requirements("requirements.txt") == PROJECT["project"]["dependencies"]
    assert requirements("requirements-extra.txt") == PROJECT["project"]["optional-dependencies"]["all"]


def test_every_package_that_is_imported_is_required():
    files = [
        path for name in RUN_TIME for path in ([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py"))
    ]
    own = {Path(name).stem for name in RUN_TIME}
    imported = set()
    for node in (node for path in files for node in ast.walk(ast.parse(path.read_text("utf-8")))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported.add(node.module.partition(".")[0])
    project = PROJECT["project"]
    declared = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    required = {re.match(r"[\w-]+", line)[0] for line in declared}
    named = {"PIL": "pillow", "distributed": "dask"}  # module -> package
    missing = {named.get(name, name) for name in imported - own - sys.stdlib_module_names} - required
    assert missing == set()


@pytest.fixture
def builder(monkeypatch):
    """Import the build hook; only pip, which builds, has hatchling."""
    names = ("hatchling", "hatchling.builders", "hatchling.builders.hooks", "hatchling.builders.hooks.plugin")
    for name in names:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    interface = ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.BuildHookInterface = object
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("line", "installed"),
    [
        ("from model import Tensor", "from tensor_ops_lab.model import Tensor"),
        ("from lab.ui import (\n    page,\n)", "from tensor_ops_lab.lab.ui import (\n    page,\n)"),
        ("def f():\n    from train import train", "def f():\n    from tensor_ops_lab.train import train"),
        ("import model", "from tensor_ops_lab import model"),
        ("from nn import MLP", "from tensor_ops_lab.nn import MLP"),
        ("import lab.ui.page as page", "from tensor_ops_lab.lab.ui import page as page"),
        ("from modelling import x", "from modelling import x"),
        ("from .model import x", "from .model import x"),
        ("program = 'from model import Tensor'", "program = 'from model import Tensor'"),
        ("say = 'python -m lab.watch X.py'", "say = 'tensor-ops-lab-watch X.py'"),
        ("say = 'python -m lab.practice.mnist X'", "say = 'python -m tensor_ops_lab.lab.practice.mnist X'"),
        ("say = 'python train.py --lr 1'", "say = 'tensor-ops-lab-train --lr 1'"),
    ],
)
def test_a_module_imports_the_others_from_the_package_when_it_is_installed(builder, line, installed):
    assert builder.in_package(line) == installed


@pytest.mark.parametrize("line", ["import lab.ui", "import os, model"])
def test_an_import_that_cannot_be_moved_stops_the_build(builder, line):
    with pytest.raises(ValueError, match="line 1: import one module"):
        builder.in_package(line)


def test_everything_that_runs_is_installed_in_one_package(builder, tmp_path):
    builder.build(ROOT, tmp_path / "tensor_ops_lab")
    assert {path.name for path in (tmp_path / "tensor_ops_lab").iterdir()} == RUN_TIME | {"__init__.py"}
    own = {Path(name).stem for name in RUN_TIME}
    for path in (tmp_path / "tensor_ops_lab").rglob("*.py"):
        if not builder.is_learners(path.relative_to(tmp_path / "tensor_ops_lab")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                modules += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
                assert not own & {module.partition(".")[0] for module in modules}, path
    (learners, *_) = (tmp_path / "tensor_ops_lab" / "practice" / "programs").glob("*.py")
    assert learners.read_text("utf-8") == (ROOT / learners.relative_to(tmp_path / "tensor_ops_lab")).read_text("utf-8")


def test_each_command_is_a_function():
    for target in PROJECT["project"]["scripts"].values():
        module, function = target.removeprefix("tensor_ops_lab.").split(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_all_that_is_vendored_is_in_the_notice():
    notice = (ROOT / "NOTICE").read_text("utf-8")
    folders = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("static/*/ORIGIN.md")}
    assert folders
    assert all(folder in notice for folder in folders)


def test_the_change_log_begins_with_the_version():
    versions = re.findall(r"^## (\S+?),? ?(?:not released yet)?$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert versions[0] == PROJECT["project"]["version"]
