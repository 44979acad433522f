"""A check in the background, with real processes: it says what it is at, ends, and can be stopped."""

import contextlib
import time
from concurrent.futures import Future

import psutil
import pytest

from lab.practice import isolation, stop_reasons
from lab.practice.background import YOU_STOPPED
from lab.practice.judge_processes import Checking, Judges
from lab.practice.render_report import render_report
from lab.practice.runner import StoppedError
from practice import COURSES

COURSE = COURSES["scalars"]
pytestmark = pytest.mark.skipif(bool(isolation.unavailable()), reason=isolation.unavailable())
DONE = 120.0  # seconds, on however busy a machine


@pytest.fixture(scope="module")
def class_judges():
    with contextlib.closing(Judges(2)) as judges:
        yield judges


@pytest.fixture
def judges(class_judges):
    return lambda visitor="ada": class_judges.judge(visitor)


def test_a_check_ends_with_its_report_and_what_was_printed(judges):
    checking = Checking(COURSE, "add", COURSE.reference + "\nprint('from the file')\n", 0, judges)
    checking.wait(DONE)
    assert checking.done
    assert checking.report.passed == {"value": True, "add": True}
    assert "from the file" in checking.printed
    assert (checking.at, checking.share) == ("Addition: A number on the left", 0.5)


def test_of_checks_that_run_the_same_lines_it_names_the_one_that_is_run(judges):
    course = COURSES["tensors"]
    wrong = course.reference.replace("return grad.sum(axis=stretched, keepdims=True)", "return grad")
    checking = Checking(course, "unbroadcast", wrong, 0, judges)
    checking.wait(DONE)
    assert checking.report.checks["A column, copied to every column"] is False
    assert checking.at == "Sum what was copied: A column, copied to every column"


def test_of_a_case_that_fails_only_its_own_output_is_kept(judges):
    wrong = COURSE.reference.replace(
        "    def __mul__(self, other):\n", "    def __mul__(self, other):\n        print('mul')\n"
    )
    wrong = wrong.replace("self.grad += other.data * out.grad", "self.grad += print('back', other.data) or out.grad")
    assert "back" in wrong
    checking = Checking(COURSE, "arithmetic", f"print('read')\n{wrong}", 0, judges)
    checking.wait(DONE)
    assert checking.report.failure.alone
    factor = checking.report.failure.inputs["q"]
    assert checking.printed == f"read\nmul\nback {factor}\n"
    shown = render_report(COURSE, "arithmetic", checking.report, checking.printed)
    assert shown["printedWhen"] == "while its file was loaded and in this case"
    checking = Checking(COURSE, "arithmetic", f"{COURSE.reference}\nprint('read')\n1 / 0\n", 0, judges)
    checking.wait(DONE)
    shown = render_report(COURSE, "arithmetic", checking.report, checking.printed)
    assert (shown["printed"], shown["printedWhen"]) == ("read\n", "while its file was loaded")


def test_a_check_that_is_stopped_says_so(judges):
    checking = Checking(COURSE, "value", "while True:\n    pass\n", 0, judges)
    checking.stop()
    checking.wait(DONE)
    assert not checking.report
    assert checking.report.stopped in (YOU_STOPPED, stop_reasons.STOPPED)


def test_what_keeps_a_process_from_starting_is_said():
    class Refusing:
        def __enter__(self):
            raise StoppedError("Too many.")

        def __exit__(self, *error):
            pass

    checking = Checking(COURSE, "value", "", 0, Refusing)
    checking.wait(DONE)
    assert checking.report.stopped == "Too many."


def test_a_fault_of_the_check_itself_reaches_who_asks():
    def broken() -> Future:
        raise OSError("no processes here")

    checking = Checking(COURSE, "value", "", 0, broken)
    checking.wait(DONE)
    with pytest.raises(OSError, match="no processes"):
        checking.report  # noqa: B018


def test_a_check_is_judged_in_another_process(judges):
    """Naming a mistake takes seconds, in which no page may wait for this process."""
    wrong = COURSE.reference.replace("self.grad += out.grad\n", "self.grad += 1.5\n")
    own, theirs = time.process_time(), busy_children()
    checking = Checking(COURSE, "add", wrong, 0, judges)
    checking.wait(DONE)
    assert not checking.report
    assert checking.report.failure.check is COURSE.tasks[1].checks[1]
    assert time.process_time() - own < (busy_children() - theirs) / 4


def busy_children():
    """The processor time of all processes that this one has started and that still run."""
    return sum(sum(child.cpu_times()[:2]) for child in psutil.Process().children(recursive=True))


def test_endless_checks_of_one_visitor_leave_a_place_for_another(judges):
    endless = [Checking(COURSE, "value", "while True: pass\n", 0, judges) for _ in range(8)]
    checking = Checking(COURSE, "value", COURSE.reference, 0, lambda: judges("bo"))
    checking.wait(DONE)
    assert checking.report
    assert sum(one.done for one in endless) < 8
    for one in endless:
        one.stop()
    for one in endless:
        one.wait(DONE)
        assert one.report.stopped


@pytest.mark.parametrize("ending", ["stopped", "killed by the system"])
def test_a_judge_that_ends_is_replaced(judges, ending):
    checking = Checking(COURSE, "value", "while True: pass\n", 0, judges)
    while checking._runner is None:
        time.sleep(0.01)
    if ending == "stopped":
        checking.stop()
    else:
        checking._runner._process.kill()
    checking.wait(DONE)
    assert checking.report.stopped
    again = Checking(COURSE, "value", COURSE.reference, 0, judges)
    again.wait(DONE)
    assert again.report
