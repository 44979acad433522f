"""Export a trace: as data for the player, and as one HTML page that plays it without a server."""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from lab.gradcheck.slopes import Slope
from lab.text import strict_json
from lab.trace.derivation import derive, result_name
from lab.trace.nonfinite import remarks
from lab.trace.recording import Trace
from lab.trace.schema import Captured

STATIC = Path(__file__).parents[2] / "static"
# The player's modules, each after those that it imports.
_MODULES = (
    "format dom states arithmetic equation layout arranger arrays view graph source twin bar ledger table facts "
    "closure derivation inputs predicted_change predict pointing present tabs tangents controls takeaway player"
)
MODULES = tuple(_MODULES.split())


def player_data(trace: Trace, slopes: Sequence[Slope] = ()) -> dict[str, Any]:
    """Return what the player shows of a trace: the pass, where inf and nan arose in it (each sentence with the pass
    after which it may be read), and what the numerical check found for its gradients, from lab.trace.numerical."""
    return {
        "trace": playable(trace),
        "remarks": [{"after": arose, "text": sentence.replace("`", "")} for arose, sentence in remarks(trace)],
        "slopes": slope_data(slopes),
    }


def playable(trace: Trace) -> dict[str, Any]:
    """Return a trace and its derivations as plain data for the player; lab/trace/schema.py describes the parts.

    Captured arrays that are a node's value are left out: the browser can look them up.
    """
    nodes = [
        {**node, "captured": [_without_copy(entry) for entry in node["captured"]]} if node["op"] else node
        for node in trace.nodes
    ]
    derived = derive(trace)
    return {
        "nodes": nodes,
        "events": trace.events,
        "output": trace.output,
        "result": result_name(trace, [one["name"] for one in derived]),
        "sources": trace.sources,
        "derived": derived,
        "error": trace.error,
    }


def _without_copy(entry: Captured) -> dict[str, Any]:
    copied = entry["holds"].startswith(("output", "value of operand")) and not entry.get("written")
    return {key: value for key, value in entry.items() if not (copied and key == "value")}


def slope_data(slopes: Sequence[Slope]) -> list[dict[str, Any]]:
    """Return slopes as plain data, with the keys that the player reads."""
    return [
        {name: getattr(slope, name) for name in ("kind", "used", "still", "sentence")}
        | {
            "element": str(slope.element),
            "hasDerivative": slope.has_derivative,
            "hasValue": slope.has_value,
        }
        for slope in slopes
    ]


def standalone(
    trace: Trace, event: int | None = None, title: str = "A backward pass, step by step", slopes: Sequence[Slope] = ()
) -> str:
    """Return one HTML page with the player, the trace and Graphviz inside; it opens from a disk, without any network.

    event   how many events have happened when it opens; all by default
    slopes  the numerical check of the gradients; see lab.trace.numerical
    """
    return page_code().replace("<!--title-->", escape(title)).replace("<!--data-->", page_data(trace, event, slopes))


def page_data(trace: Trace, event: int | None = None, slopes: Sequence[Slope] = ()) -> str:
    """Return the data that the page plays, as JSON that is safe inside a script element."""
    return strict_json({"event": event, **player_data(trace, slopes)}).replace("<", "\\u003c")


@cache
def page_code() -> str:
    """Return the page without its trace. Its modules become one script: a page opened from a disk may not import."""
    script = "\n".join(_without_imports((STATIC / "player" / f"{name}.js").read_text("utf-8")) for name in MODULES)
    style = (STATIC / "player" / "player.css").read_text("utf-8")
    graphviz = (STATIC / "graphviz" / "graphviz.js").read_text("utf-8")
    template = (STATIC / "player" / "standalone.html").read_text("utf-8")
    worker = (STATIC / "player" / "worker.js").read_text("utf-8")
    parts = {"/*style*/": style, "<!--graphviz-->": graphviz, "/*worker*/": worker, "/*script*/": script}
    for mark, part in parts.items():
        template = template.replace(mark, part)
    return template


def _without_imports(module: str) -> str:
    return re.sub(r"^export ", "", re.sub(r"^import [^;]*;\n", "", module, flags=re.M), flags=re.M)
