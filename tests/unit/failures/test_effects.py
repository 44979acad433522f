"""The table of effects: its names are PyTorch's or NumPy's, each kind of result has a rule, and no function is tangled."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lab.failures.analysis.effects import EFFECTS, Result
from lab.failures.analysis.tensors import Tensors

ROOT = Path(__file__).parents[3]
SIGNS = {"**"}  # of operators, which keep what they were given


def test_each_row_is_a_function_that_a_library_has():
    torch = pytest.importorskip("torch")
    homes = (torch, torch.nn.functional, torch.linalg, torch.Tensor, np, np.ndarray)
    assert {name for name in EFFECTS if not any(hasattr(home, name) for home in homes)} == SIGNS


def test_each_kind_of_result_has_a_rule():
    assert set(Tensors.transfers) == set(Result)


def test_no_function_of_the_reader_is_above_complexity_15():
    options = ["check", "--select", "C901", "--config", "lint.mccabe.max-complexity=15", "lab/failures"]
    ran = subprocess.run([sys.executable, "-m", "ruff", *options], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
