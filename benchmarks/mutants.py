"""How many faults do the tests see? Puts one at a time into a copy of the product and runs the tests of its line.

    python benchmarks/mutants.py [PROJECT] --runs FILE.jsonl [--seed 1] [--number 300] [--rooms ROOM...] [--within S]

A mutant flips a comparison, moves a number by one, swaps an operator, negates a condition, returns None or drops a word
of a sentence, one kind as often as another, anywhere in the Python of the product. PROJECT is a checkout, this one or
an older one; what is committed there is copied. The first run traces which test functions reach which line (about 40
minutes; kept beside the file). A mutant is tried with the tests that reach its line, those of its own room first and
then the quickest, as many as take MOST_SECONDS: those of the first level, and if none fails, the exhaustive ones. A
line that no test reaches in its own process (a worker, the sandbox) is tried with the tests of its room. Tests in a
browser are left out, and tests that fail without a mutant.

Each result is at once one line of the file, so the script may be stopped and started again at any moment; it prints a
table of all results, by room and level. Seeds: 1 for figures that are compared, 7 to try the script. Needs coverage.
"""

import argparse
import ast
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PRODUCT = ["model.py", "nn.py", "train.py", "app.py", "lab/*.py", "pages/*.py", ":(glob)practice/*.py"]
LEVELS = {"first": "not exhaustive", "second": "exhaustive"}
MOST_SECONDS = 30  # of tests that one mutant is tried with
PYTEST = [sys.executable, "-m", "pytest", "-q", "-n0", "-oaddopts=--import-mode=importlib", "-pno:cacheprovider"]
FLIPPED = {ast.Lt: ast.LtE, ast.Gt: ast.GtE, ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn}
FLIPPED |= {other: one for one, other in FLIPPED.items()}
SWAPPED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult}
SWAPPED |= {ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.And: ast.Or, ast.Or: ast.And, ast.MatMult: ast.Mult}

# Loaded by pytest while the lines are traced: the context of the trace is the test function, also in other threads.
TRACER = """
import coverage, json, pytest, time
traced = coverage.Coverage(data_file={data!r}, source=["."], omit=["tests/*", "benchmarks/*"], config_file=False)
traced.set_option("run:relative_files", True)
seconds, failed = dict(), set()
traced.start()

@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    name, started = item.nodeid.split("[")[0], time.monotonic()
    traced.switch_context(name)
    result = yield
    seconds[name] = seconds.get(name, 0) + time.monotonic() - started
    return result

def pytest_runtest_logreport(report):
    if report.failed:
        failed.add(report.nodeid.split("[")[0])

def pytest_sessionfinish():
    traced.stop()
    traced.save()
    with open({data!r} + ".json", "w") as file:
        json.dump([seconds, sorted(failed)], file)
"""


def sites(tree):
    """Yield what could be changed: (kind, node, changed node), each by its place in the tree."""
    nodes = list(ast.walk(tree))
    passed_over = {node.value for node in nodes if isinstance(node, ast.Expr)}  # docstrings
    for text in [node for node in nodes if isinstance(node, ast.JoinedStr)]:  # Python 3.11 tells no places in them
        passed_over.update(part for value in text.values for part in ast.walk(value))
    for node in [node for node in nodes if node not in passed_over]:
        match node:
            case ast.Compare(ops=[op]) if type(op) in FLIPPED:
                yield "comparison", node, ast.Compare(node.left, [FLIPPED[type(op)]()], node.comparators)
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                yield "number", node, ast.Constant(number + 1)
            case ast.BinOp(op=op) if type(op) in SWAPPED:
                yield "operator", node, ast.BinOp(node.left, SWAPPED[type(op)](), node.right)
            case ast.BoolOp(op=op):
                yield "operator", node, ast.BoolOp(SWAPPED[type(op)](), node.values)
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                yield "condition", test, ast.UnaryOp(ast.Not(), test)
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                yield "return", value, ast.Constant(None)
            case ast.Constant(value=str(text)) if len(text.split()) > 3:
                yield "word", node, ast.Constant(without_a_word(text))
            case ast.JoinedStr(values=parts):
                long = [part for part in parts if isinstance(part, ast.Constant) and len(part.value.split()) > 2]
                if long:
                    changed = ast.Constant(without_a_word(long[0].value))
                    yield "word", node, ast.JoinedStr([changed if part is long[0] else part for part in parts])


def without_a_word(text):
    words = list(re.finditer(r"\S+\s*", text))
    gone = words[len(words) // 2]
    return text[: gone.start()] + text[gone.end() :]


def draw(project, seed, number, rooms):
    """Return `number` mutants as (file, line, kind, before, after, text of the whole file with the change)."""
    found = collections.defaultdict(list)
    listed = subprocess.run(["git", "ls-files", *PRODUCT], cwd=project, capture_output=True, text=True, check=True)
    for file in [file for file in listed.stdout.splitlines() if not rooms or room(file) in rooms]:
        source = (project / file).read_bytes()
        starts = [0]
        for line in source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        for kind, node, changed in sites(ast.parse(source)):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            found[kind].append((file, node.lineno, source, start, end, changed))
    chance = random.Random(seed)
    mutants = []
    while len(mutants) < number:
        kind = chance.choice(sorted(found))
        file, line, source, start, end, changed = chance.choice(found[kind])
        after = ast.unparse(ast.fix_missing_locations(ast.Expression(changed)))
        mutant = source[:start] + f"({after})".encode() + source[end:]
        try:
            compile(mutant, file, "exec")
        except (SyntaxError, ValueError):
            continue
        mutants.append((file, line, kind, source[start:end].decode(), after, mutant))
    return mutants


def room(file):
    """`lab/trace/record.py` -> lab/trace."""
    parts = Path(file).parts
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def own_tests(file, test):
    """Is the test one of the room, or of the page, of this file?"""
    return Path(test).parts[1:3] == ("unit", Path(room(file)).name) or Path(file).stem in test


def trace(copy, cache, rooms):
    """Return the tests of each (file, line), the seconds of each test, and those that fail without a mutant."""
    import coverage

    reached, seconds, failed = collections.defaultdict(set), {}, set()
    cache.mkdir(exist_ok=True)
    own = {Path(room).stem.replace("model", "engine") for room in rooms}
    for folder in sorted([*copy.glob("tests/unit/*/"), copy / "tests/pages", *copy.glob("tests/unit/test_*.py")]):
        data = str(cache / folder.name)
        if rooms and folder.name not in own:
            continue
        if not Path(data + ".json").exists():
            (copy / "mutants_tracer.py").write_text(TRACER.format(data=data))
            environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(copy), *sys.path[1:]])}
            command = [*PYTEST, "-m", "", "-p", "mutants_tracer", str(folder.relative_to(copy))]
            subprocess.run(command, cwd=copy, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if Path(data + ".json").exists():  # else it holds no test
            its_seconds, its_failed = json.loads(Path(data + ".json").read_text())
            seconds |= its_seconds
            failed |= set(its_failed)
            lines = coverage.CoverageData(data)
            lines.read()
            for file in lines.measured_files():
                for line, contexts in lines.contexts_by_lineno(file).items():
                    reached[file, line].update(filter(None, contexts))
    return reached, seconds, failed


def killed(copy, tests, expected, level):
    """Run tests of a level; return the first that fails, "time" where they do not end, or None."""
    (copy / "chosen.txt").write_text("\n".join(tests))
    command = [*PYTEST, "-x", "-m", LEVELS[level], "@chosen.txt"]
    try:
        ran = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=60 + 5 * expected)
    except subprocess.TimeoutExpired:
        return "time"
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.MULTILINE)
    return failed[1] if failed else "error" if ran.returncode not in (0, 5) else None


def attempt(copy, mutant, reached, seconds, failed):
    """Put a mutant into the copy, run its tests, take it out again; return its result as it is written down."""
    file, line, kind, before, after, text = mutant
    tests = reached.get((file, line), set()) or {test for test in seconds if own_tests(file, test)}
    chosen, expected = [], 0.0
    for test in sorted(tests - failed, key=lambda test: (not own_tests(file, test), seconds[test], test)):
        if expected + seconds[test] < MOST_SECONDS or not chosen:
            chosen.append(test)
            expected += seconds[test]
    original = (copy / file).read_bytes()
    (copy / file).write_bytes(text)
    by = level = None
    for level in LEVELS if chosen else ():
        if by := killed(copy, chosen, expected, level):
            break
    (copy / file).write_bytes(original)
    result = {"room": room(file), "file": file, "line": line, "kind": kind, "before": before, "after": after}
    return result | {"tests": len(chosen), "killed": level if by else None, "by": by}


def table(results):
    """Return, by room, how many of how many mutants each level kills."""
    rooms = collections.defaultdict(collections.Counter)
    for result in results:
        for name in (result["room"], "all"):
            rooms[name][result["killed"] or "survived"] += 1
    lines = [f"{'room':18} mutants  first level  with the second  survived"]
    for name, counts in sorted(rooms.items(), key=lambda row: (row[0] == "all", row[0])):
        both = counts["first"] + counts["second"]
        lines.append(f"{name:18} {counts.total():7} {counts['first']:12} {both:16} {counts['survived']:9}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", nargs="?", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--runs", type=Path, required=True, help="the JSON lines file; the traces lie beside it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--rooms", nargs="+", default=[], help="such as lab/trace: these, and their own tests only")
    parser.add_argument("--within", type=float, default=1e9, help="start no mutant after so many seconds")
    args = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=args.runs.resolve().parent) as folder:
        copy = Path(folder) / "copy"
        subprocess.run(["git", "clone", "--quiet", "--shared", args.project.resolve(), copy], check=True)
        reached, seconds, failed = trace(copy, args.runs.resolve().with_suffix(".traces"), args.rooms)
        done = [json.loads(line) for line in args.runs.read_text().splitlines()] if args.runs.exists() else []
        for mutant in draw(copy, args.seed, args.number, args.rooms)[len(done) :]:
            if time.monotonic() - started > args.within:
                break
            done.append(attempt(copy, mutant, reached, seconds, failed))
            with args.runs.open("a") as file:
                file.write(json.dumps(done[-1]) + "\n")
    print(table(done))


if __name__ == "__main__":
    main()
