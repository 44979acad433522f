"""Tensor Ops Lab: `streamlit run app.py`. The pages are in pages/, what they share is in lab/.

This file runs as "__main__" for each visitor, whenever a page is computed; and once before, as the server starts, to
make `app`.
"""

import streamlit as st

if __name__ == "__main__":
    st.set_page_config(page_title="Tensor Ops Lab", page_icon="assets/icon.svg", layout="wide")
    st.logo("assets/logo.svg", size="large")

    # Each url_path differs from the name of its file: Streamlit would otherwise open that file without this frame.
    page = st.navigation(
        [
            st.Page("pages/graph_lab.py", title="Graph lab", icon=":material/account_tree:", default=True),
            st.Page(
                "pages/simulate_error.py", title="Simulate Error", icon=":material/bolt:", url_path="simulate-error"
            ),
            st.Page("pages/fault_lab.py", title="Fault lab", icon=":material/build:", url_path="faults"),
            st.Page("pages/spot_the_fault.py", title="Spot the fault", icon=":material/search:", url_path="spot"),
            st.Page("pages/engine_designs.py", title="Engine designs", icon=":material/compare:", url_path="designs"),
            st.Page("pages/training_lab.py", title="Training lab", icon=":material/monitoring:", url_path="training"),
        ],
        position="top",  # in a row above: the width of the window is the picture's
    )
    st.session_state["path"] = page.url_path  # with which the browser asks whether it still shows this page
    page.run()
else:
    from starlette.middleware import Middleware
    from streamlit.runtime.pages_manager import PagesManager

    from lab.ui.compressed import CompressedOnce
    from lab.ui.same_origin import SameOrigin
    from lab.ui.visitor import Visitor

    # Until app.py has run for somebody, Streamlit takes the files in pages/ for the pages: whom a link to one of them
    # brings first would read "Page not found" above it.
    PagesManager.uses_pages_directory = False
    app = st.App(__file__, middleware=[Middleware(SameOrigin), Middleware(Visitor), Middleware(CompressedOnce)])
