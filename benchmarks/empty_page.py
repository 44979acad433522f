import streamlit as st

st.slider("a", 0.0, 10.0)
