"""Page Quality: which findings weaken the figures, what was rejected, and did the gate pass?"""

from __future__ import annotations

import shlex
from collections.abc import Collection
from datetime import datetime
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dropline.app import links, queries, query_log, status, widgets, wording
from dropline.app.charts import counts
from dropline.app.warehouse import Warehouse
from dropline.paths import Home

MOST_BARS = 12
MOST_FINDINGS = 1000  # in the table; a browser takes 0.1 s for 5,000
# Filter: its label, and the parameter of quality_findings.sql.
FILTERS = {
    "severity": ("Severity", "severities"),
    "finding": ("Finding", "findings"),
    "subject": ("About", "subjects"),
    "campaign": ("Campaign", "campaigns"),
}
RESULTS = wording.SEVERITIES | {None: "✓ holds"}


def main() -> None:
    """Draw the page."""
    st.title("Quality")
    warehouse = widgets.warehouse_or_stop()
    with query_log.recorded() as asked:
        found = queries.ask(warehouse, "quality_counts").to_pandas()
    answer = widgets.reserved(widgets.HEADER_PIXELS)
    published = {*found.loc[~found["is_own"], "campaign"]}
    hidden = set() if _shows_published(found, published) else published
    found = found[~found["campaign"].isin(hidden)]
    answer.header(_answer(found), anchor=False)
    suites = status.gate(Home.chosen())
    _say_counts(warehouse, found, suites)
    parts = {
        "Findings": partial(_findings, warehouse, found, asked, hidden),
        "Rejected files": partial(_rejected, warehouse),
        "Gate": partial(_gate, suites),
    }
    widgets.show_tabs(parts)


def _shows_published(found: pd.DataFrame, published: set[str]) -> bool:
    """Return whether to show problems of published figures: by a toggle, or if the URL names such a campaign."""
    if published & {*st.query_params.get_all("campaign")}:
        st.session_state.setdefault("published", True)
    return st.toggle("Published figures", key="published", bind="query-params")


def _say_counts(warehouse: Warehouse, found: pd.DataFrame, suites: list[dict[str, Any]]) -> None:
    by_severity = found.groupby("severity")["findings"].sum()
    counts = [f"{text} {by_severity.get(each, 0):,}" for each, text in wording.SEVERITIES.items()]
    rejected = wording.plural(int(found.loc[found["finding"] == "rejected", "findings"].sum()), "rejected file")
    held, failed = (sum(suite[name] for suite in suites) for name in ("successes", "failures"))
    gate = f"{held} of {held + failed} data checks hold" if suites else "data checks not run"
    built = queries.row(warehouse, "quality_built")["built_at"]
    st.caption(f"Build of {built:%d %b %Y, %H:%M} UTC: {', '.join(counts)}, {rejected}; {gate}.")
    widgets.warn_if_behind(warehouse)


def _answer(found: pd.DataFrame) -> str:
    """Return a summary of the problems with the visitor's own figures."""
    grave = found[found["severity"] != "info"]
    own = grave[grave["is_own"]]
    kinds = own.groupby("finding", sort=False)["findings"].sum().sort_values(ascending=False, kind="stable")
    problems = wording.plural(int(kinds.sum()), "problem")
    text = f"{problems} with what you measured, most often {wording.findings([kinds.index[0]])}" if len(kinds) else ""
    others = int(grave["findings"].sum() - kinds.sum())
    beside = f" {wording.plural(others, 'problem')} with published figures." if others else ""
    return f"{text or 'No problems with what you measured'}.{beside}"


def _findings(warehouse: Warehouse, found: pd.DataFrame, asked: Collection[str], hidden: Collection[str]) -> None:
    if found.empty:
        st.success("No known problems.", icon=":material/check:")
        return
    chosen = _choose_filters(found)
    kept = found
    for name, values in chosen.items():
        kept = kept[kept[name].isin(values)] if values else kept
    if kept.empty:
        st.warning("No findings for these filters. Remove one.")
        return
    _draw_kinds(kept, asked)
    wanted = {parameter: chosen[name] for name, (_, parameter) in FILTERS.items()} | {"hidden": [*hidden]}
    rows = queries.ask(warehouse, "quality_findings", **wanted, most=MOST_FINDINGS).to_pandas()
    if (total := kept["findings"].sum()) > len(rows):
        st.caption(f"The table shows the most serious {len(rows):,} of {total:,} findings; filter to see the others.")
    named = rows.assign(severity=rows["severity"].map(wording.SEVERITIES), finding=rows["finding"].map(_named))
    place = widgets.choose_row("findings-found", named)
    if place is None:
        st.info("Choose a finding in the table to go to its run or configuration.", icon=":material/touch_app:")
    else:
        _show_finding(warehouse, rows.iloc[place])


def _choose_filters(found: pd.DataFrame) -> dict[str, list[str]]:
    chosen = {}
    for column, (name, (label, _)) in zip(st.columns(len(FILTERS)), FILTERS.items(), strict=True):
        values = sorted(found[name].dropna().unique())
        texts = {"severity": wording.SEVERITIES.__getitem__, "finding": _named}
        with column, widgets.reserved(widgets.FIELD_PIXELS):
            options = {each: texts.get(name, str)(each) for each in values}
            chosen[name] = widgets.choose_many(label, name, widgets.narrowed(f"{label.lower()}s", name, options))
    return chosen


def _named(finding: str) -> str:
    return wording.findings([finding])


def _draw_kinds(found: pd.DataFrame, asked: Collection[str]) -> None:
    weighty = found[found["severity"] != "info"]
    found = found if weighty.empty else weighty
    kinds = found.groupby(["severity", "finding"], sort=False)["findings"].sum().reset_index()
    kinds = kinds.sort_values("findings", ascending=False, kind="stable").head(MOST_BARS)
    signs = kinds["severity"].map(wording.SEVERITIES).str.split().str[0]
    bars = pd.DataFrame({"kind": signs + " " + kinds["finding"].map(_named), "count": kinds["findings"]})
    first = bars.iloc[0]
    finding = f"Most frequent: {first['kind']}, {first['count']:,} of {found['findings'].sum():,}"
    detail = f"The most frequent findings, at most {MOST_BARS}; info only if there is nothing more serious"
    widgets.chart(counts.by_kind(bars, finding, detail, "Findings"), "kinds", asked)


def _show_finding(warehouse: Warehouse, finding: pd.Series[Any]) -> None:
    labels = queries.labels(warehouse)
    configuration_id = finding["configuration_id"]
    st.header(f"Selected finding: {wording.findings([finding['finding']])}")
    st.text(finding["detail"])
    if configuration_id in labels:
        st.caption(wording.plain(labels[configuration_id]))
    match finding["subject"]:
        case "file":
            _say_how_to_look(finding["source_path"])
        case "figure":
            source = queries.row(warehouse, "quality_source_of", figure_id=finding["subject_id"])
            st.text(f"{source['source_title']}, {source['location']}")
            links.to_source(source["source_url"])
        case "trial" | "run":
            trial_id = finding["trial_id"] if wording.is_known(finding["trial_id"]) else None
            links.to_run(configuration_id, finding["run_id"], trial_id)
    if configuration_id in labels:
        links.to_compare([configuration_id], "Open the configuration")


def _say_how_to_look(source_path: str) -> None:
    st.text("What Dropline sees in the file, line by line:")
    st.code(f"dropline show {shlex.quote(source_path)}", language=None, wrap_lines=True)


def _rejected(warehouse: Warehouse) -> None:
    rows = queries.ask(warehouse, "quality_rejects").to_pandas()
    if rows.empty:
        st.success("No file was rejected.", icon=":material/check:")
        return
    st.caption("Each reason with what to do about it, most files first. `dropline rejects` prints the same.")
    place = widgets.choose_row("rejects-by-reason", rows.assign(first_file=rows["source_paths"].str[0]))
    if place is None:
        st.info("Choose a reason in the table to see all of its files.", icon=":material/touch_app:")
        return
    chosen = rows.iloc[place]
    st.text(chosen["detail"])
    widgets.declared("refused", pd.DataFrame({"file": chosen["source_paths"]}))
    _say_how_to_look(chosen["source_paths"][0])


def _gate(suites: list[dict[str, Any]]) -> None:
    if not suites:
        st.info("No checks have run yet. Type `dropline build`.")
        return
    st.caption(wording.CAPTIONS["gate"])
    rows = [
        {
            "suite": suite["suite"],
            "result": RESULTS.get(suite["severity"], f"✖ {suite['severity']}"),
            "expectations": f"{suite['successes']} of {suite['expectations']} passed",
            "rows_found": ", ".join(f"{_named(name)}: {count:,}" for name, count in suite["findings"].items()),
            "checked": datetime.fromisoformat(suite["checked_at"]),
        }
        for suite in suites
    ]
    widgets.declared("gate", pd.DataFrame(rows))


main()
