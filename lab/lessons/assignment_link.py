"""Read and write a teacher's assignment in a link: "cards.first-gradient.by-hand~scalars.add"."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qs, urlsplit

MAX_TEXT = 20_000  # characters of an assignment in a link
ITEMS, NAME = "set", "name"  # names of address parameters
CARDS = "cards"  # the prefix of cards in a link; their keys have none


def written(keys: Iterable[str]) -> str | None:
    """Write keys, such as "scalars/add" or a card's "first-gradient", without characters that an address escapes."""
    rooms: dict[str, list[str]] = {}
    for key in keys:
        room, _, name = key.rpartition("/")
        rooms.setdefault(room or CARDS, []).append(name)
    return "~".join(".".join([room, *names]) for room, names in rooms.items()) or None


def read(text: str) -> tuple[str, ...]:
    """Read keys that `written` wrote, each once, known or not. Raises ValueError if the text is too long."""
    if len(text) > MAX_TEXT:
        raise ValueError("too long")
    found: dict[str, None] = {}
    for part in text.split("~"):
        room, *names = part.split(".")
        for name in filter(None, names):
            found[name if room == CARDS else f"{room}/{name}"] = None
    return tuple(found)


def keys_of_link(link: str) -> tuple[str, ...]:
    """Read the keys of the assignment in an address. Raises ValueError, with a sentence, if it has none."""
    try:
        texts = parse_qs(urlsplit(link.strip()).query).get(ITEMS, [])
        keys = read(texts[-1]) if texts else ()
    except ValueError:
        keys = ()
    if not keys:
        raise ValueError("The link carries no list: copy it whole, from the page For teachers.")
    return keys
