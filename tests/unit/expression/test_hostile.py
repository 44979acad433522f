"""Nothing that is typed into an expression reaches Python, raises anything but an ExpressionError, or takes long.

Generated texts of several kinds are parsed and called; each must give a value or an ExpressionError within a second,
warn of nothing, and make Python do nothing beyond parsing: an audit hook watches for imports, files, code that runs
and attributes of Python's insides.

The first level draws the same texts each time, the second level new ones; HOSTILE_EXAMPLES sets how many:

    HOSTILE_EXAMPLES=100000 python -m pytest --hypothesis-profile=fresh tests/unit/expression/test_hostile.py
"""

import ast
import builtins
import gc
import os
import sys
import threading
import time
import warnings
from contextlib import contextmanager, suppress

import numpy as np
import numpy.ma
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from lab.expression import ExpressionError
from lab.expression.language import COMPARISONS, OPERATORS
from lab.expression.parser import _PARTS, _Builder, parse
from lab.expression.source import Source
from lab.operation_table import OPS
from model import Tensor

METHODS, FUNCTIONS = ({name for name, op in OPS.items() if op.form == form} for form in ("method", "function"))
EXAMPLES = int(os.environ.get("HOSTILE_EXAMPLES", 600))
hostile = settings(
    max_examples=EXAMPLES // 2,  # two tests draw texts
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate, Phase.shrink),  # to explain a failure, Hypothesis traces: an event
)

# -- what Python was made to do

_watched = threading.local()
HARMLESS = {"compile", "builtins.id"}  # `ast.parse`, which compiles to a tree; `id`, in the engine's copy of an index


def _note_event(event, arguments):
    if getattr(_watched, "events", None) is not None and event not in HARMLESS:
        _watched.events.append((event, arguments))


sys.addaudithook(_note_event)  # cannot be taken away again; it does nothing unless a test of this thread watches


@contextmanager
def nothing_but_parsing():
    """No audit event but the harmless ones, and no new module."""
    _watched.events, modules = [], set(sys.modules)
    try:
        yield
        events = _watched.events
    finally:
        _watched.events = None
    assert events == []
    assert set(sys.modules) == modules


def test_the_watch_sees():
    for act in (lambda: open(os.devnull).close(), lambda: exec("1"), os.listdir):
        with pytest.raises(AssertionError), nothing_but_parsing():
            act()


# -- one text

SHAPES = ((), (3,), (2, 2), (1, 3), (3, 1), (100, 1), (1, 300), (60_000,))


def outcome(text, shape=(), scale=1.0):
    """The value's shape, or the ExpressionError, of a text; fails if it takes long, warns or does anything else."""
    # The time of this thread alone, for the machine may be busy, and without collecting what Hypothesis has allocated.
    gc.disable()
    start = time.thread_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            with nothing_but_parsing():
                expression = parse(text)
                script = expression.to_python()
                values = {name: np.full(shape, scale * (i - 0.5)) for i, name in enumerate(expression.names)}
                found = expression(**values)
        except ExpressionError as error:
            found = error.with_traceback(None)  # whose frames would keep the arrays
        finally:
            gc.enable()
    assert time.thread_time() - start < 1.0  # a text that escapes the limits takes for ever; the slowest of all, 10 ms
    if isinstance(found, ExpressionError):
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert 1 <= found.line <= len(lines)
        assert 1 <= found.column <= len(lines[found.line - 1]) + 1
        assert str(found)
        assert "\n" not in str(found)
        assert found.marked.count("\n") == 3
    else:
        assert isinstance(found, Tensor)
        assert found.requires_grad
        assert 0 < found.size <= 100_000
        ast.parse(script)
    return found


# -- texts

SNIPPETS = (
    "(a*b + c).relu()", "h = a*b; L = h**2 + h", "x**2 * sin(x) + exp(x)", "tanh(x @ [1, 2, 3] + b)", "where(a > b, a, 2*b)",
    "W = [[a, 1], [2, b]]\n(W.T @ [1, 10]).sum(axis=0)", "max(a, 0) - min(b, [1, 2])", "x[0, 1:] + x[-1, ..., None]",
    "concatenate([x, x])[::2].reshape(2, -1)", "broadcast_to(a, 300, 300) @ broadcast_to(b, 300, 300)",
    "mse_loss(x, [1, 2, 3])", "cross_entropy([[a, b], [b, a]], [0, 1])", "std(x) / norm(x) ** 0.5", "clip(a, -1, pi)",
    "().__class__.__bases__[0].__subclasses__()", "__import__('os').system('true')", "a.__init__.__globals__['sys']",
    "eval('1')", "exec(\"import os\")", "open('/etc/passwd').read()", "getattr(a, 'data')", "globals()", "[].append(1)",
    "lambda: (yield)", "[i for i in range(10**9)]", "while True: pass", "f'{a!r}'", "(x := a)", "a if b else c", "a.T.T.data",
    "9**9**9**9*a", "a*2**2**2**2**2", "1e999*a", "a**1e308", "0x" + "f" * 40 + "*a", "a[10**9]", "reshape(a, 10**9)",
    "import os; a", "from model import *", "@a\nclass b: pass", "async def f(): await a", "print(a)", "type a = int", "del a",
    "try: a\nexcept* b: c", "match a:\n case b: c", "global a", "a: int = 1", "a, *b = c", "a = b = c", "{**a}", "{a: b}", "a%b",
    "a.detach()", "a.backward()", "a._data", "a.numpy().tofile('x')", "Tensor(a)", "np.load('x')", "a is None", "not a",
)  # read by rows  # fmt: skip
TOKENS = (
    *sorted(METHODS), *sorted(FUNCTIONS), "a", "b", "x", "h", "pi", "T", "axis", "keepdims", "shape", "high", "True", "False", "None", "...",
    "0", "1", "2", "-1", "3", "0.5", "1e308", "1e-308", "300", "1000", "100000", "1000000", "99999999999999999999", "9**9**9",
    "+", "-", "*", "/", "**", "@", "<", ">=", "==", "!=", "=", "//", "%", "^", "&", "|", "~", ":=", "->", "**", "*", ".", ",", ":",
    ";", "\n", " ", "\t", "(", ")", "[", "]", "{", "}", "'", '"', "`", "\\", "#", "!", "?", "$", "_", "__", "__class__", ".__init__",
    "lambda", "import", "for", "in", "if", "else", "while", "def", "class", "yield", "await", "async", "with", "del", "f'{", "b''",
    "eval", "exec", "open", "getattr", "globals", "np", "os", "0x1F", "1_0", "2j", "1.", ".5", "é", "θ", "×", "²", "−", "\u00a0",
    "\x00", "\x0c", "\r", "\ud800", "\u202e", "\U0001f600", "ª", "ﬁ",
)  # read by rows  # fmt: skip

anything = st.text(st.characters(exclude_categories=()), max_size=80)
soup = st.lists(st.sampled_from(TOKENS), max_size=40).map("".join)
spaced_soup = st.lists(st.sampled_from(TOKENS), max_size=25).map(" ".join)


@st.composite
def mutated(draw):
    """One or two snippets, with pieces cut out, doubled, swapped and put in."""
    text = (
        draw(st.sampled_from(SNIPPETS))
        + draw(st.sampled_from(("", "\n", ";", "+", "*")))
        + draw(st.sampled_from(("", *SNIPPETS)))
    )
    for _ in range(draw(st.integers(0, 4))):
        start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        piece = draw(st.sampled_from(TOKENS) | st.just(text[start:end] * 2) | st.characters(exclude_categories=()))
        text = text[:start] + piece + text[end:]
    return text


PAIRS = (
    ("(", ")"), ("[", "]"), ("sin(", ")"), ("-", ""), ("a+", ""), ("a**", ""), ("max(a,", ")"), ("[a,", "]"),
    ("(a@", ")"), ("not ", ""), ("lambda:", ""), ("~", ""), ("x[", "]"), ("f(*", ")"), ("{", "}"),
    ("a if b else ", ""), ("a\n", ""), ("where(a>b,a,", ")"), ("[[a]*2,", "]"), ("(a:=", ")"), ("a<", ""),
    ("stack([", "])"), ("'", "'"),
)  # read by rows  # fmt: skip


@st.composite
def repeated(draw):
    """Deep or long: some tokens over and over, and perhaps closed again."""
    opening, closing = draw(st.sampled_from(PAIRS) | st.tuples(st.sampled_from(TOKENS), st.sampled_from(TOKENS)))
    times = draw(st.integers(1, 30) | st.integers(30, 500))
    ending = draw(st.sampled_from(("", "", ".exp()", ".T", "[0]", ".__class__", "[None]"))) * draw(
        st.sampled_from((1, 1, 7, 90))
    )
    return (
        opening * times
        + draw(st.sampled_from(("a", "", "1", "x.T")))
        + closing * draw(st.sampled_from((times, times, 1)))
        + ending
    )


@pytest.mark.filterwarnings("error")
@hostile
@example("a" * 2_001, (), 1.0)
@example("\ufeffa*b", (), 1.0)
@example("a\n" * 999, (), 1.0)
@example("-" * 1_999 + "a", (), 1.0)
@example("1if a else b", (), 1.0)
@example("a*1_000_000_000_000_000_000_000_000_000_000_000_000", (), 1.0)
@example("h0=[a];" + "".join(f"h{i + 1}=concatenate([h{i},h{i}]);" for i in range(40)), (), 1.0)
@given(
    anything | soup | spaced_soup | mutated() | repeated(), st.sampled_from(SHAPES), st.sampled_from((1.0, 0.0, 1e308))
)
def test_hostile_texts(text, shape, scale):
    outcome(text, shape, scale)


# -- programs that are nearly right, so that most of them are computed

numbers = st.sampled_from(("0", "1", "2", "-1", "0.5", "3", "1e308", "1e-320", "(-8)", "9**9**9", "pi", "7"))
vectors = st.sampled_from(("[1, 2, 3]", "[[1, 2], [3, 4]]", "[1]", "[[0.5]]", "[1/0, 0/0]", "[]", "[[1], [2, 3]]"))
names = st.sampled_from(("a", "b", "x", "h", "θ"))
wholes = st.sampled_from(("0", "1", "-1", "2", "3", "-7", "100", "1000", "100000", "1000000", "12345678901"))
slices = st.sampled_from(
    ("0", "-1", ":", "1:", "::-1", "::0", "None", "...", ":2, 0", "0, 0, 0", "None, :, None", "5", "2:1")
)
sizes = st.lists(wholes, max_size=4).map(", ".join)


def _larger(inner):
    def written(pattern, *parts):
        return st.tuples(*parts).map(lambda found: pattern.format(*found))

    some = st.lists(inner, min_size=1, max_size=4).map(lambda parts: f"[{', '.join(parts)}]")
    binary = written("({} {} {})", inner, st.sampled_from(("+", "-", "*", "/", "**", "@", "@")), inner)
    axis = st.sampled_from(
        ("", ", axis=0", ", axis=-1", ", axis=(0, 1)", ", axis=9", ", keepdims=True", ", axis=None, keepdims=True")
    )
    methods, comparisons = st.sampled_from(sorted(METHODS)), st.sampled_from(("<", ">=", "==", "!="))
    of_two = st.sampled_from(("max", "min", "maximum", "minimum", "mse_loss", "binary_cross_entropy_with_logits"))
    return (
        binary
        | binary
        | some
        | written("{}({}{})", methods, inner, st.just("") | axis | sizes.map(", {}".format))
        | written("{}.{}({})", inner, methods, sizes)
        | written("{}({}, {})", of_two, inner, inner)
        | written("where({} {} {}, {}, {})", inner, comparisons, inner, inner, inner)
        | written("{}({}{})", st.sampled_from(("concatenate", "stack")), some, axis)
        | written("broadcast_to({}, {})", inner, sizes)
        | written("{}.reshape({})", inner, sizes)
        | written("cross_entropy({}, [0, 1])", inner)
        | written("{}[{}]", inner, slices)
        | inner.map("-{}".format)
        | inner.map("{}.T".format)
    )


values = st.recursive(names | names | numbers | vectors, _larger, max_leaves=12)
programs = st.lists(values, min_size=1, max_size=4).map(
    lambda lines: "\n".join(
        [f"h{i} = {line}" for i, line in enumerate(lines[:-1])] + [lines[-1] + (" + h0" if len(lines) > 1 else "")]
    )
)
STEPS = (
    "concatenate([{0}, {0}])",
    "[{0}, {0}]",
    "{0} * {0}.T",
    "{0}[None] * {0}[..., None]",
    "{0} @ {0}.T",
    "{0} ** {0}",
    "broadcast_to({0}, 10, 10, 1)",
    "{0}.reshape(-1)",
    "stack([{0}, a])",
    "exp({0})",
    "softmax({0})",
    "reshape({0}, 1, -1)",
    "{0}.std(axis=-1, keepdims=True) + {0}",
    "expand_dims({0}, 0) + expand_dims({0}, 1)",
    "{0}.prod(axis=0)",
)
growing = st.lists(st.sampled_from(STEPS), min_size=1, max_size=60).map(
    lambda steps: "\n".join(["h0 = a*2"] + [f"h{i + 1} = {step.format(f'h{i}')}" for i, step in enumerate(steps)])
)


@pytest.mark.filterwarnings("error")
@hostile
@given(programs | growing, st.sampled_from(SHAPES), st.sampled_from((1.0, 0.0, 1e308)))
def test_nested_and_growing_programs(text, shape, scale):
    outcome(text, shape, scale)


def test_programs_are_computed_often_enough_to_mean_something():
    computed = []

    @settings(hostile, max_examples=100)
    @given(programs | growing)
    def count(text):
        computed.append(isinstance(outcome(text, (2, 2)), Tensor))

    count()
    assert sum(computed) > len(computed) / 5


# -- the whitelist, against every kind of syntax that this Python has

CLASSES = [c for c in vars(ast).values() if isinstance(c, type) and issubclass(c, ast.AST)]


def concrete(base):
    """Kinds of a base class: not the base itself, and without the names that were kept for old code (ast.Num)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return [c for c in CLASSES if issubclass(c, base) and c is not base and base in c.__bases__]


ALLOWED = {ast.Constant, ast.Name, ast.UnaryOp, ast.BinOp, ast.Attribute, ast.Subscript, ast.List, ast.Call}
REFUSED = (
    "a and b", "(a := b)", "lambda: a", "a if b else c", "{a: b}", "{a}", "[b for b in a]", "{b for b in a}", "(b for b in a)",
    "{b: b for b in a}", "await a", "yield a", "yield from a", "a < b", "f'{a}'", "[*a]", "a, b", "a[b:c]", "def f(): a",
    "async def f(): a", "class C: a", "return a", "del a", "a += b", "a: b", "for a in b: c", "async for a in b: c",
    "while a: b", "if a: b", "with a: b", "async with a: b", "match a:\n case b: c", "raise a", "try: a\nfinally: b",
    "try: a\nexcept* b: c", "assert a", "import os", "from os import path", "global a", "nonlocal a", "pass", "break",
    "continue", "a | b", "a & b", "a ^ b", "a << b", "a >> b", "a % b", "a // b", "~a", "not a", "a or b", "type a = b",
    "where(a is b, a, b)", "where(a is not b, a, b)", "where(a in b, a, b)", "where(a not in b, a, b)", "t'{a}'",
)  # read by rows  # fmt: skip


def node(kind, **fields):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a node without its fields
        return kind(**fields, lineno=1, col_offset=0, end_lineno=1, end_col_offset=1)


def test_the_whitelist_is_this_one():
    assert _PARTS.keys() == ALLOWED
    assert {kind.__name__ for kind in OPERATORS} == {"Add", "Sub", "Mult", "Div", "Pow", "MatMult"}
    assert {kind.__name__ for kind in COMPARISONS} == {"Lt", "LtE", "Gt", "GtE", "Eq", "NotEq"}


def test_what_is_no_expression_is_refused_wherever_it_stands():
    for syntax in REFUSED:
        for around in ("{}", "h = a*2\n{}", "({}) * a", "sin({})", "a.sum(axis={})", "a[{}]"):
            with pytest.raises(ExpressionError):
                parse(around.replace("{}", syntax))


def test_the_builder_alone_refuses_every_other_value_and_line():
    """Without the friendly checks that come first: the characters and words are not what keeps Python out."""
    values = [node(kind) for kind in concrete(ast.expr) if kind not in ALLOWED]
    values += [node(ast.Constant, value=value) for value in ("text", b"bytes", 2j, None, True, ...)]
    for value in values:
        with pytest.raises(ExpressionError):
            _Builder(Source("a")).part(value)
    for kind in concrete(ast.stmt):
        if kind not in (ast.Expr, ast.Assign):
            with pytest.raises(ExpressionError):
                _Builder(Source("a")).line(node(kind), last=True)


@pytest.mark.parametrize(
    "kind", concrete(ast.operator) + concrete(ast.unaryop) + concrete(ast.cmpop), ids=lambda kind: kind.__name__
)
def test_the_builder_alone_refuses_every_other_operator(kind):
    a = node(ast.Name, id="a", ctx=ast.Load())
    if issubclass(kind, ast.cmpop):
        refused, build = kind not in COMPARISONS, _Builder.condition
        value = node(ast.Compare, left=a, ops=[kind()], comparators=[a])
    elif issubclass(kind, ast.unaryop):
        refused, build = kind not in (ast.USub, ast.UAdd), _Builder.part
        value = node(ast.UnaryOp, op=kind(), operand=a)
    else:
        refused, build = kind not in OPERATORS, _Builder.part
        value = node(ast.BinOp, left=a, op=kind(), right=a)
    if refused:
        with pytest.raises(ExpressionError):
            build(_Builder(Source("a")), value)
    else:
        build(_Builder(Source("a")), value)


ATTRIBUTES = sorted(
    {name for thing in (Tensor, Tensor(1.0), 1.0, [], (), "", int, type, parse, np) for name in dir(thing)}
)


def test_no_attribute_of_anything_is_reached():
    """Every attribute of a Tensor, a number, a list, a function and NumPy, read, called and called as a function."""
    a = node(ast.Name, id="a", ctx=ast.Load())
    for name in ATTRIBUTES:
        attribute = node(ast.Attribute, value=a, attr=name, ctx=ast.Load())
        if name != "T":
            with pytest.raises(ExpressionError):
                _Builder(Source("a")).part(attribute)
        if name not in METHODS:
            with pytest.raises(ExpressionError):
                _Builder(Source("a")).part(node(ast.Call, func=attribute, args=[], keywords=[]))
        if name not in METHODS | FUNCTIONS:
            function = node(ast.Name, id=name, ctx=ast.Load())
            with pytest.raises(ExpressionError):
                _Builder(Source("a")).part(node(ast.Call, func=function, args=[a], keywords=[]))


def test_no_builtin_is_called():
    for name in {*dir(builtins)} - METHODS:
        with pytest.raises(ExpressionError):
            parse(f"{name}(a)")


def test_threads_do_not_disturb_each_other():
    """Deep and long texts in threads, whose stack is smaller than the main one."""
    failures = []

    def work():
        try:
            for text in (
                "-" * 1_999 + "a",
                "(" * 990 + "a" + ")" * 990,
                "not " * 490 + "a",
                "a**" * 600 + "a",
                "sin(" * 79 + "a" + ")" * 79,
            ):
                with suppress(ExpressionError):
                    parse(text)(a=0.5)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
