"""Judges a learner's code: runs the same programs with it and with the reference, and compares the answers.

The learner's code runs behind a `Runner`, in a process of its own: it receives programs and numbers and answers with
numbers. It can answer anything, but the right answers are not in its process, and they are compared here. The
reference, with or without a known mistake, is this project's own text and runs in this process.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from lab.practice import driver
from lab.practice.formulas import formula
from lab.practice.overwritten import forward_part, overwritten
from lab.practice.variants import NO_RULE, variants
from practice.task import Check, Course, Inputs, Mistake, Task

STEP = 1e-5  # of the finite differences
CLOSE = 1e-4  # tolerance between the reference and finite differences, relative to the largest number
MAX_SHRINKS = 60  # smaller cases tried in search of the smallest that fails
# as in Python's messages; of the callee, only names that are the same for every learner
MISSING = re.compile(r"(?:(?:__\w{1,20}__|forward|backward)\(\) )?missing \d{1,3} required positional arguments?")
NO_ATTRIBUTE = re.compile(r"'NoneType' object has no attribute")
SHAPE = re.compile(r"\(\d*,[\d,]*\)")  # as in NumPy's messages
NUMBERS = (int, float, np.ndarray)
SIZES = 4  # the sizes of cases are 0 to SIZES - 1, in turn


Begins = Callable[[Task, Check], None]  # what is told of each check before it is run


@dataclass(frozen=True)
class Job:
    """One program, the values of its inputs, and the expressions to evaluate after it.

    secret  names of inputs that are not sent: only the judge of the answer sees them
    """

    program: str
    inputs: Inputs
    shows: tuple[str, ...]
    secret: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """An exception: the name of its class, its message, line and column in the learner's file, or None, and the names
    of its class and the classes above it."""

    kind: str
    message: str
    line: int | None = None
    column: int | None = None
    bases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The result of a job: the value of each expression up to the first that failed, and how it failed.

    verdict  the judge's objection, "" if there is none or if the exception is one that the task asks for; None without
             a judge or after any other exception
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    problem: Problem | None = None
    verdict: str | None = None


class StoppedError(Exception):
    """The learner's process ended without an answer: why, in one sentence, and the line of their code, if known."""

    def __init__(self, sentence: str, line: int | None = None) -> None:
        super().__init__(sentence)
        self.line = line


class Runner(Protocol):
    """Something that loads a text and runs programs with it."""

    def load(self, source: str, file: str, modules: Sequence[str] = ()) -> Problem | None:
        """Run the text as a module that may import these `modules` of the project; return what it raised, or None.
        Raises StoppedError."""

    def run(self, jobs: Sequence[Job]) -> list[Answer]:
        """Run each job and return its answer. Raises StoppedError."""


class LocalRunner:
    """A runner in this process, for this project's own texts only. NumPy's warnings are off: mistakes may overflow."""

    def load(self, source: str, file: str, modules: Sequence[str] = ()) -> Problem | None:
        self._file = file
        try:
            with np.errstate(all="ignore"):
                self._namespace = driver.load(source, file)
        except Exception as error:
            return problem(driver.failed(error, file))
        return None

    def run(self, jobs: Sequence[Job]) -> list[Answer]:
        with np.errstate(all="ignore"):
            return [answer(driver.run(self._namespace, self._file, *packed(job))) for job in jobs]


def packed(job: Job) -> tuple[str, dict[str, Any], list[str]]:
    """Return a job as arguments for `driver.run`, with fresh copies of its arrays."""
    inputs = {name: _copied(value) for name, value in job.inputs.items() if name not in job.secret}
    return job.program, inputs, [*job.shows]


def _copied(value: Any) -> Any:
    """Return an input as the learner's process receives it."""
    if type(value) is np.ndarray and value.ndim:
        return value.copy()
    return driver.decode(driver.encode(value, math.inf))


def encoded(inputs: Inputs, secret: Sequence[str] = ()) -> dict[str, Any]:
    """Return inputs as JSON data, without the secret ones."""
    return {name: driver.encode(value, math.inf) for name, value in inputs.items() if name not in secret}


def answer(data: Mapping[str, Any]) -> Answer:
    """Read an answer of the driver from JSON data. Raises what `driver.decode` raises for anything else."""
    values = {str(name): driver.decode(value) for name, value in data["values"].items()}
    return Answer(values, problem(data["error"]) if "error" in data else None)


def problem(data: Mapping[str, Any]) -> Problem:
    """Read an exception that the driver reported, up to the lengths that the driver keeps to. Raises what
    `driver.decode` raises for anything else."""
    texts = data["kind"], data["message"], *data.get("bases", ())
    kind, message, *bases = map(driver.decode, texts)
    if not all(isinstance(text, str) for text in (kind, message, *bases)):
        raise TypeError("The kind, the message and the classes of an exception are texts.")
    line, column = (place if type(place) is int and place > 0 else None for place in (data["line"], data["column"]))
    names = tuple(base[: driver.MAX_NAME] for base in bases[: driver.MAX_BASES])
    return Problem(kind[: driver.MAX_NAME], message[: driver.MAX_MESSAGE], line, column, names)


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


@dataclass(frozen=True)
class CheckReport:
    """The result of one check of a file against the tasks of a course, up to one of them.

    passed    the key of each task -> whether all of its checks passed; tasks after the first that fails are not run
    checks    the name of each check of the last task that was run -> whether it passed, None if it was not run
    problem   the exception that the file raised while it was loaded
    stopped   why the process ended without an answer, a sentence, or ""
    """

    passed: Mapping[str, bool]
    checks: Mapping[str, bool | None] = field(default_factory=dict)
    failure: FailedCheck | None = None
    problem: Problem | None = None
    stopped: str = ""
    line: int | None = None

    def __bool__(self) -> bool:
        return bool(self.passed) and all(self.passed.values())


def check(
    course: Course,
    key: str,
    source: str,
    runner: Runner,
    seed: int,
    begins: Begins = lambda task, one: None,
) -> CheckReport:
    """Check a learner's text against the tasks of a course, in order, up to the one with the given key.

    The cases are drawn from `seed`. `begins` is called before each check. Raises KeyError for an unknown key.
    """
    tasks = course.up_to(key)
    passed: dict[str, bool] = {}
    checks: dict[str, bool | None] = {}
    with ThreadPoolExecutor(1) as aside:  # runs the reference while the learner's process answers
        try:
            if problem := runner.load(source, course.file, course.modules):
                return CheckReport({tasks[0].key: False}, problem=problem, line=problem.line)
            reference = _loaded(course.reference, course.file)
            for task in tasks:
                checks = dict.fromkeys((one.name for one in task.checks), None)
                passed[task.key] = False
                ran: list[_Run] = []
                for number, one in enumerate(task.checks):
                    begins(task, one)
                    cases = list(_cases(one, np.random.default_rng([seed, number])))
                    right = aside.submit(_expected, reference, one, cases)
                    got = _answers(runner, one, cases)
                    expected = right.result()
                    ran.append(_Run(one, cases, got, expected))
                    checks[one.name] = all(agree(one, *pair) for pair in zip(got, expected, strict=True))
                    if not checks[one.name]:
                        with contextlib.suppress(StoppedError):  # then the report has no smaller case
                            if not one.slow:
                                # a fresh load: the cases may have changed the state of the learner's module
                                runner.load(source, course.file, course.modules)
                        failure = _explain(course, task, ran, runner, reference)
                        with contextlib.suppress(StoppedError):
                            if not one.slow:
                                runner.load(source, course.file, course.modules)
                                runner.run([Job(one.program, failure.inputs, one.shows)])
                                failure = replace(failure, alone=True)
                        failure = _own_raise(failure, source)
                        line = failure.problem.line if failure.problem else None
                        return CheckReport(passed, checks, failure, line=line)
                passed[task.key] = True
        except StoppedError as stopped:
            return CheckReport(passed or {tasks[0].key: False}, checks, stopped=str(stopped), line=stopped.line)
    return CheckReport(passed, checks)


def _own_raise(failure: FailedCheck, source: str) -> FailedCheck:
    """Add a remark if the exception comes from a `raise` of the learner's own, as in a guard that refuses too much."""
    problem = failure.problem
    if problem is None or problem.line is None or failure.mistake:
        return failure
    try:
        raises = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Raise)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # this process may have a smaller stack
        return failure
    if not any(node.lineno <= problem.line <= (node.end_lineno or node.lineno) for node in raises):
        return failure
    said = f"`{problem.kind}: {problem.message}`" if problem.message else f"`{problem.kind}`"
    return replace(failure, looks_like=f"Line {problem.line} raises {said}. This program is right and should run.")


@dataclass(frozen=True)
class _Run:
    """A check, its cases, and the answers of the learner's code and of the reference to each."""

    check: Check
    cases: Sequence[Job]
    got: Sequence[Answer]
    right: Sequence[Answer]


def _expected(reference: LocalRunner, one: Check, cases: Sequence[Job]) -> list[Answer]:
    return [Answer(verdict="")] * len(cases) if one.slow else _answers(reference, one, cases)


def _loaded(source: str, file: str) -> LocalRunner:
    here = LocalRunner()
    if problem := here.load(source, file):
        raise RuntimeError(f"{file}: {problem}")
    return here


def _cases(one: Check, rng: np.random.Generator) -> Iterator[Job]:
    for number in range(one.cases):
        inputs = one.inputs(rng, number % SIZES)
        yield Job(one.program_for(inputs), inputs, one.shows, one.secret + one.decides)


def _answers(runner: Runner, one: Check, jobs: Sequence[Job]) -> list[Answer]:
    """Run jobs and return their answers, with the verdict of the check's judge, if it has one."""
    answers = runner.run(jobs)
    if one.judge is None:
        return answers
    return [replace(result, verdict=_verdict(one, job, result)) for job, result in zip(jobs, answers, strict=True)]


def _verdict(one: Check, job: Job, result: Answer) -> str | None:
    assert one.judge
    if result.problem and not {*one.refusals} & {*result.problem.bases}:
        return None
    try:
        return one.judge(job.inputs, {} if result.problem else result.values)
    except Exception:  # a value may be anything, and a judge relies on what the task asks for
        return f"{' or '.join(f'`{show}`' for show in one.shows)} is not what the task asks for."


def agree(one: Check, got: Answer, expected: Answer) -> bool:
    """Return whether two answers agree, within the tolerance of the check. Exceptions agree if their kinds do; with a
    judge, the verdicts are compared instead of the values."""
    if "" in (got.verdict, expected.verdict):
        return got.verdict == expected.verdict
    if (got.problem and got.problem.kind) != (expected.problem and expected.problem.kind):
        return False
    return got.values.keys() == expected.values.keys() and all(
        same(got.values[show], value, one.rtol) for show, value in expected.values.items()
    )


def same(got: Any, expected: Any, rtol: float) -> bool:
    """Return whether two values are equal: in shape, and each number within `rtol` of the largest one; nan equals nan.
    Numbers that cancel may differ by rounding: by 2e-9 for an rtol of 1e-6, 2e-6 for the 1e-4 of float32."""
    if type(got) is type(expected) is float:  # the commonest values: without arrays it takes a tenth of the time
        size = abs(expected) if math.isfinite(expected) else 0
        near = abs(got - expected) <= max(rtol * size, 2 * rtol**1.5)
        return got == expected or near or (math.isnan(got) and math.isnan(expected))
    wrong = wrong_elements(got, expected, rtol)
    return not wrong.any() if wrong is not None else False


def wrong_elements(got: Any, expected: Any, rtol: float) -> np.ndarray | None:
    """Return which elements of two values differ, a boolean array; None if they cannot be compared one by one."""
    if isinstance(expected, dict) and isinstance(got, dict):
        equal = got.keys() == expected.keys() and all(same(got[key], expected[key], rtol) for key in expected)
        return np.array(not equal)
    if isinstance(expected, (bool, str, dict, type(None))) or isinstance(got, (bool, str, dict, type(None))):
        return np.array(type(got) is not type(expected) or got != expected)
    if isinstance(expected, list) or isinstance(got, list):
        if type(got) is not type(expected) or len(got) != len(expected):
            return None
        return np.array([not same(*pair, rtol) for pair in zip(got, expected, strict=True)], bool)
    if np.shape(got) != np.shape(expected) or _is_float32(expected) > _is_float32(got):
        return None
    a, b = np.asarray(got, float), np.asarray(expected, float)
    if (a == b).all():
        return np.zeros(a.shape, bool)
    finite = np.abs(b[np.isfinite(b)])
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf, and the difference of two huge numbers
        near = np.abs(a - b) <= max(rtol * finite.max(initial=0), 2 * rtol**1.5)
        return np.asarray(~((a == b) | near | np.isnan(a) & np.isnan(b)))


def _is_float32(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float32


# -- The smallest case that fails, and why it fails --------------------------------------------------------------------


def _explain(course: Course, task: Task, ran: Sequence[_Run], runner: Runner, reference: LocalRunner) -> FailedCheck:
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
    written, sentence = _overwritten(course, task, one, job, (mine, right), runner)
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
        failed = [(got[number].values.get(show), expected[number].values.get(show)) for number in failing]
        looks = _remark(show, (value, wanted), failed, one.rtol)
        if not looks and not one.slow and all(show in each.values for each in (*got, *expected)):
            mistake = _find_formula(ran[-1], show, reference)
    wrong = _marked(value, wanted, one.rtol) if numbers else None
    numerical = _numerical(one, job, show, reference)
    return FailedCheck(task.key, one, given, show, value, wanted, wrong, numerical, problem, mistake, looks_like=looks)


def _remark(show: str, shown: tuple[Any, Any], failed: Sequence[tuple[Any, Any]], rtol: float) -> str:
    """Describe what is striking about a wrong value that is shown, and about those of the other cases: pairs of the
    learner's value and the right one."""
    differ = [pair for pair in failed if not same(*pair, rtol)]
    looks = resemblance(show, *shown, rtol, differ)
    return looks or (pattern([shown, *differ], rtol) if len(differ) > 1 else "")


def _marked(value: Any, wanted: Any, rtol: float) -> np.ndarray | None:
    """Return which elements of a value are wrong; of a list of another length, those that differ, if any do."""
    wrong = wrong_elements(value, wanted, rtol)
    if wrong is not None or not isinstance(value, list) or not isinstance(wanted, list):
        return wrong
    fits = [same(*pair, rtol) for pair in zip(value, wanted, strict=False)]
    wrong = ~np.array(fits + [False] * (len(value) - len(fits)), bool)
    return wrong if wrong.any() else None


def _overwritten(
    course: Course, task: Task, one: Check, job: Job, pairs: tuple[Answer, Answer], runner: Runner
) -> tuple[str, str]:
    """Return the expression whose value the learner's code has written over, and a sentence about it, or "" twice.
    pairs: the learner's answer and the right one."""
    mine, right = pairs
    earlier = [check for before in course.up_to(task.key)[:-1] for check in before.checks]
    earlier += task.checks[: task.checks.index(one)]
    wrong = [show for show in one.shows if show in mine.values and not _fits(one, show, mine, right)]
    for show in wrong:
        if show in right.values and (
            sentence := overwritten(one, show, job.inputs, right.values[show], earlier)
            or _changed_by_rule(one, show, job, right, runner)
        ):
            return show, sentence
    return "", ""


def _changed_by_rule(one: Check, show: str, job: Job, right: Answer, runner: Runner) -> str:
    """Say that the backward pass changes the result's data, if it is right before that pass and wrong after it."""
    before = forward_part(one.program)
    if show != one.output or one.slow or not before:
        return ""
    with contextlib.suppress(StoppedError):
        (answer,) = runner.run([replace(job, program=before, shows=(show,))])
        if _fits(one, show, answer, right):
            return f"The rule changes the result itself: `{show}` is right before the way back and wrong after it."
    return ""


def _find_formula(ran: _Run, show: str, reference: LocalRunner) -> Mistake | None:
    """Find a formula that gives the learner's value of `show` in every case, from the inputs and what they became."""
    names = dict.fromkeys(
        node.id
        for node in ast.walk(ast.parse(ran.check.program))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    quantities = {}
    for text in (*ran.cases[0].inputs, *(f"{name}.{part}" for name in names for part in ("data", "grad"))):
        answers = reference.run([replace(case, shows=(text,), secret=()) for case in ran.cases])
        values = [each.values.get(text) for each in answers]
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
    course: Course, task: Task, ran: Sequence[_Run], runner: Runner, reference: LocalRunner
) -> Mistake | None:
    """Find a mistake with which the reference gives the learner's answers to every check of this task so far.

    It must also pass every later check that the learner's code passes. Mistakes listed with the task are tried first,
    those that give the learner's answers to the later checks before the others, then variants made by rule. If none
    passes those, a listed mistake may still be one of several. Those of earlier tasks are excluded: their checks
    passed.
    """
    quick = [one for one in reversed(ran) if not one.check.slow]  # the failed check first: it excludes the most
    later = list(_run_later(task, len(ran), runner, reference))
    known = [mistake for mistake in task.mistakes if _explains(course, task, mistake, quick)]
    known.sort(key=lambda mistake: not _explains(course, task, mistake, later))
    by_rule = (mistake for mistake in variants(course, task) if _explains(course, task, mistake, quick))
    if quick[0].got[0].problem:  # many mistakes end in the same exception
        by_rule = (mistake for mistake in by_rule if mistake.key == NO_RULE)
    fitting = (mistake for mistake in itertools.chain(known, by_rule) if _fits_later(course, task, mistake, later))
    return next(fitting, known[0] if known else None)


def _run_later(task: Task, done: int, runner: Runner, reference: LocalRunner) -> Iterator[_Run]:
    """Run the remaining checks of a task and yield both sides' answers, until one ends the learner's process."""
    with contextlib.suppress(StoppedError):
        for one in (each for each in task.checks[done:] if not each.slow):
            cases = list(_cases(one, np.random.default_rng(0)))
            yield _Run(one, cases, _answers(runner, one, cases), _answers(reference, one, cases))


def _fits_later(course: Course, task: Task, mistake: Mistake, later: Sequence[_Run]) -> bool:
    """Return whether the reference with this mistake passes every later check that the learner's code passes."""
    text = _variant(course, task, mistake)
    for one in later:
        given = _answers(_loaded(text, course.file), one.check, one.cases)
        fails, learner_fails = (
            not all(agree(one.check, *pair) for pair in zip(each, one.right, strict=True)) for each in (given, one.got)
        )
        if fails > learner_fails:
            return False
    return True


def _explains(course: Course, task: Task, mistake: Mistake, ran: Sequence[_Run]) -> bool:
    """Return whether the reference with this mistake gives the learner's answers."""
    text = _variant(course, task, mistake)
    for one in ran:
        runner = LocalRunner()  # a new one for each check: a case may change the module's state
        if runner.load(text, course.file, course.modules):
            return False
        for case, mine in zip(one.cases, one.got, strict=False):
            (other,) = _answers(runner, one.check, [case])
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
        rights = _answers(reference, one, smaller)
        usable = [pair for pair in zip(smaller, rights, strict=True) if not pair[1].problem or expected.problem]
        if not usable:
            break
        mine = _answers(runner, one, [case for case, _ in usable])
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


def resemblance(show: str, got: Any, expected: Any, rtol: float, others: Sequence[tuple[Any, Any]] = ()) -> str:
    """Describe in one sentence what is striking about a wrong value, such as its shape or type; "" if nothing is.

    show    the expression whose value it is
    others  (got, expected) in other failing cases: a small case may be 0 by chance
    """
    if got is None and expected is not None:
        return _none(show, expected)
    if isinstance(got, dict) and got.keys() == {"type"}:  # a value that the driver could not encode
        return f"It is of another type: `{got['type']}`."
    if isinstance(got, list) and isinstance(expected, list):
        return _list_remark(show, got, expected)
    if isinstance(got, (str, bool)) and isinstance(expected, (str, bool)):
        return f"It is {got!r} and should be {expected!r}."
    if not isinstance(got, NUMBERS) or not isinstance(expected, NUMBERS):
        return ""
    a, b = np.asarray(got, float), np.asarray(expected, float)
    if a.shape != b.shape:
        if a.T.shape == b.shape and same(a.T, b, rtol):
            return "It is the transpose of what it should be."
        return f"Its shape is {a.shape} and should be {b.shape}."
    if np.isnan(a).any() and not np.isnan(b).any():
        return "It is nan where a number should be."
    if np.isinf(a).any() and np.isfinite(b).all():
        return "It is infinite where a number should be: something overflowed, or was divided by 0, or is log(0)."
    if not a.any() and not any(not isinstance(each, NUMBERS) or np.any(each) for each, _ in others):
        return "It is 0 everywhere." if a.ndim else "It is 0."
    return ""


def _list_remark(show: str, got: list[Any], expected: list[Any]) -> str:
    """Describe a list with other items, fewer, or in another order. Children in a set are a common cause."""
    children = "_children" in show
    if len(got) != len(expected):
        if children and {*map(repr, got)} == {*map(repr, expected)} and len(got) == len({*map(repr, got)}):
            return "It has each item only once, but one belongs there twice. A set does that: use a tuple."
        return f"Its length is {len(got)} and should be {len(expected)}."
    if sorted(map(repr, got)) == sorted(map(repr, expected)):
        return "It has the right items in the wrong order." + " A set has no order: use a tuple." * children
    return ""


def _none(show: str, expected: Any) -> str:
    """Describe a value that is None and should not be."""
    if show.endswith(".grad"):
        return "It is None: no gradient has arrived there."
    if isinstance(expected, (str, bool, list, dict)):
        return f"It is None and should be {expected!r}." if not isinstance(expected, dict) else "It is None."
    return "It is None: it was never set, or a function ended without `return`."


def pattern(pairs: Sequence[tuple[Any, Any]], rtol: float) -> str:
    """Describe what all wrong values have in common, such as a wrong sign or factor; "" if nothing. The (got, expected)
    pairs come from several cases, as a single small one may differ by a sign or a factor by chance."""
    if not all(isinstance(each, NUMBERS) and not isinstance(each, bool) for pair in pairs for each in pair):
        return ""
    arrays = [(np.asarray(got, float), np.asarray(expected, float)) for got, expected in pairs]
    if any(a.shape != b.shape or not np.isfinite(a).all() for a, b in arrays):
        return ""
    if all(same(-a, b, rtol) for a, b in arrays):
        array = arrays[0][0].ndim > 0
        return "Every element has the wrong sign." if array else "The number is right and its sign is wrong."
    if all(same(a.T, b, rtol) for a, b in arrays):
        return "It is the transpose of what it should be."
    a, b = (np.concatenate([each.ravel() for each in side]) for side in zip(*arrays, strict=True))
    ratios = a[b != 0] / b[b != 0]
    if len(ratios) < 2 or a[b == 0].any() or not ratios[0] or not np.allclose(ratios, ratios[0], rtol=1e-9):
        return ""
    if min(abs(each - round(each)) for each in (ratios[0], 1 / ratios[0])) > 1e-9:
        return ""
    return f"{'Every element' if arrays[0][0].ndim else 'It'} is {ratios[0]:.4g} times what it should be."
