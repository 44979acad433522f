"""The scalar course: an engine on single numbers, from an empty file to a network that has learned."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.random import Generator

from practice.task import Check, Course, Inputs, Mistake, Task

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


# -- Lines of the reference that several wrong answers have otherwise --------------------------------------------------

_ADD = "            self.grad += out.grad\n            other.grad += out.grad"
_MUL = "            self.grad += other.data * out.grad\n            other.grad += self.data * out.grad"
_SUB = """\
def __sub__(self, other):
    other = wrapped(other)
    out = Value(self.data - other.data, (self, other), "-")

    def _backward():
        self.grad += out.grad
        other.grad -= out.grad

    out._backward = _backward
    return out
"""
_DIV = """\
def __truediv__(self, other):
    other = wrapped(other)
    out = Value(self.data / other.data, (self, other), "/")

    def _backward():
        self.grad += 1 / other.data * out.grad
        other.grad += -self.data / other.data**2 * out.grad

    out._backward = _backward
    return out
"""
_NEG = """\
def __neg__(self):
    out = Value(-self.data, (self,), "-")

    def _backward():
        self.grad -= out.grad

    out._backward = _backward
    return out
"""
_ZERO = "    for value in values:\n        value.grad = 0.0"
_STEP = """\
        loss = 0.0
        for x, y in zip(xs, ys):
            (out,) = model(x)
            loss = loss + (out - y) ** 2
        loss = loss / len(xs)
        zero_grad(model.parameters())
        loss.backward()
        for p in model.parameters():
            p.data -= rate * p.grad
        losses.append(loss.data)"""
_ONE_BY_ONE = """\
        total = 0.0
        for x, y in zip(xs, ys):
            (out,) = model(x)
            loss = (out - y) ** 2
            zero_grad(model.parameters())
            loss.backward()
            for p in model.parameters():
                p.data -= rate * p.grad
            total += loss.data
        losses.append({})"""
_ORDER = """\
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        value, children_are_placed = stack.pop()
        if children_are_placed:
            order.append(value)
        elif value not in seen:
            seen.add(value)
            stack.append((value, True))
            stack.extend((child, False) for child in value._children)
    return order"""

# -- The tasks ---------------------------------------------------------------------------------------------------------

VALUE = Task(
    "value",
    "A number that remembers",
    """An engine needs a place for a gradient beside each number. Write a class `Value`:

- `Value(3.0)` or `Value(3.0, label="x")` makes one. It keeps `data` (the number), `label` (`""` unless given) and
  `grad`, which begins at `0.0`: so far, nothing is known to depend on it.
- `_children` is what it was computed from, as a tuple, and `_op` the name of the operation. A value that you made
  yourself is a *leaf*: it has `()` and `""`.
- `_backward` is a function without arguments. That of a leaf does nothing.
- `repr(a)` is `Value(data=3.0, grad=0.0)`, so that `print` shows something useful.

You will make results of operations, too: let the constructor take `children` and `op`.""",
    (
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
    ),
    (
        Mistake(
            "grad-none",
            "`grad` begins at None. Messages will be added to it, and None cannot be added to: begin with `0.0`.",
            (("self.grad = 0.0", "self.grad = None"),),
        ),
        Mistake(
            "grad-one",
            "`grad` begins at 1. Only the result of a whole calculation gets 1, and not before `backward` is called.",
            (("self.grad = 0.0", "self.grad = 1.0"),),
        ),
        Mistake(
            "int",
            "`data` lost what stood after the decimal point: keep the number as it comes.",
            (("self.data = data", "self.data = int(data)"),),
        ),
        Mistake(
            "rounded",
            "`data` is rounded: keep every digit of the number as it comes.",
            (("self.data = data", "self.data = round(data, 2)"),),
        ),
        Mistake(
            "wants-an-argument",
            "`_backward` of a leaf wants an argument. It is called without any: `value._backward()`.",
            (("self._backward = lambda: None", "self._backward = lambda grad: None"),),
        ),
        Mistake(
            "no-function",
            "`_backward` of a leaf cannot be called. It should be a function, one that does nothing.",
            (("self._backward = lambda: None", "self._backward = None"),),
        ),
        Mistake(
            "label-lost",
            "The label was given and is not kept.",
            (("self.label = label", 'self.label = ""'),),
        ),
        Mistake(
            "children-none",
            "`_children` of a leaf is None. A loop over the children should find none of them: use an empty tuple.",
            (("self._children = tuple(children)", "self._children = children or None"),),
        ),
        Mistake(
            "children-list",
            "`_children` is a list. Make it a tuple: what a value was computed from does not change any more.",
            (("self._children = tuple(children)", "self._children = list(children)"),),
        ),
        Mistake(
            "repr-empty",
            "`__repr__` returns an empty text. Return what is to be shown, do not print it: Python does that.",
            (('return f"Value(data={self.data}, grad={self.grad})"', 'return ""'),),
        ),
        Mistake(
            "repr-none",
            "`__repr__` returns nothing. Return the text, do not print it: Python does that.",
            (('return f"Value(data={self.data}, grad={self.grad})"', "pass"),),
        ),
        Mistake(
            "repr-short",
            "`repr` leaves the gradient out, the number that you will want to see most.",
            (('f"Value(data={self.data}, grad={self.grad})"', 'f"Value(data={self.data})"'),),
        ),
    ),
    (
        "All of it is an `__init__` that stores what it is given, and a `__repr__`.",
        'Arguments with a default may be left out: `def __init__(self, data, children=(), op="", label=""):`.',
        "A function that does nothing can be written in one line: `lambda: None`.",
        '`return f"Value(data={self.data}, grad={self.grad})"` does for `__repr__`.',
    ),
)

ADD = Task(
    "add",
    "Addition",
    """Make `a + b` work. The result is a new `Value`: its `_children` are `(a, b)`, in this order, its `_op` is `"+"`.

Then its rule. If `a` grows by a little, the sum grows by as much: the derivative of `a + b` by `a` is 1, and by `b`,
too. So `_backward` of the result takes the result's own `grad`, the *upstream gradient*, and adds it to the `grad` of
both children.

Write the rule as a function inside `__add__`: a *closure*. When it is called later, it still sees `self`, `other` and
the result.

`a + 2` and `2 + a` should work, too: Python asks `__radd__` for the latter.""",
    (
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
    ),
    (
        Mistake(
            "add-not-stored",
            "The sum is right and its rule passes nothing on. Was the inner function stored as `_backward` of the "
            "result, and does it read the result's `grad` when it runs, not before?",
            (
                (
                    "        out._backward = _backward\n        return out\n\n    def __radd__",
                    "        return out\n\n    def __radd__",
                ),
            ),
        ),
        Mistake(
            "add-called",
            "The rule was called at once, and its result, None, was stored. Store the function: its name without `()`.",
            (
                (
                    "        out._backward = _backward\n        return out\n\n    def __radd__",
                    "        out._backward = _backward()\n        return out\n\n    def __radd__",
                ),
            ),
        ),
        Mistake(
            "add-no-return",
            "`a + b` is None: a method that does not end in `return` returns that.",
            (
                (
                    "        out._backward = _backward\n        return out\n\n    def __radd__",
                    "        out._backward = _backward\n\n    def __radd__",
                ),
            ),
        ),
        Mistake(
            "add-one-operand",
            "Only the first operand receives a gradient. The sum depends on both.",
            ((_ADD, "            self.grad += out.grad"),),
        ),
        Mistake(
            "add-no-upstream",
            "The children receive 1, whatever stands above. The local derivative is 1; the message is that times the "
            "upstream gradient.",
            (
                (
                    _ADD,
                    "            self.grad += 1.0\n            other.grad += 1.0",
                ),
            ),
        ),
        Mistake(
            "add-product-rule",
            "That is the rule of a product: each child receives the other one's number. A sum passes the upstream "
            "gradient on as it is.",
            (
                (
                    _ADD,
                    _MUL,
                ),
            ),
        ),
        Mistake(
            "add-data",
            "The children receive the result's `data`. The message is made from its `grad`.",
            (
                (
                    _ADD,
                    "            self.grad += out.data\n            other.grad += out.data",
                ),
            ),
        ),
        Mistake(
            "add-into-operand",
            "`a + b` changes `a` and returns it. The result is a new `Value`; the operands stay as they are.",
            (
                (
                    'out = Value(self.data + other.data, (self, other), "+")',
                    "self.data = self.data + other.data\n        out = self\n"
                    '        out._children, out._op = (self, other), "+"',
                ),
            ),
        ),
        Mistake(
            "add-no-children",
            "The result does not know what it was made from: give it both operands as `_children`.",
            (('Value(self.data + other.data, (self, other), "+")', 'Value(self.data + other.data, (), "+")'),),
        ),
        Mistake(
            "add-no-wrap",
            "A plain number has no `data` and no `grad`. Make it a `Value` before anything else.",
            (("    return x if isinstance(x, Value) else Value(x)", "    return x"),),
        ),
        Mistake(
            "add-wrap-again",
            "An operand that was a Value already was wrapped once more: nothing leads back to the one that was given. "
            "Wrap plain numbers only.",
            (("    return x if isinstance(x, Value) else Value(x)", "    return Value(getattr(x, 'data', x))"),),
        ),
        Mistake(
            "no-radd",
            "`a + 2` works and `2 + a` does not: a number does not know what to do with a Value. Python then asks "
            "for "
            "`__radd__`.",
            (("    def __radd__(self, number):\n        return self + number\n", ""),),
        ),
    ),
    (
        "What does a child receive if the upstream gradient is 3? The derivative of a sum is 1, and 1 times 3 is 3.",
        'Make the result first, `out = Value(self.data + other.data, (self, other), "+")`. Then define a '
        "function inside "
        "`__add__` that changes the two `grad`, and store it: `out._backward = ...`.",
        "`if not isinstance(other, Value): other = Value(other)` at the top takes care of numbers on the right.",
        "`def __radd__(self, number): return self + number` takes care of numbers on the left.",
        "The rule: `self.grad += out.grad`, and the same for `other`. A later task shows why `+=`.",
    ),
)

ARITHMETIC = Task(
    "arithmetic",
    "The rest of the arithmetic",
    """Add `a * b`, `a ** n`, `-a`, `a - b` and `a / b`. For `**`, the exponent `n` is a plain number.

Two need rules of their own, with `"*"` and `"**"` as `_op`. The message to a child is always

> local derivative × upstream gradient

The derivative of `a * b` by `a` is the number of `b`; that of `a ** n` is `n * a ** (n - 1)`.

The other three can be made of these without a new rule: `a - b` is `a` plus `b` times -1, `a / b` is `a` times
`b ** -1`.

Numbers may stand on either side. For `2 * a`, `2 - a`, `2 / a`, Python asks for `__rmul__`, `__rsub__`,
`__rtruediv__`; there the number comes *first*.""",
    (
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
    ),
    (
        Mistake(
            "mul-own",
            "Each factor received its own number. Change `a` a little: the product changes by that times the "
            "*other* one.",
            (
                (
                    _MUL,
                    "            self.grad += self.data * out.grad\n            other.grad += other.data * out.grad",
                ),
            ),
        ),
        Mistake(
            "mul-no-wrap",
            "In `*`, a plain number has no `data` and no `grad`. Make it a `Value` before anything else.",
            (
                (
                    "    def __mul__(self, other):\n        other = wrapped(other)\n",
                    "    def __mul__(self, other):\n",
                ),
            ),
        ),
        Mistake(
            "mul-no-upstream",
            "In `*`, the local derivative is right and the upstream gradient is missing: multiply by it.",
            (
                (
                    _MUL,
                    "            self.grad += other.data\n            other.grad += self.data",
                ),
            ),
        ),
        Mistake(
            "mul-as-add",
            "A product passed the upstream gradient on as it is. That is the rule of a sum.",
            (
                (
                    _MUL,
                    _ADD,
                ),
            ),
        ),
        Mistake(
            "mul-other-grad",
            "A factor was multiplied by the other one's `grad`. The local derivative is made of numbers from the way "
            "forward: its `data`.",
            (
                (
                    _MUL,
                    "            self.grad += other.grad * out.grad\n            other.grad += self.grad * out.grad",
                ),
            ),
        ),
        Mistake(
            "pow-no-factor",
            "In `**`, the factor n is missing: the derivative of a² is 2a.",
            (("n * self.data ** (n - 1) * out.grad", "self.data ** (n - 1) * out.grad"),),
        ),
        Mistake(
            "pow-same-exponent",
            "In `**`, the exponent should go down by one: the derivative of a² is 2a, not 2a².",
            (("n * self.data ** (n - 1) * out.grad", "n * self.data**n * out.grad"),),
        ),
        Mistake(
            "pow-exchanged",
            "In `**`, the factor and the exponent are exchanged: the factor is n, the exponent n - 1.",
            (("n * self.data ** (n - 1) * out.grad", "(n - 1) * self.data**n * out.grad"),),
        ),
        Mistake(
            "pow-no-upstream",
            "In `**`, the local derivative is right and the upstream gradient is missing.",
            (("n * self.data ** (n - 1) * out.grad", "n * self.data ** (n - 1)"),),
        ),
        Mistake(
            "pow-child",
            "The exponent of `**` stands among the children. It is a plain number without a rule.",
            (('(self,), "**")', '(self, n), "**")'),),
        ),
        Mistake(
            "sub-as-add",
            "The number of `a - b` is right, and `b` receives the upstream gradient with the wrong sign: if `b` "
            "grows, the "
            "difference shrinks.",
            (
                (
                    "        return self + other * -1\n",
                    "        other = wrapped(other)\n        out = self + other\n"
                    "        out.data = self.data - other.data\n"
                    "        return out\n",
                ),
            ),
        ),
        Mistake(
            "div-no-square",
            "In `a / b`, the denominator receives `-a / b`. The derivative of `1 / b` is `-1 / b ** 2`.",
            (
                (
                    "        return self * wrapped(other) ** -1\n",
                    "        other = wrapped(other)\n"
                    '        out = Value(self.data / other.data, (self, other), "/")\n\n'
                    "        def _backward():\n            self.grad += out.grad / other.data\n"
                    "            other.grad += -self.data / other.data * out.grad\n\n"
                    "        out._backward = _backward\n        return out\n",
                ),
            ),
        ),
        Mistake(
            "sub-turned",
            "`a - b` came out as `b - a`: the second operand is what is taken away.",
            (("return self + other * -1", "return self * -1 + other"),),
        ),
        Mistake(
            "no-rmul",
            "`a * 2` works and `2 * a` does not: write `__rmul__`.",
            (("    def __rmul__(self, number):\n        return self * number\n", ""),),
        ),
        Mistake(
            "neg-cut",
            "`-a` was made from the bare number: nothing leads back to `a`. Make it of an operation that has a rule.",
            (("return self * -1\n", "return Value(-self.data)\n"),),
        ),
        Mistake(
            "sub-cut",
            "`a - b` was made from the bare numbers: nothing leads back to `a` and `b`. Make it of operations that "
            "have rules.",
            (("return self + other * -1", "return Value(self.data - wrapped(other).data)"),),
        ),
        Mistake(
            "rsub-turned",
            "`2 - a` came out as `a - 2`. In `__rsub__`, the number stood on the left: `self` is what is taken away.",
            (("return -self + number", "return self - number"),),
        ),
        Mistake(
            "rdiv-turned",
            "`2 / a` came out as `a / 2`. In `__rtruediv__`, the number stood on the left: `self` is what is "
            "divided by.",
            (("return self**-1 * number", "return self / number"),),
        ),
    ),
    (
        "Start from `__add__`: `*` differs in the number, in the name, and in two lines of its rule.",
        "For the message to `self` in a product, ask what the derivative of `a * b` by `a` is, and multiply it by "
        "`out.grad`.",
        'In `__pow__`, the exponent is no child: `out = Value(self.data**n, (self,), "**")`.',
        "`-a` is `self * -1`, `a - b` is `self + other * -1`; `k - a` is `-self + k`, `k / a` is `self**-1 * k`.",
        "The rule of `**`: `self.grad += n * self.data ** (n - 1) * out.grad`.",
    ),
    also=(_SUB, _DIV, _NEG),
)

BACKWARD = Task(
    "backward",
    "Backward, in the right order",
    """Write `backward()`. Called on a result, it fills `grad` of everything that the result was made from.

1. List the values, starting at the result and following `_children`, so that each stands there *once*, and *after* its
   children: a **topological order**.
2. Set `grad` of each value that has children to 0: an earlier pass may have left something there. Leaves keep theirs.
3. Set the result's own `grad` to 1.0.
4. Call each `_backward`, from the end of the list to its beginning: no rule runs before its value has heard from all
   who use it.

A chain of 5,000 operations must work. A function that calls itself may do so about 1,000 deep: use a list as your
stack, or raise that limit.""",
    (
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
    ),
    (
        Mistake(
            "by-number",
            "Two values of the same number were taken for one. Remember the values themselves, not their `data`.",
            (
                (
                    "elif value not in seen:\n            seen.add(value)",
                    "elif value.data not in seen:\n            seen.add(value.data)",
                ),
            ),
        ),
        Mistake(
            "by-number-recursive",
            "Two values of the same number were taken for one. `seen` should hold values themselves, not their `data`.",
            (
                (
                    _ORDER,
                    "    order, seen = [], set()\n\n    def visit(value):\n        if value.data not in seen:\n"
                    "            seen.add(value.data)\n            for child in value._children:\n"
                    "                visit(child)\n"
                    "            order.append(value)\n\n    visit(root)\n    return order",
                ),
            ),
        ),
        Mistake(
            "each-seeded",
            "`backward` was called for each child, and each of them began at 1 again. Only the result begins at 1; the "
            "others keep what was sent to them.",
            (
                (
                    "        for value in reversed(order):\n            value._backward()",
                    "        self._backward()\n        for child in self._children:\n            child.backward()",
                ),
            ),
        ),
        Mistake(
            "no-seed",
            "Nothing was sent: the result's own gradient was not set to 1, and every message is a multiple of it.",
            (("        self.grad = 1.0\n", ""),),
        ),
        Mistake(
            "seed-data",
            "The result's own gradient began at its `data`. It begins at 1: the result grows as much as itself.",
            (("        self.grad = 1.0\n", "        self.grad = self.data\n"),),
        ),
        Mistake(
            "root-left-out",
            "The rule of the result itself was never called: is it in the list, as its last, and are the rules called?",
            (("for value in reversed(order):", "for value in reversed(order[:-1]):"),),
        ),
        Mistake(
            "not-reversed",
            "The rules were called from the leaves to the result. Gradients go the other way: from the result to the "
            "leaves.",
            (("for value in reversed(order):", "for value in order:"),),
        ),
        Mistake(
            "one-step",
            "Only the rule of the result was called. Its children have rules, too.",
            (("        for value in reversed(order):\n            value._backward()", "        self._backward()"),),
        ),
        Mistake(
            "two-steps",
            "Only the rules of the result and of its children were called. Their children have rules, too.",
            (
                (
                    "        for value in reversed(order):\n            value._backward()",
                    "        for value in (self, *self._children):\n            value._backward()",
                ),
            ),
        ),
        Mistake(
            "twice",
            "A value that is reached on two paths stands in the list twice, and its rule ran twice. Remember what "
            "you have "
            "seen.",
            (("elif value not in seen:", "else:"),),
        ),
        Mistake(
            "twice-recursive",
            "A value was listed once for each path that leads to it, and its rule ran as often. Remember what you "
            "have seen.",
            (
                (
                    _ORDER,
                    "    order = []\n\n    def visit(value):\n        for child in value._children:\n"
                    "            visit(child)\n        order.append(value)\n\n    visit(root)\n    return order",
                ),
            ),
        ),
        Mistake(
            "breadth-first",
            "Values were taken in order of their distance from the result. On a short cut a value comes too "
            "early: it must "
            "wait until everyone who uses it is done.",
            (
                (
                    _ORDER,
                    "    order, queue = [], [root]\n    while queue:\n        value = queue.pop(0)\n"
                    "        if value not in order:\n            order.append(value)\n"
                    "            queue.extend(value._children)\n    return order[::-1]",
                ),
            ),
        ),
        Mistake(
            "depth-first-early",
            "A value was listed when it was first met, before its children were done. List it after them.",
            (
                (
                    _ORDER,
                    "    order, seen, stack = [], set(), [root]\n    while stack:\n        value = stack.pop()\n"
                    "        if value not in seen:\n            seen.add(value)\n            order.append(value)\n"
                    "            stack.extend(value._children[::-1])\n    return order[::-1]",
                ),
            ),
        ),
        Mistake(
            "no-reset",
            "A result still held the gradient of an earlier pass and sent it on again. Set results to 0 before "
            "you begin.",
            (("            if value._children:\n                value.grad = 0.0\n", "            pass\n"),),
        ),
        Mistake(
            "leaves-reset",
            "`backward` emptied the leaves, too. Only what was computed starts again: gradients of leaves add up "
            "until "
            "`zero_grad`.",
            (("            if value._children:\n                value.grad = 0.0", "            value.grad = 0.0"),),
        ),
        Mistake(
            "recursive",
            "Right, until the chain is long: Python stops functions that call themselves at a depth of about 1,000.",
            (
                (
                    _ORDER,
                    "    order, seen = [], set()\n\n    def visit(value):\n        if value not in seen:\n"
                    "            seen.add(value)\n            for child in value._children:\n"
                    "                visit(child)\n"
                    "            order.append(value)\n\n    visit(root)\n    return order",
                ),
            ),
        ),
    ),
    (
        "Draw `c = b + 1`, `e = c * 3`, `f = c * e`. In which order may the rules of `f`, `e` and `c` run? Only "
        "in one.",
        "A value may be listed when all of its children are. Reversed, each value then comes before all of its "
        "children.",
        "See your order: `print([v.label or v._op for v in order])`. Each value once, and the result last.",
        "Recursive, it is short: `visit(value)`: if not yet seen, mark it, visit each child, then append the value.",
        "Without recursion: put `(value, False)` on the stack. When it comes off and is new, push `(value, "
        "True)`, then "
        "`(child, False)` for each child. When `(value, True)` comes off, the children are done: append the value.",
    ),
)

REPEATED = Task(
    "repeated",
    "One value, used twice",
    """In `a + a`, one value is both children. In `((a*b)+c)*(a+d)`, `a` reaches the result on two paths. Each use sends
a message, and the gradient is their **sum**: if `a` changes, the result changes on both paths at once.

So a rule must *add to* `grad`, never replace what is there: `+=`. Look through all of yours. For the same reason, a
second pass adds to the gradients of the leaves.

The price: somebody must empty them in time. Write a function

- `zero_grad(values)`: sets `grad` of each value in a list to 0.0,

outside of the class. Training will need it at each step.""",
    (
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
    ),
    (
        Mistake(
            "add-overwrites",
            "In `+`, the second message replaced the first. Both belong to the gradient: add them.",
            (
                (
                    _ADD,
                    "            self.grad = out.grad\n            other.grad = out.grad",
                ),
            ),
        ),
        Mistake(
            "mul-overwrites",
            "In `*`, the second message replaced the first. Both belong to the gradient: add them.",
            (
                (
                    _MUL,
                    "            self.grad = other.data * out.grad\n            other.grad = self.data * out.grad",
                ),
            ),
        ),
        Mistake(
            "pow-overwrites",
            "In `**`, a message replaced what had arrived before. Add to it.",
            (("self.grad += n * self.data", "self.grad = n * self.data"),),
        ),
        Mistake(
            "all-overwrite",
            "You overwrote instead of adding: of a value that is used twice, only the last message is left. It is "
            "so in "
            "every rule.",
            (
                (
                    _ADD,
                    "            self.grad = out.grad\n            other.grad = out.grad",
                ),
                (
                    _MUL,
                    "            self.grad = other.data * out.grad\n            other.grad = self.data * out.grad",
                ),
                ("self.grad += n * self.data", "self.grad = n * self.data"),
            ),
        ),
        Mistake(
            "add-first-overwrites",
            "In `+`, the second operand adds its message and the first overwrites. `a + a` hides it, two paths do not.",
            ((_ADD, "            self.grad = out.grad\n            other.grad += out.grad"),),
        ),
        Mistake(
            "mul-first-overwrites",
            "In `*`, the second operand adds its message and the first overwrites. `b * b` hides it, two paths do not.",
            (("self.grad += other.data * out.grad", "self.grad = other.data * out.grad"),),
        ),
        Mistake(
            "zero-none",
            "`zero_grad` left None in `grad`. The next message is added to it, and that needs a number: `0.0`.",
            ((_ZERO, "    for value in values:\n        value.grad = None"),),
        ),
        Mistake(
            "zero-missing",
            "There is no function `zero_grad`. It stands outside of the class, at the left margin.",
            (("def zero_grad(values):", "def of_another_name(values):"),),
        ),
        Mistake(
            "zero-name",
            "Nothing was emptied. `value = 0.0` gives a name of the loop another value; set the `grad` of each.",
            ((_ZERO, "    for value in values:\n        value = 0.0"),),
        ),
        Mistake(
            "zero-data",
            "`zero_grad` emptied `data`: the numbers themselves are gone. Only `grad` should be.",
            ((_ZERO, "    for value in values:\n        value.data = 0.0"),),
        ),
        Mistake(
            "zero-first",
            "`zero_grad` stopped after the first value: is there a `return` inside the loop?",
            (
                (
                    _ZERO,
                    "    for value in values:\n        value.grad = 0.0\n        return",
                ),
            ),
        ),
    ),
    (
        "`a + a` is `2 * a`, so the gradient of `a` is 2. Which line of your rule leaves 1 there?",
        "`x = 3` replaces, `x += 3` adds. Every rule should add.",
        "`self.grad += out.grad`, then `other.grad += out.grad`: if both are the same value, it has received both.",
        "`zero_grad` is a loop over the values with one line in it, and stands outside of the class.",
    ),
)

FUNCTIONS = Task(
    "functions",
    "tanh, relu, exp, and sigmoid for free",
    """Add four methods. Three have rules of their own and are called `"tanh"`, `"relu"` and `"exp"` in `_op`:

- `a.tanh()`: if the result is `t`, the derivative is `1 - t * t`. It must work for `a = 400`: there it is 1.
- `a.relu()`: the number itself if it is positive, otherwise 0. The derivative is 1 or 0; where the number is 0, take 0.
- `a.exp()`: the derivative of e^a is e^a, the result itself.

The fourth, `a.sigmoid()`, is 1 / (1 + e^-a). It gets **no rule**: write it with `+`, `*`, `**` and `exp` alone. Its
derivative is known as σ(1 - σ). You never tell the engine so. See what comes out.""",
    (
        Check("The rule of tanh", inputs=_some("p", "g"), **_rule("a.tanh()", "a")),
        Check(
            "tanh of large numbers",
            "a, b = Value(p), Value(-p)\ny = a.tanh()\nz = b.tanh()\ny.grad = z.grad = 1.0\ny._backward()\n"
            "z._backward()",
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
    ),
    (
        Mistake(
            "tanh-input",
            "In tanh, you used the input, not the output: the derivative is 1 - t², where t is the result.",
            (("(1 - t * t) * out.grad", "(1 - self.data * self.data) * out.grad"),),
        ),
        Mistake(
            "tanh-no-square",
            "In tanh, the square is missing: 1 - t², not 1 - t.",
            (("(1 - t * t) * out.grad", "(1 - t) * out.grad"),),
        ),
        Mistake(
            "tanh-no-upstream",
            "In tanh, the upstream gradient is missing.",
            (("(1 - t * t) * out.grad", "1 - t * t"),),
        ),
        Mistake(
            "tanh-parentheses",
            "In tanh, only t² was multiplied by the upstream gradient: `*` goes before `-`. Put 1 - t² in parentheses.",
            (("(1 - t * t) * out.grad", "1 - t * t * out.grad"),),
        ),
        Mistake(
            "tanh-overflow",
            "e^800 is too large for a float. The formula with exponentials is right on paper; `math.tanh` knows "
            "how to "
            "avoid them.",
            (("t = math.tanh(self.data)", "t = (math.exp(2 * self.data) - 1) / (math.exp(2 * self.data) + 1)"),),
        ),
        Mistake(
            "relu-at-zero",
            "At exactly 0, relu has no derivative, and the task takes 0 there: compare with `>`, not `>=`.",
            (("(self.data > 0) * out.grad", "(self.data >= 0) * out.grad"),),
        ),
        *(
            Mistake(
                f"relu-leaks-{leak}",
                f"Below 0, relu is 0 and passes nothing on. Yours lets {leak} of the input through: a leaky relu.",
                (
                    ("Value(max(self.data, 0.0), (self,)", f"Value(max(self.data, {leak} * self.data), (self,)"),
                    ("(self.data > 0) * out.grad", f"(1 if self.data > 0 else {leak}) * out.grad"),
                ),
            )
            for leak in (0.01, 0.1, 0.2)
        ),
        Mistake(
            "relu-absolute",
            "Where the input is negative, relu sent the gradient with a minus. That is the rule of the absolute value.",
            (("(self.data > 0) * out.grad", "(1 if self.data > 0 else -1) * out.grad"),),
        ),
        Mistake(
            "relu-leaky",
            "Where the input is negative, a little of the gradient went on. That is a leaky relu: here nothing does.",
            (("(self.data > 0) * out.grad", "(1 if self.data > 0 else 0.01) * out.grad"),),
        ),
        Mistake(
            "relu-no-mask",
            "In relu, the gradient went on where the input is negative, too. The result is flat there: nothing "
            "should pass.",
            (("(self.data > 0) * out.grad", "out.grad"),),
        ),
        Mistake(
            "relu-gradient-sign",
            "relu looked at the sign of the gradient. What counts is the sign of the input.",
            (("(self.data > 0) * out.grad", "max(out.grad, 0.0)"),),
        ),
        Mistake(
            "relu-no-upstream",
            "In relu, the upstream gradient is missing: 1 or 0 is only the local derivative.",
            (("(self.data > 0) * out.grad", "float(self.data > 0)"),),
        ),
        Mistake(
            "exp-input",
            "In exp, you used the input, not the output: the derivative of e^x is e^x, the result itself.",
            (("self.grad += e * out.grad", "self.grad += self.data * out.grad"),),
        ),
        Mistake(
            "exp-as-power",
            "That is the power rule, x · e^(x-1). Here the variable is the exponent: the derivative of e^x is e^x.",
            (("self.grad += e * out.grad", "self.grad += self.data * math.exp(self.data - 1) * out.grad"),),
        ),
        Mistake(
            "exp-no-upstream",
            "In exp, the upstream gradient is missing.",
            (("self.grad += e * out.grad", "self.grad += e"),),
        ),
        Mistake(
            "tanh-overwrites",
            "tanh used twice lost a message: add to `grad`, as in the rules before.",
            (("self.grad += (1 - t * t)", "self.grad = (1 - t * t)"),),
        ),
        Mistake(
            "relu-overwrites",
            "relu used twice lost a message: add to `grad`, as in the rules before.",
            (("self.grad += (self.data > 0)", "self.grad = (self.data > 0)"),),
        ),
        Mistake(
            "exp-overwrites",
            "exp used twice lost a message: add to `grad`, as in the rules before.",
            (("self.grad += e * out.grad", "self.grad = e * out.grad"),),
        ),
        Mistake(
            "sigmoid-cut",
            "The sigmoid was made from the bare number: nothing leads back to `a`. Make it of operations on values.",
            (("return ((self * -1).exp() + 1) ** -1", "return Value(1 / (1 + math.exp(-self.data)))"),),
        ),
        Mistake(
            "sigmoid-turned",
            "That is 1 / (1 + e^a), the sigmoid of -a: the exponent needs a minus.",
            (("((self * -1).exp() + 1) ** -1", "(self.exp() + 1) ** -1"),),
        ),
        Mistake(
            "sigmoid-number",
            "`a.sigmoid()` is a plain number, which remembers nothing. Use your own `exp`: then the result is a Value.",
            (("((self * -1).exp() + 1) ** -1", "1 / (1 + math.exp(-self.data))"),),
        ),
        Mistake(
            "sigmoid-tanh",
            "The numbers are right, and they come from tanh. Here sigmoid should get by on `+`, `*`, `**` and `exp`.",
            (("((self * -1).exp() + 1) ** -1", "((self * 0.5).tanh() + 1) * 0.5"),),
        ),
        Mistake(
            "sigmoid-rule",
            "The numbers are right, and sigmoid has a rule of its own. Here it should get by on `+`, `*`, `**` "
            "and `exp`.",
            (
                (
                    "        return ((self * -1).exp() + 1) ** -1\n",
                    '        s = 1 / (1 + math.exp(-self.data))\n        out = Value(s, (self,), "sigmoid")\n\n'
                    "        def _backward():\n            self.grad += s * (1 - s) * out.grad\n\n"
                    "        out._backward = _backward\n        return out\n",
                ),
            ),
        ),
    ),
    (
        'Each of the three has one child: the result is `Value(..., (self,), "tanh")`, the rule has one line.',
        "Compute the number once, keep it in a variable, and let the rule use it: `t = math.tanh(self.data)`.",
        "In a product, `True` counts as 1 and `False` as 0: `(self.data > 0) * out.grad` is the message of relu.",
        "Sigmoid in one line, without `/` and without a bare minus: `((self * -1).exp() + 1) ** -1`.",
    ),
)

NETWORK = Task(
    "network",
    "Neuron, layer, network",
    """A neuron multiplies each input by a weight, adds all that and a bias, and ends in tanh. Write three
classes. Each is called with a list of numbers or values, and has `parameters()`: a flat list of its weights and biases.

- `Neuron(inputs, rng)`: a weight for each input, from `rng.uniform(-1, 1)`, and a bias of 0. A call returns *one*
  value. Parameters: the weights in order, then the bias.
- `Layer(inputs, neurons, rng)`: a call returns the *list* of its neurons' results. Parameters: neuron by neuron.
- `MLP(inputs, sizes, rng)`: a layer for each number in `sizes`, each fed by the one before. A call returns the last
  layer's list. Parameters: layer by layer.

No new rule is needed: your engine does the rest.""",
    (
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
    ),
    (
        Mistake(
            "no-bias",
            "The bias is a parameter and never enters the sum.",
            (("        total = self.bias\n", "        total = Value(0.0)\n"),),
        ),
        Mistake(
            "no-tanh",
            "A neuron should end in tanh. Without it, layers upon layers are no more than one straight line.",
            (("return total.tanh()", "return total"),),
        ),
        Mistake(
            "tanh-each",
            "tanh was taken of each product. A neuron adds first, and takes tanh of the whole sum.",
            (
                ("            total = total + w * x\n", "            total = total + (w * x).tanh()\n"),
                ("return total.tanh()", "return total"),
            ),
        ),
        Mistake(
            "bias-late",
            "The bias was added after tanh. It belongs into the sum that tanh is taken of.",
            (
                ("        total = self.bias\n", "        total = Value(0.0)\n"),
                ("return total.tanh()", "return total.tanh() + self.bias"),
            ),
        ),
        Mistake(
            "bias-shared",
            "The neurons of a layer share one bias. Each needs one of its own.",
            (
                (
                    "[Neuron(inputs, rng) for _ in range(neurons)]\n",
                    "[Neuron(inputs, rng) for _ in range(neurons)]\n        for neuron in self.neurons:\n"
                    "            neuron.bias = self.neurons[0].bias\n",
                ),
            ),
        ),
        Mistake(
            "bias-forgotten",
            "The bias is missing in `parameters()`: training would never move it.",
            (("return [*self.weights, self.bias]", "return [*self.weights]"),),
        ),
        Mistake(
            "bias-first",
            "`parameters()` of a neuron begins with the bias. The task asks for the weights first.",
            (("return [*self.weights, self.bias]", "return [self.bias, *self.weights]"),),
        ),
        Mistake(
            "zero-weights",
            "All weights begin at the same number. Neurons that begin alike receive the same gradients and stay "
            "alike for "
            "ever: draw them at random.",
            (("Value(rng.uniform(-1, 1)) for _ in range(inputs)", "Value(0.0) for _ in range(inputs)"),),
        ),
        Mistake(
            "positive-weights",
            "All weights are positive: `rng.random()` draws from 0 to 1. Ask for `rng.uniform(-1, 1)`.",
            (("rng.uniform(-1, 1)", "rng.random()"),),
        ),
        Mistake(
            "other-random",
            "Two layers from the same `rng` begin differently: draw the weights from the `rng` that is given, not from "
            "another one. Then a training run can be repeated.",
            (("rng.uniform(-1, 1)", '__import__("random").uniform(-1, 1)'),),
        ),
        Mistake(
            "bias-random",
            "The biases begin at random. The task lets them begin at 0: the weights alone make the neurons differ.",
            (("self.bias = Value(0.0)", "self.bias = Value(rng.uniform(-1, 1))"),),
        ),
        Mistake(
            "weights-as-numbers",
            "The weights receive nothing: the sum was made from their `data`, plain numbers that remember nothing.",
            (("total = total + w * x", "total = total + w.data * x"),),
        ),
        Mistake(
            "one-neuron-unpacked",
            "One neuron at the end, and the value itself came back. Let it be a list all the same, a list of one.",
            (
                (
                    "        return [neuron(xs) for neuron in self.neurons]",
                    "        ys = [neuron(xs) for neuron in self.neurons]\n"
                    "        return ys[0] if len(ys) == 1 else ys",
                ),
            ),
        ),
        Mistake(
            "same-inputs",
            "Every layer has as many inputs as the network. It needs one for each neuron of the layer before it.",
            (("Layer(counts[i], counts[i + 1], rng)", "Layer(inputs, counts[i + 1], rng)"),),
        ),
        Mistake(
            "one-neuron-repeated",
            "A list times a number repeats the *same* neuron: the layer has one, under several names. Make a new "
            "one for "
            "each place.",
            (("[Neuron(inputs, rng) for _ in range(neurons)]", "[Neuron(inputs, rng)] * neurons"),),
        ),
        Mistake(
            "layers-not-chained",
            "Only the first layer ran. What a layer returns is the input of the next; the last one's is the answer.",
            (("            xs = layer(xs)\n        return xs", "            return layer(xs)"),),
        ),
        Mistake(
            "last-layer-only",
            "`parameters()` of the network has only the last layer. The others would never learn.",
            (
                (
                    "[p for layer in self.layers for p in layer.parameters()]",
                    "self.layers[-1].parameters()",
                ),
            ),
        ),
        Mistake(
            "plain-weights",
            "A weight or a bias is a plain number. It needs a gradient, so it has to be a `Value`.",
            (("[Value(rng.uniform(-1, 1)) for", "[rng.uniform(-1, 1) for"),),
        ),
        Mistake(
            "plain-bias",
            "The bias is a plain number. It needs a gradient, so it has to be a `Value`.",
            (("self.bias = Value(0.0)", "self.bias = 0"),),
        ),
        Mistake(
            "neuron-nested",
            "`parameters()` of a neuron holds a list. It should be flat: values only, as in `[*weights, bias]`.",
            (("return [*self.weights, self.bias]", "return [self.weights, self.bias]"),),
        ),
        Mistake(
            "network-nested",
            "`parameters()` of the network holds lists. It should be flat: one list of values.",
            (
                (
                    "[p for layer in self.layers for p in layer.parameters()]",
                    "[layer.parameters() for layer in self.layers]",
                ),
            ),
        ),
        Mistake(
            "nested-parameters",
            "`parameters()` of a layer is a list of lists. It should be flat: one list of values.",
            (
                (
                    "[p for neuron in self.neurons for p in neuron.parameters()]",
                    "[neuron.parameters() for neuron in self.neurons]",
                ),
            ),
        ),
    ),
    (
        "Only the neuron computes. A layer is a list of neurons, a network a list of layers.",
        "A neuron: `total = self.bias`, then in a loop over weights and inputs `total = total + w * x`, at the end "
        "`total.tanh()`. An object that can be called has `__call__(self, xs)`.",
        "The layers of `MLP(2, [4, 1], rng)` take 2 and 4 inputs: each takes as many as the one before it has neurons.",
        "Flat, in one line: `[p for neuron in self.neurons for p in neuron.parameters()]`.",
    ),
)

TRAIN = Task(
    "train",
    "Train it",
    """Write `train(model, xs, ys, rate=..., steps=...)`. Each `x` in `xs` is a list of inputs, and each `y` in
`ys` what the network should answer. At each step:

1. compute the loss: the mean, over all points, of `(model(x)[0] - y) ** 2`;
2. empty the gradients, and run `backward` from the loss;
3. move each parameter against its gradient: its `data` goes down by `rate` times its `grad`.

Return the list of the losses, one number a step, each from *before* the move.

The last check has four points and a network with 2 inputs and layers of 4 and 1. With the defaults that you choose
for `rate` and `steps`, the last loss must be below 0.01 from four beginnings, some of them slow, within 2
seconds.""",
    (
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
    ),
    (
        Mistake(
            "one-by-one",
            "The parameters move after each point. The task asks for one move a step, against the gradient of the mean "
            "over all points.",
            (
                (
                    _STEP,
                    _ONE_BY_ONE.format("loss.data"),
                ),
            ),
        ),
        Mistake(
            "one-by-one-mean",
            "The parameters move after each point, before the others are added. The task asks for one move a step.",
            (
                (
                    _STEP,
                    _ONE_BY_ONE.format("total / len(xs)"),
                ),
            ),
        ),
        Mistake(
            "divided-twice",
            "Each move is too small, by the number of points. The loss is a mean, so its gradient is divided already.",
            (("p.data -= rate * p.grad", "p.data -= rate * p.grad / len(xs)"),),
        ),
        Mistake(
            "loss-after",
            "The losses were measured after the move. The list should hold each loss from before it.",
            (
                (
                    "        losses.append(loss.data)",
                    "        losses.append(sum((model(x)[0].data - y) ** 2 for x, y in zip(xs, ys)) / len(xs))",
                ),
            ),
        ),
        Mistake(
            "uphill",
            "The loss goes up: the gradient points to where it grows, and the step should go the other way.",
            (("p.data -= rate * p.grad", "p.data += rate * p.grad"),),
        ),
        Mistake(
            "no-zero-grad",
            "The first step is right and the later ones are not: gradients of earlier steps are still in there. "
            "Empty "
            "them before each pass.",
            (("        zero_grad(model.parameters())\n", ""),),
        ),
        Mistake(
            "zero-too-late",
            "Nothing moves. Is `backward` called, and are the gradients emptied only before it? Or is a name given a "
            "new value, where the parameter's `data` should change?",
            (
                (
                    "        zero_grad(model.parameters())\n        loss.backward()\n",
                    "        loss.backward()\n        zero_grad(model.parameters())\n",
                ),
            ),
        ),
        Mistake(
            "step-before-backward",
            "The step came before `backward`: it used the gradients of the step before.",
            (
                (
                    "        zero_grad(model.parameters())\n        loss.backward()\n"
                    "        for p in model.parameters():\n"
                    "            p.data -= rate * p.grad\n",
                    "        for p in model.parameters():\n            p.data -= rate * p.grad\n"
                    "        zero_grad(model.parameters())\n        loss.backward()\n",
                ),
            ),
        ),
        Mistake(
            "sum-not-mean",
            "The loss is the sum over the points. The mean is asked for: then a good `rate` does not depend on "
            "how many "
            "there are.",
            (("        loss = loss / len(xs)\n", ""),),
        ),
        Mistake(
            "last-point",
            "The loss is that of the last point alone: the others were overwritten in the loop.",
            (("loss = loss + (out - y) ** 2", "loss = (out - y) ** 2"),),
        ),
        Mistake(
            "no-square",
            "The difference is not squared: the loss could go below 0 for ever, and errors of both signs cancel.",
            (("(out - y) ** 2", "(out - y)"),),
        ),
        Mistake(
            "values-kept",
            "The list holds values, and with each of them the whole graph of its step. Keep the number: `loss.data`.",
            (("losses.append(loss.data)", "losses.append(loss)"),),
        ),
    ),
    (
        "The loss is a `Value` like any other: add up squares in a loop, divide by the number of points.",
        "In this order: loss, `zero_grad(model.parameters())`, `loss.backward()`, step.",
        "The step changes numbers, not the graph: `p.data -= rate * p.grad` for each `p` of `model.parameters()`.",
        "Print the losses. If they jump about, `rate` is too large; if they creep, too small. Between 0.3 and 1 "
        "is worth a "
        "try, with about 100 steps.",
    ),
)

COURSE = Course(
    "scalars",
    "Scalars",
    "How does a program find derivatives by itself? Build an engine on single numbers, and train a network with it.",
    Path(__file__).parent,
    (VALUE, ADD, ARITHMETIC, BACKWARD, REPEATED, FUNCTIONS, NETWORK, TRAIN),
)
