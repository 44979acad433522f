"""What does each page ask of the server beyond its widgets? Measured over Streamlit's websocket protocol.

    python benchmarks/pages.py [--rounds 30] [PATH...]

Each page is opened by a visitor, and beside it a twin: a page of as many elements of each kind, which computes nothing.
Then both are computed again and again, in turns, as for a button whose press changes nothing. A time is from sending
the message to the message that the run has ended, the median in milliseconds; the bar is 1.3 times the twin.
"""

import argparse
import asyncio
import collections
import statistics
import sys
import time
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lab.lessons.pages import PAGES
from tests.support import start_app
from tests.visitors import Visitor, knock

BAR = 1.3


async def timed(visitor):
    start = time.perf_counter()
    await visitor.run()
    return 1000 * (time.perf_counter() - start)


async def compare(app, twin, path, rounds):
    """The medians of both."""
    async with knock(app) as one, knock(twin) as other:
        page = Visitor(one, path)
        await page.run()
        await page.run()  # what is computed once in a visit has been computed
        kinds = collections.Counter(element.WhichOneof("type") for element in page.elements.values())
        empty = Visitor(other, f"?{urlencode(kinds)}")
        await empty.run()
        times = [(await timed(page), await timed(empty)) for _ in range(rounds)]
    return [statistics.median(each) for each in zip(*times, strict=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", default=[page.path for page in PAGES], help="addresses; all pages else")
    parser.add_argument("--rounds", type=int, default=30)
    args = parser.parse_args()
    servers = []
    try:
        servers.extend(map(start_app, ("app.py", "benchmarks/twin_page.py")))
        (app, _), (twin, _) = servers
        print(f"{'page':<16} {'page':>8} {'twin':>8} {'ratio':>7}")
        for path in args.paths:
            page, empty = asyncio.run(compare(app, twin, path, args.rounds))
            ratio = page / empty
            met = "" if ratio <= BAR else "  above the bar"
            print(f"{path or 'start':<16} {page:8.1f} {empty:8.1f} {ratio:7.2f}{met}", flush=True)
    finally:
        for _, server in servers:
            server.kill()


if __name__ == "__main__":
    main()
