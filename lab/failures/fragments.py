"""Read the code in a text that is not all code: a traceback, or a question that quotes lines of a program."""

import itertools
import re
import textwrap

from lab.failures.code import CodeFinding, NotReadable, check_code, print_calls, without_other_lines

MAX_REPAIRS = 40  # lines that are dropped because Python cannot read them
FRAME = re.compile(r'\s*File "(?P<file>[^"]+)", line \d+')
_LIBRARY = r"(?:site-packages|dist-packages|[/\\]lib[/\\]python|<frozen|<__array_function__)"
LIBRARY = re.compile(_LIBRARY)
LIBRARY_FRAME = re.compile(rf'(?m)^[ \t]*File "[^"\n]*{_LIBRARY}[^"\n]*", line [^\n]*\n?[^\n]*\n?')
NUMBERED = re.compile(r"(?:-+>\s*)?\d+(?: (?P<code>.*))?$")  # IPython's traceback: "---> 12     loss.backward()"
STATEMENT = re.compile(
    r"(?:(?:from [\w.]+ )?import \w|@\w|return\b|(?:async )?(?:def \w+\(|(?:class|for|with|while|if|elif)\b.*:)"
    r"|(?:else|try)\s*:|[\w.\[\], ()\"']+?[-+*/@]?=[^=]|[\w.]+(?:\[[^]]*\](?:\.\w+)*)?\("
    r"|[\w.\"']+(?:(?:, ?[\w.\"']+)+[,)]*|[,)]+):?$|[)\]}])"
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
    kept: list[str | None] = []
    foreign = False  # below the frame of a library
    for line in print_calls(re.sub(r"\r\n?", "\n", text).expandtabs(4)).split("\n"):
        if frame := FRAME.match(line):
            foreign = bool(LIBRARY.search(frame["file"]))
        numbered = NUMBERED.match(line.strip())
        line = (numbered["code"] or "") if numbered else line
        is_code = STATEMENT.match(line.strip()) and not frame and not foreign
        kept.append(line if is_code else "" if not line.strip() else None)
    return without_other_lines("\n".join(_aligned(kept)), MAX_REPAIRS)


def _aligned(lines: list[str | None]) -> list[str]:
    """Move each run of code to the left: runs are told apart by lines that are not code, which become blank."""
    aligned: list[str] = []
    for is_code, run in itertools.groupby(lines, lambda line: line is not None):
        found = [line or "" for line in run]
        aligned += textwrap.dedent("\n".join(found)).split("\n") if is_code else found
    return aligned


def without_libraries(text: str) -> str:
    """Return the text without the frames of a traceback that are a library's own."""
    return LIBRARY_FRAME.sub("", text)
