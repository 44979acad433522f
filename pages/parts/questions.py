"""Questions: one at a time, each with the place in the lab that proves its answer."""

import streamlit as st

from lab.lessons.pages import BY_FILE
from lab.practice.questions import BY_KEY, MAX_LENGTH, Judged, count_repeats, judge, lines, next_question, outcome
from lab.ui import binding, page, progress
from lab.ui.table import escape_markdown, with_code
from lab.ui.widgets import button, pick, row
from practice.questions import QUESTIONS, TOPICS, ChoiceQuestion, Question

EVERY = "Every topic"
DONE = "done"  # value in place of a question's key when all are answered
WIDGET = "questions widget"


TOPIC = binding.choice("build-topic", EVERY, *TOPICS)
SEED = binding.whole("build-seed", 0, 0, 999)
KEY = binding.choice("build-question", QUESTIONS[0].key, *BY_KEY, DONE)
ANSWER = binding.HeldValue("build-answer", "", lambda text: text[:MAX_LENGTH])
CHECKED = binding.flag("build-checked")
OF_ONE_QUESTION = (ANSWER, CHECKED)
HELD = (TOPIC, SEED, KEY, *OF_ONE_QUESTION)


def arrive() -> None:
    """Ask a question of the topic in the address, which may name a topic alone."""
    st.session_state.setdefault("questions history", ())  # (question, right or not) of each answer in this visit
    if st.session_state[KEY.key] not in (*_keys(), DONE):
        _ask_next()


def show() -> None:
    """Draw the tab."""
    _ask()
    page.closing(
        "Answer one question wrong on purpose, and see what the lab says about your mistake.",
        "pages/graph_lab.py",
        "The Graph lab: any expression of your own, message by message",
    )


def _keys() -> list[str]:
    topic = st.session_state[TOPIC.key]
    return [question.key for question in QUESTIONS if topic in (EVERY, question.topic)]


def _next() -> None:
    binding.step()
    _ask_next()


def _ask_next() -> None:
    session = st.session_state
    binding.reset(*OF_ONE_QUESTION)
    session[KEY.key] = next_question(_keys(), session[SEED.key], session["questions history"]) or DONE


def _begin_again() -> None:
    session = st.session_state
    session[SEED.key], session["questions history"] = (session[SEED.key] + 1) % 1000, ()
    _next()


# ---------------------------------------------------------------- one question


def _ask() -> None:
    session = st.session_state
    _choose()
    if session[KEY.key] == DONE:
        st.success("You have answered all of these, and the wrong ones came back.", icon=":material/check:")
        return
    question = BY_KEY[session[KEY.key]]
    st.header(escape_markdown(question.text), anchor=False)
    left, right = st.columns(2, gap="large")
    with left:
        if code := lines(question):
            st.code(code, wrap_lines=True)
        judged = _answer(question)
    with right:
        if judged is not None:
            _feedback(question, judged)


def _choose() -> None:
    """Draw the choice of a topic, and show the progress with it."""
    session = st.session_state
    with row(gap="small"):
        pick("Topic", [EVERY, *TOPICS], TOPIC.key, on_change=_next, width=220, bare=True, persist_state="session")
        keys, history = _keys(), session["questions history"]
        back = count_repeats(keys, session[SEED.key], history)
        done = len({key for key, _ in history} & {*keys}) - back
        st.markdown(f"**{done} of {len(keys)}** done" + (f", {back} to come back." if back else "."), width="content")
        button("Begin again, shuffled", "questions again", _begin_again, icon="shuffle", type="tertiary")


def _answer(question: Question) -> Judged | None:
    """Ask for the answer, or show it if it has been checked; return its judgement, or None before the check."""
    session = st.session_state
    refused = ""
    if session[CHECKED.key]:
        try:
            judged = judge(question, session[ANSWER.key])
        except ValueError as error:  # a link with an invalid answer
            refused, session[CHECKED.key] = str(error), False
        else:
            _given(question, session[ANSWER.key])
            return judged

    def take() -> None:
        given = session[WIDGET]
        session[ANSWER.key] = "" if given is None else str(given)

    def check() -> None:
        take()
        try:
            right = judge(question, session[ANSWER.key]).right
        except ValueError as error:
            session["questions refused"] = str(error)
            return
        binding.step()
        session[CHECKED.key] = True
        session["questions history"] = (*session["questions history"], (question.key, right))
        if right:
            progress.passed(f"questions/{question.key}")

    answer = session[ANSWER.key]
    if isinstance(question, ChoiceQuestion):
        session[WIDGET] = int(answer) if answer.isdecimal() and int(answer) < len(question.options) else None
        options = [escape_markdown(option.text) for option in question.options]
        st.radio(
            "Your answer",
            range(len(options)),
            format_func=options.__getitem__,
            index=None,
            key=WIDGET,
            on_change=take,
            label_visibility="collapsed",
        )
    else:
        session[WIDGET] = answer
        st.text_input("Your answer, a number", key=WIDGET, on_change=take, max_chars=MAX_LENGTH, width=240)
    button("Check", "questions check", check, icon="check", type="primary")
    if refused := session.pop("questions refused", refused):
        st.warning(refused, icon=":material/edit:")
    with st.expander("Hint", icon=":material/lightbulb:", key=f"hint {question.key}"):
        st.markdown(with_code(question.hint))
    return None


def _given(question: Question, answer: str) -> None:
    """Show the answer after its check."""
    if not isinstance(question, ChoiceQuestion):
        st.markdown(f"Your answer: **{escape_markdown(answer)}**")
        return
    for at, option in enumerate(question.options):
        yours = " (your answer)" if at == int(answer) else ""
        icon = ":material/close:" if option.why_not else ":material/check:"
        text = f"{escape_markdown(option.text)}{yours}"
        st.markdown(f"{icon} {text}" if option.why_not else f"{icon} **{text}**")


def _feedback(question: Question, judged: Judged) -> None:
    """Say whether the answer was right, why, and where the lab proves it."""
    because = escape_markdown(question.because)
    if judged.right:
        st.success(f"**Right.** {with_code(judged.comment)} {because}", icon=":material/check:")
    else:
        st.warning(f"**No.** {with_code(judged.comment)} {because}", icon=":material/close:")
    if isinstance(question, ChoiceQuestion) and (came := outcome(question)):
        st.markdown("These lines, run just now:")
        st.code(came, language=None, wrap_lines=True)
    place = question.place
    with row():
        button("Next question", "questions next", _next, icon="arrow_forward", type="primary")
        page.link_to(place.file, f"See it happen: {BY_FILE[place.file].title}", "visibility", dict(place.query))
    st.caption(escape_markdown(place.look))
