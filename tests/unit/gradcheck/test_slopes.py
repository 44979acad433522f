"""What the lab says where a gradient has no derivative behind it: one verdict, the same on every page."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.expression.parser import parse
from lab.expression.pytorch import to_torch
from lab.expression.run_pytorch import installed
from lab.gradcheck import gradcheck
from lab.operation_table import OPS
from lab.trace.numerical import check, slopes_of_numbers
from lab.trace.operation_example import Example
from lab.trace.recording import record
from model import Tensor

INF, NAN = np.inf, np.nan
# expression, its inputs, and for the input x: kind, slope left, slope right, what the engine uses
POINTS = [
    ("relu(x)", {"x": 0.0}, "kink", 0, 1, 0),
    ("relu(x - 1)", {"x": 1.0}, "kink", 0, 1, 0),
    ("abs(x - 1)", {"x": 1.0}, "kink", -1, 1, 0),
    ("leaky_relu(x, 0.1)", {"x": 0.0}, "kink", 0.1, 1, 0.1),
    ("clip(x, -1, 1)", {"x": 1.0}, "kink", 1, 0, 1),
    ("clip(x, -1, 1)", {"x": -1.0}, "kink", 0, 1, 1),
    ("abs(x) * x", {"x": 0.0}, "smooth", None, None, 0),
    ("abs(x)**1.5", {"x": 0.0}, "smooth", None, None, 0),
    ("relu(x) + relu(-x)", {"x": 0.0}, "kink", -1, 1, 0),
    ("relu(x) - relu(-x)", {"x": 0.0}, "differs", 1, 1, 0),
    ("2 * relu(x) - relu(-x)", {"x": 0.0}, "kink", 1, 2, 0),
    ("relu(x) * exp(x)", {"x": 0.0}, "kink", 0, 1, 0),
    ("0 * relu(x) + 3 * x", {"x": 0.0}, "smooth", 3, 3, 3),
    ("1000 * x + relu(x)", {"x": 0.0}, "kink", 1000, 1001, 1000),
    ("x + 0.0001 * relu(x)", {"x": 0.0}, "kink", 1, 1.0001, 1),
    ("100000 * x + abs(x)", {"x": 0.0}, "kink", 99999, 100001, 100000),
    ("relu(x) * y", {"x": 0.0, "y": 0.0}, "smooth", 0, 0, 0),
    ("relu(x) + relu(y)", {"x": 0.0, "y": 1.0}, "kink", 0, 1, 0),
    ("relu(x**2)", {"x": 0.0}, "smooth", None, None, 0),
    ("relu(x**3)", {"x": 0.0}, "smooth", None, None, 0),
    ("sqrt(x * x)", {"x": 0.0}, "kink", -1, 1, NAN),
    ("abs(sin(x))", {"x": 0.0}, "kink", -1, 1, 0),
    ("log(relu(x) + 1)", {"x": 0.0}, "kink", 0, 1, 0),
    ("maximum(x, y)", {"x": 1.0, "y": 1.0}, "tie", 0, 1, 0.5),
    ("minimum(x, y)", {"x": 1.0, "y": 1.0}, "tie", 1, 0, 0.5),
    ("maximum(x, 2 * x)", {"x": 0.0}, "tie", 1, 2, 1.5),
    ("maximum(x, x)", {"x": 1.0}, "smooth", 1, 1, 1),
    ("max([x, y])", {"x": 2.0, "y": 2.0}, "tie", 0, 1, 0.5),
    ("min([x, y])", {"x": 2.0, "y": 2.0}, "tie", 1, 0, 0.5),
    ("maximum(relu(x), 0 * y)", {"x": 0.0, "y": 1.0}, "kink", 0, 1, 0),
    ("where(x > 0, x, 0)", {"x": 0.0}, "kink", 0, 1, 0),
    ("where(x > 0, 2 * x + 1, x)", {"x": 0.0}, "jump", 1, INF, 1),
    ("norm([x, y])", {"x": 0.0, "y": 0.0}, "kink", -1, 1, 0),
    ("std([x, y])", {"x": 3.0, "y": 3.0}, "kink", -0.5, 0.5, 0),
    ("std([x, y, y])", {"x": 0.1, "y": 0.1}, "kink", -np.sqrt(2) / 3, np.sqrt(2) / 3, 0),
    ("sqrt(x)", {"x": 0.0}, "edge", NAN, INF, INF),
    ("x**0.5", {"x": 0.0}, "edge", NAN, INF, INF),
    ("sqrt(x) * 0", {"x": 0.0}, "edge", NAN, 0, NAN),
    ("x**1.5", {"x": 0.0}, "edge", NAN, 0, 0),
    ("abs(x)**0.5", {"x": 0.0}, "steep", -INF, INF, NAN),
    ("where(x > 0, sqrt(x), x)", {"x": 0.0}, "steep", 1, INF, NAN),
    ("log(x)", {"x": 0.0}, "inf", NAN, NAN, INF),
    ("log(x - 2)", {"x": 1.0}, "nan", NAN, NAN, -1),
    ("x / x", {"x": 0.0}, "nan", NAN, NAN, NAN),
    ("1 / x", {"x": 0.0}, "inf", NAN, NAN, -INF),
    ("exp(x)", {"x": 1000.0}, "inf", NAN, NAN, INF),
    ("exp(x)", {"x": 709.782}, "smooth", None, None, np.exp(709.782)),
    ("1e300 * x * 1e10", {"x": 1.0}, "inf", NAN, NAN, INF),
    ("log(y) + x", {"x": 1.0, "y": 0.0}, "inf", NAN, NAN, 1),
    ("(x - 1)**2", {"x": 1.0}, "smooth", None, None, 0),
    ("x**3", {"x": 0.0}, "smooth", None, None, 0),
    ("relu(x)", {"x": -5.0}, "smooth", 0, 0, 0),
    ("relu(x)", {"x": 1e-9}, "smooth", 1, 1, 1),
    ("x * 1e-9", {"x": 1.0}, "small", 1e-9, 1e-9, 1e-9),
    ("softplus(x)", {"x": -50.0}, "small", None, None, np.exp(-50.0)),
    ("(x + 1e8) - 1e8", {"x": 1.5}, "rounded", None, None, 1),
    ("(x + 1e17) - 1e17", {"x": 1.5}, "rounded", 0, 0, 1),
    ("1000 * ((x + 1e8) - 1e8)", {"x": 1.5}, "rounded", None, None, 1000),
    ("x + 1e8", {"x": 1.5}, "rounded", None, None, 1),
    ("(1 - cos(x)) / x**2", {"x": 1e-6}, "lost", None, None, -88.90058250771835),
    ("(1 - cos(x)) / x**2", {"x": 1.0}, "smooth", None, None, None),
    ("(exp(x) - 1) / x", {"x": 1e-8}, "lost", None, None, None),
    ("(sqrt(1 + x) - 1) / x", {"x": 1e-8}, "lost", None, None, None),
    ("(1 - cos(x)) / x**2", {"x": 1e-4}, "lost", None, None, None),
    ("(1 - cos(x)) / x**2", {"x": 1e-3}, "rounded", None, None, None),
    ("1e6 * x * x", {"x": 1.5}, "smooth", None, None, 3e6),
    ("1 - cos(x)", {"x": 1e-7}, "smooth", None, None, 1e-7),
    ("sin(10000 * x)", {"x": 0.3}, "smooth", None, None, 1e4 * np.cos(3000.0)),
]
NAMES = [f"{text} at {leaves['x']:g}" for text, leaves, *_ in POINTS]
SAID = {  # what a page may not say, whatever the point
    "times as much",
    "changes by",
    "largest error is 0",
    "the two differ",
    "Here is no derivative",
    "the derivative is",
}


def verdicts(text, leaves):
    """Of the Graph lab's last sentence and its table, of Gradient check, and of Operations, for the input x."""
    build = parse(text)
    trace = record(build, leaves)
    at_once = next(slope for slope in slopes_of_numbers(trace, build) if str(slope.element) == "x")
    rows, left_out = check(trace, build)
    in_table = next(row for row in rows if row.name == "x").slopes[0]
    point = {name: np.array(value) for name, value in leaves.items()}
    checked = gradcheck(build, leaves).inputs["x"].slopes[0]
    curve = Example(OPS["relu"], text, build, point).check().inputs["x"].slopes[0]
    assert not left_out
    return at_once, in_table, checked, curve


@pytest.mark.parametrize(("text", "leaves", "kind", "left", "right", "used"), POINTS, ids=NAMES)
def test_every_page_gives_the_same_true_verdict(text, leaves, kind, left, right, used):
    found, *others = verdicts(text, leaves)
    assert found.kind == kind
    if used is not None:
        np.testing.assert_allclose(found.used, used, rtol=1e-12)
    if left is not None:
        np.testing.assert_allclose([found.left, found.right], [left, right], rtol=1e-5, atol=1e-9)
    for other in others:
        assert other.kind == kind
        assert other.sentence == found.sentence
    if not found.has_derivative:
        assert not any(said in found.sentence for said in SAID)
        assert ("there is no derivative" in found.sentence) is found.has_value
    report = gradcheck(parse(text), leaves)
    if kind in ("kink", "tie", "jump", "edge", "steep", "small", "rounded", "lost", "differs"):
        assert "The gradients agree on 1 element;" not in report.verdict or len(leaves) > 1
    if kind in ("nan", "inf", "edge", "lost", "differs"):
        assert not report.passed
    elif found.permitted and kind != "differs" and len(leaves) == 1:
        assert report.outcome == ("not judged" if kind in ("small", "rounded") else "passed")


@pytest.mark.parametrize(
    "f", [lambda x: x * 1e-9 + x.detach() * 1e-9, lambda x: (x * 5e-9).detach() * 2 - x * 5e-9], ids=["half", "sign"]
)
def test_a_gradient_that_is_wrong_below_the_tolerance_is_not_said_to_agree(f):
    report = gradcheck(f, {"x": 1.0})
    assert [slope.kind for slope in report.slopes] == ["small"]
    assert "too small to be judged" in report.verdict
    assert "agree" not in report.verdict
    assert (report.outcome, report.passed, bool(report)) == ("not judged", False, False)
    assert str(report).splitlines()[3].endswith("not judged")


def test_rounding_inside_is_said_to_hide_a_slope():
    report = gradcheck(parse("(x + 1e8) - 1e8"), {"x": 1.5})
    assert report.verdict == (
        "Rounding hides the slope at x: values inside are so large that differences know it only to within 0.004889. "
        "backward() gives 1."
    )
    assert report.outcome == "not judged"


def test_rounding_hides_no_gradient_that_is_further_off_than_it_reaches():
    report = gradcheck(lambda x: (x + 1e8) - 1e8 + x.detach(), {"x": 1.5})
    assert [slope.kind for slope in report.slopes] == ["differs"]
    assert not report.passed


def test_a_gradient_that_rounding_spoils_is_not_trusted_and_not_held_against_the_engine():
    report = gradcheck(parse("(1 - cos(x)) / x**2"), {"x": 1e-6})
    assert not report.passed
    assert report.verdict == report.slopes[0].sentence
    assert report.verdict.startswith("At x rounding spoils the gradient: backward() gives −88.9, and up to ")
    assert report.verdict.endswith("Trust neither.")
    (row,), _ = check(record(parse("(1 - cos(x)) / x**2"), {"x": 1e-6}), parse("(1 - cos(x)) / x**2"))
    assert row.agrees is None
    wrong = gradcheck(lambda x: x.cos() + x.detach() * 1e-3 - x * 1e-3, {"x": 0.5})
    assert [slope.kind for slope in wrong.slopes] == ["differs"]  # what rounding does not explain


def test_the_report_counts_what_it_compared_and_nothing_else():
    report = gradcheck(parse("sum(relu(v)) + 1e-9 * w"), {"v": [0.0, 1.0, 0.0, -3.0], "w": 1.0})
    assert report.verdict.startswith("The gradients agree on 2 elements; the largest error is ")
    assert "At v[0] there is no derivative" in report.verdict
    assert "Other elements without a derivative: 1." in report.verdict
    assert "The slope at w is too small to be judged" in report.verdict


def test_an_engine_that_is_not_the_lab_s_is_not_said_to_be_like_pytorch():
    class Other(Tensor):
        __slots__ = ()

    (slope,) = gradcheck(lambda x: x.relu(), {"x": 0.0}, tensor=Other).slopes
    assert "PyTorch" not in slope.sentence
    assert slope.sentence.endswith("backward() gives 0.")


def test_an_output_without_a_value_spoils_only_what_reaches_it():
    kinds = [s.kind for s in gradcheck(parse("[log(a), b**2]"), {"a": 0.0, "b": 3.0}).slopes]
    assert kinds == ["inf", "smooth"]


TORCH = """
import json, sys, torch
found = []
for program, names in json.load(sys.stdin):
    scope = {}
    exec(program, scope)
    found.append([float(scope[name].grad) for name in names])
print(json.dumps([[repr(number) for number in one] for one in found]))
"""


@pytest.mark.skipif(not installed(), reason="PyTorch is not installed")
def test_where_there_is_no_derivative_pytorch_uses_the_same_number():
    """So the sentence may say so: each point at which it does, run in PyTorch."""
    claimed = [(text, leaves) for text, leaves, *_ in POINTS if verdicts(text, leaves)[0].like_pytorch]
    claimed = [(t, leaves) for t, leaves in claimed if "PyTorch" in verdicts(t, leaves)[0].sentence]
    assert len(claimed) > 25
    programs = [(to_torch(parse(text), leaves), list(leaves)) for text, leaves in claimed]
    run = subprocess.run(
        [sys.executable, "-c", TORCH], input=json.dumps(programs), capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    for (text, leaves), numbers in zip(claimed, json.loads(run.stdout.splitlines()[-1]), strict=True):
        mine = record(parse(text), leaves).gradients
        for name, number in zip(leaves, map(float, numbers), strict=True):
            np.testing.assert_allclose(mine[name], number, atol=1e-15, err_msg=f"{text}: {name}")


# -- random sums of kinked pieces, whose slopes left and right are known


PIECES = {  # of a piece f(s * (x - p)) at p: slope left and right, for s > 0
    "relu": (0.0, 1.0),
    "abs": (-1.0, 1.0),
    "tanh": (1.0, 1.0),
    "sin": (1.0, 1.0),
}
pieces = st.lists(
    st.tuples(
        st.sampled_from(sorted(PIECES)),
        st.sampled_from([-2.0, -1.0, -0.5, 0.5, 1.0, 3.0]),  # in front
        st.sampled_from([-2.0, -1.0, 0.5, 1.0]),  # inside
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=40)
@given(pieces, st.sampled_from([0.0, 1.0, -0.75, 2.5]))
def test_sums_of_kinked_pieces_have_the_slopes_of_their_pieces(chosen, point):
    text = " + ".join(f"({front}) * {name}(({inside}) * (x - ({point})))" for name, front, inside in chosen)
    left = right = 0.0
    for name, front, inside in chosen:
        before, after = PIECES[name] if inside > 0 else PIECES[name][::-1]
        left += front * inside * before
        right += front * inside * after
    found, *others = verdicts(text, {"x": point})
    used = float(record(parse(text), {"x": point}).gradients["x"])
    assert {other.sentence for other in others} == {found.sentence}
    assert found.used == used
    if abs(left - right) > 1e-9:
        assert found.kind == "kink"
        np.testing.assert_allclose([found.left, found.right], [left, right], atol=1e-6)
        assert found.permitted is (min(left, right) - 1e-6 <= used <= max(left, right) + 1e-6)
    else:
        assert found.has_derivative
        np.testing.assert_allclose(found.slope, left, atol=1e-6)
        assert (found.kind == "differs") is (abs(used - left) > 1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "-abs(x) + 2 * sin(-2 * x) - 100 * relu(-2 * x) + abs(x) - 2 * sin(-2 * x) + 100 * relu(-2 * x)",
        "1000 * relu(x) - 3 * tanh(x) - 1000 * relu(x) + 3 * tanh(x)",
        "0.5 * tanh(-x) - 0.5 * abs(0.5 * x) - 0.5 * tanh(-x) + 0.5 * abs(0.5 * x)",
        "2 * relu(-2 * x) - 0.5 * sin(0.5 * x) - 2 * relu(-2 * x) + 0.5 * sin(0.5 * x)",
        "1e6 * relu(x) - 3 * tanh(x) - 1e6 * relu(x) + 3 * tanh(x) + 0.00001 * x",
    ],
)
def test_what_rounding_leaves_of_pieces_is_no_kink(text):
    for found in verdicts(text, {"x": 0.0}):
        assert found.has_derivative


def test_a_kink_is_a_kink_however_small_or_bent():
    for text in ("1e-12 * relu(x)", "relu(x) + 1e6 * x**2", "abs(x) * exp(30 * x)", "x + 1e-5 * abs(x) + 100 * sin(x)"):
        assert [found.kind for found in verdicts(text, {"x": 0.0})] == ["kink"] * 4


def test_of_many_inputs_the_largest_gradients_are_judged_as_far_as_the_work_allows():
    names = "abcdefghijkl"
    build = parse(" + ".join(f"{weight} * {name} * {name}" for weight, name in enumerate(names, 1)))
    leaves = dict.fromkeys(names, 1.0)
    trace = record(build, leaves)
    judged = [str(slope.element) for slope in slopes_of_numbers(trace, build)]
    assert 0 < len(judged) < len(names)
    assert judged == list(names[-len(judged) :])  # the largest, in the order of the leaves
    assert slopes_of_numbers(trace, build, budget=1) == []
