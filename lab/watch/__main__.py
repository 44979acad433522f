"""`python -m lab.watch [--json FILE] [--html FILE] [--fail] SCRIPT.py [ARGS]`: run a script and report its failures.

The script runs as it would alone: same arguments, folder on the path and exit code. The findings are printed to
standard error when it ends or fails.
"""

import argparse
import io
import sys
import traceback
from contextlib import nullcontext
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from lab.watch.recorded_program import execute
from lab.watch.report import as_html, as_json, text
from lab.watch.sites import CALL, without_us

HANDLER = "handle_torch_function"


def run(script: Path) -> tuple[int, BaseException | None, dict[str, Any]]:
    """Run a file as `python FILE` does; return its exit code, the exception that ended it, and its variables."""
    file = str(script.absolute())
    with io.open_code(file) as source:
        text = source.read()
    loader = SourceFileLoader("__main__", file)
    error, variables = execute(text, file, loader=loader, stays=__name__ == "__main__")
    if error is None or isinstance(error, SystemExit):
        return code_of(error), None, variables
    error.__traceback__ = without_us(error.__traceback__)
    show(error)
    return 130 if isinstance(error, KeyboardInterrupt) else 1, error, variables


def code_of(ended: SystemExit | None) -> int:
    """Return the exit code of `sys.exit(...)`; print its argument if that is a message, as Python does."""
    code = ended.code if ended else 0
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1


def show(error: BaseException) -> None:
    """Print a traceback without this package's frames and the calls that led to them, unless the script does so."""
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, error.__traceback__)
        return
    trace = traceback.TracebackException.from_exception(error)
    kept: list[traceback.FrameSummary] = []
    for frame in trace.stack:
        if frame.name == HANDLER:
            kept.pop()  # the function that asked for the mode; it follows once more
        elif frame.name != CALL and not frame.filename.startswith(str(Path(__file__).parent)):
            kept.append(frame)
    trace.stack = traceback.StackSummary.from_list(kept)
    print("".join(trace.format()), end="", file=sys.stderr)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m lab.watch", description="Run a PyTorch script and report the failures it commits."
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the findings as a JSON list")
    slow = "write them as a page, with a player for the backward pass of each; a step takes about ten times as long"
    parser.add_argument("--html", type=Path, metavar="FILE", help=slow)
    parser.add_argument("--fail", action="store_true", help="exit with code 1 if there are findings")
    parser.add_argument("script", type=Path, metavar="SCRIPT.py")
    rest = parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="ARGS", help="arguments of the script")
    rest.required = False  # or an error message would ask for ARGS
    options = parser.parse_args(arguments)
    try:
        from lab.watch.run_passes import RunPasses
        from lab.watch.watcher import Watcher
    except ImportError:
        print("lab.watch needs PyTorch: pip install torch", file=sys.stderr)
        return 2
    if not options.script.is_file():
        what = "this is a folder, not a script" if options.script.is_dir() else "there is no such file"
        print(f"lab.watch: {options.script}: {what}.", file=sys.stderr)
        return 2
    json_file, html_file = (path and path.resolve() for path in (options.json, options.html))
    for path in filter(None, (json_file, html_file)):  # check before a long run, not after it
        if path.is_dir() or not path.parent.is_dir():
            print(f"lab.watch: {path}: cannot write a file there.", file=sys.stderr)
            return 2
    sys.argv = [str(options.script), *options.rest]
    sys.path[0] = str(options.script.resolve().parent)
    for name in ("model", "nn", "train"):  # a script's own module of that name, not the lab's
        if (options.script.resolve().parent / f"{name}.py").exists():
            sys.modules.pop(name, None)
    with Watcher() as watcher, RunPasses(watcher) if html_file else nullcontext() as passes:
        code, error, _ = run(options.script)
    findings = watcher.findings(error)
    sys.stdout.flush()
    if json_file:
        json_file.write_text(as_json(findings), "utf-8")
    if html_file and passes:
        html_file.write_text(as_html(findings, options.script.name, passes), "utf-8")
    # Printed last: the reader of a pipe may have gone, as `head` does
    notes = watcher.notes() + ([f"Recording stopped after {passes.failure}"] if passes and passes.failure else [])
    print(text(findings, notes, error), file=sys.stderr)
    if isinstance(error, KeyboardInterrupt):
        sys.excepthook = lambda *_: None  # it was shown
        raise error
    return 1 if options.fail and findings and not code else code


if __name__ == "__main__":
    sys.exit(main())
