"""Tensor Ops Lab: `streamlit run app.py`. The pages are in pages/, what they share is in lab/.

This file runs as "__main__" for each visitor, whenever a page is computed; and once before, as the server starts, to
make `app`.
"""

from pathlib import Path

import streamlit as st

ASSETS = Path(__file__).parent / "assets"  # the server may have been started from another folder

if __name__ == "__main__":
    from lab.lessons.pages import GROUPS, PAGES
    from lab.ui.stale_messages import acknowledge

    st.set_page_config(page_title="Tensor Ops Lab", page_icon=str(ASSETS / "icon.svg"), layout="wide")
    st.logo(str(ASSETS / "logo.svg"), size="large")

    pages: dict[str, st.Page] = st.session_state.setdefault("pages", {})  # to look for all files takes a millisecond
    menu: dict[str, list[st.Page]] = {group: [] for group in GROUPS}
    for known in PAGES:
        if known.file not in pages:
            icon, start = f":material/{known.icon}:", not known.path
            path, says = known.path or None, known.question
            page = st.Page(known.file, title=known.title, icon=icon, url_path=path, default=start, help=says)
            pages[known.file] = page
        menu[known.group].append(pages[known.file])
    page = st.navigation(menu, position="top")  # in a row above: the width of the window is the picture's
    st.session_state["path"] = page.url_path  # with which the browser asks whether it still shows this page
    page.run()
    acknowledge()
else:
    from starlette.middleware import Middleware
    from streamlit.runtime import state
    from streamlit.runtime.pages_manager import PagesManager

    from lab.config import allow_open_files, detect_hosted
    from lab.ui.base_address import BaseAddress
    from lab.ui.compressed import CompressedOnce
    from lab.ui.redirect import Redirect
    from lab.ui.same_origin import SameOrigin
    from lab.ui.search_field import ROUTE
    from lab.ui.stale_messages import LatestState
    from lab.ui.visitor import Visitor

    allow_open_files()
    detect_hosted(st.get_option("server.address"), st.get_option("server.allowedHosts"))

    # Until app.py has run for somebody, Streamlit takes the files in pages/ for the pages: whom a link to one of them
    # brings first would read "Page not found" above it.
    PagesManager.uses_pages_directory = False
    setattr(state, "SessionState", LatestState)  # noqa: B010  what Streamlit makes for each visitor; no name is public
    kinds = (SameOrigin, Redirect, Visitor, BaseAddress, CompressedOnce)
    layers = [Middleware(kind) for kind in kinds]
    app = st.App(__file__, routes=[ROUTE], middleware=layers)
