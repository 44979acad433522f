"""For teachers: an assignment as one link, and what a class hands in."""

from functools import partial
from urllib.parse import urlencode, urlsplit

import streamlit as st

from lab.lessons import assignment_link
from lab.lessons.assignment import ITEMS
from lab.lessons.cards import CARDS
from lab.ui import binding, page, progress
from lab.ui.table import escape_markdown
from practice import COURSES
from practice.debug import PROGRAMS
from practice.questions import QUESTIONS, TOPICS

GROUPS: dict[str, dict[str, list[str]]] = {  # tab -> heading -> keys of ITEMS
    "Cards": {"Cards of the path": [card.key for card in CARDS]},
    "Tasks": {one.title: [one.progress_key(task.key) for task in one.tasks] for one in COURSES.values()},
    "Debug these": {"Programs": [one.progress_key(one.key) for one in PROGRAMS]},
    "Questions": {topic: [f"questions/{one.key}" for one in QUESTIONS if one.topic == topic] for topic in TOPICS},
    "Pages": {"To look around on": [key for key in ITEMS if key.startswith("pages/")]},
}
KEYS = {f"teach {tab} {heading}": keys for tab, groups in GROUPS.items() for heading, keys in groups.items()}

TICKED = binding.HeldValue("teach-items", (), assignment_link.read, assignment_link.written)


def main() -> None:
    with page.frame("for-teachers", TICKED) as arrived:
        session = st.session_state
        if arrived:
            for name, keys in KEYS.items():
                session[name] = [key for key in keys if key in session["teach-items"]]
        st.title("For teachers")
        st.markdown("Tick what your class should do, and send them the link. It opens as a list on their Start page.")
        left, right = st.columns([3, 2], gap="large")
        with left:
            _choose()
        with right:
            address = _link()
        _hand_in()
        page.closing(
            "Open your own list, do one thing on it, and see its tick.",
            "pages/start.py",
            "Start: where the list appears",
            address,
        )


# ---------------------------------------------------------------- the list, and its link


def _title(key: str, heading: str) -> str:
    """Return an item's title without what the heading above it says."""
    title = ITEMS[key].title
    return escape_markdown((title.partition(": ")[2] if "/" in key else title).removesuffix(f" ({heading})"))


def _choose() -> None:
    for tab, (name, groups) in zip(st.tabs([*GROUPS]), GROUPS.items(), strict=True):
        with tab:
            for heading, keys in groups.items():
                st.pills(
                    heading,
                    keys,
                    format_func=partial(_title, heading=heading),
                    selection_mode="multi",
                    key=f"teach {name} {heading}",
                    persist_state="session",
                )
    st.session_state["teach-items"] = tuple(key for name in KEYS for key in st.session_state[name])


def _link() -> dict[str, str]:
    """Show the link to the list of what is ticked; return its parameters."""
    name = st.text_input(
        "Name of the list",
        key="teach-title",
        bind="query-params",
        max_chars=progress.MAX_NAME,
        placeholder="Monday: gradients by hand",
    ).strip()
    ticked = st.session_state["teach-items"]
    if not ticked:
        st.info("Nothing is ticked yet.", icon=":material/checklist:")
        return {}
    address = {assignment_link.ITEMS: assignment_link.written(ticked) or ""}
    if name:
        address[assignment_link.NAME] = name
    things = "1 thing to do" if len(ticked) == 1 else f"{len(ticked)} things to do"
    st.markdown(f"**The link**: {things}.")
    link = f"{_root()}?{urlencode(address)}"
    st.code(link, language=None, wrap_lines=True)
    if urlsplit(_root()).hostname in ("localhost", "127.0.0.1", "::1"):
        st.caption(
            "This link opens on this machine only: README, *For a class*, says how other machines reach the lab."
        )
    st.page_link(link, label="Open it as your class will", icon=":material/open_in_new:")
    return address


def _root() -> str:
    """Return the lab's address, as the teacher has opened it."""
    here = urlsplit(st.context.url or "http://localhost:8501/")
    return f"{here.scheme}://{here.netloc}{here.path.removesuffix('for-teachers').rstrip('/')}/"


# ---------------------------------------------------------------- what a class hands in


def _hand_in() -> None:
    st.header("What a class hands in", anchor=False)
    st.markdown(
        "*Save to a file*, on Start, gives each student a file with their name, their code, and what they did and "
        "when. Put the files into one folder; this command makes a table of them:"
    )
    st.code("python -m lab.practice summary FOLDER --csv class.csv --set 'THE LINK'", language=None, wrap_lines=True)
    st.markdown(
        "The code is checked again: the table shows what passes now, and below it the task, the check and the mistake "
        "at which most students stop. Damaged and duplicate files are listed. Students who work in their "
        "own editor hand in their folder or their `.py` file. Cards and questions come from the file alone, "
        "which anybody can edit."
    )


main()
