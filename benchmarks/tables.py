"""How long does it take to read a table and decide about its columns, compared with pandas, which only reads it?

    python benchmarks/tables.py [--rows N] [--repeats N]

Both take turns, and the shortest time of each counts. The exit code is 1 if the limit is missed.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import io
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lab.training.samples import TableSettings
from lab.training.table_file import utf8
from lab.training.table_to_samples import of_text

LIMIT = 2  # times as long


def table(rows: int) -> bytes:
    """Return a CSV with a row number, eight columns of numbers, two of texts, and a target."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, 8)).round(4), columns=[f"x{at}" for at in range(8)])
    frame.insert(0, "id", range(rows))
    frame["colour"] = rng.choice(["red", "green", "blue"], rows)
    frame["shop"] = rng.choice([f"S{at}" for at in range(15)], rows)
    frame["kind"] = rng.choice(["a", "b"], rows)
    return frame.to_csv(index=False).encode()


def seconds(read) -> float:
    start = time.process_time()
    read()
    return time.process_time() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    content, settings = table(given.rows), TableSettings()
    by_pandas, by_lab = [], []
    for _ in range(given.repeats):
        by_pandas.append(seconds(lambda: pd.read_csv(io.BytesIO(content))))
        by_lab.append(seconds(lambda: of_text(utf8(content, "t.csv")[0], "t.csv", settings, shared=False)))
    ratio = min(by_lab) / min(by_pandas)
    print(f"{given.rows:,} rows of 12 columns: {ratio:.2f} times as long as pandas.read_csv (limit {LIMIT:g})")
    return ratio > LIMIT


if __name__ == "__main__":
    sys.exit(main())
