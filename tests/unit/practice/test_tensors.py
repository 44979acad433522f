"""The course "Tensors": what is said of a network that does not learn to read."""

from dataclasses import replace

import pytest

from lab.practice.checker import check
from lab.practice.render_report import render_report
from lab.practice.runner import LocalRunner
from practice.tensors import COURSE
from tests.answers import grown


def checked(key, text):
    """The report of the task alone: what comes before it is as it should be."""
    *earlier, task = COURSE.up_to(key)
    tasks = (*(replace(each, checks=()) for each in earlier), task)
    return check(replace(COURSE, tasks=tasks), key, text, LocalRunner(), 0)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("steps=60", "steps=1", "of the unseen digits, and the task asks for more than 90%"),
        ("deviation=0.2", "deviation=0.0", "nothing was learned"),
        ("deviation=0.2", "deviation=20", "drawn too large"),
        ("    fit(params, images, labels, Adam(params, lr), steps)\n    return params", "    return fit(params, images, labels, Adam(params, lr), steps)", "Yours returns 60 values"),
        ("default_rng(seed)", "default_rng()", "Two calls of `train` give different parameters"),
        ("lr=0.02", "lr=1e200", "not finite"),
        ("def network(params, x):\n", "def network(params, x):\n    if len(x.data) == 450: return params[1]\n", "(450, 10)"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_network_that_does_not_read(old, new, said):
    assert COURSE.reference.count(old) == 1
    failure = checked("digits", COURSE.reference.replace(old, new)).failure
    assert failure.check.slow
    assert said in failure.looks_like
    assert "answers" not in failure.inputs


@pytest.mark.sample(2)  # the upstream gradient, and an operand
@pytest.mark.parametrize(
    ("key", "old", "new", "said"),
    [
        ("functions", "            self._receive(out.grad * (x > 0))", "            out.grad[x <= 0] = 0\n            self._receive(out.grad)", "changes the upstream gradient: `out.grad`"),
        (
            "softmax",
            "        powers = np.exp(self.data - self.data.max(axis=axis, keepdims=True))",
            "        x = self.data\n        x -= x.max(axis=axis, keepdims=True)\n        powers = np.exp(x)",
            "changes its first operand: `x.data`",
        ),
        ("cross-entropy", "    z = logits.data - logits.data.max(axis=1, keepdims=True)\n", "    z = logits.data\n    z -= z.max(axis=1, keepdims=True)\n", "changes its first operand: `z.data`"),
    ],
)  # fmt: skip
def test_a_write_in_place_is_named(key, old, new, said):
    text = grown(COURSE, len(COURSE.up_to(key)))
    assert text.count(old) == 1
    failure = check(COURSE, key, text.replace(old, new), LocalRunner(), 0).failure
    assert said in failure.mistake.sentence


def test_a_step_with_random_rows_is_seen_at_a_learning_rate_of_0():
    old = "        loss = cross_entropy(network(params, Tensor(x)), labels)\n"
    new = """\
        some = rng.permutation(len(x))[: len(x) // 2]
        loss = cross_entropy(network(params, Tensor(x[some])), labels[some])
"""
    text = COURSE.reference.replace(old, new).replace(
        "    losses = []\n", "    losses, rng = [], np.random.default_rng(1)\n"
    )
    failure = checked("digits", text).failure
    assert "does each step take all rows" in failure.looks_like


def test_a_guard_that_refuses_every_write_is_told_by_its_line():
    old = "        values = np.array(values)  # nobody"
    text = COURSE.reference.replace(
        old, "        if hasattr(self, '_data'):\n            raise ValueError('locked')\n" + old
    )
    report = checked("guard", text)
    shown = render_report(COURSE, "guard", report, "")
    assert shown["sentence"] == "ValueError: locked"
    assert "'locked'" in text.splitlines()[shown["line"] - 1]
    assert text.splitlines()[report.line - 1].strip() == "raise ValueError('locked')"
