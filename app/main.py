"""The dashboard: navigation only; each page answers one question."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dropline.app import auth, behind, history, state

HERE = Path(__file__).parent
VIEWS = HERE / "views"  # a folder named pages/ would let Streamlit serve its files past this navigation

st.set_page_config(page_title="Dropline", page_icon=str(HERE / "icon.png"), layout="wide")
auth.require_role()
page = st.navigation(
    [
        st.Page(VIEWS / "overview.py", title="Overview", icon=":material/leaderboard:", default=True),
        st.Page(VIEWS / "explore.py", title="Explore", icon=":material/search:", url_path="explore"),
        st.Page(VIEWS / "compare.py", title="Compare", icon=":material/compare_arrows:", url_path="compare"),
        st.Page(VIEWS / "run.py", title="Run", icon=":material/timeline:", url_path="run"),
        st.Page(VIEWS / "speedups.py", title="Speed-ups", icon=":material/speed:", url_path="speedups"),
        st.Page(VIEWS / "trends.py", title="Trends", icon=":material/trending_up:", url_path="trends"),
        st.Page(VIEWS / "planner.py", title="LPS needed", icon=":material/calculate:", url_path="planner"),
        st.Page(VIEWS / "machines.py", title="Machines", icon=":material/dns:", url_path="machines"),
        st.Page(VIEWS / "claims.py", title="Claims", icon=":material/fact_check:", url_path="claims"),
        st.Page(VIEWS / "quality.py", title="Quality", icon=":material/rule:", url_path="quality"),
        st.Page(VIEWS / "sql.py", title="SQL", icon=":material/terminal:", url_path="sql"),
        st.Page(VIEWS / "try_file.py", title="Try a file", icon=":material/upload_file:", url_path="try_file"),
    ],
    position="top",
)
state.follow_publications()
with behind.recorded() as questions:
    page.run()
if questions:
    state.offer_sql(questions)
history.keep_steps()  # last, where it takes no room
