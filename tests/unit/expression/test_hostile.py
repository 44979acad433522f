"""Nothing that is typed into an expression reaches Python, raises anything but an ExpressionError, or takes long.

Generated texts of several kinds are parsed and called; each must give a value or an ExpressionError within a second,
warn of nothing, and make Python do nothing beyond parsing: an audit hook watches for imports, files, code that runs
and attributes of Python's insides.

Each run draws new texts; a failure prints the line that makes Hypothesis draw the same text again. The default number
keeps the suite short. HOSTILE_EXAMPLES sets it, for the full run:

    HOSTILE_EXAMPLES=100000 python -m pytest tests/unit/expression/test_hostile.py
"""

import ast
import gc
import os
import sys
import threading
import time
import warnings
from contextlib import contextmanager, suppress

import numpy as np
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
EXAMPLES = int(os.environ.get("HOSTILE_EXAMPLES", 1_500))
hostile = settings(
    max_examples=EXAMPLES // 3,  # three tests draw texts
    deadline=None,
    database=None,
    derandomize=False,  # new texts each time, also in CI, where Hypothesis by itself would repeat the same ones
    print_blob=True,
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


@st.composite
def repeated(draw):
    """Deep or long: some tokens over and over, and perhaps closed again."""
    opening, closing = draw(
        st.sampled_from(
            (
                ("(", ")"),
                ("[", "]"),
                ("sin(", ")"),
                ("-", ""),
                ("a+", ""),
                ("a**", ""),
                ("max(a,", ")"),
                ("[a,", "]"),
                ("(a@", ")"),
                ("not ", ""),
                ("lambda:", ""),
                ("~", ""),
                ("x[", "]"),
                ("f(*", ")"),
                ("{", "}"),
                ("a if b else ", ""),
                ("where(a>b,a,", ")"),
                ("[[a]*2,", "]"),
                ("(a:=", ")"),
                ("a<", ""),
                ("stack([", "])"),
                ("'", "'"),
                ("a\n", ""),
            )
        )
        | st.tuples(st.sampled_from(TOKENS), st.sampled_from(TOKENS))
    )
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
    two = st.tuples(inner, inner)
    some = st.lists(inner, min_size=1, max_size=4).map(lambda parts: f"[{', '.join(parts)}]")
    binary = st.tuples(inner, st.sampled_from(("+", "-", "*", "/", "**", "@", "@")), inner).map(
        lambda t: f"({t[0]} {t[1]} {t[2]})"
    )
    axis = st.sampled_from(
        ("", ", axis=0", ", axis=-1", ", axis=(0, 1)", ", axis=9", ", keepdims=True", ", axis=None, keepdims=True")
    )
    options = axis | sizes.map(", {}".format)
    call = st.tuples(st.sampled_from(sorted(METHODS)), inner, st.just("") | options).map(
        lambda t: f"{t[0]}({t[1]}{t[2]})"
    )
    method = st.tuples(inner, st.sampled_from(sorted(METHODS)), sizes).map(lambda t: f"{t[0]}.{t[1]}({t[2]})")
    function = st.tuples(
        st.sampled_from(("max", "min", "maximum", "minimum", "mse_loss", "binary_cross_entropy_with_logits")), two
    ).map(lambda t: f"{t[0]}({', '.join(t[1])})")
    where = st.tuples(inner, st.sampled_from(("<", ">=", "==", "!=")), inner, inner, inner).map(
        lambda t: f"where({t[0]} {t[1]} {t[2]}, {t[3]}, {t[4]})"
    )
    joined = st.tuples(st.sampled_from(("concatenate", "stack")), some, axis).map(lambda t: f"{t[0]}({t[1]}{t[2]})")
    moved = st.tuples(inner, sizes).map(lambda t: f"broadcast_to({t[0]}, {t[1]})") | st.tuples(inner, sizes).map(
        lambda t: f"{t[0]}.reshape({t[1]})"
    )
    labels = inner.map(lambda logits: f"cross_entropy({logits}, [0, 1])")
    indexed = st.tuples(inner, slices).map(lambda t: f"{t[0]}[{t[1]}]")
    unary = inner.map("-{}".format) | inner.map("{}.T".format)
    return binary | binary | call | method | function | where | joined | moved | labels | indexed | unary | some


values = st.recursive(names | names | numbers | vectors, _larger, max_leaves=12)
programs = st.lists(values, min_size=1, max_size=4).map(
    lambda lines: "\n".join(
        [f"h{i} = {line}" for i, line in enumerate(lines[:-1])] + [lines[-1] + (" + h0" if len(lines) > 1 else "")]
    )
)
growing = st.lists(
    st.sampled_from(
        (
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
            "{0}.std(axis=-1, keepdims=True) + {0}",
            "softmax({0})",
            "reshape({0}, 1, -1)",
            "expand_dims({0}, 0) + expand_dims({0}, 1)",
            "{0}.prod(axis=0)",
        )
    ),
    min_size=1,
    max_size=60,
).map(lambda steps: "\n".join(["h0 = a*2"] + [f"h{i + 1} = {step.format(f'h{i}')}" for i, step in enumerate(steps)]))


@pytest.mark.filterwarnings("error")
@hostile
@given(programs, st.sampled_from(SHAPES), st.sampled_from((1.0, 0.0, 1e308)))
def test_nested_programs(text, shape, scale):
    outcome(text, shape, scale)


@pytest.mark.filterwarnings("error")
@hostile
@given(growing, st.sampled_from(SHAPES), st.sampled_from((1.0, 0.0, 1e308)))
def test_growing_programs(text, shape, scale):
    outcome(text, shape, scale)


def test_programs_are_computed_often_enough_to_mean_something():
    computed = []

    @settings(hostile, max_examples=300, derandomize=True)
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


ALLOWED = {
    ast.Constant,
    ast.Name,
    ast.UnaryOp,
    ast.BinOp,
    ast.Attribute,
    ast.Subscript,
    ast.List,
    ast.Call,
}
SAMPLES = {
    ast.BoolOp: "a and b",
    ast.NamedExpr: "(a := b)",
    ast.Lambda: "lambda: a",
    ast.IfExp: "a if b else c",
    ast.Dict: "{a: b}",
    ast.Set: "{a}",
    ast.ListComp: "[b for b in a]",
    ast.SetComp: "{b for b in a}",
    ast.DictComp: "{b: b for b in a}",
    ast.GeneratorExp: "(b for b in a)",
    ast.Await: "await a",
    ast.Yield: "yield a",
    ast.YieldFrom: "yield from a",
    ast.Compare: "a < b",
    ast.JoinedStr: "f'{a}'",
    ast.FormattedValue: "f'{a}'",
    ast.Starred: "[*a]",
    ast.Tuple: "a, b",
    ast.Slice: "a[b:c]",
    ast.FunctionDef: "def f(): a",
    ast.AsyncFunctionDef: "async def f(): a",
    ast.ClassDef: "class C: a",
    ast.Return: "return a",
    ast.Delete: "del a",
    ast.AugAssign: "a += b",
    ast.AnnAssign: "a: b",
    ast.For: "for a in b: c",
    ast.AsyncFor: "async for a in b: c",
    ast.While: "while a: b",
    ast.If: "if a: b",
    ast.With: "with a: b",
    ast.AsyncWith: "async with a: b",
    ast.Match: "match a:\n case b: c",
    ast.Raise: "raise a",
    ast.Try: "try: a\nfinally: b",
    ast.Assert: "assert a",
    ast.Import: "import os",
    ast.ImportFrom: "from os import path",
    ast.Global: "global a",
    ast.Nonlocal: "nonlocal a",
    ast.Pass: "pass",
    ast.Break: "break",
    ast.Continue: "continue",
    ast.BitOr: "a | b",
    ast.BitAnd: "a & b",
    ast.BitXor: "a ^ b",
    ast.LShift: "a << b",
    ast.RShift: "a >> b",
    ast.Mod: "a % b",
    ast.FloorDiv: "a // b",
    ast.Invert: "~a",
    ast.Not: "not a",
    ast.And: "a and b",
    ast.Or: "a or b",
    ast.Is: "where(a is b, a, b)",
    ast.IsNot: "where(a is not b, a, b)",
    ast.In: "where(a in b, a, b)",
    ast.NotIn: "where(a not in b, a, b)",
    **({ast.TryStar: "try: a\nexcept* b: c"} if hasattr(ast, "TryStar") else {}),
    **({ast.TypeAlias: "type a = b"} if hasattr(ast, "TypeAlias") else {}),
    **({ast.TemplateStr: "t'{a}'", ast.Interpolation: "t'{a}'"} if hasattr(ast, "TemplateStr") else {}),
}
USED = ALLOWED | {ast.Expr, ast.Assign, ast.USub, ast.UAdd} | OPERATORS.keys() | COMPARISONS.keys()


def node(kind, **fields):
    return kind(**fields, lineno=1, col_offset=0, end_lineno=1, end_col_offset=1)


def test_the_whitelist_is_this_one():
    assert _PARTS.keys() == ALLOWED
    assert {kind.__name__ for kind in OPERATORS} == {"Add", "Sub", "Mult", "Div", "Pow", "MatMult"}
    assert {kind.__name__ for kind in COMPARISONS} == {"Lt", "LtE", "Gt", "GtE", "Eq", "NotEq"}


def test_every_kind_of_syntax_has_a_sample_or_is_used():
    kinds = {
        c for base in (ast.expr, ast.stmt, ast.operator, ast.unaryop, ast.boolop, ast.cmpop) for c in concrete(base)
    }
    assert kinds - USED == SAMPLES.keys()


@pytest.mark.parametrize("kind", SAMPLES, ids=lambda kind: kind.__name__)
def test_samples_are_refused(kind):
    wrapped = SAMPLES[kind]
    if kind not in (ast.Import, ast.ImportFrom):  # `return` and the like parse anywhere; only compiling would object
        assert any(isinstance(found, kind) for found in ast.walk(ast.parse(_indented(wrapped))))
    for text in (
        wrapped,
        f"h = a*2\n{wrapped}",
        f"({wrapped}) * a",
        f"sin({wrapped})",
        f"a.sum(axis={wrapped})",
        f"a[{wrapped}]",
    ):
        with pytest.raises(ExpressionError):
            parse(text)


def _indented(text):
    return f"async def f():\n {text}".replace("\n", "\n ") if text.startswith(("await", "async")) else text


@pytest.mark.parametrize("kind", [c for c in concrete(ast.expr) if c not in ALLOWED], ids=lambda kind: kind.__name__)
def test_the_builder_alone_refuses_every_other_value(kind):
    """Without the friendly checks that come first: the characters and words are not what keeps Python out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a node without its fields
        with pytest.raises(ExpressionError):
            _Builder(Source("a")).part(node(kind))


@pytest.mark.parametrize("kind", [c for c in concrete(ast.stmt) if c not in USED], ids=lambda kind: kind.__name__)
def test_the_builder_alone_refuses_every_other_line(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
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


@pytest.mark.parametrize("constant", ["text", b"bytes", 2j, None, True, ...])
def test_the_builder_alone_refuses_constants_that_are_no_numbers(constant):
    with pytest.raises(ExpressionError):
        _Builder(Source("a")).part(node(ast.Constant, value=constant))


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


@pytest.mark.parametrize(
    "name", sorted(set(dir(__builtins__)) | set(__builtins__ if isinstance(__builtins__, dict) else ()))
)
def test_no_builtin_is_called(name):
    if name not in METHODS:
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
