"""Refuses a websocket that a page of another server opens, before Streamlit has seen it."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose


class SameOrigin:
    """What each request passes first. Streamlit refuses such a websocket, too; but before that it asks outside hosts
    under which address this machine is known, and every visitor waits meanwhile. No setting of Streamlit's prevents it.

    A proxy in front of the server must pass on the Host that the browser has asked for.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and _foreign(Headers(scope=scope)):
            await WebSocketClose(1008)(scope, receive, send)  # not accepted yet: the server answers 403
        else:
            await self.app(scope, receive, send)


def _foreign(headers: Headers) -> bool:
    """Has a page of another server asked? A program that is no browser names no origin."""
    origin = headers.get("origin")
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc != headers.get("host")
    except ValueError:  # no address at all, such as http://[
        return True
