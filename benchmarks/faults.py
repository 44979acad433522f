"""How long does a learner wait with a fault? Times each fault's comparison of one pass and its two trainings.

    python benchmarks/faults.py [--rounds 3] [FAULT...]

One thread. Prints the median over the rounds, the slowest fault first. The exit code is 1 if a training takes more than
two seconds.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported: BLAS reads it once

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lab.traps.faults.catalogue import FAULTS
from lab.traps.faults.healthy_and_broken import compare, train_with

MAX_SECONDS = 2.0  # of one training


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(fault):
    """Measure the seconds of the comparison (0 without an example), the healthy training and the broken training."""
    return (
        seconds(lambda: compare(fault, 0)) if fault.example else 0.0,
        seconds(lambda: train_with(fault.healthy, 0)),
        seconds(lambda: train_with(fault.broken, 0)),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("faults", nargs="*", help="keys of faults (default: all)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    faults = [fault for fault in FAULTS if fault.key in (options.faults or [fault.key])]
    rounds = {fault.key: [] for fault in faults}
    for _ in range(options.rounds):  # in turn, so that a slow moment of the machine hits all of them
        for fault in faults:
            rounds[fault.key].append(measure(fault))
    rows = {key: [statistics.median(column) for column in zip(*found, strict=True)] for key, found in rounds.items()}
    print(f"{'seconds':20} {'compare':>9} {'healthy':>9} {'broken':>9}")
    for key, row in sorted(rows.items(), key=lambda item: -sum(item[1])):
        print(f"{key:20} {row[0]:9.3f} {row[1]:9.3f} {row[2]:9.3f}")
    slowest = max(max(healthy, broken) for _, healthy, broken in rows.values())
    met = slowest <= MAX_SECONDS
    print(f"{'met   ' if met else 'MISSED'} slowest run: {slowest:.2f} s (at most {MAX_SECONDS:g} s)")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
