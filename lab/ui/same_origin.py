"""Keep other sites out, before Streamlit has seen a request: no websocket, foreign name, frame or odd path."""

import errno
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from lab.config import detect_hosted

FRAMES = {"X-Frame-Options": "SAMEORIGIN", "Content-Security-Policy": "frame-ancestors 'self'"}  # old browsers, and new
FOREIGN_HOST = "This server does not answer under that name. Its owner can add the name to allowedHosts."
NO_SUCH_FILE = "There is no such file."


class SameOrigin:
    """The outermost layer of the server.

    Streamlit, too, refuses a websocket that another site opens. But first it asks outside hosts under which address
    this machine is known, and every visitor waits meanwhile. No setting of Streamlit's prevents it.

    A proxy in front of the server must pass on the Host that the browser asked for.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        detect_hosted((scope.get("server") or (None,))[0])  # a server other than Streamlit's may listen elsewhere
        if scope["type"] == "websocket":
            refused = _foreign_origin(headers) or not is_host_allowed(headers.get("host"))
            await (WebSocketClose(1008) if refused else self.app)(scope, receive, send)  # 403, as it is not accepted
        elif not is_host_allowed(headers.get("host")):
            await PlainTextResponse(FOREIGN_HOST, 403)(scope, receive, _unframed(send))
        else:
            await _without_odd_paths(self.app, scope, receive, _unframed(send))


def _foreign_origin(headers: Headers) -> bool:
    """Has a page of another server asked? A program that is no browser names no origin."""
    origin = headers.get("origin")
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc != headers.get("host")
    except ValueError:  # no address at all, such as http://[
        return True


def _unframed(send: Send) -> Send:
    """`send`, with the headers that forbid other sites to show the answer in a frame of theirs."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(FRAMES)
        await send(message)

    return with_headers


async def _without_odd_paths(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 404 for a path that is longer than the file system allows, where Streamlit fails with a traceback."""
    try:
        await app(scope, receive, send)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        await PlainTextResponse(NO_SUCH_FILE, 404)(scope, receive, send)
