"""Page Run: the ramp of one run, its trials, each second of a trial, and telemetry."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dropline.app import downloads, queries, query_log, raw_text, view_tables, widgets, wording
from dropline.app.charts import counts, intervals, ramp, response, theme
from dropline.app.warehouse import Warehouse
from dropline.paths import Home

MOST_SHARES = 400  # points in a distribution
LATENCIES = ("avg", "p50", "p95", "p99", "max")


def main() -> None:
    """Draw the page."""
    st.title("Run")
    warehouse = widgets.warehouse_or_stop()
    labels = queries.labels(warehouse)
    known = queries.ask(warehouse, "run_configurations", {"labels": "labels"})["configuration_id"].to_pylist()
    if not known:
        st.info(wording.CAPTIONS["no_runs"])
        return
    left, middle, right = st.columns([3, 3, 2])
    with left:
        near = widgets.narrowed("configurations", "configuration", {each: labels[each] for each in known})
        configuration = widgets.choose_one("Configuration", "configuration", near)
    found = queries.ask(warehouse, "runs", configuration_id=configuration).to_pylist()
    runs = {row["run_id"]: row for row in sorted(found, key=lambda row: row["rate"] is None)}
    with middle:
        run_id = widgets.choose_one("Run", "run", {each: wording.run_label(row) for each, row in runs.items()})
    with right:
        goal = _choose_goal(warehouse, found[0]["rate_unit"] if found else None)
    if configuration is None or run_id is None:
        return
    run = runs[run_id]
    trials = queries.ask(warehouse, "trials", run_id=run_id).to_pandas()
    verdict = queries.row(warehouse, "run_verdict", run_id=run_id, loss_goal=goal["loss_goal"])
    _draw_ramp(warehouse, run, labels[configuration], goal, verdict)
    _show_trials(trials, run)
    _show_chosen(warehouse, run, trials, verdict)


@st.fragment  # a new choice changes nothing above this part
def _show_chosen(warehouse: Warehouse, run: dict[str, Any], trials: pd.DataFrame, verdict: dict[str, Any]) -> None:
    """Let the visitor choose a trial of the run, and show it."""
    trial = _choose_trial(trials, verdict)
    key = trial[["trial_id", "batch", "campaign"]].to_dict()
    with _show_trial(trial):
        _draw_seconds(warehouse, key)
        _show_accounting(warehouse, key)
    _show_exchanges(warehouse, key)
    _show_response_times(warehouse, trial, key)
    _show_counters(warehouse, key)
    _show_findings(warehouse, run, key)
    _show_sources(trial)


def _choose_goal(warehouse: Warehouse, rate_unit: str | None) -> dict[str, Any]:
    known = queries.loss_goals(warehouse, [rate_unit])
    goals = {each["loss_goal"]: each for each in known if each["loss_limit"] is not None}
    texts = {name: wording.loss_goal(name, each["loss_limit"], each["loss_basis"]) for name, each in goals.items()}
    return goals[widgets.choose_one("Loss goal", "goal", texts) or known[0]["loss_goal"]]


def _draw_ramp(
    warehouse: Warehouse, run: dict[str, Any], label: str, goal: Mapping[str, Any], verdict: dict[str, Any]
) -> None:
    with query_log.recorded() as asked:
        of_run = {"configuration_ids": [run["configuration_id"]], "run_id": run["run_id"], "each_run": True}
        steps = queries.ask(warehouse, "loss_by_rate", basis=goal["loss_basis"], **of_run).to_pandas()
    if steps.empty:
        rate = f" Throughput: {wording.number(run['rate'])} {run['rate_unit']}." if run["rate"] is not None else ""
        st.info(f"No complete trial of this run has both an offered rate and a loss: there is no ramp to draw.{rate}")
        return
    unit = run["rate_unit"] or "per second"
    drawn = steps.assign(label=label, line=wording.run_label(run), backend=run["backend"])
    lost = wording.lost(goal["loss_basis"], [unit])
    st.space(widgets.TOOLS_PIXELS)
    widgets.chart(ramp.loss_over_rate(drawn, goal["loss_limit"], lost, unit, _finding(verdict, unit)), "ramp", asked)


def _finding(verdict: dict[str, Any], unit: str) -> str:
    lost = (verdict.get("first_exceeding_loss") or 0) > (verdict.get("loss_limit") or 0)
    failed = "lost too much" if lost else "was not sustained"
    but = ", but most steps above it passed: a disturbance" if verdict.get("is_disturbed") else ""
    match verdict.get("status"):
        case "exceeded_at_first_step":
            return f"Below {wording.number(verdict['first_exceeding_rate'])} offered: the first step {failed}{but}"
        case "never_exceeded" | "generator_limited" as status:
            why = wording.STATUSES[status].split(": ")[1].replace("a ramp", "the ramp")
            return f"At least {wording.number(verdict['rate'])} {unit}: {why}"
        case "bracketed":
            passed, exceeded = verdict["last_passing_rate"], verdict["first_exceeding_rate"]
            best = wording.about(verdict["offered_at_limit"], passed, exceeded)
            return (
                f"At least {wording.number(verdict['rate'])} {unit}, at {wording.number(passed)} offered; "
                f"{wording.number(exceeded)} {failed}{but or f'; the limit is at about {wording.number(best)} offered'}"
            )
        case _:
            return "Loss of each step"


def _show_trials(trials: pd.DataFrame, run: dict[str, Any]) -> None:
    st.header(wording.plural(len(trials), "trial"))
    unit = wording.plain(run["rate_unit"] or "per second")
    is_leases = run["rate_unit"] == "leases/s"
    shown = trials.drop(columns="sustained" if is_leases else "lease")
    words = {"worst": "Loss, worst exchange" if is_leases else "Loss", "unit": unit}
    widgets.declared("trials", shown, words | {"offered": widgets.written(trials["offered_rate"].dropna())})


def _choose_trial(trials: pd.DataFrame, verdict: dict[str, Any]) -> pd.Series[Any]:
    """Let the visitor choose one trial, by default the first that exceeds the limit, else the last that passes."""
    rates = [verdict.get("first_exceeding_rate"), verdict.get("last_passing_rate")]
    decisive = [each for rate in rates for each in trials["trial_id"][trials["offered_rate"] == rate]]
    st.header("One trial")
    named = trials[["trial_id", "offered_rate", "rate_unit", "loss_worst_exchange"]].to_dict("records")
    texts = {row["trial_id"]: wording.trial_label(row) for row in named}
    chosen = widgets.choose_one("Trial", "trial", texts, otherwise=next(iter(decisive), None))
    return trials.set_index("trial_id", drop=False).loc[chosen or trials["trial_id"][0]]


def _show_trial(trial: pd.Series[Any]) -> DeltaGenerator:
    """Describe the trial and return the container for its charts; beside it, show the raw text if asked for."""
    st.text(f"{trial['source_path']}, report {trial['report_index'] + 1}, line {wording.count(trial['source_line'])}")
    if wording.is_known(trial["command"]):
        st.code(trial["command"], language=None, wrap_lines=True)
    if wording.is_known(trial["conflicts"]):
        for conflict in trial["conflicts"]:
            st.warning(wording.plain(conflict), icon=":material/call_split:")
    if not st.toggle("Raw text beside the charts", key="text", bind="query-params"):
        return st.container()
    left, right = st.columns([3, 2])
    with right:
        _show_file(trial)
    return left


def _show_accounting(warehouse: Warehouse, key: Mapping[str, Any]) -> None:
    """Show where the requests of a trial went, according to the counters recorded with it."""
    with query_log.recorded() as asked:
        account = queries.row(warehouse, "run_accounting", **key)
    sent = account.get("sent")
    if not sent:
        return
    noun = "queries" if account["protocol"] == "DNS" else "requests"
    losses = {text: account[name] for name, text in wording.LOSSES.items() if account[name] is not None}
    is_counted = bool(losses)
    answered = account["answered"] if account["answered"] is not None else account["received"]
    if (unknown := sent - answered - sum(losses.values())) >= 1:
        losses["lost, unknown where"] = unknown
    went = {"answered": answered, **losses}.items()
    parts = [(place, count, count / sent, f"{count:,.0f}: {100 * count / sent:.1f} %") for place, count in went]
    table = pd.DataFrame(parts, columns=["kind", "count", "share_ratio", "shown"])
    colours = [theme.SERIES_COLOURS["received"], *[theme.SERIES_COLOURS["drops"]] * len(losses)]
    detail = _both_ratios(account) if noun == "queries" else "According to the counters of the kernel and the server"
    drawn = counts.by_kind(table, _where_they_went(losses, sent, noun), detail, noun.capitalize(), colours)
    widgets.chart(drawn, "accounting", asked)
    notes = {
        "The server was restarted during the trial, and so were its counters.": account["is_server_restarted"],
        "The counters do not add up: the answered count is what the generator saw.": (
            noun == "queries" and account["answered"] is None and is_counted
        ),
        f"{account['probes_failed']} of {account['probes']} probes failed.": account["probes_failed"],
    }
    for note, applies in notes.items():
        if applies:
            st.caption(note)


def _where_they_went(losses: Mapping[str, float], sent: int, noun: str) -> str:
    worst = max(losses, key=lambda place: losses[place], default="")
    if losses.get(worst, 0) <= 0:
        return f"None of the {sent:,} {noun} was lost"
    return f"{losses[worst]:,.0f} of {sent:,} {noun} were {worst}"


def _both_ratios(account: Mapping[str, Any]) -> str:
    printed, true = account["ratio_printed"], account["ratio_true"]
    text = "As the generator counted" if printed is None else f"The generator prints {100 * printed:.2f} % answered"
    return text if true is None else f"{text}; by the counters it is {100 * true:.2f} %"


def _draw_seconds(warehouse: Warehouse, key: Mapping[str, Any]) -> None:
    """Draw each exchange second by second and, on the same time axis, the recorded metrics."""
    with query_log.recorded() as asked:
        seconds = queries.ask(warehouse, "intervals", **key).to_pandas()
    with query_log.recorded() as asked_beside:
        readings = queries.ask(warehouse, "run_watched", **key).to_pandas()
    if seconds.empty and readings.empty:
        st.info("The generator printed no line per second for this trial.")
        return
    st.header("Second by second")
    times = pd.concat([seconds["t_s"], readings["t_s"]])
    span = [min(0.0, float(times.min())), max(float(times.max()), 1.0)]
    exchanges = {str(name): part for name, part in seconds.groupby("exchange", sort=False)}
    pauses = {name: intervals.pauses(part) for name, part in exchanges.items()}
    # without telemetry no other chart shares their time axis
    places = itertools.cycle(st.columns(min(len(exchanges), 2)) if readings.empty else [st.container()])
    for place, (name, part) in zip(places, exchanges.items(), strict=False):
        with place:
            widgets.chart(intervals.second_by_second(part, span, pauses[name]), f"seconds-{name}", asked)
    if seconds.empty:
        st.caption("The generator prints no interim lines with a time: these are readings taken during the trial.")
    if readings.empty:
        return
    several = readings.groupby("metric")["series"].transform("nunique") > 1
    named = view_tables.texts(readings, wording.watched, "metric", "unit", "is_rate")
    readings["panel"], readings["name"] = zip(*named, strict=True)
    readings.loc[several, "name"] += " " + readings["series"]
    shaded = pd.concat(pauses.values()) if pauses else None
    panels = dict(list(readings.groupby("panel", sort=False)))
    order = list(dict.fromkeys(panel for panel, _ in wording.WATCHED.values()))
    for panel in sorted(panels, key=lambda each: order.index(each) if each in order else len(order)):
        widgets.chart(intervals.over_time(panels[panel], panel, span, shaded), f"watched-{panel}", asked_beside)
    st.caption("Counters are drawn as increase per second; those that never changed are left out.")


def _show_exchanges(warehouse: Warehouse, key: Mapping[str, Any]) -> None:
    exchanges = queries.ask(warehouse, "exchanges", **key).to_pandas()
    if exchanges.empty:
        return
    st.header("Exchanges")
    widgets.declared("exchanges", exchanges.assign(drop_ratio=100 * exchanges["drop_ratio"]))


def _show_response_times(warehouse: Warehouse, trial: pd.Series[Any], key: Mapping[str, Any]) -> None:
    """Draw the distribution if single answers or percentiles are known; otherwise show the summary."""
    with query_log.recorded() as asked:
        shares = queries.ask(warehouse, "run_response_shares", **key, most=MOST_SHARES).to_pandas()
    probes = queries.row(warehouse, "run_probe_times", **key)
    times = pd.DataFrame(
        [[trial[f"latency_{name}_ms"] for name in LATENCIES], [probes[name] for name in LATENCIES]],
        index=["generator", f"probes ({probes['answered']} answered)"],
        columns=LATENCIES,
        dtype=float,
    ).dropna(how="all")
    st.header("Response times")
    if len(shares):
        widgets.chart(response.shares(shares), "response-times", asked)
    else:
        is_perfdhcp = trial["tool"] == "perfdhcp"
        records = ": perfdhcp records it with `-x t`. The exchanges above have averages" if is_perfdhcp else ""
        below = "The summary is below." if len(times) else ""
        st.info(f"No distribution of response times{records}. {below}", icon=":material/info:")
    if times.empty:
        return
    widgets.declared("times", times.rename_axis("source").reset_index())


def _show_counters(warehouse: Warehouse, key: Mapping[str, Any]) -> None:
    changes = queries.ask(warehouse, "run_counters", **key).to_pandas()
    if changes.empty:
        return
    st.header("Counters that changed")
    st.caption("Largest change first. Search with the magnifying glass of the table.")
    widgets.declared("counters", changes)


def _show_sources(trial: pd.Series[Any]) -> None:
    place = st.expander("Where its values come from", on_change="rerun", key="said")
    if not place.open:
        return
    with place:
        sources = dict(trial["context_sources"]) if wording.is_known(trial["context_sources"]) else {}
        rows = [(name, str(trial.get(name, "")), source) for name, source in sorted(sources.items())]
        widgets.declared("sources", pd.DataFrame(rows, columns=["value", "is", "said_by"]))


def _show_file(trial: pd.Series[Any]) -> None:
    st.caption(f"SHA-256 {trial['source_sha256']}")
    content = raw_text.kept(Home.chosen(), trial)
    if content is None:
        st.info("The lake of this home does not have the file. To explain it line by line, run this where the file is:")
        st.code(f"dropline show {shlex.quote(trial['source_path'])}", language=None)
        return
    line = int(trial["source_line"]) if wording.is_known(trial["source_line"]) else None
    part = raw_text.part(content, line)
    last = part.first + part.text.count("\n")
    if last - part.first + 1 < part.lines:
        which = f"Lines {part.first:,} to {last:,} of {part.lines:,}"
        st.caption(f"{which}, from where this trial begins; the file has all.")
    st.code(part.text, language=None, line_numbers=part.first == 1, height=640 if part.lines > 28 else "content")
    name = trial["source_path"].rpartition("/")[2]
    downloads.button("The whole file", content, name, "application/octet-stream", key="raw", type="tertiary")


def _show_findings(warehouse: Warehouse, run: Mapping[str, Any], key: Mapping[str, Any]) -> None:
    st.header("Warnings and findings")
    found = queries.ask(warehouse, "findings", **{**run, **key}).to_pandas()
    if found.empty:
        st.success("No known problems with this trial or its run.", icon=":material/check:")
        return
    found["finding"] = [wording.findings([name]) for name in found["finding"]]
    widgets.declared("findings", found)


main()
