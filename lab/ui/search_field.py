"""The search in the bar of every page: its answers, and the way to them. Its window is in static/search/."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from lab.lessons.pages import BY_PATH
from lab.ui import state
from lab.ui.assets import component, keep_value

if TYPE_CHECKING:
    from lab.lessons.search import SearchHit

WENT_WRONG = "pages/what_went_wrong.py"
ASKED = "search asked"  # a text that this page is to look up
LONGEST = 100_000  # characters
_component = component("search", "search/search.js", style="search/search.css")


async def _answer(request: Request) -> Response:
    """The best answers to a question, which is the body, as a list. No page is computed for it."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > 4 * LONGEST:
            return Response(status_code=413)
    hits = await run_in_threadpool(_hits, body.decode("utf-8", "replace"))
    return JSONResponse([vars(hit) | {"query": dict(hit.query)} for hit in hits])


def _hits(question: str) -> list[SearchHit]:
    from lab.failures.text_kind import kind_of
    from lab.lessons.search import search  # no page waits for what only questions need

    return search(question) if kind_of(question) == "message" else []  # code and a curve are looked up as a whole


ROUTE = Route("/{above:path}lab-search", _answer, methods=["POST"])  # below whatever path the lab stands


def show() -> None:
    """Let the visitor search from this page; once on a page, before anything that takes time. A page that is shown
    within another site has no bar at the top for it."""
    if st.context.is_embedded:
        return

    session = st.session_state

    def choose() -> None:
        session["search chosen"] = session["search"].get("chosen")

    said = _component(key="search", on_asked_change=keep_value, on_chosen_change=choose)
    match session.pop("search chosen", None):
        case {"path": str(path), "query": dict(query), "here": str(here)} if path in BY_PATH:
            state.leave(BY_PATH[path].file, here, query)
    match said.get("asked"):
        case {"text": str(text), "here": str(here)}:
            session[ASKED] = text[:LONGEST]
            state.leave(WENT_WRONG, here)
            del session[ASKED]  # there is no other page


def asked(page: str) -> str:
    """What has been asked on another page, or here, once; "" for nothing. For the page that answers, before it reads
    its address: that is still the one of the page where it was asked."""
    if ASKED not in st.session_state:
        return ""
    if st.session_state.get("page") == page:
        state.step()
    state.begin(page)
    return str(st.session_state.pop(ASKED))
