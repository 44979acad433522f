"""Where pages are now that once had an address of their own: old links lead there, with what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import parse_qsl, urlencode

from lab.failures.catalogue import SHAPES
from lab.lessons.pages import BY_PATH


@dataclass(frozen=True)
class Moved:
    """A page of former times.

    path  of the page that has its content now; its own, where only tabs of it are gone
    tab   that shows it there, where the old address names none; "" for the first
    tabs  tabs that are gone -> the tab that has their content
    names of parameters that have another name now -> this name
    """

    path: str
    tab: str = ""
    tabs: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def query(self, query: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """The parameters of an old address, as the page has them now."""
        name = BY_PATH[self.path].tab
        said = dict(query).get(name, self.tab)
        tab = self.tabs.get(said, said)
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
    {  # tab of Other engines that the Graph lab has in its place -> what it opens with, and the example if none is said
        "order": (
            {"engine": "any-order", "stage": "backward"},
            {"expression": "t = a*b\nexp(tanh(t)) * t", "event": "12"},
        ),
        "torch": ({"stage": "backward"}, {}),
    }
)


def new_address(path: str, query: str) -> tuple[str, str]:
    """The path, from the lab's root, and the query of what was once at this address; the same where nothing moved."""
    said = dict(parse_qsl(query, keep_blank_values=True))
    if path == "simulate-error" and (said.get("part") == "messages" or "message" in said):
        key = said.pop("message", "")  # of a tab that another page has in its place
        if said.get("part") != "messages":
            return path, urlencode(said)
        return "what-went-wrong", urlencode({"shape" if key in SHAPES else "failure": key}) if key else ""
    moved = MOVED.get(path)
    if moved and moved.path == "other-engines" and said.get("tab") in GRAPH_LABS:
        state, example = GRAPH_LABS[said["tab"]]
        point = {name: text for name, text in said.items() if name == "expression" or name.startswith("in_")}
        return "graph-lab", urlencode({**state, **(point if "expression" in point else example)})
    if moved is None or (moved.path == path and said.get(BY_PATH[path].tab) not in moved.tabs):
        return path, query
    return moved.path, urlencode(moved.query(parse_qsl(query, keep_blank_values=True)))
