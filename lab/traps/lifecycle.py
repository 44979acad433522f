"""The life of a parameter in training, as a state machine driven by the real engine.

One parameter w, one loss L = (w * w - 2)**2 (smallest when w is the square root of 2), one optimizer. A life is written
as a string with a letter for each action, so it fits into an address and replays to the same numbers.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lab.text import numeral
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
