"""How the tests of a page begin: the page without a browser, opened at an address."""

import functools
import json
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from lab.lessons.pages import BY_FILE, BY_PATH

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def one_search_for_components():
    """Each new AppTest reads what all installed packages say of themselves, to find components: a fifth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        search = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", search)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_page_without_the_frame():
    """As app.py has it when a server starts. AppTest forgets it, and a page whose address is its file's name would run
    without app.py."""
    begin = PagesManager.__init__

    def with_navigation(self, *arguments, **options):
        PagesManager.uses_pages_directory = False
        begin(self, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PagesManager, "__init__", with_navigation)
        yield


def app(script):
    """A page such as "pages/graph_lab.py", or "app.py" with all of them; it has not run yet."""
    at = AppTest.from_file(ROOT / script, default_timeout=120)
    at.page = BY_FILE.get(script)
    return at


def run(at, **address):
    """Run it, with these query parameters in their short form, and see that it does not fail."""
    texts = {key: str(value) for key, value in address.items()}
    at.query_params.update(at.page.parameters(texts) if at.page else texts)
    at.run()
    assert not at.exception
    return at


def open_at(path, **query):
    """A page at an address with this query, whose names are short: {"tab": "matmul", "n": 3}."""
    return run(app(BY_PATH[path].file), **query)


def press(at, key):
    at.button(key=key).click().run()
    assert not at.exception


def texts(elements):
    return "\n".join(str(element.value) for element in elements)


def charts(at):
    """What the charts of a page show, by the names of their places."""
    fed = [json.loads(text.value) for text in at.text if text.value.startswith("{")]
    alone = [json.loads(component.proto.bytes).get("payload", {}) for component in components(at, "charts")]
    return {key: chart for payload in (*fed, *alone) for key, chart in payload.items()}


def components(at, name):
    """The components of one kind that are on the page: "player", "address", ..."""
    return [c for c in at.get("bidi_component") if c.proto.component_name.endswith(f"tensor_ops_lab_{name}")]


def kinds(block):
    """The kinds of a block and of all blocks in it."""
    inside = [kinds(child) for child in block.children.values() if hasattr(child, "children")]
    return {block.type}.union(*inside)


def progress(at, kind):
    """The data of what shows or takes the visitor's progress: "note", "path", "assignment", "tasks" or "engines"."""
    return [shown for one in components(at, "progress") if (shown := json.loads(one.proto.bytes))["kind"] == kind]


def address(at):
    """The parameters in the browser's address, by their short names."""
    key = at.page.key if at.page else ""
    return {name.removeprefix(f"{key}-"): at.query_params[name] for name in at.query_params if at.query_params[name]}


def switch(at, page):
    """Go to another page by the menu: an address without parameters."""
    at.query_params.clear()
    at.switch_page(page).run()
    assert not at.exception


def sent(at):
    """What the player was given to show."""
    return json.loads(components(at, "player")[0].proto.bytes)


def tables(at, header):
    """Of each table that has this word in its header the rows, each a list of cells without what escapes them."""
    found = [
        text.value
        for text in at.markdown
        if text.value.startswith("|") and header in text.value.split("\n")[0].replace("\\", "")
    ]
    return [
        [[cell.strip().replace("\\", "") for cell in line.strip("|").split("|")] for line in text.split("\n")[2:]]
        for text in found
    ]


def table(at, header):
    """The rows of the last of them."""
    return tables(at, header)[-1]
