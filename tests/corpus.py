"""The corpus: programs as learners write them, with what is wrong marked in its line.

A file of `corpus/` holds the programs of one failure, `right_*.py` those without any. To add one, write it as a cell:

    # %% a title that no other program has
    loss.backward()  #! 6

`#! 6`       the reader of code (`lab.failures`) and the watcher of runs (`lab.watch`) both name failure 6 in this line
`#! read 6`  only the reader does, `#! ran 6` only the watcher; `#! 6 #! read 5` and `#! 5 6` say two things
`#? 6`       neither does, though the line commits it: a known miss

Nothing else may be found. A title that ends in `(read)` is of a program that only the reader gets: names are missing, or
it uses the lab's own engine. One that ends in `(stops)` ends in an error when it is run; all others run to their end.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("corpus")
CELL = re.compile(r"(?m)^# %% (.+?)(?: \((read|stops)\))?\n")
MARK = re.compile(r"#([!?]) (read |ran |)([\d ]*\d)")
MARKS = re.compile(rf"  {MARK.pattern}(?: {MARK.pattern})*$")
Found = frozenset[tuple[int, int]]  # line of a program and failure


@dataclass(frozen=True)
class MarkedProgram:
    """A program of the corpus, without its marks.

    start    the line in front of its first one, in its file
    ending   "read" or "stops", as its title says, or ""
    read     what the reader must find, and nothing else
    ran      what the watcher must find, and nothing else
    """

    title: str
    path: Path
    start: int
    text: str
    ending: str
    read: Found
    ran: Found

    def places(self, found: Iterable[tuple[int, int]]) -> list[str]:
        """Return each place as an editor opens it, with the failure."""
        return [f"{self.path}:{self.start + line}: {failure}" for line, failure in sorted(found)]


def cells(path: Path) -> Iterator[MarkedProgram]:
    """Yield the programs of a file."""
    before, *parts = CELL.split(path.read_text("utf-8"))
    line = before.count("\n")
    for title, ending, cell in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        line += 1
        text, read, ran = without_marks(cell.rstrip().split("\n"))
        yield MarkedProgram(title, path, line, text, ending or "", read, ran)
        line += cell.count("\n")


def without_marks(lines: list[str]) -> tuple[str, Found, Found]:
    """Return a program's text, and what its marks say that the reader finds and that the watcher does."""
    found: dict[str, set[tuple[int, int]]] = {"read ": set(), "ran ": set()}
    for number, line in enumerate(lines, 1):
        if comment := MARKS.search(line):
            lines[number - 1] = line[: comment.start()]
            for sign, only, failures in MARK.findall(comment[0]):
                for who in [only] if only else found:
                    if sign == "!":
                        found[who] |= {(number, int(failure)) for failure in failures.split()}
    return "\n".join(lines) + "\n", frozenset(found["read "]), frozenset(found["ran "])


@cache
def programs() -> dict[str, MarkedProgram]:
    """Return all programs by their titles."""
    found = [program for path in sorted(FOLDER.glob("*.py")) for program in cells(path)]
    by_title = {program.title: program for program in found}
    assert len(by_title) == len(found), "two programs have the same title"
    return by_title


def wrong() -> list[MarkedProgram]:
    """Return the programs in which something is wrong."""
    return [program for program in programs().values() if not program.path.name.startswith("right_")]
