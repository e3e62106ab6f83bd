"""Which configuration is faster at which limit of loss, is it certain, and what else differs between them?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import streamlit as st

from dropline.app import behind, frames, queries, state, words
from dropline.app.charts import capacity, ramp
from dropline.app.queries import compare as comparing

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

MOST = 12
BASES = {"worst_exchange": "worst exchange", "lease": "whole leases", "packet": "all packets"}
OWN = "a limit of my own"
HARDWARE = (
    *("testbed", "cpu model", "cpu cores", "cpu threads", "cpu mhz", "memory bytes", "nic model", "nic speed mbps"),
    *("disks", "os name", "os version", "kernel", "virtualisation"),
)
TABLES = {"factors": "What the configurations are", "hardware": "The machines that they ran on"}


class Limit(NamedTuple):
    """What may be lost, and the name of the loss goal that says so; none for a limit of one's own."""

    ratio: float | None
    basis: str
    goal: str | None


def main() -> None:
    """Draw the page."""
    st.title("Compare")
    warehouse = state.warehouse_or_stop()
    labels = queries.labels(warehouse)
    chosen = state.choose_many(
        "Configurations",
        "configurations",
        state.narrowed("configurations", "configurations", labels),
        most=MOST,
        placeholder=f"choose two to {MOST}",
    )
    goals = {goal["loss_goal"]: goal for goal in queries.loss_goals(warehouse, queries.rate_units(warehouse, chosen))}
    limit = _choose_limit(goals)
    if not chosen:
        _suggest(warehouse, labels)
        return
    labels = labels | frames.short(labels, chosen)
    with behind.recorded() as asked:
        frame = frames.capacities(_capacities(warehouse, chosen, limit), labels)
    _say_what_has_no_figure(chosen, frame, labels, limit)
    _draw_capacities(warehouse, frame, limit, asked)
    _draw_ramps(warehouse, chosen, labels, frame, limit, goals)
    ordered = list(frame["configuration_id"])
    verdicts = comparing.verdicts(warehouse, limit.goal, ordered).to_pandas() if limit.goal and len(frame) > 1 else None
    _show_ratios(warehouse, frame, verdicts)
    _show_speedups(warehouse, chosen)
    _show_fairness(warehouse, labels, chosen)
    _show_differences(warehouse, labels, chosen)


def _choose_limit(goals: Mapping[str, dict[str, Any]]) -> Limit:
    """Let the visitor take a loss goal or set limit and basis; these decide, the goal is the short way to them."""
    texts = {name: words.loss_goal(name, goal["loss_limit"], goal["loss_basis"]) for name, goal in goals.items()}
    named = _named(goals)
    find_goal = partial(_find_goal, named)
    first = next(iter(goals.values()))
    _apply_address(goals, texts)
    _follow_selection(goals)

    def apply_goal() -> None:
        goal = goals.get(st.session_state["goal"])
        if goal is not None and goal["loss_limit"] is not None:
            _take(goal)

    left, middle, right = st.columns([2, 1, 2])
    with left:
        goal = state.choose_one("Loss goal", "goal", {**texts, OWN: OWN}, on_change=apply_goal) or first["loss_goal"]
    unlimited = goal in goals and goals[goal]["loss_limit"] is None
    with middle:
        percent = st.number_input(
            "Limit (%)",
            min_value=0.0,
            max_value=100.0,
            value=_percent(first["loss_limit"]),
            step=0.1,
            format="%g",
            key="limit",
            bind="query-params",
            on_change=find_goal,
            disabled=unlimited,
            help="What may be lost. Type it, step it, or drag it in the curves below: capacities and ratios follow.",
        )
    with right:
        basis = st.segmented_control(
            "Loss of",
            list(BASES),
            default=first["loss_basis"],
            format_func=BASES.__getitem__,
            required=True,
            key="basis",
            bind="query-params",
            on_change=find_goal,
            disabled=unlimited,
        )
    if unlimited:
        return Limit(None, first["loss_basis"], goal)
    return Limit(_ratio(percent), basis, named.get((_ratio(percent), basis)))


def _take(goal: Mapping[str, Any]) -> None:
    st.session_state["limit"] = _percent(goal["loss_limit"])
    st.session_state["basis"] = goal["loss_basis"]


def _follow_selection(goals: Mapping[str, dict[str, Any]]) -> None:
    """The usual goal of what was chosen before gives way to that of what is chosen now."""
    usual = next(iter(goals))
    before = st.session_state.get("usual", usual)
    st.session_state["usual"] = usual
    if before != usual and st.session_state.get("goal") == before:
        st.session_state["goal"] = usual
        _take(goals[usual])


def _apply_address(goals: Mapping[str, dict[str, Any]], texts: Mapping[str, str]) -> None:
    """An address that names a goal need not repeat its limit; one that names a limit is of no goal but its own."""
    asked = next((goals[name] for name, text in texts.items() if text == st.query_params.get("goal")), None)
    if "limit" in st.session_state:
        return
    if asked is not None and asked["loss_limit"] is not None:
        if "limit" not in st.query_params:
            st.session_state["limit"] = _percent(asked["loss_limit"])
        if "basis" not in st.query_params:
            st.session_state["basis"] = asked["loss_basis"]
    elif "limit" in st.query_params or "basis" in st.query_params:
        st.session_state.setdefault("goal", OWN)


def _named(goals: Mapping[str, dict[str, Any]]) -> dict[tuple[float | None, str], str]:
    return {(goal["loss_limit"], goal["loss_basis"]): name for name, goal in goals.items()}


def _find_goal(named: Mapping[tuple[float | None, str], str]) -> None:
    st.session_state["goal"] = named.get((_ratio(st.session_state["limit"]), st.session_state["basis"]), OWN)


def _take_from_chart(key: str, named: Mapping[tuple[float | None, str], str]) -> None:
    """Set the limit that was clicked or dragged to in the curves."""
    for picked in st.session_state[key].selection.get(ramp.CHOSEN, []):
        st.session_state["limit"] = _percent(picked["limit"])
        _find_goal(named)


def _percent(ratio: float) -> float:
    return round(100 * ratio, 6)


def _ratio(percent: float) -> float:
    return round(percent / 100, 8)


def _capacities(warehouse: Warehouse, chosen: list[str], limit: Limit) -> pa.Table:
    if limit.goal is None and limit.ratio is not None:
        return comparing.capacities_at(warehouse, chosen, limit.ratio, limit.basis)
    return queries.capacities(warehouse, limit.goal or queries.usual_goal(), chosen)


def _suggest(warehouse: Warehouse, labels: Mapping[str, str]) -> None:
    st.info("Choose the configurations to compare, or begin with one of these.", icon=":material/compare_arrows:")
    frame = frames.capacities(queries.capacities(warehouse, queries.usual_goal()), labels)
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


def _say_what_has_no_figure(chosen: list[str], frame: pd.DataFrame, labels: Mapping[str, str], limit: Limit) -> None:
    missing = [words.plain(labels[each]) for each in chosen if each not in set(frame["configuration_id"])]
    if missing:
        at = f"the loss goal {words.plain(limit.goal)}" if limit.goal else f"a limit of {_limit_in_words(limit)}"
        st.warning(f"No figure at {at}: {'; '.join(missing)}.")
    if limit.goal is None:
        st.caption(
            f"At {_limit_in_words(limit)} everything is computed anew from the steps of the runs. Published figures "
            "have no steps, and no difference is tested: for verdicts take a loss goal."
        )


def _limit_in_words(limit: Limit) -> str:
    return f"{100 * limit.ratio:g} % of {BASES[limit.basis]}" if limit.ratio is not None else "no limit"


def _draw_capacities(warehouse: Warehouse, frame: pd.DataFrame, limit: Limit, asked: Mapping[str, None]) -> None:
    if frame.empty:
        return
    ids = list(frame["configuration_id"])
    with behind.recorded() as asked_too:
        if limit.goal is None and limit.ratio is not None:
            singles = comparing.run_capacities_at(warehouse, ids, limit.ratio, limit.basis).to_pandas()
        else:
            singles = queries.run_capacities(warehouse, limit.goal or queries.usual_goal(), ids).to_pandas()
    known = frame.set_index("configuration_id")
    for place, (unit, part) in enumerate(frame.groupby("rate_unit", sort=True)):
        points = singles[singles["configuration_id"].isin(part["configuration_id"])]
        points = points.assign(
            row=points["configuration_id"].map(known["label"]),
            backend=points["configuration_id"].map(known["backend"]),
            run=[f"run {each:.0f}" if words.is_known(each) else "run" for each in points["repetition"]],
        )
        dots = part.assign(row=part["label"], name=part["label"], quality=part["quality_shown"])
        drawn = capacity.capacities(dots, str(unit), points, name_values=True)
        state.chart(drawn, f"capacity-{place}", [*asked, *asked_too])
    if "run_correlation" in frame and (
        said := words.widened(dict(zip(frame["label"], frame["run_correlation"], strict=True)))
    ):
        st.caption(words.plain(said))
    weak = frame[frame["findings_shown"] != ""]
    for row in weak.itertuples():
        st.caption(words.plain(f"{words.quality(row.quality)} {row.label}: {row.findings_shown}"))


def _draw_ramps(
    warehouse: Warehouse,
    chosen: list[str],
    labels: Mapping[str, str],
    frame: pd.DataFrame,
    limit: Limit,
    goals: Mapping[str, dict[str, Any]],
) -> None:
    st.header("Loss over the offered rate")
    each_run = st.toggle("Show every run", key="runs", bind="query-params", help="Otherwise the median run.")
    with behind.recorded() as asked:
        steps = queries.loss_by_rate(warehouse, chosen, limit.basis, each_run=each_run).to_pandas()
    if steps.empty:
        st.info("These are published figures: their sources give no loss for each step.")
        return
    units = list(dict.fromkeys(frame["rate_unit"]))
    backends = queries.factors(warehouse, chosen).to_pandas().set_index("configuration_id")["backend"]
    steps = steps.assign(
        label=steps["configuration_id"].map(dict(labels)),
        line=[
            _line(*each) for each in zip(steps["configuration_id"], steps["run_id"], steps["repetition"], strict=True)
        ],
        backend=steps["configuration_id"].map(backends),
    )
    drawn = ramp.loss_over_rate(
        steps,
        limit.ratio,
        BASES[limit.basis],
        " and ".join(units) or "per second",
        _ramp_finding(steps, limit.ratio),
        choosable=True,
    )
    if limit.ratio is None:
        state.chart(drawn, "ramps", asked)
        return
    key = f"ramps-{_percent(limit.ratio):g}"  # the same limit may be chosen again after another
    state.chart(drawn, key, asked, on_select=partial(_take_from_chart, key, _named(goals)))
    st.caption("Drag the red line, or click where it should be, to set the limit; or type it above.")


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


def _show_ratios(warehouse: Warehouse, frame: pd.DataFrame, verdicts: pd.DataFrame | None) -> None:
    if len(frame) < 2:
        return
    st.header("Ratios")
    found = frames.verdict_of_each(verdicts)
    tested = (
        "▲ and ▼ with colour: faster or slower beyond chance (5 % over all pairs shown, Holm). △ and ▽: probably, as "
        "the interval of the pair alone leaves 1 out, but among all pairs one such is no surprise. Without a mark "
        "nothing is claimed."
    )
    st.caption(
        "Rate of the row over the rate of the column, at the limit where both were estimated, else ISC's figures; "
        "n: runs of each. ≥ and ≤ where one side is a bound. " + (tested if verdicts is not None else "")
    )
    ratios = frames.ratios(frame, found)
    state.table(ratios, alt="Ratio of each pair of capacities", key="ratios", marked=frames.marks(ratios))
    if verdicts is None:
        return
    labels = frame.set_index("configuration_id")["label"]
    sides = list(zip(verdicts["configuration_id_a"], verdicts["configuration_id_b"], strict=True))
    in_turn = queries.are_in_turn(warehouse, sides)
    if said := words.drift(in_turn.values()):
        st.caption(said)
    state.table(
        pd.DataFrame(
            {
                "Rate of": verdicts["configuration_id_a"].map(labels),
                "over": verdicts["configuration_id_b"].map(labels),
                "Ratio": verdicts["ratio"],
                "95 % interval": [
                    words.factor_interval(*each) for each in zip(verdicts["ci_low"], verdicts["ci_high"], strict=True)
                ],
                "Runs": [words.numbers(*each) for each in zip(verdicts["runs_a"], verdicts["runs_b"], strict=True)],
                "Measured": [words.order(in_turn.get(each)) for each in sides],
                "p": verdicts["p_value"],
                "p (Holm)": verdicts["p_value_holm"],
                "Verdict": [words.VERDICTS[each] for each in verdicts["verdict"]],
                "Fairness": [words.FAIRNESS[each] for each in verdicts["grade"]],
            }
        ),
        alt="Evidence for each pair: ratio, interval, p values, verdict and what else differs",
        key="evidence",
        config={
            "Ratio": st.column_config.NumberColumn(format="%.3g ×"),
            "p": st.column_config.NumberColumn(format="%.2g"),
            "p (Holm)": st.column_config.NumberColumn(format="%.2g", help="Adjusted for the number of pairs shown."),
        },
    )


def _show_speedups(warehouse: Warehouse, chosen: list[str]) -> None:
    pairs = queries.speedups(warehouse, chosen).to_pandas()
    if pairs.empty:
        return
    st.header("What threads and high availability change")
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
                "Verdict": pairs["verdict"].map(words.VERDICTS),
                "Quality": [words.quality(each) for each in pairs["quality"]],
                "Origin": pairs["origin"],
                "Campaign": pairs["campaign"],
            }
        ).dropna(axis="columns", how="all"),
        alt="Speed-ups by threads and high availability in which the chosen configurations stand",
        key="speedups",
        bounds={name: list(pairs["origin"].map(words.ORIGIN_SIGNS)) for name in ("LPS without", "LPS with")},
        config={
            "Ratio": st.column_config.NumberColumn(format="%.2f ×"),
        },
    )


def _show_fairness(warehouse: Warehouse, labels: Mapping[str, str], chosen: list[str]) -> None:
    if len(chosen) < 2:
        return
    st.header("Is the comparison fair?")
    left, right = st.columns(2)
    with left:
        one = st.selectbox("Between", chosen, format_func=labels.__getitem__, key="fair_one")
    with right:
        others = [each for each in chosen if each != one]
        other = st.selectbox("and", others, format_func=labels.__getitem__, key="fair_other")
    for pair in comparing.fairness(warehouse, one, other).to_pylist():
        st.text(f"As a test of the {words.findings([pair['factor']])} alone: {words.FAIRNESS[pair['grade']]}.")
        if pair["unstated_aspects"]:
            st.caption(f"Neither side says anything of: {words.plain(', '.join(pair['unstated_aspects']))}.")
    found = comparing.differences(warehouse, one, other).to_pandas()
    if found.empty:
        st.success("Nothing that is known of the two differs.", icon=":material/balance:")
        return
    st.caption(
        "All that differs, the gravest first. What you mean to compare is no reproach; the rest of the unfair is."
    )
    state.table(
        pd.DataFrame(
            {
                "Grade": found["grade"],
                "Aspect": found["aspect"],
                "What": found["item"],
                labels[one]: found["value_a"].fillna(words.NOT_STATED),
                labels[other]: found["value_b"].fillna(words.NOT_STATED),
                "Why it matters": found["why"].fillna(""),
            }
        ),
        alt="What differs between the two, the gravest first",
        key="fairness",
        tinted=list(found["grade"] == "unfair"),
    )


def _show_differences(warehouse: Warehouse, labels: Mapping[str, str], chosen: list[str]) -> None:
    st.header("What they are")
    facts = frames.differences(queries.factors(warehouse, chosen), labels, chosen)
    if len(chosen) > 1:
        names = list(facts.loc[facts["Differs"] == "≠", "Factor"])
        if "threading" in names and "threads" in names:
            names.remove("threads")  # one factor: how many follows from whether
        st.text(_verdict(names))
        if st.toggle("Only what differs", key="differing", bind="query-params"):
            facts = facts[facts["Differs"] == "≠"]
    is_hardware = facts["Factor"].isin(HARDWARE)
    for name, part in {"factors": facts[~is_hardware], "hardware": facts[is_hardware]}.items():
        if name == "hardware":
            st.header("Hardware and system, side by side")
        if part.empty:
            st.text("Nothing differs here." if len(facts) else "Nothing is known.")
            continue
        state.table(part, alt=TABLES[name], key=name, height="content", tinted=list(part["Differs"] == "≠"))


def _verdict(names: list[str]) -> str:
    if not names:
        return "Nothing that is known of them differs."
    if len(names) == 1:
        return f"They differ in {names[0]} only: the ratio is the effect of that factor."
    return f"They differ in {len(names)} things ({', '.join(names)}): the ratio is not the effect of one of them alone."


main()
