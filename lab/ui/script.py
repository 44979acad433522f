"""How a Streamlit component loads its JavaScript from static/, where the browser keeps it until it changes.

A component's own script travels with every message, so it is only a line or two that loads the rest.
"""

import hashlib
from pathlib import Path

_STATIC = Path(__file__).parents[2] / "static"


def loading(name: str) -> str:
    """JavaScript that begins to load a module, such as "units/units.js": a promise by the name of `loading`."""
    version = hashlib.blake2s((_STATIC / name).read_bytes(), digest_size=8).hexdigest()
    return f'const loading = import(new URL("app/static/{name}?{version}", document.baseURI));\n'


def keep_value() -> None:
    """Does nothing: Streamlit keeps a component's value only where a callback is given for it."""
