"""Page Plan: how many leases per second does a site need, and which configurations provide them?"""

import math
from functools import partial
from itertools import groupby
from typing import Any, Final, Literal

import altair as alt
import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dropline.app import downloads, planner, printed, queries, view_tables, widgets, wording
from dropline.app.charts import influence, recovery
from dropline.app.warehouse import Warehouse, WarehouseError

OWN: Final = "my own numbers"
FIRST: Final = "power-cut"  # the initial preset
ASKED: Final = ("clients", "lease_s", "down_clients", "recovery_s", "outage_s")  # main inputs; the rest are assumptions
FIELD_WIDTH: Final = 165  # pixels: two beside each other on a phone
ANSWER_PIXELS: Final = 120  # a heading of two lines and a sentence
MEETS: Final = {"Enough": "yes", "Not known": "unknown", "Too slow": "no"}
MOST_ROWS: Final = 100  # of a table of configurations
MOST_DRAWN: Final = 5  # capacities beside the demand
APART: Final = 3  # minimum ratio between two drawn capacities, so that their names do not overlap
# Input -> query for measured values, and the short name of the field.
SUGGESTED: Final = {"ha_ratio": ("planner_ha_ratios", "ha"), "renewal_cost_ratio": ("planner_renewal_costs", "renewal")}


def main() -> None:
    """Draw the page."""
    st.title("Plan")
    answer = widgets.reserved(ANSWER_PIXELS)
    _apply_address()
    titles = {OWN: OWN} | {name: preset.title for name, preset in planner.PRESETS.items()}
    chosen = widgets.choose_one("Start from", "preset", titles, on_change=_apply_preset)
    if chosen in planner.PRESETS:
        st.caption(wording.plain(planner.PRESETS[chosen].source))
    warehouse, calculator = _warehouse(), _calculator()
    try:
        inputs, measured_lps, setup = _ask_all(answer)
        found = planner.answer(warehouse, inputs, measured_lps, setup, calculator)
    except ValueError as error:
        st.error(wording.plain(planner.in_words(error)))
        return
    if 0 < inputs["clients"] < inputs["down_clients"]:
        answer.warning("More clients would have to recover than there are.")
    if found.loads["needed_lps"] <= 0:
        st.info("Enter the number of clients, or of new clients, to see which servers can serve them.")
        return
    first, *others = planner.headline(found)
    answer.header(wording.plain(first), anchor=False)
    answer.markdown(wording.plain(" ".join(others)))
    drawn = _against_capacities(found)
    widgets.chart(drawn, "demand", [planner.sql(found.inputs)])
    _offer(found, drawn)
    _show_parts(found)
    _show_influences(found)
    _show_course(found)
    _show_configurations(found)


@st.cache_resource(show_spinner=False)
def _calculator() -> duckdb.DuckDBPyConnection:
    return planner.blank()


def _warehouse() -> Warehouse | None:
    try:
        return widgets.open_warehouse()
    except WarehouseError:
        return None


def _known(name: str, ip_version: float) -> list[dict[str, Any]]:
    """Return the rows of a query for the protocol; none without a warehouse."""
    warehouse = _warehouse()
    return queries.ask(warehouse, name, protocol=f"DHCPv{ip_version:.0f}").to_pylist() if warehouse else []


def _apply_preset() -> None:
    if st.session_state["preset"] in planner.PRESETS:
        for name, value in planner.complete({}, st.session_state["preset"]).items():
            _fill(name, value)


def _apply_address() -> None:
    """Fill in the preset that the URL names; without parameters, the initial preset."""
    asked = st.query_params.get("preset", "")
    named = next((name for name, preset in planner.PRESETS.items() if asked in (name, preset.title)), None)
    if named == asked:  # the name that the command line uses
        st.session_state["preset"], st.query_params["preset"] = named, planner.PRESETS[named].title
    if not {"preset", *planner.BY_NAME} & {*st.query_params, *st.session_state}:
        named = st.session_state["preset"] = FIRST
    for name, value in (planner.PRESETS[named].inputs if named else {}).items():
        if name not in st.session_state and name not in st.query_params:
            _fill(name, value)


def _fill(name: str, value: float) -> None:
    is_chosen = planner.BY_NAME[name].unit == "version"
    st.session_state[name] = int(value) if is_chosen else planner.written(name, value)


def _ask_all(answer: DeltaGenerator) -> tuple[dict[str, float], float | None, planner.Measured | None]:
    """Ask for all inputs, the main ones in one row, and for the server's speed."""
    with st.container(horizontal=True):
        inputs = {name: _ask(planner.BY_NAME[name], answer, FIELD_WIDTH) for name in ASKED}
    others = [each for each in planner.PARAMETERS if each.name not in ASKED]
    differ = any(name in st.query_params for name in ("measured_lps", *(each.name for each in others)))
    more = st.expander("Assumptions, allowances and your server", expanded=differ, on_change="rerun", key="more")
    is_like_another = any(st.session_state.get(f"like-{version}") is not None for version in (4, 6))
    if not (more.open or differ or is_like_another):
        return inputs | {each.name: _unseen(each) for each in others}, None, None
    with more:
        groups = [(group, list(each)) for group, each in groupby(others, lambda parameter: parameter.group)]
        for (group, members), column in zip(groups, st.columns(len(groups)), strict=True):
            with column:
                st.markdown(f"**{group}**")
                for each in members:
                    inputs[each.name] = _ask(each, answer)
                    if each.name in SUGGESTED:
                        _suggest(each.name, inputs["ip_version"])
        measured_lps, setup = _ask_server(inputs["ip_version"])
    return inputs, measured_lps, setup


def _suggest(name: str, ip_version: float) -> None:
    """Offer measured values for an input."""
    measured, short = SUGGESTED[name]
    found = _known(measured, ip_version)
    if not found:
        return
    key = f"measured-{short}-{ip_version:.0f}"
    st.selectbox(
        "Take a measured ratio",
        range(len(found)),
        index=None,
        format_func=lambda place: _in_words(found[place]),
        key=key,
        on_change=lambda: _take(name, found, key),
        placeholder="choose a pair of set-ups",
        help="From two set-ups that are otherwise the same. The value goes into the field above.",
    )


def _take(name: str, found: list[dict[str, Any]], key: str) -> None:
    parameter = planner.BY_NAME[name]
    if (place := st.session_state[key]) is not None:
        _fill(name, round(min(max(found[place]["ratio"], parameter.minimum), parameter.maximum), 3))


def _in_words(pair: dict[str, Any]) -> str:
    name = view_tables.set_up(pair["backend"], pair["threading"], pair["threads"], pair["ha_mode"])
    beside = f" beside {wording.number(pair['renewals_per_s'])} renewals/s" if "renewals_per_s" in pair else ""
    return f"{pair['ratio']:.3f}: {name}{beside}, {pair['product']} {pair['product_version'] or ''}, {pair['campaign']}"


def _ask(parameter: planner.Parameter, answer: DeltaGenerator, width: int | Literal["stretch"] = "stretch") -> float:
    """Ask for one input; if it cannot be read, say so in the answer and take the default."""
    label = parameter.label
    shared: dict[str, Any] = {"key": parameter.name, "help": parameter.help, "bind": "query-params"}
    if parameter.unit == "version":
        chosen = st.segmented_control(label, [4, 6], default=int(parameter.default), required=True, **shared)
        return chosen or parameter.default  # the URL may name none: `?ip_version=`
    text = st.text_input(label, value=planner.written(parameter.name, parameter.default), width=width, **shared)
    try:
        value = planner.parsed(parameter.name, text or "0")
    except ValueError as error:
        value = float(parameter.default)
        answer.error(f"{wording.plain(error)}. Until then it counts as {planner.written(parameter.name, value)}.")
    return int(value) if value.is_integer() and value < 1e15 else value


def _unseen(parameter: planner.Parameter) -> float:
    """Return the value of an input without a field: that of the preset, or the default."""
    value = st.session_state.get(parameter.name, planner.written(parameter.name, parameter.default))
    return float(value) if isinstance(value, int) else planner.parsed(parameter.name, value or "0")


def _ask_server(ip_version: float) -> tuple[float | None, planner.Measured | None]:
    """Ask for the speed of the server whose recovery is drawn."""
    left, right = st.columns(2)
    typed = left.number_input(
        "Your server: measured leases per second",
        min_value=0.0,
        value=0.0,
        step=1.0,
        format="%g",
        key="measured_lps",
        help="0: exactly what is needed. The relay, HA and utilisation ratios reduce it.",
        bind="query-params",
    )
    with right:
        setup = _choose_setup(ip_version)
    return typed or None, setup


def _choose_setup(ip_version: float) -> planner.Measured | None:
    """Offer the set-ups whose behaviour beyond their capacity is known."""
    found = _known("planner_goodputs", ip_version)
    if not found:
        return None
    place = st.selectbox(
        "Behave like",
        range(len(found)),
        index=None,
        format_func=lambda place: f"{found[place]['configuration']}, {found[place]['campaign']}",
        key=f"like-{ip_version:.0f}",
        placeholder="a server that answers as much as it can, whatever the load",
        help="A measured set-up: its capacity, unless given above, and how much it answered under a higher load.",
    )
    return None if place is None else planner.Measured.of(found[place])


def _against_capacities(found: planner.Answer) -> alt.LayerChart:
    """Return the chart of the need after the event against a few capacities, preferably measured ones."""
    steps = pd.DataFrame(planner.demand(found), columns=list(recovery.STEPS))
    rates, detail = pd.DataFrame(columns=list(recovery.CAPACITIES)), "Red: what the plan needs"
    if found.candidates is not None:
        part, count = _apart(found.candidates)
        drawn = view_tables.capacities(part, {})
        texts = dict(zip(drawn["configuration_id"], drawn["configuration"], strict=True))
        names = view_tables.short(texts, list(texts))
        rates = drawn.assign(
            label=drawn["configuration_id"].map(names) + ": " + drawn["shown"],
            low=drawn["ci_low"].fillna(drawn["rate"]),
            high=drawn["ci_high"].fillna(drawn["rate"]),
            shown=drawn["shown"] + ", " + drawn["interval"],
        )
        if len(drawn):
            origin = drawn["origin"].iloc[0]
            detail += f"; green: {len(rates)} of {count} capacities, {origin}, with interval or bracket"
    finding = f"{planner.amount(found.loads['needed_lps'])} leases per second are needed"
    return recovery.against_capacities(steps, rates, finding, detail)


def _apart(known: pa.Table) -> tuple[pa.Table, int]:
    """Return a few capacities to draw, slowest first, and the number to choose from; measured ones if there are any."""
    rates = known["rate"].to_numpy()
    if not (rates > 0).any():  # only upper bounds are known
        rates = view_tables.rates(known).to_numpy()
    rated = rates > 0
    own = rated & pc.equal(known["origin"], "measured").to_numpy()
    part = own if own.any() else rated
    drawn: list[int] = []
    highest = 0.0
    for place in np.argsort(rates, kind="stable").tolist():
        if part[place] and len(drawn) < MOST_DRAWN and rates[place] >= APART * highest:
            drawn.append(place)
            highest = rates[place]
    return known.take(np.array(drawn, np.int64)), int(part.sum())


def _offer(found: planner.Answer, drawn: alt.LayerChart) -> None:
    with st.container(horizontal=True):
        for label, name, written, mime in (
            ("Plan to print", "plan.html", partial(printed.page, found, drawn), "text/html"),
            ("Plan as Markdown", "plan.md", partial(planner.as_markdown, found), "text/markdown"),
            ("Plan as CSV", "plan.csv", partial(planner.as_csv, found), "text/csv"),
        ):
            downloads.button(label, written, f"dropline-{name}", mime, type="tertiary")


def _show_parts(found: planner.Answer) -> None:
    needed = found.loads
    parts = [(*planner.LOADS[name], needed[name]) for name in planner.PARTS if needed[name]]
    if extra := needed["needed_lps"] - needed["peak_lps"]:
        factors = " × ".join(f"{found.inputs[each]:g}" for each in ("relay_ratio", "ha_ratio", "utilisation_ratio"))
        parts.append(("Allowances", f"peak / ({factors}) - peak: relay, HA, utilisation", extra))
    parts.append(("Needed", "all of these", needed["needed_lps"]))
    table = pd.DataFrame(parts, columns=["component", "computed_as", "needed_lps"])
    st.header("How it adds up")
    widgets.declared("components", table, bounds={"needed_lps": [""] * len(table)})
    st.caption(
        f"Steady: {planner.amount(needed['needed_steady_lps'])} leases per second with the allowances, "
        f"{planner.amount(needed['steady_messages_per_s'])} messages per second; in the busiest minute "
        f"{planner.amount(needed['peak_messages_per_s'])}, without retries. A server's queue needs at most "
        f"{wording.plural(math.ceil(needed['useful_queue_requests']), 'place')}: in a longer one, clients retry before "
        "they are served."
    )


def _show_influences(found: planner.Answer) -> None:
    st.header("Which input matters most")
    smaller, larger = planner.ENDS
    rows = []
    for each in found.influences:
        label = planner.BY_NAME[each.name].full_label
        rows += [(label, smaller, each.low_value, each.low_lps), (label, larger, each.high_value, each.high_lps)]
    bars = pd.DataFrame(rows, columns=list(influence.REQUIRED))
    drawn = influence.tornado(bars, found.loads["needed_lps"], planner.SWING)
    widgets.chart(drawn, "influences", [planner.influences_sql(found.inputs)])


def _show_course(found: planner.Answer) -> None:
    st.header("What happens next")
    course = found.course
    texts = [planner.course_in_words(found), *planner.events_in_words(found)]
    st.caption(wording.plain("\n\n".join(texts)))
    waits = course.waiting.max() >= 1
    if not waits and len(texts) == 1:
        return
    drawn = recovery.points(course)
    asked = [f"-- Simulated from these loads, until the lease ends.\n{planner.sql(found.inputs)}"]
    left, right = st.columns(2)
    if waits:
        end = "Nobody is without a lease"
        if course.recovered_s is None:
            end = f"Not everybody has a lease after {planner.duration(course.edges[-1])}"
        elif course.recovered_s:
            end = f"All have a lease after {planner.duration(course.recovered_s)}"
        with left:
            widgets.chart(recovery.waiting(drawn, f"{end}; at most {course.waiting.max():,.0f} wait"), "waiting", asked)
    share = wording.number(100 * course.repeated.sum() / course.sent.sum())
    with right if waits else left:
        widgets.chart(recovery.requests(drawn, f"{share} % of the requests are retries"), "requests", asked)


def _show_configurations(found: planner.Answer) -> None:
    st.header("Which configurations are fast enough")
    known = found.candidates
    if found.known is None or known is None:
        st.info("There is no warehouse yet. Type `dropline up examples` to make one.", icon=":material/database_off:")
        return
    parts = {name: known.filter(pc.equal(known["meets"], meets)) for name, meets in MEETS.items()}
    reach = f"{len(parts['Enough'])} of {len(known)} known {found.protocol} configurations reach"
    need = f"{planner.amount(found.loads['needed_lps'])} leases per second"
    st.caption(f"{reach} {need}. {wording.CAPTIONS['headroom']}")
    labels = queries.labels(found.known)
    for name, part in parts.items():
        if len(part):
            st.markdown(f"**{name}** ({len(part)}{f', the first {MOST_ROWS}' if len(part) > MOST_ROWS else ''})")
            frame = view_tables.capacities(part.slice(0, MOST_ROWS), labels)
            _show_headroom(frame, name)


def _show_headroom(frame: pd.DataFrame, enough: str) -> None:
    short = ["missing_lps"] if frame["missing_lps"].any() else []
    frame = frame.assign(
        headroom_ratio=np.floor(100 * frame["headroom_ratio"] + 1e-6) / 100,  # 0.998 is not enough
        meeting_probability=100 * frame["meeting_probability"],
    )
    widgets.declared(
        "headroom",
        frame if short else frame.drop(columns="missing_lps"),
        {"enough": enough},
        bounds={"rate": frame["figure_sign"]} | {name: [""] * len(frame) for name in short},
        key=enough,
    )


main()
