"""The cookie with a visitor's key: given once, to nobody else, and out of reach of scripts."""

import asyncio
import re
from http.cookies import SimpleCookie

import pytest
from starlette.responses import HTMLResponse, JSONResponse

from lab.ui.browser_cookie import COOKIE, BrowserCookie, is_key


def answer(response, cookie="", scheme="http", **headers):
    """The status of what a browser with this cookie is sent, and the cookie that it is given."""
    sent = []

    async def send(message):
        sent.append(message)

    sent_headers = {"cookie": cookie} | {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [(name.encode(), value.encode("latin-1")) for name, value in sent_headers.items()]
    scope = {"type": "http", "method": "GET", "path": "/", "scheme": scheme, "headers": lines}
    asyncio.run(BrowserCookie(response)(scope, None, send))
    given = dict(sent[0]["headers"]).get(b"set-cookie", b"").decode()
    return sent[0]["status"], SimpleCookie(given).get(COOKIE)


def test_a_browser_gets_a_key_once_and_no_other_gets_the_same():
    _, cookie = answer(HTMLResponse("<p>"))
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["path"] == "/"
    assert re.fullmatch("[0-9a-f]{32}", cookie.value)
    assert answer(HTMLResponse("<p>"), f"a=b; {COOKIE}={cookie.value}") == (200, None)
    assert answer(HTMLResponse("<p>"))[1].value != cookie.value


@pytest.mark.parametrize(
    ("secure", "asked"),
    [
        (False, {}),
        (True, {"scheme": "https"}),
        (True, {"x_forwarded_proto": "https"}),
        (True, {"x_forwarded_proto": "HTTPS, http"}),
        (False, {"x_forwarded_proto": "http"}),
    ],
)
def test_a_key_given_behind_https_is_sent_back_only_there(secure, asked):
    _, cookie = answer(HTMLResponse("<p>"), **asked)
    assert bool(cookie["secure"]) == secure


@pytest.mark.parametrize("value", ["", "x", "0" * 31, "G" * 32, "A" * 32, f'"{"0" * 33}"', "../../etc/passwd"])
def test_a_key_that_is_none_of_ours_is_replaced(value):
    _, cookie = answer(HTMLResponse("<p>"), f"{COOKIE}={value}")
    assert is_key(cookie.value)


@pytest.mark.parametrize("before", ["a=b; ", "é=[]; ", 'x={"a": 1}; ', "=; ", 'odd="; '])
def test_a_key_is_found_behind_whatever_else_a_browser_brings(before):
    assert answer(HTMLResponse("<p>"), f"{before}{COOKIE}={'0' * 32}") == (200, None)


def test_only_a_page_brings_a_key():
    assert answer(JSONResponse(1)) == (200, None)


@pytest.mark.parametrize("cookie", ["a=b", f"{COOKIE}x=1", "\x00=;;;", "=", 'x="', "é=[]"])
def test_other_programs_cookies_are_no_key(cookie):
    status, given = answer(HTMLResponse("<p>"), cookie)
    assert status == 200
    assert given
