"""What tests/js/ reads, as one JSON object: traces that the real engine has just made, as the browser gets them."""

import numpy as np

from lab.expression import ExpressionError
from lab.expression.parser import parse
from lab.operation_table import OPS
from lab.text import numeral, strict_json
from lab.trace.export import playable, slope_data, standalone
from lab.trace.mistakes import Mistakes
from lab.trace.numerical import slopes_of_numbers
from lab.trace.recording import Recording, attempt, record
from lab.traps.faults.broken_engines import Overwrites, SkipsUnbroadcast, WrongOrder
from lab.traps.faults.healthy_and_broken import follow
from lab.watch import watch
from model import Tensor, concatenate, maximum, minimum, stack
from tests.browser.apps.programs import SHAPES
from tests.programs import LEAVES, program, shared
from tests.unit.op_table import CASES

NAMES = "abc"
ORDER = ("t = a*b\nt * (t + c)", {"a": 2.0, "b": 3.0, "c": 1.0})
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


def recorded():
    """A pass of a program of its own, with an array that is too large to be shown whole."""
    w = Tensor(np.arange(400.0).reshape(20, 20), label="w")
    with watch() as pass_:
        ((w * w).mean() + w.sum()).backward()
    return pass_.trace


def second():
    """The second of two passes, without zero_grad between them."""
    w = Tensor(2.0, label="w")
    with watch() as pass_:
        for _ in range(2):
            (w * w * w).backward()
    return pass_.trace


def looped(x, w):
    """A state that each turn of a loop names h."""
    h = x
    for _ in range(3):
        h = (h * w + x).tanh()
        h.label = "h"
    return h * 2.0


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
        "rounded": record(lambda a, b: (a * b).relu() * a.exp() + b * 1.5, {"a": 1 / 3, "b": 12.184}),
        "broken": record(lambda a: a * a + a, {"a": 3.0}, tensor=Overwrites),
        "early": follow(parse(ORDER[0]), WrongOrder, ORDER[1]),
        "early, right": record(parse(ORDER[0]), ORDER[1]),
        "overwritten": follow(parse("((a*b) + c) * (a + d)"), Overwrites, LEAVES),
        "no sum": follow(parse("(m * row).sum()"), SkipsUnbroadcast, {"m": matrix, "row": row}),
        "no sum, right": record(parse("(m * row).sum()"), {"m": matrix, "row": row}),
        "unused": record(lambda a, b: (a * 2.0).relu(), {"a": -2.0, "b": 3.0}),
        "joined": record(lambda a, b: (concatenate([a, b]) * 2.0).mean(), {"a": a, "b": b}),
        "many": record(lambda a: sum(a * float(i) for i in range(12)), {"a": 2.0}),
        "lines": record(parse("h = (a*b + c).mean()\ng = tanh(h)*h\nk = exp(g)\ng*a + k"), {"a": a, "b": b, "c": 3.0}),
        "loop": record(looped, {"x": 0.5, "w": 0.8}),
        "only forward": recording.finish(recording.tensors["a"] * recording.tensors["b"], "It was told to stop."),
        "recorded": recorded(),
        "second": second(),
        "no graph": attempt(lambda a, b: a * b, {"a": 2.0, "b": 3.0}, changes={"a": "constant", "b": "detached"}),
    }
    return {name: playable(trace) for name, trace in traces.items()}


SLOPES = {  # what stands at the end of a pass: an expression, its inputs
    "slope": ("a*b + c", {"a": 2.0, "b": -3.0, "c": 10.0}),
    "kink": ("relu(a - 1) + b", {"a": 1.0, "b": 2.0}),
    "two kinks": ("abs(a) + relu(b)", {"a": 0.0, "b": 0.0}),
    "tie": ("maximum(a, b)", {"a": 1.0, "b": 1.0}),
    "nan": ("log(a - 2) * b", {"a": 1.0, "b": 3.0}),
    "infinite": ("exp(a)", {"a": 1000.0}),
    "edge": ("sqrt(a)", {"a": 0.0}),
    "wrong": ("relu(a) - relu(-a)", {"a": 0.0}),
    "blocked": ("relu(a)", {"a": -5.0}),
    "minimum": ("(a - 1)**2", {"a": 1.0}),
    "small": ("a * 1e-9", {"a": 1.0}),
    "array": ("sum(relu(v))", {"v": [0.0, 1.0]}),
    "many inputs": ("+".join("abcdefghi"), dict.fromkeys("abcdefghi", 1.0)),
}


def slopes():
    """What the player gets to say about the gradients, and the trace."""
    for name, (text, leaves) in SLOPES.items():
        build = parse(text)
        trace = record(build, leaves)
        yield name, {"data": playable(trace), "slopes": slope_data(slopes_of_numbers(trace, build))}


CHANGES = {  # an expression, its inputs, and the value that one of them is moved to
    "line": ("a*b + c", {"a": 2.0, "b": -3.0, "c": 10.0}, {"a": 2.5}),
    "curve": ("a**2", {"a": 2.0}, {"a": 2.1}),
    "kink": ("relu(a) + b", {"a": 1.0, "b": 2.0}, {"a": -2.0}),
    "still": ("relu(a) + b", {"a": -2.0, "b": 2.0}, {"a": -1.0}),
    "cell": ("sum(v**2)", {"v": [1.0, 2.0, 3.0]}, {"v": [1.0, 2.5, 3.0]}),
    "both": ("a*b", {"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 3.0}),
    "nan": ("log(a)", {"a": 1.0}, {"a": -1.0}),
}


def changes():
    """The traces before and after an input was moved."""
    for name, (text, leaves, moved) in CHANGES.items():
        yield name, [playable(record(parse(text), values)) for values in (leaves, leaves | moved)]


def random_expressions():
    """Random expressions of numbers with the gradient of one input."""
    rng = np.random.default_rng(3)
    twos = ["{} + {}", "{} - {}", "{} * {}", "{} / {}", "maximum({}, {})", "minimum({}, {})", "{} ** 2", "{} ** {}"]
    ones = ["exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "softplus", "relu", "abs", "-"]
    made = 0
    while made < 300:
        names = [*NAMES, "1.5"]
        lines = []
        for line in range(int(rng.integers(2, 9))):
            one, other = rng.choice(names[-6:], 2)
            text = rng.choice(twos).format(one, other) if rng.integers(2) else f"{rng.choice(ones)}({one})"
            lines.append(f"v{line} = {text}")
            names.append(f"v{line}")
        try:
            build = parse("\n".join(lines))
        except ExpressionError:  # it uses no name
            continue
        leaves = {name: float(rng.choice([-1, 1]) * rng.uniform(0.3, 2.0)) for name in build.names}
        try:
            trace = record(build, leaves)
        except RuntimeError:  # no input takes part
            continue
        moved = str(rng.choice(build.names))
        made += 1
        gradient = trace.gradients[moved]
        yield {
            "data": playable(trace),
            "name": moved,
            "gradient": 0.0 if gradient is None else float(gradient),
        }


def random_programs():
    rng = np.random.default_rng(0)
    ops = ["+", "-", "*", "/", "exp", "tanh", "sigmoid", "relu", "sin", "cos", "softplus", "abs"]
    for _ in range(500):
        count = rng.integers(1, 9)
        steps = [(str(rng.choice(ops)), int(rng.integers(31)), int(rng.integers(31))) for _ in range(count)]
        trace = record(program(steps), {"a": rng.uniform(0.5, 2.0), "b": rng.uniform(-2.0, -0.5)})
        yield {"data": playable(trace), "gradients": trace.gradients_after()}


def random_array_programs():
    """Programs over arrays of up to three axes, which broadcast, multiply, reduce, index and reshape them."""
    rng = np.random.default_rng(1)
    shapes = [(), (2,), (3,), (2, 3), (3, 2), (1, 3), (2, 1), (2, 2, 3), (3, 1, 2), (2, 3, 1)]
    elementwise = ["tanh", "exp", "sin", "relu", "sigmoid", "leaky_relu"]
    reductions = ["sum", "mean", "max", "logsumexp", "norm", "prod"]

    def step(values):
        x, y = (values[i] for i in rng.integers(len(values), size=2))
        axis = int(rng.integers(x.ndim)) if x.ndim else None
        match rng.integers(9):
            case 0:
                return getattr(x, str(rng.choice(elementwise)))()
            case 1 if x.ndim:
                return getattr(x, str(rng.choice(reductions)))(axis=axis, keepdims=bool(rng.integers(2)))
            case 2 if x.ndim and y.ndim:
                return x @ y
            case 3 if x.ndim:
                return x[int(rng.integers(x.shape[0]))] if rng.integers(2) else x[..., ::2]
            case 4 if x.ndim:
                return getattr(x, str(rng.choice(["softmax", "log_softmax"])))(axis=axis)
            case 5 if x.ndim > 1:
                return x.T if rng.integers(2) else x.reshape(-1)
            case 6:
                return concatenate([x, y]) if rng.integers(2) else stack([x, y])
            case _:
                return [x + y, x - y, x * y, maximum(x, y)][int(rng.integers(4))]

    made = 0
    while made < 300:
        leaves = {
            name: rng.uniform(-2.0, 2.0, shapes[i]) for name, i in zip("abc", rng.integers(10, size=3), strict=True)
        }
        state = rng.bit_generator.state

        def build(state=state, **tensors):
            rng.bit_generator.state = state
            values = list(tensors.values())
            for _ in range(int(rng.integers(1, 6))):
                try:
                    values.append(step(values))
                except (ValueError, IndexError):  # the shapes do not fit
                    continue
            result = [value for value in values[3:] if value.ndim <= 3 and value.size <= 36]
            return sum((value.sum() for value in result[:-1]), start=result[-1])

        try:
            trace = record(build, leaves, np.array(1.5))
        except (IndexError, ValueError, TypeError, RuntimeError):  # nothing fitted, or the result is an array
            try:
                trace = record(build, leaves)
            except (IndexError, TypeError):
                continue
        made += 1
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
            "slopes": dict(slopes()),
            "large": {name: playable(record(SHAPES[name], LEAVES)) for name in ("iterate", "tangle")},
            "random": list(random_programs()),
            "expressions": list(random_expressions()),
            "changes": dict(changes()),
            "arrays": list(random_array_programs()),
            "numbers": numbers(),
            "guesses": Mistakes(record(shared, LEAVES)).wrong_gradients_by_event(6),
            "page": standalone(record(shared, LEAVES)),
        }
    )
)
