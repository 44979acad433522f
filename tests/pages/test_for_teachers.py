"""A teacher's list, from its ticks to what a student sees of it: on Start, and on the pages that it hides something on."""

import json
from urllib.parse import parse_qsl, urlsplit

import pytest

from lab.lessons.assignment import CONTROLS, ITEMS
from lab.lessons.pages import BY_FILE
from tests.pages.conftest import address, app, components, go_back, press, run, switch, texts


def link(at):
    """The link as the page shows it."""
    return dict(parse_qsl(urlsplit(at.code[0].value).query))


def listed(at):
    """The keys of what Start lists."""
    found = components(at, "set")
    return [item["key"] for item in json.loads(found[0].proto.bytes)["items"]] if found else None


def student(**query):
    """The lab as it opens by a link, with all of its pages."""
    return run(app("app.py"), **query)


def test_what_is_ticked_is_in_the_link_and_in_the_address():
    at = run(app("pages/for_teachers.py"))
    assert "Nothing is ticked" in texts(at.info)
    at.button_group(key="teach Tasks Scalars").set_value(["scalars/value", "scalars/add"])
    at.button_group(key="teach Questions Graph and order").set_value(["questions/why-add"])
    at.button_group(key="teach Cards Cards of the path").set_value(["by-hand"])
    at.button_group(key="teach hide").set_value(["hints", "reveal"])
    at.text_input(key="teach name").set_value("Monday & <b>more</b>")
    at.text_input(key="teach begin").set_value("a*b + a").run()
    assert not at.exception
    given = link(at)
    assert given == {
        "set": "cards.by-hand~scalars.value.add~questions.why-add",
        "name": "Monday & <b>more</b>",
        "hide": "hints~reveal",
        "begin": "graph-lab?expression=a%2Ab+%2B+a",
    }
    again = run(app("pages/for_teachers.py"), **address(at))
    assert link(again) == given

    at = student(**given)
    assert listed(at) == ["begin", "by-hand", "scalars/value", "scalars/add", "questions/why-add"]
    assert at.header[0].value == r"Monday \& \<b\>more\<\/b\>"
    assert "Hints of tasks" in texts(at.caption)
    assert {name: text for name, text in address(at).items() if name in given} == given


def test_everything_that_can_be_ticked_is_on_the_page():
    at = run(app("pages/for_teachers.py"), set="~".join(f"pages.{page.path}" for page in BY_FILE.values()))
    ticks = [tick for group in at.get("button_group") if group.key != "teach hide" for tick in group.options]
    assert len(ticks) == len(ITEMS)
    assert link(at)["set"].count(".") == sum(key.startswith("pages/") for key in ITEMS)


def test_what_the_lab_does_not_have_is_named_and_left_out():
    at = run(app("pages/for_teachers.py"), set="scalars.add.gone")
    assert "`scalars/gone`" in texts(at.info)
    assert link(at) == {"set": "scalars.add"}
    at = run(app("pages/for_teachers.py"), set="scalars.add", name="x" * 100, begin="x" * 5000, hide="moon")
    assert "does not fit" in texts(at.info)
    assert "the value of `name`, `hide`, `begin`." in texts(at.info)
    assert link(at) == {"set": "scalars.add"}


@pytest.mark.parametrize("text", ["a +", "https://elsewhere.example/nothing"])
def test_what_is_no_beginning_is_said_and_not_in_the_link(text):
    at = run(app("pages/for_teachers.py"), set="scalars.add", begin=text)
    assert "neither the address" in texts(at.error)
    assert link(at) == {"set": "scalars.add"}


def hints(at):
    return [button.key for button in at.button if button.key in ("task hint", "questions ask hint")]


def test_hidden_controls_stay_hidden_until_the_list_is_put_away():
    at = student(set="scalars.add~pages.practise", hide="~".join(CONTROLS))
    for page, tab in (("build_it_yourself", "courses"), *(("practise", tab) for tab in ("debug", "ask", "predict"))):
        switch(at, f"pages/{page}.py")
        go_back(at, tab=tab, **{name: address(at)[name] for name in ("set", "hide")})
        assert hints(at) == []
        assert "predict reveal" not in [button.key for button in at.button]
        assert not any("Try this" in text.proto.body for text in at.get("html"))
    assert at.session_state["tasks passed"] == {"pages/practise"}  # a page of the list that was opened
    switch(at, "pages/start.py")
    assert listed(at) == ["scalars/add", "pages/practise"]
    press(at, "set away")
    assert listed(at) is None
    assert "set" not in address(at)
    switch(at, "pages/build_it_yourself.py")
    assert hints(at) == ["task hint"]
    switch(at, "pages/start.py")
    assert listed(at) is None


def test_the_lines_alone_can_be_hidden():
    at = student(set="debug.order", hide="lines")
    switch(at, "pages/practise.py")
    for _ in range(3):
        press(at, "task hint")
    assert hints(at) == []
    assert not at.code


def test_a_link_without_a_list_takes_none_away():
    at = student(set="scalars.add", name="Monday")
    switch(at, "pages/graph_lab.py")
    at.switch_page("pages/start.py")
    at.query_params["machine"] = "3"
    at.run()
    assert not at.exception
    assert listed(at) == ["scalars/add"]
    assert (address(at)["set"], address(at)["machine"]) == ("scalars.add", "3")


def test_a_reload_of_any_page_keeps_the_list():
    query = {"set": "scalars.add", "name": "Monday", "hide": "hints~try"}
    at = student(**query)
    switch(at, "pages/build_it_yourself.py")
    here = address(at)
    assert {name: here[name] for name in query} == query
    again = run(app("app.py"))  # a new visit, at the address that the browser has
    again.switch_page("pages/build_it_yourself.py")
    run(again, **here)
    assert not again.info
    assert hints(again) == []
    assert address(again) == here
    switch(again, "pages/for_teachers.py")  # whose parameters of these names are those of a list to be made
    assert "Nothing is ticked" in texts(again.info)
    switch(again, "pages/start.py")
    assert listed(again) == ["scalars/add"]


def test_what_another_version_had_is_named_and_the_rest_is_there():
    at = student(set="scalars.add.gone~future.<b>x</b>", hide="hints~moon", begin="a +", in_a="3")
    assert listed(at) == ["scalars/add"]
    said = texts(at.info)
    assert "`scalars/gone`" in said
    assert "`moon`" in said
    assert "the page to begin with" in said
    assert "something without a proper name" in said
    assert "<b>" not in said
    assert address(at)["in_a"] == "3"
    at = student(set="a." + "b" * 30_000, in_a="3")
    assert "does not fit" in texts(at.info)
    assert listed(at) is None


def test_a_card_of_start_keeps_the_list():
    query = {"set": "cards.first-gradient~scalars.add", "hide": "hints"}
    at = student(**query, in_a="3")
    at.session_state["set list asked"] = ("first-gradient", "")
    at.run()
    assert not at.exception
    assert address(at).items() >= {**query, "card": "first-gradient"}.items()
    assert listed(at) == ["first-gradient", "scalars/add"]


@pytest.mark.parametrize(
    "here",
    ["", "in_a=3", "Embed=true&embed_options=x&<b>", "a" * 200_000],
    ids=["without parameters", "with one", "with Streamlit's own", "too long"],
)
def test_the_list_begins_on_the_page_that_it_names(here):
    at = student(begin="descent?surface=ravine&embed=true")
    assert listed(at) == ["begin"]
    at.session_state["set list asked"] = ("begin", here)  # what a click sets: AppTest runs no callback of a component
    at.run()
    assert not at.exception
    assert at.title[0].value != "Where does a gradient come from?"
    assert address(at)["surface"] == "ravine"
    assert not at.info
