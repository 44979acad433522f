"""Is the training doctor right, and when? Runs with one known cause each, diagnosed after every epoch.

    python benchmarks/doctor.py [--runs N]

Prints what was said of whom after some epochs and at the end, for the seeds that the thresholds were set with and for
seeds held out. The exit code is 1 if a set misses a bar: the right word by the time its evidence is there in 95 % of
the runs, and false alarms on at most 1 % of the healthy prefixes.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported: BLAS reads it once

import argparse
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.unit.training.labelled_runs import HELD_OUT, TUNED, labelled, matrix, score

IN_TIME, FALSE = 0.95, 0.01


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, help="so many of each set; all without it")
    args = parser.parse_args()
    met = True
    for name, seed in (("seeds that the thresholds were set with", TUNED), ("held-out seeds", HELD_OUT)):
        runs = list(itertools.islice(labelled(seed), args.runs))
        print(f"== {name} (from {seed}): {len(runs)} runs")
        for epoch in (3, 5, 10, 20, None):
            print(f"\nafter {f'epoch {epoch}' if epoch else 'the last epoch'}\n{matrix(runs, epoch)}")
        result = score(runs)
        good = result.in_time >= IN_TIME * result.ill and result.false <= FALSE * result.healthy
        print(f"\n{'met   ' if good else 'MISSED'} {result}\n")
        met = met and good
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
