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
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("corpus")
CELL = re.compile(r"(?m)^# %% (.+?)(?: \((read|stops)\))?\n")
MARK = re.compile(r"#([!?]) (read |ran |)([\d ]*\d)")
COMMENT = re.compile(rf"  {MARK.pattern}(?: {MARK.pattern})*$")


@dataclass(frozen=True)
class MarkedProgram:
    """A program of the corpus, without its marks.

    start    line of the file in front of its first line
    ending   "read" or "stops", as its title says, or ""
    read     what the reader must find, and nothing else: line of the program and failure
    ran      what the watcher must find
    """

    title: str
    path: Path
    start: int
    text: str
    ending: str
    read: frozenset[tuple[int, int]]
    ran: frozenset[tuple[int, int]]

    def place(self, found: set[tuple[int, int]] | frozenset[tuple[int, int]]) -> list[str]:
        """Return line of the file and failure of each, as an editor opens it."""
        return [f"{self.path}:{self.start + line}: {failure}" for line, failure in sorted(found)]


def parse(path: Path) -> list[MarkedProgram]:
    """Return the programs of a file."""
    whole = path.read_text("utf-8")
    cells = list(CELL.finditer(whole))
    ends = [*(cell.start() for cell in cells[1:]), len(whole)]
    return [
        MarkedProgram(
            cell[1], path, whole.count("\n", 0, cell.end()), *without_marks(whole[cell.end() : end], cell[2] or "")
        )
        for cell, end in zip(cells, ends, strict=True)
    ]


def without_marks(cell: str, ending: str) -> tuple[str, str, frozenset[tuple[int, int]], frozenset[tuple[int, int]]]:
    """Return a program's text, its ending, and what its marks say that the reader and the watcher find."""
    found: dict[str, set[tuple[int, int]]] = {"read ": set(), "ran ": set()}
    lines = cell.rstrip().split("\n")
    for number, line in enumerate(lines, 1):
        if comment := COMMENT.search(line):
            lines[number - 1] = line[: comment.start()]
            for sign, who, failures in MARK.findall(comment[0]):
                for its in found:
                    if sign == "!" and who in ("", its):
                        found[its] |= {(number, int(failure)) for failure in failures.split()}
    return "\n".join(lines) + "\n", ending, frozenset(found["read "]), frozenset(found["ran "])


@cache
def programs() -> dict[str, MarkedProgram]:
    """Return all programs by their titles."""
    found = [program for path in sorted(FOLDER.glob("*.py")) for program in parse(path)]
    by_title = {program.title: program for program in found}
    assert len(by_title) == len(found), "two programs have the same title"
    return by_title


def wrong() -> list[MarkedProgram]:
    """Return the programs in which something is wrong."""
    return [program for program in programs().values() if not program.path.name.startswith("right_")]


def right() -> list[MarkedProgram]:
    """Return the programs in which nothing is."""
    return [program for program in programs().values() if program.path.name.startswith("right_")]
