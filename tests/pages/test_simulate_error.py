"""The controls of Simulate Error, one by one, without a browser."""

import json
from itertools import product

import pytest

from lab.trace.derivation import first_disagreement
from lab.traps.in_place import OPS, ROUTES, WRITTEN, Experiment
from lab.traps.in_place import run as run_experiment
from pages.parts.traps.cut_off import KINDS
from tests.pages.conftest import address, components, open_at, press, run, sent, texts

PASTED = (
    "Traceback (most recent call last):\n  loss.backward()\nRuntimeError: one of the variables needed for gradient "
    "computation has been modified by an inplace operation: [torch.FloatTensor [3]], which is output 0 of ReluBackward0, "
    "is at version 1; expected version 0 instead."
)


def opened(**address):
    return open_at("simulate-error", **address)


def html(at):
    """What the page shows as HTML of its own, without its styles."""
    return "\n".join(element.proto.body for element in at.get("html") if "<style>" not in element.proto.body)


def table(at):
    """The rows of the table of gradients."""
    lines = next(m.value for m in at.markdown if "this run" in m.value).replace("\\", "").splitlines()[2:]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


def go(at, *guess):
    """The next step, after the guess where one is asked for."""
    if guess:
        at.radio(key="trap-guess").set_value(*guess).run()
    press(at, "trap next")


def waits_for_a_guess(at):
    """Whether the next step says so and is not taken; its button is never disabled, and so keeps the focus."""
    go(at)
    waits = at.button(key="trap next")
    return (at.warning[0].value, waits.label, waits.disabled) == ("Guess first.", "3 Backward", False)


def four_steps(at, guess):
    go(at)
    go(at)
    go(at, guess)
    go(at)


def test_the_first_thing_to_do_is_the_first_step():
    at = opened()
    assert at.title[0].value == "Simulate Error"
    assert at.button(key="trap next").label == "1 Forward"
    assert at.button(key="trap back").disabled
    assert sent(at)["event"] == 0
    assert "this run" not in texts(at.markdown)


HELD = {  # operation -> what the page says that its closure holds
    "mul": "It holds `left` = [2, −1, 3], `right` = [4, 5, −2].",
    "square": "It holds `left` = [2, −1, 3], `result` = [4, 1, 9], `right` = 2.",
    "relu": "It holds `result` = [2, 0, 3].",
    "add": "It holds no array at all.",
}


@pytest.mark.parametrize("op", HELD)
def test_what_a_closure_holds_is_told_with_its_numbers(op):
    at = opened(op=OPS[op].text)
    go(at)
    assert HELD[op] in texts(at.markdown)


def test_guard_off_a_wrong_gradient_without_an_error():
    at = opened()
    for number, label in enumerate(("2 Mutate", "3 Backward", "4 Compare"), start=1):
        go(at, *(["b"] if number == 3 else []))
        assert at.button(key="trap next").label == label
        assert not at.error
    assert table(at) == [["a.grad", "[4, 5, −2]"], ["b.grad", "[3, 0, 4]"]]
    go(at)
    assert "A wrong gradient, and no error" in at.error[0].value
    assert "✓ As you guessed" in at.error[0].value
    a, b = "[4, 5, −2]", "[2, −1, 3]"
    assert table(at) == [["a.grad", f"✓ {a}", a, a], ["b.grad", "✗ [3, 0, 4]", b, b]]
    go(at)
    assert at.button(key="trap next").label == "1 Forward"
    assert "guess" not in address(at)


def test_guard_on_the_engines_error_in_its_own_words():
    at = opened(guard="on")
    go(at)
    go(at)
    go(at, "right")
    message = run_experiment(Experiment(guard=True), 3).error
    assert message in at.error[0].value
    assert table(at) == [["a.grad", "none"], ["b.grad", "none"]]
    go(at)
    assert message in at.error[0].value
    assert "Refused" in at.warning[0].value
    assert "✗ Not as you guessed." in at.warning[0].value
    assert "still holds [2, −1, 3]" in at.warning[0].value


def test_no_answer_before_a_guess_and_none_is_changed_after_it():
    at = opened(step="2")
    assert waits_for_a_guess(at)
    assert at.radio(key="trap-guess").options == [
        "every gradient is right",
        "a.grad is wrong",
        "b.grad is wrong",
        "both are wrong",
        "backward() refuses",
    ]
    go(at, "ab")
    assert not at.radio
    press(at, "trap back")
    assert not at.radio
    go(at)
    go(at)
    assert "✗ Not as you guessed." in at.error[0].value
    assert address(at)["guess"] == "ab"


@pytest.mark.parametrize(
    "change",
    [
        lambda at: at.selectbox(key="trap-op").set_value("exp"),
        lambda at: at.selectbox(key="trap-written").set_value("output"),
        lambda at: at.selectbox(key="trap-route").set_value("item"),
        lambda at: at.segmented_control(key="trap-guard").set_value("on"),
        lambda at: at.slider(key="trap-number").set_value(2.0),
        lambda at: at.slider(key="trap-a0").set_value(1.0),
        lambda at: at.button(key="trap other guard").click(),
    ],
)
def test_another_experiment_hides_the_answer_until_there_is_a_guess(change):
    at = opened(step="4", guess="b")
    change(at).run()
    assert not at.exception
    assert not [*at.error, *at.warning, *at.success]
    assert waits_for_a_guess(at)
    assert at.radio(key="trap-guess").value is None


def test_what_cannot_be_guessed_of_an_operation_is_not_offered():
    at = opened(op="a ** 2", step="2", guess="b")
    assert at.radio(key="trap-guess").value is None
    assert at.radio(key="trap-guess").options == ["every gradient is right", "a.grad is wrong", "backward() refuses"]


@pytest.mark.sample(3)
@pytest.mark.parametrize("guard", ["off", "on"])
@pytest.mark.parametrize("op", OPS)
def test_every_operation_write_and_route_goes_through(op, guard):
    at = opened(op=OPS[op].text, guard=guard, step="4")
    for written in WRITTEN:
        for route in ROUTES:
            at.session_state["trap-route"], at.session_state["trap-written"] = route, written
            at.session_state["trap-step"] = 4
            at.run()
            assert not at.exception
            shown = {"wrong": at.error, "error": at.warning, "right": at.success}
            assert shown[run_experiment(Experiment(op, written, route, guard == "on")).outcome]


def test_the_player_has_what_has_happened_and_stands_where_it_went_wrong():
    at, events = opened(), []
    for guess in ((), (), ("b",), ()):
        go(at, *guess)
        data = sent(at)
        assert data.get("still", False) is (len(events) < 3)  # the graph beside the code, until all can be gone through
        events.append((data["event"], len(data["trace"]["events"])))
    trace = run_experiment(Experiment()).trace
    wrong = first_disagreement(trace)
    end = len(trace.events)
    assert events == [(2, 2), (2, 2), (end, end), (wrong + 1, end)]
    message = data["trace"]["events"][wrong]
    assert message["contribution"] == [3.0, 0.0, 4.0]
    captured = {entry["name"]: entry.get("written") for entry in data["trace"]["nodes"][message["node"]]["captured"]}
    assert captured == {"left": True, "right": False, "other": None, "self": None}
    assert "values are those of the forward pass" not in texts(at.markdown)  # the card of a shows [3, 0, 4]


def test_without_the_player_the_drawing_and_its_table_stand_in():
    at = opened(step="4")
    assert not at.get("graphviz_chart")
    at.session_state["trap player"] = {"failed": True}
    run(at)
    assert "grad [3, 0, 4]" in at.get("graphviz_chart")[0].proto.spec
    assert any("| node | computed from |" in m.value for m in at.markdown)


def test_the_sliders_change_what_is_run():
    at = opened(step="4")
    at.slider(key="trap-number").set_value(0.0).run()
    go(at, "right")
    go(at)
    assert "same numbers" in at.success[0].value
    at.slider(key="trap-a0").set_value(-4.0).run()
    assert "a0 = [-4.0, -1.0, 3.0]" in html(at)


def test_a_link_reproduces_the_experiment():
    at = opened(
        op="a.exp()",
        written="y (output)",
        route="other[0] = v   (another name for the array)",
        guard="on",
        number="2.5",
        a0="1",
        a1="0",
        a2="-1",
        step="3",
    )
    result = run_experiment(Experiment("exp", "output", "name", True, (1.0, 0.0, -1.0), number=2.5), 3)
    assert result.error in at.error[0].value
    assert "other[0] = 2.5" in html(at)


def spoils(op, written):
    return run_experiment(Experiment(op, written)).outcome == "wrong"


CELLS = [*product(OPS, WRITTEN)]


def test_the_score_counts_what_was_predicted_against_what_happened():
    at = opened(tab="predict")
    assert len(at.checkbox) == 12
    assert 'id="term-guard"' in html(at)  # the guard is explained where it is first named
    assert "7.389" in texts(at.markdown)  # the arrays that are written to, before anything is said of them
    harmful = sum(spoils(*cell) for cell in CELLS)
    press(at, "guess go")
    assert at.header[0].value == f"You predicted {12 - harmful} of 12"
    assert texts(at.markdown).count("✗ missed\\: does harm") == texts(at.markdown).count("✗") == harmful
    assert not at.checkbox  # locked: what was guessed can be looked at, not changed
    press(at, "guess go")
    assert len(at.checkbox) == 12
    for op, written in CELLS:
        at.checkbox(key=f"trap-{op}-{written}").set_value(spoils(op, written))
    at.run()
    assert not at.header  # until all is run again
    press(at, "guess go")
    assert at.header[0].value == "You predicted 12 of 12"
    assert "✗" not in texts(at.markdown)


def test_a_tick_too_many_is_marked_and_every_other_cell_is_right():
    at = opened(tab="predict")
    for op, written in CELLS:
        at.checkbox(key=f"trap-{op}-{written}").set_value(spoils(op, written) or (op, written) == ("exp", "input"))
    at.run()
    press(at, "guess go")
    assert (texts(at.markdown).count("✓ guessed"), texts(at.markdown).count("✗ false alarm")) == (11, 1)


def test_predictions_are_in_the_link():
    at = opened(tab="predict", **{"mul-input": "true", "mul-output": "true"})
    assert at.checkbox(key="trap-mul-input").value
    assert at.checkbox(key="trap-mul-output").value


def guess_cut(at, a, b):
    at.segmented_control(key="cut guess a").set_value(a)
    at.segmented_control(key="cut guess b").set_value(b).run()
    press(at, "cut go")


@pytest.mark.parametrize(
    ("kind", "came"), [("detach", ("part", "none")), ("no_grad", ("part", "none")), ("all", ("none", "none"))]
)
def test_a_cut_is_shown_beside_the_whole_graph_once_it_is_guessed(kind, came):
    at = opened(tab="cut", cut=KINDS[kind])
    assert "Compared with the uncut pass, a.grad is…" in at.segmented_control(key="cut guess a").label
    assert at.button(key="cut go").disabled
    (asked,) = components(at, "player")  # neither the cut nor a gradient is shown before the guess
    data = json.loads(asked.proto.bytes)
    assert data["event"] == sum(event["kind"] == "forward" for event in data["trace"]["events"])
    assert "✂" not in texts(at.markdown)
    assert "numerical" not in texts(at.markdown)
    guess_cut(at, *came)
    graphs = [json.loads(shown.proto.bytes)["trace"]["events"] for shown in components(at, "player")]
    messages = [sum(event["kind"] == "message" for event in events) for events in graphs]
    assert messages == ([4] if kind == "all" else [4, 1])  # without a record there is no graph to show
    assert "✂ from" in texts(at.markdown)
    assert bool(at.error) == (kind == "all")
    assert "✗ None" in texts(at.markdown)
    assert "a: ✓ as you guessed; b: ✓ as you guessed." in texts(at.markdown)
    at.slider(key="trap-cut-a").set_value(1.0).run()  # other numbers: another guess
    assert len(components(at, "player")) == 1
    guess_cut(at, "same", "same")
    assert "a: ✗ you guessed “the same”; b: ✗ you guessed “the same”." in texts(at.markdown)


def test_a_life_is_lived_button_by_button():
    at = opened(tab="life")
    assert at.button(key="life b").disabled
    for letter in "flb":
        press(at, f"life {letter}")
    assert "**Now: freed.**" in texts(at.markdown)
    press(at, "life b")
    assert "already gone through" in at.error[0].value
    press(at, "life undo")
    assert not at.error
    assert address(at)["life"] == "flb"
    at.slider(key="trap-rate").set_value(0.5)
    for _ in range(12):
        press(at, "life whole")
    assert "**Now: diverged.**" in texts(at.markdown)
    press(at, "life restart")
    assert "**Now: created.**" in texts(at.markdown)
