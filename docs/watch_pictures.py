"""Draw the pictures of docs/watch.md, each from a run of its program.

    python docs/watch_pictures.py

It needs PyTorch, and Node, which runs the Graphviz of static/.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import torch  # noqa: F401  (before `watch`, which records what has been imported)
from matplotlib import pyplot as plt
from torch.optim.optimizer import register_optimizer_step_post_hook

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docs.architecture import svg  # noqa: E402
from lab.trace.recording import describe  # noqa: E402
from lab.watch import watch  # noqa: E402

PROGRAMS = ROOT / "docs" / "programs"
STYLE = {"svg.hashsalt": "watch", "font.size": 11, "axes.spines.top": False, "axes.spines.right": False}
BLUE, ORANGE = "#0068a8", "#a34300"


def run(name: str, *change: str, after_step: Callable[[dict[str, Any]], float] = lambda variables: 0.0) -> list[float]:
    """Run a program, with one text in it changed for another; what `after_step` finds in its variables each time."""
    text = (PROGRAMS / name).read_text("utf-8")
    variables: dict[str, Any] = {"__name__": "__main__"}
    seen: list[float] = []
    handle = register_optimizer_step_post_hook(lambda *_: seen.append(after_step(variables)))
    try:
        exec(compile(text.replace(*change) if change else text, name, "exec"), variables)
    finally:
        handle.remove()
    return seen


def graph_kept_by(value: Any) -> int:
    """How many nodes of PyTorch's graph a value keeps alive."""
    seen, stack = set(), [getattr(value, "grad_fn", None)]
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            stack += [before for before, _ in node.next_functions]
    return len(seen)


def plot(name: str, draw_on: Callable[[Any], None], label: str) -> None:
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
        draw_on(axes)
        axes.set(xlabel="step", ylabel=label)
        figure.savefig(ROOT / "docs" / f"watch-{name}.svg", metadata={"Date": None})
        plt.close(figure)


def none() -> None:
    """Draw the last pass of the program: what a gradient reached, and where the cut stops it."""
    with watch() as pass_:
        run("encoder_detached.py")
    reached = pass_.trace.gradients_after()
    lines = ['rankdir=LR; bgcolor="white"; node [shape=box, style="rounded,filled", fontname="Helvetica"];']
    for node in pass_.trace.nodes:
        cut, number = node.get("cut"), node["id"]
        gradient = "no gradient passes" if cut else "gradient" if number in reached else "grad None"
        look = 'fillcolor="#E8F1F8"' if number in reached else f'fillcolor="white", color="{ORANGE}"'
        if node["op"] or node["requires_grad"]:
            lines.append(f'{number} [label="{describe(node)}\\n{gradient}", penwidth={3 if cut else 1}, {look}]')
            lines += [f"{child} -> {number}" for child in node["children"] if pass_.trace.nodes[child]["label"] != "x"]
    (ROOT / "docs" / "watch-none.svg").write_text(svg(f"digraph {{ {' '.join(lines)} }}"), "utf-8")


def nan() -> None:
    """Return the smallest 1 - p of each step, up to the first that is 0."""
    gaps = run("nan_at_step_400.py", after_step=lambda variables: float((1 - variables["p"]).min().detach()))
    end = gaps.index(0.0) + 1

    def draw_on(axes: Any) -> None:
        axes.semilogy(range(1, end), gaps[: end - 1], color=BLUE)
        axes.axvline(end, color=ORANGE, linestyle="--")
        axes.annotate(f"step {end}: 0 ", (end, gaps[0]), color=ORANGE, ha="right", va="top")

    plot("nan", draw_on, "smallest 1 - p")


def memory() -> None:
    """Draw the graph that the sum keeps alive, with the failure and with the fix."""
    name, change = "running_total.py", ("+= loss", "+= loss.item()")
    kept = run(name, after_step=lambda variables: graph_kept_by(variables["total"]))
    cured = run(name, *change, after_step=lambda variables: graph_kept_by(variables["total"]))

    def draw_on(axes: Any) -> None:
        steps = range(1, len(kept) + 1)
        for seen, text, colour, mark in ((kept, "total += loss", ORANGE, "o"), (cured, "loss.item()", BLUE, "s")):
            axes.plot(steps, seen, color=colour, marker=mark, label=text)
        axes.legend(frameon=False)

    plot("memory", draw_on, "nodes kept alive")


if __name__ == "__main__":
    none()
    nan()
    memory()
