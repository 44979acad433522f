"""Does every benchmark still run? Each with as little as it takes, two at a time.

    python benchmarks/quick.py [NAME...]

The figures of such short runs say nothing, so a missed bar is no fault here. The exit code is 1 if a benchmark breaks.
"""

import argparse
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
PATIENCE = 240  # seconds for one of them
LITTLE = {  # benchmark -> its shortest run, those that take longest first
    "player": ["--presses", "1"],
    "training_page": ["--rounds", "1", "--seconds", "1"],
    "code": ["--texts", "3"],
    "doctor": ["--runs", "2"],
    "engine": ["--rounds", "1"],
    "faults": ["--rounds", "1", "forgot-zero-grad"],
    "large_graphs": ["--repeats", "1"],
    "pages": ["--rounds", "1", "graph-lab"],
    "practice": ["--checks", "1", "--visitors", "2", "--rounds", "1"],
    "server": ["--visitors", "2", "--seconds", "1"],
    "watch": ["--rounds", "1"],
}
NO_BENCHMARKS = {"__init__", "empty_page", "quick", "twin_page"}  # but pages to compare with, and this


def breaks(name: str) -> bool:
    """True if it ends in an exception or takes too long; then what it printed is shown."""
    start = time.monotonic()
    try:
        ran = subprocess.run(
            [sys.executable, HERE / f"{name}.py", *LITTLE[name]],
            cwd=HERE.parent,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        output, broken = ran.stdout + ran.stderr, ran.returncode not in (0, 1) or "Traceback" in ran.stderr
    except subprocess.TimeoutExpired as error:
        output, broken = str(error), True
    told = f"{name:14} {time.monotonic() - start:5.1f} s  {'BROKEN' if broken else 'runs'}\n"
    print(told + output * broken, end="", flush=True)  # at once: another one may be telling, too
    return broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*LITTLE, []], help="all without them")
    names = parser.parse_args().names or list(LITTLE)
    unknown = {path.stem for path in HERE.glob("*.py")} - set(LITTLE) - NO_BENCHMARKS
    if unknown:
        print(f"No short run is known of {', '.join(sorted(unknown))}: add it to LITTLE.")
        return 1
    with ThreadPoolExecutor(2) as pool:  # most of them wait for a browser or for one processor
        return min(1, sum(pool.map(breaks, names)))


if __name__ == "__main__":
    sys.exit(main())
