"""A page computes again when its inputs are others, and only then."""

import pytest
from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from lab.ui.memoize import memoize

    def compute():
        st.session_state["runs"] = st.session_state.get("runs", 0) + 1
        return 10 / number

    number = st.number_input("number", value=1, key="number")
    try:
        st.text(memoize("tenth", (number,), compute))
    except ZeroDivisionError:
        st.text("no result")


def test_it_is_kept_as_long_as_its_inputs_stay_the_same():
    at = AppTest.from_function(page).run()
    at.run()
    assert at.session_state["runs"] == 1
    assert at.text[0].value == "10.0"
    at.number_input(key="number").set_value(5).run()
    at.run()
    assert at.session_state["runs"] == 2
    assert at.text[0].value == "2.0"


@pytest.mark.parametrize("number", [1, 5])
def test_an_error_is_not_kept(number):
    at = AppTest.from_function(page).run()
    at.number_input(key="number").set_value(0).run()
    assert at.text[0].value == "no result"
    at.number_input(key="number").set_value(number).run()
    assert at.text[0].value == str(10 / number)


def forgetful_page():
    import streamlit as st

    from lab.ui.memoize import forget, memoize

    def compute():
        st.session_state["runs"] = st.session_state.get("runs", 0) + 1
        return st.session_state["runs"]

    st.button("Again", on_click=forget, args=("count",))
    st.text(memoize("count", (), compute))


def test_it_is_computed_anew_where_that_is_asked_for():
    at = AppTest.from_function(forgetful_page).run()
    at.button[0].click().run()
    assert at.text[0].value == "2"
    at.run()
    assert at.text[0].value == "2"
