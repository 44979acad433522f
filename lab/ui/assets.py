"""Streamlit components whose JavaScript is loaded from static/.

Streamlit sends a component's own script with every message, so that script is only a few lines that load the rest.
"""

import hashlib
import json
import re
from typing import Any

import streamlit as st

from lab.config import ROOT

_STATIC = ROOT / "static"


def component(name: str, module: str, *, lost: str = "", **more: Any) -> Any:
    """Register a Streamlit component that calls the function `show` of a JavaScript module in static/.

    The browser calls it on each run of the page, and the function that it returns when the run is over
    (static/mount.js). The module loads its style sheet itself, which has the same name.

    lost   what the visitor misses if loading fails, such as "The list"; without it the component's state `failed` is
           True then
    more   further arguments of `st.components.v2.component`
    """
    sentence = json.dumps(f"{lost} could not be loaded. Load the page again.")
    failed = f"component.parentElement.append({sentence})" if lost else 'component.setStateValue("failed", true)'
    script = f"""export default function (component) {{
  const over = loading.then((module) => module.show(component), () => {{ {failed}; }});
  return () => over.then((end) => end?.());
}}
"""
    return st.components.v2.component(f"tensor_ops_lab_{name}", js=loading(module) + script, **more)


def loading(name: str) -> str:
    """Return JavaScript that starts to load a module such as "charts/charts.js", as a promise named `loading`.

    Streamlit lets each browser decide how long to cache these files, so some would be outdated after an update. A
    browser that has not seen this version of the module, its imports and style sheets fetches all of them again.
    """
    files = [_STATIC / name]
    for file in files:  # the loop appends to the list
        for imported, style in re.findall(
            r'^import [^;]* from "(\..*?)";$|new URL\("([^"]*\.css)"', file.read_text("utf-8"), re.M
        ):
            path = (file.parent / (imported or style)).resolve()
            if path not in files:
                files.append(path)
    version = hashlib.blake2s(b"".join(file.read_bytes() for file in files), digest_size=8).hexdigest()
    names = json.dumps([file.relative_to(_STATIC).as_posix() for file in files])
    return f"""
const at = (name) => new URL("app/static/" + name, document.baseURI);
const refresh = async () => {{
  if (localStorage.getItem("version of {name}") === "{version}") return;
  await Promise.all({names}.map((file) => fetch(at(file), {{ cache: "reload" }})));
  localStorage.setItem("version of {name}", "{version}");
}};
const loading = refresh().catch(() => {{}}).then(() => import(at("{name}")));
"""


def keep_value() -> None:
    """Do nothing; as a callback it makes Streamlit keep a component's value."""
