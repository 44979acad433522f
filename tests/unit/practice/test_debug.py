"""The programs to debug: what is found there fails, under the name of its failure; who repairs it passes."""

import numpy as np
import pytest

from lab.practice.checker import check
from lab.practice.render_report import render_report
from lab.practice.runner import LocalRunner
from practice.debug import FAILURES, PROGRAMS
from tests.answers import edited

BY_KEY = {program.key: program for program in PROGRAMS}


def checked(program, text):
    return check(program, program.tasks[0].key, text, LocalRunner(), seed=7)


# Right repairs that look different from the reference: the program, and the edits that make it of the reference.
REPAIRS = (
    ("column_minus_row", ("prediction = x @ w\n    loss = ((prediction - y[:, None]) ** 2).mean()", "prediction = (x @ w).reshape(-1)\n    loss = ((prediction - y) ** 2).mean()")),
    ("column_minus_row", ("from model import Tensor", "from model import Tensor, mse_loss"), ("loss = ((prediction - y[:, None]) ** 2).mean()", "loss = mse_loss(prediction.squeeze(1), y)")),
    ("column_minus_row", ("prediction = x @ w\n    loss = ((prediction - y[:, None]) ** 2).mean()", "prediction = x @ w[:, 0]\n    loss = ((prediction - y) ** 2).mean()")),
    ("detached", ("hidden = (x @ w1).tanh()", "hidden = (x @ w1).tanh()\n    for_plot = hidden.data.copy()"), ("return w1.grad, w2.grad, hidden.detach().numpy()", "return w1.grad, w2.grad, for_plot")),
    ("detached", ("return w1.grad, w2.grad, hidden.detach().numpy()", "return w1.grad, w2.grad, hidden.numpy()")),
    ("detached", ("\"\"\"The gradients of a two-layer network, and its hidden values for a plot.\"\"\"", "\"\"\"The gradients of a two-layer network, and its hidden values for a plot.\"\"\"\n\nimport numpy as np"), ("hidden = (x @ w1).tanh()\n    out = (hidden @ w2).sum()", "out = ((x @ w1).tanh() @ w2).sum()"), ("return w1.grad, w2.grad, hidden.detach().numpy()", "return w1.grad, w2.grad, np.tanh(x @ w1.data)")),
    ("in_place", ("loss = ((w * x - target) ** 2).sum()", "loss = ((w * x - target) ** 2).sum()\n        scaled = x.data / x.data.max()"), ("x.data[...] = x.data / x.data.max()\n    return w.grad, x.data", "return w.grad, scaled")),
    ("in_place", ("x, w = Tensor(x, requires_grad=False), Tensor(w)", "w = Tensor(w)"), ("x.data[...] = x.data / x.data.max()\n    return w.grad, x.data", "return w.grad, x / x.max()")),
    ("in_place", ("x.data[...] = x.data / x.data.max()", "x.data /= x.data.max()")),
    ("kept_loss", ("from model import Tensor", "import numpy as np"), ("w = Tensor(w)\n    history = []\n    for x, y in batches:\n        loss = ((w * x - y) ** 2).mean()\n        history.append(loss.item())\n    return history", "\"\"\"Plain arrays: no graph is ever made. Each loss is a number of NumPy's.\"\"\"\n    return [np.square(w * x - y).mean() for x, y in batches]")),
    ("kept_loss", ("from model import Tensor", "from model import Tensor, no_grad"), ("for x, y in batches:\n        loss = ((w * x - y) ** 2).mean()\n        history.append(loss.item())", "with no_grad():\n        for x, y in batches:\n            history.append(((w * x - y) ** 2).mean())")),
    ("kept_loss", ("history.append(loss.item())", "history.append(loss.detach())")),
    ("kept_loss", ("w = Tensor(w)\n    history = []\n    for x, y in batches:\n        loss = ((w * x - y) ** 2).mean()\n        history.append(loss.item())\n    return history", "w = Tensor(w, requires_grad=False)\n    return [float(((w * x - y) ** 2).mean().data) for x, y in batches]")),
    ("late_capture", ("\"\"\"A product of numbers and its derivatives, by a list of rules that is run backward.\"\"\"", "\"\"\"A product of numbers and its derivatives, by a list of rules that is run backward.\"\"\"\n\n\ndef rule_of(before, factor):\n    return lambda upstream: (upstream * factor, upstream * before)"), ("rules.append(lambda upstream, factor=factor, before=before: (upstream * factor, upstream * before))", "rules.append(rule_of(before, factor))")),
    ("late_capture", ("\"\"\"A product of numbers and its derivatives, by a list of rules that is run backward.\"\"\"", "\"\"\"A product of numbers and its derivatives, by a list of rules that is run backward.\"\"\"\n\nfrom functools import partial\n\n\ndef rule_for(before, factor, upstream):\n    return upstream * factor, upstream * before"), ("rules.append(lambda upstream, factor=factor, before=before: (upstream * factor, upstream * before))", "rules.append(partial(rule_for, before, factor))")),
    ("late_capture", ("rules.append(lambda upstream, factor=factor, before=before: (upstream * factor, upstream * before))", "rules.append((factor, before))"), ("for rule in reversed(rules):\n        upstream, derivative = rule(upstream)", "for factor, before in reversed(rules):\n        upstream, derivative = upstream * factor, upstream * before")),
    ("order", ("for x, y in batches:\n        loss = ((w * x - y) ** 2).mean()\n        optimizer.zero_grad()", "for x, y in batches:\n        optimizer.zero_grad()\n        loss = ((w * x - y) ** 2).mean()")),
    ("order", ("        optimizer.zero_grad()\n", ""), ("optimizer.step()", "optimizer.step()\n        optimizer.zero_grad()")),
    ("order", ("from nn import SGD\n", ""), ("    optimizer = SGD([w], lr=lr)\n", ""), ("        optimizer.zero_grad()\n", ""), ("optimizer.step()", "w = Tensor(w.data - lr * w.grad)")),
    ("overwritten", ("self.grad += out.grad\n            other.grad += out.grad", "self.grad = self.grad + out.grad\n            other.grad = other.grad + out.grad"), ("self.grad += out.grad * other.data\n            other.grad += out.grad * self.data", "self.grad = self.grad + out.grad * other.data\n            other.grad = other.grad + out.grad * self.data")),
    ("overwritten", ("self.rule = lambda: None\n", "self.rule = lambda: None\n\n    def receive(self, message):\n        self.grad += message\n"), ("self.grad += out.grad\n            other.grad += out.grad", "self.receive(out.grad)\n            other.receive(out.grad)"), ("self.grad += out.grad * other.data\n            other.grad += out.grad * self.data", "self.receive(out.grad * other.data)\n            other.receive(out.grad * self.data)")),
    ("overwritten", ("self.grad += out.grad\n            other.grad += out.grad", "for child in out.children:\n                child.grad += out.grad"), ("self.grad += out.grad * other.data\n            other.grad += out.grad * self.data", "for child, factor in ((self, other.data), (other, self.data)):\n                child.grad += out.grad * factor")),
    ("second_backward", ("first.backward(retain_graph=True)\n    second.backward()", "(first + second).backward()")),
    ("second_backward", ("second = (hidden * hidden).sum()\n    first.backward(retain_graph=True)", "first.backward()\n    again = (w * x).tanh()\n    second = (again**2).sum()")),
    ("second_backward", ("first.backward(retain_graph=True)\n    second.backward()", "second.backward(retain_graph=True)\n    first.backward()")),
    ("sign", ("loss = (w - target) ** 2", "loss = -((w - target) ** 2)"), ("w.data = w.data - lr * w.grad", "w.data = w.data + lr * w.grad")),
    ("sign", ("w.data = w.data - lr * w.grad", "w.data = w.data + -lr * w.grad")),
    ("sign", ("from model import Tensor", "from model import Tensor\nfrom nn import SGD"), ("w.data = w.data - lr * w.grad", "SGD([w], lr=lr).step()")),
    ("softmax_twice", ("loss = cross_entropy(logits, labels)", "loss = cross_entropy(logits.log_softmax(), labels)")),
    ("softmax_twice", ("from model import Tensor, cross_entropy", "from model import Tensor"), ("loss = cross_entropy(logits, labels)", "loss = -logits.log_softmax()[range(len(labels)), labels].mean()")),
    ("softmax_twice", ("from model import Tensor, cross_entropy", "from model import Tensor"), ("loss = cross_entropy(logits, labels)", "loss = (logits.logsumexp(axis=1) - logits[range(len(labels)), labels]).mean()")),
    ("where_nan", ("return where(x > 0, where(x > 0, x, 1.0).sqrt(), 0.0)", "safe = where(x > 0, x, 4.0)\n    return safe.sqrt() * (x > 0)")),
    ("where_nan", ("\nfrom model import where\n", ""), ("return where(x > 0, where(x > 0, x, 1.0).sqrt(), 0.0)", "missing = x.data <= 0\n    shifted = x * ~missing + 1.0 * missing  # 1 where there is no root\n    return shifted.sqrt() - 1.0 * missing")),
    ("where_nan", ("return where(x > 0, where(x > 0, x, 1.0).sqrt(), 0.0)", "return where(x > 0, where(x <= 0, 1.0, x) ** 0.5, 0.0)")),
    ("zero_grad", ("        w.zero_grad()\n", ""), ("w.data = w.data - lr * w.grad", "w = Tensor(w.data - lr * w.grad)")),
    ("zero_grad", ("        w.zero_grad()\n", ""), ("w.data = w.data - lr * w.grad", "w.data = w.data - lr * w.grad\n        w.grad = None")),
    ("zero_grad", ("from model import Tensor", "from model import Tensor\nfrom nn import SGD"), ("w = Tensor(0.0)", "w = Tensor(0.0)\n    optimizer = SGD([w], lr=lr)"), ("w.zero_grad()", "optimizer.zero_grad()"), ("w.data = w.data - lr * w.grad", "optimizer.step()")),
)  # fmt: skip


def test_there_are_twelve():
    assert len(BY_KEY) == len(PROGRAMS) == 12


@pytest.mark.sample(4)
@pytest.mark.parametrize("program", PROGRAMS, ids=BY_KEY)
def test_what_is_found_fails_by_its_first_mistake(program):
    report = checked(program, program.starter)
    assert report.failure.mistake == program.tasks[0].mistakes[0]
    said = render_report(program, program.tasks[0].key, report, "")["sentence"]
    assert report.failure.mistake.sentence not in said
    assert report.failure.problem or said == f"`{report.failure.show}` comes out as in the program that you found."


# What a title or text may say of a result, and whether the shown case does: the learner's value, the right one, inputs
SAID = {
    "too small": lambda got, wanted, inputs: abs(got) < abs(wanted),
    "high": lambda got, wanted, inputs: got > wanted,
    "grow": lambda got, wanted, inputs: farther(got, wanted, inputs.get("target", 0.0)),
    "too large": lambda got, wanted, inputs: farther(got, wanted, 0.0),
    "near 0": lambda got, wanted, inputs: np.ndim(got) or got > 0.5,  # the loss, or its gradient
    "no gradient": lambda got, wanted, inputs: got is None and wanted is not None,
    "nan": lambda got, wanted, inputs: np.isnan(got).any() and not np.isnan(wanted).any(),
    "never changes": lambda got, wanted, inputs: got == 0.0 != wanted,
}


def farther(got, wanted, target):
    return np.abs(np.subtract(got, target)).max() > np.abs(np.subtract(wanted, target)).max()


@pytest.mark.parametrize("program", PROGRAMS, ids=BY_KEY)
def test_the_shown_case_agrees_with_what_the_title_and_text_say(program):
    (task,) = program.tasks
    said = [holds for words, holds in SAID.items() if words in f"{task.title} {task.text}"]
    for seed in range(12 if said else 0):
        failure = check(program, task.key, program.starter, LocalRunner(), seed=seed).failure
        assert all(holds(failure.got, failure.expected, failure.inputs) for holds in said), failure.inputs


@pytest.mark.sample(4)
@pytest.mark.parametrize("program", PROGRAMS, ids=BY_KEY)
def test_repairs_pass_and_wrong_repairs_are_named(program):
    repairs = [program.reference, *(edited(program, edits) for key, *edits in REPAIRS if key == program.key)]
    assert len(repairs) >= 4
    assert [bool(checked(program, text)) for text in repairs] == [True] * len(repairs)
    mistakes = program.tasks[0].mistakes
    assert len(mistakes) >= 5
    named = {mistake.key: checked(program, program.with_mistake(mistake)).failure.mistake for mistake in mistakes}
    assert named == {mistake.key: mistake for mistake in mistakes}
    assert len({mistake.sentence for mistake in mistakes}) == len(mistakes)


def test_the_gradient_that_is_asked_for_is_the_derivative():
    """Of three programs, the reference's numbers beside differences of a forward pass that is written out here."""
    x, w, target = np.array([1.0, 2.0]), 0.5, 0.25
    failure = checked(BY_KEY["in_place"], BY_KEY["in_place"].starter).failure
    assert set(failure.inputs) == {"x", "w", "target"}
    step = 1e-6
    differences = [
        (
            "in_place",
            "gradient_and_scaled(x, w, target)[0]",
            {"x": x, "w": w, "target": target},
            lambda w: np.sum((w * x - target) ** 2),
        ),
        ("second_backward", "gradient(x, w)", {"x": x, "w": w}, lambda w: np.sum(np.tanh(w * x) + np.tanh(w * x) ** 2)),
        (
            "softmax_twice",
            "classified(logits, labels)[1][0, 0]",
            {"logits": np.array([[w, 0.0, 1.0]]), "labels": np.array([2])},
            lambda w: np.log(np.exp([w, 0.0, 1.0]).sum()) - 1.0,
        ),
    ]
    for key, expression, inputs, loss in differences:
        here = LocalRunner()
        here.load(BY_KEY[key].reference, f"{key}.py")
        namespace = {**here._namespace, **inputs}
        np.testing.assert_allclose(
            eval(expression, namespace), (loss(w + step) - loss(w - step)) / (2 * step), rtol=1e-6
        )


def test_no_title_or_text_names_the_failure_and_each_has_one():
    """What the page shows before a program is mended: the words that would give it away."""
    given_away = (
        "in place",
        "detach",
        "zero_grad",
        "sign",
        "+=",
        "closure",
        "captur",
        "twice",
        "softmax",
        "order",
        "uphill",
    )
    for program in PROGRAMS:
        (task,) = program.tasks
        assert not [word for word in given_away if word in f"{task.title} {task.text} {program.file}".lower()]
        assert FAILURES[program.key].name.endswith(".")
    assert FAILURES.keys() == BY_KEY.keys()
    assert len({program.tasks[0].title for program in PROGRAMS}) == len(PROGRAMS)
