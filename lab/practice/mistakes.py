"""Finds the smallest case in which a check fails, and the mistake behind it."""

from __future__ import annotations

import ast
import contextlib
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lab.practice.cases import CheckRun, answers, cases_of
from lab.practice.comparison import NUMBERS, agree, resemblance, same, wrong_elements
from lab.practice.formulas import formula
from lab.practice.in_place_writes import overwritten
from lab.practice.runner import Answer, Job, LocalRunner, Problem, Runner, StoppedError
from lab.practice.wrong_variants import NO_RULE, variants
from practice.task import Check, Course, Inputs, Mistake, Task

STEP = 1e-5  # of the finite differences
CLOSE = 1e-4  # tolerance between the reference and finite differences, relative to the largest number
MAX_SHRINKS = 60  # smaller cases tried in search of the smallest that fails
# as in Python's messages; of the callee, only names that are the same for every learner
MISSING = re.compile(r"(?:(?:__\w{1,20}__|forward|backward)\(\) )?missing \d{1,3} required positional arguments?")
NO_ATTRIBUTE = re.compile(r"'NoneType' object has no attribute")
SHAPE = re.compile(r"\(\d*,[\d,]*\)")  # as in NumPy's messages


@dataclass(frozen=True)
class FailedCheck:
    """The smallest case found in which a check fails.

    show        the first expression that is wrong, or at which the program stopped; "" if it stopped before any, or
                if a judge decided
    got         its value with the learner's code; None with a `problem`
    expected    its value with the reference
    wrong       a boolean array of the wrong elements, if got and expected can be compared element by element
    numerical   its value by finite differences of the reference, if it is a derivative
    problem     the exception, if the program raised one that the reference does not
    mistake     the known mistake that gives the same answers in every case of this check and of those before it, or a
                formula that gives them
    looks_like  a remark on the values, or the judge's sentence; "" if there is none
    alone       whether the file was loaded afresh and only this case was run last: the printed text belongs to it
    """

    task: str
    check: Check
    inputs: Inputs
    show: str
    got: Any
    expected: Any
    wrong: np.ndarray | None = None
    numerical: Any = None
    problem: Problem | None = None
    mistake: Mistake | None = None
    looks_like: str = ""
    alone: bool = False


def explain(course: Course, task: Task, ran: Sequence[CheckRun], runner: Runner, reference: LocalRunner) -> FailedCheck:
    """Find the smallest failing case and the mistake behind it. ran: the task's checks so far; the last one failed."""
    one, cases, got, expected = ran[-1].check, ran[-1].cases, ran[-1].got, ran[-1].right
    mistake = None if one.slow else _find_mistake(course, task, ran, runner, reference)
    failing = [number for number in range(len(cases)) if not agree(one, got[number], expected[number])]
    first = min(failing, key=lambda number: _reading_effort(cases[number].inputs))
    job, mine, right = cases[first], got[first], expected[first]
    if not one.slow:
        with contextlib.suppress(StoppedError):
            job, mine, right = _shrink(one, job, mine, right, runner, reference)
    given = {name: value for name, value in job.inputs.items() if name not in one.secret}
    if mine.verdict:
        return FailedCheck(task.key, one, given, "", None, None, mistake=mistake, looks_like=mine.verdict)
    written, sentence = _overwritten(course, task, one, job, mine, right)
    show = written or next((show for show in one.shows if not _fits(one, show, mine, right)), "")
    value, wanted = mine.values.get(show), right.values.get(show)
    numbers = show in mine.values and show in right.values
    problem = mine.problem if mine.problem and mine.problem.kind != (right.problem and right.problem.kind) else None
    if numbers:  # an exception came later, in another expression
        problem = None
    if written and mistake is None:
        mistake = Mistake("overwritten", sentence, ())
    looks = ""
    if numbers and not mistake:
        others = [(got[number].values.get(show), expected[number].values.get(show)) for number in failing]
        looks = resemblance(show, value, wanted, one.rtol, [pair for pair in others if not same(*pair, one.rtol)])
        if not looks and not one.slow and all(show in each.values for each in (*got, *expected)):
            mistake = _find_formula(ran[-1], show, reference)
    wrong = _marked(value, wanted, one.rtol) if numbers else None
    numerical = _numerical(one, job, show, reference)
    return FailedCheck(task.key, one, given, show, value, wanted, wrong, numerical, problem, mistake, looks_like=looks)


def _marked(value: Any, wanted: Any, rtol: float) -> np.ndarray | None:
    """Return which elements of a value are wrong; of a list of another length, those that differ, if any do."""
    wrong = wrong_elements(value, wanted, rtol)
    if wrong is not None or not isinstance(value, list) or not isinstance(wanted, list):
        return wrong
    fits = [same(*pair, rtol) for pair in zip(value, wanted, strict=False)]
    wrong = ~np.array(fits + [False] * (len(value) - len(fits)), bool)
    return wrong if wrong.any() else None


def _overwritten(course: Course, task: Task, one: Check, job: Job, mine: Answer, right: Answer) -> tuple[str, str]:
    """Return the expression whose value the learner's code has written over, and a sentence about it, or "" twice."""
    checks = (each for before in course.up_to(task.key) for each in before.checks)
    earlier = [*itertools.takewhile(lambda each: each is not one, checks)]
    for show in one.shows:
        if (
            show in mine.values
            and show in right.values
            and not _fits(one, show, mine, right)
            and (sentence := overwritten(one, show, job.inputs, right.values[show], earlier))
        ):
            return show, sentence
    return "", ""


def _find_formula(ran: CheckRun, show: str, reference: LocalRunner) -> Mistake | None:
    """Find a formula that gives the learner's value of `show` in every case, from the inputs and what they became."""
    names = dict.fromkeys(
        node.id
        for node in ast.walk(ast.parse(ran.check.program))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    quantities = {}
    for text in (*ran.cases[0].inputs, *(f"{name}.{part}" for name in names for part in ("data", "grad"))):
        given = reference.run([replace(case, shows=(text,), secret=()) for case in ran.cases])
        values = [each.values.get(text) for each in given]
        if text != show and all(isinstance(value, NUMBERS) for value in values):
            quantities[text] = values
    mine, right = ([each.values[show] for each in side] for side in (ran.got, ran.right))
    words = formula(quantities, mine, right, lambda a, b: same(a, b, ran.check.rtol))
    return Mistake("formula", f"In every case, `{show}` is {words}.", ()) if words else None


def _fits(one: Check, show: str, got: Answer, expected: Answer) -> bool:
    if (show in got.values) != (show in expected.values):
        return False
    return show not in expected.values or same(got.values[show], expected.values[show], one.rtol)


def _find_mistake(
    course: Course, task: Task, ran: Sequence[CheckRun], runner: Runner, reference: LocalRunner
) -> Mistake | None:
    """Find a mistake with which the reference gives the learner's answers to every check of this task so far.

    It must give them to the later checks, too. Mistakes listed with the task are tried first, then variants made by
    rule. If there is none, a listed mistake may still be one of several. Those of earlier tasks are excluded: their
    checks passed.
    """
    quick = [one for one in reversed(ran) if not one.check.slow]  # the failed check first: it excludes the most
    later = list(_run_later(task, len(ran), runner, reference))
    known = [mistake for mistake in task.mistakes if _explains(course, task, mistake, quick)]
    by_rule = (mistake for mistake in variants(course, task) if _explains(course, task, mistake, quick))
    if quick[0].got[0].problem:  # many mistakes end in the same exception
        by_rule = (mistake for mistake in by_rule if mistake.key == NO_RULE)
    fitting = (each for each in itertools.chain(known, by_rule) if _explains(course, task, each, later))
    return next(fitting, known[0] if known else None)


def _run_later(task: Task, done: int, runner: Runner, reference: LocalRunner) -> Iterator[CheckRun]:
    """Run the remaining checks of a task and yield both sides' answers, until one ends the learner's process."""
    with contextlib.suppress(StoppedError):
        for one in (each for each in task.checks[done:] if not each.slow):
            cases = list(cases_of(one, np.random.default_rng(0)))
            yield CheckRun(one, cases, answers(runner, one, cases), answers(reference, one, cases))


def _explains(course: Course, task: Task, mistake: Mistake, ran: Sequence[CheckRun]) -> bool:
    """Return whether the reference with this mistake gives the learner's answers."""
    text = _variant(course, task, mistake)
    for one in ran:
        runner = LocalRunner()  # a new one for each check: a case may change the module's state
        if runner.load(text, course.file, course.modules):
            return False
        for case, mine in zip(one.cases, one.got, strict=False):
            (other,) = answers(runner, one.check, [case])
            if not agree(one.check, mine, other) or _message(mine) != _message(other):
                return False
    return True


def _variant(course: Course, task: Task, mistake: Mistake) -> str:
    """Return the reference with a mistake, up to this task: without the later tasks it loads faster."""
    return course.grown_with(mistake, len(course.up_to(task.key)))


def _message(result: Answer) -> str | None:
    """Return what an exception's message says whatever the style of the code; None without an exception. For shapes
    that do not fit, only the shapes, as NumPy words the rest in several ways. For missing arguments, only their number,
    as the names are the learner's own."""
    if result.problem is None or result.verdict == "":
        return None
    message = result.problem.message
    if found := MISSING.search(message) or NO_ATTRIBUTE.search(message):
        return found[0]
    return " ".join(sorted(SHAPE.findall(message))) if "broadcast" in message else message


def _reading_effort(inputs: Inputs) -> tuple[int, float]:
    """Rate how hard a case is to read: how many numbers it has, then their sizes. A 0 hides what it multiplies."""
    arrays = [np.asarray(value, float) for value in inputs.values() if isinstance(value, NUMBERS)]
    numbers = sum(array.size for array in arrays)
    sizes = (np.where(array == 0, 20, np.abs(array)) + 10 * (array != np.round(array)) for array in arrays)
    return numbers, sum(float(size.sum()) for size in sizes)


def _shrink(
    one: Check, job: Job, got: Answer, expected: Answer, runner: Runner, reference: LocalRunner
) -> tuple[Job, Answer, Answer]:
    """Shrink a failing case greedily: each step takes the first smaller case that still fails.

    Finite differences confirm the reference in each step, so that none leads onto a kink, out of an operation's domain,
    or to shapes that the check never has.
    """
    tried = 0
    while tried < MAX_SHRINKS:
        smaller = [replace(job, inputs=inputs) for inputs in _smaller(job.inputs)][: MAX_SHRINKS - tried]
        tried += len(smaller)
        rights = answers(reference, one, smaller)
        usable = [pair for pair in zip(smaller, rights, strict=True) if not pair[1].problem or expected.problem]
        if not usable:
            break
        mine = answers(runner, one, [case for case, _ in usable])
        for (case, right), result in zip(usable, mine, strict=True):
            fails = not agree(one, result, right) and (result.problem is None) == (got.problem is None)
            if fails and _confirmed(one, case, right, reference):
                job, got, expected = case, result, right
                break
        else:
            break
    return job, got, expected


def _confirmed(one: Check, job: Job, right: Answer, reference: LocalRunner) -> bool:
    """Return whether the reference's derivatives are finite and agree with finite differences."""
    slopes = {show: _numerical(one, job, show, reference) for show in one.derivatives or () if show in right.values}
    return all(
        bool(np.isfinite(slope).all()) and same(right.values[show], slope, CLOSE)
        for show, slope in slopes.items()
        if slope is not None
    )


def _smaller(inputs: Inputs) -> Iterator[Inputs]:
    """Yield cases a little smaller than this one: with an axis cut to its first element, in every array with an axis of
    that length or in that place, so that the shapes still fit; or with a value rounded, but never to 0, which would
    hide what it multiplies."""
    arrays = {name: value for name, value in inputs.items() if isinstance(value, np.ndarray)}
    lengths = sorted({size for value in arrays.values() for size in value.shape if size > 1}, reverse=True)
    axes = range(-1, -1 - max((value.ndim for value in arrays.values()), default=0), -1)
    for length, axis in (*((length, None) for length in lengths), *((None, axis) for axis in axes)):
        smaller = {name: _first(value, length, axis) for name, value in arrays.items()}
        if any(smaller[name].size < value.size for name, value in arrays.items()):
            yield {**inputs, **smaller}
    for name, value in inputs.items():
        if isinstance(value, float) or (name in arrays and value.dtype.kind == "f"):
            for digits in (0, 1):
                rounded = np.round(value, digits)
                if not np.array_equal(rounded, value, equal_nan=True) and np.all((rounded != 0) | (value == 0)):
                    yield {**inputs, name: rounded if name in arrays else float(rounded)}


def _first(array: np.ndarray, length: int | None, axis: int | None) -> np.ndarray:
    """Cut every axis of this length, or the axis in this place counted from the end, to its first element."""
    cut = [size == length or place - array.ndim == axis for place, size in enumerate(array.shape)]
    return array[tuple(slice(0, 1) if short else slice(None) for short in cut)]


def _numerical(one: Check, job: Job, show: str, reference: LocalRunner) -> Any:
    """Compute the derivative `show` by central differences of the reference's forward pass; None if `show` is not a
    derivative or its input is not a float."""
    name = (one.derivatives or {}).get(show)
    if name is None or not isinstance(job.inputs[name], (float, np.ndarray)):
        return None
    upstream = 1.0 if one.upstream is None else job.inputs[one.upstream]

    def case(moved: Any) -> Job:
        return Job(one.program, {**job.inputs, name: moved}, (one.output,))

    slopes = differences(case, job.inputs[name], upstream, reference)
    if isinstance(slopes, Problem):
        return None
    return slopes if slopes.ndim else slopes.item()


def differences(case: Callable[[Any], Job], at: Any, upstream: Any, runner: Runner) -> np.ndarray | Problem:
    """Differentiate a value with respect to each element of an input at the point `at`, by central differences. Return
    an array of the input's shape, or the exception of a run.

    case      makes the job that shows the value for another input
    upstream  the upstream gradient: the weights of the value's elements

    Raises StoppedError, and TypeError or ValueError if the value is not numeric.
    """
    point = np.asarray(at, float)
    jobs = []
    for index in np.ndindex(point.shape):
        for step in (STEP, -STEP):
            moved = point.copy()
            moved[index] += step
            jobs.append(case(moved if moved.ndim else moved.item()))
    sums = []
    for result in runner.run(jobs):
        if result.problem:
            return result.problem
        (value,) = result.values.values()
        sums.append(float(np.sum(np.asarray(value, float) * np.asarray(upstream))))
    above, below = np.array(sums[::2]), np.array(sums[1::2])
    return np.reshape((above - below) / (2 * STEP), point.shape)
