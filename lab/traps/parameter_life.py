"""The life of a parameter in training, as a state machine driven by the real engine.

One parameter w, one loss L = (w * w - 2)**2 (smallest when w is the square root of 2), one optimizer. A life is written
as a string with a letter for each action, so it fits into an address and replays to the same numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lab.text import numeral, run_lines
from lab.training.descent.walk import SETTLED
from lab.traps.write_detection import detect_mutation
from nn import SGD

MAX_ACTIONS = 100  # in one life


@dataclass(frozen=True)
class Action:
    title: str
    code: str


ACTIONS = {
    "f": Action("Forward", "y = w * w - 2"),
    "l": Action("Loss", "L = y ** 2"),
    "b": Action("Backward", "L.backward()"),
    "r": Action("Backward, keep graph", "L.backward(retain_graph=True)"),
    "s": Action("Optimizer step", "optimizer.step()"),
    "z": Action("Zero the gradient", "optimizer.zero_grad()"),
}
WHOLE_STEP = "zflbs"
STATES = {
    "created": "It has a value, but it is in no graph and has no gradient.",
    "forward": "A result was computed from it, and a closure waits to send a gradient back.",
    "loss": "The graph ends in one number, where a backward pass can start.",
    "backward": "Its gradient has arrived. With retain_graph=True the graph can be used again.",
    "freed": "Its gradient has arrived, and the graph has been freed.",
    "updated": "The optimizer has given it a new value. Older graphs no longer fit.",
    "converged": f"Its gradient is smaller than {SETTLED}, and so was the step: it hardly moves any more.",
    "diverged": "It, or the loss, is no longer a finite number. Only a fresh start helps.",
}


@dataclass(frozen=True)
class LifeEntry:
    """One action and its result."""

    code: str
    sentence: str
    failed: bool
    state: str
    w: float
    gradient: float | None


@dataclass
class Life:
    """A life so far.

    log       the actions and their results, in order
    path      the states so far, the current one last
    possible  the letters of the actions that are possible next
    """

    log: list[LifeEntry] = field(default_factory=list)
    path: list[str] = field(default_factory=lambda: ["created"])
    possible: set[str] = field(default_factory=set)

    @property
    def state(self) -> str:
        return self.path[-1]


def parse_life(text: str) -> str:
    """Return the text if each of its actions is possible in turn. Raises ValueError if not."""
    for i, letter in enumerate(text):
        if letter not in _possible(text[:i]):
            raise ValueError(text)
    return text


def live(actions: str, lr: float) -> Life:
    """Run the lines of the actions with the engine. `actions` is a text that `parse_life` accepts."""
    with detect_mutation() as watched:
        w = watched(1.0, label="w")
    names: dict[str, Any] = {"w": w, "optimizer": SGD([w], lr=lr)}
    life = Life(possible=_possible(actions))
    with np.errstate(all="ignore"):
        for letter in actions:
            before, failed = (w.item(), w.grad), False
            try:
                run_lines(ACTIONS[letter].code, names)
                moves, sentence = _result(letter, names, *before)
            except RuntimeError as error:
                moves, sentence, failed = [], str(error), True
            values = [names[name].item() for name in ("w", "L") if name in names]
            if life.state == "diverged":
                moves = []
            elif not np.isfinite(values).all():
                moves = [*moves, "diverged"]
            life.path += moves
            gradient = None if w.grad is None else float(w.grad)
            life.log.append(LifeEntry(ACTIONS[letter].code, sentence, failed, life.state, w.item(), gradient))
    return life


def _result(letter: str, names: Mapping[str, Any], value: float, gradient: Any) -> tuple[list[str], str]:
    """Return the states that an action has led through, and a sentence about its result. value, gradient: of w before
    it."""
    w = names["w"]
    if letter in "fl":
        name = "y" if letter == "f" else "L"
        names[name].label = name
        return ["forward" if letter == "f" else "loss"], f"{name} = {numeral(names[name].item())}."
    if letter in "br":
        added = "" if gradient is None else f" It was {numeral(gradient.item())}; the new gradient was added to it."
        kept = " The graph is freed." if letter == "b" else " The graph is kept."
        return ["backward", "freed"][: 2 if letter == "b" else 1], f"w.grad is {numeral(w.grad.item())}.{added}{kept}"
    if letter == "z":
        return [], "w.grad is None again."
    if gradient is None:
        return [], "w.grad is None, so the optimizer leaves w as it is."
    settled = max(abs(w.grad.item()), abs(w.item() - value)) < SETTLED
    return ["updated", "converged"][: 2 if settled else 1], f"w: {numeral(value)} → {numeral(w.item())}."


def _possible(actions: str) -> set[str]:
    """Return the letters of the actions that are possible next: a loss needs y, a backward pass needs a loss."""
    if len(actions) >= MAX_ACTIONS:
        return set()
    return {"f", "s", "z"} | ({"l"} if "f" in actions else set()) | ({"b", "r"} if "l" in actions else set())
