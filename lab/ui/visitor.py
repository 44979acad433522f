"""Gives each browser a key of its own, in a cookie: what is kept for a visitor goes by it."""

import secrets
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "tensor_ops_lab_visit"
DAYS = 90


class Visitor:
    """The first page that a browser asks for brings the key. No script can read it, and no other site's page sends it.

    A component that told the key from the browser's own store would have the page computed anew just after it has
    come; where the visitor goes back at that moment, Streamlit loses the way.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or COOKIE in _cookies(Headers(scope=scope)):
            await self.app(scope, receive, send)
            return

        async def with_key(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    kept = f"Max-Age={DAYS * 86400}; Path=/; HttpOnly; SameSite=Lax"
                    headers.append("Set-Cookie", f"{COOKIE}={secrets.token_hex(16)}; {kept}")
            await send(message)

        await self.app(scope, receive, with_key)


def _cookies(headers: Headers) -> SimpleCookie:
    try:
        return SimpleCookie(headers.get("cookie", ""))
    except CookieError:  # another program's on this host
        return SimpleCookie()
