"""How long does a learner wait for a check? Checks the scalar course, one task after the other, with right answers.

    python benchmarks/practice.py [--checks 24] [--visitors 10] [--rounds 5]

First one visitor at a time, with a process ready; then all visitors at once in the threads of one server, each at a
different task. The check of a task includes all tasks before it. A time is measured from the press to the report. The
exit code is 1 if a limit is missed.
"""

import argparse
import math
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import write_figures
from lab.practice.checker import check
from lab.practice.process_pool import Pool
from practice.scalars import COURSE

THINKING = 1.0  # seconds between two checks, during which the next process loads NumPy
MAX_ALONE, MAX_TOGETHER = 0.5, 2.0  # seconds: limits of the median


def time_check(pool, seed):
    """Check one task's reference solution and return the seconds it took."""
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
            alone.append(time_check(pool, seed))
        times["one visitor"] = alone
        print(*(f"{COURSE.tasks[seed % len(COURSE.tasks)].key} {seconds:.2f}" for seed, seconds in enumerate(alone)))
        together = []
        with ThreadPoolExecutor(args.visitors) as visitors:
            for _ in range(args.rounds):
                time.sleep(THINKING)
                together += visitors.map(lambda seed: time_check(pool, seed), range(args.visitors))
        times[f"{args.visitors} visitors at once"] = together

    print(f"{'seconds until the report':28} {'p50':>8} {'p95':>8}")
    missed = 0
    for (name, measured), bar in zip(times.items(), (MAX_ALONE, MAX_TOGETHER), strict=True):
        median = statistics.median(measured)
        missed += median > bar
        print(
            f"{name:28} {median:8.3f} {percentile(measured, 0.95):8.3f}  {'met' if median <= bar else 'MISSED'} ({bar})"
        )
    write_figures(args.json, {"seconds": times})
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
