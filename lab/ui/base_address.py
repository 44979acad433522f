"""Middleware that tells Streamlit's script in the browser the server's address."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lab.lessons.pages import BY_PATH

HEAD = b"<head>"
SCRIPT = b'<script>window.__streamlit = { BACKEND_BASE_URL: new URL(".", location.href).href }</script>'


class BaseAddress:
    """Middleware that writes the server's address into each page.

    Without it, the script first looks for the server below the page, at "/graph-lab/_stcore/health". It gets two
    404 answers, which delays the page by a round trip.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].rpartition("/")[2] not in BY_PATH:
            await self.app(scope, receive, send)
            return
        is_page = False

        async def with_script(message: Message) -> None:
            nonlocal is_page
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_page = message["status"] == 200 and headers["Content-Type"].startswith("text/html")
                if is_page:
                    headers["Content-Length"] = str(int(headers["Content-Length"]) + len(SCRIPT))
            elif is_page:
                message["body"] = message["body"].replace(HEAD, HEAD + SCRIPT, 1)
            await send(message)

        # The script can be inserted only into a complete, uncompressed answer.
        headers = [(name, value) for name, value in scope["headers"] if name not in (b"accept-encoding", b"range")]
        await self.app({**scope, "headers": headers}, receive, with_script)
