"""The five designs: each is small, stands alone, agrees with the engine and with finite differences."""

import ast
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lab.designs import functions, recursive
from lab.designs.compare import DESIGNS, ENGINE, FIVE, OPERATIONS, DesignProgram, ProgramLine, program
from lab.designs.topological_sorting import depth_first, kahn
from lab.expression import parse
from lab.gradcheck import numerical_gradient
from model import Tensor, topological_order

ROOT = Path(__file__).resolve().parents[3]
X, R, C = [[0.5, -1.2, 2.0], [1.5, 0.3, -0.7]], [0.4, -0.9, 1.1], [[1.3], [-0.6]]
PROGRAMS = {
    "(a*b + c) * (a + d) / -c": {"a": 2.0, "b": -3.0, "c": 4.0, "d": 0.5},
    "h = a*b + a; k = h*h; k/(k + 2) - h + k": {"a": 0.7, "b": -1.2},
    "sum(x*r + c/(x**2 + 1) - r*s) + sum(s*c)": {"x": X, "r": R, "c": C, "s": 0.3},  # each broadcast to each
    "sum(relu(x - c) * exp(tanh(r)) + log(x**2 + 1.5))": {"x": X, "r": R, "c": C},
    "sum((x*x + 1)**0.5 - (r*r + 0.5)**-1 + x**0)": {"x": X, "r": R},
    "sum(tanh(x @ w + b) @ v)": {"x": X, "w": [[0.2, 1.0], [-0.4, 0.7], [1.1, -0.3]], "b": [0.1, -0.2], "v": [2, -1]},
    "(r @ r) * sum(x @ r) - sum([0.5, -2] @ x)": {
        "x": X,
        "r": R,
    },  # vector by vector, matrix by vector, vector by matrix
    "sum([[1], [2]] * r - 3/(x*x + 2) + 2) - sum(o*x)": {"x": X, "r": R, "o": [1.7]},  # constants and one element
}


each = pytest.mark.parametrize("design", FIVE, ids=lambda design: design.key)


def gradients(design, run):
    leaves, result = design.forward(run)
    return design.backward(run, leaves, result)


def test_the_programs_use_every_operation():
    used = {line.op for text, leaves in PROGRAMS.items() for line in program(parse(text), leaves).lines}
    assert used - {"leaf", "constant"} == {*OPERATIONS}


@each
@pytest.mark.parametrize("text", PROGRAMS)
def test_agrees_with_the_engine_and_with_finite_differences(design, text):
    """Differences of the design's own values: no number of the engine is in them."""
    run = program(parse(text), PROGRAMS[text])
    values, found = [np.asarray(value, dtype=float) for value in run.leaves.values()], gradients(design, run)
    for number, (mine, right) in enumerate(zip(found, gradients(ENGINE, run), strict=True)):
        assert mine.shape == np.shape(right)
        assert np.abs(mine - right).max() <= 1e-12 * max(1.0, np.abs(right).max())

        def f(x, number=number):
            return plain(design, run, [x if i == number else other for i, other in enumerate(values)])

        np.testing.assert_allclose(mine, numerical_gradient(f, values[number]), rtol=1e-5, atol=1e-6)


def plain(design, run, values):
    """The value of the result in a design, at other values of the leaves."""
    renamed = iter(values)
    lines = tuple(
        ProgramLine("leaf", value=next(renamed), name=line.name) if line.op == "leaf" else line for line in run.lines
    )
    result = design.forward(DesignProgram(lines))[1]
    return float(result.value if design.key == "duals" else result.data)


# ---------------------------------------------------------------- the files


@each
def test_is_at_most_150_lines(design):
    assert len((ROOT / design.file).read_text(encoding="utf-8").splitlines()) <= 150


@each
def test_imports_only_numpy_and_the_standard_library(design):
    tree = ast.parse((ROOT / design.file).read_text(encoding="utf-8"))
    imported = {n.module.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    imported |= {alias.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}
    assert imported - set(sys.stdlib_module_names) <= {"numpy"}


def test_each_runs_alone_and_its_example_gives_the_same_numbers(tmp_path):
    """Copied to a folder with nothing else in it, and without this project on the path."""
    (tmp_path / "all.py").write_text(
        "import runpy, sys\nfor name in sys.argv[1:]: runpy.run_path(name, run_name='__main__')\n"
    )
    for design in FIVE:
        (tmp_path / f"{design.key}.py").write_text((ROOT / design.file).read_text(encoding="utf-8"), encoding="utf-8")
    names = [f"{design.key}.py" for design in FIVE]
    command = [sys.executable, "-I", "all.py", *names]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    printed = [
        [float(word) for word in line.translate(str.maketrans("[],", "   ")).split()]
        for line in result.stdout.splitlines()
    ]
    assert len(printed) == len(FIVE)
    assert np.allclose(printed, [0.98531733, 0.08744686, -0.11659581, 0.02914895], atol=1e-8)


# ---------------------------------------------------------------- what each says of itself


def tensors():
    return [DESIGNS[key] for key in ("closures", "functions", "recursive")]


@pytest.mark.parametrize("design", tensors(), ids=lambda design: design.key)
def test_an_array_before_a_tensor_is_an_operand(design):
    x = design.node([1.0, 2.0])
    a = np.array([[3.0], [4.0]])
    for result, expected in (
        (a + x, [2, 2]),
        (a - x, [-2, -2]),
        (a * x, [7, 7]),
        (a / x, [-7, -1.75]),
        (a.T @ design.node([1.0, 2.0]), None),
    ):
        x.grad = None
        result.sum().backward()
        assert expected is None or np.allclose(x.grad, expected)


@pytest.mark.parametrize("design", tensors(), ids=lambda design: design.key)
def test_a_pass_starts_from_a_single_number(design):
    with pytest.raises(RuntimeError, match="single number"):
        (design.node([1.0, 2.0]) * 2.0).backward()


@each
def test_at_kinks_as_the_engine(design):
    """relu'(0) = 0, and x**0 has the derivative 0 at 0."""
    for op, extra in (("relu", ()), ("**", (ProgramLine("constant", value=0.0),))):
        lines = (ProgramLine("leaf", value=0.0, name="a"), *extra, ProgramLine(op, (0, 1)[: 1 + len(extra)]))
        assert float(gradients(design, DesignProgram(lines))[0]) == 0.0


def test_an_operation_without_its_two_methods_is_refused():
    class Half(functions.Function):
        def forward(self, a):
            return a / 2

    with pytest.raises(NotImplementedError, match="Half needs a backward"):
        Half.apply(functions.Tensor(1.0)).backward()
    with pytest.raises(NotImplementedError, match="Function needs a forward"):
        functions.Function.apply(functions.Tensor(1.0))
    with pytest.raises(NotImplementedError, match="BackwardFunction needs a backward"):
        recursive.Tensor(1.0, recursive.BackwardFunction((recursive.Tensor(1.0),))).backward()


def test_nobody_created_a_leaf():
    with pytest.raises(RuntimeError, match="starts from a result"):
        functions.Tensor(1.0).backward()


def test_a_function_of_ones_own_needs_nothing_but_forward_and_backward():
    class Cube(functions.Function):
        def forward(self, a):
            self.save_for_backward(a)
            return a**3

        def backward(self, upstream, a):
            return (upstream * 3 * a**2,)

    x = functions.Tensor(2.0)
    y = Cube.apply(x) * x
    y.backward()
    assert float(x.grad) == 32.0
    assert type(y.creator).__name__ == "Mul"
    assert x.creator is None


def test_both_ways_to_sort_a_graph_list_every_node_in_an_order_that_serves_backward():
    """As many nodes as the engine's own order, each list longer by one at a time, and no node before its users."""
    rng = np.random.default_rng(4)
    for count in range(1, 9):
        graph = {"n0": []} | {f"n{i}": [f"n{j}" for j in rng.integers(i, size=2)] for i in range(1, count)}
        tensors = {}
        for name, children in graph.items():
            tensors[name] = tensors[children[0]] + tensors[children[1]] if children else Tensor(1.0, label=name)
        listed = {id(node) for node in topological_order(tensors[f"n{count - 1}"])}
        reached = {name for name in graph if id(tensors[name]) in listed}
        graph = {name: graph[name] for name in reached}
        for sort in (depth_first, kahn):
            *_, last = grown = [order for _, order in sort(graph, f"n{count - 1}")]
            assert sorted(last) == sorted(reached)
            assert all(later[: len(sooner)] == sooner for sooner, later in pairwise(grown))
            sending = last if sort is kahn else last[::-1]
            assert all(sending.index(name) < sending.index(child) for name in graph for child in graph[name])


def test_the_pass_of_functions_lets_go_of_what_was_saved():
    x = functions.Tensor([1.0, 2.0])
    y = (x.exp() * x).sum()
    product = y.creator.arguments[0].creator
    assert len(product.saved_tensors) == 2
    y.backward()
    assert product.saved_tensors is None
