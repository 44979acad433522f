"""The course of function objects: the rules of a two-layer network as classes, and the machinery that calls them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from practice.task import Check, Course, Inputs, Mistake, Task

# -- Inputs ------------------------------------------------------------------------------------------------------------


def _array(rng: Generator, shape: tuple[int, ...], size: int) -> np.ndarray:
    """Whole numbers in the smallest case; zeros among the others."""
    if size == 0:
        return rng.integers(1, 5, shape).astype(float)
    array = np.round(rng.choice([-1, 1], shape) * rng.uniform(0.5, 2.5, shape), 1 if size < 3 else 6)
    return np.where(rng.random(shape) < 0.15, 0.0, array) if size == 2 else array


def _alike(*names: str) -> Callable[[Generator, int], Inputs]:
    """Arrays of one shape under these names, with one to three axes."""

    def inputs(rng: Generator, size: int) -> Inputs:
        shape = tuple(rng.integers(1 + (size > 0), 3 + size, 1 if size == 0 else rng.integers(1, 4)).tolist())
        return {name: _array(rng, shape, size) for name in names}

    return inputs


def _nonzero(rng: Generator, size: int) -> Inputs:
    shape = tuple(rng.integers(2, 3 + size, 2).tolist())
    return {name: _array(rng, shape, 1) for name in ("x", "v")}


def _power(rng: Generator, size: int) -> Inputs:
    inputs = _nonzero(rng, size)
    return {**inputs, "n": int(rng.choice([2, 3] if size == 0 else [-2, -1, 1, 3, 4]))}


def _matrices(square: bool) -> Callable[[Generator, int], Inputs]:
    def inputs(rng: Generator, size: int) -> Inputs:
        n, k, m = [2] * 3 if square else rng.permutation([1 + size, 2 + size, 3 + size]).tolist()
        return {"x": _array(rng, (n, k), size), "y": _array(rng, (k, m), size), "v": _array(rng, (n, m), size)}

    return inputs


def _row(rng: Generator, size: int) -> Inputs:
    n, k = (2, 2) if size == 0 else rng.permutation([2 + size, 3 + size]).tolist()
    return {"x": _array(rng, (n, k), size), "r": _array(rng, (k,), size), "v": _array(rng, (n, k), size)}


def _network(rng: Generator, size: int) -> Inputs:
    n, k, h, m = (1, 1, 1, 1) if size == 0 else rng.integers(2, 4 + size, 4).tolist()
    return {
        "x": np.round(rng.normal(size=(n, k)), 2), "y": np.round(rng.random((n, m)), 2),
        "w1": np.round(rng.normal(size=(k, h)), 2), "b1": np.round(rng.uniform(0.1, 1, h), 2),
        "w2": np.round(rng.normal(size=(h, m)), 2), "b2": np.round(rng.normal(size=m), 2),
    }  # fmt: skip


# -- Programs ----------------------------------------------------------------------------------------------------------

_TWICE = """\
class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return (2 * grad,)

"""
_PRODUCT = """\
class Product(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return y * grad, x * grad

"""
_TOTAL = """\
class Total(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad):
        return grad, grad

"""


def _rule(name: str, inputs: Any, second: str = "", **options: Any) -> tuple[Check, ...]:
    """The checks of one function: its rule, arrays that are views, and float32. `second` is what it takes beside `a`:
    "b" for a tensor made from `y`, otherwise a number."""
    made = "a = Tensor({0})\n" + ("b = Tensor({1})\n" if second == "b" else "")
    arguments = "a, " + second if second else "a"
    run = f"out = {name}.apply({arguments})\nout.backward({{2}})"
    grads = ("a.grad", "b.grad") if second == "b" else ("a.grad",)
    dtypes = tuple(f"str({show}.dtype)" for show in ("out.data", *grads))
    turned = ["x.T", "y.T", "v.T"]
    narrow = [f'{each}.astype("float32")' for each in "xyv"]
    common = {"inputs": inputs, "output": "out.data", "upstream": "v"}
    derivatives = {"a.grad": "x", "b.grad": "y"} if second == "b" else {"a.grad": "x"}
    messages = (
        f'out = {name}.apply({arguments})\nown = "backward" in vars({name})  # or is it made of other functions?\n'
        f"messages = {name}.backward(out.grad_fn, v) if own else out.grad_fn.inputs\n"
        "one_each = len([*messages]) == len(out.grad_fn.inputs)"
    )
    inputs_after = ("a.data", "b.data") if second == "b" else ("a.data",)  # nobody may have written to them
    return (
        Check(
            "A tuple of messages", made.format("x", "y") + messages, ("hasattr(messages, 'shape')", "one_each"),
            inputs, cases=1,
        ),
        Check(
            f"The rule of {name}", (made + run).format("x", "y", "v"), ("out.data", "out.grad", *grads, *inputs_after),
            **common, **options, derivatives=derivatives,
        ),
        Check("Views of other arrays", (made + run).format(*turned), ("out.data", *grads), inputs, cases=8),
        Check(
            "float32 stays float32", (made + run).format(*narrow), (*dtypes, "out.data", *grads), inputs, cases=4,
            rtol=1e-4,
        ),
    )  # fmt: skip


def _both_sides(name: str, inputs: Any) -> Check:
    """One tensor is both inputs: it receives two messages, in each of two passes."""
    program = f"a = Tensor(x)\nout = {name}.apply(a, a)\nout.backward(v)\nout.backward(v)"
    return Check("The same tensor twice", program, ("a.grad",), inputs, cases=4)


# -- Lines of the reference that several wrong answers have otherwise --------------------------------------------------

_UNWRAPPED = "*(x.data if isinstance(x, Tensor) else x for x in inputs)"
_MESSAGE = "x.grad = message if x.grad is None else x.grad + message"
_ADDED_IN_PLACE = """\
if x.grad is None:
                            x.grad = message
                        else:
                            x.grad += message"""
_ADD = "return grad, grad\n"
_MUL = "return grad * b, grad * a"
_POW = "return grad * n * a ** (n - 1), None"
_RELU = "return (grad * mask,)"
_SIGMOID = "return (grad * s * (1 - s),)"
_MATMUL = "return grad @ b.T, a.T @ grad"
_ROW = "return grad, grad.sum(axis=0)"
_HIDDEN = "hidden = ReLU.apply(AddRow.apply(MatMul.apply(x, w1), b1))"
_OUT = "out = Sigmoid.apply(AddRow.apply(MatMul.apply(hidden, w2), b2))"

# -- The tasks ---------------------------------------------------------------------------------------------------------

CONTEXT = Task(
    "context",
    "Operations as objects",
    """An operation will be a class with two static methods, `forward(ctx, ...)` and `backward(ctx, grad)`. Write what
calls them. Three classes:

- `Tensor(data)`: `data` is an array (`np.asarray(data)`: float32 stays), `grad` and `grad_fn` begin as None.
- `Function`, with a class method `apply(*inputs)`. It makes a new `ctx`, calls `cls.forward(ctx, ...)` with bare arrays
  in place of tensors and all else as it is, and returns the result as a new `Tensor`, whose `grad_fn` is the `ctx`.
- the class of `ctx`, the *context*: `ctx.save_for_backward(*arrays)` keeps arrays for the way back in
  `ctx.saved_tensors`, a tuple; `ctx.inputs` is what `apply` was given, tensors and all.

The context links a result to its inputs: the graph grows by itself.""",
    (
        Check(
            "apply runs forward",
            _TWICE + "t = Tensor(x)\nout = Twice.apply(t)",
            ("type(out).__name__", "out.data", "out.grad", "t.data"),
            _alike("x"),
            cases=8,
        ),
        Check(
            "forward is given arrays, and numbers as they are",
            "class Look(Function):\n    @staticmethod\n    def forward(ctx, *inputs):\n"
            "        seen.extend(type(each).__name__ for each in inputs)\n        return inputs[0] * inputs[1]\n\n"
            "seen = []\nout = Look.apply(Tensor(x), 3.0)",
            ("seen", "out.data", "len(out.grad_fn.inputs)"),
            _alike("x"),
            cases=4,
        ),
        Check(
            "A result knows what it was made from",
            _PRODUCT + "a, b = Tensor(x), Tensor(y)\nout = Product.apply(a, b)",
            ("out.grad_fn.inputs[0] is a", "out.grad_fn.inputs[1] is b", "len(out.grad_fn.inputs)", "a.grad_fn"),
            _alike("x", "y"),
            cases=4,
        ),
        Check(
            "What was saved",
            _PRODUCT + "a, b = Tensor(x), Tensor(y)\nout = Product.apply(a, b)",
            (
                "isinstance(out.grad_fn.saved_tensors, tuple)",
                "len(out.grad_fn.saved_tensors)",
                "out.grad_fn.saved_tensors[0]",
                "out.grad_fn.saved_tensors[1]",
            ),
            _alike("x", "y"),
            cases=4,
        ),
        Check(
            "Each use has a context of its own",
            _PRODUCT + "a, b = Tensor(x), Tensor(y)\nfirst = Product.apply(a, b)\nsecond = Product.apply(first, a)",
            ("first.grad_fn is second.grad_fn", "first.grad_fn.saved_tensors[0]", "second.grad_fn.saved_tensors[0]"),
            _alike("x", "y"),
            cases=4,
        ),
        Check(
            "float32 stays float32",
            _TWICE + 'out = Twice.apply(Tensor(x.astype("float32")))',
            ("str(out.data.dtype)",),
            _alike("x"),
            cases=4,
        ),
    ),
    (
        Mistake(
            "tensors-in-forward",
            "`forward` was given tensors. It computes with bare arrays: hand it their `data`.",
            ((_UNWRAPPED, "*inputs"),),
        ),
        Mistake(
            "all-unwrapped",
            "A plain number among the inputs has no `data`: only tensors are unwrapped.",
            ((_UNWRAPPED, "*(x.data for x in inputs)"),),
        ),
        Mistake(
            "numbers-as-arrays",
            "A plain number came to `forward` as an array. Hand on what is not a tensor as it is.",
            ((_UNWRAPPED, "*(np.asarray(x.data if isinstance(x, Tensor) else x) for x in inputs)"),),
        ),
        Mistake(
            "class-as-grad-fn",
            "`grad_fn` is the class. It is this use's context, which knows the inputs and what was saved.",
            (("        out.grad_fn = ctx\n", "        out.grad_fn = cls\n"),),
        ),
        Mistake(
            "no-grad-fn",
            "The result has no `grad_fn`: without it, nobody finds the way back.",
            (("        out.grad_fn = ctx\n", ""),),
        ),
        Mistake(
            "inputs-unwrapped",
            "`ctx.inputs` holds bare arrays. Gradients belong to tensors: keep the inputs as `apply` was given them.",
            (
                (
                    "ctx = Context(cls, inputs)",
                    "ctx = Context(cls, tuple(x.data if isinstance(x, Tensor) else x for x in inputs))",
                ),
            ),
        ),
        Mistake(
            "inputs-without-numbers",
            "`ctx.inputs` leaves the numbers out. `backward` will answer with a message for each input: keep them all.",
            (("ctx = Context(cls, inputs)", "ctx = Context(cls, tuple(x for x in inputs if isinstance(x, Tensor)))"),),
        ),
        Mistake(
            "one-context",
            "All uses share one context: it was made once, for the class. Make a new one each time `apply` is called.",
            (
                (
                    "ctx = Context(cls, inputs)",
                    'ctx = vars(Function).get("ctx") or Context(cls, inputs)\n'
                    "        Function.ctx, ctx.function, ctx.inputs = ctx, cls, inputs",
                ),
            ),
        ),
        Mistake(
            "bare-saved",
            "`save_for_backward` kept the first array itself. Keep all that it is given, as a tuple.",
            (("        self.saved_tensors = arrays\n", "        self.saved_tensors = arrays[0]\n"),),
        ),
        Mistake(
            "one-saved",
            "Only the first array was saved: `save_for_backward` takes any number of them.",
            (("        self.saved_tensors = arrays\n", "        self.saved_tensors = arrays[:1]\n"),),
        ),
        Mistake(
            "saved-list",
            "`ctx.saved_tensors` is a list. The task asks for a tuple: what was saved does not change until backward.",
            (("        self.saved_tensors = arrays\n", "        self.saved_tensors = [*arrays]\n"),),
        ),
        Mistake(
            "saved-on-class",
            "What was saved belongs to the class: a second use overwrites what the first has saved. Each call "
            "of `apply` "
            "needs an object of its own.",
            (
                ("        self.saved_tensors = ()\n", ""),
                ("        self.saved_tensors = arrays\n", "        Context.saved_tensors = arrays\n"),
            ),
        ),
        Mistake(
            "always-float64",
            "float32 became float64: keep the dtype that comes.",
            (("self.data = np.asarray(data)", "self.data = np.asarray(data, float)"),),
        ),
    ),
    (
        "Begin with `Tensor` and the context: neither does more than keep what it is given.",
        "`@classmethod def apply(cls, *inputs)`: there, `cls.forward` is that of the subclass.",
        "Arrays for tensors, the rest as it is: `x.data if isinstance(x, Tensor) else x` for each input.",
        "Four steps: make `ctx`; `out = Tensor(cls.forward(ctx, ...))`; `out.grad_fn = ctx`; return `out`. Let "
        "`ctx` keep "
        "`cls` as well: the way back needs to know whose `backward` to call.",
    ),
)

_GRAPH_LOOP = "for tensor in reversed(order):"
_ORDER = """\
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        tensor, inputs_are_placed = stack.pop()
        if inputs_are_placed:
            order.append(tensor)
        elif tensor not in seen:
            seen.add(tensor)
            stack.append((tensor, True))
            if tensor.grad_fn:
                stack.extend((x, False) for x in tensor.grad_fn.inputs if isinstance(x, Tensor))
    return order"""

GRAPH = Task(
    "graph",
    "The way back",
    """Write `Tensor.backward(upstream=None)`. It starts with `upstream` as the gradient of this tensor, or with ones
of its shape, and goes back through `grad_fn`, from results to inputs, in **topological order**: a tensor's turn comes
when all who use it have had theirs.

At each tensor with a `grad_fn`, call `backward(ctx, grad)` of the class that made it. It returns a tuple, one message
for each input; an input that is no tensor gets none.

- A tensor used twice receives the **sum** of its messages.
- Gradients of leaves (no `grad_fn`) add up over passes; those of results start again.
- Never change a message in place: two tensors may have been sent the same array.""",
    (
        Check(
            "A chain",
            _TWICE + "a = Tensor(x)\nb = Twice.apply(a)\nc = Twice.apply(b)\nc.backward()",
            ("c.grad", "b.grad", "a.grad"),
            _alike("x"),
            output="c.data",
            derivatives={"a.grad": "x"},
            cases=8,
        ),
        Check(
            "Two inputs, and an upstream gradient",
            _PRODUCT + "a, b = Tensor(x), Tensor(y)\nout = Product.apply(a, b)\nout.backward(v)",
            ("out.grad", "a.grad", "b.grad"),
            _alike("x", "y", "v"),
            output="out.data",
            upstream="v",
            derivatives={"a.grad": "x", "b.grad": "y"},
        ),
        Check(
            "A number among the inputs",
            _PRODUCT + "a = Tensor(x)\nout = Product.apply(3.0, a)\nout.backward()",
            ("a.grad",),
            _alike("x"),
            output="out.data",
            derivatives={"a.grad": "x"},
            cases=4,
        ),
        Check(
            "A tensor used twice",
            _PRODUCT + "a = Tensor(x)\nout = Product.apply(a, a)\nout.backward(v)",
            ("a.grad",),
            _alike("x", "v"),
            output="out.data",
            upstream="v",
            derivatives={"a.grad": "x"},
        ),
        Check(
            "A long way and a short one",
            _TWICE + _PRODUCT + "a = Tensor(x)\nb = Twice.apply(a)\nc = Twice.apply(Twice.apply(b))\n"
            "out = Product.apply(b, c)\nout.backward()",
            ("c.grad", "b.grad", "a.grad"),
            _alike("x"),
            output="out.data",
            derivatives={"a.grad": "x"},
        ),
        *(
            Check(
                name,
                _TWICE + _TOTAL + "a, b = Tensor(x), Tensor(y)\nc = Total.apply(a, b)\n"
                f"out = Total.apply({inputs})\nout.backward()",
                ("out.grad", "c.grad", "b.grad", "a.grad"),
                _alike("x", "y"),
            )
            for name, inputs in (
                ("Two tensors with the same message", "c, Twice.apply(a)"),
                ("The same, in the other order", "Twice.apply(a), c"),
            )
        ),
        Check(
            "Two passes",
            _TWICE + "a = Tensor(x)\nb = Twice.apply(a)\nb.backward()\nc = Twice.apply(b)\nc.backward()",
            ("b.grad", "a.grad"),
            _alike("x"),
            cases=4,
        ),
    ),
    (
        Mistake(
            "overwritten",
            "Of a tensor that is used twice, only the last message is left. Add them.",
            ((_MESSAGE, "x.grad = message"),),
        ),
        Mistake(
            "in-place",
            "A message was added in place, and somebody else had been sent the same array. `x.grad = x.grad + "
            "message` makes a new one.",
            ((_MESSAGE, _ADDED_IN_PLACE),),
        ),
        Mistake(
            "in-place-other-order",
            "`x.grad += message` writes into an array that another tensor was sent, too. `x.grad = x.grad + message` "
            "makes a new one.",
            ((_MESSAGE, _ADDED_IN_PLACE), ("in tensor.grad_fn.inputs if", "in tensor.grad_fn.inputs[::-1] if")),
        ),
        Mistake(
            "twice",
            "A tensor that several others use had its turn several times. It has one turn, when all of them have had "
            "theirs.",
            (("        elif tensor not in seen:", "        else:"),),
        ),
        Mistake(
            "order-from-leaves",
            "A tensor's turn came when it had no gradient yet. Does the result begin with one, does the order go from "
            "there to the leaves, and is each message kept?",
            ((_GRAPH_LOOP, "for tensor in order:"),),
        ),
        Mistake(
            "by-distance",
            "Tensors had their turn by distance from the result. On a short way one comes too early: it must "
            "wait for all "
            "who use it.",
            (
                (
                    _ORDER,
                    "    order, queue = [], [root]\n    while queue:\n        tensor = queue.pop(0)\n"
                    "        if tensor not in order:\n            order.append(tensor)\n"
                    "            if tensor.grad_fn:\n"
                    "                queue.extend(x for x in tensor.grad_fn.inputs if isinstance(x, Tensor))\n"
                    "    return order[::-1]",
                ),
            ),
        ),
        Mistake(
            "upstream-ignored",
            "The upstream gradient that `backward` was given is not used.",
            (("np.ones_like(self.data) if upstream is None else upstream", "np.ones_like(self.data)"),),
        ),
        Mistake(
            "one-not-ones",
            "The pass began with a single 1. A gradient has the shape of its tensor: begin with ones of that shape.",
            (("np.ones_like(self.data) if", "np.float64(1) if"),),
        ),
        Mistake(
            "results-kept",
            "A result still held the gradient of an earlier pass. Empty results before you begin.",
            (("            if tensor.grad_fn:\n                tensor.grad = None\n", "            pass\n"),),
        ),
        Mistake(
            "leaves-emptied",
            "The leaves were emptied, too. Theirs add up over passes.",
            (
                (
                    "            if tensor.grad_fn:\n                tensor.grad = None\n",
                    "            tensor.grad = None\n",
                ),
            ),
        ),
        Mistake(
            "messages-swapped",
            "The messages went to the wrong inputs: they come in the order of the inputs.",
            (
                (
                    "zip(ctx.inputs, ctx.function.backward(ctx, tensor.grad))",
                    "zip(ctx.inputs, ctx.function.backward(ctx, tensor.grad)[::-1])",
                ),
            ),
        ),
    ),
    (
        "List the tensors first, each once and after its inputs. Then walk that list from its end.",
        "To list them: visit the tensors among the inputs first, then append the tensor itself. Remember whom "
        "you have seen.",
        "At each tensor with a `grad_fn`: `messages = ctx.function.backward(ctx, tensor.grad)`, then go through "
        "`zip(ctx.inputs, messages)`.",
        "`x.grad = message if x.grad is None else x.grad + message`.",
    ),
)

ADD = Task(
    "add",
    "Add",
    """The first rule: a class `Add(Function)`, used as `Add.apply(a, b)`. Both inputs are tensors of the same shape,
or one of them is a plain number: broadcasting is not asked for here.

`forward(ctx, a, b)` returns the sum of two arrays. `backward(ctx, grad)` returns a tuple with a message for `a` and one
for `b`. If an element of `a` grows, its element of the sum grows as much; the same holds for `b`.

Both are static methods: what they have to remember, the context keeps, and here that is nothing.""",
    (
        *_rule("Add", _alike("x", "y", "v"), "b"),
        _both_sides("Add", _alike("x", "v")),
        Check(
            "A number",
            "a = Tensor(x)\nout = Add.apply(Add.apply(a, 2.5), a)\nout.backward(v)",
            ("out.data", "a.grad"),
            _alike("x", "v"),
            output="out.data",
            upstream="v",
            derivatives={"a.grad": "x"},
            cases=8,
        ),
    ),
    (
        Mistake(
            "add-no-tuple",
            "`backward` returned one array. It returns a tuple of two messages, one for each input.",
            ((_ADD, "return grad\n"),),
        ),
        Mistake(
            "add-minus",
            "That is the rule of a difference: `b` receives the wrong sign.",
            ((_ADD, "return grad, -grad\n"),),
        ),
        Mistake(
            "add-one",
            "Only `a` receives a message. The sum depends on `b` as well.",
            ((_ADD, "return grad, 0 * grad\n"),),
        ),
        Mistake(
            "add-no-upstream",
            "The messages are ones, whatever came from above: the upstream gradient is missing.",
            ((_ADD, "return np.ones_like(grad), np.ones_like(grad)\n"),),
        ),
        Mistake(
            "add-shared-out",
            "The gradient was shared out between the two. It is not an amount to be split: each input "
            "moves the sum by its full change.",
            ((_ADD, "return grad / 2, grad / 2\n"),),
        ),
        Mistake(
            "add-summed",
            "The messages were summed up. No axis was copied here: a message has the shape of its input.",
            ((_ADD, "return grad.sum(), grad.sum()\n"),),
        ),
        Mistake(
            "add-doubled",
            "Each message is twice the upstream gradient. Each input moves the sum once: where one tensor is both "
            "inputs, `backward` of the graph adds the two messages.",
            ((_ADD, "return 2 * grad, 2 * grad\n"),),
        ),
        Mistake("add-forward", "The way forward subtracts.", (("return a + b", "return a - b"),)),
    ),
    (
        "The derivative of `a + b` by `a` is 1, and 1 times the upstream gradient is the upstream gradient.",
        "Two methods of one line each, both under `@staticmethod`.",
        "`backward` returns two things, and they are the same: `return grad, grad`.",
    ),
)

MUL = Task(
    "mul",
    "Mul",
    """`Mul.apply(a, b)`: the product, element by element. Same shapes, or one of the inputs is a plain number.

If `a` grows by a little, the product grows by that times `b`. So the way back needs both arrays, and it comes much
later: keep them by `ctx.save_for_backward(a, b)` on the way forward, and take them from `ctx.saved_tensors`.

Do not keep them anywhere else. A module that is used twice, or a second graph, would find the wrong ones there.""",
    (
        *_rule("Mul", _alike("x", "y", "v"), "b"),
        _both_sides("Mul", _alike("x", "v")),
        Check(
            "A number",
            "a = Tensor(x)\nout = Mul.apply(a, -1.5)\nout.backward(v)",
            ("out.data", "a.grad"),
            _alike("x", "v"),
            output="out.data",
            upstream="v",
            derivatives={"a.grad": "x"},
            cases=8,
        ),
        Check(
            "Used twice",
            "a, b = Tensor(x), Tensor(y)\nout = Mul.apply(Mul.apply(a, a), Mul.apply(a, b))\nout.backward(v)",
            ("out.data", "a.grad", "b.grad"),
            _alike("x", "y", "v"),
            output="out.data",
            upstream="v",
            derivatives={"a.grad": "x", "b.grad": "y"},
        ),
    ),
    (
        Mistake(
            "mul-own",
            "Each input received its own array as the factor: it should be the other one.",
            ((_MUL, "return grad * a, grad * b"),),
        ),
        Mistake("mul-no-upstream", "The upstream gradient is missing.", ((_MUL, "return b + 0 * grad, a + 0 * grad"),)),
        Mistake(
            "mul-as-add",
            "That is the rule of a sum: in a product, each message is multiplied by the other input.",
            ((_MUL, "return grad, grad * 1"),),
        ),
        Mistake(
            "mul-half-upstream",
            "The message to `b` lacks the upstream gradient.",
            ((_MUL, "return grad * b, a + 0 * grad"),),
        ),
        Mistake(
            "mul-both",
            "The messages were multiplied by both inputs: the derivative of `a * b` by `a` is `b` alone.",
            ((_MUL, "return grad * a * b, grad * a * b"),),
        ),
        Mistake(
            "mul-on-class",
            "The arrays were kept on the class: of two products, the second overwrites what the first has kept.",
            (
                (
                    "        ctx.save_for_backward(a, b)\n        return a * b",
                    "        Mul.kept = a, b\n        return a * b",
                ),
                ("        a, b = ctx.saved_tensors\n        " + _MUL, "        a, b = Mul.kept\n        " + _MUL),
            ),
        ),
    ),
    (
        "What is the derivative of `a * b` by `a`, if `b` is held fixed?",
        "Save on the way forward, unpack on the way back: `a, b = ctx.saved_tensors`.",
        "The message to `a` is `grad * b`. The one to `b`?",
    ),
)

POW = Task(
    "pow",
    "Pow",
    """`Pow.apply(a, n)`: each element to the power of a plain number `n`. Negative bases come with whole exponents.

The derivative of aⁿ is n · aⁿ⁻¹, element by element. `n` is no tensor, and nobody wants its gradient: still, `backward`
returns one message for each input, so the second is None.""",
    (
        *_rule("Pow", _power, "n"),
        Check(
            "Zeros",
            "a = Tensor(x)\nout = Pow.apply(a, 2)\nout.backward(v)",
            ("out.data", "a.grad"),
            _alike("x", "v"),
            output="out.data",
            upstream="v",
            derivatives={"a.grad": "x"},
        ),
        Check(
            "A power of a power",
            "a = Tensor(x)\nout = Pow.apply(Pow.apply(a, 2), 3)\nout.backward(v)",
            ("out.data", "a.grad"),
            _nonzero,
            output="out.data",
            upstream="v",
            derivatives={"a.grad": "x"},
            cases=8,
        ),
    ),
    (
        Mistake(
            "pow-no-tuple",
            "`backward` returned an array. It returns a tuple of two messages, and the one for `n` is None.",
            ((_POW, "return grad * n * a ** (n - 1)"),),
        ),
        Mistake(
            "pow-one-message",
            "`backward` returned one message. `apply` had two inputs: the message for `n` is None.",
            ((_POW, "return (grad * n * a ** (n - 1),)"),),
        ),
        Mistake("pow-no-factor", "The factor n is missing.", ((_POW, "return grad * a ** (n - 1), None"),)),
        Mistake("pow-same-exponent", "The exponent should go down by one.", ((_POW, "return grad * n * a**n, None"),)),
        Mistake(
            "pow-no-upstream",
            "The upstream gradient is missing.",
            ((_POW, "return n * a ** (n - 1) + 0 * grad, None"),),
        ),
        Mistake(
            "pow-exponent-up",
            "The exponent went up by one: that is the way to an integral.",
            ((_POW, "return grad * n * a ** (n + 1), None"),),
        ),
        Mistake(
            "pow-sign-lost",
            "The sign of the base was lost: for n = 2, the derivative of a negative base is negative.",
            ((_POW, "return grad * n * np.abs(a) ** (n - 1), None"),),
        ),
        Mistake(
            "pow-as-exp",
            "That is the derivative by the exponent, with a logarithm. Here the base is the variable.",
            ((_POW, "return grad * a**n * np.log(np.abs(a)), None"),),
        ),
        Mistake(
            "pow-factor-down",
            "The factor is n, as it was before the exponent went down by one.",
            ((_POW, "return grad * (n - 1) * a ** (n - 1), None"),),
        ),
    ),
    (
        "The derivative of a³ is 3a². Write it with n, then multiply it by what comes from above.",
        "Save both, the array and the number: `ctx.save_for_backward(a, n)`.",
        "`grad * n * a ** (n - 1)` is the first message, None the second.",
    ),
)

RELU = Task(
    "relu",
    "ReLU",
    """`ReLU.apply(a)`: each element that is positive stays, all others become 0.

On the way back, a message passes where the input was positive, and stops where the result is flat. At exactly 0 there
is no derivative; take 0, as most frameworks do.

There is one input, and `backward` still returns a tuple: `return (message,)`.""",
    (
        *_rule("ReLU", _nonzero),
        Check(
            "Zeros among them",
            "a = Tensor(x)\nout = ReLU.apply(a)\nout.backward(v)",
            ("out.data", "a.grad"),
            lambda rng, size: {**_alike("x", "v")(rng, 2)},
        ),
        Check(
            "All zeros",
            "a = Tensor(0 * x)\nout = ReLU.apply(a)\nout.backward(v)",
            ("out.data", "a.grad"),
            _alike("x", "v"),
            cases=4,
        ),
    ),
    (
        Mistake(
            "relu-no-tuple",
            "`backward` returned an array. It returns a tuple, here of one message: the comma makes it.",
            ((_RELU, "return grad * mask"),),
        ),
        Mistake(
            "relu-in-place",
            "The gradient itself was written to, and somebody else may have been sent the same array. Make a new one.",
            ((_RELU, "grad[~mask] = 0.0\n        return (grad,)"),),
        ),
        Mistake(
            "relu-input-written",
            "The input itself was written to: what `forward` is given is the tensor's own array. Make a new one.",
            (("return np.maximum(a, 0)", "a[a < 0] = 0.0\n        return a"),),
        ),
        *(
            Mistake(
                f"relu-leaks-{leak}",
                f"Below 0, relu is 0 and passes nothing on. Yours lets {leak} of the input through: a leaky relu.",
                (
                    ("return np.maximum(a, 0)", f"return np.maximum(a, {leak} * a)"),
                    ("ctx.save_for_backward(a > 0)", f"ctx.save_for_backward(np.where(a > 0, 1, {leak}))"),
                ),
            )
            for leak in (0.01, 0.1, 0.2)
        ),
        Mistake("relu-no-mask", "The gradient passed where the input is negative, too.", ((_RELU, "return (grad,)"),)),
        Mistake(
            "relu-at-zero",
            "At exactly 0, the task takes the derivative 0: compare with `>`, not `>=`.",
            (("ctx.save_for_backward(a > 0)", "ctx.save_for_backward(a >= 0)"),),
        ),
        Mistake(
            "relu-gradient",
            "The sign of the gradient decided what passes. It should be the sign of the input.",
            ((_RELU, "return (grad * (grad > 0),)"),),
        ),
        Mistake(
            "relu-no-upstream",
            "The upstream gradient is missing: 1 and 0 are only the local derivative.",
            ((_RELU, "return (mask + 0 * grad,)"),),
        ),
        Mistake(
            "relu-turned",
            "The gradient passed exactly where it should stop.",
            ((_RELU, "return (grad * (1 - mask),)"),),
        ),
        Mistake(
            "relu-sign",
            "Negative inputs received the gradient with a minus: that is the rule of the absolute value.",
            (("ctx.save_for_backward(a > 0)", "ctx.save_for_backward(np.sign(a))"),),
        ),
        Mistake(
            "relu-value",
            "The message was multiplied by the result: the slope of relu is 1, however large the input is.",
            (("ctx.save_for_backward(a > 0)", "ctx.save_for_backward(np.maximum(a, 0))"),),
        ),
    ),
    (
        "Draw relu: where is it steep, and how steep?",
        "`np.maximum(a, 0)` for the way forward; `a > 0` is all that the way back needs.",
        "An array of True and False can be multiplied: True counts as 1. `return (grad * mask,)`.",
    ),
)

SIGMOID = Task(
    "sigmoid",
    "Sigmoid",
    """`Sigmoid.apply(a)`: σ(a) = 1 / (1 + e⁻ᵃ), element by element.

In the scalar course, σ(1 - σ) came out of small steps. Here it is the rule, one line for all of them. It needs only the
*result*: save that in place of the input, and nothing is computed twice.

That is what a rule of one's own is good for: fewer steps, less memory.""",
    (
        *_rule("Sigmoid", _alike("x", "v")),
        Check(
            "Twice in a row",
            "a = Tensor(x)\nout = Sigmoid.apply(Sigmoid.apply(a))\nout.backward(v)",
            ("out.data", "a.grad"),
            _alike("x", "v"),
            output="out.data",
            upstream="v",
            derivatives={"a.grad": "x"},
        ),
    ),
    (
        Mistake(
            "sigmoid-no-tuple",
            "`backward` returned an array. It returns a tuple, here of one message: the comma makes it.",
            ((_SIGMOID, "return grad * s * (1 - s)"),),
        ),
        Mistake(
            "sigmoid-input",
            "The input was used where the result belongs: σ(1 - σ), not a(1 - a).",
            (("ctx.save_for_backward(s)", "ctx.save_for_backward(a)"),),
        ),
        Mistake("sigmoid-half", "The factor (1 - σ) is missing.", ((_SIGMOID, "return (grad * s,)"),)),
        Mistake(
            "sigmoid-as-tanh",
            "That is the rule of tanh, 1 - t². For the sigmoid, it is σ(1 - σ).",
            ((_SIGMOID, "return (grad * (1 - s * s),)"),),
        ),
        Mistake(
            "sigmoid-no-upstream",
            "The upstream gradient is missing.",
            ((_SIGMOID, "return (s * (1 - s) + 0 * grad,)"),),
        ),
        Mistake(
            "sigmoid-sign",
            "Every message has the wrong sign: the sigmoid grows everywhere.",
            ((_SIGMOID, "return (grad * s * (s - 1),)"),),
        ),
        Mistake(
            "sigmoid-turned",
            "That is σ(-a): the exponent needs a minus.",
            (("s = 1 / (1 + np.exp(-a))", "s = 1 / (1 + np.exp(a))"),),
        ),
    ),
    (
        "Compute `s` first, save it, return it.",
        "The derivative by the input, told by the result: `s * (1 - s)`.",
        "`return (grad * s * (1 - s),)`: a tuple of one.",
    ),
)

MATMUL = Task(
    "matmul",
    "MatMul",
    """`MatMul.apply(a, b)`: the matrix product `a @ b` of two matrices, (N, K) and (K, M).

The upstream gradient has the shape of the result, (N, M). The message to `a` must have the shape of `a`, and is made of
the gradient and `b`. There is only one way to put (N, M) and (K, M) together that gives (N, K). The same goes for `b`.

Shapes only help while N, K and M differ. With square matrices everything fits, right or wrong: the check tries those
first.""",
    (
        Check(
            "Square matrices",
            "a, b = Tensor(x), Tensor(y)\nout = MatMul.apply(a, b)\nout.backward(v)",
            ("out.data", "a.grad", "b.grad"),
            _matrices(True),
            output="out.data",
            upstream="v",
            derivatives={"a.grad": "x", "b.grad": "y"},
        ),
        _both_sides("MatMul", _matrices(True)),
        *_rule("MatMul", _matrices(False), "b")[1::2],
        Check(
            "Views of other arrays",
            "a, b = Tensor(y.T), Tensor(x.T)\nout = MatMul.apply(a, b)\nout.backward(v.T)",
            ("out.data", "a.grad", "b.grad"),
            _matrices(False),
            cases=8,
        ),
        Check(
            "A product of products",
            "a, b = Tensor(x), Tensor(y)\nout = MatMul.apply(MatMul.apply(a, b), MatMul.apply(b, a))\nout.backward(v)",
            ("out.data", "a.grad", "b.grad"),
            _matrices(True),
            output="out.data",
            upstream="v",
            derivatives={"a.grad": "x", "b.grad": "y"},
        ),
    ),
    (
        Mistake(
            "b-not-transposed",
            "In the message to `a`, `b` should be transposed.",
            ((_MATMUL, "return grad @ b, a.T @ grad"),),
        ),
        Mistake(
            "a-not-transposed",
            "In the message to `b`, `a` should be transposed.",
            ((_MATMUL, "return grad @ b.T, a @ grad"),),
        ),
        Mistake(
            "none-transposed",
            "Neither matrix was transposed on the way back. Both should be.",
            ((_MATMUL, "return grad @ b, a @ grad"),),
        ),
        Mistake(
            "a-turned",
            "The message to `a` has its factors in the wrong order: the gradient comes first.",
            ((_MATMUL, "return b.T @ grad, a.T @ grad"),),
        ),
        Mistake(
            "b-turned",
            "The message to `b` has its factors in the wrong order: the gradient comes last.",
            ((_MATMUL, "return grad @ b.T, grad @ a.T"),),
        ),
        Mistake(
            "both-turned",
            "Both messages have their factors in the wrong order: for `a` the gradient comes first, for `b` last.",
            ((_MATMUL, "return b.T @ grad, grad @ a.T"),),
        ),
        Mistake(
            "matmul-swapped",
            "The two messages were returned in the wrong order.",
            ((_MATMUL, "return a.T @ grad, grad @ b.T"),),
        ),
        Mistake(
            "matmul-elementwise",
            "That is the rule of the product element by element.",
            ((_MATMUL, "return grad * b.T, a.T * grad"),),
        ),
    ),
    (
        "Write the shapes down: the gradient is (N, M), `b` is (K, M). Which product gives (N, K)?",
        "Each message has one transposed matrix in it: `b.T` in that to `a`, `a.T` in that to `b`.",
        "The gradient stands where the other input does not: `grad @ b.T`, and `a.T @ grad`.",
    ),
)

_PARAMETERS = "w1, b1, w2, b2 = Tensor(w1), Tensor(b1), Tensor(w2), Tensor(b2)\n"

NETWORK = Task(
    "network",
    "A network of two layers",
    """Two more functions, then the network.

- `AddRow.apply(x, row)`: `row` has shape (M,) and is added to each row of `x`, (N, M). It was copied N times: on the
  way back, the N messages add up.
- `Sum.apply(x)`: the sum of all elements. Each element receives the upstream gradient: a message has the shape of its
  input.

Then `loss(x, y, w1, b1, w2, b2)`, which uses `apply` alone. `x` and `y` are arrays, the rest tensors:

> hidden = relu(x @ w1 + b1), out = sigmoid(hidden @ w2 + b2), loss = sum of (out - y)²

Every rule in it is yours.""",
    (
        Check(
            "AddRow",
            "a, row = Tensor(x), Tensor(r)\nout = AddRow.apply(a, row)\nout.backward(v)",
            ("out.data", "a.grad", "row.grad"),
            _row,
            output="out.data",
            upstream="v",
            derivatives={"a.grad": "x", "row.grad": "r"},
        ),
        Check(
            "Sum",
            "a = Tensor(x)\nout = Sum.apply(a)\nout.backward()",
            ("out.data", "a.grad"),
            _alike("x"),
            output="out.data",
            derivatives={"a.grad": "x"},
            cases=8,
        ),
        Check(
            "Sum, with something above it",
            "a = Tensor(x)\nout = Pow.apply(Sum.apply(a), 2)\nout.backward()",
            ("out.data", "a.grad"),
            _alike("x"),
            output="out.data",
            derivatives={"a.grad": "x"},
            cases=8,
        ),
        Check(
            "The loss",
            _PARAMETERS + "out = loss(x, y, w1, b1, w2, b2)",
            ("out.data",),
            _network,
            cases=8,
        ),
        Check(
            "All gradients",
            _PARAMETERS + "out = loss(x, y, w1, b1, w2, b2)\nout.backward()",
            ("b2.grad", "w2.grad", "b1.grad", "w1.grad"),
            _network,
            output="out.data",
            derivatives={"b2.grad": "b2", "w2.grad": "w2", "b1.grad": "b1", "w1.grad": "w1"},
        ),
        Check(
            "Five steps downhill",
            "params = [Tensor(each) for each in (w1, b1, w2, b2)]\nlosses = []\nfor _ in range(5):\n"
            "    out = loss(x, y, *params)\n    out.backward()\n    losses.append(out.data)\n    for p in params:\n"
            "        p.data = p.data - 0.1 * p.grad\n        p.grad = None",
            ("losses",),
            _network,
            cases=8,
        ),
    ),
    (
        Mistake(
            "row-not-summed",
            "The row was copied to each row of `x`: the message to it is the sum over these rows.",
            ((_ROW, "return grad, grad"),),
        ),
        Mistake(
            "row-wrong-axis",
            "The sum went along the rows. The copies stand below each other: sum over axis 0.",
            ((_ROW, "return grad, grad.sum(axis=1)"),),
        ),
        Mistake(
            "row-mean",
            "The messages were averaged. Each copy moves the result: they add up.",
            ((_ROW, "return grad, grad.mean(axis=0)"),),
        ),
        Mistake(
            "row-first",
            "Only the message of the first row was kept. All rows have sent one.",
            ((_ROW, "return grad, grad[0]"),),
        ),
        Mistake(
            "sum-not-spread",
            "The message of `Sum` is a single number. It should have the shape of the input.",
            (("return (np.broadcast_to(grad, shape),)", "return (grad,)"),),
        ),
        Mistake(
            "sum-ones",
            "`Sum` sends ones, whatever stands above it: the upstream gradient is missing.",
            (("return (np.broadcast_to(grad, shape),)", "return (np.ones(shape),)"),),
        ),
        Mistake(
            "sum-shared-out",
            "`Sum` shares the gradient out. That is the rule of the mean.",
            (("return (np.broadcast_to(grad, shape),)", "return (np.broadcast_to(grad / np.prod(shape), shape),)"),),
        ),
        Mistake(
            "network-no-relu",
            "There is no relu between the two layers.",
            ((_HIDDEN, "hidden = AddRow.apply(MatMul.apply(x, w1), b1)"),),
        ),
        Mistake(
            "network-no-sigmoid",
            "The sigmoid at the end is missing.",
            ((_OUT, "out = AddRow.apply(MatMul.apply(hidden, w2), b2)"),),
        ),
        Mistake(
            "network-plus-y",
            "The loss has out + y in it. It should be their difference: `Mul.apply(y, -1)`.",
            (("Mul.apply(y, -1)", "Mul.apply(y, 1)"),),
        ),
        Mistake(
            "network-not-squared",
            "The differences are not squared: errors of both signs cancel.",
            (
                (
                    "Sum.apply(Pow.apply(Add.apply(out, Mul.apply(y, -1)), 2))",
                    "Sum.apply(Add.apply(out, Mul.apply(y, -1)))",
                ),
            ),
        ),
        Mistake(
            "network-detached",
            "Something on the way is a new Tensor without a `grad_fn`: behind it, no gradient arrives.",
            ((_HIDDEN, _HIDDEN + "\n    hidden = Tensor(hidden.data)"),),
        ),
    ),
    (
        "For `AddRow`, see what broadcasting did: one row, copied N times. The messages of all copies belong to it.",
        "`grad.sum(axis=0)` has the shape of the row. For `Sum`, save `x.shape` and use `np.broadcast_to(grad, "
        "shape)`.",
        "From the inside out: `MatMul.apply(x, w1)`, then `AddRow`, then `ReLU`; the same again with `Sigmoid`.",
        "`out - y` is `Add.apply(out, Mul.apply(y, -1))`; square it by `Pow`, add it all up by `Sum`.",
    ),
)

COURSE = Course(
    "functions",
    "Function objects",
    "Can an operation be an object that knows both ways? Build the machinery and the rules of a two-layer network.",
    Path(__file__).parent,
    (CONTEXT, GRAPH, ADD, MUL, POW, RELU, SIGMOID, MATMUL, NETWORK),
)
