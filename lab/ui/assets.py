"""How a Streamlit component loads its JavaScript from static/.

A component's own script travels with every message, so it is only a few lines that load the rest.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import streamlit as st

_STATIC = (Path(__file__).parents[2] / "static").resolve()


def component(name: str, module: str, function: str = "show", *, lost: str = "", style: str = "", **more: Any) -> Any:
    """A component whose parts are in static/. In each run of the page the browser calls a function of its module, and
    what that returns when the run is over.

    lost   what could not be loaded, in a reader's words: "The list"; without them nothing is said
    style  a file of static/, such as "grids/grids.css"
    more   of `st.components.v2.component`
    """
    sentence = json.dumps(f"{lost} could not be loaded. Load the page again.")
    script = f"""export default function (component) {{
  const over = loading.then(
    (module) => module.{function}(component),
    () => {f"component.parentElement.append({sentence})" if lost else "{}"},
  );
  return () => over.then((end) => end?.());
}}
"""
    css = (_STATIC / style).read_text("utf-8") if style else None
    return st.components.v2.component(f"tensor_ops_lab_{name}", css=css, js=loading(module) + script, **more)


def loading(name: str, *more: str) -> str:
    """JavaScript that begins to load a module, such as "charts/charts.js": a promise by the name of `loading`.

    Streamlit lets browsers keep these files for as long as they guess, so that after an update some would still be the
    old ones. A browser that has not seen this version of the module, of what it imports and of `more` fetches all anew.
    """
    files = [_STATIC / name, *(_STATIC / other for other in more)]
    for file in files:  # it grows meanwhile
        for imported in re.findall(r'^import [^;]* from "(\..*?)";$', file.read_text("utf-8"), re.M):
            path = (file.parent / imported).resolve()
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
    """Does nothing: Streamlit keeps a component's value only where a callback is given for it."""
