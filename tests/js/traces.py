"""What tests/js/ reads, as one JSON object: traces that the real engine has just made, as the browser gets them."""

import numpy as np

from lab.expression.builder import parse
from lab.faults.engines import Overwrites
from lab.ops import OPS
from lab.trace.export import playable, standalone
from lab.trace.recording import Recording, numeral, record, strict_json
from model import Tensor, concatenate, maximum, minimum
from tests.browser.apps.programs import SHAPES
from tests.programs import LEAVES, program, shared
from tests.unit.op_table import CASES

NAMES = "abc"
EXAMPLES = 8  # of each operation, at most


def operations():
    """For each operation some of the small cases of the engine's tests that it ends: numbers, rows, broadcasting, axes.
    The upstream gradient differs from cell to cell."""
    found = {op: [] for op in OPS}
    for case in CASES:
        leaves = dict(zip(NAMES, case.inputs, strict=False))
        build = lambda case=case, **tensors: case.call(tuple(tensors.values()))  # noqa: E731
        result = build(**{name: Tensor(value) for name, value in leaves.items()})
        if 0 < result.size <= 9 and case.size <= 18:
            found[result.op].append((build, leaves, np.resize([1.5, -2.0, 3.0, 0.25, -0.5], result.shape)))
    for op, cases in found.items():
        for arguments in cases[:: len(cases) // EXAMPLES + 1]:
            trace = record(*arguments)
            yield {"op": op, "data": playable(trace), "captured": trace.nodes[trace.output]["captured"]}


def named():
    """Programs with something special, by name."""
    a, b = [1.0, 5.0, 3.0, 9.0, 2.0], [2.0, 4.0, 3.0, 1.0, 7.0]
    matrix, row = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [10.0, 20.0]
    recording = Recording({"a": 2.0, "b": 3.0})
    traces = {
        "shared": record(shared, LEAVES),
        "maximum": record(lambda a, b: maximum(a, b).sum(), {"a": a, "b": b}),
        "minimum": record(lambda a, b: minimum(a, b).sum(), {"a": a, "b": b}),
        "broadcast": record(lambda row, m: (m * row).sum(), {"row": row, "m": matrix}),
        "infinite": record(lambda a: (1.0 / a).log() * 0.0, {"a": [0.0, -1.0, 2.0]}),
        "broken": record(lambda a: a * a + a, {"a": 3.0}, tensor=Overwrites),
        "unused": record(lambda a, b: (a * 2.0).relu(), {"a": -2.0, "b": 3.0}),
        "joined": record(lambda a, b: (concatenate([a, b]) * 2.0).mean(), {"a": a, "b": b}),
        "many": record(lambda a: sum(a * float(i) for i in range(12)), {"a": 2.0}),
        "lines": record(parse("h = (a*b + c).mean()\ng = tanh(h)*h\nk = exp(g)\ng*a + k"), {"a": a, "b": b, "c": 3.0}),
        "iterate": record(SHAPES["iterate"], LEAVES),
        "tangle": record(SHAPES["tangle"], LEAVES),
        "only forward": recording.finish(recording.tensors["a"] * recording.tensors["b"], "It was told to stop."),
    }
    return {name: playable(trace) for name, trace in traces.items()}


def random_programs():
    rng = np.random.default_rng(0)
    ops = ["+", "-", "*", "/", "exp", "tanh", "sigmoid", "relu", "sin", "cos", "softplus", "abs"]
    for _ in range(500):
        count = rng.integers(1, 9)
        steps = [(str(rng.choice(ops)), int(rng.integers(31)), int(rng.integers(31))) for _ in range(count)]
        trace = record(program(steps), {"a": rng.uniform(0.5, 2.0), "b": rng.uniform(-2.0, -0.5)})
        yield {"data": playable(trace), "gradients": trace.gradients_after()}


def numbers():
    """Numbers of all sizes, with their texts on the pages."""
    rng = np.random.default_rng(0)
    drawn = rng.uniform(-10, 10, 500) * 10.0 ** rng.integers(-12, 13, 500)
    return [[x, numeral(x)] for x in [*drawn.tolist(), 0.0, 1e6, 999999.9, 9999.96, 1e-4, np.nan, np.inf, -np.inf]]


print(
    strict_json(
        {
            "operations": list(operations()),
            "named": named(),
            "random": list(random_programs()),
            "numbers": numbers(),
            "page": standalone(record(shared, LEAVES)),
        }
    )
)
