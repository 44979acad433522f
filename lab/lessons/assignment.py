"""What a teacher can put into a set: things to do, controls to hide, and a page in a state to begin with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import parse_qsl, urlencode, urlsplit

from lab.expression import ExpressionError
from lab.expression.builder import parse
from lab.lessons.abilities import DEEDS, Deed
from lab.lessons.assignment_link import PARAMETERS
from lab.lessons.moved import MOVED, new_address
from lab.lessons.pages import PAGES, Page

BY_PATH = MappingProxyType({page.path: page for page in PAGES if page.path})
NOT_TO_DO = ("for-teachers",)  # pages that are for nobody's list

FORMER: Mapping[str, Deed] = MappingProxyType(  # pages that older lists ask for
    {
        f"pages/{path}": Deed(f"Page: {page.tabs.get(tab, page.title)}", page.file, {page.tab: tab} if tab else {})
        for path, moved in MOVED.items()
        if path not in BY_PATH
        for page, tab in [(BY_PATH[moved.path], moved.tab)]
    }
)
ITEMS: Mapping[str, Deed] = MappingProxyType(
    DEEDS
    | FORMER
    | {
        f"pages/{path}": Deed(f"Page: {page.title}", page.file, {})
        for path, page in BY_PATH.items()
        if path not in NOT_TO_DO
    }
)

CONTROLS = MappingProxyType(
    {
        "hints": "Hints of tasks, programs and questions",
        "lines": "*Show one way to write it*",
        "reveal": "*Reveal* in Predict, then reveal",
        "try": "*Try this* at the end of each page",
    }
)
LONGEST = 4000  # characters of a beginning


def beginning(text: str) -> tuple[Page, dict[str, str]]:
    """The page and the parameters that a set begins with.

    text: the address of a page of the lab, whole or from its path on; or an expression, for the Graph lab. A set that
    the address carries is left out: it would take the place of this one. ValueError, with a sentence, for what is
    neither.
    """
    text = text.strip()
    if len(text) > LONGEST:
        raise ValueError(f"This is longer than {LONGEST} characters.")
    try:
        address = urlsplit(text)
    except ValueError:
        address = urlsplit("")
    path, said = new_address(address.path.rstrip("/").rpartition("/")[2], address.query)
    if path in BY_PATH and ("?" in text or address.scheme in ("http", "https")):
        query = parse_qsl(said, keep_blank_values=True)
        return BY_PATH[path], {name: said for name, said in query if name not in PARAMETERS}
    try:
        parse(text)
    except ExpressionError:
        raise ValueError("This is neither the address of a page of the lab nor an expression.") from None
    return BY_PATH["graph-lab"], {"expression": text}


def shortened(text: str) -> str:
    """The same beginning as short as it can be: from the page's path on. Raises as `beginning` does."""
    page, query = beginning(text)
    return f"{page.path}?{urlencode(query)}"
