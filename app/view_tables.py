"""Tables for display: query results with labels, signs and text beside the numbers."""

import re
from collections.abc import Callable, Mapping, Sequence
from os.path import commonprefix
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dropline.app import wording

_ABBREVIATED = re.compile(r"\A(?:cpu|ha|nic)(?=_)")
_UNITS = re.compile(r"_(?:bytes|mbps|mhz)\Z")


def capacities(table: pa.Table, labels: Mapping[str, str]) -> pd.DataFrame:
    """Return capacities with display columns.

    These are `label` (unique), `row` (protocol, threading and HA as text), `sign` (of a bound, among figures of one
    kind), `figure_sign` and `shown` (the figure with this sign: the last step that passed is a lower bound), `interval`
    (the range of the rate at the limit), `about` (its best estimate), `quality_shown`, `status_shown` and
    `findings_shown`; `rate` comes from `rates`.
    """
    ends = "ci_low", "ci_high"
    rate = rates(table)
    signs = texts(table, wording.figure_sign, *wording.FIGURE_COLUMNS)
    return table.to_pandas().assign(
        label=texts(table, lambda each: labels.get(each, each), "configuration_id"),
        name=lambda frame: frame["configuration"],
        row=texts(table, set_up, "protocol", "threading", "threads", "ha_mode"),
        rate=rate.to_pandas(),
        sign=texts(table, wording.bound, "status", "qualifier"),
        figure_sign=signs,
        shown=[*map(wording.rate, rate.to_pylist(), signs)],
        interval=texts(table, wording.capacity_range, *wording.RANGE_COLUMNS),
        about=texts(
            table, lambda best, *ends: wording.about(best, *ends) if best else best, "rate_interpolated", *ends
        ),
        quality_shown=texts(table, wording.quality, "quality"),
        status_shown=texts(table, lambda each: wording.STATUSES.get(each, each), "status"),
        findings_shown=texts(table, wording.findings, "findings"),
    )


def rates(table: pa.Table) -> pa.ChunkedArray:
    """Return the rates of capacities; if there is only an upper bound, that bound, to be shown with the sign `<`."""
    return pc.coalesce(table["rate"], table["rate_at_most"])


def set_up(protocol: str | None, threading: str | None, threads: float | None, ha_mode: str | None) -> str:
    """Return protocol, threading and HA mode as one short text, e.g. `DHCPv4, multi x4, hot-standby`."""
    count = f" x{threads:.0f}" if wording.is_known(threads) and threading == "multi" else ""
    parts = [
        protocol if wording.is_known(protocol) else "protocol not stated",
        f"{threading}{count}" if wording.is_known(threading) else "",
        f"{ha_mode}" if wording.is_known(ha_mode) and ha_mode != "none" else "",
    ]
    return ", ".join(part for part in parts if part)


def short(labels: Mapping[str, str], chosen: Sequence[str]) -> dict[str, str]:
    """Return the labels of the chosen configurations without the words with which all begin or end."""
    split = [labels[each].split() for each in chosen]
    if len(split) < 2:
        return {each: labels[each] for each in chosen}
    ways = split, [words[::-1] for words in split]
    begin, end = (len(commonprefix(each)) for each in ways)  # noqa: RUF071 - of lists of words
    cut = [" ".join(each[begin : len(each) - end]) for each in split]
    # "64" out of "64 B frames" has lost its unit
    useful = all(cut) and len({*cut}) == len(cut) and not any(each.startswith("(") or each.isdecimal() for each in cut)
    return {each: text if useful else labels[each] for each, text in zip(chosen, cut, strict=True)}


def what_differs(found: pd.DataFrame, facts: pa.Table) -> str:
    """Return the fairness of a pair in sentences: the hardware, the compared factors, and other unfair differences.

    `found` is the answer to the query `compare_differences`, `facts` the one to `factors` for both.
    """
    rest = found[~found["is_asked"].astype(bool)]
    hardware = rest[rest["aspect"] == "hardware"]
    if len(hardware):
        unknown = (hardware["grade"] == "unknown").all()
        named = ", ".join(hardware["item"].map(in_words))
        machines = "The hardware of one side is not stated" if unknown else f"Other hardware ({named})"
    else:
        machines = "Same hardware" if any(facts["cpu_model"].to_pylist()) else "Hardware not stated"
    if "campaign" in set(rest["item"]):
        machines += "; another campaign"
    items = list(found.loc[found["is_factor"].astype(bool), "item"])
    names = [in_words(each) for each in items if each != "threads" or "threading" not in items]
    differ = "only the generator's options differ" if "options" in set(rest["item"]) else "no setting differs"
    if len(names) == 1:
        differ = f"only the {names[0]} differs"
    elif names:
        differ = f"{len(names)} settings differ at once ({', '.join(names)}), so the ratio shows no single effect"
    unfair = rest[(rest["grade"] == "unfair") & (rest["aspect"] != "hardware")]
    more = f" Not fair: {', '.join(unfair['item'].map(in_words))}." if len(unfair) else ""
    return f"{machines}; {differ}.{more}"


def in_words(item: str) -> str:
    """Return the name of a column of `configurations` as words."""
    return _UNITS.sub("", _ABBREVIATED.sub(lambda found: found[0].upper(), item)).replace("_", " ")


def differences(factors: pa.Table, labels: Mapping[str, str], chosen: Sequence[str]) -> pd.DataFrame:
    """Return a row per stated factor: `Factor`, `Differs` (≠ or empty), and a column per configuration."""
    by_id = {row["configuration_id"]: row for row in factors.to_pylist()}
    rows = []
    for name in factors.column_names:
        values = [by_id[each][name] for each in chosen]
        if name == "configuration_id" or all(value is None for value in values):
            continue
        texts = [wording.NOT_STATED if value is None else _fact(name, value) for value in values]
        differs = "≠" if len(set(texts)) > 1 else ""
        columns = {labels[each]: text for each, text in zip(chosen, texts, strict=True)}
        rows.append({"Factor": in_words(name), "Differs": differs} | columns)
    return pd.DataFrame(rows)


def _fact(name: str, value: object) -> str:
    if name == "memory_bytes" and isinstance(value, int):
        return f"{value / 2**30:.1f} GiB"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() else f"{value:g}"
    return str(value) or "none"


def bounded(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return pairs with `sign`; where a ramp ended too soon, `ratio` is the known end of the interval.

    The sign of a published ratio is that of its `ratio_qualifier`, if there is such a column.
    """
    open_sign = pairs["ci_low"].notna().map({True: "≥", False: ""}).mask(pairs["ci_high"].notna(), "≤")
    published = pairs.get("ratio_qualifier", pd.Series(index=pairs.index, dtype=str)).map(wording.BOUNDS).fillna("")
    return pairs.assign(
        sign=open_sign.mask(pairs["ratio"].notna(), published),
        ratio=pairs["ratio"].mask(published == "?").fillna(pairs["ci_high"]).fillna(pairs["ci_low"]),
    )


def texts(rows: pa.Table | pd.DataFrame, in_words: Callable[..., Any], *columns: str) -> list[Any]:
    """Return the results of a function of these columns, row by row; for text, an Arrow table is ten times as fast."""
    lists = (rows[name].to_pylist() if isinstance(rows, pa.Table) else rows[name] for name in columns)
    return [in_words(*each) for each in zip(*lists, strict=True)]
