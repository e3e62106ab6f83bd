"""Page Versions: which set-ups became faster or slower with a version, and is that real?"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dropline.app import headlines, links, queries, query_log, view_tables, widgets, wording
from dropline.app.charts import panel
from dropline.app.warehouse import Warehouse

MOST: int = 60  # set-ups in the chart


def main() -> None:
    """Draw the page."""
    st.title("Versions")
    warehouse = widgets.warehouse_or_stop()
    if not queries.ask(warehouse, "versions_known", loss_goal=None).num_rows:
        st.info(wording.CAPTIONS["one_version"], icon=":material/compare_arrows:")
        return
    left, right = st.columns([2, 1])
    with right:
        goal = widgets.choose_goal(warehouse)
    known = {row["title"]: row for row in queries.ask(warehouse, "versions_known", loss_goal=goal).to_pylist()}
    with left:
        chosen = widgets.choose_one("Versions", "versions", {each: each for each in known})
    if chosen:
        _draw(warehouse, goal, chosen, known[chosen])


def _draw(warehouse: Warehouse, goal: str | None, title: str, known: Mapping[str, Any]) -> None:
    with query_log.recorded() as asked:
        found = queries.verdicts(warehouse, "versions_pairs", **known, loss_goal=goal)
    rows = view_tables.bounded(found.to_pandas())
    names = view_tables.short(queries.labels(warehouse), list(rows["configuration_id_a"]))
    rows = rows.assign(
        row=rows["configuration_id_a"].map(names),
        origin="measured",
        is_real=rows["verdict"].isin(headlines.DECIDED),
        size=(rows["ratio"].fillna(1).map(lambda ratio: max(ratio, 1 / ratio))),
        shown=[
            f"{sign} {wording.percent(ratio)}, {wording.SHORT_VERDICTS.get(verdict, verdict)}".strip()
            for ratio, verdict, sign in zip(rows["ratio"], rows["verdict"], rows["sign"], strict=True)
        ],
    ).sort_values(["is_real", "size"], ascending=False, kind="stable")
    st.header(wording.plain(f"{title}: {headlines.changes(list(rows['verdict']))}"), anchor=False)
    drawn = rows.dropna(subset=["ratio"]).head(MOST)
    if len(drawn):
        finding = f"{known['version']} against {known['previous_version']}: {wording.plural(len(drawn), 'set-up')}"
        detail = "Largest real change first. Light: 95 % interval; blue: faster, orange: slower, grey: may be chance"
        widgets.chart(panel.ratios(drawn, finding, detail), "versions", asked)
    st.caption(
        f"{wording.plain(wording.doubts(found.to_pylist()))} "
        "Rates of ramps are those of the last steps that passed; changes compare the estimates at the limit. Choose a "
        "row to compare the two versions of a set-up: loss curves, settings and hardware."
    )
    both = [*rows["configuration_id_a"], *rows["configuration_id_b"]]
    table = queries.ask(warehouse, "capacities", configuration_ids=both, loss_goal=goal)
    capacities = view_tables.capacities(table, {})
    figures = dict(zip(capacities["configuration_id"], capacities["shown"], strict=True))
    listed = rows.assign(
        change=(rows["sign"] + " " + rows["ratio"].map(wording.percent)).str.strip(),
        interval=view_tables.texts(rows, wording.factor_interval, "ci_low", "ci_high"),
        verdict=rows["verdict"].map(wording.VERDICTS),
        rate_a=rows["configuration_id_a"].map(figures),
        rate_b=rows["configuration_id_b"].map(figures),
        runs=view_tables.texts(rows, wording.numbers, "runs_b", "runs_a"),
    )
    words = {"before": str(known["previous_version"]), "after": str(known["version"])}
    place = widgets.choose_row("versions", listed, words)
    if place is not None:
        pair = rows.iloc[place]
        links.to_compare([pair["configuration_id_b"], pair["configuration_id_a"]], "Compare the two versions")


main()
