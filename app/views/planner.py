"""How many leases per second does a site need, and which configurations give them?"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import streamlit as st

from dropline.app import frames, planner, queries, state, words
from dropline.app.charts import influence, load, recovery
from dropline.app.queries.planner import configurations, goodputs, ha_ratios, renewal_costs
from dropline.app.warehouse import WarehouseError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import duckdb
    import pyarrow as pa

MESSAGES = "Two for a renewal, four for a new lease, and the repetitions of clients that wait."
OWN = "my own numbers"
OPEN = {planner.PARAMETERS[0].group}
MULTIPLES = (1, 1.5, 2, 4)


def main() -> None:
    """Draw the page."""
    st.title("Leases per second needed")
    _apply_preset_of_the_address()
    titles = {OWN: OWN} | {name: preset.title for name, preset in planner.PRESETS.items()}
    with state.reserved(state.FIELD_PIXELS):
        chosen = state.choose_one("Start from", "preset", titles, on_change=_apply_preset)
    if chosen in planner.PRESETS:
        st.caption(words.plain(planner.PRESETS[chosen].source))
    inputs_column, result_column = st.columns([2, 3], gap="large")
    with inputs_column:
        inputs = _ask_all()
    with result_column:
        calculator = _calculator()
        try:
            needed = planner.lps_needed(calculator, inputs)
        except ValueError as error:
            st.error(words.plain(error))
            return
        _show_totals(needed)
        if needed["needed_lps"] <= 0:
            st.info("Say how many clients there are, or how many come, to see who can serve them.")
            return
        _show_parts(needed, inputs)
        _show_influences(calculator, inputs, needed["needed_lps"])
    _show_course(inputs, needed)
    _show_configurations(needed["needed_lps"], inputs["ip_version"])


@st.cache_resource(show_spinner=False)
def _calculator() -> duckdb.DuckDBPyConnection:
    return planner.blank()


def _apply_preset() -> None:
    preset = planner.PRESETS.get(st.session_state["preset"])
    if preset is not None:
        for parameter in planner.PARAMETERS:
            value = preset.inputs.get(parameter.name, parameter.default)
            st.session_state[parameter.name] = _typed(parameter, value)


def _apply_preset_of_the_address() -> None:
    asked = st.query_params.get("preset", "")
    values = next((preset.inputs for preset in planner.PRESETS.values() if preset.title == asked), {})
    for parameter in planner.PARAMETERS:
        name = parameter.name
        if name in values and name not in st.session_state and name not in st.query_params:
            st.session_state[name] = _typed(parameter, values[name])


def _typed(parameter: planner.Parameter, value: float) -> float:
    return float(value) if parameter.unit in {"ratio", "moves"} else int(value)


def _ask_all() -> dict[str, float]:
    """Ask for all inputs, group by group; a group in which nothing differs from its default is closed."""
    inputs: dict[str, float] = {}
    for group, parameters in groupby(planner.PARAMETERS, lambda parameter: parameter.group):
        members = list(parameters)
        differs = any(
            each.name in st.query_params or st.session_state.get(each.name, each.default) != each.default
            for each in members
        )
        with st.expander(group, expanded=group in OPEN or differs):
            for each in members:
                inputs[each.name] = _ask(each)
                if each.name in SUGGESTED:
                    _suggest(each.name, inputs["ip_version"])
    return inputs


def _suggest(name: str, ip_version: float) -> None:
    """Offer what was measured for an input as its value."""
    measured, in_words, short, meaning = SUGGESTED[name]
    try:
        warehouse = state.open_warehouse()
    except WarehouseError:
        return
    found = measured(warehouse, f"DHCPv{ip_version:.0f}").to_pylist()
    if not found:
        return
    key = f"measured-{short}-{ip_version:.0f}"
    st.selectbox(
        "Take a measured ratio",
        range(len(found)),
        index=None,
        format_func=lambda place: in_words(found[place]),
        key=key,
        on_change=lambda: _take(name, found, key),
        placeholder="choose a pair of set-ups",
        help=f"{meaning}, of two set-ups that differ in nothing else. The value goes into the field above, where it "
        "can be changed.",
    )


def _take(name: str, found: list[dict[str, Any]], key: str) -> None:
    place = st.session_state[key]
    if place is not None:
        parameter = planner.BY_NAME[name]
        st.session_state[name] = round(min(max(found[place]["ratio"], parameter.minimum), parameter.maximum), 3)


def _ha_in_words(pair: dict[str, Any]) -> str:
    what = frames.set_up(pair["backend"], pair["threading"], pair["threads"], pair["ha_mode"])
    interval = f" ({words.factor_interval(pair['ci_low'], pair['ci_high'])})" if words.is_known(pair["ci_low"]) else ""
    counts = words.numbers(pair["runs_without_ha"], pair["runs_with_ha"])
    version = f"{pair['product']} {pair['product_version'] or ''}".strip()
    return " ".join(
        filter(
            None, [f"{pair['ratio']:.3f}{interval}:", what, counts, f"{version}, {pair['origin']}, {pair['campaign']}"]
        )
    )


def _renewal_in_words(pair: dict[str, Any]) -> str:
    what = frames.set_up(pair["backend"], pair["threading"], pair["threads"], pair["ha_mode"])
    version = f"{pair['product']} {pair['product_version'] or ''}".strip()
    return (
        f"{pair['ratio']:.3f}: {what}, {words.number(pair['lps_without'])} LPS, "
        f"{words.number(pair['lps_with'])} beside {words.number(pair['renewals_per_s'])} renewals/s, "
        f"{version}, {pair['campaign']}"
    )


# For an input: what was measured of it, in words, the short name of its field, and what the ratio is.
SUGGESTED: Final[dict[str, tuple[Callable[..., pa.Table], Callable[[dict[str, Any]], str], str, str]]] = {
    "ha_ratio": (ha_ratios, _ha_in_words, "ha", "LPS with HA over LPS without"),
    "renewal_cost_ratio": (renewal_costs, _renewal_in_words, "renewal", "Cost of a renewal over that of a new lease"),
}


def _ask(parameter: planner.Parameter) -> float:
    if parameter.unit == "version":
        return st.segmented_control(
            parameter.label,
            [4, 6],
            default=int(parameter.default),
            required=True,
            key=parameter.name,
            help=parameter.help,
            bind="query-params",
        )
    whole = isinstance(_typed(parameter, 0), int)
    unit = {"s": " (seconds)", "ratio": " (0 to 1)" if parameter.maximum <= 1 else ""}.get(parameter.unit, "")
    return st.number_input(
        f"{parameter.label}{unit}",
        min_value=_typed(parameter, parameter.minimum),
        max_value=_typed(parameter, parameter.maximum),
        value=_typed(parameter, parameter.default),
        step=1 if whole else 0.05,
        format="%d" if whole else "%.3f",
        key=parameter.name,
        help=parameter.help,
        bind="query-params",
    )


def _show_totals(needed: Mapping[str, float]) -> None:
    with state.reserved(state.METRICS_PIXELS, horizontal=True):
        st.metric("LPS needed", words.number(needed["needed_lps"]), border=True, help="Peak, with the allowances.")
        st.metric("Steady", words.number(needed["steady_lps"]), border=True, help="Renewals and new leases.")
        st.metric("Peak", words.number(needed["peak_lps"]), border=True, help="The busiest minute.")
        st.metric("Messages per second", words.number(needed["peak_messages_per_s"]), border=True, help=MESSAGES)


def _show_parts(needed: Mapping[str, float], inputs: Mapping[str, float]) -> None:
    parts = pd.DataFrame(
        [
            (label, needed[name], formula)
            for name in planner.PARTS
            if needed[name]
            for label, formula in [planner.LOADS[name]]
        ],
        columns=["component", "lps", "formula"],
    )
    extra = needed["needed_lps"] - needed["peak_lps"]
    if extra:
        factors = " x ".join(f"{inputs[each]:g}" for each in ("relay_ratio", "ha_ratio", "utilisation_ratio"))
        formula = f"peak / ({factors}) - peak: relay, HA, utilisation"
        parts.loc[len(parts)] = ["Allowances", extra, formula]
    state.chart(load.parts(parts, needed["needed_lps"]), "parts", [planner.sql(inputs)])
    total = pd.DataFrame([{"component": "Needed", "lps": needed["needed_lps"], "formula": "sum of the above"}])
    table = pd.concat([parts, total], ignore_index=True)
    state.table(
        table.rename(columns={"component": "Component", "lps": "LPS", "formula": "Computed as"}),
        alt="Components of the leases per second needed",
        bounds={"LPS": [""] * len(table)},
        key="components",
    )
    st.caption(
        f"Steady: {words.number(needed['needed_steady_lps'])} leases per second with the allowances, "
        f"{words.number(needed['steady_messages_per_s'])} messages per second. The server's queue should hold at most "
        f"{words.number(needed['useful_queue_requests'])} requests: in a longer one they grow stale."
    )


def _show_influences(calculator: duckdb.DuckDBPyConnection, inputs: Mapping[str, float], needed_lps: float) -> None:
    st.header("Which input matters most")
    rows = [
        (planner.BY_NAME[each.name].full_label, end, value, lps)
        for each in planner.influences(calculator, inputs)
        for end, value, lps in (
            (planner.ENDS[0], each.low_value, each.low_lps),
            (planner.ENDS[1], each.high_value, each.high_lps),
        )
    ]
    drawn = pd.DataFrame(rows, columns=list(influence.REQUIRED))
    state.chart(influence.tornado(drawn, needed_lps, planner.SWING), "influences", [planner.influences_sql(inputs)])


def _show_course(inputs: Mapping[str, float], needed: Mapping[str, float]) -> None:
    st.header("What comes after")
    typed = st.number_input(
        "Measured leases per second of your server",
        min_value=0.0,
        value=0.0,
        step=1.0,
        key="measured_lps",
        help="0: just what is needed. The relay, HA and utilisation ratios above reduce it.",
        bind="query-params",
    )
    setup = _choose_setup(inputs["ip_version"])
    measured, goodput = typed or (setup.lps if setup else needed["needed_lps"]), setup.goodput if setup else ()
    course = planner.course(inputs, needed, measured, goodput)
    told = [planner.course_in_words(course, measured), *planner.events_in_words(needed)]
    st.caption(words.plain("\n\n".join(told)))
    waits = course.waiting.max() >= 1
    if not waits and len(told) == 1:
        return
    drawn = recovery.points(course)
    asked = [f"-- Simulated from these loads, until the lease ends.\n{planner.sql(inputs)}"]
    left, right = st.columns(2)
    if waits:
        end = "Nobody is without a lease"
        if course.recovered_s is None:
            end = f"Not everybody has a lease after {planner.duration(course.edges[-1])}"
        elif course.recovered_s:
            end = f"All have a lease after {planner.duration(course.recovered_s)}"
        with left:
            state.chart(recovery.waiting(drawn, f"{end}; at most {course.waiting.max():,.0f} wait"), "waiting", asked)
    share = course.repeated.sum() / course.sent.sum()
    with right if waits else left:
        state.chart(recovery.requests(drawn, f"{100 * share:.0f} % of the requests are repetitions"), "requests", asked)
    if waits:
        _show_faster_servers(inputs, needed, measured, goodput)


def _choose_setup(ip_version: float) -> planner.Measured | None:
    """Offer the set-ups of which is known what they answer beyond their capacity."""
    try:
        warehouse = state.open_warehouse()
    except WarehouseError:
        return None
    found = goodputs(warehouse, f"DHCPv{ip_version:.0f}").to_pylist()
    if not found:
        return None
    place = st.selectbox(
        "Behave like",
        range(len(found)),
        index=None,
        format_func=lambda place: f"{found[place]['configuration']}, {found[place]['campaign']}",
        key=f"like-{ip_version:.0f}",
        placeholder="a server that answers as much as it can, whatever is asked",
        help="A measured set-up: its capacity, unless given above, and what it still answered when more was asked.",
    )
    return None if place is None else planner.Measured.of(found[place])


def _show_faster_servers(
    inputs: Mapping[str, float],
    needed: Mapping[str, float],
    measured_lps: float,
    goodput: tuple[tuple[float, float], ...],
) -> None:
    rows = []
    for multiple in MULTIPLES:
        found = planner.summed_up(planner.course(inputs, needed, multiple * measured_lps, goodput))
        rows.append(
            {
                "Measured LPS": multiple * measured_lps,
                "All have a lease after (s)": found["recovered_s"],
                "Most that wait": found["most_waiting_clients"],
                "Requests until the lease ends": found["requests"],
                "of them repeated": found["repeated_requests"],
            }
        )
    table = pd.DataFrame(rows)
    state.table(
        table,
        alt="What comes after the event with faster servers",
        bounds={name: [""] * len(table) for name in table.columns if name != "All have a lease after (s)"},
        key="faster",
        config={
            "All have a lease after (s)": st.column_config.NumberColumn(
                format="%,.0f", help="Empty: not before the lease ends."
            )
        },
    )


def _show_configurations(needed_lps: float, ip_version: float) -> None:
    st.header("Which configurations give that")
    try:
        warehouse = state.open_warehouse()
    except WarehouseError as error:
        st.info(words.plain(error), icon=":material/database_off:")
        return
    protocol = f"DHCPv{ip_version:.0f}"
    frame = frames.capacities(configurations(warehouse, needed_lps, protocol), queries.labels(warehouse))
    meets = frame["missing_lps"] == 0
    st.caption(
        f"{meets.sum()} of {len(frame)} known {protocol} configurations give {words.number(needed_lps)} leases "
        "per second. Head-room: the lower end of the 95 % interval or bracket, or a published figure, over the need. "
        "Probability: that one more run reaches the need, by Student's prediction from the spread of the runs; none "
        "where only a bracket is known. Laboratory figures are a maximum."
    )
    for name, part in {"Enough": frame[meets], "Too slow": frame[~meets]}.items():
        if len(part):
            st.markdown(f"**{name}** ({len(part)})")
            _show_headroom(part, f"{name}: configurations with their head-room")


def _show_headroom(frame: pd.DataFrame, alt: str) -> None:
    short = {"Short by": frame["missing_lps"]} if frame["missing_lps"].any() else {}
    state.table(
        pd.DataFrame(
            {
                "Configuration": frame["label"],
                "Head-room": frame["headroom_ratio"],
                **short,
                "Probability": 100 * frame["meeting_probability"],
                "LPS": frame["rate"],
                "Rate at the limit": frame["interval"],
                "Runs": frame["runs"],
                "Quality": frame["quality_shown"],
                "Findings": frame["findings_shown"],
                "Origin": frame["origin"],
            }
        ),
        alt=alt,
        bounds={"LPS": list(frame["figure_sign"])} | {name: [""] * len(frame) for name in short},
        key=alt.split(":")[0],
        config={
            "Head-room": st.column_config.NumberColumn(format="%.2f ×"),
            "Short by": st.column_config.NumberColumn(help="Leases per second that are missing."),
            "Probability": st.column_config.NumberColumn(format="%.1f %%"),
        },
    )


main()
