"""Types for a failure: how it is recognised, programs that cause and fix it, and places to try it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lab.failures.programs import NO_PROGRAM, Numbers, Program


@dataclass(frozen=True, kw_only=True)
class Demonstration:
    """A mistake, the texts by which it is recognised, and a pair of programs over the engine if it can show it.

    phrases   texts of PyTorch, its other versions, this engine and other libraries
    keywords  words that suggest it if nothing better is found
    symptom   what people notice first
    meaning   why it happens
    silent    what this engine does if it raises no error
    """

    name: str
    symptom: str
    keywords: tuple[str, ...]
    meaning: str
    fix: str
    broken: Program = NO_PROGRAM
    fixed: Program = NO_PROGRAM
    phrases: tuple[str, ...] = ()
    silent: str = ""


@dataclass(frozen=True)
class Destination:
    """A place to try a failure: a page's path, the parameters of its address, and what to do there."""

    does: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, does: str, address: str) -> Destination:
        """Read an address as failures.toml has it, `page?name=value&name=value`, with nothing in it escaped."""
        path, _, query = address.partition("?")
        pairs = (part.partition("=") for part in query.split("&") if part)
        return cls(does, path, {name: value for name, _, value in pairs})


@dataclass(frozen=True, kw_only=True)
class Failure(Demonstration):
    """One of the failures that people ask about most.

    number   1 to 25, as the pages show it
    key      the failure's name in addresses
    torch    the PyTorch equivalent of the broken program, from the same numbers. It prints what it shows
    related  keys of failures that are easily confused with it, or come with it
    form     name of the form that its programs show, if it has several; `others`: the failure in its other forms
    asks     completes "In your code, is there ...?" where this form is one of several causes of a message
    sign     regular expression of text that suggests this cause; "" for none
    read     keys of the failures that the code reader reports for it
    says     what PyTorch says to the broken program, the first phrase by default; "" if it says nothing
    limits   the lowest and the highest of the learner's numbers; `min_count`: how many there must be
    """

    number: int
    key: str
    torch: str
    places: tuple[Destination, ...] = ()
    related: tuple[str, ...] = ()
    form: str = ""
    form_number: int = 0
    others: tuple[Failure, ...] = ()
    asks: str = ""
    sign: str = ""
    read: Sequence[str] = ()
    says: str = ""
    limits: tuple[float, float] = (-100.0, 100.0)
    min_count: int = 1

    @property
    def forms(self) -> list[str]:
        """The names of all forms; [] if there is only one form."""
        return [each.form for each in (self, *self.others)] if self.others else []

    def in_form(self, number: int) -> Failure:
        """Return one of its forms; the first, if there is none with this number."""
        return self.others[number - 1] if 0 < number <= len(self.others) else self

    def pytorch_equivalent(self, numbers: Numbers | None = None) -> str:
        """Return the PyTorch program with the given numbers, or with the defaults."""
        return "import torch\n\n" + replace(self.broken, lines=self.torch).code(numbers)


@dataclass(frozen=True)
class Shared:
    """A message or symptom with several causes, forms of failures, the commonest first.

    patterns  regular expressions, one of which a text has in lower case, without quotation marks
    key       the failure whose description is this text's; "" for none
    settled   regular expression of text after which a description of the failure `key` needs no question; "" for none
    note      one sentence: what else it may be
    """

    patterns: tuple[str, ...]
    causes: Sequence[Failure]
    key: str = ""
    note: str = ""
    settled: str = ""


def format_numbers(numbers: Numbers) -> str:
    """Format numbers as a learner writes them: "1, 2.5"."""
    return ", ".join(f"{number:g}" for number in (numbers if isinstance(numbers, list) else [numbers]))


MAX_NUMBERS = 8


def read_numbers(failure: Failure, text: str) -> Numbers:
    """Return the learner's numbers for a failure's programs; its defaults for an empty text.

    Raises ValueError, with a sentence for the learner, if they do not fit.
    """
    usual = failure.broken.numbers
    if not text.strip():
        return usual
    first = usual[0] if isinstance(usual, list) else usual
    least, most = (failure.min_count, MAX_NUMBERS) if isinstance(usual, list) else (1, 1)
    kind = "whole number" if isinstance(first, int) else "number"
    count = f"{least} to {most} {kind}s" if most > 1 else f"one {kind}"
    low, high = failure.limits
    due = f"Write {count} from {low:g} to {high:g}, such as {format_numbers(usual)}. The default is used until then."
    try:
        numbers = [type(first)(part) for part in text.replace(";", ",").split(",")]
    except ValueError:
        raise ValueError(due) from None
    if not least <= len(numbers) <= most or not all(low <= number <= high for number in numbers):
        raise ValueError(due)
    return numbers if isinstance(usual, list) else numbers[0]
