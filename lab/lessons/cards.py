"""The path: cards in an order that teaches, each with a state to begin from and the deed that completes it.

A card is completed by what the visitor has really done on its page, which announces it (lab/ui/progress.py); opening
it, or reading, completes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.text import read_rows


@dataclass(frozen=True)
class Card:
    """One step of the path. cards.toml says what its fields are."""

    key: str
    title: str
    deed: str
    file: str
    query: Mapping[str, str] = field(default_factory=dict)
    also: str = ""
    at_end: bool = False


CARDS = tuple(Card(**row) for row in read_rows(Path(__file__).with_suffix(".toml"))["card"])
BY_KEY = {card.key: card for card in CARDS}
