"""How fast does the training page train, and what do other visitors notice of it?

    python benchmarks/training_page.py [--rounds 3] [--seconds 6] [--json benchmarks/results/training_page.json]

A real server and a real browser. In each round, one after the other, so that a slow moment of the machine hits all:
the command line's pace alone, another visitor's slider on an idle server, the page at full speed and that slider
meanwhile, then pause, then the tab is closed. Medians over the rounds; ratios are taken within a round.
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

from tests.browser.conftest import QUIET, chromium, start_app
from train import Config, Trainer

# Small batches, so that the job outlasts the measurement at full speed.
JOBS = {
    "digits 64-128-64-10": Config(hidden=(128, 64), batch_size=8, epochs=300),
    "moons 2-16-16-2": Config(data="moons", hidden=(16, 16), lr=0.01, batch_size=2, epochs=300),
}
BARS = {"pace": 0.7, "updates": 5.0, "slider": 1.5, "closed": 5.0}


def command_line_pace(config, seconds):
    """Steps per second of `python train.py` on this job, in a process of its own."""
    code = (
        "import sys, time, json; sys.path.insert(0, sys.argv[1]); from train import Config, train, Trainer\n"
        "config = Config.from_json(json.loads(sys.argv[2])); trainer = Trainer(config); steps = [0]\n"
        "def count(): steps[0] += 1\n"
        "began = time.perf_counter()\n"
        "for record in train(config, trainer, on_batch=count):\n"
        "    if time.perf_counter() - began > float(sys.argv[3]): break\n"
        "print(steps[0] / (time.perf_counter() - began))\n"
    )
    command = [sys.executable, "-c", code, str(ROOT), json.dumps(config.to_json()), str(seconds)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


class OtherVisitor:
    """Someone at the Graph lab who moves a slider, spoken for by a bare websocket client."""

    def __init__(self, url):
        self.socket = connect(
            f"{url.replace('http', 'ws')}/_stcore/stream", subprotocols=["streamlit"], max_size=None, legacy=True
        )
        self.slider = None
        self.value = 0.0
        self.rerun()
        assert self.slider, "the Graph lab shows no slider"

    def rerun(self):
        """Move the slider a little and wait until the page is drawn; returns the seconds it took."""
        message = BackMsg()
        message.rerun_script.query_string = "stage=backward"
        if self.slider:
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
            if answer.WhichOneof("type") == "script_finished":
                return time.perf_counter() - began

    def latencies(self, seconds):
        """The times of a slider that is moved every now and then for so many seconds."""
        times = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            times.append(self.rerun())
            time.sleep(0.05)
        return times


def percentile(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def batches(page, steps_per_epoch):
    """How many batches the page says that it has trained on."""
    text = page.locator(".run-progress").inner_text()
    epoch, batch = re.search(r"Epoch (\d+) of \d+(?:, then batch (\d+))?", text).groups()
    return int(epoch) * steps_per_epoch + int(batch or 0)


def cpu_seconds(pid):
    """Of the server and of the processes that train for it."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended
            continue
        if pid in (int(path.parent.name), int(fields[1])):
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


# Every drawing of a chart begins with clearing its canvas.
COUNT_UPDATES = """() => {
    window.updates = 0;
    const clear = CanvasRenderingContext2D.prototype.clearRect;
    CanvasRenderingContext2D.prototype.clearRect = function (...area) {
        if (this.canvas.closest('[data-chart=loss]')) window.updates++;
        return clear.apply(this, area);
    };
}"""


def one_round(browser, url, server, config, seconds):
    steps_per_epoch = Trainer(config).steps_per_epoch
    figures = {"command_line": command_line_pace(config, seconds)}
    visitor = OtherVisitor(url)
    visitor.latencies(1)
    idle = visitor.latencies(seconds)

    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    chosen = {name: value for name, value in config.to_json().items() if name in ("data", "lr", "batch_size", "epochs")}
    query = urlencode(chosen | {"hidden": " ".join(map(str, config.hidden))})
    page.goto(f"{url}/training?{query}")
    speed = page.get_by_role("slider", name="Batches per second")
    speed.wait_for()
    speed.focus()
    for _ in range(8):
        speed.press("ArrowRight")
    page.wait_for_timeout(1000)
    page.get_by_role("button", name=re.compile("^Start")).click()
    page.wait_for_timeout(1500)
    page.evaluate(COUNT_UPDATES)
    began, first = time.perf_counter(), batches(page, steps_per_epoch)
    busy = visitor.latencies(seconds)
    page.wait_for_timeout(100)
    elapsed, last = time.perf_counter() - began, batches(page, steps_per_epoch)
    figures["page"] = (last - first) / elapsed
    figures["updates"] = page.evaluate("window.updates") / elapsed

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
        "idle_p50": percentile(idle, 0.5),
        "idle_p95": percentile(idle, 0.95),
        "busy_p50": percentile(busy, 0.5),
        "busy_p95": percentile(busy, 0.95),
        "slider": percentile(busy, 0.95) / percentile(idle, 0.95),
        "closed": stopped - closed,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each measurement")
    parser.add_argument("--json", type=Path, help="write the figures of all rounds to this file")
    options = parser.parse_args()
    url, server = start_app("app.py")
    results = {}
    try:
        with sync_playwright() as playwright:
            sandbox = [] if sys.platform != "linux" or os.geteuid() else ["--no-sandbox"]
            browser = playwright.chromium.launch(executable_path=chromium(), args=[*QUIET, *sandbox, "--disable-gpu"])
            page = browser.new_page()
            page.goto(url)  # registers the pages
            page.get_by_role("heading", level=1).wait_for()
            page.close()
            for name, config in JOBS.items():
                rounds = [one_round(browser, url, server, config, options.seconds) for _ in range(options.rounds)]
                results[name] = rounds
                middle = {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}
                print(f"\n{name}, medians of {options.rounds} rounds")
                print(f"  command line       {middle['command_line']:8.0f} steps/s")
                print(f"  page, full speed   {middle['page']:8.0f} steps/s  = {middle['pace']:.2f} x   (bar 0.7)")
                print(f"  chart updates      {middle['updates']:8.1f} /s   (bar 5)")
                print(
                    f"  other's slider     p50 {1000 * middle['idle_p50']:.0f} -> {1000 * middle['busy_p50']:.0f} ms, "
                    f"p95 {1000 * middle['idle_p95']:.0f} -> {1000 * middle['busy_p95']:.0f} ms = "
                    f"{middle['slider']:.2f} x   (bar 1.5)"
                )
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
