"""Old addresses lead to where their pages are now, with all that they say."""

import asyncio
import re

import pytest

from lab.lessons.assignment import FORMER, ITEMS
from lab.lessons.old_addresses import MOVED, new_address
from lab.lessons.pages import BY_PATH, PAGES
from lab.ui.redirect import Redirect
from lab.ui.starting_point import beginning

CASES = {  # as these pages wrote them -> what the new page writes
    "why?tab=cost&n=2000&slower=20": "why-reverse-mode?tab=cost&n=2000&slower=20",
    "why?tab=formula&longer=30&expression=x%2Ax&in_x=2": "why-reverse-mode?tab=formula&longer=30&expression=x%2Ax&in_x=2",
    "why": "why-reverse-mode",
    "graph_lab": "graph-lab",
    "what_went_wrong?message=abc_d": "what-went-wrong?message=abc_d",
    "why?faster=forward&tab=directions": "why-reverse-mode?tab=one&faster=forward",
    "why-reverse-mode?tab=directions&expression=a&in_a=2": "why-reverse-mode?tab=one&expression=a&in_a=2",
    "jacobian": "why-reverse-mode?tab=one",
    "jacobian?tab=chain&end=left&m=4": "why-reverse-mode?tab=chain&end=left&m=4",
    "jacobian?zeros=nowhere&passes=2&v=": "why-reverse-mode?tab=one&zeros=nowhere&passes=2&v=",
    "spot": "faults?tab=spot",
    "spot?case=6&seen=norms%2Ccheck&named=overwrite&solved=1-7": (
        "faults?tab=spot&case=6&seen=norms%2Ccheck&named=overwrite&solved=1-7"
    ),
    "broadcasting?tab=forgotten&guess=wrong&rows=1": "shapes?tab=forgotten&guess=wrong&rows=1",
    "broadcasting": "shapes",
    "simulate-error?part=messages": "what-went-wrong",
    "simulate-error?part=messages&message=twice&step=4": "what-went-wrong?failure=twice",
    "simulate-error?part=messages&message=product": "what-went-wrong?shape=product",
    "simulate-error?part=life&life=flb&message=twice": "simulate-error?part=life&life=flb",
    "designs": "other-engines?tab=designs",
    "designs?tab=order&step=20&expression=a%2Ab&in_a=2": "graph-lab?engine=any-order&stage=backward&expression=a%2Ab&in_a=2",
    "other-engines?tab=order&step=20": (
        "graph-lab?engine=any-order&stage=backward&expression=t+%3D+a%2Ab%0Aexp%28tanh%28t%29%29+%2A+t&event=12"
    ),
    "designs?left=duals&right=functions&part=%2A": "other-engines?tab=designs&left=duals&right=functions&part=%2A",
    "designs?tab=depth&depth=7&calls=144&length=500": "other-engines?tab=depth&depth=7&calls=144&length=500",
    "designs?hidden=4&tab=scalars": "other-engines?tab=depth&hidden=4",
    "field": "other-engines?tab=beside",
    "field?question=where&differ=3&asked=1": "other-engines?tab=beside&question=where&differ=3&asked=1",
    "field?tab=memory&layers=9&width=8&rows=2&segments=3&fewest=root": (
        "other-engines?tab=memory&layers=9&width=8&rows=2&segments=3&fewest=root"
    ),
    "field?tab=torch&expression=x&in_x=3": "graph-lab?stage=backward&expression=x&in_x=3",
    "other-engines?tab=torch": "graph-lab?stage=backward",
    "field?tab=tests": "other-engines?tab=beside",  # what is gone
    "field?tab=history&year=1986": "other-engines?tab=next&year=1986",
    "other-engines?tab=scalars&hidden=4": "other-engines?tab=depth&hidden=4",
    "other-engines?hidden=4&tab=depth": "other-engines?hidden=4&tab=depth",
    "own": "build-it-yourself?tab=passes",
    "own?tab=train&engine=tensors": "build-it-yourself?tab=train&engine=tensors",
    "own?engine=scalars&expression=a&in_a=2&event=3": "build-it-yourself?tab=passes&engine=scalars&expression=a&in_a=2&event=3",
    "build": "build-it-yourself",
    "build?ladder=tensors&task=matmul": "build-it-yourself?course=tensors&task=matmul",
    "build?course=tensors&task=matmul": "build-it-yourself?course=tensors&task=matmul",
    "debug": "practise?tab=debug",
    "debug?program=4": "practise?tab=debug&program=4",
    "predict": "practise?tab=predict",
    "predict?level=4&graph=2&value_v1=7&gradient_a=2&credit=10--&done=1.1-46-48": (
        "practise?tab=predict&level=4&graph=2&value_v1=7&gradient_a=2&credit=10--&done=1.1-46-48"
    ),
    "questions": "practise?tab=ask",
    "questions?tab=can": "practise?tab=can",
    "questions?topic=Derivatives&seed=3&said=gpu-c&question=gpu&answer=x&checked=1&hint=1&claimed=0.1": (
        "practise?tab=ask&topic=Derivatives&seed=3&said=gpu-c&question=gpu&answer=x&checked=1&hint=1&claimed=0.1"
    ),
    "faults?fault=relu-side&seed=5&run=1": "faults?fault=relu-side&seed=5&run=1",
    "graph?expression=a&event=3": "graph-lab?expression=a&event=3",
    "check?h=-6&tab=step": "gradient-check?tab=step&h=-6",
    "wrong?tab=code": "what-went-wrong?tab=code",
    "wrong?failure=twice": "what-went-wrong?failure=twice",
    "training?data=xor&tab=Command+line": "training-lab?tab=Command+line&data=xor",
    "teach?set=scalars.add&hide=try": "for-teachers?set=scalars.add&hide=try",
    "graph-lab?expression=a": "graph-lab?expression=a",
}


@pytest.mark.parametrize("old", CASES)
def test_an_old_address_leads_on_with_its_parameters(old):
    path, _, query = old.partition("?")
    assert "?".join(filter(None, new_address(path, query))) == CASES[old]


def test_each_page_of_former_times_is_tried_and_leads_to_a_tab_that_there_is():
    assert {case.partition("?")[0] for case in CASES} >= MOVED.keys()
    for path, moved in MOVED.items():
        assert (path in BY_PATH) == (path == moved.path)
        assert not moved.tabs.keys() & BY_PATH[moved.path].tabs.keys()
        assert {moved.tab, *moved.tabs.values()} - {""} <= BY_PATH[moved.path].tabs.keys(), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_a_page_has_its_title_for_its_address_and_its_file(page):
    slug = re.sub(r"\W+", "-", page.title.lower()).strip("-")
    assert page.path == ("" if page.title == "Start" else slug)
    assert page.file == f"pages/{slug.replace('-', '_')}.py"


def answer(path, query=b"", method="GET"):
    """Status and new address of what the server says; None where it goes on to the app."""
    said = []

    async def app(scope, receive, send):
        said.append(None)

    async def send(message):
        if message["type"] == "http.response.start":
            said.append((message["status"], dict(message["headers"])[b"location"].decode()))

    scope = {"type": "http", "method": method, "path": path, "query_string": query, "headers": []}
    asyncio.run(Redirect(app)(scope, None, send))
    return said[0]


def test_the_server_sends_the_browser_to_the_new_address():
    assert answer("/jacobian", b"passes=2") == (307, "why-reverse-mode?tab=one&passes=2")
    assert answer("/lab/why") == (307, "why-reverse-mode")  # relative: wherever the app stands
    assert answer("/lab/build", b"ladder=scalars") == (307, "build-it-yourself?course=scalars")
    assert answer("/build-it-yourself", b"course=scalars") is None
    assert answer("/graph-lab", b"expression=a*b") is None
    assert answer("/why", method="POST") is None


def test_a_teachers_link_to_an_old_page_still_works():
    page, query = beginning("http://here/lab/jacobian?tab=chain&n=3")
    assert (page.path, query) == ("why-reverse-mode", {"tab": "chain", "n": "3"})
    assert FORMER["pages/jacobian"].query == {"tab": "one"}
    assert {f"pages/{path}" for path in MOVED} <= ITEMS.keys()
