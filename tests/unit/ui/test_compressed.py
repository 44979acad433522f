"""Scripts and styles that are compressed once and kept."""

import asyncio
import gzip

from lab.ui.compressed import CompressedOnce

FILE = b"export const answer = 42;\n" * 50


class Served:
    """An app that sends a file; to a browser that leaves, only its head."""

    def __init__(self):
        self.whole = False

    async def __call__(self, scope, receive, send):
        headers = [(b"etag", b'"1"'), (b"content-type", b"text/javascript"), (b"content-length", b"%d" % len(FILE))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if self.whole:
            await send({"type": "http.response.body", "body": FILE})


def fetch(app):
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/static/a.js", "headers": [(b"accept-encoding", b"gzip")]}
    asyncio.run(app(scope, None, send))
    return sent


def test_a_file_of_which_only_the_head_has_come_is_not_kept():
    served = Served()
    app = CompressedOnce(served)
    assert fetch(app) == []
    served.whole = True
    for _ in range(2):
        _, body = fetch(app)
        assert gzip.decompress(body["body"]) == FILE
