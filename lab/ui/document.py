"""The layers of the server, and the script that a page gets with its document, before Streamlit's own scripts."""

from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lab.ui.same_origin import SameOrigin

NAVIGATION = Path(__file__).parents[2] / "static" / "page" / "navigation.js"
AS_IT_IS = (b"accept-encoding", b"if-none-match", b"if-modified-since")  # without them the answer is a plain document


class WithNavigation:
    """The layer that puts `NAVIGATION` into the document of a page.

    A page would load it too late: Streamlit may write the address before the page is drawn.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._head = f'<head><script type="module">{NAVIGATION.read_text("utf-8")}\nfollow();</script>'.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "text/html" not in Headers(raw=scope.get("headers", [])).get("accept", ""):
            await self.app(scope, receive, send)
            return
        is_page = False

        async def with_script(message: Message) -> None:
            nonlocal is_page
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_page = headers.get("content-type", "").startswith("text/html")
                is_page = is_page and "content-disposition" not in headers  # else it is a file to keep
                if is_page:
                    del headers["content-length"], headers["etag"], headers["last-modified"]
            elif is_page:
                message["body"] = message["body"].replace(b"<head>", self._head, 1)
            await send(message)

        asked = [header for header in scope["headers"] if header[0] not in AS_IT_IS]
        await self.app({**scope, "headers": asked}, receive, with_script)


LAYERS = [Middleware(SameOrigin), Middleware(WithNavigation)]
