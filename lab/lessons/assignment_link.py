"""A teacher's set of things to do, as a link carries it: "cards.first-gradient.by-hand~scalars.add"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qs, urlsplit

LONGEST = 20_000  # characters
MAX_WORDS = 100
ITEMS, NAME, HIDE, BEGIN = PARAMETERS = ("set", "name", "hide", "begin")  # names in an address
CARDS = "cards"  # in a link, what cards begin with; their keys have no such beginning


def written(keys: Iterable[str]) -> str | None:
    """Keys such as "scalars/add", of a card "first-gradient"; with no sign that an address would have to escape."""
    rooms: dict[str, list[str]] = {}
    for key in keys:
        room, _, name = key.rpartition("/")
        rooms.setdefault(room or CARDS, []).append(name)
    return "~".join(".".join([room, *names]) for room, names in rooms.items()) or None


def read(text: str) -> tuple[str, ...]:
    """The opposite of `written`, each key once, known or not. ValueError for what is longer than any set."""
    if len(text) > LONGEST:
        raise ValueError("too long")
    found: dict[str, None] = {}
    for part in text.split("~"):
        room, *names = part.split(".")
        for name in filter(None, names):
            found[name if room == CARDS else f"{room}/{name}"] = None
    return tuple(found)


def words(text: str) -> tuple[str, ...]:
    """The names of controls to hide, "hints~lines" or "hints,lines", each once, known or not."""
    return tuple(dict.fromkeys(filter(None, re.split("[~,]", text))))[:MAX_WORDS]


def of_link(link: str) -> tuple[str, ...]:
    """The keys of the set that an address carries. ValueError, with a sentence, where it carries none."""
    try:
        texts = parse_qs(urlsplit(link.strip()).query).get(ITEMS, [])
        keys = read(texts[-1]) if texts else ()
    except ValueError:
        keys = ()
    if not keys:
        raise ValueError("The link carries no set: copy it whole, from the page For teachers.")
    return keys
