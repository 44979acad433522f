"""The Graph lab's controls, one by one, without a browser."""

import dataclasses
import re
import subprocess
import sys
from datetime import date

import numpy as np
import pytest

from lab.expression.run_pytorch import installed
from lab.lessons.glossary import TERMS
from lab.practice import isolation
from lab.trace.dot import PALETTES
from lab.trace.numerical import check
from lab.ui.expression_box import presets
from lab.watch import watch
from model import Tensor
from pages.parts.practice.finished import Engine
from practice import COURSES
from tests.pages.conftest import ROOT, address, app, components, run, sent, table, texts


@pytest.fixture
def at():
    return app("pages/graph_lab.py")


def expression(at):
    """The field for the expression: the page's only one, with another key after each example."""
    (field,) = (field for field in at.text_area if field.label == "Expression")
    return field


def leaves(at):
    """The live leaves of the player, by name."""
    return {leaf["name"]: leaf for leaf in sent(at)["live"]["leaves"]}


def move(at, **values):
    """Set inputs, as the player does."""
    data = sent(at)
    at.session_state["graph player"] = {"state": {"live": data["live"]["id"], "values": data["values"] | values}}
    at.run()
    assert not at.exception


def gradients(at):
    """The gradients of the inputs at the end of the pass that the player was given."""
    trace = sent(at)["trace"]
    names = [node["label"] for node in trace["nodes"]]
    found = {names[event["node"]]: event["after"] for event in trace["events"] if event["kind"] == "accumulate"}
    return {name: found[name] for name in leaves(at) if name in found}


def checked(at):
    """The numerical check of the pass that the player was given."""
    expression, trace = at.session_state["graph played"]
    return check(trace, expression)[0]


def test_a_moved_input_is_run_at_once(at):
    run(at, stage="backward")
    assert gradients(at) == {"a": 31, "b": 14, "c": 7, "d": 10}
    move(at, a=3.0)
    assert gradients(at) == {"a": 3 * 3 + 4 + 3 * (3 + 5), "b": 3 * (3 + 5), "c": 8, "d": 13}


def open_settings(at):
    at.session_state["graph settings"] = True
    at.run()


def test_a_number_from_a_link_may_lie_outside_of_the_range(at):
    run(at, in_a="15")
    assert (leaves(at)["a"]["value"], leaves(at)["a"]["high"], leaves(at)["b"]["high"]) == (15, 15, 10)


def test_without_the_player_a_drawing_and_a_table_stand_in(at):
    run(at, stage="backward")
    at.session_state["graph player"] = {"failed": True}
    at.run()
    assert "could not be loaded" in texts(at.info)
    drawing = at.get("graphviz_chart")[0].proto
    orange = f'<font color="{PALETTES["light"]["gradient"]}">grad '
    assert [float(part.split("<")[0]) for part in drawing.spec.split(orange)[1:]] == [31, 14, 7, 10]
    assert "31" in drawing.alt_text if hasattr(drawing, "alt_text") else True
    assert [row[0] for row in table(at, "computed from")][:4] == ["a", "b", "c", "d"]


@pytest.mark.sample(3)
@pytest.mark.parametrize("index", range(len(presets())))
def test_every_preset_runs_and_is_checked_numerically(at, index):
    run(at)
    at.menu_button(key="graph example").click_index(index).run()
    assert all(row.agrees for row in checked(at))


def test_own_expression_and_its_mistakes(at):
    run(at)
    expression(at).set_value("p * q + p").run()
    assert gradients(at) == {"p": 4, "q": 2}  # p = 2 and q = 3: new inputs differ
    for text in ("", "p ^ 2", "__import__('os')", "p.__class__", "open('x')", "p" * 3000, "2 + 2", "$\\alpha$ * p"):
        expression(at).set_value(text).run()
        assert not at.exception
        assert len(at.error) == 1, text
    expression(at).set_value("p * q + p").run()
    assert not at.error


@pytest.mark.parametrize(
    ("text", "words"),
    [("log(x)", "not a real number"), ("1 / (x - x)", "divided by 0"), ("exp(x * x * 1000)", "overflow")],
)
def test_values_that_are_not_finite_get_a_sentence(at, text, words):
    run(at, expression=text, in_x="-2.5", stage="backward")
    assert any(words in remark["text"] for remark in sent(at)["remarks"])


def test_the_address_restores_everything(at):
    run(at, expression="u * v", in_u="2.5", in_v="[1.0, 2.0]", stage="backward", start="sum")
    assert sent(at)["values"] == {"u": 2.5, "v": [1, 2]}
    assert gradients(at) == {"u": 3, "v": [2.5, 2.5]}
    assert not at.info


def test_a_result_of_many_numbers_is_not_run_backward_silently(at):
    run(at, expression="a * b", in_a="[1, 2]", in_b="3", stage="backward")
    assert gradients(at) == {}
    assert "starts from a single number" in sent(at)["trace"]["error"]
    at.segmented_control(key="graph-start").set_value("mean").run()
    assert gradients(at)["a"] == [1.5, 1.5]
    at.text_input(key="graph-upstream").set_value("[10, 100]").run()
    assert gradients(at)["a"] == [30.0, 300.0]
    for wrong, sentence in (("[1, 2, 3]", "shape"), ("[1,", "Write a number")):
        at.text_input(key="graph-upstream").set_value(wrong).run()
        assert not at.exception
        assert sentence in at.warning[0].value
    at.text_input(key="graph-upstream").set_value("").run()
    at.segmented_control(key="graph-start").set_value(None).run()
    assert gradients(at) == {}


def test_the_shape_of_an_input_can_be_chosen(at):
    run(at, expression="(w * 2).sum()")
    open_settings(at)
    next(c for c in at.get("button_group") if "Shape of w" in c.label).set_value("matrix").run()
    assert not at.exception
    assert sent(at)["values"] == {"w": [[1, 2], [3, 4]]}


def test_the_player_shows_what_was_run(at):
    for stage, event in (("none", 0), ("forward", 4), ("backward", 21)):
        run(at, stage=stage)
        assert sent(at)["event"] == event
        at = app("pages/graph_lab.py")
    run(at, stage="backward")
    assert [leaf["name"] for leaf in sent(at)["live"]["leaves"]] == ["a", "b", "c", "d"]
    assert gradients(at) == {"a": 31, "b": 14, "c": 7, "d": 10}


def do(at, name, what):
    at.session_state["graph settings"] = True
    at.run()
    at.selectbox(key=f"leaf {name} change").set_value(what).run()
    assert not at.exception


def script(at):
    at.session_state["graph player"] = {"want": {"what": "script", "number": 1}}
    at.run()
    return sent(at)["taken"]["text"]


def printed(text):
    """What a script prints of the gradients, and the error that ends it, run as it is beside model.py."""
    ran = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=False)
    found = dict(re.findall(r"gradient of (\w+): (.*)", ran.stdout))
    return found, ran.stderr.strip().split("\n")[-1]


def test_an_input_can_be_constant_detached_or_written_to_between_the_passes(at):
    run(at, expression="a * b + c", in_a="2", in_b="3")

    def reached():
        trace = sent(at)["trace"]
        names = [node["label"] for node in trace["nodes"]]
        return {names[e["node"]]: e["after"] for e in trace["events"] if e["kind"] == "accumulate"}

    for what in ("constant", "detached"):
        do(at, "a", what)
        assert address(at)["leaf_a"] == what
        assert {name: one for name, one in reached().items() if name} == {"b": 2.0, "c": 1.0}
        kinds = {node["label"]: node["requires_grad"] for node in sent(at)["trace"]["nodes"]}
        assert kinds["a.detach()" if what == "detached" else "a"] is False
        assert printed(script(at)) == ({"a": "None", "b": "2.0", "c": "1.0"}, "")
    do(at, "a", "written")
    error = sent(at)["trace"]["error"]
    assert "written to since" in error
    assert reached() == {}
    assert "The engine refuses the backward pass" in texts(at.markdown)
    found, last = printed(script(at))
    assert not found
    assert last.endswith(error)
    do(at, "a", "")
    assert "leaf_a" not in address(at)
    assert reached()["a"] == 3.0
    do(at, "c", "written")  # which no backward step reads
    assert reached()["c"] == 1.0
    assert "No backward step needs the overwritten numbers" in texts(at.markdown)
    for name in "abc":
        do(at, name, "constant")
    assert sent(at)["trace"]["events"] == []
    assert "nothing to differentiate" in sent(at)["trace"]["error"]


def test_a_link_says_what_is_done_to_an_input(at):
    run(at, expression="a * b", in_a="[1, 2]", in_b="3", leaf_a="written", stage="backward")
    assert "refuses" not in texts(at.markdown)  # it waits for a gradient to start from
    at.segmented_control(key="graph-start").set_value("sum").run()
    assert "The engine refuses the backward pass." in texts(at.markdown)
    at = app("pages/graph_lab.py")
    run(at, expression="a * b", leaf_b="constant", leaf_a="eaten", stage="backward")
    assert {node["label"]: node["requires_grad"] for node in sent(at)["trace"]["nodes"] if node["label"]} == {
        "a": True,
        "b": False,
    }


def test_a_remark_comes_after_its_pass(at):
    run(at, expression="log(x) * y", in_x="-1", in_y="2")
    first, *rest = sent(at)["remarks"]
    assert first["after"] == "forward"
    assert "log(−1) gives NaN" in first["text"]
    assert all(remark["after"] == "backward" for remark in rest)


def play(at, text, **address):
    return run(at, expression=text, stage="backward", **address)


def test_a_slip_of_the_keyboard_leaves_the_player_as_it_is(at):
    play(at, "a * b + a", in_a="2", in_b="3", event="7")
    before = sent(at)
    at.session_state["graph player"] = {"state": {"live": before["live"]["id"], "values": {"a": 5.0, "b": 3.0}}}
    at.run()
    for text in ("a * b +", "", "a * b + open('x')", "2 + 2"):
        expression(at).set_value(text).run()
        assert not at.exception
        assert len(at.error) == 1, text
        assert sent(at)["event"] == 7
        assert sent(at)["values"] == {"a": 5.0, "b": 3.0}
        assert sent(at)["trace"]["nodes"][0]["value"] == 5.0
        assert sent(at)["trace"]["nodes"][-1]["value"] == 20.0
    expression(at).set_value("a * b").run()
    assert not at.error
    assert sent(at)["values"] == {"a": 5.0, "b": 3.0}
    assert sent(at)["trace"]["nodes"][-1]["value"] == 15.0


def test_where_a_shape_does_not_fit_the_page_says_where_shapes_are_chosen(at):
    play(at, "a @ b")
    assert "`@` cannot multiply 'a' of shape () by 'b' of shape ()" in at.error[0].value.replace("\\", "")
    assert any("under **Inputs**" in caption.value for caption in at.caption)


def test_a_text_that_cannot_be_parsed_greys_the_graph_until_it_can(at):
    play(at, "p * q")
    assert not sent(at)["outdated"]
    expression(at).set_value("p * ").run()
    assert sent(at)["outdated"]
    assert sent(at)["text"] == "p * "
    expression(at).set_value("p * q * r").run()
    assert not sent(at)["outdated"]
    assert sent(at)["values"] == {"p": 2, "q": 3, "r": 4}  # each new input has a value of its own


@pytest.mark.parametrize("text", ["a + b + [1, 2, 3]", "(a * b)[5]", "a @ b @ a"])
def test_what_cannot_be_computed_leaves_the_last_picture_and_the_inputs(at, text):
    play(at, "a * b", in_a="[1, 2]", in_b="[3, 4]")
    before = sent(at)["trace"]
    expression(at).set_value(text).run()
    assert not at.exception
    assert len(at.error) == 1
    assert "still shows the last graph that could be computed" in at.caption[-1].value
    assert sent(at)["trace"] == before
    assert sent(at)["outdated"]
    assert sent(at)["values"]["a"] == [1, 2]
    state = {"live": sent(at)["live"]["id"], "values": {name: [7.0, 8.0] for name in sent(at)["values"]}}
    at.session_state["graph player"] = {"state": state}
    at.run()
    expression(at).set_value("a * 1").run()
    assert not at.error
    assert sent(at)["values"] == {"a": [7.0, 8.0]}
    assert sent(at)["trace"]["nodes"][-1]["value"] == [7.0, 8.0]


def test_a_first_expression_that_cannot_be_computed_gets_its_sentence_alone(at):
    for text in ("a +", "a + [1, 2, 3]"):
        play(at, text, in_a="[1, 2]")
        assert len(at.error) == 1
        assert not components(at, "player")


def test_a_name_that_is_typed_again_finds_its_value_again(at):
    play(at, "a * b", in_a="2", in_b="7")
    expression(at).set_value("a * a").run()
    expression(at).set_value("a * b").run()
    assert sent(at)["values"] == {"a": 2.0, "b": 7.0}


ENGINE = Engine(COURSES["scalars"], COURSES["scalars"].reference, date(2026, 11, 2))


@pytest.mark.skipif(bool(isolation.unavailable()), reason=isolation.unavailable())
def test_the_player_traces_an_engine_of_one_s_own_where_there_is_one():
    at = app("pages/graph_lab.py")
    at.session_state["own engines"] = {"scalars": ENGINE}
    run(at, expression="a*b + a", in_a=2, in_b=3)
    control = at.segmented_control(key="graph-engine")
    assert control.value == "lab"
    labs = sent(at)
    control.set_value("scalars").run()
    assert not at.exception
    yours = sent(at)
    assert {code["file"] for code in yours["trace"]["sources"].values()} == {"scalars.py"}
    assert (yours["canPredict"], labs["canPredict"]) == (False, True)
    assert address(at)["engine"] == "scalars"
    assert yours["right"]["trace"]["nodes"] == labs["trace"]["nodes"]  # for the same event side by side
    assert (yours["right"]["engine"], yours["departure"]) == ("your engine", None)
    expression(at).set_value("cos(a)").run()
    assert "no such operation" in texts(at.warning).replace("\\", "")
    assert "You see the lab’s engine" in texts(at.warning)
    assert sent(at)["canPredict"]


@pytest.mark.skipif(bool(isolation.unavailable()), reason=isolation.unavailable())
def test_an_engine_of_one_s_own_that_overwrites_is_marked_where_it_departs():
    wrong = dataclasses.replace(ENGINE, source=ENGINE.source.replace(".grad += ", ".grad = "))
    at = app("pages/graph_lab.py")
    at.session_state["own engines"] = {"scalars": wrong}
    data = sent(run(at, expression="a*b + a", in_a=2, in_b=3, engine="scalars", stage="backward"))
    event = data["trace"]["events"][data["departure"]["event"]]
    assert (event["kind"], event["operand"], event["contribution"]) == ("message", 0, 2)  # to a, which had 1 and gets 3


def test_without_an_engine_nothing_is_said_of_one():
    at = run(app("pages/graph_lab.py"), engine="scalars")
    assert "graph-engine" not in [control.key for control in at.segmented_control]
    assert sent(at)["canPredict"]


def test_an_engine_with_one_wrong_rule_runs_the_same_expression_and_opens_at_the_first_difference():
    at = run(app("pages/graph_lab.py"), stage="backward")
    assert sent(at)["departure"] is None
    at.segmented_control(key="graph-engine").set_value("overwrites").run()
    assert not at.exception
    data = sent(at)
    departed = data["departure"]
    assert departed["line"] == "self.grad += message"
    assert data["right"]["engine"] == "= for +="
    assert [event["after"] for event in data["right"]["trace"]["events"] if event["kind"] == "accumulate"][-2] == 31
    assert data["event"] == departed["event"] + 1
    assert address(at)["engine"] == "overwrites"
    again = run(app("pages/graph_lab.py"), engine="overwrites", stage="backward")
    assert sent(again)["departure"] == departed
    assert sent(again)["event"] == len(data["trace"]["events"])  # a link says itself where it opens


def test_the_link_of_the_term_opens_at_the_message_that_is_sent_too_early():
    data = sent(run(app("pages/graph_lab.py"), **TERMS["topological order"].query))
    assert data["event"] == data["departure"]["event"] + 1


def test_where_a_wrong_rule_makes_no_difference_an_example_is_offered():
    at = run(app("pages/graph_lab.py"), engine="any-order", expression="a*b + c", in_a=2, in_b=3, in_c=4)
    assert sent(at)["departure"] is None
    assert at.button(key="graph telling").label.startswith("Same here")
    assert "Example" in [switch["name"] for switch in sent(at)["switches"]]  # also where the player fills the screen
    at.button(key="graph telling").click().run()
    at.run()
    assert expression(at).value == "t = a*b\nt * (t + c)"
    assert sent(at)["departure"]


def test_a_recorded_pass_is_loaded_as_data_only(at):
    w = Tensor(np.arange(100.0).reshape(10, 10), label="w")
    with watch() as pass_:
        (w * w).sum().backward()
    run(at)
    at.selectbox(key="graph-kind").set_value("recorded").run()
    assert "pass_.save" in at.code[0].value  # the lines that record one
    uploader = at.get("file_uploader")[0]
    uploader.set_value(("pass.json", b"<html><script>", "application/json")).run()
    assert not at.exception
    assert "holds no recorded pass" in at.warning[0].value
    at.get("file_uploader")[0].set_value(("pass.json", pass_.trace.to_json().encode(), "application/json")).run()
    assert not at.exception
    assert [node["label"] for node in sent(at)["trace"]["nodes"]] == ["w", "", ""]
    assert sent(at)["trace"]["nodes"][0]["large"]["max"] == 99.0
    at.selectbox(key="graph-kind").set_value("expression").run()
    assert not at.exception
    assert sent(at)["values"]


def test_forward_mode_is_in_the_address_and_has_one_number_at_a_time():
    at = run(
        app("pages/graph_lab.py"), expression="sum(X @ w)", in_X="[[1, 2], [3, 4]]", in_w="[1, 2]", mode="Forward mode"
    )
    assert sent(at)["along"] == {"name": "X", "cell": 0}
    at.selectbox(key="graph-along").select("w[1]").run()
    assert sent(at)["along"] == {"name": "w", "cell": 1}
    assert "or send the tangent of w[1]." in texts(at.markdown)
    assert sent(at)["canPredict"] is False  # the questions are about gradients
    assert address(at)["mode"] == "Forward mode"
    at.segmented_control(key="graph-mode").set_value("reverse").run()
    assert sent(at)["along"] is None
    assert "or run both passes." in texts(at.markdown)
    at = run(app("pages/graph_lab.py"), expression="a*b", mode="sideways")
    assert sent(at)["along"] is None


@pytest.mark.skipif(not installed(), reason="PyTorch is not installed")
def test_pytorch_runs_the_same_program_when_it_is_asked_to():
    at = run(app("pages/graph_lab.py"), expression="sum(relu(X @ w)**2)", in_X="[[1, 2], [3, -4]]", in_w="[1, 2]")
    assert not [code for code in at.code if "torch" in code.value]
    at.button(key="graph pytorch").click().run()
    assert not at.exception
    ours, theirs = (code.value for code in at.code[-2:])
    assert "from model import Tensor" in ours
    assert "torch.tensor" in theirs
    (table,) = [text.value.replace("\\", "") for text in at.markdown if "this engine" in text.value.split("\n")[0]]
    assert "| result | 25 | 25 | ✓ |" in table
    assert "| gradient of w | [10, 20] | [10, 20] | ✓ |" in table
    expression(at).set_value("sum(X @ w)").run()
    assert not [code for code in at.code if "torch" in code.value]  # another program has to be asked for


def test_without_pytorch_the_program_is_still_there(monkeypatch):
    monkeypatch.setattr("pages.parts.compared_with_pytorch.installed", lambda: False)
    at = run(app("pages/graph_lab.py"))
    at.button(key="graph pytorch").click().run()
    assert at.code[-1].value.startswith("import torch")
    assert 'print("gradient of a:", a.grad)' in at.code[-1].value
    assert "**PyTorch**" in [text.value for text in at.markdown]
    assert "`pip install torch`" in texts(at.info)
    assert not [text for text in at.markdown if "this engine" in text.value.split("\n")[0]]
