"""What the tests and the benchmarks share: the app as a process, a Chromium, and when a page has come to rest."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import IO
from urllib.parse import parse_qsl

from playwright.sync_api import Browser, Page, Playwright

from lab.lessons.pages import BY_PATH

ROOT = Path(__file__).resolve().parents[1]
# Without these Chromium asks its maker's servers for updates at every start; the tests must stay on this machine.
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]


def start_app(
    script: str | Path,
    *arguments: str,
    program: Sequence[str] = ("-m", "streamlit"),
    folder: Path = ROOT,
    log: IO[bytes] | int = subprocess.DEVNULL,
) -> tuple[str, subprocess.Popen[bytes]]:
    """Start `streamlit run script` on a free port; returns its address and the process, once it answers.

    program: what Python is started with in Streamlit's place; folder: where it is started; log: a file for what it says.
    Raises RuntimeError when it ends before it answers, or does not answer within two minutes.
    """
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    command = [sys.executable, *program, "run", script, f"--server.port={port}", *arguments]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=1)
            return url, process
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    process.kill()
    raise RuntimeError(f"{script} did not start; it left with exit code {process.wait()}.")


def in_full(address: str) -> str:
    """Return a page's address with its parameters in full, such as "shapes?shapes-n=3" for "shapes?n=3"."""
    path, _, query = address.partition("?")
    return BY_PATH[path].address(dict(parse_qsl(query))) if path in BY_PATH else address


def launch(playwright: Playwright) -> Browser:
    """A headless Chromium."""
    sandbox = [] if sys.platform != "linux" or os.geteuid() else ["--no-sandbox"]
    return playwright.chromium.launch(executable_path=_chromium(), args=[*QUIET, *sandbox, "--disable-gpu"])


def _chromium() -> str | None:
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


def write(page: Page, text: str) -> None:
    """Replace the text in the page's editor of code, and run it."""
    page.locator(".cm-content").focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    page.keyboard.press("Control+Enter")


def settled(page: Page) -> None:
    """Bring the page to the front, and wait until the script has run and nothing on it moves."""
    page.bring_to_front()  # behind others a tab may get one frame a second
    frames = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    page.evaluate(frames)  # in which what has changed begins to move
    page.locator("[data-test-script-state=notRunning]").wait_for()
    page.wait_for_function(
        """() => document.getAnimations().every((animation) =>
            animation.playState !== "running" || animation.effect.getComputedTiming().endTime === Infinity)"""
    )
    page.evaluate(frames)


def written(page: Page) -> None:
    """Wait until the address says what the page shows: it is written five times a second at most, by the page's clock."""
    settled(page)
    page.evaluate("() => new Promise((done) => setTimeout(done, 300))")


def switch(page: Page, theme: str) -> None:
    """Change the theme of the machine to "light" or "dark", and wait until the page has followed."""
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.wait_for_function(
        """(theme) => {
          const [red, green, blue] = getComputedStyle(document.querySelector("[data-testid=stApp]"))
            .backgroundColor.match(/\\d+/g).map(Number);
          return theme === (red + green + blue > 3 * 128 ? "light" : "dark");
        }""",
        arg=theme,
    )
    settled(page)
