"""Read the code in a text that is not all code: a traceback, or a question that quotes lines of a program."""

import re
import textwrap

from lab.failures.code import CodeFinding, NotReadable, check_code, tree_of

MAX_REPAIRS = 40  # lines that are dropped because Python cannot read them
MAX_READ = 200_000  # characters that Python reads in all repairs together
FRAME = re.compile(r'\s*File "(?P<file>[^"]+)", line \d+')
LIBRARY = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python|<frozen|<__array_function__")
MARKERS = re.compile(r"\s*[~^]+\s*$")
NUMBERED = re.compile(r"(?:-+>\s*)?\d+(?: (?P<code>.*))?$")  # IPython's traceback: "---> 12     loss.backward()"
STATEMENT = re.compile(
    r"(?:(?:from [\w.]+ )?import \w|@\w|return\b|(?:async )?(?:def|class|for|with|while|if|elif)\b.*:|(?:else|try)\s*:"
    r"|[\w.\[\], ()\"']+?[-+*/@]?=[^=]|[\w.]+(?:\[[^]]*\](?:\.\w+)*)?\(|[\w.\"']+,$|[)\]}])"
)


def check_fragments(text: str) -> list[CodeFinding]:
    """Return the failures of the code lines in a mixed text, in the order of its lines; [] where there are none.

    For texts that `check_code` refuses with NotReadable: a traceback (Python's or IPython's) with the lines of the
    learner's own files, a question with a piece of a program, code in Markdown fences. `line`, `first` and `last` count
    in `text`; `change` has the indentation of the code as it was read. Never raises NotReadable.
    """
    try:
        return check_code(code_lines(text))
    except NotReadable:
        return []


def code_lines(text: str) -> str:
    """Return `text` with every line that is not code left blank, so that the rest is a program with the same lines."""
    kept: list[str] = []
    foreign = False  # below the frame of a library
    for line in re.sub(r"\r\n?", "\n", text).expandtabs(4).split("\n"):
        if frame := FRAME.match(line):
            foreign = bool(LIBRARY.search(frame["file"]))
        numbered = NUMBERED.match(line.strip())
        line = (numbered["code"] or "") if numbered else line
        is_code = STATEMENT.match(line.strip()) and not frame and not foreign
        kept.append(line if is_code else "")
    return _readable(_aligned(kept))


def _aligned(lines: list[str]) -> list[str]:
    """Move each run of code to the left: runs are told apart by lines that are not code."""
    aligned: list[str] = []
    run: list[str] = []
    for line in [*lines, ""]:
        if line or not run:
            run.append(line)
            continue
        aligned += textwrap.dedent("\n".join(run)).split("\n")
        run = [line]
    return [*aligned, *run][: len(lines)]


def _readable(lines: list[str]) -> str:
    """Drop the lines that Python stops at, one by one; return "" if too little is left."""
    source = "\n".join(lines)
    for _ in range(min(MAX_REPAIRS, MAX_READ // max(len(source), 1))):
        try:
            tree_of(source)
            return source
        except IndentationError as error:
            _repair_indentation(lines, error)
        except SyntaxError as error:
            lines[min(error.lineno or 1, len(lines)) - 1] = ""
        except (ValueError, RecursionError, MemoryError):
            return ""
        source = "\n".join(lines)
    return ""


def _repair_indentation(lines: list[str], error: IndentationError) -> None:
    """Drop a header without a body; move a line that is indented too far to the left."""
    at = min(error.lineno or 1, len(lines)) - 1
    if "expected an indented block" not in error.msg:
        lines[at] = lines[at].lstrip() if lines[at].startswith(" ") else ""
        return
    header = next(
        (i for i in range(at if lines[at].strip() else at - 1, -1, -1) if lines[i].rstrip().endswith(":") and i != at),
        None,
    )
    lines[at if header is None else header] = ""


def without_libraries(text: str) -> str:
    """Return the text without the lines of a traceback that are a library's own; the learner's lines come last."""
    code, rest = _frames(text)
    return "\n".join([*rest, *code])


def _frames(text: str) -> tuple[list[str], list[str]]:
    """Return the code lines of a traceback's frames outside libraries, and the lines that belong to no traceback."""
    code, rest = [], []
    lines = iter(text.splitlines())
    for line in lines:
        if frame := FRAME.match(line):
            quoted = next(lines, "").strip()
            if quoted and not LIBRARY.search(frame["file"]):
                code.append(quoted)
        elif not MARKERS.match(line):
            rest.append(line)
    return code, rest
