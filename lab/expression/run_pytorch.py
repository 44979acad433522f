"""Run PyTorch programs in a separate process, if PyTorch is installed.

This process never imports PyTorch: it is large, and would stay in memory.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

TIMEOUT = 120  # seconds: the first import on a slow disk takes some
_RUN = """
import contextlib, io, json, sys, warnings
import torch
answers = {}
for key, code in json.loads(sys.stdin.read()).items():
    printed, message = io.StringIO(), ""
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                exec(code, {})
            except Exception as error:
                message = f"{type(error).__name__}: {error}"
    warned = [f"{warning.category.__name__}: {warning.message}" for warning in warned]
    answers[key] = [torch.__version__, printed.getvalue(), warned, message]
print(json.dumps(answers))
"""


@dataclass(frozen=True)
class Transcript:
    """A program's printed output, its warnings, and the error that it ended with; "" if there was none."""

    version: str
    printed: str
    warnings: tuple[str, ...]
    error: str

    @property
    def text(self) -> str:
        """PyTorch's own message about a mistake, the text that a learner would see: its error, else its warnings."""
        return self.error or "\n".join(self.warnings)


def installed() -> bool:
    """Return whether PyTorch is installed, without importing it."""
    return importlib.util.find_spec("torch") is not None


def run_programs(programs: Mapping[str, str]) -> dict[str, Transcript]:
    """Run each program, all of them in one process. Raises RuntimeError, with a sentence, if there is no answer."""
    command = [sys.executable, "-c", _RUN]
    question = json.dumps(dict(programs))
    try:
        ran = subprocess.run(command, input=question, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"PyTorch did not answer within {TIMEOUT} seconds.") from None
    if ran.returncode:
        lines = [line for line in ran.stderr.splitlines() if line.strip()]
        raise RuntimeError(lines[-1] if lines else "PyTorch ended without a message.")
    return {
        key: Transcript(version, printed, tuple(warned), error)
        for key, (version, printed, warned, error) in json.loads(ran.stdout).items()
    }
