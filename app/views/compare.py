"""Page Compare: which configuration is faster, is the difference real, and what else differs?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import pandas as pd
import pyarrow as pa
import streamlit as st

from dropline.app import queries, query_log, view_tables, widgets, wording
from dropline.app.charts import panel, ramp, theme
from dropline.app.warehouse import Warehouse

MOST: Final = 12
_MOST_PERCENT: Final = 100.0
OWN: Final = "a limit of my own"
AT_OWN_LIMIT: Final = {"capacities": "compare_capacities_at", "run_capacities": "compare_run_capacities_at"}
# Colour only the sign: names come from files and must stay out of Markdown directives.
SIGNS: Final = {"faster": ":blue[▲] ", "slower": ":orange[▼] "}


class Limit(NamedTuple):
    """A loss limit, and the name of its loss goal; None for a custom limit."""

    ratio: float | None
    basis: str
    goal: str | None


def main() -> None:
    """Draw the page."""
    st.title("Compare")
    warehouse = widgets.warehouse_or_stop()
    labels = queries.labels(warehouse)
    _begin(warehouse)
    options = widgets.narrowed("configurations", "configurations", labels)
    with widgets.reserved(widgets.FIELD_PIXELS):
        chosen = widgets.choose_many(
            "Configurations",
            "configurations",
            options,
            most=MOST,
            placeholder=f"choose two to {MOST}; the first is the reference",
        )
    labels = labels | view_tables.short(labels, chosen)
    facts = queries.ask(warehouse, "factors", configuration_ids=chosen)
    differing = {
        each: queries.ask(warehouse, "compare_differences", one=chosen[0], other=each).to_pandas()
        for each in chosen[1:]
    }
    _compare(warehouse, chosen, labels, facts, differing)
    if differing:
        with st.expander("What differs"):
            _show_differences(labels, chosen[0], differing)
    if chosen:
        with st.expander("Everything known about them", expanded=not differing):
            known = view_tables.differences(facts, labels, chosen)
            tinted = list(known["Differs"] != "")
            widgets.table(known, alt="Facts about the configurations", key="facts", height="content", tinted=tinted)


@st.fragment  # a new limit changes nothing below this part
def _compare(
    warehouse: Warehouse, chosen: list[str], labels: dict[str, str], facts: pa.Table, differing: dict[str, pd.DataFrame]
) -> None:
    """Let the visitor choose a limit, and compare the configurations at it; show the answer above the fields."""
    answer = st.container()
    kinds = queries.ask(warehouse, "rate_units", configuration_ids=chosen).to_pydict()
    units, usual = list(dict.fromkeys(kinds["rate_unit"])), kinds["usual_goal"]
    known_goals = {goal["loss_goal"]: goal for goal in queries.loss_goals(warehouse, units)}
    goals = {each: known_goals[each] for each in [*usual[:1], *known_goals]}
    limit = _choose_limit(goals)
    if not chosen:
        st.info("Choose the configurations to compare.", icon=":material/compare_arrows:")
        return
    known = {each["configuration_id"]: each["backend"] for each in facts.to_pylist()}
    backends = {labels[each]: known[each] for each in chosen}
    figures = st.container()
    draw_ramps = partial(_draw_ramps, warehouse, chosen, labels, units, limit, goals, backends)
    if limit.goal is None:  # the browser draws the curves while the capacities are computed
        draw_ramps()
    with query_log.recorded() as asked:
        frame = view_tables.capacities(_of_limit(warehouse, "capacities", chosen, limit), labels)
    rated = [each for each in reversed(chosen) if each in set(frame["configuration_id"])]
    verdicts = None
    if limit.goal and len(rated) > 1:
        asked_of = {"configuration_ids": rated, "loss_goal": limit.goal}
        verdicts = queries.verdicts(warehouse, "compare_pairs", **asked_of).to_pandas()
    with answer:
        for other, differences in differing.items():
            sentence = _difference(frame, verdicts, labels, chosen[0], other)
            st.markdown(f"{sentence} {wording.plain(view_tables.what_differs(differences, facts))}")
        campaigns = {each["campaign"]: each["campaign_says"] for each in facts.to_pylist()}
        for campaign, says in campaigns.items():
            if len(campaigns) > 1 and says:
                st.caption(wording.plain(f"{campaign}: {says}"))
    with figures:
        st.space(widgets.TOOLS_PIXELS)
        _say_what_has_no_figure(chosen, frame.dropna(subset=["rate"]), labels, limit)
        _draw_capacities(warehouse, frame, limit, backends, asked)
    if limit.goal:
        draw_ramps()
    if verdicts is not None:
        _show_evidence(verdicts, labels)


def _begin(warehouse: Warehouse) -> None:
    """Choose the most informative pair for a visitor who has chosen nothing, and explain it."""
    if "configurations" not in st.session_state and "configurations" not in st.query_params:
        found = queries.row(warehouse, "compare_beginning")
        st.session_state["begun"] = found
        st.session_state["configurations"] = [found["baseline_id"], found["treatment_id"]] if found else []
    begun = st.session_state.get("begun")
    if begun and st.session_state.get("configurations") == [begun["baseline_id"], begun["treatment_id"]]:
        st.caption(wording.BEGINNINGS[begun["factor"]])


def _bounds(upper: pd.Series[Any], lower: pd.Series[Any], tested: pd.Series[Any] | None) -> str:
    """Return a ratio that is only bounded as the start of a sentence; empty if either side may be faster.

    The bound is the known end of the `tested` interval, as in the table below, else it follows from the ranges.
    """
    if not any(side["sign"] and side["origin"] == "measured" for side in (upper, lower)):
        return wording.times(upper["rate"], lower["rate"], upper["sign"], lower["sign"])
    (upper_low, upper_high), (lower_low, lower_high) = wording.ends(upper), wording.ends(lower)
    least = upper_low / lower_high if lower_high else None
    most = upper_high / lower_low if upper_high is not None and lower_low else None
    if tested is not None and (wording.is_known(tested["ci_low"]) or wording.is_known(tested["ci_high"])):
        least, most = wording.known(tested["ci_low"]), wording.known(tested["ci_high"])
    if least is not None and least > 1:
        return f"At least {wording.factor(least)} times"
    if most is not None and most < 1:
        return f"At most {wording.factor(most)} times"
    return ""


def _difference(
    frame: pd.DataFrame, verdicts: pd.DataFrame | None, labels: Mapping[str, str], first: str, second: str
) -> str:
    """Return how much two configurations differ, and whether the difference is real; coloured only if it is."""
    names = wording.plain(labels[second]), wording.plain(labels[first])
    known = frame.set_index("configuration_id")
    if not {first, second} <= set(known.index) or known.loc[first, "rate_unit"] != known.loc[second, "rate_unit"]:
        return f"**{names[0]}** and **{names[1]}** have no figures that can be compared."
    upper, lower = known.loc[second], known.loc[first]
    estimates = upper["rate_interpolated"], lower["rate_interpolated"]
    tested = None
    if verdicts is not None:
        tested = verdicts.set_index(["configuration_id_a", "configuration_id_b"]).loc[(second, first)]
    if not all(wording.is_known(each) for each in estimates):
        times = _bounds(upper, lower, tested)
        if not times:
            return f"**{names[0]}** and **{names[1]}**: their bounds do not show which is faster."
        return f"**{names[0]} gives {times[0].lower()}{times[1:]} as much as {names[1]}.**"
    if tested is None:
        return f"**{names[0]} gives {wording.change(estimates[0] / estimates[1])} {names[1]}.**"
    sentence = f"**{names[0]} gives {wording.change(tested['ratio'])} {names[1]}**"
    interval = wording.change_interval(tested["ci_low"], tested["ci_high"])
    return f"{SIGNS.get(tested['verdict'], '')}{sentence}{interval}{wording.REAL[tested['verdict']]}."


def _choose_limit(goals: Mapping[str, dict[str, Any]]) -> Limit:
    """Let the visitor choose a loss goal, or a limit of the usual loss."""
    texts = {name: wording.loss_goal(name, goal["loss_limit"], goal["loss_basis"]) for name, goal in goals.items()}
    first = _with_limit(goals)
    _apply_address(goals, texts)
    _follow_selection(goals)

    def apply_goal() -> None:
        goal = goals.get(st.session_state["goal"])
        if goal is not None and goal["loss_limit"] is not None:
            st.session_state["limit"] = _percent(goal["loss_limit"])

    with widgets.reserved(widgets.FIELD_PIXELS):
        left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        goal = widgets.choose_one("Loss goal", "goal", {**texts, OWN: OWN}, on_change=apply_goal) or next(iter(goals))
    unlimited = goal in goals and goals[goal]["loss_limit"] is None
    percent = right.number_input(
        "Limit (%)",
        min_value=0.0,
        max_value=_MOST_PERCENT,
        value=_percent(first["loss_limit"]),
        step=0.1,
        format="%g",
        key="limit",
        bind="query-params",
        on_change=partial(_find_goal, goals),
        disabled=unlimited,
        help="How much may be lost. Type it, step it, or drag the line in the curves below; the page follows.",
    )
    if unlimited:
        return Limit(None, first["loss_basis"], goal)
    ratio = _ratio(percent)
    if goal in goals and goals[goal]["loss_limit"] == ratio:
        return Limit(ratio, goals[goal]["loss_basis"], goal)
    return Limit(ratio, first["loss_basis"], None)


def _with_limit(goals: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the first goal that has a limit, for custom limits to start from; throughput goals have none."""
    return next(goal for goal in goals.values() if goal["loss_limit"] is not None)


def _follow_selection(goals: Mapping[str, dict[str, Any]]) -> None:
    """Replace the usual goal of the earlier configurations by that of the chosen ones."""
    usual = next(iter(goals))
    before = st.session_state.get("usual", usual)
    st.session_state["usual"] = usual
    if before != usual and st.session_state.get("goal") == before:
        st.session_state["goal"] = usual
        st.session_state["limit"] = _percent(_with_limit(goals)["loss_limit"])


def _apply_address(goals: Mapping[str, dict[str, Any]], texts: Mapping[str, str]) -> None:
    """Apply the goal or the limit in the URL; a goal sets its limit, and a limit clears a different goal."""
    asked = next((goals[name] for name, text in texts.items() if text == st.query_params.get("goal")), None)
    if "limit" in st.session_state:
        return
    if asked is None and _has_limit_in_address():
        st.session_state.setdefault("goal", OWN)
    elif asked is not None and asked["loss_limit"] is not None and "limit" not in st.query_params:
        st.session_state["limit"] = _percent(asked["loss_limit"])


def _has_limit_in_address() -> bool:
    """Return whether the URL has a valid limit."""
    try:
        return 0 <= float(st.query_params.get("limit", "nan")) <= _MOST_PERCENT
    except ValueError:
        return False


def _find_goal(goals: Mapping[str, dict[str, Any]]) -> None:
    """Select the goal with this limit on the usual basis, or none."""
    usual = _with_limit(goals)["loss_basis"]
    named = {goal["loss_limit"]: name for name, goal in goals.items() if goal["loss_basis"] == usual}
    st.session_state["goal"] = named.get(_ratio(st.session_state["limit"]), OWN)


def _take_from_chart(key: str, goals: Mapping[str, dict[str, Any]]) -> None:
    """Set the limit to where the visitor clicked or dragged in the curves."""
    for picked in st.session_state[key].selection.get(ramp.CHOSEN, []):
        st.session_state["limit"] = _percent(picked["limit"])
        _find_goal(goals)


def _percent(ratio: float) -> float:
    return round(100 * ratio, 6)


def _ratio(percent: float) -> float:
    return round(percent / 100, 8)


def _of_limit(warehouse: Warehouse, name: str, chosen: list[str], limit: Limit) -> pa.Table:
    """Run the query for a loss goal, or its counterpart for a custom limit."""
    if limit.goal is None:
        at = {"limit": limit.ratio, "basis": limit.basis}
        return queries.ask(warehouse, AT_OWN_LIMIT[name], configuration_ids=chosen, **at)
    return queries.ask(warehouse, name, configuration_ids=chosen, loss_goal=limit.goal)


def _say_what_has_no_figure(chosen: list[str], frame: pd.DataFrame, labels: Mapping[str, str], limit: Limit) -> None:
    missing = [wording.plain(labels[each]) for each in chosen if each not in set(frame["configuration_id"])]
    if missing:
        at = f"a limit of {_limit_in_words(limit)}"
        if limit.goal:
            at = f"the loss goal {wording.plain(wording.loss_goal(limit.goal, limit.ratio, limit.basis))}"
        st.warning(f"No figure at {at}: {'; '.join(missing)}.")
    if limit.goal is None:
        st.caption(
            f"Recomputed from the steps of the runs at {_limit_in_words(limit)}. Published figures have no steps, and "
            "differences are not tested: choose a loss goal to get verdicts."
        )


def _limit_in_words(limit: Limit) -> str:
    return f"{100 * limit.ratio:g} % of {wording.BASES[limit.basis]}" if limit.ratio is not None else "no limit"


def _draw_capacities(
    warehouse: Warehouse, frame: pd.DataFrame, limit: Limit, backends: Mapping[str, str | None], asked: Collection[str]
) -> None:
    if frame.empty:
        return
    ids = list(frame["configuration_id"])
    with query_log.recorded() as asked_too:
        singles = _of_limit(warehouse, "run_capacities", ids, limit).to_pandas()
    known = frame.set_index("configuration_id")
    for place, (unit, part) in enumerate(frame.dropna(subset=["rate"]).groupby("rate_unit", sort=True)):
        points = singles[singles["configuration_id"].isin(part["configuration_id"])]
        runs = [f"run {each:.0f}" if wording.is_known(each) else "run" for each in points["repetition"]]
        points = points.assign(row=points["configuration_id"].map(known["label"]), run=runs)
        part = part.assign(
            row=part["label"],
            quality=part["quality_shown"],
            interval=part["interval"] + "; best single figure " + part["about"].map(partial(wording.rate, sign="≈")),
        )
        finding = panel.fastest(part, str(unit))
        part["rate"] = part["rate"].where(part["status"] != "exceeded_at_first_step")
        detail = f"{_runs(part)}{panel.described(part)}{'; ticks: single runs' * bool(len(points))}"
        drawn = panel.capacities(part, str(unit), finding, detail, points, theme.told_apart(backends))
        widgets.chart(drawn, f"capacity-{place}", [*asked, *asked_too])
    weak = frame[(frame["findings_shown"] != "") & frame["quality"].isin(["warn", "suspect"])]
    for row in weak.itertuples():
        st.caption(wording.plain(f"{wording.quality(row.quality)} {row.label}: {row.findings_shown}"))


def _runs(part: pd.DataFrame) -> str:
    runs = part["runs"].dropna()
    if runs.empty:
        return ""
    return f"n = {wording.span(runs.min(), runs.max())} run{'s' * bool(runs.max() != 1)} each. "


def _draw_ramps(
    warehouse: Warehouse,
    chosen: list[str],
    labels: Mapping[str, str],
    units: list[str],
    limit: Limit,
    goals: Mapping[str, dict[str, Any]],
    backends: Mapping[str, str | None],
) -> None:
    st.header("Loss over the offered rate")
    each_run = st.toggle("Show every run", key="runs", bind="query-params", help="Otherwise only the median.")
    wanted = {"configuration_ids": chosen, "basis": limit.basis, "run_id": None, "each_run": each_run}
    with query_log.recorded() as asked:
        steps = queries.ask(warehouse, "loss_by_rate", **wanted).to_pandas()
    if steps.empty:
        st.info("No loss per step: published figures lack it, and a load without a set rate has no steps.")
        return
    steps = steps.assign(
        label=steps["configuration_id"].map(dict(labels)),
        line=view_tables.texts(steps, _line, "run_id", "repetition"),
        backend=[backends[labels[each]] for each in steps["configuration_id"]],
    )
    drawn = ramp.loss_over_rate(
        steps,
        limit.ratio,
        wording.lost(limit.basis, units),
        " and ".join(units) or "per second",
        _ramp_finding(steps, limit.ratio),
        colours=theme.told_apart(backends),
        choosable=True,
    )
    if limit.ratio is None:
        widgets.chart(drawn, "ramps", asked)
        return
    key = f"ramps-{_percent(limit.ratio):g}"  # lets the visitor choose the same limit again after another
    widgets.chart(drawn, key, asked, on_select=partial(_take_from_chart, key, goals))


def _line(run_id: str | None, repetition: float) -> str:
    if not wording.is_known(run_id):
        return "median of the runs"
    return f"run {repetition:.0f}" if wording.is_known(repetition) else f"run {run_id[:6]}"


def _ramp_finding(steps: pd.DataFrame, limit: float | None) -> str:
    if limit is None:
        return f"Loss of {steps['label'].nunique()} configurations"
    failed = steps[(steps["loss_ratio"] > limit) | steps["is_unsustained"]]
    if failed.empty:
        return "None of them exceeds the limit at the rates offered"
    first = failed[failed["offered_rate"] == failed["offered_rate"].min()]
    labels = first["label"].unique()
    how = "to exceed the limit" if (first["loss_ratio"] > limit).any() else "not to sustain the load"
    who = f"{' and '.join(labels)} {'is' if len(labels) == 1 else 'are'} the first"
    return f"{who} {how}, at {wording.number(first['offered_rate'].iloc[0])} offered"


def _show_evidence(verdicts: pd.DataFrame, labels: Mapping[str, str]) -> None:
    st.header("Is the difference real?")
    verdicts = view_tables.bounded(verdicts)
    drift = wording.drift(verdicts["is_in_turn"], verdicts["series_variation"])
    st.caption(f"{wording.CAPTIONS['evidence']} {drift}")
    widgets.declared(
        "evidence",
        verdicts.assign(
            rate_of=verdicts["configuration_id_a"].map(labels),
            over=verdicts["configuration_id_b"].map(labels),
            interval=view_tables.texts(verdicts, wording.factor_interval, "ci_low", "ci_high"),
            verdict=verdicts["verdict"].map(wording.VERDICTS),
            runs=view_tables.texts(verdicts, wording.numbers, "runs_a", "runs_b"),
            measured=verdicts["is_in_turn"].map(wording.order),
        ),
        bounds={"ratio": verdicts["sign"]} if verdicts["sign"].any() else {},
    )


def _show_differences(labels: Mapping[str, str], first: str, differing: Mapping[str, pd.DataFrame]) -> None:
    other = next(iter(differing))
    if len(differing) > 1:
        texts = {each: labels[each] for each in differing}
        other = widgets.choose_one("Compare the first with", "against", texts) or other
    facts = differing[other]
    if facts.empty:
        st.success("No difference between the two is known.", icon=":material/balance:")
        return
    widgets.declared(
        "fairness",
        facts.assign(
            grade=facts["grade"].map(wording.ITEM_GRADES).mask(facts["is_asked"], "what you compare"),
            item=facts["item"].mask(facts["aspect"] == "configuration", facts["item"].map(view_tables.in_words)),
            value_a=facts["value_a"].fillna(wording.NOT_STATED),
            value_b=facts["value_b"].fillna(wording.NOT_STATED),
            why=facts["why"].fillna(""),
        ),
        {"one": labels[first], "other": labels[other]},
        tinted=list((facts["grade"] == "unfair") & ~facts["is_asked"]),
    )


main()
