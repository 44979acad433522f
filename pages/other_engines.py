"""Other engines: five small designs, PyTorch, and what to read."""

import streamlit as st

from lab.ui import expression_box, page
from pages.parts import engine_designs, wider_field

with page.frame("other-engines", *engine_designs.HELD) as arrived:
    st.title("Other engines")
    if arrived:
        expression_box.restart(engine_designs.NAME)
    tabs = {"designs": engine_designs.draw, "beside": wider_field.draw_comparison, "next": wider_field.draw_reading}
    page.tabs("other-engines", tabs)
