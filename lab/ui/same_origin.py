"""Middleware that refuses requests from other sites, under foreign host names or with odd paths.

It also forbids other sites to show the lab in a frame.
"""

import errno
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from lab.config import detect_hosted

FRAMES = {"X-Frame-Options": "SAMEORIGIN", "Content-Security-Policy": "frame-ancestors 'self'"}  # old browsers, and new
ASKS_ONLY = ("GET", "HEAD", "OPTIONS")  # methods of requests that change nothing; another site may link to a page
FOREIGN_SITE = "This server answers its own pages only."
NO_SUCH_FILE = "There is no such file."


class SameOrigin:
    """The outermost layer of the server, which checks each request before Streamlit sees it.

    Streamlit also refuses a websocket that another site opens. But first it asks hosts on the internet for this
    machine's address, which makes every visitor wait and which no setting prevents.

    A proxy in front of the server must pass on the Host header that the browser sent.
    """

    def __init__(self, app: ASGIApp) -> None:
        names = st.get_option("server.allowedHosts") or ["*"]
        self.app = TrustedHostMiddleware(app, names, www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        detect_hosted((scope.get("server") or (None,))[0])  # the app may run in another server than Streamlit's
        if scope["type"] == "websocket":
            refused = _foreign_origin(headers)
            await (WebSocketClose(1008) if refused else self.app)(scope, receive, send)  # the browser gets a 403
        elif scope["method"] not in ASKS_ONLY and _foreign_origin(headers):
            await PlainTextResponse(FOREIGN_SITE, 403)(scope, receive, _unframed(send))
        else:
            await _without_odd_paths(self.app, scope, receive, _unframed(send))


def _foreign_origin(headers: Headers) -> bool:
    """Return whether a page of another server sent the request; programs other than browsers send no origin."""
    origin = headers.get("origin")
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc != headers.get("host")
    except ValueError:  # not an address, such as http://[
        return True


def _unframed(send: Send) -> Send:
    """Return `send` with headers that forbid other sites to show the answer in a frame."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(FRAMES)
        await send(message)

    return with_headers


async def _without_odd_paths(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 404 to a path that is too long for the file system; Streamlit would fail with a traceback."""
    try:
        await app(scope, receive, send)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        await PlainTextResponse(NO_SUCH_FILE, 404)(scope, receive, send)
