"""Is the training doctor right on tables of all kinds? Runs of known cause or health, diagnosed after each epoch.

    python benchmarks/doctor.py [--runs N] [--misses]

Two sets of runs, each with the seeds that the thresholds were set with and with seeds held out: small data sets with
one cause each (tests/unit/training/labelled_runs.py), and random tables with random settings (random_runs.py), where
the remedy that is named first is tried, too. The exit code is 1 if a bar is missed.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported: BLAS reads it once

import argparse
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.unit.training import random_runs
from tests.unit.training.labelled_runs import HELD_OUT, TUNED, labelled, matrix, score

IN_TIME, FALSE = 0.95, 0.01
RANDOM_RUNS = 210  # of each half


def of_labelled_runs(number):
    met = True
    for name, seed in (("seeds that the thresholds were set with", TUNED), ("held-out seeds", HELD_OUT)):
        runs = list(itertools.islice(labelled(seed), number))
        print(f"== {name} (from {seed}): {len(runs)} runs")
        for epoch in (3, 5, 10, 20, None):
            print(f"\nafter {f'epoch {epoch}' if epoch else 'the last epoch'}\n{matrix(runs, epoch)}")
        result = score(runs)
        good = result.in_time >= IN_TIME * result.ill and result.false <= FALSE * result.healthy
        print(f"\n{'met   ' if good else 'MISSED'} {result}\n")
        met = met and good
    return met


def of_random_tables(number, show_misses):
    """The judged half is never shown run by run: who has seen its misses can no longer judge with it."""
    met = True
    for name, seed in (("tuned", random_runs.TUNED), ("judged", random_runs.JUDGED)):
        tally = random_runs.Tally()
        for run in random_runs.runs(seed, number):
            tally.add(run, random_runs.remedied(run))
        if show_misses and seed == random_runs.TUNED:
            print("\n".join(tally.misses))
        print(f"{'met   ' if tally.met else 'MISSED'} random tables, {name} half, {number} runs: {tally}", flush=True)
        met = met and tally.met
    return met


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, help="so many of each set; all without it")
    parser.add_argument("--misses", action="store_true", help="print the misses of the tuned half")
    args = parser.parse_args()
    met = of_random_tables(args.runs or RANDOM_RUNS, args.misses)
    return 0 if of_labelled_runs(args.runs) and met else 1


if __name__ == "__main__":
    sys.exit(main())
