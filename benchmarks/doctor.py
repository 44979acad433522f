"""How often is the training doctor right? It diagnoses healthy runs and runs with a known cause after each epoch.

    python benchmarks/doctor.py [--runs N] [--misses]

There are two sets of runs, each with the seeds that the thresholds were tuned on and with held-out seeds: small data
sets with one cause each (labelled_runs.py beside this file), and random tables with random settings
(random_runs.py), where the first remedy is tried, too. The exit code is 1 if a limit is missed.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported: BLAS reads it once

import argparse
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import random_runs
from benchmarks.labelled_runs import HELD_OUT, TUNED, labelled, matrix, score

MIN_IN_TIME, MAX_FALSE = 0.95, 0.01  # share of causes found in time, and of healthy runs with a false alarm
RANDOM_RUNS = 210  # in each half


def check_labelled_runs(number):
    """Diagnose runs with one known cause, print how often the doctor is right; return True if the limits are met."""
    met = True
    for name, seed in (("seeds that the thresholds were set with", TUNED), ("held-out seeds", HELD_OUT)):
        runs = list(itertools.islice(labelled(seed), number))
        print(f"== {name} (from {seed}): {len(runs)} runs")
        for epoch in (3, 5, 10, 20, None):
            print(f"\nafter {f'epoch {epoch}' if epoch else 'the last epoch'}\n{matrix(runs, epoch)}")
        result = score(runs)
        good = result.in_time >= MIN_IN_TIME * result.ill and result.false <= MAX_FALSE * result.healthy
        print(f"\n{'met   ' if good else 'MISSED'} {result}\n")
        met = met and good
    return met


def check_random_tables(number, show_misses):
    """Diagnose random tables, print the tally, and return True if the limits are met.

    The misses of the judged half are never printed: thresholds tuned on them would make it useless as a test.
    """
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
    parser.add_argument("--runs", type=int, help="number of runs of each set (default: all)")
    parser.add_argument("--misses", action="store_true", help="print the misses of the tuned half")
    args = parser.parse_args()
    met = check_random_tables(args.runs or RANDOM_RUNS, args.misses)
    return 0 if check_labelled_runs(args.runs) and met else 1


if __name__ == "__main__":
    sys.exit(main())
