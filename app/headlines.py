"""Headlines of the home page: the fastest set-up, its lead and, if known, the reason."""

import decimal
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from dropline.app import wording

Row = dict[str, Any]
Compared = Callable[[str, list[str]], Mapping[str, Row]]
"""Function that returns the tested ratio of a configuration to each of the others, by id: `queries.compared`."""

WIDE: Final = 0.25  # half-width of an interval, as a share of the figure, beyond which the headline calls it wide
VAGUE: Final = 2  # ratio of an interval's ends beyond which both are given instead of a point estimate
_FRAMES: Final = re.compile("; ([^;]+ frames)")  # frame size in a method: frames/s mean nothing without it
MOST_ALIKE: Final = 12  # results of a kind; if there are more, only the newest of each set-up counts
MOST_CHANGED: Final = 3  # series with a changed level that are named
_ROUNDINGS: Final = {"≥": decimal.ROUND_FLOOR, "≤": decimal.ROUND_CEILING}
DECIDED: Final = ("faster", "slower", "probably faster", "probably slower")
# Columns that distinguish set-ups, in this order; _MORE is used only if names of _MAIN are ambiguous.
_MAIN: Final = ("product", "product_version", "backend", "threading", "ha_mode", "scenario")
_MORE: Final = ("testbed", "tool", "configuration", "method", "campaign")
_APART: Final = ("scenario", "product_version", "campaign", "testbed", "tool", "method")  # for pairs of equal name


def threads(threading: str | None, count: float | None) -> str:
    """Return a server's number of threads, e.g. `4 threads`; empty if unknown."""
    if wording.is_known(count) and count:
        return wording.plural(int(count), "thread")
    return {"single": "1 thread", "multi": "multi-threaded"}.get(threading or "", "")


def named(rows: Sequence[Row]) -> list[Row]:
    """Return the set-ups, each with a short unique `name` that leaves out what all of them share."""
    parts = [_parts(row) for row in rows]
    differing = [column for column in _MAIN if len({part[column] for part in parts}) > 1]
    differing = differing or [next((column for column in _MAIN if any(part[column] for part in parts)), _MAIN[0])]
    plainest = "no HA" if "ha_mode" in differing else ""
    shown = [", ".join(part[column] for column in (*differing, "frames") if part[column]) for part in parts]
    found = [text or plainest or part["product"] for text, part in zip(shown, parts, strict=True)]
    for column in _MORE:
        texts = [part[column] for part in parts]
        own = [text if not name else each for name, text, each in zip(found, texts, _own(found, texts), strict=True)]
        found = [", ".join(filter(None, each)) for each in zip(found, own, strict=True)]
    return [row | {"name": name} for row, name in zip(rows, unique(found), strict=True)]


def unique(found: Sequence[str], *apart: Sequence[str]) -> list[str]:
    """Return the names, made unique by the parts of `apart` in brackets and, where these are not enough, by numbers.

    Each of `apart` has one text per name, whose parts are separated by "; ".
    """
    for columns in apart:
        found = [f"{name} ({own})" if own else name for name, own in zip(found, _own(found, columns), strict=True)]
    seen: Counter[str] = Counter()
    unique = []
    for name in found:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def _own(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return each text without the parts (separated by "; ") that all texts of the same name share."""
    parts = [text.split("; ") for text in texts]
    shared: dict[str, set[str]] = {}
    for name, each in zip(names, parts, strict=True):
        shared[name] = shared.get(name, {*each}) & {*each}
    return ["; ".join(p for p in each if p not in shared[name]) for name, each in zip(names, parts, strict=True)]


def _parts(row: Row) -> dict[str, str]:
    part = {column: str(row[column]) if wording.is_known(row[column]) else "" for column in (*_MAIN, *_MORE)}
    part["frames"] = frames(row)
    shared = part["product"], part["product_version"], wording.known(row["protocol"]), part["backend"]
    known = " ".join(filter(None, shared))
    part["configuration"] = part["configuration"].removeprefix(known).removesuffix(part["frames"]).strip(" .")
    if not (part["product"] or part["backend"] or part["threading"]):  # only folder and file name distinguish them
        part |= {"product": part["configuration"], "scenario": ""}  # it includes the scenario
    return part | {"threading": threads(row["threading"], row["threads"]), "ha_mode": _ha(row)}


def frames(row: Row) -> str:
    """Return the frame size of a test in frames/s, e.g. `64 B frames`; empty for other tests."""
    return "".join(_FRAMES.findall(row["method"])) if wording.is_known(row["method"]) else ""


def _ha(row: Row) -> str:
    """Return the HA mode as text; empty for a single server or if unknown."""
    mode = wording.known(row["ha_mode"]) or "none"
    return {"none": "", "ha": "HA"}.get(mode, mode.replace("-", " "))


def fastest(rows: Sequence[Row]) -> Row | None:
    """Return the set-up with the highest capacity; ignore upper bounds, as the actual value may be far lower."""
    return max(filter(_holds, rows), key=lambda row: row["rate"], default=None)


def _holds(row: Row) -> bool:
    return wording.is_known(row["rate"]) and row["status"] != "exceeded_at_first_step"


def headline(best: Row, *, alone: bool) -> str:
    """Return the fastest set-up and its capacity, without a verb; if `alone`, the product is enough of a name."""
    name = f"{best['name']}, "
    shared = [str(each) for each in (best["product"], best["product_version"]) if wording.is_known(each)]
    for each in shared:
        name = name.removeprefix(f"{each}, ")
    product = " ".join(each for each in shared if each not in name)
    of = [product, wording.known(best["protocol"]), name.removesuffix(", ") if not alone or not product else None]
    return f"{', '.join(filter(None, of))}: {sustained(best)}"


def sustained(best: Row) -> str:
    """Return the capacity of a set-up, e.g. `at least 12,178 leases/s` or `9,000 queries/s at full load`."""
    words = {"≥": "at least ", ">": "more than ", "≤": "at most ", "≈": "about "}
    sign = words.get(wording.figure_sign(*[best[name] for name in wording.FIGURE_COLUMNS]), "")
    load = " at full load" if best["status"] == "saturated" else ""
    return f"{sign}{wording.rate(best['rate'])} {best['rate_unit']}{load}"


def certainty(best: Row) -> str:
    """Return the uncertainty of the figure: its range, and the reason if that is wide."""
    if best["origin"] == "published":
        return f"Published in {best['campaign']}."
    low, high, is_estimate = best["ci_low"], best["ci_high"], best["interval_kind"] == "confidence"
    runs = wording.plural(int(best["runs"] or 0), "run")
    if not wording.is_known(low):
        return f"From {runs}."
    if not wording.is_known(high):
        if best["status"] == "generator_limited":
            return f"The load stayed below the requested rate ({runs}): check whether the generator was the limit."
        if is_throughput(best):
            return f"Its limit was not reached ({runs}): offer more."
        return f"A ramp ended below the limit ({runs}): offer a higher rate to find it."
    reach = (high - low) / 2 / best["rate"]
    estimates = [wording.about(end, low, high) for end in (low, high)]
    steps = best["last_passing_rate"], best["first_exceeding_rate"]
    ends = [wording.number(end) for end in (estimates if is_estimate else steps)]
    how = f"{best['rate_unit']} (95 %, {runs})" if is_estimate else f"{best['rate_unit']} offered ({runs})"
    subject = "It is" if best["status"] == "saturated" else "The limit is reached"
    sentence = f"{subject} between {ends[0]} and {ends[1]} {how}."
    width = f", ± {100 * reach:.0f} %" if reach < 1 else ""
    return f"{sentence} That is wide{width}: the runs differ." if is_estimate and reach > WIDE else sentence


def changed_level(series: Row) -> str:
    """Return the last change of level of a series: `-5.8 % from run 21 of 30 (2026-11-20) on: Kea`."""
    place = f"run {series['last_place']} of {series['runs']}{series['last_day']}"
    change = f"{wording.percent(series['last_change'])} from {place} on"
    return f"{change}{', perhaps only another session' if series['last_is_other_session'] else ''}: {series['label']}"


def lead(best: Row, rows: Sequence[Row], compared: Compared) -> str:
    """Return the lead of the fastest over other thread counts, versions and backends on its testbed; empty if none.

    Of several set-ups with the same difference, the first of `rows` counts. Set-ups with only a lower bound are left
    out, as they may be faster.
    """
    mine = _parts(best)
    beside = [(row, _parts(row)) for row in rows if row is not best and _holds(row) and not _is_open(row)]
    near = [(row, part) for row, part in beside if _place(part) == _place(mine)]
    alike = [(row, {column for column in _MAIN if mine[column] != part[column]}) for row, part in near]
    others: dict[str, Row] = {}
    for other, differing in alike:
        if differing == {"threading"} and (count := threads(other["threading"], other["threads"])):
            several = count.replace("multi-threaded", "several threads")
            others.setdefault(f"as much as with {several}{_crowded(other)}", other)
    for other, differing in alike:
        if "product_version" in differing <= {"product", "product_version"}:
            known = filter(wording.is_known, (other["product"], other["product_version"]))
            others.setdefault(" ".join(map(str, known)) or "another version", other)
    for other, differing in alike:
        if differing == {"backend"} and wording.is_known(other["backend"]):
            others.setdefault(str(other["backend"]), other)
    name = "configuration_id"
    ratios = compared(best[name], [other[name] for other in others.values()]) if others else {}
    parts = list(filter(None, (_ahead(best, other, rival, ratios[other[name]]) for rival, other in others.items())))
    sentence = ", ".join(parts)
    if sentence[:1].isdecimal() and all(each["ratio"] for each in ratios.values()):
        return f"At the limit {sentence}."  # the bars may show another ratio
    return f"{sentence[0].upper()}{sentence[1:]}." if parts else ""


def _place(part: dict[str, str]) -> tuple[str, ...]:
    """Return where and with what a set-up was measured; a lead needs both to be equal."""
    return part["testbed"] or part["campaign"], part["tool"], part["frames"]


def _is_open(row: Row) -> bool:
    return wording.bound(row["status"], row["qualifier"]) in wording.UP


def _ahead(best: Row, other: Row, rival: str, tested: Row) -> str:
    if _is_open(best):
        low, high = wording.ends(best)[0], wording.ends(other)[1]
        bound = tested["ci_low"] or (low / high if high else 0)
        return f"at least {two_digits(bound, '≥')} times {rival}" if bound > 1 else ""
    least, most = tested["ci_low"], tested["ci_high"]
    ends = best["ci_low"], other["ci_high"], best["ci_high"], other["ci_low"]
    if least is None and all(map(wording.is_known, ends)):  # single runs: their brackets bound the ratio
        least, most = (ends[0] / ends[1], ends[2] / ends[3]) if all(ends) else (0.0, 0.0)
    if least == 0:
        return ""
    if least and most > VAGUE * least:  # a point estimate would claim too much
        return f"{two_digits(least)} to {two_digits(most)} times {rival}"
    if least and least < 1:
        return f"about as much as {rival.removeprefix('as much as ')}"
    return f"{two_digits(tested['ratio'] or best['rate'] / other['rate'])} times {rival}"


def ratio(times: float, verdict: str, sign: str = "") -> str:
    """Return a ratio with its verdict, e.g. `1.5 ×, faster`, `≤ 0.9 ×, slower`."""
    return f"{sign} {two_digits(times, sign)} ×, {wording.SHORT_VERDICTS.get(verdict, verdict)}".strip()


def two_digits(ratio: float, sign: str = "") -> str:
    """Return a ratio with two significant digits, three close to 1, or as a whole number from 10 on.

    A bound stays one: with ≥ it is rounded down, with ≤ up.
    """
    exact = decimal.Decimal(f"{ratio:.9g}")
    digits = 3 if decimal.Context(2).plus(exact) == 1 else max(2, exact.adjusted() + 1)
    rounded = decimal.Context(digits, _ROUNDINGS.get(sign)).plus(exact)
    return f"{rounded.normalize():,f}"


def _crowded(row: Row) -> str:
    """Return a note if there were more threads than CPUs."""
    cpus, count = row.get("cpus"), row["threads"]
    if wording.is_known(cpus) and wording.is_known(count) and count > cpus:
        return f" on {wording.plural(int(cpus), 'CPU')}"
    return ""


def none_holds(rows: Sequence[Row]) -> str:
    """Return that no set-up of a kind has a capacity."""
    outcome = "answers in all runs" if is_throughput(rows[0]) else "passes its first step"
    return f"{wording.known(rows[0]['protocol']) or rows[0]['rate_unit']}: no set-up {outcome}"


def is_throughput(row: Row) -> bool:
    """Return whether a capacity is that of a load without a set rate."""
    return row.get("loss_goal") == "throughput"


def at_first_step(rows: Sequence[Row]) -> str:
    """Return how many set-ups lost too much at their first step, with the most common cause; empty if none did."""
    failed = [row for row in rows if row["status"] == "exceeded_at_first_step"]
    if not failed:
        return ""
    if is_throughput(failed[0]):
        return f"{wording.plural(len(failed), 'set-up')} answered nothing as expected in some run."
    causes = Counter(cause for row in failed for cause in row["findings"] if cause in wording.CAUSES)
    why = wording.CAUSES[causes.most_common(1)[0][0]] if causes else "start the ramp lower"
    return f"{wording.plural(len(failed), 'set-up')} already lost too much at the first step: {why}."


def effect(pairs: pd.DataFrame, subject: str) -> str:
    """Return what threads or HA gain or cost over the pairs with a verdict; for the others what was seen.

    `pairs` have ratio, sign and verdict, as from `view_tables.bounded`; `what` is the subject, in the singular.
    """
    decided = pairs[pairs["verdict"].isin(DECIDED)]
    if decided.empty:
        known = pairs.dropna(subset="ratio")
        if known.empty:
            return f"{subject}: unknown, as ramps end below their limits"
        is_tested = pairs["verdict"].isin(["no evidence"]).any()
        return f"{subject}: {_times(known)}, {'no clear difference' if is_tested else 'not tested'}"
    low, high = decided["ratio"].min(), decided["ratio"].max()
    at_least = "at least " if decided["sign"].any() else ""
    if high < 1:
        loss = math.floor(100 * (1 - high) + 1e-9) / 100 if at_least else 1 - high
        cost = f"{at_least}{_percent(loss, loss if at_least else 1 - low)}" if loss else "part"
        sentence = f"{subject} costs {cost} of the rate"
    elif at_least and low > 1:
        sentence = f"{subject} brings at least {two_digits(low, '≥')} times the rate"
    else:
        sentence = f"{subject} brings {_times(decided)} the rate{': some gain, others lose' if low < 1 else ''}"
    every = len(pairs.dropna(subset="ratio"))
    return sentence if len(decided) == every else f"{sentence}, in {len(decided)} of {wording.plural(every, 'pair')}"


def _percent(low: float, high: float) -> str:
    ends = f"{100 * low:.0f}", f"{100 * high:.0f}"
    return f"{ends[0]} %" if ends[0] == ends[1] else f"{ends[0]} to {ends[1]} %"


def _times(pairs: pd.DataFrame) -> str:
    ends = pairs.loc[[pairs["ratio"].idxmin(), pairs["ratio"].idxmax()], ["ratio", "sign"]]
    texts = [f"{sign} {two_digits(ratio, sign)}".strip() for ratio, sign in ends.itertuples(index=False)]
    return f"{' to '.join(dict.fromkeys(texts))} times"


def changes(verdicts: Iterable[str], noun: str = "set-up") -> str:
    """Return how many set-ups changed between versions: `2 set-ups slower, 5 without a clear difference`."""
    counts = Counter(verdicts)
    counted = [(counts[verdict], text) for verdict, text in wording.CHANGED.items() if counts[verdict]]
    first = [f"{wording.plural(count, noun)} {text}" for count, text in counted[:1]]
    return ", ".join([*first, *(f"{count} {text}" for count, text in counted[1:])])


def figure(row: Row) -> str:
    """Return a bar's label: the figure, and marks for findings and for a single run."""
    sign = "<" if row["status"] == "exceeded_at_first_step" else ""
    alone = " · 1 run" if row["origin"] == "measured" and row["runs"] == 1 else ""
    return f"{wording.rate(row['rate'], sign)}{' ⚠' if row['quality'] in ('warn', 'suspect') else ''}{alone}"


def pair_names(pairs: Sequence[Row], factor: str) -> list[str]:
    """Return a unique name for each pair of a factor, without the parts that all pairs share.

    The name includes the `reference` of a pair unless all pairs have the same.
    """
    plain = ("product", *(() if factor == "ip_version" else ("protocol",)), "backend")
    columns = {name: [wording.known(pair[name]) or "" for pair in pairs] for name in plain}
    columns["ha_mode"] = [_ha(pair) for pair in pairs]
    columns["threading"] = [threads(pair["threading"], pair["threads"]) for pair in pairs]
    differing = [texts for texts in columns.values() if len({*texts}) > 1]
    own = columns.get(factor, columns["threading"])
    differences = zip(*(differing or [columns["backend"], own]), strict=True)
    found = [", ".join(filter(None, dict.fromkeys(texts))) or "one pair" for texts in differences]
    if len({pair.get("reference") for pair in pairs}) > 1:
        found = [f"{name} over {pair['reference']}" for name, pair in zip(found, pairs, strict=True)]
    return unique(found, *([wording.known(pair[name]) or "" for pair in pairs] for name in _APART))


def reasons(pairs: Sequence[Row], factor: str) -> str:
    """Return the known reasons: more threads than CPUs, and the campaigns' own descriptions."""
    crowded = {f"{int(pair['threads'])} threads ran{_crowded(pair)}" for pair in pairs if _crowded(pair)}
    why = [f"{', '.join(sorted(crowded))}."] if crowded and factor == "threading" else []
    if factor == "ha_mode":
        described = {str(pair["description"]) for pair in pairs if wording.is_known(pair["description"])}
        why += sorted(described) if len(described) == 1 else []
    return " ".join(why)
