"""What happened in one run: its ramp, its trials, and each second of a trial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from app import queries, state, words
from app.charts import intervals, ramp

if TYPE_CHECKING:
    from app.warehouse import Warehouse

BASIS = "worst_exchange"


def main() -> None:
    """Draw the page."""
    st.title("Run")
    warehouse = state.warehouse_or_stop()
    labels = queries.labels(warehouse)
    known = set(queries.runs(warehouse)["configuration_id"].to_pylist())
    if not known:
        st.info(
            "No runs are here yet: published figures have none. Bring raw output in with `dropline ingest FOLDER` "
            "and `dropline build`."
        )
        return
    left, right = st.columns(2)
    with left:
        configuration = state.choose_one(
            "Configuration", "configuration", {each: text for each, text in labels.items() if each in known}
        )
    runs = {row["run_id"]: row for row in queries.runs(warehouse, configuration).to_pylist()}
    with right:
        run_id = state.choose_one("Run", "run", {each: _run_label(row) for each, row in runs.items()})
    if configuration is None or run_id is None:
        return
    run = runs[run_id]
    trials = queries.trials(warehouse, run_id).to_pandas()
    verdict = queries.run_verdict(warehouse, run_id, "isc")
    _draw_ramp(warehouse, run, labels[configuration], verdict)
    trial = _choose_trial(trials, run, verdict)
    _show_trial(warehouse, trial)
    _show_sources(trial)
    _show_findings(warehouse, configuration, run_id, trial)


def _run_label(run: dict[str, Any]) -> str:
    number = f"Run {run['repetition']}" if run["repetition"] is not None else "Run"
    start = f"{run['started_at']:%Y-%m-%d %H:%M}" if run["started_at"] else None
    figure = f"{words.rate(run['rate'], words.bound(run['status']))} {run['rate_unit'] or ''}".strip()
    return " · ".join(part for part in (number, start, figure, run["run_id"][:6]) if part)


def _draw_ramp(warehouse: Warehouse, run: dict[str, Any], label: str, verdict: dict[str, Any]) -> None:
    steps = queries.loss_by_rate(
        warehouse, [run["configuration_id"]], BASIS, run_id=run["run_id"], each_run=True
    ).to_pandas()
    if steps.empty:
        st.info("No trial of this run is whole and has both an offered rate and a loss: there is no ramp to draw.")
        return
    unit = run["rate_unit"] or "per second"
    drawn = steps.assign(label=label, line=_run_label(run), backend=run["backend"])
    state.chart(
        ramp.loss_over_rate(drawn, verdict.get("loss_limit"), "worst exchange", unit, _finding(verdict, unit)), "ramp"
    )


def _finding(verdict: dict[str, Any], unit: str) -> str:
    match verdict.get("status"):
        case "exceeded_at_first_step":
            return f"Below {words.number(verdict['first_exceeding_rate'])} {unit}: the first step already lost too much"
        case "never_exceeded" | "generator_limited" as status:
            return f"At least {words.number(verdict['rate'])} {unit}: {words.STATUSES[status].split(': ')[1]}"
        case "bracketed":
            return (
                f"{words.number(verdict['rate'])} {unit}, reached at {words.number(verdict['last_passing_rate'])} "
                f"offered; {words.number(verdict['first_exceeding_rate'])} lost too much"
            )
        case _:
            return "Loss of each step"


def _choose_trial(trials: pd.DataFrame, run: dict[str, Any], verdict: dict[str, Any]) -> pd.Series[Any]:
    st.subheader(f"{len(trials)} trials")
    unit = words.plain(run["rate_unit"] or "per second")
    place = _asked_for(trials, verdict.get("last_passing_rate"))
    picked = st.dataframe(
        pd.DataFrame(
            {
                "Offered": trials["offered_rate"],
                "Achieved": trials["achieved_rate"],
                "Loss, worst exchange": 100 * trials["loss_worst_exchange"],
                "Loss, leases": 100 * trials["loss_lease"],
                "Sent": trials["sent"],
                "Received": trials["received"],
                "Dropped": trials["dropped"],
                "Whole": trials["completed"],
                "Generator kept up": ~trials["is_generator_limited"].fillna(False).astype(bool),
                "Duration": trials["duration_s"],
                "Started": trials["started_at"],
                "File": trials["source_path"],
            }
        ),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [place]}},
        key=f"trials-{run['run_id']}",
        column_config={
            "Offered": st.column_config.NumberColumn(format="%,.0f", help=unit),
            "Achieved": st.column_config.NumberColumn(format="%,.1f", help=unit),
            "Loss, worst exchange": st.column_config.NumberColumn(format="%.3f %%"),
            "Loss, leases": st.column_config.NumberColumn(format="%.3f %%"),
            "Duration": st.column_config.NumberColumn(format="%.1f s"),
            "Started": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm:ss", timezone="UTC"),
        },
        alt="Trials of the run; choose one to see its exchanges and seconds",
    )
    rows = picked.selection.rows
    trial = trials.iloc[rows[0] if rows and rows[0] < len(trials) else place]
    st.query_params["trial"] = str(trial["trial_id"])[:12]
    return trial


def _asked_for(trials: pd.DataFrame, last_passing_rate: float | None) -> int:
    """Return the place of the trial in the address, else of the one that gives the capacity, else the first."""
    asked = st.query_params.get("trial", "")
    named = trials["trial_id"].str.startswith(asked) if asked else pd.Series(False, index=trials.index)
    decisive = trials["offered_rate"] == last_passing_rate
    hits = [*trials.index[named], *trials.index[decisive], 0]
    return int(hits[0])


def _show_trial(warehouse: Warehouse, trial: pd.Series[Any]) -> None:
    st.subheader("The trial chosen")
    st.text(f"{trial['source_path']}, report {trial['report_index'] + 1}, line {words.count(trial['source_line'])}")
    if words.is_known(trial["command"]):
        st.code(trial["command"], language=None, wrap_lines=True)
    exchanges = queries.exchanges(warehouse, trial["trial_id"]).to_pandas().dropna(axis="columns", how="all")
    exchanges["drop_ratio"] = 100 * exchanges.get("drop_ratio", pd.Series(dtype=float))
    exchanges.columns = [_heading(name) for name in exchanges.columns]
    state.table(
        exchanges,
        alt="Exchanges of the trial",
        key="exchanges",
        config={
            "Drop %": st.column_config.NumberColumn(format="%.3f"),
        },
    )
    seconds = queries.intervals(warehouse, trial["trial_id"]).to_pandas()
    if seconds.empty:
        st.info("The report of this trial has no interim lines: what happened in each second is not known.")
    else:
        for exchange, part in seconds.groupby("exchange", sort=False):
            state.chart(intervals.second_by_second(part), f"seconds-{exchange}")


def _heading(column: str) -> str:
    if column == "drop_ratio":
        return "Drop %"
    text = column.removesuffix("_ms").replace("_", " ").capitalize()
    return f"{text} (ms)" if column.endswith("_ms") else text


def _show_sources(trial: pd.Series[Any]) -> None:
    with st.expander("Where its values came from"):
        sources = dict(trial["context_sources"]) if words.is_known(trial["context_sources"]) else {}
        state.table(
            pd.DataFrame(
                [
                    {"Value": name, "Is": str(trial.get(name, "")), "Said by": said}
                    for name, said in sorted(sources.items())
                ],
                columns=["Value", "Is", "Said by"],
            ),
            alt="Source of each value of the trial",
            key="sources",
        )
        for conflict in trial["conflicts"] if words.is_known(trial["conflicts"]) else ():
            st.warning(words.plain(conflict))


def _show_findings(warehouse: Warehouse, configuration: str, run_id: str, trial: pd.Series[Any]) -> None:
    st.subheader("Warnings and findings")
    found = queries.findings(warehouse, configuration, run_id, trial["trial_id"]).to_pandas()
    if found.empty:
        st.success("Nothing was found against this trial, its run or its configuration.", icon=":material/check:")
        return
    found["finding"] = [words.findings([name]) for name in found["finding"]]
    found.columns = [name.replace("_", " ").capitalize() for name in found.columns]
    state.table(
        found,
        alt="Findings about the trial, its run and its configuration",
        key="findings",
        config={
            "Detail": st.column_config.TextColumn(width="large"),
        },
    )


main()
