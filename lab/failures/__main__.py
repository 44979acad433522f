"""Find failures in programs: `python -m lab.failures FILE.py...` prints `file:line: failure: sentence`.

A notebook (.ipynb) is read as its code cells, `-` is standard input. The exit code is 1 if a failure was found, 0 if
none was, and 2 if a file is no program; then the lines in it that are code are read.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from lab.failures.catalogue import BY_KEY
from lab.failures.code import NotReadable, Reading, read
from lab.failures.fragments import check_fragments


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m lab.failures",
        description="Read training loops and models, and report which common failures they contain.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a .py or .ipynb file, or - for standard input")
    parser.add_argument(
        "--json", action="store_true", help="one JSON list, with the changed lines if an edit removes the failure"
    )
    options = parser.parse_args(arguments)
    found: list[dict[str, object]] = []
    bad = False
    for name in options.files:
        shown = "standard input" if name == "-" else name
        try:
            given = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
            reading = read(given) if given.strip() else Reading([])  # an empty file is not an error
        except NotReadable as reason:
            print(f"{shown}: {reason}", file=sys.stderr)
            bad, reading = True, Reading(check_fragments(given.decode("utf-8", "replace")))
        except OSError as reason:
            print(f"{shown}: {reason.strerror or 'it cannot be read'}.", file=sys.stderr)
            bad = True
            continue
        if reading.left_out:
            print(f"{shown}: {reading.left_out}", file=sys.stderr)
        for finding in reading.findings:
            name_of_failure = BY_KEY[finding.failure.key].name
            found.append({"file": shown, "name": name_of_failure, **asdict(finding)})
            if not options.json:
                print(f"{shown}:{finding.line}: {name_of_failure}: {finding.sentence}")
    if options.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
    return 2 if bad else 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
