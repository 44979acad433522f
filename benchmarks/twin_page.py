"""A page of nothing but elements, as many of each kind as its address says: what Streamlit itself asks for a page.

It has the menu of the app.
"""

from pathlib import Path

import streamlit as st

from lab.lessons.pages import PAGES

ROOT = Path(__file__).resolve().parents[1]

_component = st.components.v2.component("twin", html="", js="export default () => {}")
MAKE = {
    "bidi_component": lambda name: _component(key=name, data=b"{}"),
    "block": lambda name: st.container(),
    "button": lambda name: st.button(name, key=name),
    "button_group": lambda name: st.segmented_control(name, ["a", "b"], key=name),
    "checkbox": lambda name: st.checkbox(name, key=name),
    "code": st.code,
    "echarts_chart": lambda name: st.echarts_chart({"series": []}, key=name),
    "heading": st.header,
    "html": st.html,
    "metric": lambda name: st.metric(name, 1),
    "number_input": lambda name: st.number_input(name, key=name),
    "page_link": lambda name: st.page_link(others[0], label=name, icon=":material/home:"),
    "radio": lambda name: st.radio(name, ["a", "b"], key=name),
    "selectbox": lambda name: st.selectbox(name, ["a", "b"], key=name),
    "slider": lambda name: st.slider(name, key=name),
    "text_area": lambda name: st.text_area(name, key=name),
    "text_input": lambda name: st.text_input(name, key=name),
}


def page() -> None:
    for kind, count in st.query_params.items():
        for number in range(int(count)):
            MAKE.get(kind, st.markdown)(f"{kind} {number}")


if __name__ == "__main__":
    st.set_page_config(layout="wide")
    others = [st.Page(ROOT / known.file, title=known.title, url_path=known.path) for known in PAGES if known.path]
    st.navigation({"": [st.Page(page, default=True)], "Others": others}, position="top").run()
