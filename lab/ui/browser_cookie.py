"""Middleware that gives each browser a random key in a cookie, under which the server keeps the visitor's runs."""

import re
import secrets
from typing import TypeGuard

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "tensor_ops_lab_visit"
DAYS = 90


def is_key(value: object) -> TypeGuard[str]:
    """Return True for a key as `BrowserCookie` makes it: 32 hexadecimal digits."""
    return isinstance(value, str) and bool(re.fullmatch("[0-9a-f]{32}", value))


class BrowserCookie:
    """Sends the cookie with the first page that a browser requests; scripts cannot read it, nor other sites send it.

    Behind https the browser sends it back only there; a proxy says so in X-Forwarded-Proto.

    A component that sent a key from the browser's storage would make each first page run twice. If the visitor goes
    back at that moment, Streamlit gets lost.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_key(HTTPConnection(scope).cookies.get(COOKIE)):
            await self.app(scope, receive, send)
            return

        scheme = Headers(scope=scope).get("x-forwarded-proto", scope["scheme"])
        secure = scheme.partition(",")[0].strip().lower() == "https"  # of several proxies, the one next to the browser

        async def with_key(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    attributes = f"Max-Age={DAYS * 86400}; Path=/; HttpOnly; SameSite=Lax{'; Secure' * secure}"
                    headers.append("Set-Cookie", f"{COOKIE}={secrets.token_hex(16)}; {attributes}")
            await send(message)

        await self.app(scope, receive, with_key)
