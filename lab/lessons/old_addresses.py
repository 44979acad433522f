"""Redirect old addresses to the pages that now have their content, with their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import parse_qsl, urlencode

from lab.failures.catalogue import SHAPES
from lab.lessons.pages import BY_PATH


@dataclass(frozen=True)
class Moved:
    """A page whose address has changed.

    path   the page that has its content now; its own path if only tabs have moved
    tab    the tab to open there if the old address names none; "" for the first
    tabs   old tab -> the tab that has its content now
    names  old parameter name -> new name
    """

    path: str
    tab: str = ""
    tabs: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def query(self, query: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Translate the parameters of an old address into those of the page now."""
        name = BY_PATH[self.path].tab
        old_tab = dict(query).get(name, self.tab)
        tab = self.tabs.get(old_tab, old_tab)
        others = [(self.names.get(key, key), value) for key, value in query if key != name]
        return [(name, tab)] * bool(tab) + others


MOVED: Mapping[str, Moved] = MappingProxyType(
    {
        "graph": Moved("graph-lab"),
        "check": Moved("gradient-check"),
        "wrong": Moved("what-went-wrong"),
        "build": Moved("build-it-yourself", names={"ladder": "course"}),
        "training": Moved("training-lab"),
        "teach": Moved("for-teachers"),
        "broadcasting": Moved("shapes"),
        "why": Moved("why-reverse-mode", tabs={"directions": "one"}),
        "why-reverse-mode": Moved("why-reverse-mode", tabs={"directions": "one"}),
        "jacobian": Moved("why-reverse-mode", "one"),
        "spot": Moved("faults", "spot"),
        "designs": Moved("other-engines", "designs", {"scalars": "depth"}),
        "field": Moved("other-engines", "beside", {"tests": "beside", "history": "next"}),
        "other-engines": Moved("other-engines", tabs={"scalars": "depth", "history": "next"}),
        "own": Moved("build-it-yourself", "passes"),
        "debug": Moved("practise", "debug"),
        "predict": Moved("practise", "predict"),
        "questions": Moved("practise", "ask"),
    }
)


GRAPH_LABS: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = MappingProxyType(
    {  # old tab of Other engines -> parameters of the Graph lab that replaces it, and an example if the link has none
        "order": (
            {"engine": "any-order", "stage": "backward"},
            {"expression": "t = a*b\nexp(tanh(t)) * t", "event": "12"},
        ),
        "torch": ({"stage": "backward"}, {}),
    }
)


def new_address(path: str, query: str) -> tuple[str, str]:
    """Return the current path, from the lab's root, and query for an address; unchanged if it leads to a page."""
    if path.replace("_", "-") in BY_PATH:
        path = path.replace("_", "-")  # the name of a page's file
    parameters = dict(parse_qsl(query, keep_blank_values=True))
    if path == "simulate-error" and (parameters.get("part") == "messages" or "message" in parameters):
        key = parameters.pop("message", "")  # from a tab that has moved to another page
        if parameters.get("part") != "messages":
            return path, urlencode(parameters)
        return "what-went-wrong", urlencode({"shape" if key in SHAPES else "failure": key}) if key else ""
    moved = MOVED.get(path)
    if moved and moved.path == "other-engines" and parameters.get("tab") in GRAPH_LABS:
        state, example = GRAPH_LABS[parameters["tab"]]
        point = {name: text for name, text in parameters.items() if name == "expression" or name.startswith("in_")}
        return "graph-lab", urlencode({**state, **(point if "expression" in point else example)})
    if moved is None or (moved.path == path and parameters.get(BY_PATH[path].tab) not in moved.tabs):
        return path, query
    return moved.path, urlencode(moved.query(parse_qsl(query, keep_blank_values=True)))
