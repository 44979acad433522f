"""A teacher's list, from its ticks to what a student sees of it."""

from urllib.parse import parse_qsl, urlsplit

from lab.lessons.assignment import ITEMS
from lab.lessons.pages import BY_FILE
from tests.pages.conftest import address, app, press, progress, run, switch, texts


def link(at):
    """The link as the page shows it."""
    return dict(parse_qsl(urlsplit(at.code[0].value).query))


def listed(at):
    """The keys of what Start lists."""
    found = progress(at, "assignment")
    return [item["key"] for item in found[0]["items"]] if found else None


def student(**query):
    """The lab as it opens by a link, with all of its pages."""
    return run(app("app.py"), **query)


def test_what_is_ticked_is_in_the_link_and_in_the_address():
    at = run(app("pages/for_teachers.py"))
    assert "Nothing is ticked" in texts(at.info)
    at.button_group(key="teach Tasks Scalars").set_value(["scalars/value", "scalars/add"])
    at.button_group(key="teach Questions Graph and order").set_value(["questions/why-add"])
    at.button_group(key="teach Cards Cards of the path").set_value(["by-hand"])
    at.text_input(key="teach-title").set_value("Monday & <b>more</b>").run()
    assert not at.exception
    given = link(at)
    assert given == {
        "set": "cards.by-hand~scalars.value.add~questions.why-add",
        "name": "Monday & <b>more</b>",
    }
    at.run()
    again = run(app("pages/for_teachers.py"), items=address(at)["items"], title="Monday")
    assert link(again) == given | {"name": "Monday"}

    at = student(**given)
    assert listed(at) == ["by-hand", "scalars/value", "scalars/add", "questions/why-add"]
    assert at.header[0].value == r"Monday \& \<b\>more\<\/b\>"
    assert {name: text for name, text in address(at).items() if name in given} == given


def test_both_links_to_start_open_the_list():
    at = run(app("app.py"))
    switch(at, "pages/for_teachers.py")
    at.button_group(key="teach Tasks Scalars").set_value(["scalars/value"]).run()
    beside, here = [way.proto for way in at.get("page_link") if way.proto.page in (at.code[0].value, "")]
    assert beside.external  # a whole address, which opens the list in a new tab, too
    assert dict(parse_qsl(here.query_string)) == link(at) == {"set": "scalars.value"}


def test_everything_that_can_be_ticked_is_on_the_page():
    at = run(app("pages/for_teachers.py"), items="~".join(f"pages.{page.path}" for page in BY_FILE.values()))
    ticks = [tick for group in at.get("button_group") for tick in group.options]
    assert len(ticks) == len(ITEMS)
    assert link(at)["set"].count(".") == sum(key.startswith("pages/") for key in ITEMS)


def test_what_the_lab_does_not_have_is_left_out():
    assert link(run(app("pages/for_teachers.py"), items="scalars.add.gone")) == {"set": "scalars.add"}


def test_a_page_on_the_list_is_done_when_it_has_been_opened():
    at = student(set="scalars.add~pages.descent")
    switch(at, "pages/descent.py")
    assert at.session_state["tasks passed"] == {"pages/descent"}


def test_a_list_that_is_closed_is_gone_from_every_page():
    at = student(set="scalars.add~pages.descent")
    press(at, "set away")
    assert listed(at) is None
    assert not address(at).get("set")
    switch(at, "pages/build_it_yourself.py")
    assert not address(at).get("set")
    switch(at, "pages/start.py")
    assert listed(at) is None


def test_a_link_without_a_list_takes_none_away():
    at = student(set="scalars.add", name="Monday")
    switch(at, "pages/graph_lab.py")
    at.switch_page("pages/start.py")
    at.query_params["start-guess"] = "0"
    at.run()
    assert not at.exception
    assert listed(at) == ["scalars/add"]
    at.run()  # the first run leaves an address as it is
    assert (address(at)["set"], address(at)["start-guess"]) == ("scalars.add", "0")


def test_a_reload_of_any_page_keeps_the_list():
    query = {"set": "scalars.add", "name": "Monday"}
    at = student(**query)
    switch(at, "pages/build_it_yourself.py")
    at.run()  # the first run leaves an address as it is
    here = address(at)
    assert {name: here[name] for name in query} == query
    again = run(app("app.py"))  # a new visit, at the address that the browser has
    again.switch_page("pages/build_it_yourself.py")
    run(again, **here)
    assert not again.info
    assert address(again) == here
    switch(again, "pages/for_teachers.py")  # whose parameters of these names are those of a list to be made
    assert "Nothing is ticked" in texts(again.info)
    switch(again, "pages/start.py")
    assert listed(again) == ["scalars/add"]


def test_what_another_version_had_is_left_out_and_the_rest_is_there():
    at = student(set="scalars.add.gone~future.<b>x</b>", in_a="3")
    assert listed(at) == ["scalars/add"]
    assert address(at)["in_a"] == "3"
    assert listed(student(set="a." + "b" * 30_000)) is None


def test_a_card_of_start_keeps_the_list():
    query = {"set": "cards.first-gradient~scalars.add"}
    at = student(**query, in_a="3")
    switch(at, "pages/graph_lab.py")
    at.query_params.update({"card": "first-gradient", **query})
    at.switch_page("pages/start.py").run()
    assert not at.exception
    assert listed(at) == ["first-gradient", "scalars/add"]
