"""What the benchmark compares the player with: one slider alone, or the same graph in st.graphviz_chart (?nodes=150)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import graphviz
import streamlit as st

from lab.text import brief
from lab.trace.recording import describe, record
from tests.browser.apps.programs import tree

st.set_page_config(page_title="Baseline", layout="wide")


def plain(trace):
    """The graph as one would write it for st.graphviz_chart: for each node a box with what the player's card says."""
    dot = graphviz.Digraph()
    gradients = trace.gradients_after()
    for node in trace.nodes:
        number = node["id"]
        text = f"{describe(node)}\\n{brief(node['value'])}\\ngrad {brief(gradients[number])}"
        dot.node(str(number), text, id=f"node-{number}", shape="box")
        for child in node["children"]:
            dot.edge(str(child), str(number))
    return dot


@st.fragment
def show():
    a = st.slider("a", -10.0, 10.0, 2.0, 0.1)
    if "nodes" in st.query_params:
        trace = record(tree(int(st.query_params["nodes"])), {"a": a, "b": 3.0, "c": 4.0, "d": 5.0})
        st.graphviz_chart(plain(trace), width="stretch")
    else:
        st.write(f"{a:g}")


st.title("Baseline")
show()
