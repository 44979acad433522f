"""The table of operations: every operation of the engine has a row, and what the row says is true."""

import ast
from pathlib import Path

import numpy as np
import pytest
from op_table import CASES, CONVENTIONS, Case

import model
from lab.expression import ExpressionError, parse
from lab.gradcheck import numerical_gradient
from lab.operation_table import OPS, Derivative, Op
from lab.trace.derivation import derive
from lab.trace.nonfinite import remarks
from lab.trace.operation_example import example
from lab.trace.recording import record
from model import Tensor, topological_order

PRIMITIVE = {name for name, op in OPS.items() if not op.composed}
COMPOSED = OPS.keys() - PRIMITIVE
# What a Case calls, where that is not the operation's own name.
SPELLED = {
    "__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__pow__": "**", "__matmul__": "@",
    "__neg__": "neg", "__getitem__": "getitem", "__abs__": "abs",
}  # read by rows  # fmt: skip


def name_of(case: Case) -> str:
    return SPELLED.get(case.op, case.op)


# -- every operation has a row


def made_by(source: str) -> set[str]:
    """The operations of which a source makes nodes: each literal `op` given to `node`, or to a function that hands its
    own parameter on to `node`."""
    tree = ast.parse(source)
    makers = {"node": 2}  # function -> position of the operation's name
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name != "node":
            parameters = [argument.arg for argument in function.args.args]
            for call in calls_of(function, {"node": 2}):
                if isinstance(call, ast.Name) and call.id in parameters:
                    makers[function.name] = parameters.index(call.id)
    given = list(calls_of(tree, makers))
    return {name.value for name in given if isinstance(name, ast.Constant)}


def calls_of(tree: ast.AST, makers: dict[str, int]):
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            name = getattr(call.func, "attr", getattr(call.func, "id", None))
            if name in makers:
                yield call.args[makers[name]]


def test_every_operation_in_the_source_of_the_engine_has_a_row():
    found = made_by(Path(model.__file__).read_text("utf-8"))
    assert len(found) > 30
    assert {"maximum", "minimum", "@", "linear"} <= found  # also through a function, also an infix one
    assert found - PRIMITIVE == set(), "operations without a row in lab/operation_table.py"
    assert PRIMITIVE - found == set(), "rows in lab/operation_table.py that are no operation of the engine"


def test_a_new_operation_would_be_found():
    assert made_by("def f(self):\n return self.node(y, (self,), 'cube', _backward)\n") == {"cube"}
    assert made_by("def g(op, a):\n return a.node(y, (a,), op, b)\ndef f(a):\n return g('cube', a)") == {"cube"}


def run(case: Case) -> tuple[list[Tensor], Tensor]:
    leaves = [Tensor(array) for array in case.inputs]
    return leaves, case.call(leaves)


def test_every_operation_that_the_tables_cases_make_has_a_row():
    made = {tensor.op for case in CASES for tensor in topological_order(run(case)[1])} - {""}
    assert made == PRIMITIVE


def test_rows_of_composed_names_make_other_operations():
    for name in COMPOSED:
        cases = [case for case in CASES if name_of(case) == name]
        made = {tensor.op for case in cases for tensor in topological_order(run(case)[1])} - {""}
        assert made, name
        assert made <= PRIMITIVE, name


def test_every_row_has_what_its_form_needs():
    for name, op in OPS.items():
        assert name == op.name
        assert op.derivatives, name
        values = [kind for kind in op.signature.values() if kind in ("value", "prediction")]
        assert op.kind == "joining" or len(op.derivatives) == len(values), name
        if op.form == "method":
            assert callable(getattr(Tensor, name)), name
        elif op.form != "layer":
            assert op.call is not None, name


# -- what a row says is true


def summed(local: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A derivative for each use of an operand's elements, summed over the uses that broadcasting makes of them."""
    local = local.sum(tuple(range(local.ndim - len(shape))))
    return local.sum(tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


@pytest.mark.parametrize("name", [n for n in OPS if any(d.value for d in OPS[n].derivatives)])
def test_the_numbers_of_a_derivative_are_the_slopes(name):
    """With respect to each operand, next to the difference quotient of the summed result."""
    compared = set()
    for case in CASES:
        if name_of(case) != name or not 0 < case.size <= 12:
            continue
        leaves, result = run(case)
        values = [leaf.numpy() for leaf in leaves]
        alone = OPS[name].composed or (result.op == name and result.children == tuple(leaves))
        if not alone or len(leaves) != len(OPS[name].derivatives):  # with a constant among the operands, say
            continue
        for operand, derivative in enumerate(OPS[name].derivatives):
            if derivative.value is None or (derivative.scalar_only and result.shape):
                continue

            def total(moved, case=case, operand=operand, values=values):
                tensors = [Tensor(value) for value in values]
                tensors[operand] = moved
                return case.call(tensors).sum()

            local, shape = derivative.value(*values, result.numpy()), values[operand].shape
            uses = np.broadcast_shapes(result.shape, shape)
            found = summed(np.broadcast_to(local, uses), shape)
            np.testing.assert_allclose(found, numerical_gradient(total, values[operand]), rtol=1e-6, atol=1e-8)
            compared.add(operand)
    assert compared == {i for i, derivative in enumerate(OPS[name].derivatives) if derivative.value}


PARTS = {  # what is moved back or taken apart: the message, from the operands, the operand's number and g
    "reshape": lambda values, i, g: g.reshape(values[i].shape),
    "transpose": lambda values, i, g: g.T,
    "T": lambda values, i, g: g.T,
    "swapaxes": lambda values, i, g: g.T,
    "squeeze": lambda values, i, g: g.reshape(values[i].shape),
    "expand_dims": lambda values, i, g: g[0],
    "getitem": lambda values, i, g: np.pad(g, ((0, 0), (1, 0))),
    "concatenate": lambda values, i, g: np.split(g, 2)[i],
    "stack": lambda values, i, g: g[i],
}


def _others(x):
    return np.array([np.prod(np.delete(x.ravel(), i)) for i in range(x.size)]).reshape(x.shape)


def _softmax(x):
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


# What each text says, read by a person: local derivatives, or messages where g stands in it. x: the operand, z: the
# other one, y: the result, g: the upstream gradient.
FORMULAS = {
    "1": lambda x, z, y, g: 1.0 + 0 * y,
    "−1": lambda x, z, y, g: -1.0 + 0 * y,
    "{a}": lambda x, z, y, g: z,
    "{b}": lambda x, z, y, g: z,
    "1/{b}": lambda x, z, y, g: 1 / z,
    "−{a}/{b}²": lambda x, z, y, g: -z / x**2,
    "{b}·{a}**({b} − 1)": lambda x, z, y, g: z * x ** (z - 1),
    "{a}^{b}·log {a}": lambda x, z, y, g: z**x * np.log(z),
    "{g} @ {b}ᵀ": lambda x, z, y, g: g @ z.T,
    "{a}ᵀ @ {g}": lambda x, z, y, g: z.T @ g,
    "exp {a}": lambda x, z, y, g: np.exp(x),
    "1/{a}": lambda x, z, y, g: 1 / x,
    "1/(2√{a})": lambda x, z, y, g: 1 / (2 * np.sqrt(x)),
    "cos {a}": lambda x, z, y, g: np.cos(x),
    "−sin {a}": lambda x, z, y, g: -np.sin(x),
    "1 − tanh² {a}": lambda x, z, y, g: 1 - np.tanh(x) ** 2,
    "{y}·(1 − {y})": lambda x, z, y, g: y * (1 - y),
    "sigmoid {a}": lambda x, z, y, g: _sigmoid(x),
    "1 if {a} > 0, else 0": lambda x, z, y, g: 1.0 * (x > 0),
    "1 if {a} > 0, else the slope": lambda x, z, y, g: np.where(x > 0, 1.0, 0.1),
    "sign {a}": lambda x, z, y, g: np.sign(x),
    "1 inside the bounds, else 0": lambda x, z, y, g: 1.0 * (np.abs(x) < 1),
    "1 if {a} > {b}, ½ if equal, else 0": lambda x, z, y, g: 1.0 * (x > z),
    "1 if {b} > {a}, ½ if equal, else 0": lambda x, z, y, g: 1.0 * (x > z),
    "1 if {a} < {b}, ½ if equal, else 0": lambda x, z, y, g: 1.0 * (x < z),
    "1 if {b} < {a}, ½ if equal, else 0": lambda x, z, y, g: 1.0 * (x < z),
    "1 where {a} was chosen, else 0": lambda x, z, y, g: 1.0 * (x > z),
    "1 where {b} was chosen, else 0": lambda x, z, y, g: 1.0 * (x >= z),
    "1/n": lambda x, z, y, g: np.full(x.shape, 1 / x.size),
    "2·({a} − mean {a})/n": lambda x, z, y, g: 2 * (x - x.mean()) / x.size,
    "({a} − mean {a})/(n·{y})": lambda x, z, y, g: (x - x.mean()) / (x.size * y),
    "{a}/{y}": lambda x, z, y, g: x / y,
    "1 for the largest, shared by ties, else 0": lambda x, z, y, g: 1.0 * (x == x.max()),
    "1 for the smallest, shared by ties, else 0": lambda x, z, y, g: 1.0 * (x == x.min()),
    "the product of the others": lambda x, z, y, g: _others(x),
    "softmax {a}": lambda x, z, y, g: np.exp(x) / np.exp(x).sum(),
    "{y}·({g} − Σ {g}·{y})": lambda x, z, y, g: y * (g - (g * y).sum(-1, keepdims=True)),
    "{g} − softmax({a})·Σ {g}": lambda x, z, y, g: g - _softmax(x) * g.sum(-1, keepdims=True),
    "{g}, summed over the rows": lambda x, z, y, g: g.sum(0),
    "2·({a} − {b})/n": lambda x, z, y, g: 2 * (x - z) / x.size,
    "2·({b} − {a})/n": lambda x, z, y, g: 2 * (x - z) / x.size,
    "(sigmoid {a} − {b})/n": lambda x, z, y, g: (_sigmoid(x) - z) / x.size,
    "−{a}/n": lambda x, z, y, g: -z / x.size,
    "{g}·(softmax({a}) − one-hot label)/n": lambda x, z, y, g: g * (_softmax(x) - np.eye(3)[[0, 2]]) / 2,
}


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("seed", range(3))
def test_every_operation_has_a_formula_that_gives_the_slopes(name, seed):
    """The text of each row, read as NumPy, next to differences of sum(g * f), which know nothing of the row."""
    op, rng = OPS[name], np.random.default_rng(seed)
    shown = example(op, seed)
    result = shown.build(**{key: Tensor(value) for key, value in shown.values.items()}).numpy()
    upstream, values = rng.uniform(0.5, 2.0, result.shape), list(shown.values.values())
    for operand, key in enumerate(shown.values):
        derivative = op.derivative(operand)
        if name in PARTS:
            message = PARTS[name](values, operand, upstream)
        else:
            other = values[1 - operand] if len(values) > 1 and operand < 2 else None
            told = FORMULAS[derivative.text](values[operand], other, result, upstream)
            message = told if derivative.reads("g") else upstream * told
            message = summed(
                np.broadcast_to(message, np.broadcast_shapes(message.shape, values[operand].shape)),
                values[operand].shape,
            )

        def total(moved, key=key):
            leaves = {other: Tensor(value) for other, value in shown.values.items()} | {key: moved}
            return (shown.build(**leaves) * upstream).sum()

        numerical = numerical_gradient(total, Tensor(values[operand]))
        np.testing.assert_allclose(message, numerical, rtol=1e-6, atol=1e-7, err_msg=f"{name}: {derivative.text}")


def alone(case):
    """A function of a case's inputs, and the trace of its forward pass, if that is a single operation."""
    build = lambda **leaves: case.call(tuple(leaves.values()))  # noqa: E731
    leaves = {f"x{i}": array for i, array in enumerate(case.inputs)}
    result = build(**{name: Tensor(array, label=name) for name, array in leaves.items()})
    if result.size == 0 or set(topological_order(result)) - {result} != set(result.children):
        return build, leaves, None
    return build, leaves, record(build, leaves, np.ones(result.shape)).nodes[-1]


def test_an_operation_of_kind_elementwise_is_one_and_no_other_is():
    """A cell of the result depends on the cells in its place alone: nudge one cell, and see which others move."""
    mixing, seen = set(), set()
    for case in CASES:
        build, leaves, node = alone(case)
        if node is None or node["op"] == "":
            continue
        seen.add(node["op"])
        for name, array in leaves.items():
            for cell in range(array.size):
                nudged, there = array.copy(), np.zeros(array.shape)
                nudged.flat[cell] += 0.011
                there.flat[cell] = 1
                with np.errstate(all="ignore"):
                    moved = build(**{k: Tensor(v) for k, v in leaves.items()} | {name: Tensor(nudged)}).numpy()
                moved = moved != np.asarray(node["value"])
                try:
                    elsewhere = moved & ~np.broadcast_to(there, moved.shape).astype(bool)
                except ValueError:
                    elsewhere = moved
                if elsewhere.any():
                    mixing.add(node["op"])
    assert {op for op in PRIMITIVE if OPS[op].kind == "elementwise"} == seen - mixing - {"broadcast_to"}
    assert seen == PRIMITIVE


def test_conventions_at_kinks_are_those_that_the_engine_is_tested_for():
    tested = {name_of(case) for case, _ in CONVENTIONS}
    assert {name for name, op in OPS.items() if op.at_kinks} <= tested


EXTREME = [0.0, 1.0, -1.0, 0.5, -2.5, 1e-320, 1e160, -1e160, 1.7e308, -1.7e308]


def test_only_operations_with_a_reason_make_inf_or_nan_of_finite_numbers():
    rng = np.random.default_rng(0)
    guilty = set()
    with np.errstate(all="ignore"):
        results = [
            case.call([Tensor(rng.choice(EXTREME, array.shape)) for array in case.inputs])
            for case in CASES
            if name_of(case) in OPS
        ]
        results += [Tensor([-1e300]).leaky_relu(1e300), model.cross_entropy(Tensor([[1.7e308, -1.7e308]]), [1])]
    for tensor in (tensor for result in results for tensor in topological_order(result) if tensor.op):
        finite = all(np.isfinite(child.numpy()).all() for child in tensor.children)
        guilty |= {tensor.op} if finite and not np.isfinite(tensor.numpy()).all() else set()
    assert guilty == {name for name, op in OPS.items() if op.not_finite}


# -- a new operation needs a method and a row, nothing else


class Cubing(Tensor):
    """An engine with one operation more, written as in model.py."""

    __slots__ = ()

    def cube(self) -> Tensor:
        value = self.read()

        def _backward(upstream):
            self.accumulate(upstream * 3 * value * value)

        return self.node(value**3, (self,), "cube", _backward)


CUBE = Op(
    "cube",
    "elementwise",
    derivatives=(Derivative("3·{a}²", "3 {a}^2", "3 * a * a"),),
    not_finite="The cube is larger than the largest number a float can hold.",
)
WITH_CUBE = OPS | {"cube": CUBE}


def test_a_new_operation_is_a_function_and_a_method_of_expressions():
    expression = parse("cube(a) + b.cube() * 2", WITH_CUBE)
    result = expression(a=Cubing(2.0), b=Cubing([1.0, 3.0]))
    assert result.numpy().tolist() == [10.0, 62.0]
    assert "result = a.cube() + b.cube() * 2" in expression.to_python()
    with pytest.raises(ExpressionError, match="Did you mean `cube`"):
        parse("cub(a)", WITH_CUBE)
    with pytest.raises(ExpressionError, match="it is `cube\\(x\\)`"):
        parse("cube(a, 1)", WITH_CUBE)
    with pytest.raises(ExpressionError, match="There is no function `cube`"):
        parse("cube(a)")


def test_a_new_operation_is_derived_and_told_from_its_row():
    trace = record(parse("cube(a) * b", WITH_CUBE), {"a": [1.0, 2.0], "b": 5.0}, tensor=Cubing, ops=WITH_CUBE)
    node = next(node for node in trace.nodes if node["op"] == "cube")
    assert (node["kind"], node["symbol"]) == ("elementwise", None)  # what the ledger asks for
    (term,) = derive(trace)[0]["terms"]
    assert (term["text"], term["local"], term["agrees"]) == ("3·a²", [3.0, 12.0], True)
    assert trace.gradients["a"].tolist() == [15.0, 60.0]


def test_a_new_operation_has_its_reasons():
    def explanation(a):
        trace = record(parse("cube(a) * b", WITH_CUBE), {"a": a, "b": 1.0}, tensor=Cubing, ops=WITH_CUBE)
        return [remark.sentence for remark in remarks(trace)]

    assert explanation(1e150)[0] == (
        "`cube(1e150)` gives ∞. The cube is larger than the largest number a float can hold."
    )
    assert explanation(1e200)[1].endswith("because its rule reads v1, the result of `cube`, which is ∞.")


def test_an_operation_without_a_row_is_recorded_all_the_same():
    trace = record(lambda a: a.cube(), {"a": 2.0}, tensor=Cubing)
    assert (trace.nodes[1]["kind"], trace.nodes[1]["symbol"]) == ("other", None)
    (term,) = derive(trace)[0]["terms"]
    assert (term["text"], term["local"]) == ("the rule of this operation, applied to ∂out/∂out", None)
    assert [event["contribution"] for event in trace.events if event["kind"] == "message"] == [12.0]
