"""Every page of the lab, in the order of the menu, and the question that it answers.

A new page is a file in pages/ and a row in pages.toml.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from lab.text import read_rows

GROUPS = ("", "See", "Break", "Build", "Train", "Know")  # "": of no group, a link of its own


@dataclass(frozen=True)
class Page:
    """One page.

    file      its script
    path      in the address
    group     of the menu
    icon      a Material symbol
    question  what a visitor can answer after it
    words     for which the search finds it, besides those of title and question
    tabs      name in the address -> title, of a page with tabs; the first one is open at first
    tab       the parameter of the address that holds the open tab
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

    def address(self, query: Mapping[str, str]) -> str:
        """From the lab's root. query: its parameters."""
        return self.path + (f"?{urlencode(query)}" if query else "")


PAGES = tuple(Page(**row) for row in read_rows(Path(__file__).with_suffix(".toml"))["page"])
BY_FILE = {page.file: page for page in PAGES}
BY_PATH = {page.path: page for page in PAGES}
