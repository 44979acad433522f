"""One running app and one browser for all browser tests; a fresh context (cookies, session) for each test."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.visitors import start_app

playwright = pytest.importorskip("playwright.sync_api", reason="pip install -r requirements-dev.txt")

# Without these Chromium asks its maker's servers for updates at every start; the tests must stay on this machine.
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group("browser"))  # one server and one browser for all of them
            # On a machine busy with other work a browser can miss a key or a deadline; a real fault fails three times.
            item.add_marker(pytest.mark.flaky(reruns=2))


def chromium():
    """The path of a Chromium on this machine; None lets Playwright use the one it installed itself."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if path := shutil.which(name):
            return path
    if sys.platform == "linux" and shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-q"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["apt-get", "install", "-y", "-q", "chromium"], check=True, stdout=subprocess.DEVNULL)
        return shutil.which("chromium")
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)
    return None


@pytest.fixture(scope="session")
def browser():
    with playwright.sync_playwright() as p:
        sandbox = [] if sys.platform != "linux" or os.geteuid() else ["--no-sandbox"]
        browser = p.chromium.launch(executable_path=chromium(), args=[*QUIET, *sandbox, "--disable-gpu"])
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
