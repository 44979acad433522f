"""One running app and one browser for all browser tests of a process; a fresh session for each test."""

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -r requirements-dev.txt")

from tests.support import in_full, launch, start_app  # noqa: E402

PATIENCE = 60_000  # milliseconds until a test gives up waiting: so long that the speed of the machine does not matter
LONGEST_HISTORY = 35  # entries; browsers keep and count 50, and a test makes at most a dozen
playwright.expect.set_options(timeout=PATIENCE)


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)
            if not item.get_closest_marker("flow"):
                item.add_marker("exhaustive")
            # A file stays in one process; each process that takes one has one server and one browser for all it takes
            if not item.get_closest_marker("xdist_group"):
                item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture(scope="session")
def browser():
    with playwright.sync_playwright() as p:
        browser = launch(p)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def context(browser):
    """Pages in one context share what the browser has loaded and compiled, which is most of the work of a first visit."""
    with browser.new_context() as context:
        yield context


def prepared(page, theme="light", width=1280, height=900, reduced_motion="no-preference"):
    """The page for a new visitor, who looks at it like this."""
    page.bring_to_front()  # a tab behind others may get one frame a second, and then everything waits for frames
    page.context.clear_cookies()
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=theme, reduced_motion=reduced_motion, forced_colors="none")
    return page


def forget(pages):
    """What a visitor has written and done stays in the browser; the next one begins without it."""
    for page in pages:
        if not page.is_closed() and page.url.startswith("http"):
            page.evaluate(
                "() => { localStorage.clear(); sessionStorage.clear(); indexedDB.deleteDatabase('tensor-ops-lab'); }"
            )


@pytest.fixture
def new_page(context):
    """new_page(theme="light", width=1280, height=900, reduced_motion=...): an empty tab, which is closed in the end."""
    pages = []

    def new_page(**options):
        pages.append(context.new_page())
        return prepared(pages[-1], **options)

    yield new_page
    forget(pages)
    for page in pages:
        page.close()


@pytest.fixture(scope="session")
def left_tabs():
    """Tabs that no test uses at present."""
    return []


@pytest.fixture
def tab(context, left_tabs):
    """tab(...): like new_page, but in a tab that another test has left, if there is one.

    The visit is a new one all the same; only the history and what the browser has loaded are still there. To load
    Streamlit into a new tab is a third of the work of a visit.
    """
    pages = []

    def tab(**options):
        pages.append(left_tabs.pop() if left_tabs else context.new_page())
        return prepared(pages[-1], **options)

    yield tab
    forget(pages)
    for page in pages:
        page.unroute_all()
        page.goto("about:blank")  # what the page did ends
        if page.evaluate("history.length") < LONGEST_HISTORY:
            left_tabs.append(page)
        else:
            page.close()


@pytest.fixture(scope="session")
def app_url():
    url, process = start_app("app.py")
    yield url
    process.terminate()
    process.wait(timeout=60)


@pytest.fixture(scope="session")
def player_url():
    """The page with nothing but the player."""
    url, process = start_app("tests/browser/apps/player_app.py")
    yield url
    process.terminate()
    process.wait(timeout=60)


@pytest.fixture
def open_page(tab, app_url):
    """open_page(path, theme="light", width=1280): a page of the app in a session of its own."""

    def open_page(path="", **options):
        page = tab(**options)
        page.goto(f"{app_url}/{in_full(path)}")
        page.get_by_role("heading", level=1).wait_for()
        return page

    return open_page
