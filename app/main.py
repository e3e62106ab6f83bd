"""The dashboard: navigation only; each page answers one question."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent
VIEWS = HERE / "views"  # a folder named pages/ would let Streamlit serve its files past this navigation

st.set_page_config(page_title="Dropline", page_icon=str(HERE / "icon.png"), layout="wide")
st.navigation(
    [
        st.Page(VIEWS / "overview.py", title="Overview", icon=":material/leaderboard:", default=True),
        st.Page(VIEWS / "compare.py", title="Compare", icon=":material/compare_arrows:", url_path="compare"),
        st.Page(VIEWS / "run.py", title="Run", icon=":material/timeline:", url_path="run"),
        st.Page(VIEWS / "planner.py", title="LPS needed", icon=":material/calculate:", url_path="planner"),
    ],
    position="top",
).run()
