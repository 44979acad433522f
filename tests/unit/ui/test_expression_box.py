"""An expression and its inputs on any page: examples, mistakes, and what the address keeps."""

import pytest
from streamlit.testing.v1 import AppTest

from lab.ui.expression_box import value, written
from tests.pages.conftest import app, run


def page():
    import streamlit as st

    from lab.ui import binding
    from lab.ui import expression_box as box

    held = box.held("trial", "a*b")
    if binding.arrive("trial", *held):
        box.restart("trial")
    expression = box.box("trial", {"a*b": {"a": 2.0, "b": 3.0}, "sum(x)": {"x": [1.0, 2.0]}})
    if expression:
        st.session_state["found"] = box.entries("trial", expression)
    binding.write(*held)


def address(at):
    return {name: at.query_params[name] for name in at.query_params if name != "entry" and at.query_params[name]}


@pytest.fixture
def at():
    return AppTest.from_function(page, default_timeout=60)


def test_it_begins_with_an_example_and_its_values(at):
    at.run()
    assert at.session_state["found"] == {"a": 2.0, "b": 3.0}
    assert address(at) == {}
    at.slider[0].set_value(5.0).run()
    assert at.session_state["found"] == {"a": 5.0, "b": 3.0}
    assert address(at) == {"trial-in_a": "5", "trial-in_b": "3"}


def test_an_address_brings_text_and_values(at):
    at.query_params.update({"trial-expression": "x*c", "trial-in_x": "[1, 2]", "trial-in_c": "700"})
    at.run()
    assert at.session_state["found"] == {"x": [1.0, 2.0], "c": 700.0}
    assert at.selectbox[0].value is None
    at.selectbox[0].set_value("sum(x)").run()
    assert at.session_state["found"] == {"x": [1.0, 2.0]}
    assert at.text_input[0].value == "sum(x)"


def test_what_cannot_be_read_is_said_and_nothing_is_lost(at):
    at.run()
    at.slider[0].set_value(5.0).run()
    at.text_input[0].set_value("a*(b").run()
    assert at.error
    assert not at.exception
    at.text_input[0].set_value("a*(b+a)").run()
    assert not at.error
    assert at.session_state["found"] == {"a": 5.0, "b": 3.0}


def test_a_mistake_is_said_in_one_way_on_all_pages():
    for text, said in (("_f_(a)", r"`_f_` has no place here\."), ("a + [1] @ a", "`@`")):
        shown = {
            (at.error[0].value, *(code.value for code in at.code))
            for at in (run(app(page), expression=text) for page in ("pages/graph_lab.py", "pages/gradient_check.py"))
        }
        ((sentence, place),) = shown
        assert sentence.startswith(said)
        assert text in place


def test_an_array_that_is_none_is_said(at):
    at.query_params.update({"trial-expression": "sum(x)", "trial-in_x": "[1, 2]"})
    at.run()
    at.text_input[1].set_value("[1, ").run()
    assert "Write a number, or a vector" in at.error[0].value
    assert at.session_state["found"] is None
    at.text_input[1].set_value("[1, 2, 3]").run()
    assert at.session_state["found"] == {"x": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize("text", ["1", "-2.5", "[1.0, 2.0]", "[[1.0], [2.0]]"])
def test_a_value_is_read_as_it_is_written(text):
    assert value(written(value(text))) == value(text)


@pytest.mark.parametrize("text", ["", "a", "[]", "[[[1]]]", "1e9", "[1, [2]]", "NaN", "[" * 5000])
def test_what_is_no_value_is_refused(text):
    with pytest.raises(ValueError, match=r"number|axes"):
        value(text)
