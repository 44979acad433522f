"""The rules of the source itself that no linter knows: annotations, and what must not be in it."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*ROOT.glob("*.py"), *ROOT.glob("lab/**/*.py"), *ROOT.glob("pages/**/*.py")])


def test_little_is_formatted_by_hand_and_says_why():
    """In tests, a table of cases may have a row a line."""
    ours = ("*.py", "lab", "pages", "practice", "benchmarks", "docs")
    paths = [path for name in ours for path in (ROOT.glob(name) if "*" in name else (ROOT / name).rglob("*.py"))]
    texts = [path.read_text("utf-8") for path in paths]
    by_hand = [line for text in texts for line in re.findall(r".*\n.*# fmt: (?:skip|off)$", text, re.MULTILINE)]
    assert 0 < len(by_hand) <= 20
    reason = re.compile(r"# \w.*(?:\n *# fmt: off|  # fmt: skip)$")
    assert [line for line in by_hand if not reason.search(line)] == []


def public_functions(tree):
    bodies = [tree.body, *(n.body for n in tree.body if isinstance(n, ast.ClassDef) and not n.name.startswith("_"))]
    functions = [n for body in bodies for n in body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [f for f in functions if not f.name.startswith("_")]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_public_functions_are_annotated(path):
    for function in public_functions(ast.parse(path.read_text(encoding="utf-8"))):
        assert function.returns is not None, f"{function.name} does not say what it returns"
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        bare = [a.arg for a in arguments if a.annotation is None and a.arg not in ("self", "cls")]
        assert not bare, f"{function.name}: {bare} without a type"


def calls(tree):
    return {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}


# The learner's code runs by the driver, in a process of its own, which loads lab/watch/recorded_program.py to record a program;
# this project's own answers to a task do in this process.
# `python -m lab.watch FILE` runs a file as `python FILE` does, for whoever types it; the app does not import it.
RUNS_TEXT = {
    ROOT / "lab" / name
    for name in (
        "practice/driver.py",
        "watch/recorded_program.py",
        "watch/__main__.py",
        "text/__init__.py",  # lines that the lab shows and runs: broken engines, writes in place, programs of failures.toml
        "designs/pytorch_questions.py",  # the snippets of its table
        "operation_table.py",  # the formulas of derivatives
    )
}


def test_a_page_has_no_learner_s_code_run_in_the_server():
    """`Here`, the runner for this project's own texts, is the checker's: nothing that shows a page names it."""
    for path in SOURCES:
        parts = path.relative_to(ROOT).parts
        if parts[:2] in {("lab", "ui"), ("lab", "lessons")} or parts[0] == "pages":
            names = {n.id for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Name)}
            assert not names & {"Here", "driver"}, path


# What `st.html` is given, where it is not a text written there. What these functions are given, they escape: see
# tests/unit/traps/faults/test_gradient_tables.py and tests/unit/traps/test_in_place_panels.py.
HTML = {
    "STYLE",  # the app's own file
    '"<hr>" * line + marked(text)',  # lab/ui/terms.py
    "in_place_panels.program(experiment, step)",
    "in_place_panels.arrays(result.boxes)",
    '"".join(gradient_tables(*pair) for pair in pairs)',
}
KNOWN = {ast.unparse(ast.parse(text)) for text in HTML}


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_nothing_evaluates_text_or_shows_raw_html(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path not in RUNS_TEXT:
        assert not calls(tree) & {"eval", "exec", "compile", "__import__"}
    given = [k for n in ast.walk(tree) if isinstance(n, ast.Call) for k in n.keywords]
    keywords = {k.arg for k in given if not (isinstance(k.value, ast.Constant) and k.value.value is False)}
    assert not keywords & {"unsafe_allow_html", "unsafe_allow_javascript", "allow_pickle"}
    written = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "html"]
    shown = [argument for n in written for argument in (*n.args, *n.keywords)]
    assert {ast.unparse(argument) for argument in shown if not isinstance(argument, ast.Constant)} <= KNOWN


def test_the_engine_imports_only_numpy_and_the_standard_library():
    tree = ast.parse((ROOT / "model.py").read_text(encoding="utf-8"))
    imported = {n.module.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    imported |= {alias.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}
    assert imported - set(sys.stdlib_module_names) == {"numpy"}


def test_only_pages_and_ui_know_streamlit():
    for path in SOURCES:
        inside = {"pages", "ui"} & set(path.relative_to(ROOT).parts) or path.name == "app.py"
        assert inside or "import streamlit" not in path.read_text(encoding="utf-8"), path


def test_few_style_rules_stand_on_names_inside_streamlit():
    """Such a rule may do nothing after Streamlit's next release, and no test of ours would say so."""
    css = "".join(
        re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL) for path in ROOT.glob("assets/*.css")
    )
    rules = [" ".join(rule.split()) for rule in re.findall(r"([^{};]+)\{", css)]
    inner = [rule for rule in rules if re.search(r"data-testid|data-baseweb|emotion|\.st[A-Z]", rule)]
    assert 0 < len(inner) <= 15, inner


def test_only_documented_names_of_streamlit_are_used():
    """An update of Streamlit may change every other name without notice. `launch` starts it as its command does."""
    public = {"streamlit", "streamlit.errors", "streamlit.testing.v1", "streamlit.delta_generator"}
    found = []
    for path in [ROOT / "app.py", *(ROOT / "lab").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]:
        if path.name == "launch.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.ImportFrom(module=str(module)) if module.split(".")[0] == "streamlit":
                    found += [] if module in public else [(path.name, module)]
                case ast.Import(names=names):
                    modules = [name.name for name in names if name.name.split(".")[0] == "streamlit"]
                    found += [(path.name, module) for module in modules if module not in public]
                case ast.Attribute(value=ast.Name(id="st"), attr=name):
                    found += (
                        [(path.name, name)] if name.startswith("_") or name in ("runtime", "web", "elements") else []
                    )
    assert found == []
