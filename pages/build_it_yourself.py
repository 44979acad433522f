"""Build it yourself: an engine from an empty file, programs to debug, questions; then the visitor's engine at work."""

import streamlit as st

from lab.ui import page
from pages.parts import courses, debug_these, questions, your_engine

CONTENTS = {"courses": courses.show, "debug": debug_these.show, "ask": questions.show, "passes": your_engine.show}
WAITS = {"courses": courses.wait, "debug": debug_these.wait}  # for a check, once the page is drawn

with page.frame("build-it-yourself", *courses.HELD, *debug_these.HELD, *questions.HELD, *your_engine.HELD) as arrived:
    st.title("Build it yourself")
    if arrived:
        questions.arrive()
        your_engine.arrive()
    opened = page.tabs("build-it-yourself", CONTENTS)
if opened in WAITS:
    WAITS[opened]()
