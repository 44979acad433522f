"""The page that an assignment starts with: an address of the lab, or an expression for the Graph lab."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit

from lab.expression import ExpressionError
from lab.expression.parser import parse
from lab.lessons.assignment import BY_PATH
from lab.lessons.assignment_link import PARAMETERS
from lab.lessons.pages import Page

MAX_START_TEXT = 4000  # characters of an address or expression to start with


def beginning(text: str) -> tuple[Page, dict[str, str]]:
    """Return the page and the address parameters that an assignment starts with.

    text: the address of a page of the lab, complete or from its path on; or an expression, for the Graph lab. An
    assignment in that address is left out, because it would replace this one. Raises ValueError, with a sentence, if
    the text is neither.
    """
    text = text.strip()
    if len(text) > MAX_START_TEXT:
        raise ValueError(f"This is longer than {MAX_START_TEXT} characters.")
    try:
        address = urlsplit(text)
    except ValueError:
        address = urlsplit("")
    path = address.path.rstrip("/").rpartition("/")[2]
    if path in BY_PATH and ("?" in text or address.scheme in ("http", "https")):
        query = parse_qsl(address.query, keep_blank_values=True)
        return BY_PATH[path], {name: value for name, value in query if name not in PARAMETERS}
    try:
        parse(text)
    except ExpressionError:
        raise ValueError("This is neither the address of a page of the lab nor an expression.") from None
    return BY_PATH["graph-lab"], {"expression": text}


def shortened(text: str) -> str:
    """Return the starting point in its shortest form, from the page's path on. Raises what `beginning` raises."""
    page, query = beginning(text)
    return f"{page.path}?{urlencode(query)}"
