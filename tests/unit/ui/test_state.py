"""What a page reads from its address, and what it tells the browser to write there."""

import json
from urllib.parse import parse_qsl, urlencode

import pytest
from streamlit.testing.v1 import AppTest

from lab.ui import state
from lab.ui.address import Field, PrefixField, number


def two_pages():
    """Two pages with widgets and without, in one script."""
    import json

    import streamlit as st

    from lab.ui import address, state
    from lab.ui.address import Field, PrefixField

    fields = (
        Field("kind", "kind", "moons", address.one_of("moons", "xor"), always=True),
        Field("rate", "rate", 0.5, float, address.number, (0.0, 1.0)),
        Field(
            "pair",
            ("left", "right"),
            (1, 2),
            lambda text: tuple(map(int, text.split(","))),
            lambda pair: ",".join(map(str, pair)),
        ),
        Field("seen", "seen", (), address.several_of("a", "b"), address.joined),
        Field("on", "on", False, address.flag, address.flagged),
        PrefixField("in_", "inputs", {}, json.loads, json.dumps),
        address.player_event("event"),
    )
    if st.radio("Page", ["one", "two"], key="which") == "one":
        with state.page("one", fields) as current:
            st.session_state["anew"] = current.restored
            current.write(kept=["event"])
            st.selectbox("Kind", ["moons", "xor"], key="kind", on_change=state.step)
            if st.session_state["kind"] == "moons":
                st.slider("Rate", *fields[1].limits, key="rate")
    else:
        only = (Field("case", "case", 1, int, always=True),)
        with state.page("two", only) as current:
            st.session_state["anew"] = current.restored


def opened(query=""):
    at = AppTest.from_function(two_pages)
    for name, value in parse_qsl(query, keep_blank_values=True):
        at.query_params[name] = value
    return run(at)


def run(at):
    at.run()
    assert not at.exception
    return at


def sent_address(at):
    return json.loads(at.get("bidi_component")[0].proto.bytes)


def address(at):
    return dict(parse_qsl(sent_address(at)["query"]))


def values(at):
    return {name: at.session_state[name] for name in ("kind", "rate", "left", "right", "seen", "on", "inputs", "event")}


DEFAULTS = {
    "kind": "moons", "rate": 0.5, "left": 1, "right": 2, "seen": (), "on": False, "inputs": {}, "event": None,
}  # read by rows  # fmt: skip


def test_without_parameters_all_is_at_its_default_and_only_one_field_is_in_the_address():
    at = opened()
    assert values(at) == DEFAULTS
    assert address(at) == {"kind": "moons"}
    assert at.session_state["anew"]
    assert not at.info
    assert not run(at).session_state["anew"]


def test_a_link_sets_all_fields_and_is_written_again():
    query = "kind=xor&rate=0.25&pair=3,4&seen=b,a&on=1&in_a=[1, 2]&in_b=3"
    at = opened(f"{query}&event=7")
    assert values(at) == {
        "kind": "xor",
        "rate": 0.25,
        "left": 3,
        "right": 4,
        "seen": ("b", "a"),
        "on": True,
        "inputs": {"a": [1, 2], "b": 3},
        "event": 7,
    }
    assert address(at) == dict(parse_qsl(query))
    assert sent_address(at)["kept"] == ["event"]  # the player writes it
    assert not at.info


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kind", "circles"), ("rate", "1.5"), ("rate", "nan"), ("rate", "x"), ("rate", ""), ("pair", "1,x"),
        ("seen", "a,a"), ("seen", "c"), ("on", "yes"), ("in_a", "{"), ("in_a", "9" * 5000), ("event", "-5"),
        ("event", "9" * 5000), ("unheard_of", "1"),
    ],
)  # read by rows  # fmt: skip
def test_what_does_not_fit_gets_one_note_and_the_default(name, text):
    at = opened(urlencode({name: text, "seen": "b"} | {name: text}))
    (note,) = at.info
    assert name in note.value
    assert values(at) == DEFAULTS | ({} if name == "seen" else {"seen": ("b",)})
    assert address(at).get(name) in (None, "moons")
    assert not run(at).info


def test_all_that_does_not_fit_is_in_one_note():
    at = opened("kind=x&rate=2&in_a=2")
    (note,) = at.info
    assert note.value == (
        "Part of this page's address does not fit, so the default is used there. `kind` takes moons or xor. "
        "`rate` takes numbers from 0 to 1."
    )
    assert at.session_state["inputs"] == {"a": 2}


def test_a_note_says_what_is_taken_and_names_what_the_page_does_not_know():
    (note,) = opened("event=-1&pair=x&__class__=1&who=2").info
    assert note.value.endswith(
        "`event` takes whole numbers from 0. The page cannot use the value of `pair`. It does not know `__class__`, `who`."
    )
    (note,) = opened("pair=x&www.evil.example=2").info
    assert note.value.endswith("The page cannot use the value of `pair`. It does not know a name that no page has.")


@pytest.mark.parametrize(
    "name", ["in_![x](http://evil.example/p.png)", "[**Log in**](http://evil.example)", "www.evil.example", "x" * 500]
)
def test_a_link_cannot_put_words_of_its_own_on_the_page(name):
    at = opened(urlencode({name: "2"}))
    (note,) = at.info
    assert name not in note.value
    assert "evil" not in note.value
    assert note.value.endswith("It does not know a name that no page has.")
    assert at.session_state["inputs"] == {}


def test_values_follow_the_widgets_and_outlive_them():
    at = opened()
    at.slider(key="rate").set_value(0.75).run()
    assert address(at)["rate"] == "0.75"
    at.selectbox(key="kind").set_value("xor").run()
    assert not at.slider
    assert address(run(at)) == {"kind": "xor", "rate": "0.75"}
    at.selectbox(key="kind").set_value("moons").run()
    assert at.slider(key="rate").value == 0.75


def test_a_page_is_found_as_it_was_left_and_a_link_to_it_begins_anew():
    at = opened("rate=0.25")
    at.query_params.clear()  # by the menu
    at.radio(key="which").set_value("two").run()
    assert address(at) == {"case": "1"}
    at.radio(key="which").set_value("one").run()
    assert values(at) == DEFAULTS | {"rate": 0.25}
    assert not at.session_state["anew"]
    at.radio(key="which").set_value("two").run()
    at.query_params["on"] = "1"
    at.radio(key="which").set_value("one").run()
    assert values(at) == DEFAULTS | {"on": True}
    assert at.session_state["anew"]


def test_only_a_step_makes_an_entry():
    at = opened()
    before = sent_address(at)["entry"]
    at.slider(key="rate").set_value(0.75).run()
    assert sent_address(at)["entry"] == before
    at.selectbox(key="kind").set_value("xor").run()
    assert sent_address(at)["entry"] != before


@pytest.mark.parametrize("page", ["one", "two"])
def test_the_page_follows_the_browser_to_another_address(page):
    at = opened("kind=xor&rate=0.25&event=3")
    at.session_state["address asked"] = state.NavigationRequest(page, "?embed=true&kind=moons&event=5&rate=9")
    run(at)
    asked = DEFAULTS | {"event": 5}
    assert values(at) == (asked if page == "one" else DEFAULTS | {"kind": "xor", "rate": 0.25, "event": 3})
    assert ("rate" in at.info[0].value) if page == "one" else not at.info
    assert not run(at).session_state["anew"]


def test_visits_do_not_share_their_defaults():
    first, second = opened(), opened()
    first.session_state["inputs"]["a"] = 1
    assert run(second).session_state["inputs"] == {}
    assert opened().session_state["inputs"] == {}
    assert sent_address(first)["session"] != sent_address(second)["session"]


def test_an_address_has_room_for_every_digit():
    for value in (0.1, 1e-5, 0.123456789, 1 / 3, 10.0, 1e6, -2.0, 123456789.0):
        assert float(number(value)) == value
    assert [number(value) for value in (10.0, 1e-5, 0.30, -2.0)] == ["10", "1e-05", "0.3", "-2"]


def test_a_family_needs_names():
    assert PrefixField("in_", "inputs", {}, int).read({"in_a": "1", "in_": "2", "in_a b": "3", "in_b": "x"}) == (
        {"a": 1},
        ["in_", "in_a b", "in_b"],
    )
    assert Field("a", "a", 1, int).write(1) == {}


# ---------------------------------------------------------------- a page of several parts


def parted():
    """A page with two parts, of which the first has two tabs; and another page."""
    import streamlit as st

    from lab.ui import address, state
    from lab.ui.address import Field

    first = (Field("n", "first n", 1, int),)
    second = (Field("n", "second n", 10, int), Field("name", "name", ""))
    tab = address.chosen_tab("part tab", {"one": "One", "more": "More", "two": "Two"})
    if st.radio("Page", ["parted", "other"], key="which") == "parted":
        with state.page("parted", parts=state.Parts(tab, {"one": first, "more": first, "two": second})) as current:
            st.radio("Tab", ["One", "More", "Two"], key="part tab")
            st.session_state["anew"] = current.restored
            st.button("Go", on_click=state.go, args=({"tab": "two", "n": "7"},))
    else:
        with state.page("other", (Field("case", "case", 1, int, always=True),)):
            pass


def numbers(at):
    return at.session_state["first n"], at.session_state["second n"]


def opened_at(query=""):
    at = AppTest.from_function(parted)
    at.query_params.update(dict(parse_qsl(query)))
    return run(at)


def test_an_address_is_that_of_the_open_part_and_leaves_the_others_as_they_are():
    at = opened_at("tab=two&n=3")
    assert not at.info
    assert (numbers(at), address(at)) == ((1, 3), {"tab": "two", "n": "3"})
    at.radio(key="part tab").set_value("One").run()
    assert (numbers(at), address(at)) == ((1, 3), {"tab": "one"})
    at.button[0].click().run()  # a link from the page to another part of it
    assert (numbers(at), address(at)) == ((1, 7), {"tab": "two", "n": "7"})
    at.session_state["address asked"] = state.NavigationRequest("parted", "?tab=more&n=5", 1)  # the browser's Back
    assert numbers(run(at)) == (5, 7)
    assert address(at) == {"tab": "more", "n": "5"}


def test_what_another_part_has_is_unknown_to_the_open_one():
    at = opened_at("tab=one&name=b")
    assert "`name`" in at.info[0].value


def test_a_part_is_new_when_it_is_first_opened_and_after_an_address():
    at = opened_at("tab=one")
    assert at.session_state["anew"]
    at.radio(key="part tab").set_value("More").run()
    assert not at.session_state["anew"]
    at.radio(key="part tab").set_value("Two").run()
    assert at.session_state["anew"]
    at.radio(key="part tab").set_value("One").run()
    assert not at.session_state["anew"]


def test_all_parts_survive_another_page():
    at = opened_at("tab=two&n=3")
    at.query_params.clear()
    at.radio(key="which").set_value("other").run()
    at.radio(key="which").set_value("parted").run()
    assert (numbers(at), address(at)) == ((1, 3), {"tab": "two", "n": "3"})
