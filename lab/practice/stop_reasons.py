"""Says in one sentence why a learner's code was stopped, and finds the line at which it was."""

from __future__ import annotations

import re
import signal

NOT_READY = "The process for your code did not start: check again."
TOO_LONG = "Your code took too long and was stopped: look for a loop that never ends or runs too often."
TOO_SLOW = "Your code did not finish within {:g} seconds: it waits, or this machine is too busy. Try again later."
TOO_DEEP = "Your code took too long and was stopped in deep recursion: look for a function that calls itself endlessly."
TOO_MUCH_MEMORY = (
    "Your code needed more memory than allowed ({} MB): look for a loop that never ends, for an array or a list that "
    "grows too large, or for a function that calls itself endlessly."
)
TOO_MUCH_OUTPUT = "Your code printed more than a million characters and was stopped: remove the print in a loop."
CRASHED = "Your code crashed Python itself ({}): look for a function that calls itself endlessly."
ENDED = "Your code ended Python itself ({}) before the check was done: remove what ends the program."
GARBAGE = "Your code interfered with the check. Remove everything that is not part of the task."
STOPPED = "Your code was stopped."

STACK = "Stack (most recent call first):"  # the first line of the stack that Python writes when its time is over
DEEP_STACK = 100  # nested calls: the most that this stack lists

NOT_PERMITTED = ("[Errno 1]", "[Errno 38]")  # begin the message of a system call that the filter refuses
THREAD = "can't start new thread"  # in Python's message when the kernel refuses a thread
REFUSED = "Here your code cannot start programs, threads or connections, write files, or send signals."


def was_refused(message: str) -> bool:
    """Return whether the message of an exception says that the kernel refused a system call."""
    return message.startswith(NOT_PERMITTED) or THREAD in message


def explain(code: int | None, text: str, file: str, late: bool, otherwise: str) -> tuple[str, int | None]:
    """Return why a process ended without its answer, and the line of the file at which it was, if it says so.

    code       its exit code, negative for a signal; None if it does not end by itself, for which `otherwise` is said
    text       the last lines that it wrote, such as the stack that Python writes when its time is over
    late       whether it has run for as long as it may
    """
    by_limit = late and code == -signal.SIGKILL  # from the kernel, for code that ignores the other signals
    ending = code is None and text.startswith(STACK)  # freeing much memory takes a while
    sentence = TOO_LONG if by_limit or ending else otherwise if code is None else _of_code(code)
    lines = re.findall(rf'File "{re.escape(file)}", line (\d{{1,9}})', text)
    if sentence == TOO_LONG and len(lines) >= DEEP_STACK:
        sentence = TOO_DEEP
    return sentence, int(lines[0]) if lines else None


def _of_code(code: int) -> str:
    if -code not in [*signal.Signals]:
        return ENDED.format(f"exit code {code}")
    number = signal.Signals(-code)
    if number in (signal.SIGALRM, signal.SIGPROF, signal.SIGXCPU):
        return TOO_LONG
    crashed = number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE)
    return (CRASHED if crashed else ENDED).format(number.name)
