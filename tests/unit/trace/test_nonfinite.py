"""The first inf or nan of a pass is told with its cause: the operand that is at fault, not one beside it."""

import json
import math

import numpy as np
import pytest

from lab.expression import parse
from lab.trace.export import page_data
from lab.trace.nonfinite import remarks
from lab.trace.recording import record


def explanation(text, **values):
    return [remark.sentence for remark in remarks(record(parse(text), values))]


def test_a_pass_of_finite_numbers_needs_no_explanation():
    assert explanation("a*b + log(a)", a=2.0, b=3.0) == []


@pytest.mark.parametrize(
    ("text", "values", "words"),
    [
        ("log(a)", {"a": -1.0}, "`log(−1)` gives NaN. The logarithm of 0 is −∞"),
        ("a/b", {"a": 1.0, "b": 0.0}, "`1 / 0` gives ∞. A number divided by 0"),
        ("a*b", {"a": 1e300, "b": 1e300}, "`1e300 * 1e300` gives ∞. The result is larger"),
        ("a**b", {"a": -2.0, "b": 0.5}, "`(−2) ** 0.5` gives NaN."),
        ("a*b", {"a": math.inf, "b": 1.0}, "The input a is ∞"),
        ("clip(log(a), 0, 1) * sqrt(b)", {"a": 0.0, "b": -1.0}, "`log(0)` gives −∞"),
    ],
)
def test_the_first_value(text, values, words):
    assert explanation(text, **values)[0].startswith(words)


@pytest.mark.parametrize(
    ("text", "values", "words"),
    [
        # b is innocent: what the rule reads is log(a)
        ("log(a)*b", {"a": -1.0, "b": 2.0}, "`*` sends NaN to b because its rule reads v1, the result of `log`, which is NaN."),
        # the denominator, not the numerator
        ("sum(a/b)", {"a": [1.0, 0.0, 6.0], "b": [0.0, 0.0, 1.0]}, "`/` sends [∞, ∞, 1] to a because its local derivative `1/b` is ∞ where b is 0."),
        ("sum(a/b)", {"a": [1.0, 2.0, 6.0], "b": 0.0}, "`/` sends [∞, ∞, ∞] to a because its local derivative `1/b` is ∞ where b is 0."),
        ("sqrt(a)", {"a": 0.0}, "`sqrt` sends ∞ to a because its local derivative `1/(2√a)` is ∞ where a is 0."),
        ("a**0.5", {"a": 0.0}, "`**` sends ∞ to a because its local derivative `0.5·a**(0.5 − 1)` is ∞ where a is 0."),
        ("a**b", {"a": -2.0, "b": 2.0}, "`**` sends NaN to b because its local derivative `a^b·log a` is NaN where a is −2 and b is 2."),
        ("clip(a/b, 0, 1)", {"a": 1.0, "b": 0.0}, "`/` sends NaN to a because its local derivative `1/b` is ∞ where b is 0, and 0 × ∞ is NaN."),
        ("log(a*0)*b", {"a": 1.0, "b": 2.0}, "`*` sends −∞ to b because its rule reads v2, the result of `log`, which is −∞."),
        ("a*1e-300*b*c", {"a": 1.0, "b": 1e200, "c": 1e200}, "times the local derivative, 1e200 × 1e200, is more than"),
        ("(a @ b)*1e200", {"a": [1e-200, 1.0], "b": [1e200, 0.0]}, "has no finite result where b is [1e200, 0]."),
        ("a*b", {"a": math.inf, "b": 1.0}, "`*` sends ∞ to b because its rule reads a, which is ∞."),
    ],
)  # fmt: skip
def test_the_first_message_names_what_is_at_fault(text, values, words):
    assert words in explanation(text, **values)[-1]


def test_every_expression_with_extreme_numbers_can_be_explained():
    rng = np.random.default_rng(0)
    numbers = [0.0, 1.0, -1.0, 1e200, -1e200, 1e308, 1e-320, math.inf, math.nan]
    texts = [
        "a/b",
        "a**b",
        "sqrt(a)*b",
        "log(a)@b",
        "[a, b]*a",
        "concatenate([a, b]).norm()",
        "softmax(a)/b",
        "prod(a)-b",
        "max(a, b)*a",
        "x = a[0]/b; x.logsumexp()*a",
        "where(a > b, log(a), b)",
        "a.reshape(3, 1) @ [b]",
        "[a, b].norm(axis=1)/b[0]",
        "[a, b].max(axis=0) @ b",
        "[a, b].logsumexp(axis=1) * 2",
        "[a, b].prod(axis=1)",
    ]
    for text in texts * 2:
        trace = record(parse(text), {name: rng.choice(numbers, 3) for name in "ab"})
        assert all(sentence.endswith(".") and "\n" not in sentence for _, sentence in remarks(trace))


def test_of_a_large_array_the_shape_is_told_and_how_many_are_not_finite():
    remark = remarks(record(lambda x: x.log().sum(), {"x": np.arange(20.0)}))[0].sentence
    assert remark.startswith("`log` of shape (20,) gives (20,) with 1 of 20 numbers not finite.")


def test_an_inf_that_the_program_puts_in_is_no_accident():
    trace = record(lambda x: x.log(), {"x": np.array([0.0, 1.0])})
    trace.nodes[1]["op"] = "masked_fill"  # of a recorded PyTorch pass
    assert [remark for remark in remarks(trace) if remark.arose == "forward"] == []


def test_a_saved_page_explains_them_too():
    trace = record(lambda x: x.log(), {"x": 0.0})
    told = [(remark["after"], remark["text"]) for remark in json.loads(page_data(trace))["remarks"]]
    assert [after for after, _ in told] == ["forward", "backward"]
    assert [text for _, text in told] == [sentence.replace("`", "") for _, sentence in remarks(trace)]
