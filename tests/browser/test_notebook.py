"""Recorded passes in a notebook: a real kernel makes the outputs, which stand in one page as a notebook has them."""

import pytest
from playwright.sync_api import expect

manager = pytest.importorskip("jupyter_client.manager", reason="pip install -r requirements-dev.txt")
pytest.importorskip("ipykernel")

from tests.pages.conftest import ROOT  # noqa: E402

SHOW = "from lab.trace import record\nrecord(lambda a, b: a * b + a, {'a': 2.0, 'b': %s})"
GONE = "The player is in the output of another cell."


@pytest.fixture(scope="module")
def run():
    """run(cell, code): what the cell displays, as HTML; None: a front end that does not name its cells."""
    kernel, client = manager.start_new_kernel(kernel_name="python3", cwd=str(ROOT))

    def run(cell, code):
        metadata = {"cellId": cell} if cell else {}
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        asked = client.session.msg("execute_request", content, metadata=metadata)
        client.shell_channel.send(asked)
        shown = []
        while True:
            told = client.get_iopub_msg(timeout=60)
            if told["parent_header"].get("msg_id") != asked["header"]["msg_id"]:
                continue
            assert told["msg_type"] != "error", told["content"]
            shown.append(told["content"].get("data", {}).get("text/html"))
            if told["content"].get("execution_state") == "idle":
                return [html for html in shown if html]

    yield run
    client.stop_channels()
    kernel.shutdown_kernel(now=True)


def add(page, html):
    page.evaluate("(html) => document.body.insertAdjacentHTML('beforeend', html)", html)


def plays(page, number, gradient):
    """The frame with this number shows the pass, with the gradient of a."""
    frame = page.frame_locator("iframe").nth(number)
    expect(frame.locator(".graph .card").first).to_be_visible()
    expect(frame.locator(".ledger, .sentence").first).to_contain_text(gradient)


@pytest.mark.flow
def test_the_code_of_the_player_is_once_in_a_notebook(run, new_page):
    (first,) = run("one", SHOW % 3)
    (second,) = run("two", SHOW % 4)
    third = run(
        "three",
        f"{SHOW % 5}\nfrom IPython.display import display\nfor b in (6.0, 7.0): display(record(lambda a, b: a * b + a, {{'a': 2.0, 'b': b}}))",
    )
    assert len(first) > 500_000
    assert max(map(len, [second, *third])) < 50_000
    (again,) = run("one", SHOW % 3)  # its output replaces the first
    (other,) = run("two", SHOW % 4)
    assert len(again) == len(first)
    assert len(other) == len(second)
    assert len(run(None, SHOW % 3)[0]) == len(first)  # who cannot tell one cell from another gives each the code

    page = new_page()
    page.set_content(f"<body>{first}{second}{third[0]}</body>")
    for number, gradient in enumerate(("4", "5", "7")):
        plays(page, number, gradient)
    page.evaluate("document.querySelector('iframe').remove()")
    add(page, third[1])  # the first is gone: another one that plays has the code
    for number, gradient in enumerate(("5", "7", "8")):
        plays(page, number, gradient)


def test_a_pass_whose_player_is_gone_says_so_and_plays_when_it_comes(run, new_page):
    (first,) = run("one", SHOW % 3)
    (second,) = run("two", SHOW % 4)
    page = new_page()
    page.set_content(f"<body>{second}</body>")  # opened again after the first cell was deleted
    expect(page.frame_locator("iframe").locator("p")).to_contain_text(GONE)
    add(page, first)  # or not drawn yet
    plays(page, 0, "5")
    plays(page, 1, "4")
