"""A check in the background, with real processes: it says what it is at, ends, and can be stopped."""

from concurrent.futures import Future

import pytest

from lab.practice import sandbox
from lab.practice.background import YOU_STOPPED
from lab.practice.checker import Stopped
from lab.practice.checking import Checking
from lab.practice.render_report import render_report
from practice import COURSES

COURSE = COURSES["scalars"]
pytestmark = pytest.mark.skipif(bool(sandbox.unavailable()), reason=sandbox.unavailable())
DONE = 60.0  # seconds, on however busy a machine


def test_a_check_ends_with_its_report_and_what_was_printed():
    checking = Checking(COURSE, "add", COURSE.reference + "\nprint('from the file')\n", 0, sandbox.runner)
    checking.wait(DONE)
    assert checking.done
    assert checking.report.passed == {"value": True, "add": True}
    assert "from the file" in checking.printed
    assert (checking.at, checking.share) == ("Addition: A number on the left", 0.5)


def test_of_checks_that_run_the_same_lines_it_names_the_one_that_is_run():
    course = COURSES["tensors"]
    wrong = course.reference.replace("return grad.sum(axis=stretched, keepdims=True)", "return grad")
    checking = Checking(course, "unbroadcast", wrong, 0, sandbox.runner)
    checking.wait(DONE)
    assert checking.report.checks["A column, copied to every column"] is False
    assert checking.at == "Sum what was copied: A column, copied to every column"


def test_of_a_case_that_fails_only_its_own_output_is_kept():
    wrong = COURSE.reference.replace(
        "    def __mul__(self, other):\n", "    def __mul__(self, other):\n        print('mul')\n"
    )
    wrong = wrong.replace("self.grad += other.data * out.grad", "self.grad += print('back', other.data) or out.grad")
    assert "back" in wrong
    checking = Checking(COURSE, "arithmetic", f"print('read')\n{wrong}", 0, sandbox.runner)
    checking.wait(DONE)
    assert checking.report.failure.alone
    factor = checking.report.failure.inputs["q"]
    assert checking.printed == f"read\nmul\nback {factor}\n"
    shown = render_report(COURSE, "arithmetic", checking.report, checking.printed)
    assert shown["printedWhen"] == "while its file was loaded and in this case"
    checking = Checking(COURSE, "arithmetic", f"{COURSE.reference}\nprint('read')\n1 / 0\n", 0, sandbox.runner)
    checking.wait(DONE)
    shown = render_report(COURSE, "arithmetic", checking.report, checking.printed)
    assert (shown["printed"], shown["printedWhen"]) == ("read\n", "while its file was loaded")


def test_a_check_that_is_stopped_says_so():
    checking = Checking(COURSE, "value", "while True:\n    pass\n", 0, sandbox.runner)
    checking.stop()
    checking.wait(DONE)
    assert not checking.report
    assert checking.report.stopped in (YOU_STOPPED, sandbox.STOPPED)


def test_what_keeps_a_process_from_starting_is_said():
    class Refusing:
        def __enter__(self):
            raise Stopped("Too many.")

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
