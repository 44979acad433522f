"""From any page to “What went wrong?”, with what is in the clipboard. The window that takes it is in static/finder/."""

from __future__ import annotations

from urllib.parse import parse_qsl

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from lab.ui import state
from lab.ui.assets import keep_value, loading

PAGE = "pages/what_went_wrong.py"
ASKED = "finder asked"  # a text that this page is to look up
LONGEST = 100_000  # characters
_CSS = """
button { font: inherit; color: inherit; cursor: pointer; border: 1px solid var(--st-border-color);
  border-radius: 0.5rem; background: var(--st-background-color); }
button:is(:hover, :focus-visible) { border-color: var(--st-primary-color); }
:is(button, textarea):focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
.opener { display: flex; gap: 0.5rem; align-items: center; height: 2rem; padding: 0 0.6rem; font-size: 0.875rem; }
.opener::before { content: "?!" / ""; min-width: 1.1rem; font-weight: 700; color: light-dark(#0069a5, #7cc0f5); }
.opener::after { content: attr(data-keys) / ""; padding: 0 0.3rem; font-size: 0.75rem; border-radius: 0.25rem;
  border: 1px solid var(--st-border-color); color: light-dark(#5f6470, #a3a8b5); }
@media (max-width: 1240px) {
  .opener { gap: 0; }
  .opener span { position: absolute; width: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  .opener::after { display: none; }
}
dialog { box-sizing: border-box; width: min(40rem, calc(100vw - 1.5rem)); margin: 4rem auto auto; padding: 0;
  border: 1px solid var(--st-border-color); border-radius: 0.75rem; color: var(--st-text-color);
  background: var(--st-background-color); box-shadow: 0 1rem 3rem #0006; }
dialog::backdrop { background: #0007; }
dialog > div { padding: 1rem 1.25rem; }
h2 { margin: 0 0 0.6rem; font-size: 1.2rem; }
textarea { box-sizing: border-box; width: 100%; padding: 0.6rem; resize: vertical; color: inherit;
  font: 0.85rem/1.45 var(--st-code-font, monospace); border: 1px solid var(--st-border-color); border-radius: 0.5rem;
  background: var(--st-secondary-background-color); }
textarea::placeholder { color: light-dark(#5f6470, #a3a8b5); opacity: 1; }
p { display: flex; flex-wrap: wrap; gap: 0.5rem 0.75rem; align-items: center; margin: 0.6rem 0 0; }
p button { padding: 0.3rem 0.9rem; }
.go { color: #fff; background: light-dark(#0069a5, #2a7ab8); border-color: transparent; }
small { font-size: 0.8rem; color: light-dark(#5f6470, #a3a8b5); }
"""
_component = st.components.v2.component(
    "tensor_ops_lab_finder",
    css=_CSS,
    js=loading("finder/finder.js")
    + "export default function (component) { loading.then((finder) => finder.show(component), () => {}); }",
)


def reachable() -> None:
    """Let the visitor ask from this page; once on a page, before anything that takes time. A page that is shown within
    another site has no bar at the top for it."""
    if st.context.is_embedded:
        return
    said = _component(key="finder", on_asked_change=keep_value).get("asked")
    if not said:
        return
    st.session_state[ASKED] = str(said["text"])[:LONGEST]
    try:
        st.switch_page(PAGE, query_params=parse_qsl(said["query"], keep_blank_values=True))
    except StreamlitPageNotFoundError:  # the page was opened alone, without app.py
        del st.session_state[ASKED]


def asked(page: str) -> str:
    """What has been asked on another page, or here, once; "" for nothing. For the page that answers, before it reads
    its address: that is still the one of the page where it was asked."""
    if ASKED not in st.session_state:
        return ""
    if st.session_state.get("page") == page:
        state.step()
    state.begin(page)
    return str(st.session_state.pop(ASKED))
