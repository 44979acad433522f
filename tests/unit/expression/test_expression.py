"""The learner's language: its values and gradients, its sentences and the columns they point at, its limits."""

import math
import pickle
import re

import numpy as np
import pytest

from lab.expression import ExpressionError, parser
from lab.expression.language import INSTEAD
from lab.expression.parser import Expression, parse
from lab.operation_table import OPS
from lab.trace.recording import record
from model import Tensor, no_grad
from tests.unit.expression.test_pytorch import EXPRESSIONS


def gradients(text, **values):
    """The value of the expression and the gradient of the sum of its elements, by name."""
    leaves = {name: Tensor(value) for name, value in values.items()}
    result = parse(text)(**leaves)
    result.sum().backward()
    return result.numpy(), {name: leaf.grad for name, leaf in leaves.items()}


def refused(text, **values):
    with pytest.raises(ExpressionError) as caught:
        parse(text)(**values)
    return caught.value


# -- values and gradients


def test_names_are_the_free_ones_in_order_of_appearance():
    assert parse("z*a + b*a").names == ["z", "a", "b"]
    assert parse("h = b*a\nL = h*c + b").names == ["b", "a", "c"]
    assert parse("n = 2; x**n * pi").names == ["x"]
    assert parse("e * x").names == ["e", "x"]  # only pi is a constant


@pytest.mark.parametrize(
    ("text", "values", "value", "expected"),
    [
        ("a*b + c", {"a": 2, "b": 3, "c": 4}, 10, {"a": 3, "b": 2, "c": 1}),
        ("(a*b + c).relu()", {"a": 2, "b": -3, "c": 1}, 0, {"a": 0, "b": 0, "c": 0}),
        ("((a*b)+c)*(a+d)", {"a": 2, "b": 3, "c": 4, "d": 5}, 70, {"a": 31, "b": 14, "c": 7, "d": 10}),
        ("a*a", {"a": 3}, 9, {"a": 6}),
        ("h = a*b; L = h**2 + h", {"a": 2, "b": 3}, 42, {"a": 39, "b": 26}),
        ("h = a*b\n\n  L = h**2 + h  # indentation and comments mean nothing\n", {"a": 2, "b": 3}, 42, {"a": 39, "b": 26}),
        ("a - b/c", {"a": 1, "b": 6, "c": 2}, -2, {"a": 1, "b": -0.5, "c": 1.5}),
        ("-2**2 * a", {"a": 3}, -12, {"a": -4}),
        ("1.0.exp() * a - 1.5e0.exp().log()", {"a": 2}, 2 * math.e - 1.5, {"a": math.e}),
        ("w1or * x2in", {"w1or": 2, "x2in": 3}, 6, {"w1or": 3, "x2in": 2}),
        ("(-2)**2 * +a", {"a": 3}, 12, {"a": 4}),
        ("max(a, b) + min(a, b)", {"a": 2, "b": 5}, 7, {"a": 1, "b": 1}),
        ("where(a > b, a*b, 7)", {"a": 2, "b": 5}, 7, {"a": 0, "b": 0}),
        ("where(a != b, a*b, 7)", {"a": 2, "b": 5}, 10, {"a": 5, "b": 2}),
        ("where(a > 0, 1, 0.5) * a", {"a": -4}, -2, {"a": 0.5}),
        ("[a, b] @ [1, 2]", {"a": 3, "b": 4}, 11, {"a": 1, "b": 2}),
        ("W = [[a, 1], [2, b]]; (W.T @ [1, 10]).sum()", {"a": 3, "b": 4}, 64, {"a": 1, "b": 10}),
        ("sum(x * [1, 2, 3][1])", {"x": [1, 2]}, 6, {"x": [2, 2]}),
        ("mean(x, axis=0)[-1]", {"x": [[1, 2], [3, 6]]}, 4, {"x": [[0, 0.5], [0, 0.5]]}),
        ("x[:, 1] * 2", {"x": [[1, 2], [3, 4]]}, [4, 8], {"x": [[0, 2], [0, 2]]}),
        ("θ**2", {"θ": 3}, 9, {"θ": 6}),
    ],
)  # fmt: skip
def test_hand_computed(text, values, value, expected):
    found, grads = gradients(text, **values)
    np.testing.assert_allclose(found, value)
    for name in expected:
        np.testing.assert_allclose(grads[name], expected[name], err_msg=name)


def test_an_example_for_every_function():
    used = {name for text, _ in EXPRESSIONS for name in re.findall(r"\w+(?=\()", text)}
    assert used >= {name for name, op in OPS.items() if op.form in ("method", "function")}


def test_leaves_and_lines_are_labelled_for_the_graph():
    a = Tensor(2.0)
    result = parse("h = a*b; L = h**2 + h")(a=a, b=3)
    assert (a.label, result.label) == ("a", "L")
    assert {child.label for child in result.children} == {"h", ""}


def test_subclasses_pass_through_so_a_trace_sees_every_operation():
    for text in (
        "[1, 2] @ [a, b]",
        "where(a > b, 1, 0) * a + b",
        "max(2, a) - min(b, 1)",
        "2 / mse_loss([a, b], [1, 2])",
    ):
        trace = record(parse(text), {"a": 2.0, "b": 5.0})
        _, grads = gradients(text, a=2.0, b=5.0)
        for name, grad in trace.gradients.items():
            np.testing.assert_allclose(grad, grads[name], err_msg=text)


def test_values_may_be_numbers_arrays_lists_or_tensors():
    for value in (2, 2.0, np.float32(2), np.array(2.0), Tensor(2.0), True + 1):
        assert parse("a*a")(a=value).item() == 4.0
    assert parse("a*a")(a=[1, 2]).shape == (2,)


def test_no_graph_inside_no_grad():
    with no_grad():
        assert not parse("a*a")(a=2).requires_grad


def test_parts_without_names_are_constants_not_nodes():
    result = parse("exp(1) * 2**3 * a")(a=1.0)
    constant, leaf = result.children
    assert leaf.label == "a"
    assert constant.children == ()
    assert constant.item() == pytest.approx(8 * math.e)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("log(a)", math.nan), ("1e308 * a * 1e308", -math.inf), ("a/0", -math.inf), ("a/(a - a)", -math.inf),
        ("exp(1000) + a", math.inf), ("9**9**9 * a", -math.inf), ("(-8)**(1/3) * a", math.nan),
        ("1e999 + a", math.inf), ("0**-1 + a", math.inf), ("sqrt([a, 1])[0]", math.nan), ("(0*a)/0", math.nan),
        ("exp(-1000 * a)", math.inf),
    ],
)  # read by rows  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_inf_and_nan_are_values(text, value):
    assert parse(text)(a=-1.0).item() == pytest.approx(value, nan_ok=True)


def test_an_expression_can_be_pickled_and_cached():
    again = pickle.loads(pickle.dumps(parse("a*b + 1")))
    assert isinstance(again, Expression)
    assert (again.text, again.names, again(a=2, b=3).item()) == ("a*b + 1", ["a", "b"], 7.0)


# -- Python for a script


@pytest.mark.parametrize(
    ("text", "values"),
    [
        *EXPRESSIONS,
        ("(a*b + c).relu()", {"a": 2.0, "b": -3.5, "c": 1e-3}),
        ("h = a*b; L = h**2 + h", {"a": -0.0, "b": 3}),
        ("n = 3; (-2)**n * (-n)**a - -a", {"a": 2.0}),
        ("n = 9**9**9; n * a + 1/0 - log(-1)", {"a": 2.0}),
        ("[[a, 1], [2, -a]] @ [-1, 1/0]", {"a": 2.0}),
        ("result = a*2; result * 2", {"a": 2.0}),
        ("x[None, ..., 1:, ::-1] * x[-1]", {"x": [[0.3, -1.2], [2.0, 0.7]]}),
        ("where(2 > 1, a, 1) * where(a >= 1, 1, 0)", {"a": 2.0}),
        ("12345678901234567890 * a - 1_000 + .5", {"a": 2.0}),
    ],
)
def test_the_script_computes_the_same(text, values):
    expression = parse(text)
    script, namespace = expression.to_python(**values), {}
    with np.errstate(all="ignore"):
        exec(script, namespace)
    np.testing.assert_array_equal(namespace[expression.result_name].numpy(), expression(**values).numpy())


def test_the_script_reads_well():
    assert parse("h = max(a, 0)*2\nh @ [1, 2] + sin(a)").to_python(a=2.5) == (
        "import numpy as np\n\n"
        "from model import Tensor, maximum\n\n"
        'a = Tensor(2.5, label="a")\n'
        "h = maximum(a, 0) * 2\n"
        "result = h @ np.array([1, 2]) + a.sin()\n"
    )


def test_without_values_the_script_has_only_the_lines():
    expression = parse("result = a*b; result + 1")
    assert expression.to_python() == "from model import Tensor\n\nresult = a * b\nresult_ = result + 1\n"
    assert expression.result_name == "result_"
    assert parse("L = a*b").result_name == "L"


# -- mistakes: the sentence and the place


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        # slips
        ("a + 2b", 1, 5, "write `2*b`"),
        ("1e5x", 1, 1, "write `1e5*x`"),
        ("a + 2.b", 1, 5, "write `2*b`"),
        ("a + 2.exp()", 1, 5, "write `exp(2)`"),
        (".5a + .5", 1, 1, "write `.5*a`"),
        ("1.5a + 1.0.exp()", 1, 1, "write `1.5*a`"),
        ("a + 1_000a", 1, 5, "write `1_000*a`"),
        ("1if a else b", 1, 2, "where(a > b, x, y)"),
        ("a + 1or b", 1, 6, "where(a > b, x, y)"),
        ("nan*a", 1, 1, "write `0/0`"),
        ("a + inf", 1, 5, "write `1/0`"),
        ("2(a + b)", 1, 1, "to multiply, write `*`"),
        ("a*b(c)", 1, 3, "write `b*(...)`"),
        ("a b", 1, 3, "sign is missing between two values"),
        ("T b", 1, 3, "sign is missing between two values"),
        ("sin x", 1, 5, "write `sin(x)`"),
        ("2 + a tanh 0.5", 1, 12, "write `tanh(0.5)`"),
        ("(a)b", 1, 4, "sign is missing between two values"),
        ("a^2", 1, 2, "type `**`"),
        ("a*b +", 1, 6, "missing at the end"),
        ("a + * b", 1, 5, "cannot be read"),
        ("(a*b + c", 1, 1, "`(` is never closed"),
        ("a*[b, (c]", 1, 9, "`]` meets a `(`"),
        ("a*b)", 1, 4, "never opened"),
        ("a == b", 1, 1, "write one `=`"),
        ("(a = 2) + b", 1, 2, "to compare, write `==`"),
        ("where(a = 2, 1, b)", 1, 18, "to compare, write `==`"),
        ("a*b = c", 1, 1, "left of `=`"),
        ("a = b = c", 1, 1, "one name"),
        ("a, b = c", 1, 1, "one name"),
        ("h.x = a", 1, 1, "one name"),
        ("h := a", 1, 3, "`:=` is not used"),
        ("(h := a) + 1", 1, 2, "`:=` is not used"),
        ("h += a", 1, 1, "new name"),
        ("h: a", 1, 1, "without `:`"),
        ("a ** ", 1, 5, "missing at the end"),
        # signs that were pasted
        ("a × b", 1, 3, "type `*`"),
        ("a + `b`", 1, 5, "A backtick cannot be used here: "),
        ("a·b", 1, 2, "type `*`"),
        ("a − b", 1, 3, "type `-`"),
        ("a ÷ b", 1, 3, "type `/`"),
        ("a² + b", 1, 2, "type `**2`"),
        ("2*π*a", 1, 3, "type `pi`"),
        ("a\u00a0+ b", 1, 2, "ordinary space"),
        ("a ≤ b", 1, 3, "type `<=`"),
        ("{a}", 1, 1, "type `(`"),
        ("a → b", 1, 3, "only letters"),
        ("a\x00", 1, 2, "U+0000"),
        ("a\u202eb", 1, 2, "U+202E"),
        ("a + é", 1, 5, "only letters a-z and α-ω"),
        ("\ud800", 1, 1, "U+D800"),
        ("a & b", 1, 3, "where"),
        ("~a", 1, 1, "where"),
        ("a % b", 1, 3, "remainder"),
        ("a // b", 1, 1, "`/` divides"),
        ("a \\\n+ b", 1, 3, "inside brackets"),
        # Python that is not here
        ("import os", 1, 1, "`import`"),
        ("a\nfrom os import path", 2, 1, "`from`"),
        ("lambda x: x", 1, 1, "`lambda`"),
        ("for i in a: i", 1, 1, "loops"),
        ("while a: b", 1, 1, "loops"),
        ("[i*a for i in b]", 1, 6, "loops"),
        ("'text'", 1, 1, "no text"),
        ('a + f"{a}"', 1, 6, "no text"),
        ("a if b else c", 1, 3, "where(a > b, x, y)"),
        ("a and b", 1, 3, "where(a > b, x, y)"),
        ("not a", 1, 1, "where(a > b, x, y)"),
        ("try: a", 1, 1, "`try`"),
        ("print(a)", 1, 1, "value alone"),
        ("np.exp(a)", 1, 1, "`exp(x)`"),
        ("Tensor([a])", 1, 1, "tensors already"),
        ("F.relu(a)", 1, 8, "(the value before the point counts): it is `relu(x)`"),
        ("relu(a, 1)", 1, 9, "Too many values: it is `relu(x)`"),
        ("a, b", 1, 1, "square brackets"),
        ("*a", 1, 1, "`*` needs"),
        ("sin(*a)", 1, 5, "`*` needs"),
        ("sin(**a)", 1, 5, "`sin(x)`"),
        ("sum(a, *b)", 1, 8, "whole number"),
        ("True * a", 1, 1, "not a number"),
        ("a * None", 1, 5, "not a number"),
        ("... * a", 1, 1, "not a number"),
        ("a[::2, 1:] < b", 1, 1, "where(a > b, x, y)"),
        # functions and methods
        ("sinn(a)", 1, 1, "Did you mean `sin`?"),
        ("a.rellu()", 1, 3, "Did you mean `relu`?"),
        ("a + b.soft_max()", 1, 7, "Did you mean `softmax`?"),
        ("ln(a)", 1, 1, "`log`"),
        ("xyzzy(a)", 1, 1, "no function `xyzzy`"),
        ("a.relu + 1", 1, 3, "`.relu()`"),
        ("a.T()", 1, 3, "`.T`"),
        ("a.data", 1, 3, "no `data`"),
        ("a.backward()", 1, 3, "no `backward`"),
        ("a.maximum(b)", 1, 3, "no `maximum`"),
        ("sin + a", 1, 1, "`sin(...)`"),
        ("sin = a", 1, 1, "`sin` is a function"),
        ("pi = a", 1, 1, "has a value already"),
        ("sin()", 1, 1, "`x` is missing"),
        ("sin(a, b)", 1, 8, "`sin(x)`"),
        ("max(a, b, c)", 1, 11, "`maximum(a, b)`"),
        ("sum(a, foo=1)", 1, 8, "`sum(x, axis, keepdims)`"),
        ("sum(a, 0, axis=1)", 1, 11, "`axis` cannot be given"),
        ("sum(a, axis=b)", 1, 13, "whole number"),
        ("sum(a, axis=0.5)", 1, 13, "whole number"),
        ("sum(a, keepdims=1)", 1, 17, "`True` or `False`"),
        ("a[b]", 1, 3, "whole number"),
        ("a[True]", 1, 3, "whole number"),
        ("a[1.5]", 1, 3, "whole number"),
        ("a[9999999]", 1, 3, "1,000,000"),
        ("clip(a, b, 1)", 1, 9, "cannot depend on a name"),
        ("clip(a, [1], 2)", 1, 9, "Write a number"),
        ("where(a, b, c)", 1, 7, "a comparison, such as"),
        ("where(0 < a < 1, b, c)", 1, 7, "two values at a time"),
        ("stack(a)", 1, 7, "a list of at least one value"),
        ("[] * a", 1, 1, "a list of at least one value"),
        ("[a, b](c)", 1, 1, "sign is missing before the bracket"),
        ("mse_loss([1], a)", 1, 10, "prediction"),
        ("cross_entropy([[a, b]], [c])", 1, 26, "whole number"),
        # names and lines
        ("h = a; h = b", 1, 8, "`h` has a value already"),
        ("L = h + 1\nh = a*b", 1, 5, "before line 2 gives it a value"),
        ("h = h + a", 1, 5, "before line 1 gives it a value"),
        ("a*b\nc", 1, 1, "give it a name"),
        ("_a + b", 1, 1, "start with a letter"),
        ("a.__class__", 1, 3, "start with a letter"),
        ("__import__(a)", 1, 1, "start with a letter"),
        ("a" * 31, 1, 1, "30 characters"),
        ("2*3", 1, 1, "does not depend on any name"),
        ("n = 2\nn*3", 2, 1, "does not depend on any name"),
        ("a*b; L = 3", 1, 1, "give it a name"),
        ("h = a*b; L = 3", 1, 10, "does not depend on any name"),
        ("where(a > 0, 1, 2)", 1, 1, "does not depend on any name"),
        ("a", 1, 1, "name alone"),
        ("h = +a; k = h; k", 1, 16, "name alone"),
        ("", 1, 1, "Type an expression"),
        (" \n\t# nothing\n", 1, 1, "Type an expression"),
        # places, with indentation, continued lines, several lines and letters of two bytes
        ("h = a*b\n   L = h + relu2(h)", 2, 12, "`relu2`"),
        ("h = a*b; L = h + relu2(h)", 1, 18, "`relu2`"),
        ("(a +\n  bb(1))", 2, 3, "`bb`"),
        ("θ*θ + foo(θ)", 1, 7, "`foo`"),
        ("a\r\n+ 2b", 2, 3, "write `2*b`"),
        # shapes, found while parsing
        ("a + [1, 2] @ [1, 2, 3]", 1, 5, "`@` cannot multiply"),
        ("a * [[1, 2], [3]]", 1, 5, "one shape"),
        ("a * [1, 2][5]", 1, 5, "index does not fit the shape (2,)"),
        ("a * sum([1, 2], axis=1)", 1, 5, "out of bounds"),
        ("a * [1, 2][2:]", 1, 5, "Nothing is left"),
        ("a * broadcast_to(1, " + "1, " * 40 + "1)", 1, 5, "41 axes; 8 at most"),
        # limits
        ("a + " * 600 + "a", 1, 1, "2000 characters"),
        ("a * " + "9" * 400, 1, 5, "too large"),
        ("sum([" + "a," * 600 + "])", 1, 1000, "500 values"),
        ("sin(" * 81 + "a" + ")" * 81, 1, 317, "too many terms in one sum, or brackets"),
        (
            "sin(" * 201 + "a" + ")" * 201,
            1,
            804,
            "too many terms in one sum, or brackets",
        ),  # where Python's own parser gives up
        ("+".join(f"a{i}" for i in range(41)), 1, 151, "40 at most"),
        ("a * broadcast_to(1, 501)", 1, 5, "500 elements"),
        ("a * broadcast_to(1, 1000000, 1000000)", 1, 5, "100,000 at most"),
    ],
)
def test_mistakes_at_parse(text, line, column, words):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    error = caught.value
    assert words in str(error)
    assert (error.line, error.column) == (line, column)
    assert str(error).endswith((".", "?"))
    assert "\n" not in str(error)


def test_one_term_more_than_the_deepest_sum():
    parse("+".join("a" * 80))
    assert "80 at most" in str(refused("+".join("a" * 81)))


@pytest.mark.parametrize(
    ("text", "values", "line", "column", "words"),
    [
        ("a + b", {"a": 1}, 1, 5, "`b` has no value yet"),
        ("a + b", {"a": 1, "b": 2, "z": 3}, 1, 1, "no `z` in the expression; its names are a, b"),
        ("a + b", {"a": 1, "b": "text"}, 1, 5, "`b` cannot be used"),
        ("a + b", {"a": 1, "b": None}, 1, 5, "`b` cannot be used"),
        ("a + b", {"a": 1, "b": 1j}, 1, 5, "`b` cannot be used"),
        ("a + b", {"a": 1, "b": [[1], [1, 2]]}, 1, 5, "`b` cannot be used"),
        ("a + b", {"a": 1, "b": []}, 1, 5, "1 to 100,000 elements"),
        ("a + b", {"a": 1, "b": np.zeros(100_001)}, 1, 5, "1 to 100,000 elements"),
        ("a + b", {"a": 1, "b": np.zeros((1,) * 9)}, 1, 5, "8 axes"),
        ("1 + (a + b)*2", {"a": [1, 2], "b": [1, 2, 3]}, 1, 6, "'a' of shape (2,) with 'b' of shape (3,)"),
        ("h = a*2\nL = 1 + h @ b", {"a": [1, 2], "b": [1, 2, 3]}, 2, 9, "'h' of shape (2,) by 'b' of shape (3,)"),
        ("1 + a[0]", {"a": 2}, 1, 5, "This index does not fit the shape ()."),
        ("1 + a[::0]", {"a": [1, 2]}, 1, 5, "cannot be zero"),
        ("1 + a[2:]", {"a": [1, 2]}, 1, 5, "Nothing is left"),
        ("1 + a.sum(axis=1)", {"a": [1, 2]}, 1, 5, "out of bounds"),
        ("1 + reshape(a, 3)", {"a": [1, 2]}, 1, 5, "reshape array of size 2"),
        ("1 + [a, b]", {"a": [1, 2], "b": 1}, 1, 5, "(2,), ()"),
        ("where(a > b, a, 1)", {"a": [1, 2], "b": [1, 2, 3]}, 1, 7, "shape"),
        ("1 + clip(a, 2, 1)", {"a": 1}, 1, 5, "low <= high"),
        ("1 + mse_loss(a, b)", {"a": [1, 2], "b": 1}, 1, 5, "element by element"),
        ("1 + cross_entropy(a, [0, 5])", {"a": [[1, 2], [3, 4]]}, 1, 5, "not 0 to 1"),
        ("a[None, None, None, None, None, None, None, None] * 2", {"a": [1]}, 1, 1, "9 axes"),
        # sizes: refused before they are computed
        ("a * b", {"a": np.zeros((1000, 1)), "b": np.zeros((1, 1000))}, 1, 1, "1,000,000 elements; 100,000"),
        ("a.broadcast_to(1000, 1000) * b", {"a": 1, "b": 1}, 1, 1, "1,000,000 elements"),
        ("a @ b", {"a": np.zeros((1000, 1)), "b": np.zeros((1, 1000))}, 1, 1, "1,000,000 elements"),
        ("a @ a", {"a": np.zeros((200, 200))}, 1, 1, "too much work"),
        ("b = [a, a]; c = concatenate([b, b]); c * 1", {"a": np.zeros(30_000)}, 1, 17, "120,000 elements"),
        ("\n".join(["h0 = a*1"] + [f"h{i} = h{i - 1}.sin()" for i in range(1, 60)]), {"a": np.zeros(100_000)}, 21, 7, "too much work"),
    ],
)  # fmt: skip
def test_mistakes_at_call(text, values, line, column, words):
    error = refused(text, **values)
    assert words in str(error)
    assert (error.line, error.column) == (line, column)
    assert "\n" not in str(error)


def test_doubling_stops_before_memory_does():
    text = "\n".join(["h0 = broadcast_to(a, 1)"] + [f"h{i} = concatenate([h{i - 1}, h{i - 1}])" for i in range(1, 40)])
    assert (refused(text, a=1).line, "131,072" in str(refused(text, a=1))) == (18, True)


def test_a_text_that_is_no_text():
    for value in (None, 3, b"a*b", ["a"]):
        with pytest.raises(ExpressionError, match="is a text"):
            parse(value)


def test_the_place_is_marked():
    assert refused("h = a*b\n  L = h + relu2(h)").marked == (
        "There is no function `relu2`. Did you mean `relu`?\n\n      L = h + relu2(h)\n              ^"
    )


@pytest.mark.parametrize("name", INSTEAD)
def test_what_to_write_instead_of_a_name_from_elsewhere_works(name):
    for call in (f"{name}(x)", f"x.{name}()"):
        assert f"Write `{INSTEAD[name]}`." in str(refused(call, x=1.0))
    y = np.ones((3, 2) if "@" in INSTEAD[name] else (2, 3))
    assert parse(f"sum({INSTEAD[name]}) + 0*sum(x) + 0*sum(y)")(x=np.ones((2, 3)), y=y).size == 1


@pytest.mark.parametrize(
    ("name", "op"),
    [("ln", "log"), ("cat", "concatenate"), ("clamp", "clip"), ("view", "reshape"), ("permute", "transpose")],
)
def test_a_name_from_elsewhere_leads_to_the_operation(name, op):
    assert f"Did you mean `{op}`?" in str(refused(f"{name}(x)", x=1.0))


def test_a_long_line_is_marked_around_the_place():
    sentence, _, line, caret = refused("a*b + " * 60 + "2c").marked.split("\n")
    assert "2*c" in sentence
    assert len(line) < 80
    assert line[caret.index("^") :].startswith("2c")


def test_control_characters_are_not_shown():
    assert "\x1b" not in refused("a\x1b[31m").marked


def test_errors_survive_pickling():
    error = refused("a + 2b")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.column, again.marked) == (str(error), 1, 5, error.marked)


def test_deep_expressions_do_not_reach_the_recursion_limit():
    def below(levels, text):
        if levels:
            return below(levels - 1, text)
        parsed = parse(text)
        parsed.to_python()
        return parsed(a=0.5)

    for text in ("sin(" * 79 + "a" + ")" * 79, "-" * 79 + "a", "max(a, " * 79 + "a" + ")" * 79, "+".join("a" * 80)):
        below(350, text)  # a page's script runs some hundred calls deep


def test_the_builder_can_read_every_parameter():
    called = [op for op in OPS.values() if op.form in ("method", "function")]
    kinds = {kind.rstrip("?") for op in called for kind in op.signature.values()}
    assert kinds == {"values", "ints"} | parser._OPERANDS.keys() | parser._OPTIONS.keys()


def test_a_leaf_may_be_called_self():
    expression = parse("self * self")
    assert expression(self=3.0).item() == 9.0
    assert "self = Tensor(3" in expression.to_python(self=3.0)


@pytest.mark.parametrize("text", ["a[b]", "a[b + 1]", "a[1:b]", "a.reshape(b)"])
def test_a_place_for_a_number_takes_no_name(text):
    with pytest.raises(ExpressionError, match=r"whole number here.*not a name or a calculation"):
        parse(text)
