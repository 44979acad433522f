"""The text of an expression as the learner typed it: positions in it, and errors that explain common slips.

`parser.py` decides what is allowed; this module makes the errors clear and points at the place. Python's own syntax
errors explain a pasted `×` or `2a` badly, so the characters are checked before Python parses the text.
"""

import ast
import keyword
import re
from typing import NoReturn

from lab.expression.language import TOO_DEEP
from lab.operation_table import OPS

_TYPE = {
    "^": "**",
    "²": "**2",
    "³": "**3",
    **dict.fromkeys("×·⋅∙∗•", "*"),
    **dict.fromkeys("÷∕⁄", "/"),
    **dict.fromkeys("−–—", "-"),
    "½": "1/2",
    "∞": "1/0",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "，": ",",
    "√": "sqrt(...)",
    "π": "pi",
    **dict.fromkeys("∑Σ", "sum(...)"),
    "∏": "prod(...)",
    "{": "(",
    "}": ")",
}
_CHARACTERS = {
    **{character: f"type `{instead}`" for character, instead in _TYPE.items()},
    **dict.fromkeys("'\"‘’“”`", "an expression holds numbers and names, no text"),
    **dict.fromkeys("&|~!", "for a choice use `where(a > b, x, y)`"),
    **dict.fromkeys("\u00a0\u2009\u202f\u200b\ufeff", "type an ordinary space"),
    "%": "there is no remainder; `/` divides",
    "\\": "a line may go on inside brackets",
}
_USABLE = re.compile(r"[ -~\tΑ-Ωα-ω]")  # Greek letters make names, as in every textbook
_WORDS = {
    **dict.fromkeys(
        ("for", "while", "break", "continue", "async", "await", "yield"),
        "There are no loops: write each step on a line of its own, or compute with vectors.",
    ),
    **dict.fromkeys(
        ("if", "else", "elif", "and", "or", "not", "is", "in"),
        "To choose between two values, use `where(a > b, x, y)`.",
    ),
    **dict.fromkeys(("import", "from", "as"), "Nothing needs to be imported: functions are there, as in `sin(x)`."),
    **dict.fromkeys(("lambda", "def", "return", "class"), "No function needs to be defined: write the value alone."),
    **dict.fromkeys(("np", "numpy", "math", "torch"), "Write the function alone: `exp(x)`, not `np.exp(x)`."),
    "Tensor": "Names and lists are tensors already: write `[1, 2]`, not `Tensor([1, 2])`.",
    "print": "The result is shown anyway: write the value alone.",
    **dict.fromkeys(("inf", "Inf", "infinity"), "It is no input: write `1/0` for infinity."),
    **dict.fromkeys(("nan", "NaN"), "It is no input: write `0/0` for what is not a number."),
}
# A number that runs into letters. `*+` and `?+` are possessive, so that 1_000 and 1e5 count as numbers. The point of
# `2.b` is a group of its own: after `2.` Python expects digits.
_NUMBER_AND_NAME = re.compile(
    r"(?<![\w.])((?:\d[\d_]*+(?:\.\d[\d_]*+)?+|\.\d[\d_]*+)(?:[eE][+-]?\d+)?+)(\.?)([^\W\d]\w*)(\(?)"
)
_TWO_VALUES = re.compile(r"(?<=[\w)\]])[ \t]+(?=\w)|(?<=[)\]])(?=\w)")


Placed = ast.expr | ast.stmt | ast.keyword  # the syntax that has a place in the text


class ExpressionError(ValueError):
    """A fault in a learner's text: one sentence (`str(error)`), and its line and column, both counted from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1, text: str = "") -> None:
        super().__init__(message, line, column, text)
        self.message, self.line, self.column, self.text = message, line, column, text

    def __str__(self) -> str:
        return self.message

    @property
    def marked(self) -> str:
        """The message, the faulty line (about 70 characters of it) and a caret under the column."""
        lines = _lines(self.text)
        line = lines[self.line - 1] if self.line <= len(lines) else ""
        line = "".join(character if character.isprintable() else " " for character in line)
        start = max(0, self.column - 50)
        return f"{self.message}\n\n    {line[start : start + 70]}\n    {' ' * (self.column - 1 - start)}^"


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


class Source:
    """A text, and its lines without comments and indentation, which have no meaning here.

    A place is a line and a column of `lines`, both from 1. Errors name the column in the text as it was typed.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        code = [line.split("#")[0].rstrip(" \t") for line in _lines(text)]
        self.lines = [line.lstrip(" \t") for line in code]
        self._indents = [len(line) - len(stripped) for line, stripped in zip(code, self.lines, strict=True)]

    def error(self, message: str, line: int = 1, column: int = 1) -> ExpressionError:
        return ExpressionError(message, line, column + self._indents[line - 1], self.text)

    def refuse(self, message: str, node: Placed) -> NoReturn:
        raise self.error(message, *self.place(node))

    def place(self, node: Placed) -> tuple[int, int]:
        return node.lineno, self._column(node.lineno, node.col_offset)

    def place_of_attribute(self, node: ast.Attribute) -> tuple[int, int]:
        """Return the place where the name after the point begins, such as `relu` in `x.relu`."""
        line, end = node.end_lineno or 1, node.end_col_offset or 0  # after `ast.parse` they are never None
        return line, self._column(line, end) - len(node.attr)

    def _column(self, line: int, offset: int) -> int:
        return len(self.lines[line - 1].encode()[:offset].decode()) + 1  # ast counts bytes

    def check_characters(self) -> None:
        """Raise ExpressionError for characters that cannot be used, unmatched brackets, Python's keywords and `2a`."""
        opened = []
        for row, line in enumerate(self.lines, start=1):
            for column, character in enumerate(line, start=1):
                if character in _CHARACTERS and line[column - 1 : column + 1] != "!=":
                    shown = "A backtick" if character == "`" else f"`{character}`"  # ``` would open a Markdown fence
                    raise self.error(f"{shown} cannot be used here: {_CHARACTERS[character]}.", row, column)
                if not _USABLE.match(character):
                    shown = f"`{character}`" if character.isprintable() else f"The character U+{ord(character):04X}"
                    raise self.error(
                        f"{shown} cannot be used here: only letters a-z and α-ω, digits and + - * / ** @.", row, column
                    )
                if character in "([":
                    opened.append((character, row, column))
                if character in ")]":
                    if not opened:
                        raise self.error(f"This `{character}` closes a bracket that was never opened.", row, column)
                    partner, *_ = opened.pop()
                    if partner + character not in ("()", "[]"):
                        message = f"This `{character}` meets a `{partner}`: close the same kind of bracket."
                        raise self.error(message, row, column)
            for slip in _NUMBER_AND_NAME.finditer(line):
                number, point, name, bracket = slip.groups()
                if _about_word(name):  # `1if a else b`: no sign is missing
                    self._check_word(name, row, slip.start(3) + 1)
                elif not point:
                    message = f"A sign is missing between a number and a name: write `{number}*{name}`."
                    raise self.error(message, row, slip.start() + 1)
                elif number.replace("_", "").isdigit():  # `1.0.exp()` is a method of a number
                    instead = f"{name}({number})" if bracket else f"{number}*{name}"
                    message = f"A point after a number belongs to the number: write `{instead}`."
                    raise self.error(message, row, slip.start() + 1)
            for word in re.finditer(r"(?<!\w)[^\W\d]\w*", line):
                self._check_word(word[0], row, word.start() + 1)
        if opened:
            bracket, row, column = opened[-1]
            raise self.error(f"This `{bracket}` is never closed.", row, column)

    def _check_word(self, word: str, row: int, column: int) -> None:
        if message := _about_word(word):
            raise self.error(f"`{word}` has no place here. {message}", row, column)

    def syntax_error(self, error: SyntaxError) -> ExpressionError:
        """Turn Python's syntax error into an ExpressionError in plain words."""
        row = min(max(error.lineno or 1, 1), len(self.lines))
        line = self.lines[row - 1]
        column = min(max(error.offset or 1, 1), len(line) + 1)
        if ":=" in line:
            return self.error("`:=` is not used here: a line is `h = a*b`.", row, line.index(":=") + 1)
        if "cannot assign" in error.msg:
            return self.error("Only a single name can stand to the left of `=`, as in `h = a*b`.", row, column)
        if "Maybe you meant '=='" in error.msg:
            return self.error("`=` gives a name to a whole line; to compare, write `==`.", row, column)
        if "positional argument follows keyword" in error.msg:
            return self.error("What is given by name, as `axis=0`, comes last; to compare, write `==`.", row, column)
        if "too many nested" in error.msg:
            return self.error(TOO_DEEP, row, column)
        gaps = list(_TWO_VALUES.finditer(line))
        for gap in gaps:
            if call := _call_without_brackets(line, gap):
                return self.error(f"A function takes its values in brackets: write `{call}`.", row, gap.end() + 1)
        if gaps:
            return self.error("A sign is missing between two values, such as `*`.", row, gaps[0].end() + 1)
        if column > len(line):
            return self.error("Something is missing at the end of this line.", row, column)
        return self.error("This cannot be read: a sign is missing or too many, here or just before.", row, column)


def _call_without_brackets(line: str, gap: re.Match[str]) -> str:
    """Return `sin(x)` for the gap in `sin x`; "" if no function stands in front of it."""
    before, after = re.search(r"\w+$", line[: gap.start()]), re.match(r"[\w.]+", line[gap.end() :])
    if not before or not after or before[0] not in OPS or OPS[before[0]].form not in ("function", "method"):
        return ""
    return f"{before[0]}({after[0]})"


def _about_word(word: str) -> str:
    if word in _WORDS:
        return _WORDS[word]
    if word.startswith("_"):
        return "Names start with a letter."
    if keyword.iskeyword(word) and word not in ("True", "False", "None"):
        return "A line is `name = value`, and the last line may be a value alone."
    return ""
