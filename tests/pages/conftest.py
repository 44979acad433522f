"""How the tests of a page begin: the page without a browser, opened at an address."""

import json
from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


def app(script):
    """A page such as "pages/graph_lab.py", or "app.py" with all of them; it has not run yet."""
    return AppTest.from_file(ROOT / script, default_timeout=120)


def run(at, **address):
    """Run it, with these query parameters, and see that it does not fail."""
    for key, value in address.items():
        at.query_params[key] = str(value)
    at.run()
    assert not at.exception
    return at


def press(at, key):
    at.button(key=key).click().run()
    assert not at.exception


def texts(elements):
    return "\n".join(str(element.value) for element in elements)


def in_address(at, name):
    value = at.query_params[name]
    return value[0] if isinstance(value, list) else value


def sent(at):
    """What the player was given to show."""
    return json.loads(at.get("bidi_component")[0].proto.bytes)
