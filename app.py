"""Tensor Ops Lab: `streamlit run app.py`. The pages are in pages/, what they share is in lab/."""

import streamlit as st

st.set_page_config(page_title="Tensor Ops Lab", page_icon="🟠", layout="wide")

# Each url_path differs from the name of its file: Streamlit would otherwise open that file without this frame.
st.navigation(
    {
        "See": [st.Page("pages/graph_lab.py", title="Graph lab", icon=":material/account_tree:", default=True)],
        "Break": [
            st.Page(
                "pages/simulate_error.py", title="Simulate Error", icon=":material/bolt:", url_path="simulate-error"
            ),
            st.Page("pages/fault_lab.py", title="Fault lab", icon=":material/build:", url_path="faults"),
            st.Page("pages/spot_the_fault.py", title="Spot the fault", icon=":material/search:", url_path="spot"),
        ],
        "Train": [
            st.Page("pages/training_lab.py", title="Training lab", icon=":material/monitoring:", url_path="training")
        ],
    }
).run()
