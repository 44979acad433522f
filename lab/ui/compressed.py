"""Scripts and styles, compressed once: a first visit loads half as much."""

import asyncio
import gzip

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class CompressedOnce:
    """Compresses each script and style when it is first asked for, and keeps that until the file changes.

    Streamlit sends its own as they are and compresses ours for each visitor anew, the largest for a twentieth of a
    second, in which all others wait. There are a few hundred such files, some 3 MB in all.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._kept: dict[str, tuple[str, bytes]] = {}  # path -> the file's entity tag, and the file compressed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _wants_compressed_file(scope):
            await self.app(scope, receive, send)
            return
        messages: list[Message] = []

        async def collect(message: Message) -> None:
            messages.append(message)

        plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        await self.app({**scope, "headers": plain}, receive, collect)
        if not messages:  # the browser has left meanwhile
            return
        headers = MutableHeaders(raw=messages[0]["headers"])
        if messages[0]["status"] == 200 and headers.get("etag") == Headers(scope=scope).get("if-none-match", ""):
            messages[0]["status"] = 304  # the browser has it already; for our own files Streamlit does not look
            del headers["Content-Length"]
            messages[1:] = [{"type": "http.response.body", "body": b""}]
        elif messages[0]["status"] == 200 and "etag" in headers and not headers["content-type"].startswith("text/html"):
            tag, body = self._kept.get(scope["path"], ("", b""))
            if tag != headers["etag"]:
                file = b"".join(message.get("body", b"") for message in messages)
                if len(file) != int(headers["content-length"]):  # the browser has left meanwhile
                    return
                body = await asyncio.to_thread(gzip.compress, file)
                self._kept[scope["path"]] = headers["etag"], body
            headers["Content-Encoding"], headers["Content-Length"] = "gzip", str(len(body))
            headers["Vary"] = "Accept-Encoding"
            messages[1:] = [{"type": "http.response.body", "body": body}]
        # else it is no such file: an error, or the start page, which answers for names that there are not
        for message in messages:
            await send(message)


def _wants_compressed_file(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].endswith((".js", ".css")):
        return False
    headers = Headers(scope=scope)
    whole = "gzip" in headers.get("accept-encoding", "") and "range" not in headers
    return whole and scope["path"].startswith(("/static/", "/app/static/"))
