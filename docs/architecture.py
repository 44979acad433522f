"""Draw docs/architecture.svg from the imports: the rooms of the code, and which of them uses which.

    python docs/architecture.py

It needs Node, which runs the Graphviz of static/. Arrows point from a room to those that it uses; an arrow that a path
of other arrows implies is left out.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.unit.test_structure import MODULES, imported, room  # noqa: E402

SAYS = {
    "model": "the engine",
    "nn": "layers, optimizers",
    "train": "command line",
    "pages": "words and widgets",
    "app": "navigation",
    "practice": "tasks, questions",
}
RENDER = """
import { Graphviz } from "./static/graphviz/graphviz.js";
let text = ""; for await (const chunk of process.stdin) text += chunk;
const graphviz = await Graphviz.load(); process.stdout.write(graphviz.dot(text));
"""


def arrows() -> set[tuple[str, str]]:
    """Return pairs of rooms: the first imports the second."""
    pairs = {(room(module), room(other)) for module, path in MODULES.items() for other in imported(path)}
    return {(a, b) for a, b in pairs if a and b and a != b}


def without_detours(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the arrows that no longer path implies."""
    uses = {a: {b for one, b in pairs if one == a} for a, _ in pairs}

    def reaches(a: str, b: str, seen: frozenset[str] = frozenset()) -> bool:
        return any(c == b or (c not in seen and reaches(c, b, seen | {c})) for c in uses.get(a, ()))

    return {(a, b) for a, b in pairs if not any(reaches(c, b, frozenset({a})) for c in uses[a] - {b})}


def drawn() -> str:
    """Write the arrows as DOT."""
    pairs = without_detours(arrows())
    rooms = sorted({name for pair in pairs for name in pair})
    lines = [
        f'"{name}" [label="{name.removeprefix("lab.")}{chr(92)}n{SAYS[name]}"]'
        if name in SAYS
        else f'"{name}" [label="{name.removeprefix("lab.")}"]'
        for name in rooms
    ]
    lines += [f'"{a}" -> "{b}"' for a, b in sorted(pairs)]
    style = (
        'rankdir=TB; bgcolor="white"; edge [color="#555555"]; '
        'node [shape=box, style="rounded,filled", fillcolor="#E8F1F8", fontname="Helvetica"];'
    )
    return f"digraph {{ {style}\n" + "\n".join(lines) + "\n}"


def svg(dot: str) -> str:
    """Render DOT as SVG."""
    command = ["node", "--input-type=module", "-e", RENDER]
    return subprocess.run(command, input=dot, capture_output=True, text=True, check=True, cwd=ROOT).stdout


if __name__ == "__main__":
    (ROOT / "docs" / "architecture.svg").write_text(svg(drawn()), encoding="utf-8")
