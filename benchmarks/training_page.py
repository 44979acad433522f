"""How soon does the training page start, how fast does it train, and how much does it slow down other visitors?

    python benchmarks/training_page.py [--rounds 3] [--seconds 6] [--json benchmarks/results/training_page.json]

Uses a real server and a real browser. First newcomers, whose browsers have cached nothing of the page, press Start as
soon as it is enabled. Then each round measures, one after the other, so that a slow moment of the machine hits all: the
speed of the command line alone; another visitor's slider on an idle server, and while a run is watched at full speed
from another machine; the page in a browser at full speed, alone and then with that slider moved meanwhile; pausing;
closing the tab. The browser itself runs on the measured processors. Prints medians over the rounds; ratios are taken
within a round.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported: BLAS reads it once

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from lab.lessons.pages import BY_PATH
from lab.training.config import Config
from tests.support import launch, start_app
from train import Trainer

# Small batches, so that the job outlasts the measurement at full speed.
JOBS = {
    "digits 64-128-64-10": Config(hidden=(128, 64), batch_size=4, epochs=300),
    "moons 2-16-16-2": Config(data="moons", hidden=(16, 16), lr=0.01, batch_size=2, epochs=300),
}
WARM_UP = 5  # seconds, in which the browser compiles the code that it runs often


def command_line_pace(config, seconds):
    """Measure the steps per second of `python train.py` on this job, in a separate process."""
    code = (
        "import sys, time, json; sys.path.insert(0, sys.argv[1]); from train import Config, Trainer\n"
        "config = Config.from_json(json.loads(sys.argv[2])); trainer = Trainer(config)\n"
        "began = time.perf_counter()\n"
        "for steps, _ in enumerate(trainer.steps()):\n"
        "    if time.perf_counter() - began > float(sys.argv[3]): break\n"
        "print(steps / (time.perf_counter() - began))\n"
    )
    command = [sys.executable, "-c", code, str(ROOT), json.dumps(config.to_json()), str(seconds)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


class Visitor:
    """A visitor of a page as a bare websocket client, as if the browser were on another machine."""

    def __init__(self, url, page="", query=""):
        self.socket = connect(
            f"{url.replace('http', 'ws')}/_stcore/stream", subprotocols=["streamlit"], max_size=None, legacy=True
        )
        self.page, self.query = page, query
        self.slider = self.fragment = None
        self.value, self.pause = 0.0, 0.0
        self.rerun()

    def rerun(self, fragment=""):
        """Move the page's first slider a little, wait until the script has run, and return the seconds it took."""
        message = BackMsg()
        message.rerun_script.page_name, message.rerun_script.query_string = self.page, self.query
        message.rerun_script.fragment_id = fragment
        if self.slider and not fragment:
            self.value = (self.value + 0.5) % 5
            state = message.rerun_script.widget_states.widgets.add()
            state.id = self.slider
            state.double_array_value.data.append(self.value)
        began = time.perf_counter()
        self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(self.socket.recv(timeout=60))
            slider = answer.delta.new_element.slider
            if not self.slider and slider.id:
                self.slider = slider.id
            if answer.WhichOneof("type") == "auto_rerun":
                self.fragment, self.pause = answer.auto_rerun.fragment_id, answer.auto_rerun.interval
            if answer.WhichOneof("type") == "script_finished":
                return time.perf_counter() - began

    def latencies(self, seconds):
        """Move the slider again and again for this many seconds, and return the time of each rerun."""
        times = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            times.append(self.rerun())
            time.sleep(0.05)
        return times

    def watch(self):
        """Rerun the page's fragment as often as the page asks, as a browser does with an open page."""
        while True:
            time.sleep(self.pause)
            self.rerun(self.fragment)


def percentile(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def batches(page, steps_per_epoch):
    """Read from the page how many batches it has trained on."""
    text = page.locator(".run-progress").inner_text()
    epoch, batch = re.search(r"Epoch (\d+) of \d+(?:, then batch (\d+))?", text).groups()
    return int(epoch) * steps_per_epoch + int(batch or 0)


class Pace:
    """The batches that an open page trains on from here until it is asked, and the time since then."""

    def __init__(self, page, steps_per_epoch):
        self.page, self.steps_per_epoch = page, steps_per_epoch
        self.began, self.first = time.perf_counter(), batches(page, steps_per_epoch)

    def seconds(self):
        return time.perf_counter() - self.began

    def steps_per_second(self):
        seconds = self.seconds()
        return (batches(self.page, self.steps_per_epoch) - self.first) / seconds


def cpu_seconds(pid):
    """Return the processor time of the server and of its training processes."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:  # the process has ended
            continue
        if pid in (int(path.parent.name), int(fields[1])):
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


# Presses Start; returns when, and when the boundary moved, both in seconds since the page was opened.
PRESS = """() => new Promise((done) => {
    const boundary = () => document.querySelector("[data-chart=plane] .picture").style.background;
    const before = boundary(), pressed = performance.now() / 1000;
    const look = () => {
        if (boundary() === before) requestAnimationFrame(look);
        else done([pressed, performance.now() / 1000]);
    };
    document.querySelector(".st-key-training-toggle button").click();
    look();
})"""
READY = """() => document.querySelector("[data-chart=plane] canvas")
    && document.querySelector(".st-key-training-toggle button:enabled")"""


def newcomer(browser, url):
    """Measure seconds until the boundary moves, from opening the page and from pressing Start."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.goto(f"{url}/training-lab", wait_until="commit")
    page.wait_for_function(READY)
    pressed, moved = page.evaluate(PRESS)
    context.close()
    return {"open": moved, "press": moved - pressed}


# Every drawing of a chart begins with clearing its canvas.
COUNT_UPDATES = """() => {
    window.updates = 0;
    const clear = CanvasRenderingContext2D.prototype.clearRect;
    CanvasRenderingContext2D.prototype.clearRect = function (...area) {
        if (this.canvas.closest('[data-chart=loss]')) window.updates++;
        return clear.apply(this, area);
    };
}"""


def link(config, **more):
    """Write the query of the page's address for a job."""
    chosen = {name: value for name, value in config.to_json().items() if name in ("data", "lr", "batch_size", "epochs")}
    query = chosen | {"hidden": " ".join(map(str, config.hidden))} | more
    return urlencode(BY_PATH["training-lab"].parameters(query))


def one_round(browser, url, server, config, seconds):
    steps_per_epoch = Trainer(config).steps_per_epoch
    figures = {"command_line": command_line_pace(config, seconds)}
    visitor = Visitor(url, "shapes", urlencode(BY_PATH["shapes"].parameters({"tab": "matmul"})))
    assert visitor.slider, "Shapes shows no slider"
    visitor.latencies(1)
    idle = visitor.latencies(seconds)
    # Without a browser: a link to a late epoch trains at full speed when it is opened.
    watcher = subprocess.Popen([sys.executable, __file__, "--watch", url, link(config, epoch=config.epochs - 1)])
    time.sleep(4)
    began, before = time.perf_counter(), cpu_seconds(server.pid)
    remote = visitor.latencies(seconds)
    figures["remote_processor"] = (cpu_seconds(server.pid) - before) / (time.perf_counter() - began)
    watcher.kill()
    watcher.wait()
    time.sleep(5)

    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{url}/training-lab?{link(config, speed='inf')}")
    page.get_by_role("button", name=re.compile("^Start")).click()
    page.wait_for_timeout(1000 * WARM_UP)
    pace = Pace(page, steps_per_epoch)
    page.wait_for_timeout(1000 * seconds)
    figures["page"] = pace.steps_per_second()
    page.evaluate(COUNT_UPDATES)
    pace = Pace(page, steps_per_epoch)
    busy = visitor.latencies(seconds)
    page.wait_for_timeout(100)
    figures["updates"] = page.evaluate("window.updates") / pace.seconds()
    figures["shared"] = pace.steps_per_second()

    began = time.perf_counter()
    page.get_by_role("button", name=re.compile("^Pause")).click()
    page.get_by_role("button", name=re.compile("^Continue")).wait_for()
    figures["pause"] = time.perf_counter() - began

    page.get_by_role("button", name=re.compile("^Continue")).click()
    page.get_by_role("button", name=re.compile("^Pause")).wait_for()
    context.close()
    closed = time.perf_counter()
    stopped = closed
    while time.perf_counter() - closed < 10:
        before = cpu_seconds(server.pid)
        time.sleep(0.25)
        if cpu_seconds(server.pid) - before > 0.05:
            stopped = time.perf_counter()
    visitor.socket.close()
    return figures | {
        "pace": figures["page"] / figures["command_line"],
        "shared_pace": figures["shared"] / figures["command_line"],
        "idle_p50": percentile(idle, 0.5),
        "idle_p95": percentile(idle, 0.95),
        "busy_p50": percentile(busy, 0.5),
        "busy_p95": percentile(busy, 0.95),
        "busy_slider": percentile(busy, 0.95) / percentile(idle, 0.95),
        "remote_p50": percentile(remote, 0.5),
        "remote_p95": percentile(remote, 0.95),
        "remote_slider": percentile(remote, 0.95) / percentile(idle, 0.95),
        "closed": stopped - closed,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each measurement")
    parser.add_argument("--json", type=Path, help="write the figures of all rounds to this file")
    parser.add_argument("--watch", nargs=2, metavar=("URL", "QUERY"), help="leave the page open, without a browser")
    options = parser.parse_args()
    if options.watch:
        Visitor(options.watch[0], "training-lab", options.watch[1]).watch()
    url, server = start_app("app.py")
    results = {}
    try:
        with sync_playwright() as playwright:
            browser = launch(playwright)
            page = browser.new_page()
            page.goto(url)  # registers the pages
            page.get_by_role("heading", level=1).wait_for()
            page.close()
            results["newcomers"] = newcomers = [newcomer(browser, url) for _ in range(options.rounds)]
            print(f"a newcomer, medians of {options.rounds}, the machine's load being {os.getloadavg()[0]:.1f}")
            for key, label, bar in (("open", "opening", 5), ("press", "press", 1)):
                seconds = statistics.median(one[key] for one in newcomers)
                print(f"  {label:8} to a boundary that bends {seconds:6.2f} s   (bar {bar})", flush=True)
            for name, config in JOBS.items():
                rounds = [one_round(browser, url, server, config, options.seconds) for _ in range(options.rounds)]
                results[name] = rounds
                middle = {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}
                print(f"\n{name}, medians of {options.rounds} rounds")
                print(f"  command line       {middle['command_line']:8.0f} steps/s")
                print(f"  page, full speed   {middle['page']:8.0f} steps/s  = {middle['pace']:.2f} x   (bar 0.75)")
                print(f"  beside the slider  {middle['shared']:8.0f} steps/s  = {middle['shared_pace']:.2f} x")
                print(f"  chart updates      {middle['updates']:8.1f} /s   (bar 5)")
                for where, label in (("busy", "browser here"), ("remote", "browser elsewhere")):
                    ratio = middle[f"{where}_slider"]
                    idle, during = ([1000 * middle[f"{of}_p{share}"] for share in (50, 95)] for of in ("idle", where))
                    print(
                        f"  other's slider, {label}: p50 {idle[0]:.0f} -> {during[0]:.0f} ms, p95 "
                        f"{idle[1]:.0f} -> {during[1]:.0f} ms = {ratio:.2f} x   (bar 1.5)"
                    )
                print(f"  processors         {middle['remote_processor']:8.2f} used with the browser elsewhere")
                print(f"  pause              {1000 * middle['pause']:8.0f} ms from click to label")
                print(
                    f"  tab closed         {middle['closed']:8.1f} s until the work has stopped   (bar 5)", flush=True
                )
    finally:
        server.terminate()
        server.wait(timeout=10)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
