"""Dashboard: the navigation between its pages, each of which answers one question."""

from pathlib import Path
from typing import Literal

import streamlit as st

from dropline.app import auth, uploads, widgets, wording
from dropline.app.warehouse import QueryRefused
from dropline.measure import progress
from dropline.paths import Home

HERE = Path(__file__).parent
VIEWS = HERE / "views"  # not pages/, whose files Streamlit would serve on its own, bypassing this navigation


def place(view: str, title: str, icon: str, visibility: Literal["visible", "hidden"] = "visible") -> st.Page:
    """Return the page of a view."""
    return st.Page(VIEWS / f"{view}.py", title=title, icon=f":material/{icon}:", url_path=view, visibility=visibility)


def search() -> None:
    """Show a search field for everything; the page Runs, which has the same field, shows the matches."""
    with st.container(key="everywhere"):
        asked = widgets.search("Search everything", "everywhere-words", "Search", label_visibility="collapsed")
    if asked:
        st.switch_page(runs, query_params={"search": asked})


st.set_page_config(page_title="Dropline", page_icon=str(HERE / "icon.png"), layout="wide")
st.logo(HERE / "logo.svg", size="large")
auth.require_role()
results = st.Page(VIEWS / "results.py", title="Results", icon=":material/leaderboard:", default=True)
compare = place("compare", "Compare", "compare_arrows")
runs = place("explore", "Runs", "search")
plan = place("planner", "Plan", "calculate")
sql = place("sql", "SQL", "terminal")
is_measuring = progress.current(Home.chosen().root)
can_add = uploads.may_keep() and auth.may_store()
data = [
    place("measuring", "Now measuring", "radio_button_checked", "visible" if is_measuring else "hidden"),
    place("try_file", "Add results" if can_add else "Try a file", "upload_file"),
    place("quality", "Quality", "rule"),
    place("machines", "Machines", "dns"),
    place("claims", "Published claims", "fact_check"),
]
# Sub-pages are reached by a row of links above the page, so that the menu stays short.
versions = place("versions", "Versions", "difference", "hidden")
speedups = place("speedups", "Speed-ups", "speed", "hidden")
run = place("run", "One run", "timeline", "hidden")
trends = place("trends", "Trends", "trending_up", "hidden")
WITHIN = (
    {compare: "Set-ups", versions: "Versions", speedups: "Speed-ups"},
    {runs: "All set-ups", run: "One run", trends: "Trends"},
)
analysis = [results, compare, runs, plan, sql, versions, speedups, run, trends]
page = st.navigation({"": analysis, "Data": data}, position="top")
st.set_page_config(page_title=f"{page.title} - Dropline")
for beside in WITHIN:
    if page in beside:
        with st.container(horizontal=True, gap="small", key="within"):
            for other, label in beside.items():
                st.page_link(other, label=label)
if page != runs:
    search()
widgets.follow_publications(widgets.published())
try:
    page.run()
except QueryRefused as error:
    st.error(wording.plain(error))
# Streamlit overwrites the entry of the browser's history at each choice, so that Back loses choices. This component
# adds an entry at the first change of the address after each click or key press.
steps = st.components.v2.component("history", js=(HERE / "history.js").read_text("utf-8"), isolate_styles=False)
steps(key="history")  # last, where it takes no space
