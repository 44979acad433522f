"""The process of a learner's code: whatever the code does, it ends as one sentence, and nothing else notices.

Most attacks are short texts in ATTACKS; each is run with bubblewrap and with limits alone. `boxed` marks what only
bubblewrap stops: docs/security.md lists it.
"""

import contextlib
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from lab.practice import driver, isolation, judge_processes, process_pool, sandbox, stop_reasons
from lab.practice.checker import check
from lab.practice.comparison import agree, resemblance
from lab.practice.process_pool import Pool
from lab.practice.runner import Answer, Job, StoppedError, answer
from lab.practice.sandbox import Limits
from practice import COURSES
from practice.debug import PROGRAMS
from practice.task import Check, Course, Task
from tests.answers import edited

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the kernel does not refuse what is tried")

ROOT = Path(__file__).resolve().parents[3]
FILE = "learner.py"
SHORT = Limits(seconds=0.3, wall=1)  # of processor time, and of sleep
DOUBLE = [Job("y = double(x)", {"x": np.arange(3.0)}, ("y",))]
HONEST = "def double(x):\n    return 2 * x\n"


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """However busy the machine is: code is stopped for its processor time and for its sleep, not by the clock."""
    monkeypatch.setattr(sandbox, "MAX_STRETCH", 1000)


@dataclass
class Ending:
    """How a text ended: in one sentence, with a line; `printed` is what it printed."""

    sentence: str
    line: int | None
    printed: str


def ending(pool, source, limits=sandbox.CHECK):
    with pool.runner(limits) as runner:
        try:
            problem = runner.load(textwrap.dedent(source).lstrip("\n"), FILE)
            if problem is None:
                problem = runner.run(DOUBLE)[0].problem
        except StoppedError as stopped:
            return Ending(str(stopped), stopped.line, runner.output)
        return Ending(f"{problem.kind}: {problem.message}" if problem else "", problem and problem.line, runner.output)


def test_an_honest_text_answers_and_its_output_is_kept(pool):
    with pool.runner() as runner:
        assert runner.load("import numpy as np\nprint('loaded')\n" + HONEST + "    print(x)\n", FILE) is None
        (said,) = runner.run(DOUBLE)
        assert said.values["y"].tolist() == [0, 2, 4]
        assert runner.output == "loaded\n"
        secret = Job("z = 'seen' if 'key' in globals() else ''", {"key": 1.0}, ("z",), secret=("key",))
        (said,) = runner.run([secret])
        assert said.values == {"z": ""}


# -- Attacks: text, what its sentence says, and the line that is named -------------------------------------------------

REFUSED, LOOP, CRASH = "cannot start programs", "took too long", "crashed Python itself"
MEMORY, OUTPUT, ENDS, DISTURBS = "more memory", "printed more than", "ended Python itself", "interfered with the check"

ATTACKS = {
    "a fork bomb": ("import os\nwhile True:\n    os.fork()", REFUSED, 3),
    "a fork bomb that goes on": ("import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass", LOOP, (2, 3, 4, 5, 6)),
    "a program": ("import subprocess\nsubprocess.run(['true'])", REFUSED, 2),
    "a shell in its place": ("import os\nos.execv('/bin/sh', ['sh', '-c', 'sleep 60'])", REFUSED, 2),
    "a thread": ("import threading\nthreading.Thread(target=print).start()", REFUSED, 2),
    "a pool of processes": ("import multiprocessing\nmultiprocessing.Pool(2)", REFUSED, 2),
    "10 GB in one array": ("import numpy as np\nx = np.ones(10 * 2**30 // 8)", MEMORY, 2),
    "10 GB bit by bit": ("x = []\nwhile True:\n    x.append(bytes(10**6))", MEMORY, 3),
    "10 GB that nobody counts": ("import os\nos.memfd_create('x')", REFUSED, 2),
    "an endless loop": ("x = 0\nwhile True:\n    x += 1", LOOP, (2, 3)),
    "an endless loop in NumPy": ("import numpy as np\na = np.zeros((900, 900))\nwhile True:\n    a = a @ a", LOOP, 4),
    "one endless call in NumPy": ("import numpy as np\nx = np.lib.stride_tricks.as_strided(np.zeros(1), (10**13,), (0,))\nx.sum()", LOOP, 3),
    "a long sleep": ("import time\ntime.sleep(1000)", LOOP, 2),
    "an endless loop that catches all": ("while True:\n    try:\n        x = 1\n    except BaseException:\n        pass", LOOP, (1, 2, 3)),
    "an endless loop that hears no signal": (
        """
        import signal
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        while True:
            pass
        """,
        LOOP,
        None,
    ),
    "an endless trace": ("import sys\ndef trace(*_):\n    while True: pass\nsys.settrace(trace)\ndef f(): pass\nf()", LOOP, 3),
    "an endless __repr__ of an error": ("class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E", LOOP, 3),
    "an error whose text is an error": ("class E(Exception):\n    def __str__(self):\n        return 1 / 0\nraise E", "E: ", 4),
    "a full disk": ("open('x', 'w').write('x')", REFUSED, 1),
    "a full disk, in folders": ("import os\nos.mkdir('x')", REFUSED, 2),
    "a file that exists": (f"open({__file__!r}, 'r+')", REFUSED, 1),
    "a file deleted": (f"import os\nos.remove({__file__!r})", REFUSED, 2),
    "a socket": ("import socket\nsocket.create_connection(('127.0.0.1', 80))", REFUSED, 2),
    "a socket pair": ("import socket\nsocket.socketpair()", REFUSED, 2),
    "killing the parent": ("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)", REFUSED, 2),
    "killing everybody": ("import os, signal\nos.kill(-1, signal.SIGKILL)", REFUSED, 2),
    "its own death": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", ENDS + " (SIGKILL)", None),
    "its own death, asked for politely": ("import signal\nsignal.raise_signal(signal.SIGTERM)", ENDS + " (SIGTERM)", None),
    "os._exit": ("import os\nos._exit(0)", ENDS + " (exit code 0)", None),
    "os._exit as if by a signal": ("import os\nos._exit(200)", ENDS + " (exit code 200)", None),
    "sys.exit": ("import sys\nsys.exit(3)", "SystemExit: 3", 2),
    "an interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt", 1),
    "1 GB of output": ("while True:\n    print('x' * 10**6)", OUTPUT, 2),
    "1 GB of output past Python": ("import os\nwhile True:\n    os.write(2, b'x' * 10**6)", LOOP, 3),
    "1 GB of output for the driver": ("import sys\nwhile True:\n    sys.stdout._say({'printed': 'x' * 10**6})", (LOOP, DISTURBS), (3, None)),
    "rubbish for printed": ("import sys\nsys.stdout._say({'printed': 'x', 'y': 1})\nsys.stdout._say({'printed': 1})\nsys.stdout._answers = print('x' * 10**7)", (DISTURBS, OUTPUT), (None, 4)),
    "a recursion without a limit": ("import sys\nsys.setrecursionlimit(10**9)\ndef f(n):\n    return f(n)\nf(0)", "a function that calls itself", (4,)),
    "an expression of many signs": ("x = " + "-" * 200_000 + "1", "SyntaxError: an expression has too many parts", None),
    "a sum of many terms": ("x = " + "+".join(["1"] * 100_000), "SyntaxError: an expression has too many parts", None),
    "deep recursion": ("def f(n):\n    return f(n + 1)\nf(0)", "RecursionError", 2),
    "bottomless recursion": (
        "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n    def __add__(self, other):\n        return self + other\nA() + A()",
        (CRASH, MEMORY, "RecursionError"),
        (4, 5),
    ),  # the last from Python 3.12 on
    "a value of endless depth": ("def double(x):\n    x = []\n    x.append(x)\n    return x", "RecursionError", None),
    "a crash": ("import ctypes\nctypes.string_at(0)", CRASH + " (SIGSEGV)", 2),
    "no limits": ("import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))", ("ValueError", REFUSED), 2),
    "a larger share": ("import os\nos.nice(-10)", REFUSED, 2),
    "every descriptor closed": ("import os\nos.closerange(0, 1000)\nimport time\ntime.sleep(100)", (DISTURBS, LOOP), None),
    "rubbish on every descriptor": ("import os\nfor fd in range(64):\n    try:\n        os.write(fd, b'rubbish\\n')\n    except OSError:\n        pass", DISTURBS, None),
    "an endless line on every descriptor": ("import os\nwhile True:\n  for fd in range(3, 64):\n    try:\n        os.write(fd, b'{' * 10**5)\n    except OSError:\n        pass", DISTURBS, None),
    "questions read by the text": ("input()", "EOFError", 1),
    "json broken": ("import json\njson.dumps = json.loads = None", (ENDS, DISTURBS), None),
    "builtins emptied": ("import builtins\nfor name in dir(builtins):\n    delattr(builtins, name)", (ENDS, DISTURBS, "Error"), (None, 2, 3)),
    "modules emptied": ("import sys\nsys.modules.clear()\ndef double(x):\n    import numpy\n    return numpy.double(x)", "Error", 4),
    "the driver emptied": ("import __main__\nvars(__main__).clear()", (ENDS, DISTURBS), None),
    "an end with a farewell": ("import atexit, time\natexit.register(time.sleep, 1000)\ndef double(x):\n    raise SystemExit", "SystemExit", 4),
    "rubbish collected for ever": ("import gc\ngc.set_threshold(1)\ndef loop(*_):\n    while True: pass\ngc.callbacks.append(loop)\nx = [[] for _ in range(5)]", LOOP, 4),
}  # fmt: skip


def attacked(pool, name):
    source, sentences, _ = ATTACKS[name]
    return ending(pool, source, SHORT if LOOP in sentences else sandbox.CHECK)


@pytest.mark.sample(24)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_ends_as_one_sentence(pool, name):
    _, sentences, lines = ATTACKS[name]
    sentences = sentences if isinstance(sentences, tuple) else (sentences,)
    lines = lines if isinstance(lines, tuple) else (lines,)
    said = attacked(pool, name)
    assert any(sentence in said.sentence for sentence in sentences), said
    assert said.line in lines, said
    assert len(said.sentence) < 2100
    assert "\n" not in said.sentence
    assert len(said.printed) < 5000


PRINTED = {  # a text -> how what it printed begins and ends, and how long it is at most
    "nothing": ("x = 1", "", "", 0),
    "a few lines": ("for i in range(500): print(i)", "0\n1\n", "\n498\n499\n", 2_000),
    "many lines": ("for i in range(50_000): print(i)", "0\n1\n", "\n49998\n49999\n", 4_100),
    "one long line": ("print('a' + 'é😀' * 100_000 + 'z')", "aé😀", "é😀z\n", 4_100),
    "lines before an error": ("for i in range(5_000): print(i)\n1 / 0", "0\n1\n", "\n4998\n4999\n", 4_100),
    "lines before an endless loop": ("print('first')\nwhile True: pass", "first\n", "first\n", 6),
}


@pytest.mark.parametrize("name", PRINTED)
def test_a_printed_text_keeps_its_beginning_and_its_end(pool, name):
    source, begins, ends, most = PRINTED[name]
    printed = ending(pool, source, SHORT).printed
    assert printed.startswith(begins)
    assert printed.endswith(ends)
    assert len(printed) <= most
    assert (sandbox.BETWEEN in printed) == (most > 4_000)


# What only bubblewrap stops, by the words with which docs/security.md lists it. `{secret}` is a file, `{address}` is where
# this process has the same secret in its memory.
ONLY_BUBBLEWRAP = {
    "reading the files of the user who started it": "print(open({file!r}).read())",
    "reading the memory of the server": (
        "with open('/proc/{pid}/mem', 'rb') as memory:\n    memory.seek({address})\n    print(memory.read({size}).decode())"
    ),
    "seeing which other programs run": "print(open('/proc/{pid}/status').read() and {secret!r})",
}


@pytest.mark.parametrize("name", ONLY_BUBBLEWRAP)
def test_only_bubblewrap_stops_reading(pool, boxed, name, tmp_path):
    secret = f"secret {os.getpid()}"
    kept = secret.encode()
    (tmp_path / "diary").write_text(secret)
    address = id(kept) + sys.getsizeof(b"") - 1
    source = ONLY_BUBBLEWRAP[name].format(
        file=str(tmp_path / "diary"), secret=secret, pid=os.getpid(), address=address, size=len(kept)
    )
    said = ending(pool, source + "\n" + HONEST)
    if boxed:
        assert ("FileNotFoundError" in said.sentence, said.printed) == (True, "")
    else:
        assert (said.sentence, said.printed.strip()) == ("", secret)


def test_the_manual_lists_what_only_bubblewrap_stops():
    text = " ".join((ROOT / "docs" / "security.md").read_text("utf-8").split())
    (listed,) = re.findall(r"Only bubblewrap stops ([^.]*)\.", text)
    assert re.split(r", and |, ", listed) == list(ONLY_BUBBLEWRAP)


def test_the_process_is_told_nothing_of_this_one(pool, boxed, monkeypatch):
    monkeypatch.setenv("SECRET", "yes")
    source = """
    import importlib.util, os, sys
    found = {"SECRET" in os.environ, *(importlib.util.find_spec(name) is not None for name in ("lab", "streamlit", "psutil"))}
    print(found, os.getcwd(), len(os.listdir("/proc/self/fd")) < 10 if os.path.exists("/proc") else True, sys.path[0][-4:])
    """
    assert ending(pool, source).printed.startswith(f"{{False}} {'/.practice' if boxed else '/'} True")


class WatchedPool(Pool):
    """A pool that knows its processes: this one has others, of pools that tests before have left to the end."""

    def __init__(self, boxed):
        self.started = []
        super().__init__(boxed)

    def _start(self):
        process = super()._start()
        self.started.append(psutil.Process(process.popen.pid))
        return process

    def family(self):
        """Return the processes of this pool that live, and all that descend from them."""
        found = set()
        for process in list(self.started):
            with contextlib.suppress(psutil.NoSuchProcess):
                found |= {process, *process.children(recursive=True)}
        return found


@pytest.mark.sample(1)
def test_while_some_attack_others_are_served_and_nothing_remains(boxed, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = ["a fork bomb that goes on", "10 GB bit by bit", "an endless loop", "1 GB of output"]
    said, seen = {}, set()
    with WatchedPool(boxed) as pool:
        attacks = [
            threading.Thread(target=lambda name=name: said.update({name: attacked(pool, name)})) for name in names
        ]
        for attack in attacks:
            attack.start()
        served = 0
        while served < 3 or any(attack.is_alive() for attack in attacks):
            assert ending(pool, HONEST).sentence == ""
            served += 1
            seen |= pool.family()
        for attack in attacks:
            attack.join()
    for name in names:
        assert ATTACKS[name][1] in said[name].sentence
    _, alive = psutil.wait_procs(seen, timeout=20)
    assert alive == []
    assert list(tmp_path.iterdir()) == []


# -- The verdict -------------------------------------------------------------------------------------------------------


CHECK = Check("Any number", "y = double(x)", ("y",), lambda rng, size: {"x": rng.normal(size=size + 1)})


@pytest.fixture
def course(tmp_path):
    (tmp_path / "reference.py").write_text(HONEST, "utf-8")
    (tmp_path / "starter.py").write_text("", "utf-8")
    return Course("small", "Small", "Does it work?", tmp_path, (Task("double", "Twice", "", (CHECK,), (), ()),))


CHEATS = {
    "a right answer": (HONEST, True),
    "all comparisons patched": (
        """
        import builtins, math
        import numpy as np
        import __main__
        always = lambda *_, **__: True
        for name in ("allclose", "array_equal", "isclose", "all"):
            setattr(np, name, always)
        builtins.all = math.isclose = always
        for name in ("agree", "same", "check"):
            setattr(__main__, name, always)
        def double(x):
            return x
        """,
        False,
    ),
    "equal to everything": (
        """
        import numpy as np
        class Everything(np.ndarray):
            def __eq__(self, other):
                return True
            __ne__ = __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: False
        def double(x):
            return x.view(Everything)
        """,
        False,
    ),
    "the driver answers for it": (
        """
        import __main__
        __main__.run = lambda *_: {"values": {"y": True}, "passed": True, "verdict": ""}
        def double(x):
            return x
        """,
        False,
    ),
    "a question changed": ("def double(x):\n    x[:] = 0\n    return x\n", False),
    "a pickle": (
        """
        class Bomb:
            def __reduce__(self):
                return eval, ("1 / 0",)
        def double(x):
            return Bomb()
        """,
        False,
    ),
}


@pytest.mark.sample(6)  # each of them, with bubblewrap or without
@pytest.mark.parametrize("name", CHEATS)
def test_the_verdict_is_made_on_this_side(pool, course, name):
    source, right = CHEATS[name]
    with pool.runner() as runner:
        report = check(course, "double", textwrap.dedent(source), runner, seed=1)
    assert bool(report) is right
    assert report.stopped == ""
    assert report.passed == {"double": right}


def untrained(last):
    """What makes a `train` of the reference that trains only where a number of steps is given."""
    rest = "    if steps is None:\n" + textwrap.indent(last, " " * 8) + "\n"
    return ("rate=0.5, steps=100):\n", "rate=0.5, steps=None):\n" + rest)


UNGUARDED = ("        values.flags.writeable = False\n", "")
WRONG_SUM = ("            self.grad += out.grad\n", "            self.grad += 2 * out.grad\n")
SOLUTION = [2.0, 2.0, -2.0, *[0.0] * 9, 3.0, 0.0, 0.0, 0.0, -0.4]
REPLACED = """
import gc
for one in gc.get_objects():
    if type(one).__name__ == "Server":
        refused = {"kind": "ValueError", "bases": ["ValueError"], "message": "", "line": None, "column": None}
        one.run = lambda jobs: [one._say({"values": {}, "error": refused}) for _ in jobs]
        break
"""
BACKWARD = "        for node in reversed(order):\n"
FIT = "    fit(params, images, labels, Adam"
SUMMED = "    return grad.sum(axis=stretched, keepdims=True)"
SAYS_TUPLE = "\nclass {}(list):\n    __class__ = tuple\n"
LYING_WEIGHT = """
class Weight(float):
    count = 0
    def __hash__(self):
        Weight.count += 1
        return Weight.count
    __eq__ = lambda self, other: type(other) is Weight
    __lt__ = __gt__ = lambda self, other: type(other) is int
    __le__ = __ge__ = lambda *_: True
"""
TABLE = """
class Value:
    def __init__(self, data, children=(), op=""):
        self.data, self.children, self.op = data, children, op
    __add__ = lambda self, other: Value(0.0, (self, other), "+")
    __mul__ = lambda self, other: Value(0.0, (self, other), "*")
    def backward(self):
        products = {(a, b): (float(b), float(a)) for a in range(2, 6) for b in range(-5, -1)}
        x, y = self.children
        if x is y:
            x.grad = {2: 4.0, 3: 6.0, 4: 8.0, 5: 10.0}[x.data] if self.op == "*" else 2.0
            return
        (x, y), one = ((x, y), 0.0) if self.op == "*" else (x.children, 1.0)
        x.grad, y.grad = products[x.data, y.data]
        x.grad += one
"""
BUILTINS = """
import builtins
for name in ("abs", "all", "any", "isinstance", "len", "max", "min", "range", "repr", "set", "sorted", "sum", "zip"):
    {}
"""
PIPES = """
import os
for pipe in range(3, 64):
    try:
        os.write(pipe, b'{"values": {}}\\n' * 99)
    except OSError:
        pass
"""
LOSSES = """class Loss(float):
    __lt__ = __le__ = __eq__ = lambda *_: True
    __hash__ = float.__hash__
return [Loss(0.5), Loss(0.5)]"""
TEN_CLASSES = """
right = network
def network(params, x):
    if len(x.data) != 450:
        return right(params, x)
    return Tensor(np.eye(10)[np.arange(450) % 10])
"""
SAME = """
class Same:
    __eq__ = lambda *_: True
    __hash__ = None
    __repr__ = lambda _: 'Value(data=2.0, grad=0.0)'

class Value:
    def __init__(self, *_, **__):
        self.data = self.grad = self.label = self._op = self._children = Same()
        self._backward = lambda: None
"""
LYING_ARRAYS = [
    ("np.asarray(data, dtype)", "np.asarray(data, float).view(Lying if dtype is np.float32 else np.ndarray)"),
    ("values = np.array(values)", "values = np.array(values, subok=True)"),
    ("np.array(message, self.data.dtype)", "np.array(message, float).view(type(self.data))"),
]


def first(lines):
    """What puts lines before the loop of the backward pass."""
    return (BACKWARD, textwrap.indent(lines, " " * 8) + "\n" + BACKWARD)


# Answers that were not worked out: (course, task, edits in the reference, what stands after it); without edits, that
# alone. Each passes the tasks before it.
FORGERIES = {
    "a variable of the check's program set": ("tensors", "guard", [UNGUARDED, first("import sys\nsys._getframe(1).f_globals.update(refused=True, grad=1.0)")], ""),
    "every write said to be refused": ("tensors", "guard", [UNGUARDED], REPLACED),
    "a backward pass that always refuses": ("tensors", "guard", [('    """Give every tensor', '    raise ValueError\n        """Give every tensor')], ""),
    "all and sum defined": ("scalars", "train", [untrained("return [0.5, 0.001]")], "\ndef sum(*_):\n    return 0.0\n\ndef all(*_):\n    return True\n"),
    "a solution known beforehand": ("scalars", "train", [untrained(f"for p, number in zip(model.parameters(), {SOLUTION}):\n    p.data = number\nreturn [0.5, 0.001]")], ""),
    "losses that compare as they like": ("scalars", "train", [untrained(LOSSES)], ""),
    "another network for the digits that are judged": ("tensors", "digits", [("steps=60, seed=0):\n", "steps=0, seed=0):\n")], TEN_CLASSES),
    "weights that were trained on other labels": ("tensors", "digits", [(FIT, "    labels = images.argmax(axis=1) % 10\n" + FIT)], ""),
    "builtins of the module": ("scalars", "add", [WRONG_SUM], BUILTINS.format("globals()[name] = lambda *_, **__: True")),
    "comparisons of NumPy": ("tensors", "unbroadcast", [(SUMMED, SUMMED + " * 2")], "\nnp.allclose = np.array_equal = np.isclose = np.all = lambda *_, **__: True\n"),
    "answers that are written to every pipe": ("scalars", "add", [WRONG_SUM], PIPES),
    "equal to everything": ("scalars", "value", None, SAME),
    "an input of the check's program read": ("tensors", "guard", [UNGUARDED, first("import sys\nif sys._getframe(1).f_globals.get('writes'):\n    raise ValueError")], ""),
    "an input found among all objects": ("tensors", "guard", [UNGUARDED, first("import gc\nif any('__builtins__' in one and one.get('writes') for one in gc.get_objects() if type(one) is dict):\n    raise ValueError")], ""),
    "weights that compare as they like": ("scalars", "network", [("[Value(rng.uniform(-1, 1)) for", "[Value(Weight(0.5)) for")], LYING_WEIGHT),
    "a list that says it is a tuple": ("scalars", "value", [("= tuple(children)", "= Children(children)")], SAYS_TUPLE.format("Children")),
    "saved arrays in a list that says it is a tuple": ("functions", "context", [("saved_tensors = arrays", "saved_tensors = Saved(arrays)")], SAYS_TUPLE.format("Saved")),
    "arrays that say they are float32": ("tensors", "elementwise", LYING_ARRAYS, "\nclass Lying(np.ndarray):\n    dtype = property(lambda _: np.dtype('float32'), lambda *_: None)\n"),
    "a table of answers": ("overwritten", "overwritten", None, TABLE),
}  # fmt: skip


@pytest.mark.sample(6)  # each of them, with bubblewrap or without
@pytest.mark.parametrize("name", FORGERIES)
def test_no_forgery_is_accepted(pool, name):
    course, key, edits, after = FORGERIES[name]
    course = {course.key: course for course in (*COURSES.values(), *PROGRAMS)}[course]
    alone = replace(course, tasks=tuple(task for task in course.tasks if task.key == key))
    text = edited(course, edits) if edits else ""
    with pool.runner() as runner:
        report = check(alone, key, text + after, runner, seed=1)
    assert not report
    assert not report.problem


@pytest.mark.sample(1)
def test_a_check_that_is_stopped_says_why_and_where(pool, course):
    with pool.runner(SHORT) as runner:
        report = check(course, "double", "def double(x):\n    while True:\n        pass\n", runner, seed=1)
    assert (report.stopped, report.passed) == (stop_reasons.TOO_LONG, {"double": False})
    assert report.line in (2, 3)
    with pytest.raises(StoppedError, match=LOOP):
        runner.run(DOUBLE)  # it stays so


@pytest.mark.sample(1)
def test_answers_that_come_before_their_questions_do_no_harm(pool, course):
    """They fill the pipe with questions that nobody reads."""
    source = """
    import json, os, time
    for fd in range(3, 64):
        try:
            for line in [{"values": {}}] + [{"values": {"y": {"list": []}}}] * 10:
                os.write(fd, json.dumps(line).encode() + b"\\n")
        except OSError:
            pass
    time.sleep(1000)
    """
    large = [Job("y = double(x)", {"x": np.zeros(20_000)}, ("y",))]
    with pool.runner(SHORT) as runner:
        assert runner.load(textwrap.dedent(source), FILE) is None
        answers = [runner.run(large) for _ in range(5)]
        assert all(said.values == {"y": []} for (said,) in answers)
        with pytest.raises(StoppedError, match=LOOP):
            [runner.run(large) for _ in range(10)]


@pytest.mark.sample(1)
def test_a_line_that_the_text_does_not_have_is_not_told(pool):
    said = ending(pool, "raise SyntaxError('x', ('learner.py', 10**9, -1, ''))")
    assert (said.sentence, said.line) == ("SyntaxError: x", None)


# What another program could say in the driver's place.
NUMBER = {"dtype": "<f8", "shape": [], "numbers": [1.0]}
CHANGES = [
    {"dtype": "|V2000000000"}, {"dtype": "|O8"}, {"dtype": "<U9"}, {"dtype": 5}, {"dtype": "<f8,<f8"},
    {"shape": [-1]}, {"shape": [2]}, {"shape": [10**12, 10**12]}, {"shape": [True]}, {"shape": 1}, {"shape": None},
    {"shape": [1] * 500}, {"numbers": ["eval"]}, {"numbers": [[1.0, 2.0]]}, {"numbers": [{}]},
    {"dtype": "|i1", "numbers": [1e99]}, {"dtype": "|i1", "numbers": [300]},
]  # read by rows  # fmt: skip
NONSENSE = [
    b"", b"null", b"[]", b"1", b"{}", b'{"values": 1}', b'{"values": {}}', b"\xff\xfe",
    b'{"values": {"y": 18446744073709551616}}', b'{"values": {"y": 1' + b"0" * 5000 + b"}}",
    b'{"values": {"y": ' + b"[" * 90_000, b'{"values": {"y": {"list": 1}}}', b'{"values": ' + b'{"list": [' * 50_000,
    pickle.dumps({"values": {}}, 0).replace(b"\n", b" "),
    b'{"values": {"z": true}}', b'{"values": {"y": true, "z": true}}',
    *(json.dumps({"values": {"y": NUMBER | change}}).encode() for change in CHANGES),
    *(json.dumps({"values": {"y": value}}).encode() for value in ({"dict": [[{"list": []}, 1]]}, {"dict": [1]}, {"x": 1})),
    *(json.dumps({"values": {}, "error": error}).encode() for error in (1, {}, {"kind": "E"}, {"kind": [], "message": ""}, None)),
]  # read by rows  # fmt: skip


@pytest.mark.parametrize("line", NONSENSE, ids=range(len(NONSENSE)))
def test_what_no_driver_says_is_told_as_such(line):
    with pytest.raises(sandbox.MALFORMED):
        answer(json.loads(line), ("y",))


ODD = [
    None, True, "", "\ud800", [], [[]], [None, "a"], {}, {"a": np.ones(2)}, {1: [np.ones(2)]}, np.nan, np.inf, 0,
    2**63, -0.0, np.zeros(0), np.zeros((0, 3)), np.full((2, 2), np.nan), np.ones((2, 2), bool), np.ones((1,) * 20),
    np.array([np.inf, -np.inf]), object(), {(1, 2): 1.0}, {object(): 1.0}, {10**30: 1.0},
]  # read by rows  # fmt: skip
EXPECTED = [
    1.0, True, "a", None, [1.0, 2], {"a": np.ones(2)}, np.ones(2), np.array([0.0, np.inf]), np.eye(2),
    np.zeros((0, 3)),
]  # read by rows  # fmt: skip


@pytest.mark.parametrize("got", ODD, ids=range(len(ODD)))
def test_any_value_can_be_compared_and_described(got):
    got = driver.decode(json.loads(json.dumps(driver.encode(got))))
    for expected in EXPECTED:
        assert agree(CHECK, Answer({"y": got}), Answer({"y": expected})) in (True, False)
        assert "\n" not in resemblance("y", got, expected, 1e-6)
    str(got).encode("utf-8")


# -- Other programs ----------------------------------------------------------------------------------------------------

COUNT = """
import numpy as np
for step in range(steps):
    emit({"step": step, "y": double(np.full(2, step))})
    print(step)
"""


@pytest.mark.sample(1)
def test_a_program_is_streamed_beside_the_text(pool):
    with pool.runner() as runner:
        assert runner.load(HONEST, FILE) is None
        messages = [*runner.stream(COUNT, {"steps": 3})]
        assert [message["y"].tolist() for message in messages] == [[0, 0], [2, 2], [4, 4]]
        assert runner.output == "0\n1\n2\n"
        with pytest.raises(StoppedError, match="ValueError: that"):
            [*runner.stream("emit(double(1))\nraise ValueError('that')", {})]
        assert runner.run(DOUBLE)[0].problem is None
        (large,) = runner.stream("emit(len(data))", {"data": np.zeros(100_000)})
        assert large == 100_000


@pytest.mark.sample(1)
def test_a_stream_tells_while_it_runs_and_can_be_stopped(pool):
    endless = "while True:\n    emit(double(1))"
    with pool.runner(Limits(seconds=60, wall=60)) as runner:
        assert runner.load(HONEST, FILE) is None
        stream = runner.stream(endless, {})
        assert next(stream) == 2
        threading.Timer(0.05, runner.stop).start()
        with pytest.raises(StoppedError, match="was stopped"):
            list(stream)


def test_a_reader_who_leaves_a_stream_leaves_no_process(pool):
    with pool.runner(Limits(seconds=60, wall=60)) as runner:
        assert runner.load(HONEST, FILE) is None
        next(runner.stream("while True:\n    emit(1)", {}))
        process, threads = psutil.Process(runner._process.popen.pid), runner._process._threads
    assert not process.is_running()
    assert not any(thread.is_alive() for thread in threads)


# -- The processes -----------------------------------------------------------------------------------------------------


def test_a_check_has_a_bounded_time_and_memory():
    assert sandbox.CHECK.wall + sandbox.GRACE < 5.5
    assert sandbox.CHECK.seconds == 4
    assert sandbox.CHECK.memory == 512 << 20


@pytest.mark.sample(1)
def test_time_between_questions_does_not_count(pool):
    with pool.runner(Limits(seconds=0.4, wall=0.4)) as runner:
        assert runner.load(HONEST, FILE) is None
        time.sleep(0.5)
        assert runner.run(DOUBLE)[0].problem is None


@pytest.mark.sample(1)
def test_code_that_gets_no_processor_is_given_more_time(pool):
    """The clock runs for a process that waits for its turn, too: it is stopped for what it does, not for what others do."""
    busy = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end:\n    pass\n"
    with pool.runner(Limits(seconds=2, wall=0.15)) as runner:  # as if it had half a processor
        assert runner.load(busy + HONEST, FILE) is None


@pytest.mark.sample(1)
def test_code_that_gets_no_processor_for_too_long_is_told_so(pool, monkeypatch):
    monkeypatch.setattr(sandbox, "MAX_STRETCH", 1)
    said = ending(pool, "while True:\n    pass\n", Limits(seconds=60, wall=0.3))
    assert said.sentence == stop_reasons.TOO_SLOW.format(0.3)


@pytest.mark.sample(1)
def test_a_spare_that_was_ended_is_replaced(boxed):
    with Pool(boxed) as pool:
        spare = pool._spare.result()
        spare.kill()
        spare.popen.wait()
        assert ending(pool, HONEST).sentence == ""


@pytest.mark.sample(1)
def test_more_than_there_is_room_for_is_told_and_trainings_leave_room_for_checks(boxed, monkeypatch):
    long = Limits(seconds=60.0, wall=90.0)
    monkeypatch.setattr(process_pool, "START_TIMEOUT", 0.01)
    with Pool(boxed) as pool, contextlib.ExitStack() as trainings:
        for _ in range(10):
            trainings.enter_context(pool.runner(long))  # those for whom there is room keep it
        assert ending(pool, HONEST, long).sentence == process_pool.BUSY_TRAINING
        with contextlib.ExitStack() as checks:
            for _ in range(process_pool.MAX_CHECKS - 1):
                checks.enter_context(pool.runner())
            monkeypatch.setattr(process_pool, "START_TIMEOUT", 20.0)  # until a process is ready
            assert ending(pool, HONEST).sentence == ""
            checks.enter_context(pool.runner())
            monkeypatch.setattr(process_pool, "START_TIMEOUT", 0.01)
            assert ending(pool, HONEST).sentence == process_pool.BUSY
        trainings.close()
        monkeypatch.setattr(process_pool, "START_TIMEOUT", 20.0)
        assert ending(pool, HONEST, long).sentence == ""  # free again


@pytest.mark.sample(1)
def test_what_took_too_long_on_a_crowded_machine_gets_a_second_attempt(pool, course, monkeypatch):
    busy = "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end:\n    pass\n"
    monkeypatch.setattr(judge_processes, "CHECK", Limits(seconds=0.2))
    monkeypatch.setattr(sandbox, "CROWDED", 1000)
    report, _ = judge_processes.judge(course, "double", busy + HONEST, 1, pool.runner)
    assert (report.stopped, report.line in (3, 4)) == (stop_reasons.TOO_LONG, True)
    monkeypatch.setattr(sandbox, "CROWDED", 0)  # as if it had shared its processor
    assert judge_processes.judge(course, "double", busy + HONEST, 1, pool.runner)[0]


@pytest.mark.sample(1)
def test_code_that_only_waits_is_not_blamed_for_the_time_that_others_take(pool):
    """What has been answered by the time that this process looks is an answer, however late it looks."""
    with pool.runner(Limits(wall=0.05)) as runner:
        assert runner.load(HONEST, FILE) is None
        with runner._question("run", jobs=[["y = double(x)", {"x": 1.0}, ["y"]]]):
            time.sleep(0.5)
            assert runner._answer(runner._message(), ("y",)).values == {"y": 2.0}


def test_a_server_that_is_killed_leaves_no_process_and_no_folder(boxed, tmp_path):
    program = f"""
    from lab.practice.process_pool import Pool
    from lab.practice.sandbox import Limits
    pool = Pool({boxed})
    print(pool._spare.result().popen.pid, flush=True)
    with pool.runner(Limits(600, 600)) as runner:
        runner.load("def double(x): return x", "learner.py")
        for _ in runner.stream("import time; emit(1); time.sleep(600)", {{}}):
            print("runs", flush=True)
    """
    server = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout.readline().strip().isdigit()
    assert server.stdout.readline() == "runs\n"
    theirs = psutil.Process(server.pid).children(recursive=True)
    assert len(theirs) >= 2
    server.kill()
    server.communicate()
    _, alive = psutil.wait_procs(theirs, timeout=20)
    assert alive == []
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "place", ["python3.11/site-packages/practice", "python3/dist-packages/practice", "lab/practice"]
)
def test_in_bubblewrap_the_lab_cannot_be_read_wherever_it_lies(place, tmp_path, monkeypatch):
    if not isolation.bubblewrap_works():
        pytest.skip("bubblewrap is missing or does not work on this machine")
    (tmp_path / place).mkdir(parents=True)
    for name in ("library.so", f"{place}/reference.py"):
        (tmp_path / name).write_text("")
    monkeypatch.setattr(isolation, "LIBRARIES", (*isolation.LIBRARIES, str(tmp_path)))
    if place.startswith("lab"):
        monkeypatch.setattr(isolation, "ROOT", tmp_path / "lab")
    source = f"import os\nprint([name for _, _, names in os.walk({str(tmp_path)!r}) for name in names])\n"
    with Pool(True) as pool:
        assert ending(pool, source + HONEST).printed == "['library.so']\n"


@pytest.fixture
def hosted_without_bubblewrap(monkeypatch, tmp_path):
    monkeypatch.setenv("TENSOR_LAB_HOSTED", "1")
    monkeypatch.setenv("PATH", str(tmp_path))
    isolation.bubblewrap_works.cache_clear()
    yield
    isolation.bubblewrap_works.cache_clear()


def test_a_server_for_several_people_runs_nothing_without_bubblewrap(hosted_without_bubblewrap):
    assert "bubblewrap" in isolation.unavailable()
    for pool in (process_pool, Pool()):
        assert ending(pool, HONEST).sentence == isolation.unavailable()


def test_one_s_own_machine_runs_code_with_one_s_own_rights(hosted_without_bubblewrap, monkeypatch):
    monkeypatch.delenv("TENSOR_LAB_HOSTED")
    assert isolation.unavailable() == ""
    assert "your rights" in isolation.isolation()
    with process_pool.runner() as runner:
        assert runner.load(HONEST, FILE) is None
