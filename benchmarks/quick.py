"""Does every benchmark still run? Runs each in its shortest form, two at a time.

    python benchmarks/quick.py [NAME...]

The figures of such short runs mean nothing, so a missed limit is no failure. The exit code is 1 if a benchmark breaks.
"""

import argparse
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
TIMEOUT = 240  # seconds for one benchmark
SHORTEST = {  # benchmark -> the options of its shortest run, the slowest benchmarks first
    "player": ["--presses", "1"],
    "training_page": ["--rounds", "1", "--seconds", "1"],
    "code": ["--texts", "3"],
    "doctor": ["--runs", "2"],
    "engine": ["--rounds", "1"],
    "faults": ["--rounds", "1", "forgot-zero-grad"],
    "large_graphs": ["--repeats", "1"],
    "pages": ["--rounds", "1", "graph-lab"],
    "practice": ["--checks", "1", "--visitors", "2", "--rounds", "1"],
    "program": ["--runs", "1"],
    "server": ["--visitors", "2", "--seconds", "1"],
    "tables": ["--rows", "1000", "--repeats", "1"],
    "watch": ["--rounds", "1"],
}
NO_BENCHMARKS = {"__init__", "bare_page", "empty_page", "labelled_runs", "mutants", "quick", "random_runs"}


def breaks(name: str) -> bool:
    """Run a benchmark; return True if it raises an exception or takes too long, and then print its output."""
    start = time.monotonic()
    try:
        ran = subprocess.run(
            [sys.executable, HERE / f"{name}.py", *SHORTEST[name]],
            cwd=HERE.parent,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        output, broken = ran.stdout + ran.stderr, ran.returncode not in (0, 1) or "Traceback" in ran.stderr
    except subprocess.TimeoutExpired as error:
        output, broken = str(error), True
    result = f"{name:14} {time.monotonic() - start:5.1f} s  {'BROKEN' if broken else 'runs'}\n"
    print(result + output * broken, end="", flush=True)  # in one call: another thread may print, too
    return broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*SHORTEST, []], help="default: all")
    names = parser.parse_args().names or list(SHORTEST)
    unknown = {path.stem for path in HERE.glob("*.py")} - set(SHORTEST) - NO_BENCHMARKS
    if unknown:
        print(f"No short run is known of {', '.join(sorted(unknown))}: add it to SHORTEST.")
        return 1
    with ThreadPoolExecutor(2) as pool:  # most of them wait for a browser or for one processor
        return min(1, sum(pool.map(breaks, names)))


if __name__ == "__main__":
    sys.exit(main())
