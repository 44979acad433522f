"""The life of a parameter in training, as a state machine driven by the real engine.

One parameter w, one loss L = (w * w - 2)**2 (smallest when w is the square root of 2), one optimizer. A life is written
as a string with a letter for each action, so it fits into an address and replays to the same numbers.
"""

from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from textwrap import wrap
from typing import Any

import graphviz
import numpy as np

from lab.text import numeral
from lab.trace.dot import PALETTES, blank
from lab.training.descent.walk import SETTLED
from lab.traps.fingerprints import detect_mutation
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
    "backward": "Its gradient has arrived. The graph can still be used.",
    "freed": "Its gradient has arrived, and the graph has been freed.",
    "updated": "The optimizer has given it a new value. Older graphs no longer fit.",
    "converged": f"Its gradient is smaller than {SETTLED}, and so was the step: it hardly moves any more.",
    "diverged": "It, or the loss, is no longer a finite number. Only a fresh start helps.",
}
EFFECTS = {  # of the actions on w.grad
    "same": "stays as it is",
    "first": "gets a first number",
    "added": "is added to",
    "replaced": "is replaced",
    "none": "is None",
    "error": "stays: an error",
}
PATHS = {  # (from, to): the action. The transitions that are drawn; others exist and are reported when they happen
    ("created", "forward"): "forward",
    ("forward", "loss"): "loss",
    ("loss", "backward"): "backward()",
    ("backward", "freed"): "unless retain_graph",
    ("backward", "updated"): "step()",
    ("freed", "updated"): "step()",
    ("updated", "forward"): "forward again",
    ("updated", "converged"): f"gradient and step < {SETTLED}",
    ("converged", "forward"): "forward again",
    ("updated", "diverged"): "inf or nan",
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

    log         the actions and their results, in order
    path        the states so far, the current one last
    last_moves  the state transitions of the last action
    possible    the letters of the actions that are possible next
    """

    log: list[LifeEntry] = field(default_factory=list)
    path: list[str] = field(default_factory=lambda: ["created"])
    last_moves: list[tuple[str, str]] = field(default_factory=list)
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
    """Run the actions with the engine. `actions` is a text that `parse_life` accepts."""
    training, life = _Training(lr), Life(possible=_possible(actions))
    with np.errstate(all="ignore"):
        for letter in actions:
            failed = False
            try:
                moves, sentence = training.act(letter)
            except RuntimeError as error:
                moves, sentence, failed = [], str(error), True
            if life.state == "diverged":
                moves = []
            elif not training.finite:
                moves = [*moves, "diverged"]
            life.last_moves = list(pairwise([life.state, *moves]))
            life.path += moves
            gradient = None if training.w.grad is None else float(training.w.grad)
            life.log.append(LifeEntry(ACTIONS[letter].code, sentence, failed, life.state, training.w.item(), gradient))
    return life


def effect(life: Life, count: int) -> str:
    """Return the effect of the last `count` actions on w.grad: a key of EFFECTS."""
    new, earlier = life.log[-count:], life.log[:-count]
    before, after = earlier[-1].gradient if earlier else None, new[-1].gradient
    if any(entry.failed for entry in new):
        return "error"
    if before is None:
        return "same" if after is None else "first"
    if after is None:
        return "none"
    if any(entry.gradient is None for entry in new):
        return "replaced"
    return "added" if any(entry.code in (ACTIONS["b"].code, ACTIONS["r"].code) for entry in new) else "same"


def _possible(actions: str) -> set[str]:
    """Return the letters of the actions that are possible next: a loss needs y, a backward pass needs a loss."""
    if len(actions) >= MAX_ACTIONS:
        return set()
    return {"f", "s", "z"} | ({"l"} if "f" in actions else set()) | ({"b", "r"} if "l" in actions else set())


class _Training:
    """The parameter, optimizer, y and loss of a life. `act` runs the code line of an action on them."""

    def __init__(self, lr: float) -> None:
        with detect_mutation() as watched:
            self.w = watched(1.0, label="w")
        self.optimizer = SGD([self.w], lr=lr)
        self.y: Any = None  # a Tensor after the action f
        self.loss: Any = None  # a Tensor after the action l

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.w.item()) and (self.loss is None or np.isfinite(self.loss.item())))

    def act(self, letter: str) -> tuple[list[str], str]:
        """Run an action; return the states that it leads through, and a sentence about its result."""
        if letter == "f":
            self.y = self.w * self.w - 2
            self.y.label = "y"
            return ["forward"], f"y = {numeral(self.y.item())}."
        if letter == "l":
            self.loss = self.y**2
            self.loss.label = "L"
            return ["loss"], f"L = {numeral(self.loss.item())}."
        if letter == "b":
            return ["backward", "freed"], f"{self._backward(retain_graph=False)} The graph is freed."
        if letter == "r":
            return ["backward"], f"{self._backward(retain_graph=True)} The graph is kept."
        if letter == "s":
            return self._step()
        self.optimizer.zero_grad()
        return [], "w.grad is None again."

    def _backward(self, retain_graph: bool) -> str:
        before = self.w.grad
        self.loss.backward(retain_graph=retain_graph)
        assert self.w.grad is not None
        added = "" if before is None else f" It was {numeral(before.item())}; the new gradient was added to it."
        return f"w.grad is {numeral(self.w.grad.item())}.{added}"

    def _step(self) -> tuple[list[str], str]:
        if self.w.grad is None:
            return [], "w.grad is None, so the optimizer leaves w as it is."
        before = self.w.item()
        self.optimizer.step()
        settled = max(abs(self.w.grad.item()), abs(self.w.item() - before)) < SETTLED
        states = ["updated", "converged"] if settled else ["updated"]
        return states, f"w: {numeral(before)} → {numeral(self.w.item())}."


def draw_life(life: Life, theme: str = "light") -> graphviz.Digraph:
    """Draw the states and the transitions. The current state has a double outline and says "now"."""
    colours = PALETTES[theme]
    dot = blank("life", theme, rankdir="TB", ranksep="0.12", nodesep="0.2")
    dot.attr("node", margin="0.1,0.04", height="0.3", color=colours["edge"])
    for state in STATES:
        now, been = state == life.state, state in life.path
        text = f"<b>{escape(state)}</b>{'<br/>now' if now else '<br/>✓ been here' if been else ''}"
        dot.node(
            state,
            f"<{text}>",
            id=f"state-{state}",
            style="filled,rounded" if been else "rounded,dashed",
            fillcolor=colours["leaf" if now else "operation"],
            fontcolor=colours["text" if been else "faint"],
            penwidth="2.5" if now else "1.2",
            peripheries="2" if now else "1",
        )
    for (start, end), name in PATHS.items():
        taken = (start, end) in life.last_moves
        dot.edge(
            start,
            end,
            label="\n".join(f"  {line}  " for line in wrap(name, 12)),  # spaces keep it off the arrow
            color=colours["gradient" if taken else "edge"],
            fontcolor=colours["text" if taken else "faint"],
            penwidth="2.5" if taken else "1",
        )
    return dot
