"""Why reverse mode: what a gradient costs, all derivatives of a function as one picture, and more for the curious."""

import streamlit as st

from lab.ui import expression_box, page
from pages.parts import for_the_curious, gradient_cost, jacobian
from pages.parts.curious import checkpointing, formula

HELD = gradient_cost.MEASURED, *jacobian.HELD, *formula.HELD, *checkpointing.HELD
with page.frame("why-reverse-mode", *HELD) as arrived:
    st.title("Why reverse mode")
    if arrived:
        expression_box.restart(jacobian.NAME)
        expression_box.restart(formula.NAME)
    tabs = {"cost": gradient_cost.draw, "one": jacobian.draw, "curious": for_the_curious.draw}
    page.tabs("why-reverse-mode", tabs)
