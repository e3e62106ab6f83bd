"""Page Speed-ups: how much do threads, HA, the backend and the IP version gain or cost?"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import pandas as pd
import pyarrow as pa
import streamlit as st

from dropline.app import headlines, queries, query_log, view_tables, widgets, wording
from dropline.app.charts import panel, ratio, theme
from dropline.app.warehouse import Identity, Warehouse

_SCALING: Final = "Thread scaling"
_MOST: Final = 30  # pairs in a chart: one screen
_MOST_ROWS: Final = 200  # in the table
_MOST_CAMPAIGNS: Final = 8  # that are described
_MOST_REMEMBERED: Final = 16  # cached answers


def main() -> None:
    """Draw the page."""
    st.title("Speed-ups")
    warehouse = widgets.warehouse_or_stop()
    st.caption(wording.CAPTIONS["speedups"])
    parts = {label: partial(_show, warehouse, factor) for factor, label in wording.FACTORS.items()}
    own = (
        label
        for name, label in wording.FACTORS.items()
        if "measured" in set(_found(warehouse.identity, name)[1].origin)
    )
    widgets.show_tabs(parts | {_SCALING: partial(_scaling, warehouse)}, next(own, None))


class Answer(NamedTuple):
    """The contents of the page for one factor: the effect, a chart of the first pairs, notes, and the table."""

    effect: str
    drawn: theme.Titled | None
    kept: Mapping[str, Any]
    notes: list[str]
    table: pd.DataFrame
    bounds: Mapping[str, Sequence[str]]


def _show(warehouse: Warehouse, factor: str) -> None:
    found, pairs, asked = _found(warehouse.identity, factor)
    if not found.num_rows:
        st.info("No two set-ups differ only in this. Measure the same set-up with and without it, then ingest both.")
        _unpaired(warehouse, factor)
        return
    place = widgets.reserved(widgets.HEADER_PIXELS)
    own = pairs["origin"] == "measured"
    named = bool(set(st.query_params.get_all("campaign")) - {*pairs.loc[own, "campaign"]})
    is_published = not own.any() or st.toggle("Published figures", named, key="published", bind="query-params")
    campaigns = {each: each for each in (pairs if is_published else pairs[own])["campaign"].unique()}
    near = widgets.narrowed("campaigns", "campaign", campaigns)
    with widgets.reserved(widgets.FIELD_PIXELS):
        chosen = widgets.choose_many("Campaigns", "campaign", near)
    answer = _answer(warehouse.identity, factor, is_published, tuple(chosen))
    place.header(wording.plain(answer.effect), anchor=False)
    st.space(widgets.TOOLS_PIXELS)
    if answer.drawn:
        widgets.chart(answer.drawn, f"ratios-{factor}", asked, kept=answer.kept)
    else:
        st.caption("Offer higher rates, until a step loses too much.")
    for note in answer.notes:
        st.caption(note)
    words, key = {"factor": wording.FACTORS[factor]}, f"ratio-table-{factor}"
    widgets.declared("ratio-table", answer.table, words, bounds=answer.bounds, key=key)
    _unpaired(warehouse, factor)


def _unpaired(warehouse: Warehouse, factor: str) -> None:
    """Say why set-ups have no ratio: their nearest counterpart differs in something else, too."""
    for row in queries.ask(warehouse, "unpaired", factor=factor).to_pylist():
        apart = "; ".join(row["differences"]) or "their names"
        st.caption(wording.plain(f"No ratio of {row['treatment']} to {row['baseline']}, as they differ in {apart}."))


@st.cache_resource(max_entries=_MOST_REMEMBERED, show_spinner=False)
def _found(identity: Identity, factor: str) -> tuple[pa.Table, pd.DataFrame, list[str]]:
    """Return the pairs of a factor, the columns to choose them by, and the queries."""
    with query_log.recorded() as asked:
        found = queries.ask(widgets.open_warehouse(), "ratio_pairs_ratios", factor=factor)
    named = ["origin", "campaign", "ratio", "ratio_qualifier", "ci_low", "ci_high", "verdict", "is_newest"]
    return found, view_tables.bounded(found.select([*named, "may_differ_in_machine"]).to_pandas()), list(asked)


@st.cache_resource(max_entries=_MOST_REMEMBERED, show_spinner=False)  # nobody changes a chart that is drawn
def _answer(identity: Identity, factor: str, is_published: bool, chosen: tuple[str, ...]) -> Answer:
    """Draw the pairs of a factor; if campaigns are chosen, only theirs."""
    found, pairs, _ = _found(identity, factor)
    pairs = pairs if is_published else pairs[pairs["origin"] == "measured"]
    every = len(pairs)
    pairs = pairs[pairs["campaign"].isin(chosen)] if chosen else pairs[pairs["is_newest"]]
    total, effect = len(pairs), _effect(pairs, factor)
    shown = pairs.head(_MOST_ROWS)
    known = {name: shown[name].to_numpy() for name in ("ratio", "sign")}
    pairs = found.take(shown.index.to_numpy()).to_pandas().assign(**known)
    pairs["shown"] = view_tables.texts(pairs, headlines.ratio, "ratio", "verdict", "sign")
    pairs["row"] = headlines.pair_names(pairs.to_dict("records"), factor)
    drawn = pairs.dropna(subset="ratio").head(_MOST)
    detail = f"n = {wording.plural(total, 'pair')}; light: 95 % interval"
    chart = panel.ratios(drawn, f"{wording.FACTORS[factor]}: ratio of the rates", detail) if len(drawn) else None
    earlier = 0 if chosen else every - total
    notes = [f"Only the newest results; choose campaigns for {earlier:,} earlier pairs."] if earlier else []
    described = pairs.head(_MOST).dropna(subset="campaign_description")
    described = described.groupby("campaign")["campaign_description"].first()
    if len(described):
        texts = [f"{campaign}: {text}" for campaign, text in described.head(_MOST_CAMPAIGNS).items()]
        notes.append("\n\n".join(map(wording.plain, texts)))
    if total > _MOST:
        listed = f"{len(pairs):,}" if len(pairs) < total else "all"
        shown_of = f"The chart shows {len(drawn)} of {total:,} pairs, the table {listed}."
        notes.append(f"{shown_of} Choose campaigns for others.")
    if note := wording.drift(pairs["is_in_turn"], pairs["series_variation"]):
        notes.append(note)
    table = pairs.assign(
        interval=view_tables.texts(pairs, wording.factor_interval, "ci_low", "ci_high"),
        verdict=pairs["verdict"].map(wording.VERDICTS),
        runs=view_tables.texts(pairs, wording.numbers, "runs", "reference_runs"),
        measured=pairs["is_in_turn"].map(wording.order),
        other_differences=pairs["fairness"].map(wording.FAIRNESS),
        main_difference=[", ".join(each) or None for each in pairs["worst_differences"]],
        quality=pairs["quality"].map(wording.quality),
    )
    bounds = {
        "rate": view_tables.texts(pairs, wording.bound, "status", "qualifier"),
        "reference_rate": view_tables.texts(pairs, wording.bound, "reference_status", "reference_qualifier"),
        **({"ratio": list(pairs["sign"])} if pairs["sign"].any() else {}),
    }
    return Answer(effect, chart, chart.with_frames() if chart else {}, notes, table, bounds)


def _effect(pairs: pd.DataFrame, factor: str) -> str:
    """Return the gain or cost of a factor, over the measured pairs if there are any."""
    own = pairs[pairs["origin"] == "measured"]
    sure = own[~own["may_differ_in_machine"]]
    effect = headlines.effect(next(filter(len, (sure, own)), pairs), wording.SUBJECTS[factor])
    if own.empty:
        return f"{effect} (published figures only)"
    return f"{effect}, unless the machines differ" if sure.empty else effect


def _scaling(warehouse: Warehouse) -> None:
    families = queries.ask(warehouse, "ratio_pairs_scaling").to_pandas()
    if families.empty:
        st.info("No set-up was measured with several thread counts. Measure one with 1, 2 and 4, then ingest the runs.")
        return
    place = widgets.reserved(widgets.HEADER_PIXELS)
    options = {
        row.family_id: f"{row.family} ({row.origin}, {row.campaign}): {', '.join(map(str, row.thread_counts))} threads"
        for row in families.itertuples()
    }
    chosen = widgets.choose_one("Configuration", "family", widgets.narrowed("configurations", "family", options))
    if not chosen:
        return
    family = families.set_index("family_id").loc[chosen]
    with query_log.recorded() as asked:
        points = queries.ask(warehouse, "ratio_pairs_scaling_points", family_id=chosen).to_pandas()
    unit = wording.plain(family["rate_unit"])
    best, counts = points["threads"][points["rate"].idxmax()], ", ".join(map(str, points["threads"]))
    place.header(wording.plain(f"{family['family']}: fastest with {best} of {counts} threads"), anchor=False)
    drawn = ratio.thread_scaling(points, wording.known(family["backend"]), unit, "Capacity by threads")
    widgets.chart(drawn, "scaling", asked)


main()
