"""Gives each browser a key of its own, in a cookie: what is kept for a visitor goes by it."""

import re
import secrets
from typing import TypeGuard

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "tensor_ops_lab_visit"
DAYS = 90


def is_key(value: object) -> TypeGuard[str]:
    """True for what `Visitor` gives out: 32 hexadecimal digits."""
    return isinstance(value, str) and bool(re.fullmatch("[0-9a-f]{32}", value))


class Visitor:
    """The first page that a browser asks for brings the key. No script can read it, and no other site's page sends it.

    A component that told the key from the browser's own store would have the page computed anew just after it has
    come; where the visitor goes back at that moment, Streamlit loses the way.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_key(HTTPConnection(scope).cookies.get(COOKIE)):
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
