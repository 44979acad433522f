"""Each course as a whole: its reference, its wrong answers, right answers in other styles, and mutants of the reference.

What is known as wrong: `python -m pytest -s -k matrix tests/unit/practice/test_courses.py` prints it as a table.
"""

import ast
import random
import re
import signal
from dataclasses import replace

import numpy as np
import pytest

import model
from lab.practice import checker
from lab.practice.cases import cases_of
from lab.practice.checker import check
from lab.practice.mistakes import FailedCheck, _numerical
from lab.practice.render_report import render_report
from lab.practice.runner import LocalRunner
from practice import COURSES
from practice.scalars import reference as scalars
from tests.answers import grown, unusual

MUTANTS = 300
EXPLAINED = 10  # of so many mutants, one is explained, too, as a learner's text is
SECONDS = 3  # of processor time that a mutant gets: some of them run for ever

each_course = pytest.mark.parametrize("course", COURSES.values(), ids=COURSES)
PARTS = 6  # of the mistakes of each task, and of the mutants of each course


@pytest.fixture
def reference_answers_once(monkeypatch):
    """The reference answers each check once: many wrong texts are compared with it, in the same cases."""
    drawn, answers_to = checker.cases_of, checker._right_answers
    made, answered = {}, {}

    def cases(one, rng):
        key = id(one), str(rng.bit_generator.seed_seq.entropy)
        if key not in made:
            made[key] = one, [*drawn(one, rng)]  # with the check itself, so that no other gets its id
        return made[key][1]

    def expected(reference, one, cases):
        key = (id(one), *map(id, cases))
        if key not in answered:
            answered[key] = answers_to(reference, one, cases)
        return answered[key]

    monkeypatch.setattr(checker, "cases_of", cases)
    monkeypatch.setattr(checker, "_right_answers", expected)


@each_course
def test_a_course_is_complete(course):
    assert course.key == next(key for key, each in COURSES.items() if each is course)
    keys = [task.key for task in course.tasks]
    assert len(set(keys)) == len(keys)
    assert {key for key, _ in course.parts(course.reference)} <= {"given", *keys}
    for task in course.tasks:
        assert len(task.mistakes) >= 5, task.key
        for names in ([mistake.key for mistake in task.mistakes], [mistake.sentence for mistake in task.mistakes]):
            assert len(set(names)) == len(names), task.key
        assert len(task.hints) >= 3, task.key
        assert len(task.text.split()) <= 135, task.key
        for text in (task.text, *task.hints, *(mistake.sentence for mistake in task.mistakes)):
            assert not re.search(r'"\s+"', text), (task.key, text)  # the seam of two strings, left in the text
        assert len({one.name for one in task.checks}) == len(task.checks) > 0, task.key
        assert course.lines_of(task.key).strip(), task.key


@each_course
def test_the_reference_as_it_grows_passes_task_after_task(course):
    for number, task in enumerate(course.tasks):
        text = grown(course, number + 1)
        quick = replace(course, tasks=(*(without_slow(each) for each in course.tasks[:number]), task))
        report = check(quick, task.key, text, LocalRunner(), seed=1)
        assert report, (task.key, report)


def without_slow(task):
    return replace(task, checks=tuple(one for one in task.checks if not one.slow))


@each_course
def test_the_starter_loads_and_does_not_pass(course):
    report = check(course, course.tasks[0].key, course.starter, LocalRunner(), seed=1)
    assert report.problem is None
    assert not report


def thin(task):
    """The task with two cases in each check, and without what takes long."""
    quick = [one for one in task.checks if not one.slow and "range(5000)" not in one.program]
    return replace(task, checks=tuple(replace(one, cases=min(one.cases, 2)) for one in quick))


def matrix(course, seed, part):
    """For a part of the known mistakes: (its task, its key, the task and the check that fail, the mistake that is named)."""
    rows, thinned = [], [thin(task) for task in course.tasks]
    for number, task in enumerate(course.tasks):
        tasks = (*thinned[:number], task)  # as for a learner, who has passed what comes before
        for mistake in task.mistakes[part::PARTS]:
            failure = check(
                replace(course, tasks=tasks), task.key, course.with_mistake(mistake), LocalRunner(), seed
            ).failure
            named = failure.mistake.key if failure and failure.mistake else ""
            rows.append((task.key, mistake.key, failure and failure.task, failure and failure.check.name, named))
    return rows


@pytest.mark.sample(2)  # of the parts of the courses
@pytest.mark.parametrize("part", range(PARTS))
@each_course
@pytest.mark.usefixtures("reference_answers_once")
def test_the_matrix_of_mistakes(course, part):
    """Each fails, in the task that it belongs to, and is called by its name."""
    rows = matrix(course, seed=7, part=part)
    print()
    for row in rows:
        print(f"{row[0]:12} {row[1]:22} {row[3]:42} {'named' if row[4] == row[1] else row[4] or 'NOT NAMED'}")
    assert [row for row in rows if (row[0], row[1]) != (row[2], row[4])] == []


@pytest.mark.parametrize(
    ("key", "old", "new", "said"),
    [
        ("train", "    return losses", "    return [*losses[:-1], 0.001]", "loss"),
        ("value", "tuple(children)", "[*children]", "tuple"),
        ("network", "rng.uniform(-1, 1)", "__import__('random').Random().uniform(-1, 1)", "same `rng`"),
    ],
)
def test_what_a_text_asks_for_is_looked_at(key, old, new, said):
    """A list of losses that is not true, children that are no tuple, weights from elsewhere: none of these passes."""
    course = COURSES["scalars"]
    assert course.reference.count(old) == 1
    wrong = course.reference.replace(old, new)
    report = check(course, key, wrong, LocalRunner(), seed=2)
    sentence = render_report(course, key, report, "")["sentence"]
    assert said in sentence


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        ("functions", "np.maximum(x, 0)", "np.maximum(x, 0, out=x)"),
        ("functions", "self._receive(out.grad * (x > 0))", "out.grad *= x > 0; self._receive(out.grad)"),
        ("elementwise", "out = Tensor(a + b,", "out = Tensor(np.add(a, b, out=a if a.shape == (a + b).shape else None),"),
    ],
)  # fmt: skip
def test_what_writes_to_an_array_of_somebody_else_fails(key, old, new):
    course = COURSES["tensors"]
    keys = [task.key for task in course.tasks]
    text = grown(course, keys.index(key) + 1)
    assert text.count(old) == 1, old
    report = check(course, key, text.replace(old, new), LocalRunner(), seed=2)
    assert [name for name, passed in report.passed.items() if not passed] == [key]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("course", "path"),
    [pytest.param(course, path, id=path.stem) for course in COURSES.values() for path in unusual(course)],
)
def test_a_right_answer_in_another_style_passes(course, path):
    assert check(course, course.tasks[-1].key, path.read_text("utf-8"), LocalRunner(), seed=3)


@each_course
def test_derivatives_of_the_reference_agree_with_finite_differences(course):
    """In every case, as they are shown beside each other: at a kink there is no derivative, so none lies on one."""
    here, rng = LocalRunner(), np.random.default_rng(5)
    here.load(course.reference, course.file)
    for task in course.tasks:
        for one in task.checks:
            cases = list(cases_of(one, rng)) if one.derivatives else []
            for case, said in zip(cases, here.run(cases), strict=True):
                for show in one.derivatives or {}:
                    numerical = _numerical(one, case, show, here)
                    if numerical is not None:
                        np.testing.assert_allclose(
                            said.values[show], numerical, rtol=2e-4, atol=2e-5, err_msg=f"{task.key} {one.name} {show}"
                        )


@pytest.mark.parametrize(
    "expression",
    [
        "((a * b) + c) * (a + d)", "a + a", "a * a * a", "2 - a / b", "(a * b).tanh() * b.relu() - c.exp()",
        "(-a) ** 3 / (1 + (c * -1).exp())", "3 / (d * d) - (2 * a - 1).tanh()", "c.sigmoid() * a.sigmoid()",
    ],
)  # read by rows  # fmt: skip
def test_the_scalars_agree_with_the_engine(expression):
    numbers = dict(zip("abcd", np.random.default_rng(2).normal(size=4).tolist(), strict=True))
    results = []
    for kind in (scalars.Value, model.Tensor):
        leaves = {name: kind(number) for name, number in numbers.items()}
        y = eval(expression, leaves)
        y.backward()
        results.append([float(y.data), *(float(leaves[name].grad or 0) for name in numbers)])
    np.testing.assert_allclose(*results, rtol=1e-12)


# -- Mutants: the reference with one thing changed, by rule and by chance ----------------------------------------------

OPERATORS = {
    ast.Add: [ast.Sub, ast.Mult], ast.Sub: [ast.Add], ast.Mult: [ast.Div, ast.Add], ast.Div: [ast.Mult],
    ast.Pow: [ast.Mult], ast.MatMult: [ast.Mult], ast.Gt: [ast.GtE, ast.Lt], ast.GtE: [ast.Gt, ast.Lt],
    ast.Lt: [ast.LtE, ast.Gt], ast.LtE: [ast.Lt, ast.Gt], ast.In: [ast.NotIn], ast.NotIn: [ast.In],
    ast.Is: [ast.IsNot], ast.IsNot: [ast.Is], ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq],
}  # read by rows  # fmt: skip
NOT_COMMUTATIVE = (ast.Sub, ast.Div, ast.Pow, ast.MatMult)
ATTRIBUTES = {"data": "grad", "grad": "data", "shape": "T"}
NAMES = {"self": "other", "other": "self"}


def alternatives(node):
    """What might stand in place of a node, each of another meaning."""
    if isinstance(node, ast.BinOp):
        for operator in OPERATORS.get(type(node.op), []):
            yield ast.BinOp(node.left, operator(), node.right)
        if isinstance(node.op, NOT_COMMUTATIVE):
            yield ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.AugAssign):
        yield ast.Assign([node.target], node.value, lineno=node.lineno)
        yield ast.AugAssign(node.target, (ast.Sub if isinstance(node.op, ast.Add) else ast.Add)(), node.value)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Compare):
        for operator in OPERATORS.get(type(node.ops[0]), []):
            yield ast.Compare(node.left, [operator()], node.comparators)
    elif isinstance(node, (ast.If, ast.IfExp)):
        yield type(node)(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES:
        yield ast.Attribute(node.value, ATTRIBUTES[node.attr], node.ctx)
    elif isinstance(node, ast.Name) and node.id in NAMES:
        yield ast.Name(NAMES[node.id], node.ctx)
    if isinstance(node, (ast.Assign, ast.AugAssign)) or (isinstance(node, ast.Expr) and not text(node)):
        yield ast.Pass()


def text(node):
    return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def mutants(course, count, rng):
    """(task, what was changed, the text): `count` of them, or all that there are."""
    tree = ast.parse(course.reference)
    choices = ast.walk(tree)
    free = {id(node) for function in choices if isinstance(function, ast.arguments) for node in function.defaults}
    sites = []
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            places = enumerate(value) if isinstance(value, list) else [(None, value)]
            sites += [
                (parent, field, place, node, other)
                for place, node in places
                if isinstance(node, ast.AST)
                and id(node) not in free
                and owner(course, getattr(node, "lineno", 0)) != "given"
                for other in alternatives(node)
            ]
    for parent, field, place, node, other in rng.sample(sites, min(count, len(sites))):
        was = ast.unparse(node)
        put(parent, field, place, other)
        changed = ast.unparse(tree)
        yield owner(course, node.lineno), f"{node.lineno}: {was} -> {ast.unparse(other)}", changed
        put(parent, field, place, node)


def owner(course, line):
    """The key of the task that a line of the reference belongs to."""
    before = "\n".join(course.reference.split("\n")[:line])
    return ["given", *re.findall(r"# task: ([\w-]+)", before)][-1]


def put(parent, field, place, node):
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node


class TooLong(BaseException):
    """No Exception: a learner's code that catches those goes on."""


def stop(*_):
    raise TooLong


def unexplained(course, task, ran, *_):
    """In place of the checker's explanation: to look for one takes many times as long as to find out that it fails."""
    failed = ran[-1]
    return FailedCheck(task.key, failed.check, failed.cases[0].inputs, "", None, None)


def caught(course, own, mutant):
    """Does a check fail? Those of the task whose lines were changed are asked first, the slow ones last."""
    tasks = sorted((replace(task, mistakes=()) for task in course.tasks), key=lambda task: task.key != own)
    quick = [without_slow(task) for task in tasks]
    slow = [
        replace(task, key=f"{task.key}, slow", checks=tuple(one for one in task.checks if one.slow)) for task in tasks
    ]
    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        return not check(replace(course, tasks=(*quick, *slow)), slow[-1].key, mutant, LocalRunner(), seed=11)
    except TooLong:
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


# What means the same as the reference.
SAME = {
    "self * -1 -> self / -1",
    "other * -1 -> other / -1",
    "out - y -> y - out",  # it is squared
    "self.saved_tensors = () -> pass",  # nobody reads it where nothing was saved
}


@pytest.mark.sample(1)
@each_course
def test_the_reference_is_not_taken_for_a_mutant(course):
    assert not caught(course, course.tasks[0].key, course.reference)


@pytest.mark.sample(2)  # a part of each course
@pytest.mark.parametrize("part", range(PARTS))
@each_course
@pytest.mark.usefixtures("reference_answers_once")
def test_mutants_are_caught(course, part, monkeypatch):
    share = -(-MUTANTS // len(COURSES))
    survivors = []
    for number, (own, what, mutant) in enumerate([*mutants(course, share, random.Random(12))][part::PARTS]):
        with monkeypatch.context() as patch:
            if number % EXPLAINED:
                patch.setattr(checker, "explain", unexplained)
            if not caught(course, own, mutant):
                survivors.append(what)
    assert [what for what in survivors if what.split(": ", 1)[1] not in SAME] == []


# -- Luck --------------------------------------------------------------------------------------------------------------


def trained(rate, steps, seed=1):
    """The report of the scalar training with these defaults, on the last check alone."""
    course = COURSES["scalars"]
    *before, task = course.tasks
    last = replace(task, checks=task.checks[-1:])
    text = course.reference.replace("rate=0.5, steps=100", f"rate={rate}, steps={steps}")
    return check(
        replace(course, tasks=(*(replace(each, checks=()) for each in before), last)),
        "train",
        text,
        LocalRunner(),
        seed,
    )


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_the_numbers_of_the_hint_pass(rate):
    assert trained(rate, 100)


def test_a_training_that_is_too_short_fails_with_a_loss_that_is_not_rounded_to_the_bound():
    report = trained(0.1, 100)
    assert not report
    loss = float(re.search(r"The last loss is ([\d.e-]+), not below 0.01", report.failure.looks_like)[1])
    assert loss > 0.01


@each_course
def test_a_training_is_judged_from_the_same_beginnings_whatever_the_seed(course):
    for task in course.tasks:
        for one in (one for one in task.checks if one.slow):
            cases = [[*cases_of(one, np.random.default_rng([seed, 2]))] for seed in range(200 if not one.secret else 3)]
            for other in cases[1:]:
                for first, second in zip(cases[0], other, strict=True):
                    names = first.inputs.keys() - {"shift"}  # any other labels are as easy to learn
                    assert all(np.array_equal(first.inputs[name], second.inputs[name]) for name in names)
