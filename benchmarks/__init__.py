"""Ratios and times, each measured by a script of this folder."""

import json
import platform
from pathlib import Path
from typing import Any


def write_figures(path: Path, figures: dict[str, Any]) -> None:
    """Write figures and the machine that they were measured on as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    machine = {"python": platform.python_version(), "machine": platform.machine()}
    path.write_text(json.dumps({"machine": machine, **figures}, indent=2))
    print(f"written to {path}")
