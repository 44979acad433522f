"""Simulate Error: cause the classic failures of a backward pass, see why they happen, and see the fix."""

from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from lab.lessons.pages import BY_PATH
from lab.text import brief
from lab.trace.derive import first_disagreement
from lab.traps import in_place, in_place_panels
from lab.traps.in_place import MAX_ABS, OPS, ROUTES, WRITTEN, Experiment, Outcome
from lab.traps.in_place_panels import STEPS
from lab.ui import binding, page, progress
from lab.ui.memoize import memoize
from lab.ui.player import player
from lab.ui.table import show_table
from lab.ui.terms import prose
from lab.ui.widgets import button, pick, switch
from pages.parts.traps import cut_off, tensor_life

MUTATE, BACKWARD = 2, 3  # numbers of these steps in STEPS; the learner guesses between them
GUARDS = {"off": False, "on": True}
GUESSES = {
    "right": "every gradient is right",
    "a": "a.grad is wrong",
    "b": "b.grad is wrong",
    "ab": "both are wrong",
    "error": "backward() refuses",
}
CELLS = [(op, written) for op in OPS for written in WRITTEN]
START = Experiment()
STEP = binding.whole("trap-step", 0, 0, len(STEPS))
GUESS = binding.choice("trap-guess", None, *GUESSES)
STYLE = Path(__file__).parents[1] / "assets" / "traps.css"
TRY_THIS = {
    "steps": "With the [[guard]] off, find the two operations whose gradient a write to the *output* spoils. Then find "
    "a write that changes what a [[closure]] holds and still leaves the gradient right. What does the "
    "[[version]] in PyTorch’s message count?",
    "predict": "Before you run them, say for each row which numbers its derivative rule reads: those must not be "
    "overwritten.",
    "cut": "Find numbers for which a.grad is still right, although a part of it was cut away.",
    "life": "Make w.grad twice as large as it should be, without an error. Then make the guard stop an optimizer step.",
}
NEXT = ("pages/what_went_wrong.py", "Next: paste an error message, and find its cause")


def main() -> None:
    with page.frame("simulate-error", STEP, GUESS, cut_off.RAN, tensor_life.ACTIONS_RUN):
        st.html(STYLE)
        st.title("Simulate Error")
        contents = {"steps": _four_steps, "predict": _predict, "cut": cut_off.show, "life": tensor_life.show}
        opened = page.tabs("simulate-error", contents)
        session = st.session_state
        ran = session[STEP.key] >= BACKWARD and session.get("trap-guard") == "on"
        progress.done("caught-write", ran and session[GUESS.key] is not None)
        page.closing(TRY_THIS[opened], *NEXT)


def _ask_again() -> None:
    """Go back to the guess for a changed experiment, so that no result is shown."""
    st.session_state[STEP.key] = min(st.session_state[STEP.key], MUTATE)
    st.session_state[GUESS.key], st.session_state["trap seen"] = None, False


def _watch(experiment: Experiment) -> None:
    """Show all steps of an experiment in the first part of the page; call it in a callback."""
    binding.step()
    session = st.session_state
    session["trap-tab"] = BY_PATH["simulate-error"].tabs["steps"]
    session.update(_in_widgets(experiment))
    session[STEP.key], session[GUESS.key], session["trap seen"] = len(STEPS), None, True


def _in_widgets(experiment: Experiment) -> dict[str, float | str]:
    """Return the value of each widget of the first part that sets up an experiment."""
    numbers = {f"trap-{name}{i}": value for name in "ab" for i, value in enumerate(getattr(experiment, name))}
    return numbers | {
        "trap-op": experiment.op,
        "trap-written": experiment.written,
        "trap-route": experiment.route,
        "trap-number": experiment.number,
        "trap-guard": "on" if experiment.guard else "off",
    }


# ---------------------------------------------------------------- the trap in four steps


def _four_steps() -> None:
    prose("An array is overwritten [[in place]] after the forward pass. Are the [[gradients|gradient]] still right?")
    experiment = _settings()
    code, result_column = st.columns([4, 5], gap="medium")
    with code:
        step = _next_step()
        st.html(in_place_panels.program(experiment, step))
    result = memoize("trap result", (experiment, step), lambda: in_place.run(experiment, step))
    # At the end a projector shows the verdict; until then, the drawing in it.
    with result_column, st.container(key="picture-verdict" if step == len(STEPS) else None):
        _what_happened(result)
        if step:
            st.html(in_place_panels.arrays(result.boxes))
        if step >= BACKWARD:
            st.html(in_place_panels.gradients(result))
        if step == len(STEPS):
            _verdict(result)
        else:
            _player(result, 0 if step == 0 else len(result.trace.events), still=True)
    if step == len(STEPS):
        _compared(result)
        _events(result)


def _settings() -> Experiment:
    line = st.container(key="trap-settings", horizontal=True, vertical_alignment="bottom", gap="small")
    texts = {name: op.text for name, op in OPS.items()}
    targets = {what: f"{target} ({what})" for what, target in WRITTEN.items()}
    guards = (
        "On runs the pass on the engine of `detect_mutation()`, off inside `allow_mutation()`. The default engine "
        "needs neither: its closures share no array, so a write does no harm."
    )
    with line:
        op = pick("Operation", texts, "trap-op", on_change=_ask_again, width=155, bind="query-params")
        written = pick("Write to", targets, "trap-written", on_change=_ask_again, width=155, bind="query-params")
        routes = {
            name: f"{route.line('t', 'v')}   ({route.title})"
            for name, route in ROUTES.items()
            if written == "input" or not route.inputs_only
        }
        if st.session_state.get("trap-route", START.route) not in routes:
            st.session_state["trap-route"] = START.route
        route = pick("How to write", routes, "trap-route", on_change=_ask_again, width=325, bind="query-params")
        guard = switch(
            "Guard", [*GUARDS], "trap-guard", on_change=_ask_again, width="content", help=guards, bind="query-params"
        )
    number = START.number
    with line.popover("Numbers", icon=":material/tune:", width="content"):
        if ROUTES[route].takes_number:
            number = _slider("Number to write", "trap-number", number)
        values = {
            name: tuple(
                _slider(f"{name}[{i}]", f"trap-{name}{i}", start) for i, start in enumerate(getattr(START, name))
            )
            for name in OPS[op].inputs
        }
    return Experiment(op, written, route, GUARDS[guard], number=number, **values)


def _slider(label: str, key: str, start: float) -> float:
    return st.slider(label, -MAX_ABS, MAX_ABS, start, 0.5, key=key, on_change=_ask_again, bind="query-params")


def _next_step() -> int:
    """Draw the button for the next step, disabled until the learner has guessed, and return the steps done so far."""

    def go(step: int) -> None:
        st.session_state[STEP.key] = step
        if step >= BACKWARD:
            st.session_state["trap seen"] = True
        if step == 0:
            st.session_state[GUESS.key], st.session_state["trap seen"] = None, False

    done = st.session_state[STEP.key]
    over = done == len(STEPS)
    asked = done == MUTATE and not st.session_state.get("trap seen")
    following, back = st.columns([3, 1], gap="small")
    following.button(  # always of one type: another type is a new element, which loses the keyboard focus
        "Start again" if over else f"{done + 1} {STEPS[done]}",
        key="trap next",
        on_click=go,
        args=(0 if over else done + 1,),
        width="stretch",
        type="primary",
        disabled=asked and st.session_state[GUESS.key] is None,
        icon=":material/replay:" if over else ":material/play_arrow:",
    )
    back.button("Back", key="trap back", on_click=go, args=(done - 1,), width="stretch", disabled=done == 0)
    return done


def _what_happened(result: Outcome) -> None:
    target = result.experiment.target
    held = " and ".join(f"`{h.name}`" for h in result.held)
    if result.steps == 0:
        st.markdown("So far there are only the inputs. Press **1 Forward** to begin.")
    elif result.steps == 1:
        keeps = f"It holds {held}." if held else "It holds no array at all."
        st.markdown(
            f"y is {brief(result.before['y'])}. The closure of `{result.op}` waits for the backward pass. {keeps}"
        )
    elif result.steps == MUTATE:
        st.markdown(
            f"`{target}` was {brief(result.before[target])} and is now {brief(result.values[target])}. Nothing "
            "complained. Does the closure still hold what it needs?"
        )
        if st.session_state.get("trap seen"):
            st.markdown(":small[You have seen the result. To guess again, choose other numbers or another operation.]")
        else:
            _guess()
    elif result.error:
        st.error(f"**MutationError.** {result.error}", icon=":material/block:")
    elif result.steps == BACKWARD:
        st.markdown("`backward()` finished without an error. Are these gradients right? Compare them.")


def _guess() -> None:
    def keep() -> None:
        st.session_state[GUESS.key] = st.session_state["trap choice"]

    inputs = "".join(OPS[st.session_state["trap-op"]].inputs)
    possible = [guess for guess in GUESSES if guess in ("right", "error") or guess in inputs]
    if st.session_state[GUESS.key] not in possible:
        st.session_state[GUESS.key] = None
    # A link has the guess also where the next step has replaced this question, so it is no value of a widget.
    st.session_state["trap choice"] = st.session_state[GUESS.key]
    st.radio(
        f"**Guess first**, then press **{MUTATE + 1} {STEPS[MUTATE]}**. When backward() has run:",
        possible,
        format_func=GUESSES.get,
        key="trap choice",
        index=None,
        horizontal=True,
        on_change=keep,
    )


def _verdict(result: Outcome) -> None:
    why = f"{_as_guessed(result)}{in_place.verdict(result)}"
    if result.outcome == "wrong":
        st.error(f"**A wrong gradient, and no error.** {why}", icon=":material/close:")
    elif result.outcome == "error":
        st.warning(f"**Refused.** {why}", icon=":material/shield:")
    else:
        st.success(f"**The right gradient.** {why}", icon=":material/check:")


def _as_guessed(result: Outcome) -> str:
    guess = st.session_state[GUESS.key]
    if guess is None:
        return ""
    right = guess == (result.effect or "right")
    return f"{'✓ As you guessed.' if right else f'✗ Your guess was: {GUESSES[guess]}.'} "


def _compared(result: Outcome) -> None:
    """Show all numbers of the comparison, the fix, and a button that switches the guard."""
    rows = []
    for name, right in result.right.items():
        for i, value in enumerate(right):
            gradient = result.gradients[name]
            sign = "✓" if gradient is not None and in_place.same(gradient[i], value) else "✗"
            got = "– none" if gradient is None else f"{sign} {brief(gradient[i])}"
            rows.append((f"{name}.grad[{i}]", got, brief(value), brief(result.numerical[name][i])))
    other = "off" if result.experiment.guard else "on"
    button(f"The same with the guard {other}", "trap other guard", _turn_guard, other)
    table_side, fix_side = st.columns(2, gap="large")
    with table_side:
        st.markdown("**Compared**")
        show_table(["element", "this run", "no write", "numerical"], rows)
        if not all(np.allclose(result.right[name], result.numerical[name], atol=1e-6) for name in result.right):
            st.markdown(":small[Where `a` is 0, relu has a kink: the numerical difference is the mean of both slopes.]")
    if result.outcome != "right":
        gradients = in_place.repaired(result.experiment)
        found = ", ".join(f"{name}.grad = {brief(value)}" for name, value in gradients.items())
        with fix_side:
            st.markdown("**The fix: write where no backward pass is waiting**")
            st.code(in_place.repair(result.experiment))
            st.markdown(f"Run just now with the guard on: {found}.")


def _turn_guard(guard: str) -> None:
    st.session_state["trap-guard"] = guard
    _ask_again()


def _events(result: Outcome) -> None:
    """Show the pass in the player, at the message that went wrong or else at the last event."""
    trace = result.trace
    wrong = first_disagreement(trace)
    event = len(trace.events) if wrong is None else wrong + 1
    sentence = ""
    if result.error:
        sentence = "The guard looked before the first message, so the backward pass has no events."
    elif wrong is not None:
        message = trace.events[wrong]
        assert message["kind"] == "message"  # nothing else can disagree with a rule
        name = trace.nodes[message["child"]]["label"]
        sentence = (
            f"At event {event} the closure sends {brief(message['contribution'])} to {name}; the right message is "
            f"{brief(result.right[name])}. The **Closure** tab says which array was written to."
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("Event by event", width="content")
        st.markdown(sentence)
    _player(result, event)


def _player(result: Outcome, event: int, still: bool = False) -> None:
    script = partial(in_place.script, result.experiment, result.steps)
    player(result.trace, key="trap player", event=event, script=script, compact=still, still=still)


# ---------------------------------------------------------------- predict, then run


def _predict() -> None:
    prose(
        "After the forward pass, `a.data += 1` or `y.data += 1` overwrites an array while the [[guard]] is off. Tick "
        "the writes that spoil a gradient."
    )
    binding.foresee(_in_widgets(START))  # for `_watch`
    guesses = [st.session_state.get(_key(cell), False) for cell in CELLS]
    scored = st.session_state.get("guesses run") == guesses
    matrix, text_column = st.columns([1, 1] if scored else [4, 1], gap="medium")  # the scores need less width
    with matrix.container(key="picture-writes"):  # which a projector shows whole
        if scored:
            st.html(in_place_panels.scores(in_place.outcomes(), dict(zip(CELLS, guesses, strict=True))))
        else:
            _tick()

    def run() -> None:
        st.session_state["guesses run"] = [st.session_state[_key(cell)] for cell in CELLS]

    with text_column:
        if scored:
            _score()
            button("Guess again", "guess go", binding.put, "guesses run", None, icon="replay", type="primary")
        else:
            st.markdown("Which numbers does each derivative rule read? They must not change before the backward pass.")
            button(f"Run all {len(CELLS)}", "guess go", run, icon="play_arrow", type="primary")


def _key(cell: tuple[str, str]) -> str:
    return f"trap-{cell[0]}-{cell[1]}"


def _tick() -> None:
    with st.container(gap="xsmall"):
        for op in OPS:
            arrays, *boxes = st.columns([7, 2, 2], vertical_alignment="center")
            arrays.html(in_place_panels.forward_pass(op))
            for box, (written, target) in zip(boxes, WRITTEN.items(), strict=True):
                box.checkbox(f"write to {target}", key=_key((op, written)), bind="query-params")


def _score() -> None:
    outcomes = in_place.outcomes()
    spoiled = {cell: outcomes[(*cell, False)] != "right" for cell in CELLS}
    hit = {cell: st.session_state[_key(cell)] == spoiled[cell] for cell in CELLS}
    st.header(f"You predicted {sum(hit.values())} of {len(CELLS)}")
    st.markdown(
        "With the guard on, exactly the writes that spoil a gradient are refused. Every ✓ is a case that you judged "
        "correctly, ticked or not."
    )
    order = sorted(CELLS, key=lambda cell: hit[cell])

    def name(cell: tuple[str, str]) -> str:
        return f"y = {OPS[cell[0]].text}, {WRITTEN[cell[1]]} written to"

    left, right = st.columns([3, 2], vertical_alignment="bottom")
    chosen = left.selectbox("Why?", order, format_func=name, key="guess look")
    experiment = Experiment(op=chosen[0], written=chosen[1])
    right.button("Watch its four steps", on_click=_watch, args=(experiment,), key="guess watch", width="stretch")
    st.markdown(in_place.verdict(in_place.run(experiment)))


main()
