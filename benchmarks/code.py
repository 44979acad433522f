"""How long does it take to check a program of 200 lines for failures?

    python benchmarks/code.py [--texts N]

The texts are programs of the test corpus, joined until they have 200 lines, and standard library files cut to 200
lines. Prints the median and the slowest, in processor time. The exit code is 1 if the slowest takes more than 100 ms.
"""

import argparse
import itertools
import statistics
import sys
import sysconfig
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from lab.failures.code import NotReadable, check_code
from tests.corpus import programs

LINES, MAX_SECONDS = 200, 0.1


def texts():
    in_order = sorted(programs().values(), key=lambda program: not program.path.name.startswith("right_"))
    joined = "\n".join(program.text for program in in_order).split("\n")
    for start in range(0, len(joined) - LINES, LINES):
        yield "\n".join(joined[start : start + LINES])
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        yield "\n".join(path.read_text("utf-8", errors="replace").split("\n")[:LINES])


def seconds():
    """Yield the time of each text that can be read; a cut may fall into a statement."""
    for text in texts():
        start = time.process_time()
        try:
            check_code(text)
        except NotReadable:
            continue
        yield time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, help="number of texts (default: all)")
    args = parser.parse_args()
    times = list(itertools.islice(seconds(), args.texts))
    print(
        f"{len(times)} texts of {LINES} lines: median {1000 * statistics.median(times):.1f} ms, "
        f"slowest {1000 * max(times):.1f} ms (at most {1000 * MAX_SECONDS:.0f})"
    )
    return 0 if max(times) <= MAX_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
