"""Which configuration is faster, by how much, and what else differs between them?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from app import frames, queries, state, words
from app.charts import capacity, ramp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.warehouse import Warehouse

MOST = 12
BASES = {"worst_exchange": "worst exchange", "lease": "whole leases", "packet": "all packets"}


def main() -> None:
    """Draw the page."""
    st.title("Compare configurations")
    warehouse = state.warehouse_or_stop()
    labels = queries.labels(warehouse)
    goals = {goal["loss_goal"]: goal for goal in queries.loss_goals(warehouse)}
    left, right = st.columns([3, 1])
    with left:
        chosen = state.choose_many(
            "Configurations", "configurations", labels, most=MOST, placeholder=f"choose two to {MOST}"
        )
    with right:
        goal = goals[_choose_goal(goals)]
    if not chosen:
        _suggest(warehouse, labels)
        return
    labels = labels | frames.short(labels, chosen)
    frame = frames.capacities(queries.capacities(warehouse, goal["loss_goal"], chosen), labels)
    _say_what_has_no_figure(chosen, frame, labels, goal["loss_goal"])
    _draw_capacities(warehouse, frame, goal)
    _draw_ramps(warehouse, chosen, labels, frame, goal)
    _show_ratios(warehouse, frame, chosen)
    _show_differences(warehouse, labels, chosen)


def _choose_goal(goals: Mapping[str, dict[str, Any]]) -> str:
    texts = {name: words.loss_goal(name, goal["loss_limit"], goal["loss_basis"]) for name, goal in goals.items()}
    return state.choose_one("Loss goal", "goal", texts) or next(iter(goals))


def _suggest(warehouse: Warehouse, labels: Mapping[str, str]) -> None:
    st.info("Choose the configurations to compare, or begin with one of these.", icon=":material/compare_arrows:")
    frame = frames.capacities(queries.capacities(warehouse, "isc"), labels)
    best = frame.drop_duplicates("backend").head(MOST)
    alike = ["origin", "product", "protocol", "backend", "ha_mode"]
    pairs = frame.drop_duplicates([*alike, "threading"])
    pair = pairs[pairs["threading"].isin(["single", "multi"]) & pairs.duplicated(alike, keep=False)]
    if len(pair):
        pair = pair[(pair[alike].fillna("") == pair[alike].fillna("").iloc[0]).all(axis="columns")]
    for name, some in {"Fastest of each backend": best, "Single against multi": pair}.items():
        if len(some) > 1:
            st.button(name, on_click=_choose, args=(list(some["configuration_id"]),))


def _choose(configuration_ids: list[str]) -> None:
    st.session_state["configurations"] = configuration_ids


def _say_what_has_no_figure(chosen: list[str], frame: pd.DataFrame, labels: Mapping[str, str], goal: str) -> None:
    missing = [words.plain(labels[each]) for each in chosen if each not in set(frame["configuration_id"])]
    if missing:
        st.warning(f"No figure at the loss goal {words.plain(goal)}: {'; '.join(missing)}.")


def _draw_capacities(warehouse: Warehouse, frame: pd.DataFrame, goal: Mapping[str, Any]) -> None:
    singles = queries.run_capacities(warehouse, goal["loss_goal"], list(frame["configuration_id"])).to_pandas()
    known = frame.set_index("configuration_id")
    for place, (unit, part) in enumerate(frame.groupby("rate_unit", sort=True)):
        points = singles[singles["configuration_id"].isin(part["configuration_id"])]
        points = points.assign(
            row=points["configuration_id"].map(known["label"]),
            backend=points["configuration_id"].map(known["backend"]),
            run=[f"run {each:.0f}" if words.is_known(each) else "run" for each in points["repetition"]],
        )
        dots = part.assign(row=part["label"], name=part["label"], quality=part["quality_shown"])
        state.chart(capacity.capacities(dots, str(unit), points, name_values=True), f"capacity-{place}")
    weak = frame[frame["findings_shown"] != ""]
    for row in weak.itertuples():
        st.caption(words.plain(f"{words.quality(row.quality)} {row.label}: {row.findings_shown}"))


def _draw_ramps(
    warehouse: Warehouse, chosen: list[str], labels: Mapping[str, str], frame: pd.DataFrame, goal: Mapping[str, Any]
) -> None:
    st.subheader("Loss over the offered rate")
    each_run = st.toggle("Show every run", key="runs", bind="query-params", help="Otherwise the median run.")
    basis = goal["loss_basis"] or "worst_exchange"
    steps = queries.loss_by_rate(warehouse, chosen, basis, each_run=each_run).to_pandas()
    if steps.empty:
        st.info("These are published figures: their sources give no loss for each step.")
        return
    units = frame.set_index("configuration_id")["rate_unit"]
    backends = queries.factors(warehouse, chosen).to_pandas().set_index("configuration_id")["backend"]
    steps = steps.assign(
        label=steps["configuration_id"].map(dict(labels)),
        line=[
            _line(*each) for each in zip(steps["configuration_id"], steps["run_id"], steps["repetition"], strict=True)
        ],
        backend=steps["configuration_id"].map(backends),
    )
    limit = goal["loss_limit"] if words.is_known(goal["loss_limit"]) else None
    state.chart(
        ramp.loss_over_rate(
            steps, limit, BASES[basis], str(next(iter(units), "per second")), _ramp_finding(steps, limit)
        ),
        "ramps",
    )


def _line(configuration_id: str, run_id: str | None, repetition: float) -> str:
    if run_id is None or not words.is_known(run_id):
        return f"median of the runs {configuration_id[:6]}"
    return f"run {repetition:.0f} {run_id[:6]}" if words.is_known(repetition) else f"run {run_id[:6]}"


def _ramp_finding(steps: pd.DataFrame, limit: float | None) -> str:
    if limit is None:
        return f"Loss of {steps['label'].nunique()} configurations"
    above = steps[steps["loss_ratio"] > limit]
    if above.empty:
        return "None of them exceeds the limit at the rates offered"
    first = above.loc[above["offered_rate"].idxmin()]
    return f"First above the limit: {first['label']}, at {first['offered_rate']:,.0f} offered"


def _show_ratios(warehouse: Warehouse, frame: pd.DataFrame, chosen: list[str]) -> None:
    if len(frame) > 1:
        st.subheader("Ratios")
        st.caption("Rate of the row over the rate of the column; n: runs of each. ≥ and ≤ where one side is a bound.")
        state.table(frames.ratios(frame), alt="Ratio of each pair of capacities", key="ratios")
    pairs = queries.speedups(warehouse, chosen).to_pandas()
    if pairs.empty:
        return
    st.subheader("What threads and high availability change")
    state.table(
        pd.DataFrame(
            {
                "Factor": pairs["factor"],
                "Protocol": pairs["protocol"],
                "Backend": pairs["backend"],
                "HA": pairs["ha_mode"],
                "Threads": pairs["threads"],
                "LPS without": pairs["lps_without"],
                "LPS with": pairs["lps_with"],
                "Ratio": pairs["ratio"],
                "95 % interval": [
                    words.factor_interval(*each) for each in zip(pairs["ci_low"], pairs["ci_high"], strict=True)
                ],
                "Runs": [words.numbers(*each) for each in zip(pairs["runs_without"], pairs["runs_with"], strict=True)],
                "Quality": [words.quality(each) for each in pairs["quality"]],
                "Origin": pairs["origin"],
                "Campaign": pairs["campaign"],
            }
        ).dropna(axis="columns", how="all"),
        alt="Speed-ups by threads and high availability in which the chosen configurations stand",
        key="speedups",
        config={
            "LPS without": st.column_config.NumberColumn(format="%,.0f"),
            "LPS with": st.column_config.NumberColumn(format="%,.0f"),
            "Ratio": st.column_config.NumberColumn(format="%.2f ×"),
        },
    )


def _show_differences(warehouse: Warehouse, labels: Mapping[str, str], chosen: list[str]) -> None:
    st.subheader("What they are")
    facts = frames.differences(queries.factors(warehouse, chosen), labels, chosen)
    if len(chosen) > 1:
        names = list(facts.loc[facts["Differs"] == "≠", "Factor"])
        if "threading" in names and "threads" in names:
            names.remove("threads")  # one factor: how many follows from whether
        st.text(_verdict(names))
        if st.toggle("Only what differs", key="differing", bind="query-params"):
            facts = facts[facts["Differs"] == "≠"]
    state.table(
        facts, alt="What the configurations are", key="factors", height="content", tinted=list(facts["Differs"] == "≠")
    )


def _verdict(names: list[str]) -> str:
    if not names:
        return "Nothing that is known of them differs."
    if len(names) == 1:
        return f"They differ in {names[0]} only: the ratio is the effect of that factor."
    return f"They differ in {len(names)} things ({', '.join(names)}): the ratio is not the effect of one of them alone."


main()
