"""Your engine without a browser: its passes, its training, and what is said where it fails."""

from datetime import date
from importlib.util import find_spec

import pytest

from lab.practice import isolation, process_pool
from lab.practice.checker import CheckReport
from lab.practice.judge_processes import Checking
from lab.practice.learner_training import Contest
from pages.parts.practice.finished import Engine
from practice import COURSES
from tests.answers import judge_here
from tests.pages.conftest import address, app, components, press, progress, run, sent, texts

SCALARS, TENSORS, FUNCTIONS = COURSES["scalars"], COURSES["tensors"], COURSES["functions"]
PATIENCE = 100
needs_processes = pytest.mark.skipif(bool(isolation.unavailable()), reason=isolation.unavailable())


PAGE = "pages/build_it_yourself.py"


def opened(*edit, course=SCALARS, **address):
    """The page in a visit with an engine: the reference, or the reference with an edit."""
    source = course.reference.replace(*edit) if edit else course.reference
    assert not edit or source != course.reference
    at = app(PAGE)
    at.session_state["own engines"] = {course.key: Engine(course, source, date(2026, 11, 2))}
    at.session_state["path"] = "build-it-yourself"
    return run(at, **{"tab": "passes"} | address)


def asked(at):
    """What the browser is asked for."""
    (shown,) = progress(at, "engines")
    return shown


def trained(at):
    press(at, "own train")
    at.session_state["own contest"].wait(PATIENCE)
    at.run()
    assert not at.exception
    return at


def test_without_an_engine_the_lab_s_is_seen_at_work_by_name():
    at = run(app(PAGE), tab="passes")
    assert "no finished engine yet: this is **the lab’s**" in texts(at.markdown)
    asked = [text.proto.body for text in at.get("html") if "Try this" in text.proto.body]
    assert [text for text in asked if "your engine" in text] == []  # which is not there
    assert len(asked) == 1
    (drawn,) = components(at, "player")
    assert drawn.key == "lab player"


def test_without_an_engine_the_page_asks_the_browser_for_one():
    at = run(app(PAGE), tab="passes")
    assert asked(at) == {
        "kind": "engines",
        "wanted": False,
        "courses": [
            {"key": "scalars", "last": "train", "tasks": 9},
            {"key": "tensors", "last": "digits", "tasks": 12},
            {"key": "functions", "last": "network", "tasks": 9},
        ],
    }
    assert not at.segmented_control


def test_a_server_that_runs_no_code_says_why(monkeypatch):
    monkeypatch.setenv("TENSOR_LAB_HOSTED", "1")
    monkeypatch.setattr(isolation, "bubblewrap_works", lambda: False)
    at = run(app(PAGE), tab="passes")
    assert isolation.NO_BUBBLEWRAP in texts(at.info)
    assert asked(at)["courses"] == []


def brought_back(at, *texts):
    """As the browser does it: these texts come, each for its course, and are checked."""
    at.session_state["own asked"] = {course.key for course, _ in texts}
    at.session_state["own coming"] = {
        course.key: Checking(course, course.tasks[-1].key, text, 0, judge_here) for course, text in texts
    }
    at.run()
    assert not at.exception
    coming = [*at.session_state["own coming"].values()] if "own coming" in at.session_state else []
    for checking in coming:
        checking.wait(PATIENCE)
    at.run()
    assert not at.exception
    return coming


@needs_processes
def test_an_engine_comes_back_by_itself_and_one_that_does_not_pass_is_said():
    at = run(app(PAGE), tab="passes", engine="scalars", expression="a * a", in_a=3)
    assert brought_back(at, (SCALARS, SCALARS.reference), (TENSORS, "x = 1\n"))
    engine = at.session_state["own engines"]["scalars"]
    assert engine.source == SCALARS.reference
    assert engine.name in texts(at.markdown)
    assert address(at)["expression"] == "a * a"  # as the address has it
    assert sent(at)["trace"]["output"] == 1
    said = texts(at.markdown).replace("\\", "")
    assert "“Tensors” was not restored. An earlier task does not pass. Sum what was copied" in said
    assert [one["key"] for one in asked(at)["courses"]] == ["functions"]


def test_in_the_graph_lab_an_engine_comes_back_too():
    at = run(app("pages/graph_lab.py"), engine="scalars")
    assert "Engine" not in [control.label for control in at.segmented_control]
    at.session_state["own coming"] = {"scalars": Done("train", CheckReport({"train": True}), SCALARS.reference)}
    at.run()
    assert not at.exception
    (control,) = [control for control in at.segmented_control if control.label == "Engine"]
    assert control.value == "scalars"


def test_in_the_graph_lab_an_engine_that_the_browser_does_not_have_gives_way_to_the_labs():
    at = app("pages/graph_lab.py")
    at.session_state["own asked"] = {"scalars"}
    run(at, engine="scalars").run()
    (control,) = [control for control in at.segmented_control if control.label == "Engine"]
    assert control.value == "lab"
    assert "engine" not in address(at)


def test_a_check_that_fails_or_stops_before_the_last_task_makes_no_engine():
    at = run(app("pages/build_it_yourself.py"))
    for key, report in (
        ("value", CheckReport({"value": True})),
        ("train", CheckReport({"value": True, "train": False})),
    ):
        at.session_state["exercise scalars checking"] = Done(key, report)
        at.run()
        assert not at.exception
        assert "own engines" not in at.session_state


class Done:
    """A check that has come to its end."""

    done, printed = True, ""

    def __init__(self, key, report, source=""):
        self.key, self.report, self.source = key, report, source


@needs_processes
def test_the_player_shows_the_learner_s_closures_and_gradients_are_held_against_two_others():
    at = opened()
    trace = sent(at)["trace"]
    assert {code["file"] for code in trace["sources"].values()} == {"scalars.py"}
    assert "def __mul__(self, other):" in trace["sources"]["Value.__mul__"]["lines"]
    assert "Each gradient agrees with" in texts(at.markdown)
    at.text_input(key="build text 1").set_value("a*b + a").run()
    assert "Each gradient agrees with" in texts(at.markdown)
    assert "own-engine" in progress(at, "note")[0]["done"]


@needs_processes
@pytest.mark.skipif(not find_spec("torch"), reason="PyTorch is an optional extra")
def test_an_own_engine_is_held_against_pytorch_and_draws_its_graph():
    at = opened(expression="sin(a*b) + log(a)", in_a=0.5, in_b=-2.0)
    press(at, "own pytorch")
    rows = [text.value for text in at.markdown if "your engine | PyTorch" in text.value]
    assert rows[0].count("✓") == 3
    scope = {}
    exec(next(code.value for code in at.code if "Digraph" in code.value), scope)
    exec(SCALARS.reference, scope)
    a = scope["Value"](3.0)
    assert str(scope["draw"](a * a + 1)).count("->") == 4


def test_function_objects_are_an_engine_too():
    at = opened(
        course=FUNCTIONS,
        expression="sum((sigmoid(x @ w + b) - 1)**2)",
        in_x="[[1, 2]]",
        in_w="[[1], [-1]]",
        in_b="[0.5]",
    )
    trace = sent(at)["trace"]
    assert "def backward(ctx, grad):" in trace["sources"]["MatMul.backward"]["lines"]
    assert "Each gradient agrees with" in texts(at.markdown)
    at.text_input(key="build text 1").set_value("sum(tanh(x))").run()
    assert "has no tanh" in texts(at.error)
    trained(at)
    assert "The same numbers" in texts(at.markdown)
    at = opened("return (grad * mask,)", "return (grad,)", course=FUNCTIONS, expression="sum(relu(x))", in_x="[-1, 2]")
    assert "The gradient of x differs: [1, 1] by your engine, [0, 1] by the lab’s" in (
        texts(at.error).replace("\\", "")
    )


@needs_processes
def test_a_wrong_gradient_is_named_in_the_table_and_in_a_sentence():
    at = opened("grad +=", "grad =", expression="a + a", in_a="3")
    assert "1 by your engine, 2 by the lab’s, 2 by finite" in texts(at.error)
    assert "| a | 1 | 2 | 2 | ✗ |" in texts(at.markdown).replace("\\", "")
    assert sent(at)["trace"]["events"]


@needs_processes
@pytest.mark.parametrize(
    ("edit", "address", "said"),
    [
        ((), {"expression": "cos(a)"}, "no such operation"),
        ((), {"expression": "sum(a)", "in_a": "[1, 2]"}, "takes single numbers: make a a number"),
        (("t = math.tanh(self.data)", "__import__('os')._exit(3)"), {"expression": "tanh(a)"}, "ended Python itself"),
        (("t = math.tanh(self.data)", "raise ValueError('<b>*x*</b>' * 99)"), {"expression": "tanh(a)"}, "stops with ValueError: <b>*x*</b>"),
    ],
)  # fmt: skip
def test_an_engine_that_cannot_go_on_is_one_sentence(edit, address, said):
    at = opened(*edit, **address)
    (error,) = at.error
    assert said in error.value.replace("\\", "")
    assert "<b>" not in error.value
    assert len(error.value) < 900
    assert not components(at, "player")


@needs_processes
def test_an_engine_that_gives_nan_is_seen_to():
    at = opened("t = math.tanh(self.data)", "t = math.nan", expression="tanh(a)")
    assert "Your engine computes NaN where the lab’s computes 0.964" in texts(at.error).replace("\\", "")


@needs_processes
def test_an_expression_that_cannot_be_read_or_has_many_results_is_said():
    at = opened(expression="a +")
    assert at.error
    at = opened(course=TENSORS, expression="x * 2", in_x="[1, 2]")
    assert "Each gradient of its sum" in texts(at.markdown)


@needs_processes
def test_digits_past_90_percent_are_the_graduation():
    at = opened(course=TENSORS)
    assert "Both begin with the same numbers" in texts(at.markdown)
    assert progress(at, "note") == []
    trained(at)
    assert at.session_state["own contest"].graduated
    said = texts(at.markdown)
    assert "all 528 losses agree" in said
    assert "processor time, just now" in said.replace("\\", "")
    assert at.session_state["own engines"]["tensors"].name in said
    assert "This is the graduation" in texts(at.success)
    assert "own-digits" in progress(at, "note")[0]["done"]


FORGOTTEN_SUM = ("    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))\n", "")


@needs_processes
@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("course", "edit", "said"),
    [
        (SCALARS, ("t = math.tanh(self.data)", "raise ValueError('<b>')"), ("before its first step", "It was in line")),
        (SCALARS, ("t = math.tanh(self.data)", "t = math.nan"), ("From step 0 on, your engine’s loss is not a finite number", "the losses first differ in step 0")),
        (TENSORS, FORGOTTEN_SUM, ("the gradient of b1 has the shape (33, 32), and b1 (32,).",)),
        (SCALARS, ("grad +=", "grad ="), ("the losses first differ in step 1",)),
    ],
)  # fmt: skip
def test_a_training_that_fails_says_where(course, edit, said):
    at = trained(opened(*edit, course=course, tab="passes"))
    shown = texts([*at.markdown, *at.error, *at.warning]).replace("\\", "")
    assert all(words in shown for words in said)
    assert "<b>" not in texts(at.error)


def test_a_training_with_another_text_is_not_that_of_this_engine():
    at = app(PAGE)
    at.session_state["own engines"] = {"scalars": Engine(SCALARS, SCALARS.reference, date(2026, 11, 2))}
    contest = Contest(SCALARS, "another", 0, process_pool.runner)
    contest.stop()
    contest.wait(PATIENCE)
    at.session_state["own contest"] = contest
    run(at, tab="passes")
    assert at.button(key="own train").label == "Train"
    assert not components(at, "charts")


def test_another_engine_begins_with_an_expression_of_its_own():
    at = app(PAGE)
    at.session_state["own engines"] = {
        course.key: Engine(course, course.reference, date(2026, 11, 2)) for course in (TENSORS, SCALARS)
    }
    run(at, tab="passes")
    assert at.segmented_control(key="build-engine").value == "scalars"  # the one that has passed last
    at.segmented_control(key="build-engine").set_value("tensors").run()
    assert at.text_input(key="build text 2").value == "sum(relu(x @ w + b))"


@needs_processes
def test_a_link_that_names_the_engine_alone_begins_with_an_expression_of_that_engine():
    at = opened(course=TENSORS, engine="tensors")
    assert at.text_input(key="build text 1").value == "sum(relu(x @ w + b))"
    assert not at.error
