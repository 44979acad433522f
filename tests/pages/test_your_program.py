"""Graph lab > Your program, without a browser: what the page sends to the editor and to the player."""

import json
import re
from unittest.mock import Mock

import pytest

from lab.practice import isolation, learner_program
from lab.practice.learner_program import ProgramPass, ProgramRun, pack
from lab.practice.progress_file import hashed
from lab.watch import watch
from lab.watch.finding import RunFinding
from model import Tensor
from pages.parts.graph import program as page
from pages.parts.practice import running
from tests.pages.conftest import address, app, components, run, sent, texts

SOURCE = "from model import Tensor\nw = Tensor([1.0, 2.0])\n(w * w).sum().backward()\nprint(w.grad)\nw @ 1"


@pytest.fixture(autouse=True)
def no_processes(monkeypatch):
    """The page prepares no process for these tests: what a program does is tested in tests/unit/practice."""
    monkeypatch.setattr(running, "recorders", lambda imports: None)


def recorded():
    with watch() as pass_:
        w = Tensor([1.0, 2.0], label="w")
        for _ in range(2):
            (w * w).sum().backward()
    return [trace.to_json() for trace in pass_.traces]


def ran(**more):
    first, second = recorded()
    passes = (ProgramPass(3, 2, first), ProgramPass(3, 2, second))
    return ProgramRun(SOURCE, passes, count=2, printed="[2. 4.]\n", **more)


def opened(result=None, **query):
    at = app("pages/graph_lab.py")
    if result:
        at.session_state["program ran for graph"] = result
    at = run(at, kind="Your program", **query)
    assert not at.exception
    return at


def editor(at):
    (component,) = components(at, "program")
    return json.loads(component.proto.bytes)


def test_it_begins_with_an_example_and_an_invitation():
    at = opened()
    assert editor(at)["starter"].startswith("# A first backward()")
    assert editor(at)["given"] is None
    assert "Press **Run**" in texts(at.markdown)
    assert address(at)["kind"] == "Your program"


@pytest.mark.parametrize("before", [None, ProgramRun(SOURCE, problem="NameError")])
def test_while_a_program_runs_nothing_is_asked_or_said_of_the_one_before(monkeypatch, before):
    monkeypatch.setattr(running, "wait", lambda place: None)
    at = app("pages/graph_lab.py")
    at.session_state["program of graph"], at.session_state["program ran for graph"] = Mock(done=False), before
    run(at, kind="Your program")
    assert editor(at)["working"] is True
    assert not any(said in texts(at.markdown) for said in ("Press **Run**", "No pass was recorded"))


def test_a_link_brings_its_program_and_runs_nothing():
    at = opened(code=pack(SOURCE))
    assert editor(at)["given"] == {"text": SOURCE, "number": 1}
    assert editor(at)["working"] is False
    assert editor(at)["result"] is None
    assert editor(opened(code="%%%"))["given"] is None


def test_a_program_from_a_link_runs_only_where_something_confines_it(monkeypatch):
    began = []
    monkeypatch.setattr(running, "RunningProgram", lambda source, recorder: began.append(source))
    monkeypatch.setattr(isolation, "unconfined", lambda: "Nothing confines it.")
    session = {"program linked": SOURCE}
    monkeypatch.setattr(page.st, "session_state", session)
    for text in (SOURCE, SOURCE + "#"):
        session["program editor"] = {"run": {"text": text}}
        page.run_asked()
    assert began == [SOURCE + "#"]
    assert session["program ran for graph"].problem.startswith("Nothing confines it.")


def test_what_ran_is_shown_with_its_passes_its_output_and_its_end():
    finding = RunFinding(6, learner_program.FILE, 3, "backward() added <b>to</b> *it*.")
    at = opened(ran(problem="ValueError: *no*", line=5, findings=(finding,)))
    assert editor(at)["result"] == {"hash": hashed(SOURCE), "problem": "ValueError: *no*", "line": 5}
    assert sent(at)["trace"]["nodes"][0]["label"] == "w"
    assert at.code[0].value == "[2. 4.]"
    assert not at.code[0].proto.wrap_lines  # the columns of a printed array stay below each other
    assert r"certain: it ran" in texts(at.markdown)
    assert "See it happen: zero_grad forgotten" in texts(at.markdown)  # a link, where app.py has named the pages
    assert r"\<b\>to\<\/b\> \*it\*" in texts(at.markdown)  # from the program's process: no Markdown
    at.selectbox(key="program pass").select_index(1).run()
    assert not at.exception
    accumulated = [event["after"] for event in sent(at)["trace"]["events"] if event["kind"] == "accumulate"]
    assert accumulated[-1] == [4.0, 8.0]
    (switch,) = sent(at)["switches"]  # in full screen, too
    assert (switch["options"], switch["value"]) == ([["0", "Pass 1 of 2"], ["1", "Pass 2 of 2"]], "1")


@pytest.mark.parametrize(
    ("source", "problem", "nothing", "said"),
    [
        (
            SOURCE,
            "",
            "no operation of its main thread",
            "No step used a stale gradient. Other failures are looked for in",
        ),
        (f"import torch\n{SOURCE}", "", "no operation of its main thread", "Nothing here is certainly wrong."),
        (SOURCE, "NameError: name 'Tensor' is not defined", "before the program", None),
    ],
)
def test_a_program_that_an_error_ended_is_not_called_free_of_failures(source, problem, nothing, said):
    at = opened(ProgramRun(source, problem=problem, line=1 if problem else None))
    assert nothing in texts(at.markdown)
    assert said in texts(at.caption) if said else not re.search("wrong|stale", texts(at.caption))


def test_an_error_leads_to_what_its_message_means():
    shapes = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x3 and 2x2)"
    for kind, problem, known in (("RuntimeError", shapes, True), ("SystemExit", "SystemExit: 3", False)):
        at = opened(ProgramRun(SOURCE, problem=problem, kind=kind))
        assert ("What it means: Shapes that cannot be multiplied" in texts(at.markdown)) == known


@pytest.mark.parametrize(
    ("operations", "said"),
    [(500, "of 500 operations; one card stands for all others."), (0, "for those recorded later.")],
)
def test_a_picture_of_a_part_says_what_its_last_card_stands_for(operations, said):
    part = ProgramPass(3, operations, recorded()[0])
    assert said in texts(opened(ProgramRun(SOURCE, (part,), count=1)).caption)


def test_a_forged_pass_gets_a_sentence():
    at = opened(ProgramRun(SOURCE, (ProgramPass(1, 1, '{"nodes": "<script>"}'),), 1))
    assert "holds no recorded pass" in at.warning[0].value


def test_what_ran_as_a_failing_program_is_played_without_running_again():
    other = ProgramRun("pass")
    for code, shown in ((SOURCE, ran()), ("pass", other)):
        at = app("pages/graph_lab.py")
        at.session_state["program ran for code"], at.session_state["program ran for graph"] = ran(), other
        run(at, kind="Your program", code=pack(code))
        assert editor(at)["result"]["hash"] == hashed(shown.source)


def test_an_example_goes_to_the_editor():
    at = opened()
    at.menu_button(key="program example").click_index(1).run()
    assert editor(at)["given"]["text"].startswith("# A value used twice")


def test_where_nothing_may_run_it_says_why(monkeypatch):
    monkeypatch.setattr(isolation, "unavailable", lambda: "Not here.")
    assert editor(opened())["refuses"] == "Not here."
