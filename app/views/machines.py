"""Page Machines: which hardware and server configurations were measured, and how do two differ?"""

from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from dropline.app import queries, view_tables, widgets, wording
from dropline.app.warehouse import Warehouse


class Kind(NamedTuple):
    """Hosts or server configurations, which the page shows in the same way."""

    word: str
    key: str  # of the choice, of the table of all, and of the text if there is none
    leaves: str  # query that returns every fact


HOST = Kind("host", "host", "machines_leaves_of_hosts")
SERVER = Kind("server configuration", "server_config", "machines_leaves_of_server_configurations")
NAMES = widgets.headings("host_id-list") | {"cpu_vendor": "Processor vendor", "nic_driver": "Network driver"}
NAMES |= {"os_name": "System", "os_version": "Version"}
UNITS = {"cpu_mhz": (1, "MHz"), "memory_bytes": (2**30, "GiB"), "nic_speed_mbps": (1, "Mbit/s")}


def main() -> None:
    """Draw the page."""
    st.title("Machines")
    warehouse = widgets.warehouse_or_stop()
    widgets.show_tabs({"Hosts": partial(_hosts, warehouse), "Server configurations": partial(_servers, warehouse)})


def _answer(rows: pd.DataFrame) -> str:
    """Return a summary of the measured machines."""
    measured = rows[rows["origin"] == "measured"]
    own = measured[measured["runs"] > 0] if measured["runs"].any() else measured  # else also the generators' machines
    beside = f" Published sources describe {len(rows) - len(measured)} more." if len(rows) > len(measured) else ""
    kinds = {*own["described"]}
    if not kinds:
        return wording.CAPTIONS["no_host"]
    if len(kinds) > 1:
        return f"You measured on {len(kinds)} kinds of machines: compare figures only within one kind.{beside}"
    return f"You measured on {wording.plain(kinds.pop())}.{beside}"


def _hosts(warehouse: Warehouse) -> None:
    rows = queries.ask(warehouse, "machines_hosts").to_pandas()
    st.markdown(f"**{_answer(rows)}**")
    systems = [" ".join(filter(wording.is_known, each)) for each in rows[["os_name", "os_version"]].values.tolist()]
    _show(warehouse, HOST, rows, rows.assign(memory_bytes=rows["memory_bytes"] / 2**30, system=systems))


def _servers(warehouse: Warehouse) -> None:
    rows = queries.ask(warehouse, "machines_server_configurations").to_pandas()
    _show(warehouse, SERVER, rows, rows)


def _show(warehouse: Warehouse, kind: Kind, rows: pd.DataFrame, listed: pd.DataFrame) -> None:
    if rows.empty:
        st.info(wording.CAPTIONS[f"no_{kind.key}"])
        return
    widgets.declared(f"{kind.key}_id-list", listed)
    labels = dict(zip(rows[f"{kind.key}_id"], rows["label"], strict=True))
    left, right = st.columns(2)
    one, other = kind.key, f"{kind.key}_b"
    with left:
        a = widgets.choose_one(kind.word.capitalize(), one, widgets.narrowed(f"{kind.word}s", one, labels))
    with right:
        others = {each: text for each, text in labels.items() if each != a}
        none = {"": f"no other {kind.word}"}
        b = widgets.choose_one("Compare with", other, none | widgets.narrowed(f"other {kind.word}s", other, others))
    if a is None:
        return
    facts = queries.ask(warehouse, "machines_compared", {"leaves": kind.leaves}, a=a, b=b or None).to_pandas()
    if b:
        _show_differences(facts, labels[a], labels[b])
    else:
        _show_facts(facts, labels[a])


def _show_facts(facts: pd.DataFrame, label: str) -> None:
    st.header(wording.plain(label))
    st.caption(f"{len(facts):,} facts")
    items = view_tables.texts(facts, _named, "aspect", "item")
    named = facts.assign(item=items, value=view_tables.texts(facts, _value, "item", "value_a"))
    widgets.declared("facts", named, {"name": label})


def _show_differences(facts: pd.DataFrame, a: str, b: str) -> None:
    st.header("What differs")
    differing = facts[facts["differs"]]
    st.text(_verdict(differing))
    one_sided = facts[facts["is_one_sided"]]
    if aspects := sorted(one_sided["aspect"].unique()):
        st.caption(wording.plain(f"{len(one_sided):,} facts are recorded for only one of them: {', '.join(aspects)}."))
    ranks = {grade: rank for rank, grade in enumerate(wording.ITEM_GRADES)}
    shown = differing.sort_values("grade", key=lambda grades: grades.map(ranks), kind="stable")
    if shown.empty:
        return
    absent = shown["may_be_absent"].map({True: "not set", False: wording.NOT_STATED})
    shown = shown.assign(absent=absent, grade=shown["grade"].map(wording.ITEM_GRADES))
    sides = {side: view_tables.texts(shown, _value, "item", side, "absent") for side in ("value_a", "value_b")}
    named = view_tables.texts(shown, _named, "aspect", "item")
    widgets.declared("differences", shown.assign(item=named, **sides), {"one": a, "other": b})
    st.caption(wording.CAPTIONS["grades"])


def _verdict(differing: pd.DataFrame) -> str:
    if differing.empty:
        return "Everything recorded for both is the same."
    grades = differing["grade"].value_counts()
    counted = [f"{grades[each]} {each}" for each in wording.ITEM_GRADES if each in grades]
    if ungraded := int(differing["grade"].isna().sum()):
        counted.append(f"{ungraded} without a grade")
    return f"They differ in {len(differing)} things: {', '.join(counted)}."


def _named(aspect: str, item: str) -> str:
    """Return the name of an item: for columns of `hosts` the heading of the page's table, for settings their own."""
    return NAMES.get(item, item.replace("_", " ").capitalize()) if aspect in ("hardware", "system") else item


def _value(item: str, value: Any, absent: str = wording.NOT_STATED) -> str:
    if not wording.is_known(value):
        return absent
    if item not in UNITS:
        return str(value)
    size, unit = UNITS[item]
    return f"{int(value) / size:,.1f} {unit}" if size > 1 else f"{float(value):,.9g} {unit}"


main()
