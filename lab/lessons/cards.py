"""The path: cards in an order that teaches, each with a state to begin from and the deed that completes it.

A card is completed by what the visitor has really done on its page, which announces it (lab/ui/progress.py); opening
it, or reading, completes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Card:
    """One step of the path.

    key      in the file of one's progress: it stays what it is
    deed     what is to be done, one sentence
    file     of the page; query: the parameters of its address that prepare the state
    also     a page besides on which it can be done
    at_end   and the player must have reached the end of its backward pass besides, which the browser knows
    """

    key: str
    title: str
    deed: str
    file: str
    query: Mapping[str, str] = field(default_factory=dict)
    also: str = ""
    at_end: bool = False


CARDS = (
    Card(
        "first-gradient",
        "A first gradient",
        "Run both passes of a*b + c: which input moves the result most, and why?",
        "pages/start.py",
        at_end=True,
    ),
    Card(
        "two-messages",
        "Two messages add up",
        "Play the backward pass to its end: one input receives two messages. Which, and what is its gradient?",
        "pages/graph_lab.py",
        {"expression": "((a*b) + c) * (a + d)", "in_a": "2", "in_b": "3", "in_c": "4", "in_d": "5"},
        at_end=True,
    ),
    Card(
        "by-hand",
        "A pass by hand",
        "Fill every blank of the classic graph, first its values, then its gradients, and reveal none.",
        "pages/practise.py",
        {"tab": "predict", "level": "1", "graph": "1"},
    ),
    Card(
        "what-it-costs",
        "What a gradient costs",
        "Guess how much longer finite differences take for 1,000 parameters, then let it be measured.",
        "pages/why_reverse_mode.py",
        {"tab": "cost"},
    ),
    Card(
        "forward-wins",
        "Where forward mode wins",
        "Find a function for which forward mode is the faster one: guess, and measure both.",
        "pages/why_reverse_mode.py",
        {"tab": "one", "expression": "(a*b + c) * tanh(a)", "in_a": "0.5", "in_b": "3", "in_c": "1"},
    ),
    Card(
        "whole-jacobian",
        "Fill a Jacobian",
        "Guess where the zeros of softmax are, fill its Jacobian pass by pass, and find backward(v) in it.",
        "pages/why_reverse_mode.py",
        {"tab": "one", "expression": "softmax(x)", "in_x": "[1, 2, 0, -1]"},
    ),
    Card(
        "forgotten-sum",
        "A forgotten sum",
        "Guess what happens where an engine does not sum over the axis that it has broadcast.",
        "pages/shapes.py",
        {"tab": "forgotten"},
    ),
    Card(
        "breaking-step",
        "The step that breaks a check",
        "Make h so small that the difference is zero. Which h is best, and why not a smaller one?",
        "pages/gradient_check.py",
        {"tab": "step", "expression": "x**2*sin(x) + exp(x)", "in_x": "2"},
    ),
    Card(
        "caught-write",
        "Catch the write",
        "With the guard on, say what backward() will do after the write, then run it.",
        "pages/simulate_error.py",
        {"part": "steps", "guard": "on"},
    ),
    Card(
        "broken-engine",
        "Break the engine",
        "Guess what a fault does to the gradients and to the curve, then run both engines.",
        "pages/faults.py",
    ),
    Card(
        "named-fault",
        "Name a hidden fault",
        "Solve one case from its evidence.",
        "pages/faults.py",
        {"tab": "spot"},
    ),
    Card(
        "topological-order",
        "Why an order",
        "Switch the engine to “any order” and find the message that is sent too early.",
        "pages/graph_lab.py",
        {"expression": "t = a*b\nexp(tanh(t)) * t", "in_a": "0.5", "in_b": "2", "stage": "backward"},
    ),
    Card(
        "own-rule",
        "Write a rule yourself",
        "Write a number that remembers, and its addition with the backward rule: until each check passes.",
        "pages/build_it_yourself.py",
        {"course": "scalars"},
    ),
    Card(
        "own-engine",
        "Your engine in the player",
        "Let the engine that you built compute an expression of your own: its gradients must be right.",
        "pages/build_it_yourself.py",
        {"tab": "passes"},
    ),
    Card(
        "why-the-loss-fell",
        "Why the loss fell",
        "Guess where momentum will be after ten steps, then take them down the ravine.",
        "pages/descent.py",
        {"surface": "ravine"},
    ),
    Card(
        "trained-network",
        "Train a network",
        "Guess, press Start, and let a run come to its end.",
        "pages/training_lab.py",
    ),
    Card(
        "own-digits",
        "Your engine reads digits",
        "Train a network with the tensors that you built, until it reads more than 90 % of unseen digits.",
        "pages/build_it_yourself.py",
        {"tab": "train"},
        "pages/training_lab.py",
    ),
)
BY_KEY = {card.key: card for card in CARDS}
