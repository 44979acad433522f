"""The search field of every page: it answers questions and opens the page of a result (window: static/search/)."""

from __future__ import annotations

from typing import Any

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from lab.lessons.pages import BY_PATH

ASKED = "search asked"  # session key of a question that the page *What went wrong?* is to look up
MAX_CHARACTERS = 100_000  # of a question


async def _answer(request: Request) -> Response:
    """Answer a question, the body of the request, with a JSON list of the best hits; no page has to run for it."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > 4 * MAX_CHARACTERS:
            return Response(status_code=413)
    return JSONResponse(await run_in_threadpool(_hits, body.decode("utf-8", "replace")))


def _hits(question: str) -> list[dict[str, Any]]:
    from lab.lessons.search import search  # imported here because pages do not need it

    return [vars(hit) | {"query": BY_PATH[hit.path].parameters(hit.query)} for hit in search(question)]


ROUTE = Route("/{above:path}lab-search", _answer, methods=["POST"])  # below any path that the lab is served at


def take(asked: Any) -> None:
    """Run the page again with a question that the browser has just asked it, if there is one.

    A callback would miss the first question after a restart of the server: the new session does not know it yet.
    """
    match asked:
        case {"text": str(text)}:
            st.session_state[ASKED] = text[:MAX_CHARACTERS]
            st.rerun()
