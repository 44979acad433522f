"""One running app and one browser for all browser tests; a fresh context (cookies, session) for each test."""

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -r requirements-dev.txt")

from tests.support import launch, start_app  # noqa: E402


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group("browser"))  # one server and one browser for all of them


@pytest.fixture(scope="session")
def browser():
    with playwright.sync_playwright() as p:
        browser = launch(p)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def app_url():
    url, process = start_app("app.py")
    yield url
    process.terminate()
    process.wait(timeout=10)


@pytest.fixture
def open_page(browser, app_url):
    """open_page(path, theme="light", width=1280): a page of the app in a browser session of its own."""
    contexts = []

    def open_page(path="", theme="light", width=1280, height=900):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.goto(f"{app_url}/{path}")
        page.get_by_role("heading", level=1).wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
