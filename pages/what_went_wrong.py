"""What went wrong? Finds a failure or fault from a message, code, a log, or by what one sees."""

import streamlit as st

from lab.failures.catalogue import BY_KEY, FAILURES, NEARBY
from lab.failures.failure import Demonstration, Failure, format_numbers, read_numbers
from lab.failures.finder import find, look_up
from lab.failures.index import Match
from lab.failures.programs import NO_PROGRAM, Numbers, run
from lab.failures.text_kind import kind_of
from lab.lessons.pages import BY_PATH, PAGES
from lab.ui import binding, page, progress, search_field
from lab.ui.memoize import memoize
from lab.ui.table import escape_markdown, with_code
from lab.ui.widgets import button, switch
from pages.parts.failures import fault, from_a_curve, from_code, index, spot_the_fault
from pages.parts.failures.outcomes import show_outcomes

FAILURE = binding.choice("wrong-failure", None, *BY_KEY)
FORM = binding.whole("wrong-form", 0, 0, max(len(failure.others) for failure in FAILURES))
OTHER_MISTAKE = binding.choice("wrong-other", None, *NEARBY)
HELD = (FAILURE, FORM, OTHER_MISTAKE, from_code.CODE, from_a_curve.LOG, *fault.HELD, *spot_the_fault.HELD)
LOOKED_UP = "wrong looked up"  # session key: the text whose answer is on the page, or None
TABS = BY_PATH["what-went-wrong"].tabs
TRY_THIS = {
    "message": "Paste half of a message, or describe a failure as a friend would, and see how sure the answer is. Then "
    "choose a failure that gives no error, and find numbers for which nothing goes wrong.",
    "code": "Press **An example** and correct the program until nothing more is found. Then paste a training loop of "
    "your own and break it: which mistakes can be found without running it, and which cannot?",
    "fault": "Find a fault whose training curve is the same as the healthy one, and the check that finds it anyway. "
    "Then find one that learns *faster* than the healthy engine for a while.",
    "spot": "Play a few cases and see which piece of evidence decides most of them. Then try to win with the loss and "
    "only one more piece.",
    "curve": "In the Training lab, train with a learning rate that is far too high, then choose **One of your runs** "
    "here. Is the learning rate the first cause? What else could have drawn this curve?",
}
CHECK_LIST = (
    "**Print the graph.** Is the loss computed from the parameters? Each name on the way has a `grad_fn`.",
    "**Isolate one operation.** Take its inputs as they are, and call it and `backward()` alone.",
    "**Compare with numbers.** Move one input a little: does the loss move as the gradient says?",
    "**Shrink the data.** Two samples, two units, no random numbers: the mistake is in what is left.",
)


def main() -> None:
    asked = st.session_state.pop(search_field.ASKED, "")
    with page.frame("what-went-wrong", *HELD) as arrived:
        if arrived:
            st.session_state[LOOKED_UP] = None
            from_code.restored()
            from_a_curve.restored()
        if asked:
            st.session_state["wrong text"] = asked
            _look_up()
        st.title("What went wrong?")
        contents = {
            "message": _ask,
            "code": lambda: from_code.from_code(_choose),
            "curve": lambda: from_a_curve.from_a_curve(_choose),
            "spot": spot_the_fault.show,
        }
        opened = page.tabs("what-went-wrong", contents, gap="xsmall")
        page.closing(
            TRY_THIS["fault" if opened == "message" and st.session_state[fault.FAULT.key] else opened],
            "pages/build_it_yourself.py",
            "Next: find a failure in a program, and fix it",
            {"tab": "debug"},
        )


def _ask() -> None:
    st.markdown("Paste an error message, your code or a training log, or say in your own words what you see.")
    text = _question()
    key, broken = st.session_state[FAILURE.key], st.session_state[fault.FAULT.key]
    progress.done("broken-engine", fault.is_run())
    if broken or key:
        if broken:
            fault.show(broken)
        else:
            _failure(BY_KEY[key])
        with st.expander("All failures and faults, by what you see"):
            index.show(_choose, _choose_fault)
        return
    if other := st.session_state[OTHER_MISTAKE.key]:
        st.header(NEARBY[other].name, anchor="failure")
        _both(NEARBY[other], other)
    st.header("All, by what you see" if text or other else "Or look it up by what you see", anchor="all")
    index.show(_choose, _choose_fault)


def _choose(key: str | None, form: int = 0) -> None:
    binding.step()
    _open(key, form)


def _choose_fault(key: str) -> None:
    binding.step()
    _open(None)
    fault.open_fault(key)


def _open(key: str | None, form: int = 0) -> None:
    fault.open_fault(None)
    binding.reset(OTHER_MISTAKE)
    binding.set_widget("wrong-tab", TABS["message"])
    st.session_state[FAILURE.key] = key
    binding.set_widget("wrong-numbers", "")
    binding.set_widget(FORM.key, form)
    st.session_state[LOOKED_UP] = None


# ---------------------------------------------------------------- which one is it?


def _search(again: bool = False) -> None:
    """Look up the text, unless its answer is on the page: a press of the button also ends typing, and comes second."""
    if again or st.session_state["wrong text"] != st.session_state[LOOKED_UP]:
        binding.step()
        _look_up()


def _look_up() -> None:
    """Look up the failure in the text; open it only if the match is clear. Code and a log go to their own tabs."""
    text = st.session_state["wrong text"] or ""
    kind = kind_of(text)
    found = find(text) if kind == "message" else []
    clear = found and found[0].sure
    _open(found[0].failure.key if clear else None, found[0].form if clear else 0)
    if kind != "message":
        binding.set_widget("wrong-tab", TABS[kind])
        {"code": from_code, "curve": from_a_curve}[kind].take(text)
    elif not found:
        st.session_state[OTHER_MISTAKE.key] = next((match.key for match in look_up(text) if match.key in NEARBY), None)
    st.session_state[LOOKED_UP] = text


def _question() -> str:
    field, go, answer = st.columns([6, 2, 6], gap="small")
    text: str = (
        field.text_area(
            "Message, or what you see",
            key="wrong text",
            height=68,
            max_chars=search_field.MAX_CHARACTERS,
            on_change=_search,
            placeholder="RuntimeError: grad can be implicitly …\nor: my loss is nan",
            persist_state="session",
            label_visibility="collapsed",
        )
        or ""
    )
    go.button("Find it", key="wrong find", type="primary", on_click=_search, width="stretch")
    if not text.strip():
        return ""
    kind = kind_of(text)
    found = find(text) if kind == "message" else []
    unclear = bool(found) and not found[0].sure
    chosen = _chosen(found) if unclear else None
    with answer:
        if kind != "message":
            st.markdown("This text is a piece of code." if kind == "code" else "This text is a log.")
            label = "Read it line by line" if kind == "code" else "See what it shows"
            button(label, "wrong elsewhere", _search, True, icon="arrow_forward")
        elif not found:
            _nothing(text)
        elif found[0].sure:
            name = escape_markdown(found[0].failure.name)
            st.success(f"This text is about: **{name}**{_by(found[0])}", icon=":material/check:")
            if found[0].line:
                st.markdown("The cause is in this line of your text:")
                st.code(found[0].line)
        elif chosen:
            with st.expander(f"{len(found) - 1} other cause{'s' if len(found) > 2 else ''}"):
                _causes(found, chosen)
        if found:
            st.caption(
                "To be certain, run your PyTorch script with `python -m lab.watch SCRIPT.py` in the lab's folder: it "
                "names the line if it sees the failure happen."
            )
        st.caption("A link to this page does not contain the text, and a reload forgets it.")
    if unclear and not chosen:
        asks = "**Several causes fit this text.** In your code, is there ... *(press one to run its program)*"
        st.markdown(asks if found[0].asks else "**Not clear from this text.** It may be:")
        _causes(found, None)
        if found[0].note:
            st.markdown(f":small[{with_code(found[0].note)}]")
    return text


def _chosen(found: list[Match]) -> Match | None:
    """Return the cause whose program is on the page, or None."""
    shown = (st.session_state[FAILURE.key], st.session_state[FORM.key])
    return next((match for match in found if (match.failure.key, match.form) == shown), None)


def _causes(found: list[Match], chosen: Match | None) -> None:
    """Show what a text may be about, each as a button that opens its program."""
    columns = [column.container(gap="xsmall") for column in st.columns(2, gap="small")]
    for number, match in enumerate(found):
        key = match.failure.key
        column = columns[2 * number // len(found)]
        column.button(
            f"... {match.asks}?" if match.asks else match.failure.name,
            key=f"wrong cause {key} {match.form}",
            on_click=_choose,
            args=(key, match.form),
            icon=":material/check:" if match is chosen else ":material/play_arrow:",
            width="stretch",
        )
        if not match.asks:
            column.markdown(f":small[{with_code(match.failure.symptom)}{_by(match)}]")


def _by(match: Match) -> str:
    """Say by which words the failure was found."""
    return f" Found by: *{escape_markdown(', '.join(match.by))}*." if match.by else ""


def _nothing(text: str) -> None:
    if other := st.session_state[OTHER_MISTAKE.key]:
        sure = memoize("wrong nearby", text, lambda: any(match.sure for match in look_up(text)))
        verb = "is" if sure else "may be"
        st.success(f"This text {verb} about: **{NEARBY[other].name}**", icon=":material/check:")
        return
    st.info("No match. Four checks that find most failures:", icon=":material/help:")
    st.markdown("\n".join(f"{number}. {step}" for number, step in enumerate(CHECK_LIST, start=1)))


# ---------------------------------------------------------------- one failure


def _failure(failure: Failure) -> None:
    about, own = st.columns([4, 1], gap="medium")
    with about.container(gap="xsmall"):
        st.header(f"{failure.number} {failure.name}", anchor="failure")
        st.markdown(f"**{with_code(failure.symptom)}**")
        if failure.forms:
            failure = failure.in_form(_form(failure))
    with own:
        numbers = _numbers(failure)
    _both(failure, failure.key, numbers)
    _pytorch(failure, numbers)
    _elsewhere(failure)


def _both(known: Demonstration, key: str, numbers: Numbers | None = None) -> None:
    """Show the program that fails and the one with the fix, both run now, with their results."""
    if known.broken is NO_PROGRAM:
        st.markdown(f"**Why.** {with_code(known.meaning)}\n\n**What to do.** {with_code(known.fix)}")
        return
    cause, cure = run(known.broken, numbers), run(known.fixed, numbers)
    left, right = st.columns(2, gap="large")
    with left.container(gap="xsmall"):
        st.markdown("**✗ The cause**, run now")
        st.code(cause.code, wrap_lines=True)
        if cause.error:
            st.error(with_code(cause.error), icon=":material/block:")
        else:
            silent = known.silent or "With these numbers there is no error."
            st.warning(with_code(silent), icon=":material/volume_off:")
    with right.container(gap="xsmall"):
        st.markdown("**✓ The fix**, run now")
        st.code(cure.code, wrap_lines=True)
        if cure.error:
            st.error(with_code(cure.error), icon=":material/block:")
        st.markdown(f"**Why.** {with_code(known.meaning)}")
    show_outcomes(key, cause, cure)
    st.markdown(f"**What to do.** {with_code(known.fix)}")


def _form(failure: Failure) -> int:
    """Let the learner choose a form of the failure, and return its number."""
    if st.session_state[FORM.key] >= len(failure.forms):
        binding.reset(FORM)  # the address was for another failure
    forms = dict(enumerate(failure.forms))
    return switch(
        "It comes in several forms", forms, FORM.key, on_change=binding.step, bare=True, persist_state="session"
    )


def _numbers(failure: Failure) -> Numbers:
    """Ask for the learner's own numbers; return the default numbers if there are none or they do not fit."""
    text = st.text_input(
        f"Your own numbers: {failure.broken.own}",
        key="wrong-numbers",
        bind="query-params",
        max_chars=100,
        placeholder=format_numbers(failure.broken.numbers),
    )
    try:
        return read_numbers(failure, text or "")
    except ValueError as error:
        st.error(with_code(str(error)), icon=":material/edit:")
        return failure.broken.numbers


def _pytorch(failure: Failure, numbers: Numbers) -> None:
    st.header("In PyTorch", anchor="pytorch")
    code, answer = st.columns(2, gap="large")
    code.code(failure.pytorch_equivalent(numbers), wrap_lines=True)
    answer.markdown(f"It says: *{escape_markdown(failure.says)}*" if failure.says else "It has no message for this.")
    answer.caption("As of PyTorch 2.13.")


def _elsewhere(failure: Failure) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.header("Try it", anchor="try")
        for place in failure.places:
            known = next(known for known in PAGES if known.path == place.path)
            page.link_to(known.file, f"{known.title}: {place.does}", known.icon, place.query)
    with right:
        if failure.related:
            st.header("Often confused with", anchor="related")
            for key in failure.related:
                button(BY_KEY[key].name, f"wrong related {key}", _choose, key)
                st.markdown(f":small[{with_code(BY_KEY[key].symptom)}]")


main()
