"""The checker on a course of two tasks that stands here: what passes, what fails, on which case, and under what name."""

import time
from dataclasses import replace

import numpy as np
import pytest

from lab.practice import driver, mistakes
from lab.practice.checker import check
from lab.practice.comparison import resemblance, same
from lab.practice.runner import Answer, Job, LocalRunner, Problem, StoppedError, problem
from practice.task import Check, Course, Mistake, Task

REFERENCE = """
import numpy as np

# task: double
def double(x):
    return 2 * x

# task: bias
def bias(x, b, grad):
    out = x + b
    return out, grad, grad.sum(axis=0)
"""
DOUBLE = Task(
    "double",
    "Twice",
    "Write `double(x)`.",
    (Check("Any number", "y = double(x)", ("y",), lambda rng, size: {"x": rng.normal()}),),
    (
        Mistake("square", "x**2 is not 2x.", (("2 * x", "x**2"),)),
        Mistake("half", "That halves.", (("2 * x", "x / 2"),)),
    ),
    ("Think of addition.",),
)


def _bias(rng, size):
    rows, columns = rng.integers(2, 3 + size, 2)
    return {"x": rng.normal(size=(rows, columns)), "b": rng.normal(size=columns), "v": rng.normal(size=(rows, columns))}


BIAS = Task(
    "bias",
    "A bias",
    "Write `bias(x, b, grad)`.",
    (
        Check(
            "The gradient of b",
            "out, dx, db = bias(x, b, v)",
            ("out", "dx", "db"),
            _bias,
            output="out",
            upstream="v",
            derivatives={"dx": "x", "db": "b"},
        ),
    ),
    (
        Mistake("not summed", "b was copied along an axis: sum along it.", (("grad.sum(axis=0)", "grad"),)),
        Mistake("averaged", "A copy is not an average.", (("grad.sum(axis=0)", "grad.mean(axis=0)"),)),
    ),
    ("Which axis was copied?",),
)


@pytest.fixture
def course(tmp_path):
    (tmp_path / "reference.py").write_text(REFERENCE, "utf-8")
    (tmp_path / "starter.py").write_text("import numpy as np\n", "utf-8")
    return Course("small", "Small", "Does it work?", tmp_path, (DOUBLE, BIAS))


def test_the_reference_passes(course):
    report = check(course, "bias", course.reference, LocalRunner(), 0)
    assert report
    assert report.passed == {"double": True, "bias": True}


def test_the_lines_of_a_task(course):
    assert course.lines_of("double") == "def double(x):\n    return 2 * x\n"


@pytest.mark.parametrize(
    ("key", "mistake"), [(task.key, mistake) for task in (DOUBLE, BIAS) for mistake in task.mistakes]
)
def test_a_known_mistake_is_named(course, key, mistake):
    report = check(course, key, course.with_mistake(mistake), LocalRunner(), 0)
    assert not report
    assert report.failure.mistake == mistake


def test_a_mistake_that_fails_another_check_is_not_named(tmp_path):
    (tmp_path / "reference.py").write_text("def both(a, b):\n    return a + b\n", "utf-8")
    checks = (
        Check("Of 0 and b", "y = both(0, b)", ("y",), lambda rng, size: {"b": rng.normal()}),
        Check("Of a and 0", "y = both(a, 0)", ("y",), lambda rng, size: {"a": rng.normal()}),
    )
    neither = Mistake("neither", "Both are lost.", (("return a + b", "return 0.0"),))
    second = Mistake("second", "a is lost.", (("return a + b", "return 0.0 + b"),))
    task = Task("both", "Both", "Write `both(a, b)`.", checks, (neither, second), ("Think.",))
    course = Course("sums", "Sums", "?", tmp_path, (task,))
    for mistake in (neither, second):
        assert check(course, "both", course.with_mistake(mistake), LocalRunner(), 0).failure.mistake == mistake


@pytest.mark.parametrize("tasks", [1, 2])
def test_a_mistake_that_would_have_failed_before_is_not_named(tmp_path, tasks):
    """In a check of the same task, or in the task before."""
    (tmp_path / "reference.py").write_text("def both(a, b):\n    return a + b\n", "utf-8")
    first = Check("Of 0 and b", "y = both(0, b)", ("y",), lambda rng, size: {"b": rng.normal()})
    then = Check("Of a and 0", "y = both(a, 0)", ("y",), lambda rng, size: {"a": rng.normal()})
    neither = Mistake("neither", "Both are lost.", (("return a + b", "return 0.0"),))
    split = ((first, then),) if tasks == 1 else ((first,), (then,))
    steps = [Task(f"step{n}", "", "", checks, (neither,) * (n == 0), ()) for n, checks in enumerate(split)]
    wrong = "def both(a, b):\n    return b if a == 0 else 0.0\n"
    failure = check(Course("sums", "Sums", "?", tmp_path, (*steps,)), steps[-1].key, wrong, LocalRunner(), 0).failure
    assert (failure.check, failure.mistake) == (then, None)


def test_a_mistake_of_a_task_that_passed_is_not_named(tmp_path):
    """Two bugs may come to the same numbers. What passed its own checks is not to blame."""
    (tmp_path / "reference.py").write_text(
        "def one(a):\n    return a\n\n\ndef two(a):\n    return one(a) + a\n", "utf-8"
    )
    number = {"inputs": lambda rng, size: {"a": rng.normal()}}
    lost = Mistake("lost", "`one` loses a.", (("return a\n", "return 0 * a\n"),))
    first = Task("one", "One", "`one(a)` is a.", (Check("One", "y = one(a)", ("y",), **number),), (lost,), ("Think.",))
    second = Task("two", "Two", "`two(a)` is 2a.", (Check("Two", "y = two(a)", ("y",), **number),), (), ("Think.",))
    course = Course("sums", "Sums", "?", tmp_path, (first, second))
    failure = check(course, "two", course.reference.replace("one(a) + a", "a"), LocalRunner(), 0).failure
    assert (failure.task, failure.mistake.key) == ("two", "formula")


def test_of_a_list_of_another_length_only_what_is_wrong_is_marked(tmp_path):
    (tmp_path / "reference.py").write_text("def some():\n    return [3, 2, 1]\n", "utf-8")
    task = Task("some", "Some", "Write `some()`.", (Check("Some", "y = some()", ("y", "y.count(2)")),), (), ("Think.",))
    course = Course("lists", "Lists", "?", tmp_path, (task,))
    for answer, wrong in (("[3, 2, 1, 1]", [False] * 3 + [True]), ("[3, 9]", [False, True]), ("[3, 2]", None)):
        failure = check(course, "some", f"def some():\n    return {answer}\n", LocalRunner(), 0).failure
        assert (None if failure.wrong is None else failure.wrong.tolist()) == wrong


def test_the_case_that_is_shown_is_small_and_stands_beside_finite_differences(course):
    wrong = course.reference.replace("grad.sum(axis=0)", "grad.sum(axis=0) + (len(grad) > 1)")
    failure = check(course, "bias", wrong, LocalRunner(), 0).failure
    assert (failure.show, failure.mistake) == ("db", None)
    assert failure.inputs["x"].shape == (2, 1)
    assert np.array_equal(failure.inputs["v"], np.round(failure.inputs["v"]))
    np.testing.assert_allclose(failure.numerical, failure.expected, rtol=1e-6)
    assert failure.wrong.tolist() == [True]


@pytest.mark.parametrize("rule", ["np.log(x)", "np.maximum(x, 0)"])
def test_the_case_that_is_shown_is_one_where_finite_differences_agree_with_the_reference(tmp_path, rule):
    slope = "1 / x" if "log" in rule else "(x > 0)"
    reference = f"import numpy as np\ndef both(x, v):\n    return {rule}, {slope} * v\n"
    (tmp_path / "reference.py").write_text(reference, "utf-8")
    one = Check(
        "A rule",
        "y, dx = both(x, v)",
        ("y", "dx"),
        lambda rng, size: {"x": rng.uniform(0.1, 0.4, 3), "v": rng.uniform(1, 2, 3)},
        output="y",
        upstream="v",
        derivatives={"dx": "x"},
    )
    course = Course("kinks", "Kinks", "?", tmp_path, (Task("rule", "A rule", "", (one,), (), ()),))
    failure = check(course, "rule", reference.replace(f"{slope} * v", "7 * v"), LocalRunner(), 0).failure
    assert failure.inputs["x"].size == 1
    np.testing.assert_allclose(failure.numerical, failure.expected, rtol=1e-4)


def test_a_failure_is_told_although_the_process_ends_before_a_smaller_case_is_found(course):
    class Ending(LocalRunner):
        def load(self, source, file, modules=()):
            self.loaded = hasattr(self, "loaded")
            return super().load(source, file, modules)

        def run(self, jobs):
            if self.loaded:  # anew, in order to look for a smaller case
                raise StoppedError("The time is over.")
            return super().run(jobs)

    report = check(course, "double", course.reference.replace("2 * x", "2 * x + 1"), Ending(), 0)
    assert (report.stopped, report.failure.show, report.checks) == ("", "y", {"Any number": False})


def test_a_file_that_cannot_be_loaded_is_told_with_its_line(course):
    report = check(course, "double", "import numpy as np\ndef double(x:\n", LocalRunner(), 0)
    assert (report.problem.kind, report.line) == ("SyntaxError", 2)


@pytest.mark.parametrize("place", [-5, 0, 1.5, None, "3"])
def test_a_place_that_no_text_has_is_none(place):
    said = problem({"kind": "SyntaxError", "message": "x", "line": place, "column": place})
    assert (said.line, said.column) == (None, None)


@pytest.mark.parametrize("text", ["_" * 25_000, "(" * 25_000, "(1,," * 9_000, "missing 1" * 3_000, "__a__() " * 3_000])
def test_an_exception_of_any_length_is_cut_and_read_in_one_pass(text):
    """A text of four times the length takes four times as long, not sixteen times."""
    bases = [text] * 1000
    said = problem({"kind": text, "message": text, "line": None, "column": None, "bases": bases})
    assert max(map(len, (said.kind, *said.bases))) <= driver.MAX_NAME
    assert (len(said.message), len(said.bases)) == (driver.MAX_MESSAGE, driver.MAX_BASES)

    def seconds(message):
        answer = Answer(problem=Problem("TypeError", message))
        times = []
        for _ in range(5):
            start = time.process_time()
            mistakes._message(answer)
            times.append(time.process_time() - start)
        return min(times)

    message = f"broadcast {text}"
    assert seconds(message) < 9 * seconds(message[: len(message) // 4]) + 0.001


def test_an_exception_is_told_with_the_line_of_the_file(course):
    report = check(course, "double", "def double(x):\n    return x.twice\n", LocalRunner(), 0)
    assert (report.failure.problem.kind, report.line) == ("AttributeError", 2)


def test_a_later_task_is_not_run_before_the_first_passes(course):
    report = check(course, "bias", "def double(x): return 2 * x\n", LocalRunner(), 0)
    assert report.passed == {"double": True, "bias": False}
    assert report.checks == {"The gradient of b": False}


def _judged(inputs, values):
    return "" if abs(values["root"] ** 2 - inputs["square"]) < 1e-6 else f"The square of {values['root']} is another."


ROOT = Check(
    "Either root",
    "root = find(square)",
    ("root",),
    lambda rng, size: {"square": float(size + 2), "hidden": 1.0},
    judge=_judged,
    secret=("hidden",),
)
WHOLE = Mistake("whole", "A root need not be whole.", (("square**0.5", "round(square**0.5)"),))
ROOTS = "def find(square):\n    return square**0.5\n"


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize(
    ("source", "passes"),
    [
        (ROOTS, True),
        (ROOTS.replace("return ", "return -"), True),
        (ROOTS.replace("square**0.5", "round(square**0.5)"), False),
        ("def find(square):\n    return hidden\n", False),
    ],
)
def test_a_judge_decides_where_several_answers_are_right(tmp_path, source, passes, slow):
    (tmp_path / "reference.py").write_text(ROOTS, "utf-8")
    task = Task("root", "A root", "Write `find(square)`.", (replace(ROOT, slow=slow),), (WHOLE,), ("Think.",))
    report = check(Course("roots", "Roots", "?", tmp_path, (task,)), "root", source, LocalRunner(), 0)
    assert bool(report) is passes
    if "round" in source:
        assert report.failure.looks_like == "The square of 1 is another."
        assert report.failure.inputs == {"square": 2.0}
        assert report.failure.mistake == (None if slow else WHOLE)
    elif not passes:
        assert report.failure.problem.kind == "NameError"  # what is secret did not come to the program


def test_a_known_mistake_may_overflow_in_silence(course):
    here = LocalRunner()
    here.load("import numpy as np\n", "here.py")
    (said,) = here.run([Job("y = np.exp(np.array([1e4]))", {}, ("y",))])
    assert said.values["y"].tolist() == [np.inf]


@pytest.mark.parametrize(
    ("got", "expected", "equal"),
    [
        (1, 1.0, True),
        (True, 1.0, False),
        ("a", "a", True),
        (np.ones(2), np.ones((2, 1)), False),
        (None, 0.0, False),
        (np.nan, np.nan, True),
        (np.inf, np.inf, True),
        (np.inf, 1.0, False),
        ([1.0, 2], [1, 2], True),
        ([1], [1, 2], False),
        (1e-9, 0.0, True),
        (1.00001, 1.0, False),
        (3e-7, 2e-7, False),
        (np.array([2e-8, 0]), np.zeros(2), False),
    ],
)
def test_what_counts_as_the_same(got, expected, equal):
    assert same(got, expected, 1e-6) is equal


@pytest.mark.parametrize("got", [0.0, 1.0, 1.0000005, 1.1, 1e-9, 1e308, -1e308, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("expected", [0.0, 1.0, 1e-3, 1e308, np.inf, -np.inf, np.nan])
def test_a_number_counts_as_an_array_of_it_does(got, expected):
    """It is compared without arrays, which is quicker."""
    assert same(float(got), float(expected), 1e-6) is same(np.array([got]), np.array([expected]), 1e-6)


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (np.zeros((2, 2)), "0 everywhere"),
        (np.ones(2), "shape is (2,)"),
        (np.full((2, 2), np.nan), "nan"),
        (np.full((2, 2), np.inf), "infinite"),
        (None, "is None"),
    ],
)
def test_what_strikes_one(got, said):
    assert said in resemblance("y", got, np.arange(1.0, 5).reshape(2, 2), 1e-6)


@pytest.mark.parametrize(
    ("show", "expected", "said"),
    [
        ("w1.grad", np.ones(2), "It is None: no gradient has arrived there."),
        ("a._op", "", "It is None and should be ''."),
        ("y", 2.0, "It is None: it was never set, or a function ended without `return`."),
    ],
)
def test_what_is_said_of_none_depends_on_what_is_shown(show, expected, said):
    assert resemblance(show, None, expected, 1e-6) == said


def test_a_value_is_called_0_only_if_it_is_0_in_every_failing_case():
    assert resemblance("y", 0.0, 1.0, 1e-6, [(0.0, 2.0)]) == "It is 0."
    assert resemblance("y", 0.0, 1.0, 1e-6, [(0.0, 2.0), (1.0, 2.0)]) == ""


WITH_A_RULE = """
class Tensor:
    def __init__(self, data):
        self.data, self.grad = data, None


def doubled(x):
    out = Tensor(2 * x.data)

    def _backward():
        x.grad = 2 * out.grad

    out._backward = _backward
    return out
"""


@pytest.mark.parametrize(
    ("old", "new", "show", "said"),
    [
        ("out = Tensor(2 * x.data)", "x.data *= 2; out = Tensor(x.data)", "a.data", "changes its first operand"),
        ("x.grad = 2 * out.grad", "out.grad *= 2; x.grad = out.grad", "out.grad", "changes the upstream gradient"),
        ("x.grad = 2 * out.grad", "x.grad = 2 * out.grad + 1", "a.grad", ""),
        ("out = Tensor(2 * x.data)", "out = Tensor(2 * x.data + 1)", "out.data", ""),
    ],
)
def test_a_value_that_the_code_has_written_over_is_named(tmp_path, old, new, show, said):
    (tmp_path / "reference.py").write_text(WITH_A_RULE, "utf-8")
    one = Check(
        "A rule",
        "a = Tensor(x)\nout = doubled(a)\nout.grad = v\nout._backward()",
        ("out.data", "a.grad", "out.grad", "a.data"),
        lambda rng, size: {"x": rng.uniform(1, 2, 3), "v": rng.uniform(1, 2, 3)},
        output="out.data",
    )
    course = Course("rules", "Rules", "?", tmp_path, (Task("rule", "A rule", "", (one,), (), ()),))
    failure = check(course, "rule", WITH_A_RULE.replace(old, new), LocalRunner(), 0).failure
    assert failure.show == show
    if said:
        assert said in failure.mistake.sentence
    else:
        assert not failure.mistake or "changes" not in failure.mistake.sentence


def test_of_a_list_that_is_too_short_its_length_strikes_one():
    assert resemblance("y", [1.0], [1.0, 2.0], 1e-6) == "Its length is 1 and should be 2."
