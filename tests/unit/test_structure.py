"""How the parts hang together: what may import what, and where things are found."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATHS = [ROOT / "app.py", ROOT / "model.py", ROOT / "nn.py", ROOT / "train.py"]
PATHS += [path for place in ("pages", "practice", "lab") for path in ROOT.glob(f"{place}/**/*.py")]

# train.py stands on settings, data, measurements and doctor, and beneath what runs its loop.
RUN_THE_LOOP = ("live", "worker", "sweep", "trial", "shelf", "cli")
# From the ground up. A room may use what stands before it in the list, and nothing that stands after it.
FLOORS = (
    "model", "nn", "lab.config", "lab.text", "practice", "lab.operation_table", "lab.gradcheck", "lab.expression",
    "lab.trace", "lab.training", "train", *(f"lab.training.{name}" for name in RUN_THE_LOOP), "lab.designs",
    "lab.autodiff", "lab.traps", "lab.failures", "lab.watch", "lab.charts", "lab.lessons", "lab.practice", "lab.ui",
    "pages", "app",
)  # read by rows  # fmt: skip
MAX_ENTRIES = 16  # folders and files of lab/
MAX_ARROWS = 63  # pairs of rooms of which one imports the other, but for those from train and app, to model and nn


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path): path for path in PATHS}


def imported(path: Path) -> set[str]:
    """The modules of this project that a file imports by name, anywhere in it: lazily, or for its types, counts too."""
    found = set()
    tree = ast.parse(path.read_text("utf-8"))
    # What a file does as a program, it does not do where it is imported.
    tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and "__main__" in ast.unparse(node.test))]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {
                inside if (inside := f"{node.module}.{alias.name}") in MODULES else node.module for alias in node.names
            }
    return found & MODULES.keys()


def room(module: str) -> str:
    return max((floor for floor in FLOORS if module == floor or module.startswith(f"{floor}.")), key=len, default="")


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    return {module: imported(path) for module, path in MODULES.items()}


def test_every_module_is_in_a_room(graph):
    assert [module for module in graph if not room(module)] == ["lab"]


def test_nothing_imports_upward(graph):
    upward = [
        f"{module} imports {other}"
        for module, others in graph.items()
        for other in others
        if room(module) and FLOORS.index(room(other)) > FLOORS.index(room(module))
    ]
    assert upward == []


def test_there_is_no_import_circle(graph):
    # What can be taken away until nothing else can is no part of a circle.
    rest = {module: others - {module} for module, others in graph.items()}
    while free := {module for module, others in rest.items() if not others & rest.keys()}:
        rest = {module: others for module, others in rest.items() if module not in free}
    assert {module: sorted(others & rest.keys()) for module, others in rest.items()} == {}


def test_few_rooms_need_each_other(graph):
    """The number may only fall: a new arrow takes the place of another."""

    def place(module: str) -> str:
        return "lab.training" if module.startswith("lab.training.") else room(module)

    pairs = {(place(module), place(other)) for module, others in graph.items() for other in others}
    arrows = {
        (a, b) for a, b in pairs if a != b and a and a not in ("train", "app") and b not in ("model", "nn", "train")
    }
    assert len(arrows) <= MAX_ARROWS, sorted(arrows)


def test_the_library_does_not_import_its_command_line(graph):
    assert [module for module, others in graph.items() if "lab.training.cli" in others] == []


def test_the_lab_has_few_rooms():
    rooms = {module.split(".")[1] for module in MODULES if module.startswith("lab.")}
    assert 0 < len(rooms) <= MAX_ENTRIES, rooms


def test_charts_know_no_streamlit_and_come_through_one_door(graph):
    """A page asks lab.charts for a chart; only lab.ui and lab.charts itself look behind that door."""
    assert [
        f"{module} imports {other}"
        for module, others in graph.items()
        for other in others
        if module.startswith("pages.") and other.startswith("lab.charts.")
    ] == []


# Class names that stand in several modules, and why: a reader who meets one of them must look where it comes from.
SHARED_NAMES = {
    "Tensor": "designs of the engine: each is a Tensor of its own, to be read beside the others",
    "Value": "a design that is known by this name; the reader of code has values, too",
}


PROGRAMS = {"starter", "reference"}  # of a course: learners read each of them alone


def test_a_class_name_means_one_thing():
    where: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        if module.startswith("practice.") and path.stem in PROGRAMS:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                where.setdefault(node.name, []).append(module)
    twice = {name: modules for name, modules in where.items() if len(modules) > 1}
    assert {name: modules for name, modules in twice.items() if name not in SHARED_NAMES} == {}
    assert SHARED_NAMES.keys() <= twice.keys()  # no reason for what is no longer so
