"""The dashboard: navigation only; each page answers one question."""

from pathlib import Path

import streamlit as st

from dropline.app import auth, uploads, widgets, wording
from dropline.app.warehouse import QueryRefused
from dropline.measure import progress
from dropline.paths import Home

HERE = Path(__file__).parent
VIEWS = HERE / "views"  # Streamlit would serve files of a folder named pages/ past this navigation


def search() -> None:
    """Show a search field; the page Runs, which has the same field, shows the matches."""
    with st.container(key="everywhere"):
        asked = st.text_input(
            "Search set-ups",
            key="everywhere-words",
            type="search",
            icon=":material/search:",
            placeholder="Search",
            label_visibility="collapsed",
        )
    if asked:
        st.switch_page(runs, query_params={"search": asked})


st.set_page_config(page_title="Dropline", page_icon=str(HERE / "icon.png"), layout="wide")
st.logo(HERE / "logo.svg", size="large")
auth.require_role()
results = st.Page(VIEWS / "results.py", title="Results", icon=":material/leaderboard:", default=True)
compare = st.Page(VIEWS / "compare.py", title="Compare", icon=":material/compare_arrows:", url_path="compare")
runs = st.Page(VIEWS / "explore.py", title="Runs", icon=":material/search:", url_path="explore")
plan = st.Page(VIEWS / "planner.py", title="Plan", icon=":material/calculate:", url_path="planner")
sql = st.Page(VIEWS / "sql.py", title="SQL", icon=":material/terminal:", url_path="sql")
measuring = st.Page(
    VIEWS / "measuring.py",
    title="Now measuring",
    icon=":material/radio_button_checked:",
    url_path="measuring",
    visibility="visible" if progress.current(Home.chosen().root) else "hidden",
)
data = [
    measuring,
    st.Page(
        VIEWS / "try_file.py",
        title="Add results" if uploads.may_keep() and auth.may_store() else "Try a file",
        icon=":material/upload_file:",
        url_path="try_file",
    ),
    st.Page(VIEWS / "quality.py", title="Quality", icon=":material/rule:", url_path="quality"),
    st.Page(VIEWS / "machines.py", title="Machines", icon=":material/dns:", url_path="machines"),
    st.Page(VIEWS / "claims.py", title="Published claims", icon=":material/fact_check:", url_path="claims"),
]
# Sub-pages: a row of links above the page leads to them, so that the menu stays short.
versions = st.Page(
    VIEWS / "versions.py", title="Versions", icon=":material/difference:", url_path="versions", visibility="hidden"
)
speedups = st.Page(
    VIEWS / "speedups.py", title="Speed-ups", icon=":material/speed:", url_path="speedups", visibility="hidden"
)
run = st.Page(VIEWS / "run.py", title="One run", icon=":material/timeline:", url_path="run", visibility="hidden")
trends = st.Page(
    VIEWS / "trends.py", title="Trends", icon=":material/trending_up:", url_path="trends", visibility="hidden"
)
WITHIN = (
    {compare: "Set-ups", versions: "Versions", speedups: "Speed-ups"},
    {runs: "All set-ups", run: "One run", trends: "Trends"},
)


page = st.navigation(
    {"": [results, compare, runs, plan, sql, versions, speedups, run, trends], "Data": data}, position="top"
)
st.set_page_config(page_title=f"{page.title} - Dropline")
for place in WITHIN:
    if page in place:
        with st.container(horizontal=True, gap="small", key="within"):
            for other, label in place.items():
                st.page_link(other, label=label)
if page != runs:
    search()
widgets.follow_publications()
try:
    page.run()
except QueryRefused as error:
    st.error(wording.plain(error))
# A step of the browser's history for each choice: by itself Streamlit overwrites that of the choice before, and Back
# loses the choices of the page it returns to. The first change of the address after a click or a key press adds one.
steps = st.components.v2.component("history", js=(HERE / "history.js").read_text("utf-8"), isolate_styles=False)
steps(key="history")  # last, where it takes no space
