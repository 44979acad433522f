"""The scalar course: an engine on single numbers, from an empty file to a network that has learned."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.random import Generator

from practice.task import Check, Course, Inputs, read_tasks

# -- Inputs: the smallest case has small whole numbers; later ones have zeros, ties, signs and fractions ---------------


def _number(rng: Generator, size: int) -> float:
    if size == 0:
        return float(rng.integers(2, 6))
    return round(float(rng.choice([-1, 1]) * rng.uniform(0.5, 3)), 1 if size < 3 else 6)


def _some(*names: str) -> Any:
    """Numbers under these names: any of them may be 0 or equal to the one before."""

    def inputs(rng: Generator, size: int) -> Inputs:
        values: dict[str, float] = {}
        for name in names:
            drawn = rng.random()
            if size == 2 and drawn < 0.3:
                values[name] = 0.0
            elif size == 3 and values and drawn < 0.3:
                values[name] = [*values.values()][-1]
            else:
                values[name] = _number(rng, size)
        return values

    return inputs


def _nonzero(*names: str) -> Any:
    return lambda rng, size: {name: _number(rng, size) for name in names}


def _power(rng: Generator, size: int) -> Inputs:
    """Negative bases with whole exponents, 0 with positive ones, and fractional ones for positive bases."""
    p, n = _number(rng, size), int(rng.choice([2, 3] if size == 0 else [1, 2, 3, 4, -1, -2]))
    if size == 2 and n > 0 and rng.random() < 0.5:
        p = 0.0
    elif size == 3 and rng.random() < 0.5:
        return {"p": abs(p), "n": float(rng.choice([0.5, 1.5, -0.5])), "g": _number(rng, size)}
    return {"p": p, "n": n, "g": _number(rng, size)}


def _weights(count: int, inputs: int) -> Any:
    """As many parameters, and a list of inputs."""

    def case(rng: Generator, size: int) -> Inputs:
        return {
            "numbers": [round(float(x), 2) for x in rng.normal(0, 0.7, count)],
            **({"x": [_number(rng, size) for _ in range(inputs)]} if inputs else {}),
            "seed": int(rng.integers(100)),
        }

    return case


# The seeds of the beginnings that a training is judged from, always the same, so that luck has no part in the verdict.
# Of 1,000 (rates 0.1 to 1.5, 100 steps) the first two are among the slowest at every rate and the third is the slowest
# at the smallest; the last is thrown out first, at a rate of 2. What learns from these learns from nearly all.
BEGINNINGS = (427, 856, 538, 603)


def _beginning(rng: Generator, size: int) -> Inputs:
    return {"seed": BEGINNINGS[size]}


def _seed(rng: Generator, size: int) -> Inputs:
    return {"seed": int(rng.integers(1000))}


# -- Programs ----------------------------------------------------------------------------------------------------------

_SEND = """\
def send(result):  # calls each rule, from the result down to the leaves
    result._backward()
    for child in result._children:
        send(child)

"""
_SET = "for p, number in zip({}.parameters(), numbers):\n    p.data = number\n"
_POINTS = """\
xs = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]
ys = [-1.0, -1.0, -1.0, 1.0]
"""
_LOSS_NOW = "sum((net(x)[0].data - y) ** 2 for x, y in zip(xs, ys)) / 4"


def _rule(formula: str, names: str, upstream: bool = True) -> dict[str, Any]:
    """The parts of a check of one formula: `a = Value(p)`, `b = Value(q)`, and what each of them receives."""
    leaves = dict(zip(names, "pq", strict=False))
    made = "".join(f"{name} = Value({number})\n" for name, number in leaves.items())
    run = "y.grad = g\ny._backward()" if upstream else "y.grad = g\nsend(y)"
    return {
        "program": f"{'' if upstream else _SEND}{made}y = {formula}\n{run}",
        "shows": ("y.data", *(f"{name}.grad" for name in names)),
        "output": "y.data",
        "upstream": "g",
        "derivatives": {f"{name}.grad": number for name, number in leaves.items()},
    }


_BEFORE = 10.0  # what had arrived at a value before


def _both_sides(name: str, formula: str, messages: Callable[[float, float], tuple[float, float]]) -> Check:
    """One value is both operands: none of its messages may be lost, be the reason a set, a dict or a condition.

    messages   (the value, the upstream gradient) -> what each operand receives

    A message that replaces what was there may pass: the task "One value, used twice" is about that.
    """

    def judge(inputs: Inputs, values: Mapping[str, Any]) -> str:
        first, second = messages(inputs["p"], inputs["g"])
        added = _BEFORE + first + second
        if any(math.isclose(values["a.grad"], each, abs_tol=1e-9) for each in (added, first + second, first, second)):
            return ""
        return (
            f"One value is both operands, so it receives a message for each of them: `a.grad` was {_BEFORE:g} and "
            f"should be {added:.6g}. It is {values['a.grad']:.6g}."
        )

    program = f"{_SEND}a = Value(p)\ny = {formula}\na.grad = {_BEFORE}\ny.grad = g\nsend(y)"
    return Check(name, program, ("a.grad",), _nonzero("p", "g"), cases=4, judge=judge)


ENOUGH = 0.01  # the loss that a training has to come below


def _learned(inputs: Inputs, values: Mapping[str, Any]) -> str:
    last = values["losses[-1]"]
    if not isinstance(last, float):
        return "The last loss is not a number: keep `loss.data`."
    if last < ENOUGH and not values[_LOSS_NOW] < 0.05:
        return f"The list ends below {ENOUGH}, and the network's loss is {values[_LOSS_NOW]:.3g}: was this one trained?"
    if last < ENOUGH:
        return ""
    if not last < values["losses[0]"]:
        return f"The loss began at {values['losses[0]']:.3g} and ended at {last:.3g}: try a smaller `rate`."
    digits = next((d for d in range(3, 17) if float(f"{last:.{d}g}") > ENOUGH), 17)  # 0.01 is not said of 0.010003
    return (
        f"The last loss is {last:.{digits}g}, not below {ENOUGH}: print the losses, then try another `rate` or more "
        "`steps`."
    )


# -- The checks of each task -------------------------------------------------------------------------------------------

VALUE = (
    Check(
        "A new value",
        "a = Value(p)",
        ("a.data", "a.grad", "a.label", "a._op", "a._children", "isinstance(a._children, tuple)"),
        _some("p"),
        cases=8,
    ),
    Check("A label", 'a = Value(p, label="weight")', ("a.label", "a.data"), _some("p"), cases=4),
    Check(
        "A leaf passes nothing on",
        "a = Value(p)\nresult = a._backward()",
        ("result", "a.grad"),
        _some("p"),
        cases=4,
    ),
    Check(
        "Two values are two",
        "a = Value(p)\nb = Value(q)\na.grad = 5.0",
        ("a.grad", "b.grad", "a.data", "b.data"),
        _some("p", "q"),
        cases=4,
    ),
    Check(
        "What print shows",
        "a, new = Value(p), Value(p)\na.grad = q",
        ("repr(a)", "repr(new)"),
        _some("p", "q"),
        cases=4,
    ),
)

ADD = (
    Check(
        "A sum",
        'a = Value(p, label="a")\nb = Value(q, label="b")\ny = a + b\nz = a + a',
        (
            "y.data",
            "[child.label for child in y._children]",
            "y._op",
            "y.grad",
            "a.data",
            "b.data",
            "[child.label for child in z._children]",
        ),
        _some("p", "q"),
    ),
    Check("The rule of +", inputs=_some("p", "q", "g"), **_rule("a + b", "ab")),
    Check(
        "A sum of sums",
        "a, b, c = Value(p), Value(q), Value(r)\ny = a + b\nz = y + c\nz.grad = g\nz._backward()\ny._backward()",
        ("z.data", "y.grad", "c.grad", "a.grad", "b.grad"),
        _some("p", "q", "r", "g"),
        output="z.data",
        upstream="g",
        derivatives={"a.grad": "p", "b.grad": "q", "c.grad": "r"},
    ),
    _both_sides("a + a", "a + a", lambda p, g: (g, g)),
    Check("A number on the right", inputs=_some("p", "k", "g"), **_rule("a + k", "a")),
    Check("A number on the left", inputs=_some("p", "k", "g"), **_rule("k + a", "a")),
)

ARITHMETIC = (
    Check(
        "The numbers",
        "a = Value(p)\nb = Value(q)",
        ("(a * b).data", "(-a).data", "(a - b).data", "(a ** 3).data", "(a / b).data"),
        _nonzero("p", "q"),
    ),
    Check("The rule of *", inputs=_some("p", "q", "g"), **_rule("a * b", "ab")),
    Check("The rule of **", inputs=_power, cases=24, **_rule("a ** n", "a")),
    Check("Gradients through -a", inputs=_some("p", "g"), **_rule("-a", "a", False)),
    Check("Gradients through a - b", inputs=_some("p", "q", "g"), **_rule("a - b", "ab", False)),
    Check("Gradients through a / b", inputs=_nonzero("p", "q", "g"), **_rule("a / b", "ab", False)),
    _both_sides("a * a", "a * a", lambda p, g: (p * g, p * g)),
    _both_sides("a - a", "a - a", lambda p, g: (g, -g)),
    _both_sides("a / a", "a / a", lambda p, g: (g / p, -g / p)),
    Check(
        "Numbers on either side",
        "a = Value(p)",
        ("(a * k).data", "(k * a).data", "(a - k).data", "(k - a).data", "(a / k).data", "(k / a).data"),
        _nonzero("p", "k"),
    ),
    Check("Gradients through k - a", inputs=_nonzero("p", "k", "g"), **_rule("k - a", "a", False)),
    Check("Gradients through k / a", inputs=_nonzero("p", "k", "g"), **_rule("k / a", "a", False)),
    Check(
        "Children and names",
        'a = Value(p, label="a")\nb = Value(q, label="b")\ny = a * b\nz = a ** 2\nw = a * a',
        (
            "[child.label for child in y._children]",
            "y._op",
            "[child.label for child in z._children]",
            "z._op",
            "[child.label for child in w._children]",
        ),
        _nonzero("p", "q"),
        cases=4,
    ),
)

BACKWARD = (
    Check(
        "One operation",
        "a = Value(p)\nb = Value(q)\ny = a * b\ny.backward()",
        ("y.grad", "a.grad", "b.grad"),
        _some("p", "q"),
        output="y.data",
        derivatives={"a.grad": "p", "b.grad": "q"},
    ),
    Check(
        "Each rule once, in order",
        "calls = []\na = Value(p)\nb = a * 2\nc = b + 1\nd = c * 3\ne = d + 4\nf = c * e\n"
        'for name, value in zip("bcdef", (b, c, d, e, f)):\n'
        "    value._backward = lambda name=name: calls.append(name)\nf.backward()",
        ("calls",),
        _some("p"),
        cases=4,
    ),
    Check(
        "Two values of one number",
        "a, b = Value(p), Value(p)\ny = a * b\ny.backward()",
        ("y.grad", "a.grad", "b.grad"),
        _nonzero("p"),
        cases=2,
    ),
    Check(
        "A tree",
        "a, b, c, d = Value(p), Value(q), Value(r), Value(s)\ne = a * b\nf = e + c\ny = f * d\ny.backward()",
        ("y.grad", "f.grad", "d.grad", "e.grad", "c.grad", "a.grad", "b.grad"),
        _some("p", "q", "r", "s"),
        output="y.data",
        derivatives={"a.grad": "p", "b.grad": "q", "c.grad": "r", "d.grad": "s"},
    ),
    Check(
        "A second pass from another result",
        "a, b, c = Value(p), Value(q), Value(r)\ny = a * b\ny.backward()\nz = y * c\nz.backward()",
        ("z.grad", "y.grad", "c.grad"),
        _nonzero("p", "q", "r"),
    ),
    Check(
        "Leaves keep what they have",
        "a, b = Value(p), Value(q)\ny = a * b\ny._backward = lambda: None  # it sends nothing\na.grad = 5.0\n"
        "y.backward()",
        ("y.grad", "a.grad"),
        _nonzero("p", "q"),
        cases=4,
    ),
    Check(
        "A chain of 5,000",
        "a = Value(p)\ny = a\nfor _ in range(5000):\n    y = y * 1.0001\ny.backward()",
        ("y.data", "a.grad"),
        _some("p"),
        cases=1,
        output="y.data",
        derivatives={"a.grad": "p"},
    ),
)

REPEATED = (
    Check(
        "A message is added to what is there",
        "a, b, c = Value(p), Value(q), Value(r)\n"
        "for y in a + b, a * b, c ** 2:\n    a.grad = b.grad = c.grad = 10.0\n    y.grad = 1.0\n    y._backward()\n"
        "    grads.extend([a.grad, b.grad, c.grad])",
        ("grads",),
        lambda rng, size: {**_nonzero("p", "q", "r")(rng, size), "grads": []},
        cases=8,
    ),
    Check(
        "The same value on both sides",
        "a, b, c = Value(p), Value(q), Value(r)\ny = (a + a) + b * b + (c ** 2 + c ** 3)\ny.backward()",
        ("y.data", "a.grad", "b.grad", "c.grad"),
        _some("p", "q", "r"),
        output="y.data",
        derivatives={"a.grad": "p", "b.grad": "q", "c.grad": "r"},
    ),
    Check(
        "((a*b)+c)*(a+d)",
        "a, b, c, d = Value(p), Value(q), Value(r), Value(s)\ny = ((a * b) + c) * (a + d)\ny.backward()",
        ("y.data", "a.grad", "b.grad", "c.grad", "d.grad"),
        _some("p", "q", "r", "s"),
        output="y.data",
        derivatives={"a.grad": "p", "b.grad": "q", "c.grad": "r", "d.grad": "s"},
    ),
    Check(
        "A diamond",
        "a = Value(p)\nb = a * 3\nc = b + 1\nd = b / 2\ny = d * c - b\ny.backward()",
        ("y.data", "d.grad", "c.grad", "b.grad", "a.grad"),
        _some("p"),
        output="y.data",
        derivatives={"a.grad": "p"},
    ),
    Check(
        "Two passes add up",
        "a, b = Value(p), Value(q)\ny = a * b\ny.backward()\nz = a + y\nz.backward()",
        ("y.grad", "a.grad", "b.grad"),
        _nonzero("p", "q"),
    ),
    Check(
        "zero_grad",
        "a, b, c = Value(p), Value(q), Value(r)\n(a * b + c).backward()\nzero_grad([a, b])",
        ("a.grad", "b.grad", "c.grad", "a.data", "b.data"),
        _nonzero("p", "q", "r"),
    ),
    Check(
        "A pass after zero_grad",
        "a, b = Value(p), Value(q)\ny = a * b\ny.backward()\nzero_grad([a, b])\ny.backward()",
        ("a.grad", "b.grad"),
        _some("p", "q"),
        output="y.data",
        derivatives={"a.grad": "p", "b.grad": "q"},
    ),
)

FUNCTIONS = (
    Check("The rule of tanh", inputs=_some("p", "g"), **_rule("a.tanh()", "a")),
    Check(
        "tanh of large numbers",
        "a, b = Value(p), Value(-p)\ny = a.tanh()\nz = b.tanh()\ny.grad = z.grad = 1.0\ny._backward()\nz._backward()",
        ("y.data", "z.data", "a.grad", "b.grad"),
        lambda rng, size: {"p": 400.0 + 100 * size},
        cases=4,
    ),
    Check("The rule of relu", inputs=_nonzero("p", "g"), **_rule("a.relu()", "a")),
    Check(
        "relu at 0",
        "a = Value(0.0)\ny = a.relu()\ny.grad = g\ny._backward()",
        ("y.data", "a.grad"),
        _nonzero("g"),
        cases=4,
    ),
    Check("The rule of exp", inputs=_some("p", "g"), **_rule("a.exp()", "a")),
    Check(
        "Names and children",
        'a = Value(p, label="a")\nresults = [a.tanh(), a.relu(), a.exp()]',
        ("[y._op for y in results]", "[child.label for y in results for child in y._children]"),
        _some("p"),
        cases=4,
    ),
    Check(
        "Used twice, in one expression",
        "a, b, c = Value(p), Value(q), Value(r)\n"
        "y = a.tanh() * a.tanh() + b.relu() * b.relu() + c.exp() * c.exp()\n"
        "y.backward()",
        ("y.data", "a.grad", "b.grad", "c.grad"),
        _some("p", "q", "r"),
        output="y.data",
        derivatives={"a.grad": "p", "b.grad": "q", "c.grad": "r"},
    ),
    Check(
        "σ(1 - σ) appears",
        "a = Value(p)\ns = a.sigmoid()\ns.backward()",
        ("s.data", "a.grad", "s.data * (1 - s.data)"),
        _some("p"),
        output="s.data",
        derivatives={"a.grad": "p"},
    ),
    Check(
        "sigmoid has no rule of its own",
        "rules, todo = set(), [Value(p).sigmoid()]\nwhile todo:\n    value = todo.pop()\n    rules.add(value._op)\n"
        '    todo.extend(value._children)\nothers = sorted(rules - {"", "+", "*", "**", "exp"})',
        ("others", "'exp' in rules"),
        _some("p"),
        cases=4,
    ),
)

NETWORK = (
    Check(
        "A neuron",
        "import random\n\nneuron = Neuron(2, random.Random(seed))\n"
        + _SET.format("neuron")
        + "y = neuron(x)\ny.backward()",
        ("len(neuron.parameters())", "y.data", "[p.grad for p in neuron.parameters()]"),
        _weights(3, 2),
    ),
    Check(
        "How it begins",
        "import random\n\nlayer = Layer(5, 4, random.Random(seed))\nstart = [p.data for p in layer.parameters()]\n"
        "again = [p.data for p in Layer(5, 4, random.Random(seed)).parameters()]",
        (
            "len(start)",
            "start.count(0)",
            "len(set(start))",
            "min(start) < 0 < max(start)",
            "-1 <= min(start) and max(start) <= 1",
            "again == start",
        ),
        _seed,
    ),
    Check(
        "A layer",
        "import random\n\nlayer = Layer(2, 3, random.Random(seed))\n"
        + _SET.format("layer")
        + "ys = layer(x)\nsum(ys).backward()",
        ("[y.data for y in ys]", "[p.grad for p in layer.parameters()]"),
        _weights(9, 2),
    ),
    Check(
        "A network",
        "import random\n\nnet = MLP(2, [3, 2, 1], random.Random(seed))\n"
        + _SET.format("net")
        + "values = [Value(number) for number in x]\nys = net(values)\nys[0].backward()",
        (
            "len(net.parameters())",
            "[y.data for y in ys]",
            "[p.grad for p in net.parameters()]",
            "[value.grad for value in values]",
        ),
        _weights(20, 2),
    ),
    Check(
        "Called twice, it has the same parameters",
        "import random\n\nnet = MLP(1, [2, 1], random.Random(seed))\n"
        + _SET.format("net")
        + "y = net([x[0]])[0] * net([2.0])[0]\ny.backward()",
        ("y.data", "[p.grad for p in net.parameters()]"),
        _weights(7, 1),
    ),
)

TRAIN = (
    Check(
        "Three steps",
        "import random\n\nnet = MLP(2, [3, 1], random.Random(seed))\n"
        + _SET.format("net")
        + _POINTS
        + "losses = train(net, xs, ys, rate=0.2, steps=3)",
        ("losses", "[p.data for p in net.parameters()]"),
        _weights(13, 0),
        cases=6,
    ),
    Check(
        "Two points, no steps to spare",
        "import random\n\nnet = MLP(1, [1], random.Random(seed))\n"
        + _SET.format("net")
        + "losses = train(net, [[1.0], [-2.0]], [0.5, -1.0], rate=1.0, steps=2)",
        ("losses", "[p.data for p in net.parameters()]"),
        _weights(2, 0),
        cases=6,
    ),
    Check(
        "Four points, to a loss below 0.01",
        "import random\n\n" + _POINTS + "net = MLP(2, [4, 1], random.Random(seed))\nlosses = train(net, xs, ys)",
        ("losses[0]", "losses[-1]", _LOSS_NOW),
        _beginning,
        cases=len(BEGINNINGS),
        judge=_learned,
        slow=True,
    ),
)

CHECKS = {
    "value": VALUE,
    "add": ADD,
    "arithmetic": ARITHMETIC,
    "backward": BACKWARD,
    "repeated": REPEATED,
    "functions": FUNCTIONS,
    "network": NETWORK,
    "train": TRAIN,
}
COURSE = Course(
    "scalars",
    "Scalars",
    "How does a program find derivatives by itself? Build an engine on single numbers, and train a network with it.",
    Path(__file__).parent,
    read_tasks(Path(__file__).parent, CHECKS),
)
