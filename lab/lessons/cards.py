"""The path: cards in an order that teaches, each with a state to begin from and the deed that completes it.

A card is completed by what the visitor has really done on its page, which the page's own state says; opening it, or
reading, completes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

State = Mapping[str | int, Any]


@dataclass(frozen=True)
class Card:
    """One step of the path.

    key      in the file of one's progress: it stays what it is
    deed     what is to be done, one sentence
    file     of the page; query: the parameters of its address that prepare the state
    done     from the state of the page (st.session_state): has the deed been done?
    also     a page besides on which it can be done
    at_end   and the player must have reached the end of its backward pass besides, which the browser knows
    """

    key: str
    title: str
    deed: str
    file: str
    done: Callable[[State], bool]
    query: Mapping[str, str] = field(default_factory=dict)
    also: str = ""
    at_end: bool = False


def _expression(*texts: str) -> Callable[[State], bool]:
    return lambda state: state.get("graph expression", "").replace(" ", "") in texts


def _forward_wins(state: State) -> bool:
    _, run, _ = state.get("why race", (None, None, ""))
    return run is not None and run.forward < run.reverse


CARDS = (
    Card(
        "first-gradient",
        "A first gradient",
        "Run both passes of a*b + c: which input moves the result most, and why?",
        "pages/start.py",
        lambda state: True,
        at_end=True,
    ),
    Card(
        "two-messages",
        "Two messages add up",
        "Play the backward pass to its end: one input receives two messages. Which, and what is its gradient?",
        "pages/graph_lab.py",
        _expression("((a*b)+c)*(a+d)"),
        {"expression": "((a*b) + c) * (a + d)", "in_a": "2", "in_b": "3", "in_c": "4", "in_d": "5"},
        at_end=True,
    ),
    Card(
        "by-hand",
        "A pass by hand",
        "Fill every blank of the classic graph, first its values, then its gradients, and reveal none.",
        "pages/predict_and_reveal.py",
        lambda state: state.get("predict solved") == (1, 1),
        {"level": "1", "graph": "1"},
    ),
    Card(
        "what-it-costs",
        "What a gradient costs",
        "Guess how much longer finite differences take for 1,000 parameters, then let it be measured.",
        "pages/why_autograd.py",
        lambda state: any(timing.done for timing in state.get("why timings", {}).values()),
        {"tab": "cost"},
    ),
    Card(
        "forward-wins",
        "Where forward mode wins",
        "Find a function for which forward mode is the faster one: guess, and measure both.",
        "pages/why_autograd.py",
        _forward_wins,
        {"tab": "directions", "way": "up"},
    ),
    Card(
        "whole-jacobian",
        "Fill a Jacobian",
        "Guess where the zeros of softmax are, fill its Jacobian pass by pass, and find backward(v) in it.",
        "pages/jacobians.py",
        lambda state: state.get("jacobian expression") == "softmax(x)" and state.get("jacobian filled") is True,
        {"tab": "one", "expression": "softmax(x)", "in_x": "[1, 2, 0, -1]"},
    ),
    Card(
        "forgotten-sum",
        "A forgotten sum",
        "Guess what happens where an engine does not sum over the axis that it has broadcast.",
        "pages/broadcasting_and_matmul.py",
        lambda state: state.get("broadcasting guess") is not None,
        {"tab": "forgotten"},
    ),
    Card(
        "breaking-step",
        "The step that breaks a check",
        "Find a step so small that the difference is zero: what did the tutorial claim of 1e-15?",
        "pages/gradient_check.py",
        lambda state: bool(state.get("check shown")) and state.get("check h", 0) <= -16,
        {"tab": "step", "expression": "x**2*sin(x) + exp(x)", "in_x": "2"},
    ),
    Card(
        "caught-write",
        "Catch the write",
        "With the guard on, say what backward() will do after the write, then run it.",
        "pages/simulate_error.py",
        lambda state: (
            state.get("trap step", 0) >= 3 and state.get("trap guess") is not None and state.get("trap guard") != "off"
        ),
        {"part": "steps", "guard": "on"},
    ),
    Card(
        "broken-engine",
        "Break the engine",
        "Guess what a fault does to the gradients and to the curve, then run both engines.",
        "pages/fault_lab.py",
        lambda state: bool(state.get("fault run")),
    ),
    Card(
        "named-fault",
        "Name a hidden fault",
        "Solve one case from its evidence.",
        "pages/spot_the_fault.py",
        lambda state: bool(state.get("spot solved")),
    ),
    Card(
        "topological-order",
        "Why an order",
        "Go through the sort until its last node is on the list.",
        "pages/engine_designs.py",
        lambda state: state.get("designs step", 0) == state.get("designs events", -1),
        {"tab": "order"},
    ),
    Card(
        "own-rule",
        "Write a rule yourself",
        "Write a number that remembers, and its addition with the backward rule: until each check passes.",
        "pages/build_it_yourself.py",
        lambda state: "scalars/add" in state.get("tasks passed", ()),
        {"ladder": "scalars"},
    ),
    Card(
        "own-engine",
        "Your engine in the player",
        "Let the engine that you built compute an expression of your own: its gradients must be right.",
        "pages/your_engine.py",
        lambda state: bool(state.get("own agreed")),
        {"tab": "passes"},
    ),
    Card(
        "why-the-loss-fell",
        "Why the loss fell",
        "Guess where momentum will be after ten steps, then take them down the ravine.",
        "pages/descent_lab.py",
        lambda state: state.get("descent guess") is not None and state.get("descent steps", 0) >= 10,
        {"surface": "ravine"},
    ),
    Card(
        "trained-network",
        "Train a network",
        "Guess, press Start, and let a run come to its end.",
        "pages/training_lab.py",
        lambda state: "training worker" in state and state["training worker"].run.done,
    ),
    Card(
        "own-digits",
        "Your engine reads digits",
        "Train a network with the tensors that you built, until it reads more than 90 % of unseen digits.",
        "pages/your_engine.py",
        lambda state: "own contest" in state and state["own contest"].graduated,
        {"tab": "train"},
        "pages/training_lab.py",
    ),
)
BY_KEY = {card.key: card for card in CARDS}
