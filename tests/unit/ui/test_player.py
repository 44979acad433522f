"""What the player sends to the browser, and what it takes from it."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from lab.text import strict_json
from lab.trace.export import MODULES, STATIC, playable, standalone
from lab.trace.notebook import framed
from lab.trace.recording import record
from lab.ui.player import Live, Switch, _choose, _identity, _validated
from tests.programs import LEAVES, shared

ROOT = Path(__file__).resolve().parents[3]
APP = ROOT / "tests/browser/apps/player_app.py"


def sent(app):
    return json.loads(app.get("bidi_component")[0].proto.bytes)


def test_the_page_sends_trace_inputs_and_event():
    app = AppTest.from_file(APP)
    app.query_params["event"] = "4"
    data = sent(app.run())
    assert data["event"] == 4
    assert data["values"] == {"a": 2.0, "b": 3.0, "c": 4.0, "d": 5.0}
    assert data["trace"]["nodes"][7]["value"] == 70.0
    assert [leaf["name"] for leaf in data["live"]["leaves"]] == ["a", "b", "c", "d"]


def test_values_from_the_browser_are_computed_by_the_engine():
    app = AppTest.from_file(APP).run()
    live = sent(app)["live"]["id"]
    state = {"live": live, "sequence": 3, "values": {"a": 3.0, "b": 3.0, "c": 4.0, "d": 5.0}, "event": 2}
    app.session_state["player"] = {"state": state}
    data = sent(app.run())
    assert data["sequence"] == 3
    assert data["trace"]["nodes"][7]["value"] == (3 * 3 + 4) * (3 + 5)
    app.session_state["player"] = {"state": state | {"live": "of another expression"}}
    assert sent(app.run())["trace"]["nodes"][7]["value"] == 70.0


@pytest.mark.parametrize(
    "state",
    [
        "text",
        {"live": None, "values": 3},
        {"values": {"a": "1e999"}, "sequence": -1, "event": "x"},
        {"values": {"a": [1, 2]}, "event": 10**9},
        {"selected": [], "predict": 1},
        {"values": {"a": 10**400}},
    ],
)
def test_nothing_that_a_browser_sends_breaks_the_page(state):
    app = AppTest.from_file(APP).run()
    if isinstance(state, dict):
        state["live"] = sent(app)["live"]["id"]
    app.session_state["player"] = {"state": state}
    app.run()
    assert not app.exception
    assert sent(app)["trace"]["nodes"][7]["value"] == 70.0


def test_only_values_that_fit_are_taken():
    assert _validated(2, 1.0) == 2.0
    assert _validated([[1, 2]], [[0.0, 0.0]]) == [[1.0, 2.0]]
    for wrong in (None, "x", [1], float("nan"), float("inf"), 1e7, 10**400, {"a": 1}, [[1], [1, 2]]):
        assert _validated(wrong, 1.0) == 1.0
    assert _validated([[1, 2], [3]], [[0.0, 0.0]]) == [[0.0, 0.0]]


def test_other_leaves_have_another_identity():
    same = {_identity({"a": Live(1.0)}), _identity({"a": Live(1.0)})}
    others = {_identity({"b": Live(1.0)}), _identity({"a": Live(2.0)}), _identity({"a": Live(1.0, low=-5.0)})}
    assert len(same) == 1
    assert len(same | others) == 4


def test_what_the_browser_can_look_up_is_left_out():
    trace = record(lambda X, W: (X @ W).relu().sum(), {"X": np.ones((3, 4)), "W": np.ones((4, 2))})
    product = playable(trace)["nodes"][2]
    assert ["value" in entry for entry in product["captured"]] == [False] * 4
    product = trace.nodes[2]
    product["captured"][0]["written"] = True
    assert "value" in playable(trace)["nodes"][2]["captured"][0]


def test_a_closure_that_was_written_to_says_so():
    from model import allow_mutation

    def build(a):
        with allow_mutation():
            result = a * a
            a.data[...] = 7.0
        return result.sum()

    with allow_mutation():
        trace = record(build, {"a": [1.0, 2.0]})
    written = {entry["name"]: entry.get("written") for entry in trace.nodes[1]["captured"]}
    assert written["left"] is True
    assert "written" not in record(lambda a: a * a, {"a": 1.0}).nodes[1]["captured"][-1]


def test_every_module_of_the_player_is_in_the_page_after_those_that_it_imports():
    files = {path.stem for path in (STATIC / "player").glob("*.js")}
    assert files == set(MODULES) | {"streamlit", "worker"}  # the worker is a script of its own
    for index, name in enumerate(MODULES):
        text = (STATIC / "player" / f"{name}.js").read_text("utf-8")
        imported = re.findall(r'^import [^;]*?from "\./(\w+)\.js";', text, flags=re.MULTILINE)
        assert len(imported) == len(re.findall(r"^import ", text, flags=re.MULTILINE))
        assert set(imported) <= set(MODULES[:index]), name


def test_no_module_writes_markup():
    for path in (STATIC / "player").glob("*.js"):
        text = path.read_text("utf-8")
        assert not any(
            word in text for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
        )


def test_vendored_files_say_where_they_are_from():
    for folder in (STATIC / "graphviz", ROOT / "tests/browser/axe"):
        origin = (folder / "ORIGIN.md").read_text("utf-8")
        script = next(folder.glob("*.js"))
        assert hashlib.sha256(script.read_bytes()).hexdigest() in origin
        assert (folder / "LICENSE").stat().st_size > 1000


def test_a_label_cannot_leave_its_place_in_the_page():
    nasty = "</script><img src=x onerror=alert(1)>"
    page = standalone(record(lambda **leaves: leaves[nasty] * 2.0, {nasty: 1.0}), title=nasty)
    assert "<img src" not in page
    assert "</script><img" not in page
    assert "&lt;/script&gt;&lt;img" in page


def test_a_frame_for_a_notebook_holds_the_page():
    whole, borrowing = (framed(record(shared, LEAVES), code) for code in (True, False))
    for frame in (whole, borrowing):
        assert frame.startswith("<iframe")
        assert frame.count("<") == 2  # the page is an attribute: nothing in it is markup of the notebook
    assert len(borrowing) < len(whole) / 20


def test_infinities_reach_the_browser_as_words():
    data = json.loads(strict_json(playable(record(lambda a: 1.0 / a, {"a": 0.0}))))
    assert data["nodes"][-1]["value"] == "inf"
    assert data["derived"][0]["terms"][0]["local"] == "-inf"


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ({"switch": "Engine", "value": "broken"}, [("Engine", "broken")]),
        ({"switch": "Engine", "value": "no such engine"}, []),
        ({"switch": "Engine", "value": ["broken"]}, []),
        ({"switch": "Nothing", "value": "broken"}, []),
        ({}, []),
    ],
)
def test_a_choice_made_in_the_player_reaches_the_page_if_it_is_offered(asked, chosen):
    found = []
    _choose(
        asked, [Switch("Engine", {"lab": "The lab's", "broken": "= for +="}, "lab")], lambda *made: found.append(made)
    )
    assert found == chosen
