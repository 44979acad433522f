"""A page that only shows the elements of a plan and computes nothing: `pages.py` compares each page with it.

The plan is a JSON file that the address names, with a list of [kind, options]. The page has the menu of the app.
"""

import json
from pathlib import Path

import streamlit as st

from lab.lessons.pages import PAGES

ROOT = Path(__file__).resolve().parents[1]

_component = st.components.v2.component("bare", html="", js="export default () => {}")
MAKE = {  # kind -> a function that shows such an element with a name and options
    "alert": lambda name, _: st.info(name),
    "bidi_component": lambda name, _: _component(key=name, data=b"{}"),
    "block": lambda name, _: st.container(),
    "button": lambda name, _: st.button(name, key=name),
    "button_group": lambda name, options: st.segmented_control(name, options, key=name),
    "checkbox": lambda name, _: st.checkbox(name, key=name),
    "code": lambda name, _: st.code(name),
    "echarts_chart": lambda name, _: st.echarts_chart({"series": []}, key=name),
    "heading": lambda name, _: st.header(name),
    "html": lambda name, _: st.html(name),
    "metric": lambda name, _: st.metric(name, 1),
    "number_input": lambda name, _: st.number_input(name, key=name),
    "page_link": lambda name, _: st.page_link(others[0], label=name, icon=":material/home:"),
    "radio": lambda name, options: st.radio(name, options, key=name),
    "selectbox": lambda name, options: st.selectbox(name, options, key=name),
    "slider": lambda name, options: st.select_slider(name, options, key=name) if options else st.slider(name, key=name),
    "text": lambda name, _: st.text(name),
    "text_area": lambda name, _: st.text_area(name, key=name),
    "text_input": lambda name, _: st.text_input(name, key=name),
}


def page() -> None:
    session = st.session_state
    if "plan" not in session:
        session["plan"] = json.loads(Path(st.query_params["plan"]).read_text("utf-8"))
    for number, (kind, options) in enumerate(session["plan"]):
        MAKE.get(kind, lambda name, _: st.markdown(name))(f"{kind} {number}", options)


if __name__ == "__main__":
    st.set_page_config(layout="wide")
    others = [st.Page(ROOT / known.file, title=known.title, url_path=known.path) for known in PAGES if known.path]
    st.navigation({"": [st.Page(page, default=True)], "Others": others}, position="top").run()
