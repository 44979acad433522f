"""What no widget holds is in the session and in the address, and is read from it only when the visitor comes to it."""

import pytest
from streamlit.testing.v1 import AppTest

from lab.ui.binding import LEFT, HeldDict, HeldValue, choice, flag, natural, number, whole


def page():
    import streamlit as st

    from lab.ui import binding

    steps = binding.whole("steps", 0, 0, 9)
    inputs = binding.HeldDict("in_", {}, float, binding.number)
    event = binding.HeldValue("event", None, binding.natural, written=False)

    def following():
        binding.step()
        binding.set_widget("case", st.session_state["case"] + 1)

    arrived = binding.arrive("page", steps, inputs, event)
    st.button("one", "one", on_click=lambda: st.session_state.update(steps=st.session_state["steps"] + 1))
    st.button("example", "example", on_click=lambda: (binding.step(), binding.put("in_", {"a": 2.5})))
    st.number_input("case", value=6, key="case", bind="query-params")
    st.button("next", "next", on_click=following)
    st.text(f"{arrived} {st.session_state['steps']} {st.session_state['in_']} {st.session_state['event']}")
    binding.write(steps, inputs, event)


def opened(**address):
    at = AppTest.from_function(page)
    at.query_params.update(address)
    return shown(at.run())


def shown(at):
    assert not at.exception
    return at


def address(at):
    return {name: at.query_params[name] for name in at.query_params if at.query_params[name]}


@pytest.mark.parametrize(
    ("value", "text", "read"),
    [
        (whole("n", 3, 1, 5), "4", 4),
        (whole("n", 3, 1, 5), "6", 3),
        (whole("n", 3, 1, 5), "x", 3),
        (whole("n", 3, 1, 5), "9" * 5000, 3),
        (choice("c", "a", "b"), "b", "b"),
        (choice("c", "a", "b"), "<b>", "a"),
        (flag("f"), "1", True),
        (flag("f"), "yes", False),
        (HeldValue("e", None, natural), "7", 7),
        (HeldValue("e", None, natural), "-7", None),
        (HeldValue("t", "", str), "x" * 100_001, ""),
    ],
)
def test_a_text_that_does_not_fit_gives_the_default(value, text, read):
    assert value.read({value.key: text}) == read
    assert value.read({}) == value.default


def test_a_dict_has_a_parameter_for_each_name():
    inputs = HeldDict("in_", {}, float, number)
    assert inputs.read({"in_a": "2", "in_b": "x", "in_2": "3", "other": "4", "in_c": "0.1"}) == {"a": 2.0, "c": 0.1}
    assert inputs.write({"a": 2.0, "c": 0.1}) == {"in_a": "2", "in_c": "0.1"}


def test_what_an_address_says_is_taken_once_and_then_the_session_counts():
    at = opened(steps="3", in_a="2", event="5")
    assert at.text[0].value == "True 3 {'a': 2.0} 5"
    assert address(at) == {"steps": "3", "in_a": "2", "event": "5"}  # as the visitor came to it
    at.query_params["steps"] = "1"  # as a browser sends it that has not heard of the last step
    at.button(key="one").click().run()
    assert at.text[0].value == "False 4 {'a': 2.0} 5"
    assert address(at) == {"steps": "4", "in_a": "2", "event": "5"}


def test_back_brings_the_values_of_the_entry():
    at = opened(steps="3")
    at.button(key="example").click().run()
    assert address(at) == {"steps": "3", "in_a": "2.5", "entry": "1"}
    at.query_params["entry"] = ""  # sent before the browser has heard of the new entry
    assert shown(at.run()).text[0].value == "False 3 {'a': 2.5} None"
    for entry, wanted in (
        (LEFT, "True 1 {} 8"),
        ("1", "True 1 {} 8"),
        ("1", "False 1 {} 8"),
        ("2" * 40, "True 1 {} 8"),
    ):
        at.query_params.clear()
        at.query_params.update({"entry": entry, "steps": "1", "event": "8"})
        assert shown(at.run()).text[0].value == wanted, entry
    at.button(key="example").click().run()
    assert address(at)["entry"] == "1"


def test_an_entry_is_come_back_to_each_time_that_it_was_left():
    at = opened(steps="3")
    for left in (LEFT, 2 * LEFT):
        at.button(key="example").click().run()
        at.query_params.clear()
        at.query_params.update({"entry": left, "steps": "1"})
        assert shown(at.run()).text[0].value == "True 1 {} None", left


@pytest.mark.parametrize(
    ("presses", "sent", "heard", "kept"),
    [(1, 6, False, 7), (1, 6, True, 6), (1, 3, False, 3), (2, 6, False, 8), (2, 7, False, 8), (3, 6, False, 9)],
)
def test_the_old_value_of_a_widget_does_not_come_back_before_the_browser_has_heard_of_the_step(
    presses, sent, heard, kept
):
    at = opened()
    for _ in range(presses):
        at.query_params["entry"] = ""
        at.number_input(key="case").set_value(6)
        at.button(key="next").click().run()
    assert at.number_input(key="case").value == 6 + presses
    at.query_params["entry"] = str(presses) if heard else ""
    at.number_input(key="case").set_value(sent).run()
    assert at.number_input(key="case").value == kept
    assert at.text[0].value == "False 0 {} None"


def test_what_is_at_its_start_is_not_in_the_address():
    at = opened()
    at.button(key="one").click().run()
    assert address(at) == {"steps": "1"}
    at.session_state["steps"] = 0
    assert address(shown(at.run())) == {}
