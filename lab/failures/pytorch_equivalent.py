"""What PyTorch says of the same mistake: really run, where it is installed, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from lab.expression.pytorch import PATIENCE

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
class Said:
    """What PyTorch printed, warned of, and raised, word for word; "" where it was silent."""

    version: str
    printed: str
    warnings: tuple[str, ...]
    error: str

    @property
    def text(self) -> str:
        """Its own words about the mistake: what a visitor may have pasted."""
        return self.error or "\n".join(self.warnings)


def ask(programs: Mapping[str, str]) -> dict[str, Said]:
    """Run each program, all of them in one process. RuntimeError, with a sentence: there is no answer."""
    try:
        ran = subprocess.run(
            [sys.executable, "-c", _RUN], input=json.dumps(dict(programs)), capture_output=True, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"PyTorch did not answer within {PATIENCE} seconds.") from None
    if ran.returncode:
        lines = [line for line in ran.stderr.splitlines() if line.strip()]
        raise RuntimeError(lines[-1] if lines else "PyTorch ended without a word.")
    answers = json.loads(ran.stdout)
    return {
        key: Said(version, printed, tuple(warned), error) for key, (version, printed, warned, error) in answers.items()
    }
