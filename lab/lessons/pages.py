"""The pages of the lab, in the order of the menu, with the question that each answers.

To add a page, write a file in pages/ and add a row to pages.toml.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from lab.text import read_rows

SHARED = ("card", "set", "name")  # parameters that all pages have: the card that led here, a teacher's list, its name
WINDOW = "{} · Tensor Ops Lab"  # title of the window, of a page's title: it says which page the server computes
GROUPS = ("", "See", "Break", "Build", "Train", "Know")  # "": no group, a link of its own in the menu


@dataclass(frozen=True)
class Page:
    """One page of the lab.

    file      its script
    path      its path in the address
    group     its group in the menu
    icon      the name of a Material symbol
    question  a question that you can answer after reading it
    words     search words, besides those of title and question
    tabs      if it has tabs: name in the address -> title; the first one is open at first
    tab       the parameter in `query` below that names the open tab
    key       how the keys of its widgets begin, which are also their names in the address: "shapes" for "shapes-op"
    """

    file: str
    title: str
    path: str
    group: str
    icon: str
    question: str
    words: str = ""
    tabs: Mapping[str, str] = field(default_factory=dict)
    tab: str = "tab"
    key: str = ""

    def address(self, query: Mapping[str, str]) -> str:
        """Return the page's address, relative to the lab's root, for a query as in `parameters`."""
        return self.path + (f"?{urlencode(self.parameters(query))}" if query else "")

    def parameters(self, query: Mapping[str, str]) -> dict[str, str]:
        """Return the address parameters for a query with short names, such as {"tab": "matmul", "n": "3"}.

        Streamlit names a parameter after the widget's key, which is unique in the whole lab, and holds a tab by its
        title. The first tab is left out: Streamlit would take it out of the address, with an entry in the history.
        """
        first = next(iter(self.tabs), "")
        return {
            name if name in SHARED else f"{self.key}-{name}": self.tabs.get(text, text) if name == self.tab else text
            for name, text in query.items()
            if (name, text) != (self.tab, first)
        }


PAGES = tuple(Page(**row) for row in read_rows(Path(__file__).with_suffix(".toml"))["page"])
BY_FILE = {page.file: page for page in PAGES}
BY_PATH = {page.path: page for page in PAGES}
