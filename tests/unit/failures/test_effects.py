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
from lab.failures.analysis.registry import EFFECTS, PARAMETERS, Result
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


def first_names(name: str) -> list[str]:
    """The names that PyTorch gives to the first parameters of a function."""
    return [parameter.split("|")[0] for parameter in PARAMETERS[name]]


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


def arguments(names: list[str], form: str) -> str:
    given = ["x", *["y"] * (len(names) - 1)]
    return ", ".join(form.format(name=name, value=value) for name, value in zip(names, given, strict=True))


@pytest.mark.parametrize("home", ["torch", "F"])
def test_named_arguments_mean_the_same_as_placed_ones(home):
    wrong = []
    for name in PARAMETERS.keys() - {"**", "backward", "step"}:
        names = first_names(name)
        placed, named = (facts(f"{home}.{name}({arguments(names, form)})") for form in ("{value}", "{name}={value}"))
        wrong += [] if placed == named else [(name, placed, named)]
        for odd in ("", "**given", "*given", "unknown=x"):  # no text ends in a traceback
            facts(f"{home}.{name}({odd})")
    assert wrong == []


@pytest.mark.parametrize(
    ("placed", "named"),
    [
        ("x.add(y)", "x.add(other=y)"),
        ("x.reshape(-1)", "x.reshape(shape=-1)"),
        ("x.transpose(0, 1)", "x.transpose(dim0=0, dim1=1)"),
        ("torch.nn.MSELoss()(x, y)", "torch.nn.MSELoss()(input=x, target=y)"),
        ("torch.nn.MSELoss()(x, y)", "torch.nn.MSELoss()(target=y, input=x)"),
        ("torch.nn.ReLU()(x)", "torch.nn.ReLU()(input=x)"),
        ("torch.nn.Linear(1, 1)(x)", "torch.nn.Linear(1, 1)(input=x)"),
        ("torch.nn.GRUCell(1, 1)(x)", "torch.nn.GRUCell(1, 1)(input=x)"),
        ("torch.nn.Sequential(torch.nn.Tanh())(x)", "torch.nn.Sequential(torch.nn.Tanh())(input=x)"),
    ],
)
def test_methods_and_layers_take_named_arguments(placed, named):
    assert facts(placed) == facts(named)


def test_a_function_of_the_program_keeps_its_named_arguments():
    text = "def lerp(weight, end, input):\n    return weight\n\n\nz = lerp(weight=1, end=2, input=3)\n"
    assert ast.unparse(positional(ast.parse(text))) == ast.unparse(ast.parse(text))


@pytest.mark.filterwarnings("ignore")
def test_the_names_of_parameters_are_those_of_pytorch():
    """Each call that PyTorch takes by place, it takes with the table's names."""
    torch = pytest.importorskip("torch")
    x = torch.rand(4, 4) + 0.1
    places = torch.zeros(4, 4, dtype=torch.long)
    samples = {"index": places, "condition": x > 0.5, "tensors": [x, x], "data": x, "tensor": x, "mode": True}
    samples |= {"shape": (2, 8), "size": (2, 3), "exponent": 0.5, "val": 0.5, "dim": 0, "dim0": 0, "dim1": 1}
    samples |= {"requires_grad": True, "dataset": [1, 2, 3, 4], "batch_size": 2}
    homes = (torch, torch.nn.functional, torch.nn.init, torch.nn, torch.utils.data, torch.linalg)
    tried, wrong = 0, []
    mode = torch.is_grad_enabled()
    for name in PARAMETERS.keys() - {"Tensor"}:  # PyTorch's takes no names, the engine's does
        names = first_names(name)
        given = [samples.get(word, x) for word in names]
        for call in {getattr(home, name, None) for home in homes} - {None, torch.linalg.diagonal}:
            try:
                call(*given)
            except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, AttributeError):
                continue  # it takes other shapes
            tried += 1
            try:
                call(**dict(zip(names, given, strict=True)))
            except TypeError as error:
                wrong.append((name, str(error)))
    torch.set_grad_enabled(mode)
    assert wrong == []
    assert tried > 120
