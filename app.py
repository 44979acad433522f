"""Tensor Ops Lab: `streamlit run app.py`. The pages are in pages/, and what they share is in lab/.

This file runs as "__main__" each time a visitor's page is computed, and before that once under another name, when the
server starts, to create `app`.
"""

from contextlib import suppress

import streamlit as st

if __name__ == "__main__":
    from lab.lessons.pages import GROUPS, PAGES, WINDOW

    # The icon comes first: st.navigation would load one online. A file at an address is not read again in each run.
    st.set_page_config(page_icon="/app/static/page/icon.svg", layout="wide")
    st.logo("/app/static/page/logo.svg", size="large")

    pages: dict[str, st.Page] = st.session_state.setdefault("pages", {})  # looking up all files takes 1 ms
    menu: dict[str, list[st.Page]] = {group: [] for group in GROUPS}
    for known in PAGES:
        if known.file not in pages:
            icon, path, start = f":material/{known.icon}:", known.path or None, not known.path
            page = st.Page(known.file, title=known.title, icon=icon, url_path=path, default=start, help=known.question)
            pages[known.file] = page
        menu[known.group].append(pages[known.file])
    page = st.navigation(menu, position="top")  # at the top, to leave the window's width to the page
    st.set_page_config(page_title=WINDOW.format(page.title))  # before the page writes to the address
    st.session_state["path"] = page.url_path  # the browser uses it to check that it still shows this page
    page.run()
else:
    from streamlit.errors import StreamlitAPIException

    from lab.config import allow_open_files, detect_hosted
    from lab.ui.search_field import ROUTE
    from lab.ui.server import LAYERS

    allow_open_files()
    detect_hosted(st.get_option("server.address"), st.get_option("server.allowedHosts"))

    # Until this has been called, Streamlit takes the files in pages/ for the pages. Without pages it raises an error.
    with suppress(StreamlitAPIException):
        st.navigation([])
    app = st.App(__file__, routes=[ROUTE], middleware=LAYERS)
