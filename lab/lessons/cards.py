"""The path through the lab: cards in teaching order, each with a state to start from and an action that completes it.

A card is completed by doing its action on its page, which reports it (lab/ui/progress.py). Opening or reading the page
completes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from lab.text import read_rows

CARD = "card"  # the address parameter that names the card a visitor came from


@dataclass(frozen=True)
class Card:
    """One step of the path. cards.toml explains its fields."""

    key: str
    title: str
    action: str
    file: str
    query: Mapping[str, str] = field(default_factory=dict)
    at_end: bool = False

    @property
    def link(self) -> Mapping[str, str]:
        """The parameters of a link to the card: its state, and the card itself, whose action the page then shows."""
        return {**self.query, CARD: self.key}


CARDS = tuple(Card(**row) for row in read_rows(Path(__file__).with_suffix(".toml"))["card"])
BY_KEY = {card.key: card for card in CARDS}
NEXT = {card.key: following for card, following in pairwise(CARDS)}
