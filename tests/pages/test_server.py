"""The app in a server of its own, as `streamlit run app.py` starts it: who may open it, whom it asks, how it opens and ends."""

import asyncio
import json
import os
import signal
import socket
import struct
import sys
import time
import urllib.error
from concurrent.futures import ThreadPoolExecutor
from urllib.request import Request, urlopen

import psutil
import pytest
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, PlainTextResponse
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import InvalidStatus

from lab.config import hosted
from lab.lessons.pages import PAGES
from lab.practice.isolation import NO_BUBBLEWRAP
from lab.ui.server import InDocument, SameOrigin
from tests.support import ROOT, start_app
from tests.visitors import Visitor, knock

# Streamlit's command line in a process that writes down each address that it asks for or connects to.
AUDITED = """
import sys
log = open({log!r}, "a", buffering=1)
ADDRESS = {{"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}}
sys.addaudithook(lambda event, args: event in ADDRESS and print(args[ADDRESS[event]], file=log))
from streamlit.web.cli import main
main(prog_name="streamlit")
"""
FOREIGN = ["http://evil.example", "https://evil.example:8501", "http://127.0.0.1", "null", "http://["]


pytestmark = pytest.mark.xdist_group("server")  # one process has the server that several of them visit


@pytest.fixture
def start():
    """start(**options): the address of the app in a new server, and its process."""
    started = []

    def start(*arguments, **options):
        url, process = start_app(options.pop("script", "app.py"), *arguments, **options)
        started.append(process)
        return url, process

    yield start
    for process in started:
        process.kill()
        process.wait()


def finish(coroutine):
    """What it returns, run in a thread of its own: in this one Playwright's loop may be at work for other tests."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


async def first_run(url, page=""):
    async with knock(url, origin=url) as socket:
        visitor = Visitor(socket, page)
        await visitor.run()
        return visitor


async def answer(url, **options):
    """The status of the answer to a websocket that is refused, else None."""
    try:
        async with knock(url, **options):
            return None
    except InvalidStatus as refused:
        return refused.response.status_code


@pytest.mark.parametrize("listens", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.sample(1)
def test_no_outside_address_is_asked_when_foreign_pages_knock(start, tmp_path, listens):
    log = tmp_path / "addresses"
    url, _ = start(f"--server.address={listens}", program=["-c", AUDITED.format(log=str(log))])
    finish(first_run(url))
    answers = [finish(answer(url, origin=origin)) for origin in FOREIGN]
    # a name of theirs that leads here: origin and host agree
    port = int(url.rpartition(":")[2])
    rebound = f"http://evil.example:{port}"
    assert finish(answer(rebound, origin=rebound, host="127.0.0.1", port=port)) == 400
    assert log.read_text() == ""
    assert set(answers) == {403}


@pytest.fixture(scope="module")
def visited():
    """The address of a server, and its first visitor, who came by a link to a page."""
    url, process = start_app("app.py")
    yield url, finish(first_run(url, "training-lab"))
    process.kill()
    process.wait()


def test_the_page_itself_and_programs_may_open_a_websocket(visited):
    url, _ = visited
    assert finish(answer(url, origin=url)) is None
    assert finish(answer(url)) is None


def test_a_link_to_a_page_may_be_the_first_visit(visited):
    url, visitor = visited
    assert visitor.find("heading").body == "Training lab"
    assert "page_not_found" not in visitor.received
    assert finish(first_run(url, "training_lab")).received.count("page_not_found") == 1  # a file is no page


HEADERS = {"X-Frame-Options": "SAMEORIGIN", "Content-Security-Policy": "frame-ancestors 'self'"}
LONG = "a" * 300


def fetched(url, **headers):
    """The status and the headers of an answer, whatever it is."""
    try:
        with urlopen(Request(url, headers=headers)) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("", 200),
        ("graph-lab", 200),
        ("_stcore/health", 200),
        ("app/static/graphviz/graphviz.js", 200),
        ("app/static/no", 404),
        (f"app/static/{LONG}", 404),
        (f"app/static/{LONG}.js", 404),
        ("app/static/" + "a/" * 4000, 404),
        ("a" * 5000, 200),
    ],
)
def test_no_answer_can_be_framed_and_a_name_too_long_is_no_error(visited, path, status):
    for encoding in ("identity", "gzip"):
        got, headers = fetched(f"{visited[0]}/{path}", **{"Accept-Encoding": encoding})
        assert got == status
        assert {name: headers[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "user@127.0.0.1", ""])
def test_a_foreign_name_gets_no_page(visited, host):
    for path in ("", "training-lab", "app/static/graphviz/graphviz.js", "static/js/x.js"):
        status, headers = fetched(f"{visited[0]}/{path}", Host=host)
        assert status == 400
        assert "Set-Cookie" not in headers
        assert {name: headers[name] for name in HEADERS} == HEADERS


def searched(url, text, path="lab-search"):
    """Kind and title of each answer."""
    with urlopen(Request(f"{url}/{path}", data=text.encode())) as answer:
        return [(hit["kind"], hit["title"]) for hit in json.load(answer)]


def test_the_search_answers_without_a_page(visited):
    url, _ = visited
    assert searched(url, "overfitting")[0] == ("question", "What is overfitting?")
    assert searched(url, "overfitting", "lab/lab-search") == searched(url, "overfitting")  # behind any other path
    message = "RuntimeError: grad can be implicitly created only for scalar outputs"
    assert searched(url, message) == [("failure", "Only for scalar outputs")]
    assert searched(url, "for x in y:\n    loss = f(x)\n    loss.backward()\n") == []  # code is read elsewhere
    assert searched(url, "lasagne") == searched(url, "") == []
    searched(url, "<b>*_`$\udcff".encode("utf-8", "replace").decode())
    with pytest.raises(urllib.error.HTTPError, match="413"):
        searched(url, "a" * 1_000_000)


def test_started_from_any_folder_it_serves_all_and_complains_of_no_browser_that_leaves_early(start, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with (tmp_path / "log").open("wb") as log:
        url, process = start(script=ROOT / "app.py", folder=elsewhere, log=log)
        host, port = url.removeprefix("http://").split(":")
        for page in PAGES[::4]:
            assert "page_not_found" not in finish(first_run(url, page.path)).received
        for path in ("app/static/echarts/echarts.js", "app/static/graphviz/graphviz.js", f"app/static/{LONG}"):
            for _ in range(8):
                with socket.create_connection((host, int(port))) as connection:
                    ask = f"GET /{path} HTTP/1.1\r\nHost: {host}:{port}\r\nAccept-Encoding: gzip\r\n\r\n"
                    connection.sendall(ask.encode())
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # and reset it
        assert fetched(f"{url}/app/static/graphviz/graphviz.js", **{"Accept-Encoding": "gzip"})[0] == 200
        process.terminate()
        process.wait(30)
    assert "Traceback" not in (tmp_path / "log").read_text()
    assert list(elsewhere.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.sample(1)
def test_the_server_ends_when_told_to_though_a_visitor_is_there(start, number):
    url, process = start()

    async def visit():
        async with knock(url) as socket:
            await Visitor(socket).run()
            process.send_signal(number)
            await asyncio.to_thread(process.wait, 30)

    finish(visit())


@pytest.mark.parametrize(
    ("arguments", "said", "shared"),
    [
        (["--server.address=0.0.0.0"], "", True),
        ([], "", False),
        (["--server.address=0.0.0.0"], "0", False),
        (["--server.allowedHosts=127.0.0.1", "--server.allowedHosts=lab.example"], "", True),
        ([], "1", True),
    ],
)
@pytest.mark.sample(1)
def test_a_server_that_others_reach_runs_no_code_without_bubblewrap(
    start, monkeypatch, tmp_path, arguments, said, shared
):
    monkeypatch.setenv("TENSOR_LAB_HOSTED", said)
    monkeypatch.setenv("PATH", str(tmp_path))  # where there is no bwrap
    url, _ = start(*arguments)
    visitor = finish(first_run(url, "build-it-yourself"))
    assert any(NO_BUBBLEWRAP in str(element) for element in visitor.elements.values()) is shared


def test_another_asgi_server_is_hosted_as_soon_as_somebody_comes_from_elsewhere(monkeypatch):
    monkeypatch.setattr(os, "environ", {})
    app = SameOrigin(PlainTextResponse("page"))

    async def ask(server):
        async def send(message):
            pass

        scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"localhost")], "server": server}
        await app(scope, None, send)
        return hosted()

    assert finish(ask(("127.0.0.1", 8000))) is False
    assert finish(ask(("192.168.1.5", 8000))) is True


@pytest.mark.parametrize(
    ("method", "origin", "status"),
    [
        ("POST", None, 200),  # not from a browser
        ("POST", "http://localhost", 200),
        ("POST", "http://localhost:81", 403),
        ("POST", "https://evil.example", 403),
        ("PUT", "https://localhost.evil.example", 403),
        ("DELETE", "null", 403),  # a file, or a frame without rights
        ("POST", "http://[", 403),
        ("GET", "https://evil.example", 200),  # a link
    ],
)
def test_another_site_cannot_make_a_visitors_browser_ask_the_server(method, origin, status):
    sent = []

    async def send(message):
        sent.append(message.get("status"))

    headers = [(b"host", b"localhost"), *([(b"origin", origin.encode())] if origin else [])]
    scope = {"type": "http", "method": method, "path": "/lab-search", "headers": headers, "server": ("127.0.0.1", 80)}
    finish(SameOrigin(PlainTextResponse("answer"))(scope, None, send))
    assert sent[0] == status


DOCUMENT = "<html><head><script>theirs</script></head><body>page</body></html>"


@pytest.mark.parametrize(
    ("accept", "answer", "given"),
    [
        ("text/html,*/*", HTMLResponse(DOCUMENT), True),
        ("text/html,*/*", HTMLResponse(DOCUMENT, 404), True),
        ("*/*", HTMLResponse(DOCUMENT), False),  # a script asks
        ("text/html,*/*", PlainTextResponse(DOCUMENT), False),
        ("text/html,*/*", HTMLResponse(DOCUMENT, headers={"content-disposition": "attachment"}), False),
    ],
)
def test_a_page_has_the_script_that_keeps_its_history_and_the_style_and_nothing_else_does(accept, answer, given):
    sent = []

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"accept", accept.encode()), (b"accept-encoding", b"gzip")]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers}
    finish(InDocument(GZipMiddleware(answer, minimum_size=1 if given else 10**6))(scope, None, send))
    body = b"".join(message.get("body", b"") for message in sent).decode()
    begins, _, rest = body.partition("theirs")
    assert ("history.pushState" in begins) == given
    assert (rest == "</script></head><body>page</body></html>") != given
    assert ("--page-top" in rest.partition("<body>")[2].partition("page</body>")[0]) == given
    stated = dict(sent[0]["headers"]).get(b"content-length")
    assert stated is None or int(stated) == len(body.encode())


def test_the_server_keeps_nothing_of_what_a_visitor_has_trained(start):
    url, server = start()

    def training():
        """The processor time of the processes that train, in seconds."""
        return sum(sum(child.cpu_times()[:2]) for child in psutil.Process(server.pid).children())

    async def visit():
        async with knock(url, origin=url) as socket:
            visitor = Visitor(socket, "training-lab?training-data=moons&training-epochs=300&training-speed=inf")
            await visitor.run()
            button = visitor.find("button", lambda button: button.label == "Start")
            await visitor.run(WidgetState(id=button.id, trigger_value=True))
            began, late = training(), time.monotonic() + 20
            while training() < began + 0.3 and time.monotonic() < late:
                await asyncio.sleep(0.02)

    finish(visit())
    assert fetched(f"{url}/_stcore/health")[0] == 200


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.exhaustive
def test_sessions_that_have_left_do_not_use_up_the_open_files(start):
    """Streamlit keeps a session that has left for two minutes, with three open files."""
    few = "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(7)[1])); "
    main = "sys.argv[0] = 'streamlit'; from streamlit.web.cli import main; main(prog_name='streamlit')"
    url, process = start(program=["-c", few + main])

    async def many():
        for _ in range(90):
            async with knock(url, origin=url) as socket:
                await Visitor(socket, "teachers").run()

    finish(many())
    assert fetched(f"{url}/_stcore/health")[0] == 200
    assert psutil.Process(process.pid).num_fds() > 256
