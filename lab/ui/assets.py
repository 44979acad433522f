"""How a Streamlit component loads its JavaScript from static/.

A component's own script travels with every message, so it is only a few lines that load the rest.
"""

import hashlib
import json
import re
from pathlib import Path

_STATIC = (Path(__file__).parents[2] / "static").resolve()


def loading(name: str, *more: str) -> str:
    """JavaScript that begins to load a module, such as "units/units.js": a promise by the name of `loading`.

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
