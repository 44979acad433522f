"""Show a trace in a notebook: one cell holds the player's code, each cell its own data."""

import hashlib
import sys
from html import escape
from typing import Any

from lab.trace.export import page_code, page_data, standalone
from lab.trace.recording import Trace

HEIGHT = 900  # pixels
_HOLDER = "_tensor_ops_lab_player"  # on IPython's shell: the cell that has the code, and the run that put it there
# A page that finds a frame with the code, puts its own data in, and becomes that page, so that others can find it here.
_BORROW = """<!doctype html><html lang="en"><meta charset="utf-8">
<style>:root { color-scheme: light dark; } body { font: 1rem/1.5 system-ui, sans-serif; }</style>
<p>The player is in the output of another cell. If this text stays, run that cell again, or restart the kernel and run
this one.</p>
<script type="application/json" id="trace"><!--data--></script>
<script>
const data = /(<script type="application\\/json" id="trace">)[^]*?(<\\/script>)/;
const borrow = () => {
  const holder = parent.document.querySelector('iframe[data-player="<!--version-->"]');
  if (!holder) return;
  watch.disconnect();
  const own = document.getElementById("trace").textContent;
  const frame = window.frameElement;
  frame.srcdoc = holder.srcdoc.replace(data, (all, open, close) => open + own + close);
  frame.dataset.player = "<!--version-->";
};
const watch = new MutationObserver(borrow);  // a notebook may draw its cells as one scrolls to them
watch.observe(parent.document, { childList: true, subtree: true });
borrow();
</script></html>"""


def framed(trace: Trace, code: bool = True) -> str:
    """Return the player in an iframe, so that its styles and scripts do not touch the notebook.

    code  whether the iframe contains the player's code; if not, it takes it from another frame of the same page
    """
    version = hashlib.blake2s(page_code().encode(), digest_size=8).hexdigest()
    if code:
        page, holds = standalone(trace), f'data-player="{version}" '
    else:
        page, holds = _BORROW.replace("<!--version-->", version).replace("<!--data-->", page_data(trace)), ""
    return (
        f'<iframe title="The backward pass, step by step" {holds}style="width: 100%; height: {HEIGHT}px; border: 0" '
        f'srcdoc="{escape(page)}"></iframe>'
    )


def in_notebook(trace: Trace) -> str:
    """Return HTML for the cell that runs now. The first cell that shows a pass holds the player's code, also when it is
    run again; the others borrow it. If the front end does not name its cells or isolates them, each cell holds it."""
    ipython: Any = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    parent: dict[str, Any] = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell = parent.get("metadata", {}).get("cellId")
    if cell is None or "google.colab" in sys.modules:
        return framed(trace)
    run = parent["header"]["msg_id"]
    holder, put = getattr(shell, _HOLDER, (None, None))
    code = holder is None or (holder == cell and put != run)
    if code:
        setattr(shell, _HOLDER, (cell, run))
    return framed(trace, code)
