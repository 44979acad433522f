"""Arrays drawn cell by cell on a page; pointing at a cell is answered in the browser, by static/grids/."""

from __future__ import annotations

import streamlit as st

from lab.lessons.shapes.grids import Picture
from lab.trace.recording import strict_json
from lab.ui.assets import loading

# Streamlit's own colours where there are any, and the player's: values blue, gradients orange.
_CSS = """
.grids {
  --line: light-dark(#b9c2cc, #4a5462); --muted: light-dark(#566070, #a9b4c0); --now: light-dark(#0069a5, #56b4e9);
  color: var(--st-text-color); font: 400 0.85rem/1.4 var(--st-font); padding-bottom: 0.25rem;
}
.words { position: sticky; top: 0; z-index: 1; margin: 0 0 0.5rem; padding: 0.4rem 0.7rem; min-height: 2.8em;
  font-size: 0.95rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
  border-left: 4px solid var(--now); background: var(--st-secondary-background-color); }
.words > * { display: block; font-weight: 400; }
.words span { color: var(--muted); }
.row { display: grid; grid-auto-columns: minmax(0, 1fr); grid-auto-flow: column; }
.row + .row { margin-top: 0.4rem; }
.half { display: flex; flex-wrap: wrap; align-items: center; gap: 0.3rem 0.7rem; min-width: 0; }
.half + .half { border-left: 1px solid var(--line); padding-left: 1rem; margin-left: 0.5rem; }
figure { margin: 0; max-width: 100%; }
figure > div { display: flex; flex-wrap: wrap; gap: 0.2rem 0.6rem; }
figcaption { white-space: nowrap; color: var(--muted); font-size: 0.8rem; }
figcaption b { color: var(--st-text-color); font-weight: 600; }
.sign { color: var(--muted); align-self: center; }
table { border-collapse: separate; border-spacing: 2px; }
th, thead td { font-weight: 400; font-size: 0.7rem; color: var(--muted); padding: 0 0.2rem; text-align: center; }
td { padding: 0; }
button { font: inherit; font-variant-numeric: tabular-nums; color: inherit; width: 100%; min-width: 2.6rem;
  height: 1.8rem; padding: 0 0.3rem; border: 1px solid var(--line); border-radius: 4px; cursor: pointer;
  background: light-dark(#e9f3fb, #12304a); }
.copy button { background: transparent; border-style: dashed; }
.gradient button, .upstream button { background: light-dark(#fff0dc, #4a2a06); }
.upstream button { background: light-dark(#fdf7ee, #33240f); }
.wrong button { background: light-dark(#fbe3e9, #4a1526); border-style: double; border-width: 3px; }
button.lit { background: #ff9f1c; color: #3d1800; border-color: #3d1800; font-weight: 700; }
.value button.lit, .copy button.lit { background: #56b4e9; color: #06202f; border-color: #06202f; }
button.pointed { outline: 3px solid var(--st-text-color); outline-offset: 0; font-weight: 700; }
button:focus-visible { outline: 3px solid var(--now); outline-offset: 1px; }
@media (max-width: 640px) {
  button { min-width: 2.1rem; padding: 0 0.15rem; font-size: 0.8rem; }
  .row { grid-auto-flow: row; gap: 0.4rem; }
  .half { gap: 0.3rem 0.4rem; }
  .half + .half { border-left: 0; padding-left: 0; margin-left: 0; }
  .row + .row { border-top: 1px solid var(--line); padding-top: 0.4rem; }
}
"""
_component = st.components.v2.component(
    "tensor_ops_lab_grids",
    css=_CSS,
    js=loading("grids/grids.js")
    + """export default function (component) {
  loading.then(
    (grids) => grids.show(component),
    () => component.parentElement.append("The arrays could not be loaded. Load the page again."),
  );
}""",
)


def packed(picture: Picture) -> bytes:
    """What `show` draws."""
    return strict_json(picture.data()).encode()


def show(packed: bytes, key: str) -> None:
    """Draw the arrays where the page is just now."""
    _component(key=key, data=packed)
