"""The five designs: each is small, stands alone, agrees with the engine and with finite differences."""

import ast
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lab.designs import functions, recursive
from lab.designs.compare import DESIGNS, ENGINE, FIVE, OPERATIONS
from lab.designs.sorting import depth_first, kahn
from lab.gradcheck import numerical_gradient
from model import Tensor, topological_order
from tests.unit.designs import programs

ROOT = Path(__file__).resolve().parents[3]
RANDOM = 500

each = pytest.mark.parametrize("design", FIVE, ids=lambda design: design.key)


def gradients(design, program):
    leaves, result = design.forward(program)
    return design.backward(program, leaves, result)


@pytest.fixture(scope="module")
def random_programs():
    """With the gradients of the engine."""
    found = [programs.random_program(seed) for seed in range(RANDOM)]
    return [(program, gradients(ENGINE, program)) for program in found]


@each
def test_agrees_with_the_engine_on_random_programs(design, random_programs):
    for seed, (program, expected) in enumerate(random_programs):
        for mine, right in zip(gradients(design, program), expected, strict=True):
            assert mine.shape == np.shape(right)
            assert np.abs(mine - right).max() <= 1e-12 * max(1.0, np.abs(right).max()), f"seed {seed}"


def test_the_random_programs_use_every_operation_and_broadcasting(random_programs):
    ops = Counter(line.op for program, _ in random_programs for line in program.lines)
    assert all(ops[op] >= 100 for op in OPERATIONS), ops
    expanded = 0
    for program, _ in random_programs:
        shapes = []
        for line in program.lines:
            operands = [np.zeros(shapes[i]) for i in line.operands]
            if line.op in ("leaf", "constant"):
                shapes.append(np.shape(line.value))
            elif line.op in "+-*/":
                shapes.append((operands[0] + operands[1]).shape)
                expanded += any(operand.shape != shapes[-1] for operand in operands)
            else:
                shapes.append(
                    (operands[0] @ operands[1]).shape
                    if line.op == "@"
                    else ()
                    if line.op == "sum"
                    else operands[0].shape
                )
    assert expanded >= 500


@each
def test_passes_finite_differences(design):
    """Of the design's own values: no number of the engine is in it."""
    for seed in range(20):
        program = programs.random_program(seed + 10_000, steps=4)
        values = [np.asarray(value, dtype=float) for value in program.leaves.values()]
        found = gradients(design, program)
        for number, value in enumerate(values):

            def f(x, number=number, program=program, values=values):
                moved = [x if i == number else other for i, other in enumerate(values)]
                return plain(design, program, moved)

            numerical = numerical_gradient(f, value)
            assert np.allclose(found[number], numerical, rtol=1e-5, atol=1e-6), f"seed {seed}"


def plain(design, program, values):
    """The value of the result in a design, at other values of the leaves."""
    renamed = iter(values)
    lines = tuple(
        programs.ProgramLine("leaf", value=next(renamed), name=line.name) if line.op == "leaf" else line
        for line in program.lines
    )
    result = design.forward(programs.DesignProgram(lines))[1]
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
    for op, extra in (("relu", ()), ("**", (programs.ProgramLine("constant", value=0.0),))):
        program = programs.DesignProgram(
            (
                programs.ProgramLine("leaf", value=0.0, name="a"),
                *extra,
                programs.ProgramLine(op, (0, 1)[: 1 + len(extra)]),
            )
        )
        assert float(gradients(design, program)[0]) == 0.0


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
