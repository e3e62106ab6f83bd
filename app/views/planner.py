"""How many leases per second does a site need, and which configurations give them?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from app import frames, planner, queries, state, words
from app.charts import load
from app.warehouse import WarehouseError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

MESSAGES = "Two for a renewal, four for a new lease, and the repetitions of clients that wait."
OWN = "my own numbers"
UNITS = {"s": "seconds", "ratio": "0 to 1"}


def main() -> None:
    """Draw the page."""
    st.title("Leases per second needed")
    presets = {OWN: OWN} | {name: name for name in planner.PRESETS}
    _apply_preset_of_the_address()
    state.choose_one("Start from", "preset", presets, on_change=_apply_preset)
    inputs_column, result_column = st.columns([2, 3], gap="large")
    with inputs_column:
        inputs = {parameter.name: _ask(parameter) for parameter in planner.PARAMETERS}
    with result_column:
        needed = planner.lps_needed(_calculator(), inputs)
        _show_need(needed, inputs)
        _show_configurations(needed["needed_lps"], inputs["ip_version"])


@st.cache_resource(show_spinner=False)
def _calculator() -> duckdb.DuckDBPyConnection:
    return planner.blank()


def _apply_preset() -> None:
    values = planner.PRESETS.get(st.session_state["preset"])
    if values is not None:
        for parameter in planner.PARAMETERS:
            st.session_state[parameter.name] = _typed(parameter, values.get(parameter.name, parameter.default))


def _apply_preset_of_the_address() -> None:
    values = planner.PRESETS.get(st.query_params.get("preset", ""), {})
    for parameter in planner.PARAMETERS:
        name = parameter.name
        if name in values and name not in st.session_state and name not in st.query_params:
            st.session_state[name] = _typed(parameter, values[name])


def _typed(parameter: planner.Parameter, value: float) -> float:
    return float(value) if parameter.unit == "ratio" else int(value)


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
    unit = UNITS.get(parameter.unit)
    return st.number_input(
        f"{parameter.label} ({unit})" if unit else parameter.label,
        min_value=_typed(parameter, parameter.minimum),
        max_value=_typed(parameter, parameter.maximum),
        value=_typed(parameter, parameter.default),
        step=0.05 if parameter.unit == "ratio" else 1,
        key=parameter.name,
        help=parameter.help,
        bind="query-params",
    )


def _show_need(needed: Mapping[str, float], inputs: Mapping[str, float]) -> None:
    with st.container(horizontal=True):
        st.metric("LPS needed", words.number(needed["needed_lps"]), border=True, help="Peak, with the allowances.")
        st.metric("Steady", words.number(needed["steady_lps"]), border=True, help="Renewals and new clients.")
        st.metric("Peak", words.number(needed["peak_lps"]), border=True, help="With boot wave and recovery.")
        st.metric("Messages per second", words.number(needed["peak_messages_per_s"]), border=True, help=MESSAGES)
    parts = pd.DataFrame(
        [(label, needed[name], formula) for name in planner.PARTS for label, formula in [planner.LOADS[name]]],
        columns=["component", "lps", "formula"],
    )
    allowance = inputs["ha_ratio"] * inputs["utilisation_ratio"]
    if allowance != 1:
        extra = needed["needed_lps"] - needed["peak_lps"]
        formula = f"peak / ({inputs['ha_ratio']:g} HA x {inputs['utilisation_ratio']:g} utilisation) - peak"
        parts.loc[len(parts)] = ["Allowance for HA and utilisation", extra, formula]
    if needed["needed_lps"] > 0:
        state.chart(load.parts(parts, needed["needed_lps"]), "parts")
    total = pd.DataFrame([{"component": "Needed", "lps": needed["needed_lps"], "formula": "sum of the above"}])
    table = pd.concat([parts, total], ignore_index=True)
    state.table(
        table.rename(columns={"component": "Component", "lps": "LPS", "formula": "Computed as"}),
        alt="Components of the leases per second needed",
        bounds={"LPS": [""] * len(table)},
        key="components",
    )


def _show_configurations(needed_lps: float, ip_version: float) -> None:
    st.subheader("Which configurations give that")
    if needed_lps <= 0:
        st.info("Say how many clients there are, or how many come, to see who can serve them.")
        return
    try:
        warehouse = state.open_warehouse()
    except WarehouseError as error:
        st.info(words.plain(error), icon=":material/database_off:")
        return
    frame = frames.capacities(queries.headroom(warehouse, needed_lps), queries.labels(warehouse))
    protocol = f"DHCPv{ip_version:.0f}"
    frame = frame[frame["protocol"].fillna(protocol) == protocol]
    meets = frame["headroom_ratio"] >= 1
    st.caption(
        f"{meets.sum()} of {len(frame)} known {protocol} configurations give {words.number(needed_lps)} leases "
        "per second. Head-room: the lower end of the 95 % interval, or the figure where there is none, over the need. "
        "Laboratory figures are a maximum."
    )
    for name, part in {"Enough": frame[meets], "Too slow": frame[~meets]}.items():
        if len(part):
            st.markdown(f"**{name}** ({len(part)})")
            _show_headroom(part, f"{name}: configurations with their head-room")


def _show_headroom(frame: pd.DataFrame, alt: str) -> None:
    state.table(
        pd.DataFrame(
            {
                "Configuration": frame["label"],
                "Head-room": frame["headroom_ratio"],
                "LPS": frame["rate"],
                "95 % interval": frame["interval"],
                "Quality": frame["quality_shown"],
                "Findings": frame["findings_shown"],
                "Origin": frame["origin"],
            }
        ),
        alt=alt,
        bounds={"LPS": list(frame["sign"])},
        key=alt.split(":")[0],
        config={"Head-room": st.column_config.NumberColumn(format="%.2f ×")},
    )


main()
