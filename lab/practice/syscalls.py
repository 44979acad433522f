"""Lists the system calls of Linux that a learner's code may make, and writes a kernel filter that refuses all others.

A program can affect the world only through system calls: to open a file, to start a program, to send a signal. A filter
in the kernel (seccomp) checks the number of each call and its arguments. `ALLOWED` has one row for each call that
Python and NumPy need to compute, print and import; `instructions` translates the rows into the filter's language;
lab/practice/driver.py installs it. The filter also binds root and cannot be removed.

A refused call fails with EPERM ("Operation not permitted"), which Python raises as PermissionError. A call that is
newer than this list fails with ENOSYS, as on an older kernel: C libraries then use an older call.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from typing import NamedTuple

OWN_PID = "pid"  # stands for the id of the process, which only the process itself knows
Instruction = tuple[int, int, int, int | str]  # operation, jump if true, jump if false, constant


class If(NamedTuple):
    """A condition: (argument & mask) is one of these values. Arguments count from 0; `high` selects the upper half."""

    argument: int
    values: tuple[int | str, ...]
    mask: int = 0xFFFFFFFF
    high: bool = False


class Call(NamedTuple):
    """An allowed system call, with its number on x86_64 and aarch64; None if the call does not exist there."""

    name: str
    x86_64: int | None
    aarch64: int | None
    why: str
    conditions: tuple[If, ...] = ()


WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
MAP_TYPE, MAP_PRIVATE = 0x0F, 0x02
DESCRIPTORS = F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC = 0, 1, 2, 3, 1030
TERMINAL = TCGETS, TCGETS2, TIOCGWINSZ, FIOCLEX, FIONCLEX = 0x5401, 0x802C542A, 0x5413, 0x5451, 0x5450
FUTEX_OPERATION = 0x7F
WAITING = FUTEX_WAIT, FUTEX_WAKE, FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET = 0, 1, 9, 10
# MADV_NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE; not those that mark memory as
# broken, which root could do
ADVICE = 0, 1, 2, 3, 4, 8, 14, 15

ALLOWED = (
    # -- read files and print; files can only be opened to read, so the pipes are all that can be written to
    Call("read", 0, 63, "read an open file"),
    Call("pread64", 17, 67, "read at a position, as the loader of libraries does"),
    Call("readv", 19, 65, "read into several buffers"),
    Call("write", 1, 64, "print; answer the check"),
    Call("writev", 20, 66, "print several texts at once"),
    Call("open", 2, None, "open a file, only to read it", (If(1, (0,), WRITING),)),
    Call("openat", 257, 56, "open a file, only to read it", (If(2, (0,), WRITING),)),
    Call("close", 3, 57, "close a file"),
    Call("close_range", 436, 436, "close many files at once"),
    Call("lseek", 8, 62, "move within a file"),
    Call("dup", 32, 23, "a second descriptor of an open file"),
    Call("dup2", 33, None, "the same, with a chosen number"),
    Call("dup3", 292, 24, "the same, with a chosen number"),
    Call("fcntl", 72, 25, "copy descriptors, read flags; no signals to an owner, no locks", (If(1, DESCRIPTORS),)),
    Call("ioctl", 16, 29, "is it a terminal, how wide, close on exec; nothing that sends signals", (If(1, TERMINAL),)),
    # -- look for files, as every import does
    Call("stat", 4, None, "is there such a file, and what kind"),
    Call("lstat", 6, None, "the same for a link"),
    Call("fstat", 5, 80, "the same for an open file"),
    Call("newfstatat", 262, 79, "the same below a folder"),
    Call("statx", 332, 291, "the same, with more details"),
    Call("access", 21, None, "may it be read"),
    Call("faccessat", 269, 48, "the same below a folder"),
    Call("faccessat2", 439, 439, "the same, with flags"),
    Call("readlink", 89, None, "where a link leads"),
    Call("readlinkat", 267, 78, "the same below a folder"),
    Call("getdents64", 217, 61, "list a folder"),
    Call("getcwd", 79, 17, "the name of the current folder"),
    # -- memory, up to the limit; files are mapped as private copies, as a write to a shared one would reach the disk
    Call("mmap", 9, 222, "get memory; load a library", (If(3, (MAP_PRIVATE,), MAP_TYPE),)),
    Call("munmap", 11, 215, "give memory back"),
    Call("mremap", 25, 216, "make an array larger"),
    Call("mprotect", 10, 226, "protect memory from writing"),
    Call("madvise", 28, 233, "say how memory will be used", (If(2, ADVICE),)),
    Call("brk", 12, 214, "get memory, the old way"),
    # -- time
    Call("clock_gettime", 228, 113, "read a clock"),
    Call("clock_getres", 229, 114, "the resolution of a clock"),
    Call("gettimeofday", 96, 169, "the time, the old way"),
    Call("time", 201, None, "the time in seconds"),
    Call("nanosleep", 35, 101, "sleep"),
    Call("clock_nanosleep", 230, 115, "sleep until a time"),
    Call("times", 100, 153, "processor time used"),
    Call("getrusage", 98, 165, "processor time and memory used"),
    Call("setitimer", 38, 103, "the time limit of each question; a timer signals this process only"),
    # -- signals, only to itself
    Call("rt_sigaction", 13, 134, "set what a signal does"),
    Call("rt_sigprocmask", 14, 135, "block signals for a moment"),
    Call("rt_sigreturn", 15, 139, "return from a signal handler"),
    Call("sigaltstack", 131, 132, "report a stack overflow"),
    Call("restart_syscall", 219, 128, "go on sleeping after a signal"),
    Call("kill", 62, 129, "end itself", (If(0, (OWN_PID,)),)),
    Call("tgkill", 234, 131, "end itself, as abort() and raise() do", (If(0, (OWN_PID,)),)),
    # -- itself and its machine
    Call("exit", 60, 93, "end"),
    Call("exit_group", 231, 94, "end"),
    Call("getpid", 39, 172, "its process id"),
    Call("getppid", 110, 173, "its parent's process id"),
    Call("gettid", 186, 178, "its thread id"),
    Call("getuid", 102, 174, "its user"),
    Call("geteuid", 107, 175, "its effective user"),
    Call("getgid", 104, 176, "its group"),
    Call("getegid", 108, 177, "its effective group"),
    Call("uname", 63, 160, "the name of the system"),
    Call("sysinfo", 99, 179, "how much memory there is; sorting asks"),
    Call("sched_getaffinity", 204, 123, "how many processors there are"),
    Call("sched_yield", 24, 124, "let other threads run first"),
    Call("getrlimit", 97, 163, "read a limit"),
    Call("prlimit64", 302, 261, "read its own limits; set none", (If(0, (0,)), If(2, (0,)), If(2, (0,), high=True))),
    Call("futex", 202, 98, "wait for a lock, and wake waiting threads", (If(1, WAITING, FUTEX_OPERATION),)),
    Call("getrandom", 318, 278, "random seeds"),
)

FIRST_NEW = 424  # from here on a number means the same call on all machines, and libraries can do without it
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # the kernel's codes
FIRST_OF_X32 = 0x40000000  # from here on x86_64 repeats all calls
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06  # operations of the kernel's filters
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in the data that a filter sees
ALLOW, KILL, REFUSE, UNKNOWN = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026  # the last two return errors 1 and 38


def instructions(machine: str = platform.machine(), calls: Sequence[Call] = ALLOWED) -> list[Instruction]:
    """Write the filter for an architecture such as "x86_64"; empty if none is known for it."""
    if sys.platform != "linux" or machine not in ARCHITECTURES:
        return []
    code: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, ARCHITECTURES[machine]),
        (_RETURN, 0, 0, KILL),  # calls by the numbers of another architecture
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, FIRST_OF_X32),
        (_RETURN, 0, 0, KILL),
    ]
    for call in calls:
        number = call.x86_64 if machine == "x86_64" else call.aarch64
        if number is not None:
            then = [step for condition in call.conditions for step in _unless(condition)] + [(_RETURN, 0, 0, ALLOW)]
            code += [(_EQUAL, 0, len(then), number), *then]
    return [*code, (_AT_LEAST, 0, 1, FIRST_NEW), (_RETURN, 0, 0, UNKNOWN), (_RETURN, 0, 0, REFUSE)]


def _unless(condition: If) -> list[Instruction]:
    """Write the instructions that refuse the call unless the condition holds."""
    word = _ARGUMENTS + 8 * condition.argument + 4 * condition.high
    last = len(condition.values) - 1
    compare = [(_EQUAL, last - i + 1, 0, value) for i, value in enumerate(condition.values)]
    return [(_LOAD, 0, 0, word), (_AND, 0, 0, condition.mask), *compare, (_RETURN, 0, 0, REFUSE)]
