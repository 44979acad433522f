"""What `pip install .` installs: the same as the source has, with the same requirements."""

import ast
import importlib
import itertools
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
RUN_TIME = {"app.py", "model.py", "train.py", "pages", "lab", "practice", "assets", "static", ".streamlit"}


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


def test_everything_that_runs_is_installed_in_one_folder():
    assert set(WHEEL) == RUN_TIME | {"assets/tensor_ops_lab.pth"}
    assert all(WHEEL[name] == f"tensor_ops_lab/{name}" for name in RUN_TIME)
    assert (ROOT / "assets" / "tensor_ops_lab.pth").read_text("utf-8").strip() == "tensor_ops_lab"


def test_each_command_is_a_function():
    for target in PROJECT["project"]["scripts"].values():
        module, function = target.split(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_all_that_is_vendored_is_in_the_notice():
    notice = (ROOT / "NOTICE").read_text("utf-8")
    folders = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("static/*/ORIGIN.md")}
    assert folders
    assert all(folder in notice for folder in folders)


def test_the_change_log_begins_with_the_version():
    versions = re.findall(r"^## (\S+?),? ?(?:not released yet)?$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert versions[0] == PROJECT["project"]["version"]
