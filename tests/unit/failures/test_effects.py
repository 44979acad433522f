"""The table of effects: its names are PyTorch's or NumPy's, each kind of result has a rule, and no function is tangled."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lab.failures.analysis.facts import Value
from lab.failures.analysis.interpreter import Interpreter
from lab.failures.analysis.kinds import EventKind
from lab.failures.analysis.registry import EFFECTS, Result
from lab.failures.analysis.syntax import positional
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


def facts(call: str) -> tuple[object, ...]:
    """What the reader knows of the result of a call, and the events that it records."""
    text = (
        "import torch\nimport torch.nn.functional as F\nx = torch.rand(5, 1, requires_grad=True)\n"
        f"y = torch.rand(5)\nz = {call}\nz.backward()\n"
    )
    interpreter = Interpreter()
    interpreter.read(positional(ast.parse(text)))
    events = interpreter.state.events
    z = next((event.value for event in events if event.kind == EventKind.BACKWARD and event.line == 6), Value())
    shown = (z.kind, z.op, z.shape, z.graph, z.form, z.cut, [part.op for part in z.parents])
    return *shown, [(event.kind, event.detail, event.value.op) for event in events]


@pytest.mark.parametrize(
    ("placed", "named"),
    [
        ("x.add(y)", "x.add(other=y)"),
        ("F.mse_loss(x, y)", "F.mse_loss(target=y, input=x)"),
        ("torch.where(x > y, x, y)", "torch.where(condition=x > y, input=x, other=y)"),
        ("torch.stack([x, x])", "torch.stack(tensors=[x, x])"),
        ("torch.nn.MSELoss()(x, y)", "torch.nn.MSELoss()(input=x, target=y)"),
        ("torch.nn.MSELoss()(x, y)", "torch.nn.MSELoss()(target=y, input=x)"),
        ("torch.nn.ReLU()(x)", "torch.nn.ReLU()(input=x)"),
        ("torch.nn.Linear(1, 1)(x)", "torch.nn.Linear(1, 1)(input=x)"),
        ("torch.nn.GRUCell(1, 1)(x)", "torch.nn.GRUCell(1, 1)(input=x)"),
        ("torch.nn.Sequential(torch.nn.Tanh())(x)", "torch.nn.Sequential(torch.nn.Tanh())(input=x)"),
    ],
)
def test_named_arguments_mean_the_same_as_placed_ones(placed, named):
    assert facts(placed) == facts(named)


def test_a_function_of_the_program_keeps_its_named_arguments():
    text = "def lerp(weight, end, input):\n    return weight\n\n\nz = lerp(weight=1, end=2, input=3)\n"
    assert ast.unparse(positional(ast.parse(text))) == ast.unparse(ast.parse(text))
