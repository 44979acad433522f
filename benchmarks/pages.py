"""How much work does each page cause on the server beyond its widgets? Measured over Streamlit's websocket protocol.

    python benchmarks/pages.py [--rounds 5] [ADDRESS...]

A visitor opens each page, and also a bare page with the same number of elements of each kind, options and
containers, which computes nothing. Then both are rerun many times, in turns, as by a button that changes nothing.

Work is the server's mean processor time for one rerun; the limit is 1.3 times the bare page's. Wait is the median time
from sending the message to the message that the run has ended. Both are in milliseconds. There is no limit for waits:
Streamlit sends its messages every five milliseconds, so a little more work can mean the same wait or twice the wait.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import psutil

from lab.lessons.pages import PAGES
from tests.support import start_app
from tests.visitors import Visitor, knock

MAX_RATIO = 1.3
RUNS = 10  # reruns measured together


class Side:
    """A visitor of a page or of its bare page, whose runs are timed."""

    def __init__(self, visitor, server):
        self.visitor = visitor
        self.process = psutil.Process(server.pid)
        self.busy, self.waits = [], []

    async def run(self, times):
        """Measure this many reruns together: the processor's clock ticks too slowly for one."""
        before = self.process.cpu_times()
        for _ in range(times):
            start = time.perf_counter()
            await self.visitor.run()
            self.waits.append(1000 * (time.perf_counter() - start))
        after = self.process.cpu_times()
        self.busy.append(1000 * (after.user + after.system - before.user - before.system) / times)


def describe(element):
    """Return the kind of an element, and the texts of its options."""
    kind = element.WhichOneof("type")
    options = getattr(getattr(element, kind), "options", ())
    return kind, [option if isinstance(option, str) else option.content for option in options]


async def compare(app, bare_app, path, rounds):
    """Open the page and its bare page, measure both for this many rounds, and return them as Sides."""
    async with knock(app[0]) as one, knock(bare_app[0]) as other:
        page = Visitor(one, path)
        await page.run()
        await page.run()  # by now everything that a visit computes only once has been computed
        with tempfile.NamedTemporaryFile("w", suffix=".json") as plan:
            json.dump([*map(describe, page.elements.values()), *[("block", [])] * len(page.blocks)], plan)
            plan.flush()
            bare = Visitor(other, f"?{urlencode({'plan': plan.name})}")
            await bare.run()
        sides = Side(page, app[1]), Side(bare, bare_app[1])
        for _ in range(rounds):
            for side in sides:
                await side.run(RUNS)
    return sides


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", default=[page.path for page in PAGES], help="addresses (default: all)")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    servers = []
    try:
        servers.extend(map(start_app, ("app.py", "benchmarks/bare_page.py")))
        print(f"{'':16}{'work of':>6} {'bare':>6}  {'wait of':>7} {'bare':>6}  {'ratio of work'}")
        for path in args.paths:
            page, bare = asyncio.run(compare(*servers, path, args.rounds))
            work, bare_work = (statistics.mean(side.busy) for side in (page, bare))
            waits = [statistics.median(side.waits) for side in (page, bare)]
            met = "" if work <= MAX_RATIO * bare_work else "  above the limit"
            line = f"{work:6.1f} {bare_work:6.1f}  {waits[0]:7.1f} {waits[1]:6.1f}  {work / bare_work:6.2f}{met}"
            print(f"{path or 'start':<16}{line}", flush=True)
    finally:
        for _, server in servers:
            server.kill()


if __name__ == "__main__":
    main()
