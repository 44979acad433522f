"""How long does it take from *Run* to the picture of one's own program? Runs an example, and one with PyTorch.

    python benchmarks/program.py [--runs 9]

In Chromium, with the app as a process: from the press of the button until the player has drawn the first card of what
ran. A process is ready each time, as it is for a visitor who reads before pressing. The exit code is 1 if a limit of
the median is missed.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import write_figures
from lab.practice.learner_program import examples
from tests.support import in_full, launch, start_app

THINKING = 8.0  # seconds between two runs, in which the next process is prepared
PYTORCH = """\
import torch
from torch import nn
net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
x, labels = torch.randn(4, 2), torch.tensor([0, 1, 1, 0])
for step in range(3):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), labels).backward()
    optimizer.step()
"""
PROGRAMS = {"the lab's engine": (list(examples().values())[-1], 0.7), "PyTorch": (PYTORCH, 2.0)}  # seconds at most


def time_runs(page, source, runs):
    """Run a program again and again; return the seconds of each run but the first, which may have to import."""
    times = []
    for number in range(runs + 1):
        page.get_by_role("textbox", name="Your program").click()
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(f"{source}# run {number}\nprint('run', {number})\n")
        time.sleep(THINKING)
        start = time.perf_counter()
        page.keyboard.press("Control+Enter")
        page.get_by_test_id("stCode").filter(has_text=f"run {number}").wait_for(timeout=120_000)
        page.locator(".card").first.wait_for(timeout=120_000)
        times.append(time.perf_counter() - start)
    return times[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/program.json"))
    args = parser.parse_args()

    url, process = start_app("app.py")
    missed, measured = 0, {}
    try:
        with sync_playwright() as playwright:
            browser = launch(playwright)
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(f"{url}/{in_full('graph-lab?kind=Your program')}")
            page.get_by_role("button", name="Run (Ctrl+Enter)").wait_for(timeout=120_000)
            for name, (source, bar) in PROGRAMS.items():
                times = measured[name] = time_runs(page, source, args.runs)
                median = statistics.median(times)
                missed += median > bar
                verdict = "met" if median <= bar else "MISSED"
                print(f"{name:18} p50 {median:6.3f} s   slowest {max(times):6.3f} s   {verdict} ({bar})")
            browser.close()
    finally:
        process.terminate()
        process.wait()
    write_figures(args.json, {"seconds": measured})
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
