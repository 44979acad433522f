"""How long does a learner wait for a check? The scalar course, one task after the other, with right answers.

    python benchmarks/practice.py [--checks 24] [--visitors 10] [--rounds 5]

One visitor at a time, with a process that is ready; then as many as are given, all of whom press at once, in the
threads of one server, each at another task. A check of a task is one of all before it, too. A time is from the press to
the report. The exit code is 1 if a bar is missed.
"""

import argparse
import json
import math
import os
import platform
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lab.practice.checker import check
from lab.practice.sandbox import Pool
from practice.scalars import COURSE

THINKING = 1.0  # seconds between two checks, in which the next process loads NumPy
ALONE, TOGETHER = 0.5, 2.0  # seconds: bars for the median


def timed(pool, seed):
    start = time.perf_counter()
    with pool.runner() as runner:
        report = check(COURSE, COURSE.tasks[seed % len(COURSE.tasks)].key, COURSE.reference, runner, seed)
    if not report:
        raise RuntimeError(report.stopped or f"The reference fails: {report.failure}")
    return time.perf_counter() - start


def percentile(times, share):
    return sorted(times)[math.ceil(share * len(times)) - 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checks", type=int, default=24)
    parser.add_argument("--visitors", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/practice.json"))
    args = parser.parse_args()

    times = {}
    with Pool() as pool:
        alone = []
        for seed in range(args.checks):
            time.sleep(THINKING)
            alone.append(timed(pool, seed))
        times["one visitor"] = alone
        print(*(f"{COURSE.tasks[seed % len(COURSE.tasks)].key} {seconds:.2f}" for seed, seconds in enumerate(alone)))
        together = []
        with ThreadPoolExecutor(args.visitors) as visitors:
            for _ in range(args.rounds):
                time.sleep(THINKING)
                together += visitors.map(lambda seed: timed(pool, seed), range(args.visitors))
        times[f"{args.visitors} visitors at once"] = together

    print(f"{'seconds until the report':28} {'p50':>8} {'p95':>8}")
    missed = 0
    for (name, measured), bar in zip(times.items(), (ALONE, TOGETHER), strict=True):
        median = statistics.median(measured)
        missed += median > bar
        print(
            f"{name:28} {median:8.3f} {percentile(measured, 0.95):8.3f}  {'met' if median <= bar else 'MISSED'} ({bar})"
        )
    args.json.parent.mkdir(parents=True, exist_ok=True)
    machine = {"python": platform.python_version(), "machine": platform.machine()}
    args.json.write_text(json.dumps({"machine": machine, "seconds": times}, indent=2))
    print(f"written to {args.json}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
