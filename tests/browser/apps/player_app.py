"""A page with nothing but the player, for the browser tests and the benchmark. Query: ?nodes=150, ?case=arrays, ?shape=chain, ?compact."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import streamlit as st

from lab.trace.recording import record
from lab.ui.player import live_values, player
from tests.browser.apps.programs import CASES, SHAPES, tree

st.set_page_config(page_title="Player", layout="wide")


@st.fragment
def show():
    if "nodes" in st.query_params:
        build, live = tree(int(st.query_params["nodes"])), CASES["shared"][1]
    elif "shape" in st.query_params:
        build, live = SHAPES[st.query_params["shape"]], CASES["shared"][1]
    else:
        build, live = CASES[st.query_params.get("case", "shared")]
    st.session_state.runs = st.session_state.get("runs", 0) + 1
    st.caption(f"runs: {st.session_state.runs}")
    values = live_values("player", live)
    event = int(st.query_params["event"]) if "event" in st.query_params else None
    trace = record(build, values)
    player(
        trace,
        key="player",
        live=live,
        opened=event,
        address="event",
        script=lambda: "print(1)\n",
        compact="compact" in st.query_params,
    )


# From assets/app.css: nothing fades while it is computed anew.
st.html('<style>[data-testid="stElementContainer"] {opacity: 1 !important; transition: none !important}</style>')
st.title("Player")
show()
st.header("What follows")
