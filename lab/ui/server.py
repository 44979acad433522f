"""The layers of the server: a request passes them before Streamlit sees it, and its answer passes them afterwards."""

import errno
import json
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from lab.config import ROOT, detect_hosted
from lab.lessons.pages import PAGES, WINDOW

FRAMES = {"X-Frame-Options": "SAMEORIGIN", "Content-Security-Policy": "frame-ancestors 'self'"}  # old browsers, and new
ASKS_ONLY = ("GET", "HEAD", "OPTIONS")  # methods of requests that change nothing; another site may link to a page
NAVIGATION = ROOT / "static" / "page" / "navigation.js"
STYLES = [ROOT / "assets" / name for name in ("traps.css", "app.css")]
AS_IT_IS = (b"accept-encoding", b"if-none-match", b"if-modified-since")  # without them the answer is a plain document


class SameOrigin:
    """The outermost layer, which refuses requests from other sites and forbids them to show the lab in a frame.

    Streamlit also refuses a websocket that another site opens. But first it asks hosts on the internet for this
    machine's address, which makes every visitor wait and which no setting prevents.

    A proxy in front of the server must pass on the Host header that the browser sent.
    """

    def __init__(self, app: ASGIApp) -> None:
        names = st.get_option("server.allowedHosts") or ["*"]
        self.app = TrustedHostMiddleware(app, names, www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def unframed(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(FRAMES)
            await send(message)

        app: ASGIApp = self.app
        if scope["type"] in ("http", "websocket"):
            detect_hosted((scope.get("server") or (None,))[0])  # the app may run in another server than Streamlit's
            if scope.get("method") not in ASKS_ONLY and _foreign_origin(Headers(scope=scope)):
                refusal = PlainTextResponse("This server answers its own pages only.", 403)
                app = WebSocketClose(1008) if scope["type"] == "websocket" else refusal  # the browser gets a 403
        try:
            await app(scope, receive, unframed)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:  # Streamlit has looked for a file with such a name
                raise
            await PlainTextResponse("There is no such file.", 404)(scope, receive, unframed)


def _foreign_origin(headers: Headers) -> bool:
    """Return whether a page of another server sent the request; programs other than browsers send no origin."""
    origin = headers.get("origin")
    try:
        return origin is not None and urlsplit(origin).netloc != headers.get("host")
    except ValueError:  # not an address, such as http://[
        return True


class InDocument:
    """The layer that puts `NAVIGATION` and `STYLES` into the document of a page.

    A page would load the script too late: Streamlit may write the address before the page is drawn. And it would send
    the styles again in each run. They stand between Streamlit's, which are in the head, and a page's own.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        titles = json.dumps({page.path: WINDOW.format(page.title) for page in PAGES})
        script = f"{NAVIGATION.read_text('utf-8')}\nfollow({titles});"
        self._head = f'<head><script type="module">{script}</script>'.encode()
        styles = "".join(file.read_text("utf-8") for file in STYLES)
        self._body = f"<body><style>{styles}</style>".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "text/html" not in Headers(raw=scope.get("headers", [])).get("accept", ""):
            await self.app(scope, receive, send)
            return
        is_page = False

        async def completed(message: Message) -> None:
            nonlocal is_page
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_page = headers.get("content-type", "").startswith("text/html")
                is_page = is_page and "content-disposition" not in headers  # else it is a file to keep
                if is_page:
                    del headers["content-length"], headers["etag"], headers["last-modified"]
            elif is_page:
                message["body"] = message["body"].replace(b"<head>", self._head, 1).replace(b"<body>", self._body, 1)
            await send(message)

        asked = [header for header in scope["headers"] if header[0] not in AS_IT_IS]
        await self.app({**scope, "headers": asked}, receive, completed)


LAYERS = [Middleware(SameOrigin), Middleware(InDocument)]
