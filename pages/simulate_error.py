"""Simulate Error: cause the classic failures of a backward pass, see why they happen, and see the fix."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from lab.text import brief
from lab.trace.derivation import first_disagreement
from lab.traps import in_place, in_place_panels
from lab.traps.in_place import MAX_ABS, OPS, ROUTES, WRITTEN, Experiment, Outcome
from lab.traps.in_place_panels import STEPS
from lab.ui import binding, page, progress
from lab.ui.memoize import memoize
from lab.ui.player import player
from lab.ui.table import show_table
from lab.ui.terms import prose
from lab.ui.widgets import FIRST, button, pick, switch, verdict
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


# ---------------------------------------------------------------- the trap in four steps


def _four_steps() -> None:
    prose("An array is overwritten [[in place]] after the forward pass. Are the [[gradients|gradient]] still right?")
    experiment = _settings()
    with st.container(key="picture-steps"):  # which a projector shows: the program beside what happened
        code, result_column = st.columns([4, 5], gap="medium")
    with code:
        step = _next_step()
        st.html(in_place_panels.program(experiment, step))
        result = memoize("trap result", (experiment, step), lambda: in_place.run(experiment, step))
        if step:
            st.html(in_place_panels.arrays(result.boxes))
    with result_column:
        _what_happened(result)
        if step >= BACKWARD:
            _gradients(result)
        if step == len(STEPS):
            _verdict(result)
        else:
            event = 0 if step == 0 else len(result.trace.events)
            player(result.trace, key="trap player", event=event, compact=True, still=True)
    if step == len(STEPS):
        _fix(result)
        st.header("Event by event")
        wrong = first_disagreement(result.trace)  # where the player stands, or else at the last event
        player(result.trace, key="trap player", event=len(result.trace.events) if wrong is None else wrong + 1)


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
        routes = {name: f"{route.write.format(t='t', v='v')}   ({route.title})" for name, route in ROUTES.items()}
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
    """Draw the button for the next step, which waits for the learner's guess, and return the steps done so far."""

    def go(step: int) -> None:
        if asked and step == BACKWARD and st.session_state[GUESS.key] is None:
            st.session_state["trap unanswered"] = True
            return
        st.session_state[STEP.key] = step
        if step >= BACKWARD:
            st.session_state["trap seen"] = True
        if step == 0:
            st.session_state[GUESS.key], st.session_state["trap seen"] = None, False

    done = st.session_state[STEP.key]
    over = done == len(STEPS)
    asked = done == MUTATE and not st.session_state.get("trap seen")
    following, back = st.columns([3, 1], gap="small")
    following.button(  # of one type and never disabled: else it loses the keyboard focus
        "Start again" if over else f"{done + 1} {STEPS[done]}",
        key="trap next",
        on_click=go,
        args=(0 if over else done + 1,),
        width="stretch",
        type="primary",
        icon=":material/replay:" if over else ":material/play_arrow:",
    )
    back.button("Back", key="trap back", on_click=go, args=(done - 1,), width="stretch", disabled=done == 0)
    return done


def _what_happened(result: Outcome) -> None:
    target = result.experiment.target
    held = ", ".join(f"`{h.name}` = {brief(h.now)}" for h in result.held)
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
    inputs = "".join(OPS[st.session_state["trap-op"]].inputs)
    possible = [guess for guess in GUESSES if guess in ("right", "error") or guess in inputs]
    if st.session_state[GUESS.key] not in possible:
        st.session_state[GUESS.key] = None
    if st.session_state.pop("trap unanswered", False):
        st.warning(FIRST)
    st.radio(
        f"**Guess first**, then press **{MUTATE + 1} {STEPS[MUTATE]}**. When backward() has run:",
        possible,
        format_func=GUESSES.get,
        key=GUESS.key,
        index=None,
        horizontal=True,
        persist_state="session",  # also where the next step has replaced this question
    )


def _verdict(result: Outcome) -> None:
    guess = st.session_state[GUESS.key]
    judged = "" if guess is None else f"{verdict(guess == (result.effect or 'right'))} "
    why = f"{judged}{in_place.verdict(result)}"
    if result.outcome == "wrong":
        st.error(f"**A wrong gradient, and no error.** {why}", icon=":material/close:")
    elif result.outcome == "error":
        st.warning(f"**Refused.** {why}", icon=":material/shield:")
    else:
        st.success(f"**The right gradient.** {why}", icon=":material/check:")


def _gradients(result: Outcome) -> None:
    """Tabulate the gradients of this run; once compared, next to the right ones and the numerical ones."""
    rows: list[tuple[str, ...]] = []
    for name, gradient in result.gradients.items():
        got = "none" if gradient is None else brief(gradient)
        if name in result.right:
            sign = "✓" if in_place.same(gradient, result.right[name]) else "✗"
            rows.append((f"{name}.grad", f"{sign} {got}", brief(result.right[name]), brief(result.numerical[name])))
        else:
            rows.append((f"{name}.grad", got))
    show_table(["", "this run", "without the write", "numerical"][: len(rows[0])], rows)
    if not all(np.allclose(right, result.numerical[name], atol=1e-6) for name, right in result.right.items()):
        st.markdown(":small[Where `a` is 0, relu has a kink: the numerical difference is the mean of both slopes.]")


def _fix(result: Outcome) -> None:
    """Show a button that switches the guard and, where the write did harm, the program that writes later."""
    other = "off" if result.experiment.guard else "on"
    button(f"The same with the guard {other}", "trap other guard", _turn_guard, other)
    if result.outcome != "right":
        code, gradients = in_place.repaired(result.experiment)
        found = ", ".join(f"{name}.grad = {brief(value)}" for name, value in gradients.items())
        st.markdown("**The fix: write where no backward pass is waiting**")
        st.code(code)
        st.markdown(f"Run just now with the guard on: {found}.")


def _turn_guard(guard: str) -> None:
    binding.step()
    binding.set_widget("trap-guard", guard)
    _ask_again()


# ---------------------------------------------------------------- predict, then run


def _predict() -> None:
    prose(
        "After the forward pass, `a.data += 1` or `y.data += 1` overwrites an array while the [[guard]] is off. Tick "
        "the writes that spoil a gradient."
    )
    guesses = [st.session_state.get(_key(cell), False) for cell in CELLS]
    scored = st.session_state.get("guesses run") == guesses

    def run() -> None:
        st.session_state["guesses run"] = [st.session_state[_key(cell)] for cell in CELLS]

    with st.container(key="picture-writes"):  # which a projector shows whole
        if scored:
            _score(dict(zip(CELLS, guesses, strict=True)))
        else:
            _tick()
    if scored:
        button("Guess again", "guess go", binding.put, "guesses run", None, icon="replay", type="primary")
    else:
        button(f"Run all {len(CELLS)}", "guess go", run, icon="play_arrow", type="primary")


def _key(cell: tuple[str, str]) -> str:
    return f"trap-{cell[0]}-{cell[1]}"


def _tick() -> None:
    for op, spec in OPS.items():
        arrays, *boxes = st.columns([4, 2, 2], vertical_alignment="center")
        values = in_place.run(Experiment(op), 1).before
        inputs = ", ".join(f"{name} = {brief(values[name])}" for name in spec.inputs)
        arrays.markdown(f"`y = {spec.text}` = {brief(values['y'])} with {inputs}")
        for box, (written, target) in zip(boxes, WRITTEN.items(), strict=True):
            box.checkbox(f"write to {target}", key=_key((op, written)), bind="query-params")


def _score(guesses: Mapping[tuple[str, str], bool]) -> None:
    """Run all writes without the guard, and tabulate what they did next to the guesses."""
    spoiled = {cell: in_place.run(Experiment(*cell)).outcome == "wrong" for cell in CELLS}
    st.header(f"You predicted {sum(guesses[cell] == spoiled[cell] for cell in CELLS)} of {len(CELLS)}")
    rows = []
    for op, spec in OPS.items():
        marks = []
        for written in WRITTEN:
            wrong, expected = spoiled[op, written], guesses[op, written]
            mark = "✓ guessed" if wrong == expected else "✗ missed" if wrong else "✗ false alarm"
            marks.append(f"{mark}: {'does harm' if wrong else 'no harm'}")
        kept = sorted({held.of for held in in_place.run(Experiment(op), 1).held if held.of})
        rows.append((f"y = {spec.text}", *marks, " and ".join(kept) or "nothing"))
    show_table(["", *(f"{target} written to" for target in WRITTEN.values()), "its closure keeps"], rows)
    st.markdown(
        "With the guard on, exactly the writes that spoil a gradient are refused. Go through one that you judged "
        "wrongly in *Four steps*."
    )


main()
