"""The filter of system calls: what it refuses, that each refusal is its own, and that NumPy still computes.

The attempts (tests/attempts.py) run in the real process, many in one, with bubblewrap and without. Then each condition
of the filter is struck, and each dangerous call is allowed, one at a time: the attack that it stops must then succeed.
"""

import json
import os
import platform
import socket
import subprocess
import textwrap
from pathlib import Path

import pytest

from lab.practice import syscalls
from lab.practice.checker import check
from lab.practice.process_pool import Pool
from lab.practice.runner import Job, StoppedError
from lab.practice.sandbox import Limits
from lab.practice.syscalls import ALLOW, ALLOWED, ARCHITECTURES, KILL, REFUSE, UNKNOWN, Call, instructions
from practice import COURSES
from tests.answers import unusual
from tests.attempts import DANGEROUS, READING, REFUSED

ROOT = Path(__file__).resolve().parents[3]
linux = pytest.mark.skipif(not instructions(), reason="the kernel has no such filter here")
COLUMN = 0 if platform.machine() == "x86_64" else 1
NUMBERS = {call.name: (call.x86_64, call.aarch64)[COLUMN] for call in ALLOWED}
NUMBERS |= {name: numbers[COLUMN] for name, numbers in DANGEROUS.items()}
LONG = Limits(seconds=20, wall=30)
ENDED = {1, 38}  # what the filter answers: not permitted, no such call

PRELUDE = """
import ctypes, json, os, sys
import numpy as np
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
ALLOWED = {numbers!r}
def call_number(number, *arguments):
    ctypes.set_errno(0)
    got = libc.syscall(*(a if isinstance(a, bytes) else ctypes.c_long(a) for a in (number, *arguments)))
    if got == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return got
def call(name, *arguments):
    return call_number(ALLOWED[name], *arguments)
def call_failed():
    raise OSError(1, "refused")
P, S, D, F, PORT, S_ROOT = {place!r}
def outcome(text):
    try:
        exec(text, dict(globals()))
    except BaseException as error:
        said = ("can't start new thread", "not allowed to raise")  # what Python makes of a refusal
        return 1 if any(words in str(error) for words in said) else getattr(getattr(error, "reason", error), "errno", repr(error))
    return "done"
"""


@pytest.fixture(scope="module")
def filtered():
    """A pool without bubblewrap. Its processes get the filter as they load a text."""
    with Pool(boxed=False) as pool:
        yield pool


@pytest.fixture
def others(tmp_path):
    """What belongs to others: a process, a folder with a file, a port where somebody listens. All must stay as it is."""
    folder = tmp_path / "others"
    folder.mkdir()
    file = folder / "diary"
    file.write_text("secret")
    with (
        subprocess.Popen(["sleep", "600"]) as victim,
        socket.socket() as listening,
    ):
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(0.01)
        yield victim, folder, file, listening
        victim.kill()


def untouched(others):
    victim, folder, file, listening = others
    with pytest.raises(TimeoutError):
        listening.accept()
    assert victim.poll() is None
    assert (list(folder.iterdir()), file.read_text(), file.stat().st_nlink) == ([file], "secret", 1)
    assert os.sched_getaffinity(victim.pid) == os.sched_getaffinity(0)
    for asked in (lambda pid: os.getpriority(os.PRIO_PROCESS, pid), os.sched_getscheduler):
        assert asked(victim.pid) == asked(0)  # as its parent, which may have been started under `nice`


def run(pool, others, text):
    """What a text prints in the process, with what belongs to others in sight, or why it was stopped."""
    victim, folder, file, listening = others
    place = (victim.pid, os.getpid(), str(folder), str(file), listening.getsockname()[1], str(ROOT))
    with pool.runner(LONG) as runner:
        try:
            problem = runner.load(PRELUDE.format(numbers=NUMBERS, place=place) + textwrap.dedent(text), "learner.py")
            runner.run([Job("y = 1", {}, ("y",))])
        except StoppedError as stopped:
            return str(stopped)
        return problem.message if problem else runner.output


def unexpected(pool, others, attempts, expected, before=""):
    """Which of the attempts end otherwise than with one of these numbers, and with what."""
    text = f"""{before}
attempts = json.loads({json.dumps(attempts)!r})
print(json.dumps({{name: got for name, text in attempts.items() if (got := outcome(text)) not in {expected!r}}}))
"""
    return json.loads(run(pool, others, text).splitlines()[-1])  # perhaps after a complaint of an event loop


@linux
@pytest.mark.parametrize("kind", REFUSED)
def test_the_kernel_refuses_every_attempt(pool, boxed, others, kind):
    unseen = {2, 3} if boxed else set()  # there is no such file or process
    missing = [
        name for name, text in REFUSED[kind].items() if any(f"'{n}'" in text for n in NUMBERS if NUMBERS[n] is None)
    ]
    attempts = {name: text for name, text in REFUSED[kind].items() if name not in missing}
    assert unexpected(pool, others, attempts, ENDED | unseen) == {}
    untouched(others)


@linux
def test_bubblewrap_hides_what_is_not_for_learners(pool, boxed, others):
    seen = unexpected(pool, others, READING, {2})
    assert (seen == {}) if boxed else (len(seen) > len(READING) / 2), seen


@linux
def test_every_call_that_has_no_row_is_refused(pool, others):
    known = {NUMBERS[call.name] for call in ALLOWED}
    if platform.machine() == "x86_64":
        known |= {335, 336}  # uretprobe and uprobe: the kernel's own, which end whoever else calls them
    numbers = [number for number in range(700) if number not in known]
    tries = {number: f"call_number({number}, 0, 0, 0, 0, 0, 0)" for number in numbers}
    assert unexpected(pool, others, tries, {1, 38}) == {}
    untouched(others)


def test_dangerous_calls_have_no_row():
    assert not {call.name for call in ALLOWED} & DANGEROUS.keys()
    for column in (0, 1):
        allowed = [(call.x86_64, call.aarch64)[column] for call in ALLOWED]
        dangerous = [numbers[column] for numbers in DANGEROUS.values()]
        numbers = [number for number in allowed + dangerous if number is not None]
        assert len(numbers) == len(set(numbers))
    assert all(call.why for call in ALLOWED)


# -- Each refusal has its own reason -----------------------------------------------------------------------------------


# The filter strikes one condition: (call, which) -> the attack that it alone stops. It prints "done" where it succeeds.
# A signal of 0 asks only whether one may be sent.
STRIKES = {
    ("open", 0): "call('open', F.encode(), os.O_WRONLY)",
    ("openat", 0): "os.open(F, os.O_RDWR)",
    ("fcntl", 0): "import fcntl; fcntl.fcntl(2, fcntl.F_SETOWN, P)",
    ("ioctl", 0): "import fcntl, struct; fcntl.ioctl(3, 0x5452, struct.pack('i', 1))",
    ("mmap", 0): "import mmap; mmap.mmap(os.open(F, os.O_RDONLY), 0, mmap.MAP_SHARED, mmap.PROT_READ)",
    ("madvise", 0): "call('madvise', call('mmap', 0, 4096, 3, 0x22, -1, 0), 4096, 16)",
    ("kill", 0): "os.kill(P, 0)",
    ("tgkill", 0): "call('tgkill', P, P, 0)",
    ("prlimit64", 0): "call('prlimit64', P, 7, 0, b'x' * 16)",
    ("prlimit64", 1): "call('prlimit64', 0, 7, low, 0)",
    ("prlimit64", 2): "call('prlimit64', 0, 7, high, 0)",
    ("futex", 0): "call('futex', bytes(8), 6, 0, 0, 0, 0)",
}
# Memory for a limit, of which one half of the address is 0.
MAPPED = """
low = call('mmap', 0x10000000, 4096, 3, 0x22 | 0x10, -1, 0)
high = call('mmap', 0x500000000, 4096, 3, 0x22 | 0x10, -1, 0)
for place in (low, high):
    ctypes.memmove(place, (8).to_bytes(8, "little") * 2, 16)
"""


def struck(name, which):
    """The table without one condition of a call."""
    return tuple(
        call._replace(conditions=call.conditions[:which] + call.conditions[which + 1 :]) if call.name == name else call
        for call in ALLOWED
    )


def test_every_condition_has_an_attack():
    assert STRIKES.keys() == {(call.name, i) for call in ALLOWED for i in range(len(call.conditions))}


@linux
def test_with_every_condition_each_attack_is_refused(filtered, others):
    attacks = {f"{name} {which}": text for (name, which), text in STRIKES.items() if NUMBERS[name] is not None}
    assert unexpected(filtered, others, attacks, {1}, MAPPED) == {}


@linux
@pytest.mark.sample(4)
@pytest.mark.parametrize(("name", "which"), STRIKES)
def test_without_one_condition_its_attack_succeeds(filtered, others, monkeypatch, name, which):
    if NUMBERS[name] is None:
        pytest.skip("this machine has no such call")
    text = f"{MAPPED}\nprint(outcome({STRIKES[name, which]!r}))"
    monkeypatch.setattr(syscalls, "ALLOWED", struck(name, which))
    monkeypatch.setattr(syscalls.instructions, "__defaults__", (platform.machine(), syscalls.ALLOWED))
    assert run(filtered, others, text) == "done\n"


# What a call does as soon as it has a row; those of root are tried by root alone.
IF_ALLOWED = {
    ("fork", "clone"): "os._exit(0) if os.fork() == 0 else None",
    ("execve",): "os.execv('/bin/sh', ['sh', '-c', 'echo done >&2'])",
    ("socket", "connect"): "import socket; socket.socket().connect(('127.0.0.1', PORT))",
    ("socketpair",): "import socket; a, b = socket.socketpair()",
    ("unlink", "unlinkat"): "os.unlink(F)",
    ("rename", "renameat", "renameat2"): "os.rename(F, F + '2')",
    ("mkdir", "mkdirat"): "os.mkdir(D + '/x')",
    ("link", "linkat"): "os.link(F, D + '/x')",
    ("symlink", "symlinkat"): "os.symlink(F, D + '/x')",
    ("chmod", "fchmodat"): "os.chmod(F, 0o640)",
    ("utimensat",): "os.utime(F, (0, 0))",
    ("truncate",): "os.truncate(F, 6)",
    ("memfd_create",): "os.memfd_create('x')",
    ("pipe2",): "os.pipe()",
    ("sched_setaffinity",): "os.sched_setaffinity(P, os.sched_getaffinity(P))",
    ("sched_setparam",): "os.sched_setparam(P, os.sched_param(0))",
    ("ioprio_set",): "call('ioprio_set', 1, P, 2 << 13 | 4)",
    ("setpriority",): "os.setpriority(os.PRIO_PROCESS, P, 19)",
    ("pidfd_open", "pidfd_send_signal"): "call('pidfd_send_signal', os.pidfd_open(P), 0, 0, 0)",
    ("rt_sigqueueinfo",): "call('rt_sigqueueinfo', P, 0, (0).to_bytes(8, 'little') + (-1 & 2**32 - 1).to_bytes(8, 'little') + bytes(112))",
    ("prctl",): "call('prctl', 1, 0, 0, 0, 0)",
    ("flock",): "import fcntl; fcntl.flock(os.open(F, os.O_RDONLY), fcntl.LOCK_EX)",
    ("chdir",): "os.chdir(D)",
    ("eventfd2",): "os.eventfd(0) if hasattr(os, 'eventfd') else None",
    ("inotify_init1",): "call('inotify_init1', 0)",
    ("epoll_create1",): "call('epoll_create1', 0)",
    ("name_to_handle_at",): "call('name_to_handle_at', -100, F.encode(), (64).to_bytes(4, 'little') + bytes(100), bytes(8), 0)",
}  # fmt: skip


@linux
def test_without_a_row_each_dangerous_call_is_refused(filtered, others):
    attacks = {" ".join(names): text for names, text in IF_ALLOWED.items()}
    assert unexpected(filtered, others, attacks, ENDED) == {}


@linux
@pytest.mark.sample(3)
@pytest.mark.parametrize("names", IF_ALLOWED, ids=" ".join)
def test_with_a_row_of_its_own_a_dangerous_call_succeeds(filtered, others, monkeypatch, names):
    text = f"print(outcome({IF_ALLOWED[names]!r}), file=sys.stderr)"
    rows = [Call(name, *DANGEROUS[name], "for this test") for name in names]
    monkeypatch.setattr(syscalls.instructions, "__defaults__", (platform.machine(), (*ALLOWED, *rows)))
    assert "done" in run(filtered, others, text) or names == ("execve",)


@linux
def test_the_owner_of_a_pipe_would_get_its_signals(others, monkeypatch):
    """Four calls, none of them a signal, kill another process: a pipe tells its owner by a signal of one's choice."""
    kill = """
    import fcntl
    for pipe in range(3, 8):
        try:
            fcntl.fcntl(pipe, fcntl.F_SETOWN, P)
            fcntl.fcntl(pipe, 10, 9)
            fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
        except OSError:
            pass
    """
    with Pool(boxed=False) as pool:
        run(pool, others, kill)
        assert others[0].poll() is None
        monkeypatch.setattr(syscalls.instructions, "__defaults__", (platform.machine(), struck("fcntl", 0)))
        run(pool, others, kill)
        assert others[0].wait(5) == -9


# -- The filter itself, for both machines, as the kernel reads it ------------------------------------------------------


def verdict(machine, number, *arguments, architecture=None, calls=ALLOWED, pid=7):
    """What the filter answers to a call."""
    words = {0: number, 4: architecture or ARCHITECTURES[machine]}
    for i, argument in enumerate([*arguments, *[0] * 6][:6]):
        words |= {16 + 8 * i: argument & 0xFFFFFFFF, 20 + 8 * i: argument >> 32 & 0xFFFFFFFF}
    accumulator = at = 0
    code = instructions(machine, calls)
    while True:
        operation, yes, no, constant = code[at]
        constant = pid if constant == "pid" else constant
        at += 1
        if operation == 0x06:
            return constant
        if operation == 0x20:
            accumulator = words[constant]
        elif operation == 0x54:
            accumulator &= constant
        else:
            holds = {0x15: accumulator == constant, 0x35: accumulator >= constant}[operation]
            at += yes if holds else no


@linux
@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_filter_holds_on_both_machines(machine):
    column = [*ARCHITECTURES].index(machine)
    for call in ALLOWED:
        number = (call.x86_64, call.aarch64)[column]
        if number is None:
            continue
        good = [0] * 6
        for condition in call.conditions:
            value = 7 if condition.values[0] == "pid" else condition.values[0]
            good[condition.argument] |= value
        assert verdict(machine, number, *good) == ALLOW
        assert (verdict(machine, number, *([2**64 - 1] * 6)) == ALLOW) is not bool(call.conditions)
        assert verdict(machine, number, *good, architecture=0x40000003) == KILL
        assert verdict(machine, number | 0x40000000, *good) == KILL
    for name, numbers in DANGEROUS.items():
        if (number := numbers[column]) is not None:
            assert verdict(machine, number) == (UNKNOWN if number >= 424 else REFUSE), name
    assert verdict(machine, 424) == verdict(machine, 1000) == UNKNOWN
    assert len(instructions(machine)) < 4096
    assert instructions("riscv64") == []


# -- What must go on working -------------------------------------------------------------------------------------------

ORDINARY = """
import collections, copy, dataclasses, decimal, enum, fractions, functools, inspect, io, itertools, locale, math, operator
import pathlib, platform, pprint, random, re, secrets, statistics, string, textwrap, time, timeit, traceback, typing, uuid, warnings
import numpy.fft, numpy.linalg, numpy.polynomial, numpy.random, numpy.testing, numpy.ma
rng = np.random.default_rng()
a = rng.normal(size=(300, 300))
print(*(np.isfinite(x).all() for x in (np.linalg.svd(a)[1], np.linalg.eigvals(a), np.linalg.solve(a, a), a @ a, np.fft.fft2(a),
      np.sort(a), np.einsum("ij,jk", a, a), np.random.rand(1000), np.exp(-a * a))))
print(np.frombuffer(bytes(8)).item(), np.array2string(a[:2, :2]) != "", np.isclose(a, a).all())
time.sleep(0.01), time.perf_counter(), time.process_time(), time.localtime(), time.get_clock_info("monotonic")
random.seed(), secrets.token_hex(), uuid.uuid4(), os.urandom(8), os.getpid(), os.cpu_count(), os.getcwd(), os.listdir()
platform.machine(), locale.getlocale(), sys.getsizeof(a), timeit.timeit("1", number=10), inspect.getsource(dataclasses.dataclass)
warnings.warn("seen")
big = [bytearray(10**6) for _ in range(50)]
b = np.zeros(10**6); b.resize(2 * 10**6); np.concatenate([b, b]); list(map(str, range(10**5))).sort()
import threading
lock = threading.Lock()
with lock, threading.RLock():
    pass
buffer = io.StringIO(); print("x", file=buffer); traceback.print_stack(file=buffer)
ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 1)()
print("all done")
"""


@linux
def test_ordinary_code_meets_no_refusal(pool, others):
    assert run(pool, others, ORDINARY).endswith("all done\n")


@linux
@pytest.mark.sample(1)
@pytest.mark.parametrize("course", COURSES)
def test_references_and_unusual_answers_pass(course):
    """With the filter alone: in bubblewrap it is the same one, and the tests of the courses run there."""
    with Pool(boxed=False) as pool:
        for path in [COURSES[course].folder / "reference.py", *unusual(COURSES[course])]:
            with pool.runner() as runner:
                report = check(COURSES[course], COURSES[course].tasks[-1].key, path.read_text("utf-8"), runner, seed=1)
            assert report, (path, report)
