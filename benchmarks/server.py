"""How many visitors can one server handle? Measured over Streamlit's websocket protocol, without browsers.

    python benchmarks/server.py [--visitors 10 30 60] [--seconds 10] [--page training-lab] [--core 1] [--checks 30]

For each number of visitors two servers are started, each in its own process and with the shipped configuration: the
app, and an empty page, which shows what Streamlit itself costs. After a first visit, which imports everything, the
visitors arrive all at once. Then each of them thinks, one second on average (exponentially distributed), acts, waits
for the answer and thinks again. For some time they move sliders: in the Graph lab those of the player, which run a
fragment of the page, elsewhere the first one of the page. For the same time they rerun the whole page, as a button
does. App and empty page take turns, so that a slow moment of the machine hits both.

A time is measured from sending the message to the message that the run has ended, in milliseconds; cpu is the server's
processor time for a run, also in milliseconds. Memory is the growth of the server's process since before the visitors
came, per visitor. Everything stays on 127.0.0.1. --core keeps the servers on that core and the visitors on the others.

--checks measures checks of learners' code instead: that many visitors check right code at the same moment. The server's
health is asked meanwhile, ten times a second, and as often before, when it has nothing to do. The exit code is 1 if an
answer takes longer than MAX_HEALTH, or if a visitor hears that right code is wrong.
"""

import argparse
import asyncio
import contextlib
import functools
import json
import math
import random
import statistics
import sys
import time
import urllib.request
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from streamlit.proto.WidgetStates_pb2 import WidgetState

from practice import COURSES
from tests.support import in_full, start_app
from tests.visitors import Visitor, knock

THINKING = 1.0  # seconds, on average
ROUNDS = 2
MIN_ASKING = 2.0  # seconds
HEALTH_PAUSE = 0.1  # seconds between two questions
MAX_HEALTH = 0.5  # seconds that the slowest answer about the server's health may take
CHECK_ID = "$$STREAMLIT_INTERNAL_KEY_{}__events"  # of a component: the widget that carries what is pressed in it
TIMEOUT = 180  # seconds for everything but the rounds


async def move_slider(visitor):
    """Rerun what moving a slider of the page reruns."""
    player = visitor.find("bidi_component", lambda component: component.component_name.endswith("player"))
    if player:
        shown = json.loads(player.bytes)
        if "live" in shown:
            values = dict(shown["values"])
            name = next(name for name, value in values.items() if isinstance(value, float | int))
            values[name] = round(random.uniform(-9, 9), 1)
            state = {"live": shown["live"]["id"], "sequence": shown["sequence"] + 1, "values": values}
            moved = WidgetState(id=player.id, json_value=json.dumps({"state": state}))
            await visitor.run(moved, fragment=visitor.fragment_of(player))
            return
    slider = visitor.find("slider")
    if not slider:
        raise LookupError(f"The page “{visitor.page}” has no slider to move: give another --page.")
    moved = WidgetState(id=slider.id)
    if slider.options:  # it chooses among texts
        moved.string_array_value.data.append(random.choice(slider.options))
    else:
        steps = int((slider.max - slider.min) / slider.step)
        moved.double_array_value.data.append(slider.min + slider.step * random.randint(0, steps))
    await visitor.run(moved, fragment=visitor.fragment_of(slider))


async def run_page(visitor):
    await visitor.run()


async def visit(act, seconds):
    """Think, act and think again for this many seconds; act at least once, so that every visit is timed."""
    end = time.monotonic() + seconds
    thinking = min(random.expovariate(1 / THINKING), seconds)
    while True:
        await asyncio.sleep(thinking)
        await act()
        thinking = random.expovariate(1 / THINKING)
        if time.monotonic() + thinking > end:
            return


class Runs:
    """Runs of one kind: the time of each, and the server's processor time for all of them, in milliseconds."""

    def __init__(self):
        self.times = []
        self.busy = 0.0

    async def time(self, run):
        start = time.perf_counter()
        await run
        self.times.append(1000 * (time.perf_counter() - start))

    def __str__(self):
        each = self.busy / len(self.times)
        return f"{statistics.median(self.times):6.0f} {percentile(self.times, 0.95):6.0f} {each:6.1f}"


class Site:
    """An app in its own server, and its visitors."""

    def __init__(self, script, page, cores):
        self.url, self.server = start_app(script)
        self.process = psutil.Process(self.server.pid)
        if cores:
            self.process.cpu_affinity(cores)
        self.page = page
        self.visitors = []
        self.runs = {"first": Runs(), move_slider: Runs(), run_page: Runs()}

    async def arrive(self, number, sockets):
        """Let visitors arrive all at once, after a first one who made the server import what the page needs."""

        async def enter():
            visitor = Visitor(await sockets.enter_async_context(knock(self.url)), self.page)
            self.visitors.append(visitor)
            await self.runs["first"].time(visitor.run())

        await Visitor(await sockets.enter_async_context(knock(self.url)), self.page).run()
        self.before = self.process.memory_info().rss
        with self.measured("first"):
            await asyncio.gather(*(enter() for _ in range(number)))

    async def act(self, action, seconds):
        """Let each visitor think, act and think again for this many seconds."""

        async def act_once(visitor):
            await self.runs[action].time(action(visitor))

        with self.measured(action):
            await asyncio.gather(*(visit(functools.partial(act_once, visitor), seconds) for visitor in self.visitors))

    @contextlib.contextmanager
    def measured(self, kind):
        before = self.process.cpu_times()
        yield
        after = self.process.cpu_times()
        self.runs[kind].busy += 1000 * (after.user + after.system - before.user - before.system)

    def grown(self):
        """Return the growth of the server's memory per visitor, in MB."""
        return (self.process.memory_info().rss - self.before) / 2**20 / len(self.visitors)


async def measure(number, args, cores):
    """Measure both sites with this number of visitors, and print a line for each."""
    sites = []
    try:
        for script, page in (("benchmarks/empty_page.py", ""), ("app.py", args.page)):
            sites.append(Site(script, page, cores))
        async with contextlib.AsyncExitStack() as sockets, asyncio.timeout(TIMEOUT + 4 * args.seconds):
            for site in sites:
                await site.arrive(number, sockets)
            for action in (move_slider, run_page) * ROUNDS:
                for site in sites:
                    await site.act(action, args.seconds / ROUNDS)
            for name, site in zip(("empty page", "app"), sites, strict=True):
                cells = "  ".join(map(str, site.runs.values()))
                print(f"{number:8} {name:10}  {cells}  {site.grown():10.2f}", flush=True)
    finally:
        for site in sites:
            site.server.kill()
            site.server.wait()


async def health(url, times):
    """Ask for the server's health again and again, and add the seconds of each answer to `times`."""
    while True:
        start = time.perf_counter()
        await asyncio.to_thread(lambda: urllib.request.urlopen(f"{url}/_stcore/health", timeout=TIMEOUT).read())
        times.append(time.perf_counter() - start)
        await asyncio.sleep(HEALTH_PAUSE)


def exercise_of(visitor):
    return visitor.find("bidi_component", lambda component: component.component_name.endswith("exercise"))


async def check_code(visitor):
    """Check the reference solution of the course on the page. Return the seconds it took, and the report as shown."""
    exercise = exercise_of(visitor)
    course = COURSES[json.loads(exercise.bytes)["key"]]
    asked = {"event": "check", "value": {"key": course.key, "text": course.reference, "seen": ""}}
    pressed = WidgetState(id=CHECK_ID.format(exercise.id), json_trigger_value=json.dumps([asked]))
    start = time.perf_counter()
    await visitor.run(pressed)
    return time.perf_counter() - start, json.loads(exercise_of(visitor).bytes)["result"]


async def measure_checks(number, cores):
    """Let this many visitors check right code at once, print what it takes, and return whether every limit was met."""
    site = Site("app.py", in_full("build-it-yourself?course=scalars&task=train"), cores)
    quiet, busy = [], []
    try:
        async with contextlib.AsyncExitStack() as sockets, asyncio.timeout(2 * TIMEOUT):
            await site.arrive(number, sockets)
            before = sum(site.process.cpu_times()[:2])
            for times, visitors in ((quiet, ()), (busy, site.visitors)):
                asking = asyncio.create_task(health(site.url, times))
                results, _ = await asyncio.gather(asyncio.gather(*map(check_code, visitors)), asyncio.sleep(MIN_ASKING))
                asking.cancel()
            work = sum(site.process.cpu_times()[:2]) - before
    finally:
        site.server.kill()
        site.server.wait()
    seconds = [taken for taken, _ in results]
    wrong = [result["headline"] for _, result in results if not result["passed"]]
    print(f"{number} checks at once: p50 {statistics.median(seconds):.1f} s, p95 {percentile(seconds, 0.95):.1f} s")
    print(f"processor time of the server itself: {work / number:.3f} s a check")
    print(f"health: at most {max(quiet):.3f} s before, {max(busy):.3f} s meanwhile ({MAX_HEALTH} allowed)")
    print(f"told that right code is wrong: {len(wrong)}", *wrong, sep="\n  ")
    return max(busy) <= MAX_HEALTH and not wrong


def percentile(values, share):
    return sorted(values)[math.ceil(share * len(values)) - 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, nargs="+", default=[10, 30, 60])
    parser.add_argument("--seconds", type=float, default=10, help="for each action on each of the two sites")
    parser.add_argument(
        "--page",
        default=in_full("graph-lab?stage=backward"),
        help="its address (default: the Graph lab after both passes)",
    )
    parser.add_argument("--core", type=int, help="keep the servers on this core (Linux, Windows)")
    parser.add_argument("--checks", type=int, help="measure this many checks of learners' code at once")
    args = parser.parse_args()
    cores = None
    if args.core is not None:
        own = psutil.Process()
        cores = [args.core]
        own.cpu_affinity([core for core in own.cpu_affinity() if core != args.core] or cores)

    if args.checks:
        return 0 if asyncio.run(measure_checks(args.checks, cores)) else 1
    kinds = "".join(f"  {kind:>20}" for kind in ("first run", "slider", "whole page"))
    print(f"{'':19}{kinds}  {'memory':>10}")
    print(f"{'visitors':>8} {'':10}" + f"  {'p50':>6} {'p95':>6} {'cpu':>6}" * 3 + f"  {'MB/visitor':>10}")
    try:
        for number in args.visitors:
            asyncio.run(measure(number, args, cores))
    except LookupError as error:
        sys.exit(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
