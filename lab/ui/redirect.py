"""Middleware that redirects a page's former address to its current one."""

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from lab.lessons.old_addresses import new_address


class Redirect:
    """Redirects former addresses, relative to the one asked for because a proxy may put the server below any path."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            asked = scope["path"].rpartition("/")[2], scope["query_string"].decode("latin-1")
            path, query = new_address(*asked)
            if (path, query) != asked:
                await RedirectResponse(f"{path}?{query}" if query else path)(scope, receive, send)
                return
        await self.app(scope, receive, send)
