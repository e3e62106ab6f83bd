"""Wording of figures and verdicts, shared by tables, charts and pages."""

import math
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, TypeGuard, TypeVar

from dropline import beside

_T = TypeVar("_T")
NOT_STATED: Final = "not stated"

_TABLES: Final = beside.words(__file__)
BOUNDS: Final[dict[str, str]] = _TABLES["BOUNDS"]
STATUSES: Final[dict[str, str]] = _TABLES["STATUSES"]
CLAIM_VERDICTS: Final[dict[str, str]] = _TABLES["CLAIM_VERDICTS"]
SEVERITIES: Final[dict[str, str]] = _TABLES["SEVERITIES"]
ITEM_GRADES: Final[dict[str, str]] = _TABLES["ITEM_GRADES"]
VERDICTS: Final[dict[str, str]] = _TABLES["VERDICTS"]
SHORT_VERDICTS: Final[dict[str, str]] = _TABLES["SHORT_VERDICTS"]
RANGES: Final[dict[str, str]] = _TABLES["RANGES"]
RANGE_COLUMNS: Final = ("interval_kind", "ci_low", "ci_high", "last_passing_rate", "first_exceeding_rate")
FIGURE_COLUMNS: Final = ("rate", "status", "qualifier", "interval_kind", "ci_low")
FACTORS: Final[dict[str, str]] = _TABLES["FACTORS"]
SUBJECTS: Final[dict[str, str]] = _TABLES["SUBJECTS"]  # of sentences about a factor
FAIRNESS: Final[dict[str, str]] = _TABLES["FAIRNESS"]
REAL: Final[dict[str, str]] = _TABLES["REAL"]
QUALITIES: Final[dict[str, str]] = _TABLES["QUALITIES"]
BASES: Final[dict[str, str]] = _TABLES["BASES"]
GLOSSARY: Final[dict[str, str]] = _TABLES["GLOSSARY"]
BEGINNINGS: Final[dict[str, str]] = _TABLES["BEGINNINGS"]
LOSSES: Final[dict[str, str]] = _TABLES["LOSSES"]
ORDERS: Final[dict[bool, str]] = _TABLES["ORDERS"]
FILTERS: Final[dict[str, str]] = _TABLES["FILTERS"]
FACETS: Final[dict[str, str]] = _TABLES["FACETS"]
COMPARED: Final[dict[str, str]] = _TABLES["COMPARED"]
CAUSES: Final[dict[str, str]] = _TABLES["CAUSES"]
CHANGED: Final[dict[str, str]] = _TABLES["CHANGED"]
REPORTED: Final[dict[str, str]] = _TABLES["REPORTED"]
CAPTIONS: Final[dict[str, str]] = _TABLES["CAPTIONS"]
WATCHED: Final[dict[str, tuple[str, str]]] = {metric: tuple(entry) for metric, entry in _TABLES["WATCHED"].items()}

UP: Final = {"≥", ">"}
_DOWN: Final = {"≤", "<"}
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:<>])")


def is_known(value: _T | None) -> TypeGuard[_T]:
    """Return whether a cell holds a value: neither None nor NaN."""
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def known(value: Any) -> Any:
    """Return the value of a cell, or None if it is empty."""
    return value if is_known(value) else None


def number(value: float) -> str:
    """Format a rate: grouped thousands, three digits below ten.

    Measured figures look like this everywhere; estimates, such as the ends of an interval, go through `about` first.
    """
    return f"{value:,.0f}" if abs(value) >= 10 or value == 0 else f"{value:.3g}"


def lost(basis: str, units: Collection[str | None]) -> str:
    """Return the total of which a loss is a share, e.g. `worst exchange, % of sent`; only leases have exchanges."""
    return f"{BASES[basis]}, % of sent" if "leases/s" in units else "% of sent"


def bound(status: str | None, qualifier: str | None = None) -> str:
    """Return the sign before a capacity: ≥, >, ≤, <, ≈ or nothing."""
    return BOUNDS.get(status or "", "") or BOUNDS.get(qualifier or "", "")


def ends(figure: Any) -> tuple[float, float | None]:
    """Return the lowest and highest value of a row of `capacity`; None as highest if the range is open."""
    if not is_known(figure["ci_low"]):
        return figure["rate"], figure["rate"]
    return figure["ci_low"], figure["ci_high"] if is_known(figure["ci_high"]) else None


def rate(value: float | None, sign: str = "") -> str:
    """Return a capacity with the sign of `bound`, e.g. `≥ 12,000`; a dash if there is none."""
    if is_known(value) and sign in _DOWN and value >= 10:
        value = math.ceil(round(value, 6))  # `< 292` would be wrong for 292.5
    return f"{sign} {number(value)}".strip() if is_known(value) else "-"


def figure_sign(
    value: float | None, status: str | None, qualifier: str | None, kind: str | None, low: float | None
) -> str:
    """Return the sign before a single figure, from FIGURE_COLUMNS; use `bound` where all figures are of one kind.

    The last step that passed is a lower bound, unless the interval reaches below it or a run failed at its first step.
    """
    is_below = kind == "confidence" and is_known(value) and is_known(low) and low < value
    if is_below or (status == "bracketed" and low == 0):
        return "≈"
    return bound(status, qualifier) or ("≥" if status == "bracketed" else "")


def interval(low: float | None, high: float | None) -> str:
    """Return the range from low to high; `≥ low` if the upper end is open, a dash without a lower end."""
    if not is_known(low):
        return "-"
    return f"{number(low)} to {number(high)}" if is_known(high) else f"≥ {number(low)}"


def capacity_range(
    kind: str | None, low: float | None, high: float | None, passing: float | None, exceeding: float | None
) -> str:
    """Return the kind and the range of the rate at the loss limit, from RANGE_COLUMNS; a dash if unknown.

    Examples: `bracket 8,500 to 10,000 offered`, `95 % interval 12,240 to 13,760`, `limit not reached`; `runs disagree`
    if one run exceeded the limit at its first step and another never did. A bracket shows the offered rates of its
    steps, since `low` is goodput and may be below the figure; the ends of an interval are rounded by `about`.
    """
    offered = ""
    if kind == "bracket" and (known(passing) or is_known(exceeding)):  # without steps it is a throughput
        low, high, offered = passing, exceeding, " offered"
    if kind not in RANGES or not is_known(low):
        return "-"
    if not is_known(high):
        return "limit not reached" if low else "runs disagree"
    if kind == "confidence":
        low, high = about(low, low, high), about(high, low, high)
    return f"{RANGES[kind]} {interval(low, high) if low else f'below {number(high)}'}{offered}"


def about(value: float, low: float | None, high: float | None) -> float:
    """Round an estimate: drop digits finer than a twentieth of its range."""
    if not (is_known(low) and is_known(high)) or high <= low:
        return value
    return round(value, -math.floor(math.log10((high - low) / 20)))


def factor_interval(low: float | None, high: float | None) -> str:
    """Return the 95 % confidence interval of a ratio, `≤ 0.93` if it is open; a dash without repetitions."""
    ends = [factor(end) if is_known(end) else "" for end in (low, high)]
    return " to ".join(ends) if all(ends) else f"≥ {ends[0]}" if ends[0] else f"≤ {ends[1]}" if ends[1] else "-"


def change(ratio: float) -> str:
    """Return a ratio as text to put before the other's name: `8 % more than`, `2.4 times as much as`."""
    if ratio >= 2:
        return f"{factor(ratio)} times as much as"
    percent = number(100 * abs(ratio - 1))
    return "as much as" if abs(ratio - 1) < 0.0005 else f"{percent} % {'more' if ratio > 1 else 'less'} than"


def percent(ratio: float) -> str:
    """Return a ratio as a change: `+8 %`, `-10 %`, `× 2.4` from a factor of two on; a dash if there is none."""
    if not is_known(ratio):
        return "-"
    if abs(ratio - 1) < 0.0005:
        return "0 %"
    return f"× {factor(ratio)}" if ratio >= 2 else f"{100 * (ratio - 1):+.{0 if abs(ratio - 1) >= 0.1 else 1}f} %"


def change_interval(low: float | None, high: float | None) -> str:
    """Return the interval of a `change` in parentheses, e.g. ` (95 %: +5 to +11 %)`; empty if there is none."""
    if not (is_known(low) and is_known(high)):
        return ""
    if low >= 2:
        return f" (95 %: {factor(low)} to {factor(high)} times)"
    ends = [100 * (end - 1) for end in (low, high)]
    return " (95 %: {} to {} %)".format(*(f"{end:+,.0f}" if abs(end) >= 1 else f"{end:+.1g}" for end in ends))


def order(is_in_turn: bool | None) -> str | None:
    """Return the order in which the runs of a pair were measured, or None if unknown."""
    return None if is_in_turn is None else ORDERS[is_in_turn]


def drift(in_turn: Iterable[bool | None], variations: Iterable[float | None]) -> str:
    """Return a note on pairs not measured in turn and on the variation between campaigns; empty if neither applies."""
    known = zip(in_turn, variations, strict=True)
    pairs = [(order, 100 * variation if is_known(variation) else 0) for order, variation in known]
    notes, percents = [], [percent for _, percent in pairs if percent]
    if percents:
        span = " to ".join(sorted({f"{end:.2g}" for end in (min(percents), max(percents))}, key=float))
        notes.append(
            f"Campaigns of one series vary by {span} % more than their runs explain; the intervals allow for it."
        )
    order = [each for each, percent in pairs if each is not None and not percent]
    if not all(order):
        which = "All pairs were" if not any(order) else f"{order.count(False)} of {plural(len(order), 'pair')} were"
        which = "The pair was" if len(order) == 1 else which
        notes.append(f"{which} measured one after the other: drift of the machine may look like a difference.")
    return " ".join(notes)


def machines(differ_in: Iterable[Collection[str] | None]) -> str:
    """Return a note on pairs whose machines differ, from the differing items of each pair; empty if none differ."""
    pairs = [each if isinstance(each, Collection) else [] for each in differ_in]
    if not (items := sorted({item.replace("_", " ") for each in pairs for item in each})):
        return ""
    which = f"{sum(map(bool, pairs))} of {plural(len(pairs), 'pair')} were" if len(pairs) > 1 else "The pair was"
    return f"{which} measured on machines that differ ({', '.join(items)}), which may be the cause."


def doubts(pairs: Collection[Mapping[str, Any]]) -> str:
    """Return the notes on rows of `verdicts`: drift and different machines; empty if there are none."""
    order, variation, differences = (
        [each[column] for each in pairs] for column in ("is_in_turn", "series_variation", "machines_differ_in")
    )
    return " ".join(filter(None, (drift(order, variation), machines(differences))))


def widened(factors: Mapping[str, float | None]) -> str:
    """Return a note on the configurations (label -> widening) whose intervals were widened; empty if none were."""
    wider = [f"{label} ({factor(each)} times)" for label, each in factors.items() if is_known(each) and each > 1]
    reason = "Neighbouring runs, or runs of the same day, resemble each other"
    return f"{reason}, which widened the interval of {', '.join(wider)}." if wider else ""


def count(value: float | None) -> str:
    """Return a whole number, or `?` if unknown."""
    return f"{value:.0f}" if is_known(value) else "?"


def numbers(one: float | None, other: float | None) -> str:
    """Return both numbers of runs behind a ratio, e.g. `9 and 5`; empty if neither is known."""
    return f"{count(one)} and {count(other)}" if is_known(one) or is_known(other) else ""


def ratio(upper: float | None, lower: float | None, upper_sign: str = "", lower_sign: str = "") -> str:
    """Return the ratio of upper to lower, e.g. `≥ 1.62 ×`; `?` if their bounds leave it open."""
    if not (is_known(upper) and is_known(lower)) or not upper or not lower:
        return "-"
    up, down = upper_sign in UP or lower_sign in _DOWN, upper_sign in _DOWN or lower_sign in UP
    if up and down:
        return "?"
    sign = "≥ " if up else "≤ " if down else "≈ " if "≈" in (upper_sign, lower_sign) else ""
    return f"{sign}{factor(upper / lower)} ×"


def times(upper: float | None, lower: float | None, upper_sign: str = "", lower_sign: str = "") -> str:
    """Return the ratio as the start of a sentence, e.g. `At least 1.62 times`; empty if it is open."""
    sign, _, figure = ratio(upper, lower, upper_sign, lower_sign).removesuffix(" ×").rpartition(" ")
    if figure in ("-", "?"):
        return ""
    return " ".join(filter(None, [{"≥": "At least", "≤": "At most", "≈": "About"}.get(sign, ""), figure, "times"]))


def span(low: float, high: float) -> str:
    """Return a range of whole numbers, e.g. `5 to 9`, or `9` if both are equal."""
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def factor(value: float) -> str:
    """Format a ratio: three digits, never below 0.001 unless zero, never in scientific notation."""
    return f"{value:,.0f}" if value >= 999.5 else f"{max(value, 0.001) if value else 0:.3g}"


def run_label(run: Mapping[str, Any]) -> str:
    """Return the name of a run on pages and in URLs, from its row of `runs`."""
    number = f"Run {run['repetition']}" if run["repetition"] is not None else "Run"
    start = f"{run['started_at']:%Y-%m-%d %H:%M}" if run["started_at"] else None
    figure = f"{rate(run['rate'], bound(run['status']))} {run['rate_unit'] or ''}".strip()
    parts = number, start, figure if is_known(run["rate"]) else None, run["run_id"][:6]
    return " · ".join(part for part in parts if part)


def trial_label(trial: Mapping[str, Any]) -> str:
    """Return the name of a trial on pages and in URLs, from its row of `trials`."""
    offered, loss = trial["offered_rate"], trial["loss_worst_exchange"]
    load = f"{number(offered)} {trial['rate_unit'] or 'per second'}" if is_known(offered) else "No offered rate"
    return f"{load} · {f'{100 * loss:.3g} % lost' if is_known(loss) else 'loss unknown'} · {trial['trial_id'][:6]}"


def quality(mark: str | None) -> str:
    """Return a quality mark with its icon."""
    return QUALITIES.get(mark or "", mark or NOT_STATED)


def findings(names: Any) -> str:
    """Return the names of findings as words of a sentence."""
    return ", ".join(str(name).replace("_", " ") for name in names) if is_known(names) else ""


def series(label: str, runs: int, changes: int) -> str:
    """Return the name of a series of runs on the page Trends and in its URL."""
    counts = plural(runs, "run") + (f", {plural(changes, 'change')}" if changes else "")
    return f"{label} ({counts})"


def loss_goal(name: str, limit: float | None, basis: str | None) -> str:
    """Return a loss goal as text, e.g. `ISC (2.5 %)`; its basis is left out if it is the worst exchange."""
    name = name.upper() if len(name) <= 3 else name
    if not is_known(limit):
        return {"unstated": "no limit named", "throughput": name}.get(name, f"{name} (no limit named)")
    of = {"lease": " of whole leases", "packet": " of packets"}.get(basis or "", "")
    return f"{name} ({100 * limit:g} %{of})"


def watched(metric: str, unit: str | None, is_rate: bool) -> tuple[str, str]:
    """Return a metric's panel and its name in it, e.g. `UDP errors per second` and `receive buffer full`."""
    if metric in WATCHED:
        return WATCHED[metric]
    parts = [unit if is_known(unit) else "", "per second" if is_rate else ""]
    measure = " ".join(filter(None, parts))
    name = metric.replace("_", " ").replace(".", ": ")
    return (f"{name} ({measure})" if measure else name), ""


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: `1 run`, `2 runs`."""
    return f"{count:,} {noun}" + "s" * (count != 1)


def plain(text: Any) -> str:
    """Escape text so that Markdown shows it literally."""
    return _MARKDOWN.sub(r"\\\1", " ".join(str(text).split()))
