"""Judges and scores a learner's predictions of the values and gradients of a graph, given as blanks to fill.

The blanks are first the values of the operations, in the order of the forward pass, then the gradients, in the order of
the backward pass.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lab.practice.exercises import Exercise
from lab.trace.mistakes import Mistakes, diagnosis, same, summed_axes
from lab.trace.recording import Trace

Pass = Literal["value", "gradient"]
MAX_LENGTH = 200  # characters of an answer
MAX_NUMBER = 1e9  # the largest absolute value in it
FULL = 4  # points for a blank that is right at the first check
LATER = 3  # points for one that is right at a later check
GIVEN = 2  # points for one that follows from a wrong answer to an earlier blank and does not only repeat it
OPEN, REVEALED = "-", "r"  # credit of a blank that is not answered yet, or was revealed
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?:/(?:\d+\.?\d*|\.\d+))?"


@dataclass(frozen=True)
class Blank:
    """One number or array to predict.

    name   the name of the node
    label  what is asked for
    right  the engine's result
    """

    what: Pass
    node: int
    name: str
    label: str
    right: np.ndarray


@dataclass(frozen=True)
class Verdict:
    """The judgement of one answer.

    state   "open" (no answer), "unreadable", "right", "follows" (right given a wrong answer to an earlier blank) or
            "wrong"
    comment  a sentence about the answer, or ""
    part    the points of an answer that is not right: one for an array's shape, one for the signs; GIVEN for one that
            follows, unless it only repeats numbers of the wrong answer or 0: the same number everywhere would follow
            from itself
    """

    state: Literal["open", "unreadable", "right", "follows", "wrong"]
    comment: str = ""
    part: int = 0


class Prediction:
    """The blanks of an exercise and their right answers."""

    def __init__(self, exercise: Exercise) -> None:
        self.text, self.trace = exercise.text, exercise.trace
        self.inputs = exercise.inputs
        self.mistakes = Mistakes(self.trace)
        names, gradients = self.mistakes.names, self.trace.gradients_after()
        forward = [event["node"] for event in self.trace.events if event["kind"] == "forward"]
        backward = [number for number in self._backward() if number in gradients]
        out = names[self.trace.output]
        self.blanks: dict[Pass, list[Blank]] = {
            "value": [
                Blank("value", n, names[n], self.definition(n), np.asarray(self.trace.nodes[n]["value"], float))
                for n in forward
            ],
            "gradient": [
                Blank("gradient", n, names[n], f"∂{out}/∂{names[n]}", np.asarray(gradients[n], float)) for n in backward
            ],
        }

    def definition(self, number: int) -> str:
        """Return the definition of a node by its operands, such as "v1 = a * b"."""
        names, node = self.mistakes.names, self.trace.nodes[number]
        operands, symbol = [names[child] for child in node["children"]], node["symbol"]
        if node["op"] == "sum" and node["shape"]:
            operands.append(f"axis={', '.join(map(str, summed_axes(node)))}")
        if symbol is None:
            written = f"{node['op']}({', '.join(operands)})"
        else:
            written = f" {symbol} ".join(operands) if len(operands) > 1 else f"{symbol}{operands[0]}"
        return f"{names[number]} = {written}"

    def judge(self, what: Pass, answers: Mapping[str, str]) -> dict[str, Verdict]:
        """Judge the answers to the blanks of one pass. Keys of `answers` and of the result are names of nodes."""
        read: dict[int, np.ndarray] = {}
        found: dict[str, Verdict] = {}
        for blank in self.blanks[what]:
            text = answers.get(blank.name, "").strip()
            try:
                if not text:
                    found[blank.name] = Verdict("open")
                else:
                    read[blank.node] = reading(text)
            except ValueError as error:
                found[blank.name] = Verdict("unreadable", str(error))
        typed = {blank.node: answers[blank.name].strip() for blank in self.blanks[what] if blank.node in read}
        slips = {b.node: read[b.node] for b in self.blanks[what] if b.node in read and not same(read[b.node], b.right)}
        for blank in self.blanks[what]:
            if blank.node in read:
                found[blank.name] = self._judge_one(blank, read[blank.node], slips, typed)
        return found

    def revealed(self, values: Iterable[str], gradients: Iterable[str]) -> Trace:
        """Return the trace with only those events whose numbers the learner knows already. `values` and `gradients`
        name the nodes whose value or gradient is known, besides the inputs."""
        known = {
            "value": {blank.node for blank in self.blanks["value"] if blank.name in set(values)},
            "gradient": {blank.node for blank in self.blanks["gradient"] if blank.name in set(gradients)},
        }
        inside = {event["node"] for event in self.trace.events if event["kind"] == "forward"}
        computed = {n for n in known["value"] if {*self.trace.nodes[n]["children"]} & inside <= known["value"]}
        reached = set()
        if computed == inside:  # a message also shows the values at both of its ends
            senders: dict[int, set[int]] = {self.trace.output: set()}
            for event in self.trace.events:
                if event["kind"] == "message":
                    senders.setdefault(event["child"], set()).add(event["node"])
            reached = {n for n in known["gradient"] if senders[n] <= known["gradient"]}
        events = []
        for event in self.trace.events:
            node = event["child"] if event["kind"] == "message" else event["node"]
            if node in (computed if event["kind"] == "forward" else reached):
                events.append(event)
        leaves = {
            name: gradient if self.mistakes.names.index(name) in reached else None
            for name, gradient in self.trace.gradients.items()
        }
        return replace(self.trace, events=events, gradients=leaves)

    def _backward(self) -> list[int]:
        """Return the nodes in the order in which the backward pass completes their gradients."""
        last = {
            event["node"]: index
            for index, event in enumerate(self.trace.events)
            if event["kind"] in ("seed", "accumulate")
        }
        return sorted(last, key=last.__getitem__)

    def _judge_one(
        self, blank: Blank, answer: np.ndarray, slips: Mapping[int, np.ndarray], typed: Mapping[int, str]
    ) -> Verdict:
        """Judge one answer. slips: the wrong answers; typed: the texts of all answers; both by node."""
        if blank.right.ndim == 0 and answer.size == 1:
            answer = answer.reshape(())  # [31] is 31
        if same(answer, blank.right):
            return Verdict("right")
        value = blank.what == "value"
        given = {node: slips[node] for node in self._computed_from(blank) if node in slips}
        shape = answer.shape == blank.right.shape
        signs = shape and bool((np.sign(answer) == np.sign(blank.right)).all())
        part = (shape and blank.right.ndim > 0) + signs
        if given:
            following = (self.mistakes.value_given if value else self.mistakes.gradient_given)(blank.node, given)
            if following is not None and same(answer, following):
                yours = " and ".join(f"{typed[node]} for {self.mistakes.names[node]}" for node in given)
                sentence = f"Right, given your {yours}. Fix that first."
                return Verdict("follows", sentence, part if _repeats(answer, given.values()) else GIVEN)
        sentence = f"{typed[blank.node]} is wrong"
        if not blank.right.ndim and re.fullmatch(r"\s*[-+−]?\d+,\d+\s*", typed[blank.node]):
            sentence += ": with a comma it is two numbers. Write a decimal point."
        elif not shape:
            sentence += f": its shape is not that of {'the result' if value else 'the node'}."
        elif blank.right.ndim:
            sentence += f"; only the shape{' and the signs are' if signs else ' is'} right."
        else:
            sentence += "; only its sign is right." if signs else "."
        known = self.mistakes.of_value(blank.node) if value else self.mistakes.of_gradient(blank.node)
        return Verdict("wrong", f"{sentence} {diagnosis(known, answer)}".strip(), part)

    def _computed_from(self, blank: Blank) -> list[int]:
        """Return the nodes whose value (or gradient) a blank is computed from."""
        if blank.what == "value":
            return list(dict.fromkeys(self.trace.nodes[blank.node]["children"]))
        sent = (event for event in self.trace.events if event["kind"] == "message")
        return list(dict.fromkeys(event["node"] for event in sent if event["child"] == blank.node))


def _repeats(answer: np.ndarray, slips: Iterable[np.ndarray]) -> bool:
    """Tell whether an answer has only zeros and numbers of earlier wrong answers."""
    known = np.concatenate([[0.0], *(slip.ravel() for slip in slips)])
    return bool(np.isclose(answer.reshape(-1, 1), known).any(axis=1).all())


def reading(text: str) -> np.ndarray:
    """Read an answer such as 6, −0.5, 1/2, [1, 2], 1 2, [[1, 2], [3, 4]], 1 2; 3 4 or [1 2; 3 4] as an array.

    Raises ValueError, whose message says what to write.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"An answer has at most {MAX_LENGTH} characters.")
    text = text.strip().replace("−", "-").translate(str.maketrans("()", "[]"))
    text = re.sub(r"^([-+])\s+", r"\1", text)
    text = re.sub(r"\s*/\s*", "/", text)
    text = re.sub(r"^\[([^][]*;[^][]*)\]$", r"\1", text)  # [1 2; 3 4]
    if "[" not in text and "]" not in text:
        rows = [row.replace(",", " ") for row in re.split(r"[;\n]", text)]
        text = f"[{'],['.join(rows)}]" if len(rows) > 1 else rows[0]
        text = f"[{text}]" if len(rows) > 1 or len(text.split()) > 1 else text
    numbers = re.sub(_NUMBER, lambda match: f" {_number(match[0])!r} ", text)
    joined = re.sub(r"(?<=[\w\].])\s+(?=[-\d\[])", ",", re.sub(r"\s+", " ", numbers).strip())
    try:
        if re.search(r"[^\d\s\[\],.e+-]", joined):
            raise ValueError(joined)
        array = np.array(json.loads(joined), dtype=float)
    except (ValueError, TypeError, RecursionError):
        raise ValueError(_WRITE) from None
    if array.ndim > 2 or array.size == 0 or not (np.abs(array) <= MAX_NUMBER).all():
        raise ValueError(_WRITE)
    return array


_WRITE = "Write a number such as 6, −0.5 or 1/2, or an array such as [1, 2] or [[1, 2], [3, 4]]."


def _number(text: str) -> float:
    above, _, below = text.partition("/")
    if below and float(below) == 0:
        raise ValueError("A number divided by 0 is not a number.")
    return float(above) / float(below or 1)


def credited(credit: str, verdicts: Sequence[Verdict]) -> str:
    """Update the credit of the blanks after a check: one character each, a digit for its points, OPEN or REVEALED.

    The first check gives FULL for a right answer, else the verdict's `part`. A right answer at a later check gives
    LATER, a revealed one nothing.
    """
    after = []
    for before, verdict in zip(credit, verdicts, strict=True):
        right = verdict.state == "right"
        if before == OPEN and (right or verdict.state in ("follows", "wrong")):
            after.append(str(FULL if right else verdict.part))
        elif before.isdigit() and right:
            after.append(str(max(LATER, int(before))))
        else:
            after.append(before)
    return "".join(after)


def points(credit: str) -> int:
    return sum(int(one) for one in credit if one.isdigit())
