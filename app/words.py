"""Figures and marks in words: the one wording for tables, charts and pages."""

from __future__ import annotations

import math
import re
from typing import Any, Final

NOT_STATED: Final = "not stated"

BOUNDS: Final = {
    "never_exceeded": "≥",
    "generator_limited": "≥",
    "exceeded_at_first_step": "<",
    "greater_than": ">",
    "at_least": "≥",
    "less_than": "<",
    "at_most": "≤",
    "approx": "≈",
}
STATUSES: Final = {
    "bracketed": "measured between two steps",
    "never_exceeded": "at least: no step lost more than the limit",
    "exceeded_at_first_step": "below: the first step already lost more than the limit",
    "generator_limited": "at least: the generator could not offer more",
    "published": "as published",
}
QUALITIES: Final = {"ok": "✓ ok", "warn": "⚠ warning", "suspect": "✖ suspect"}

_UP: Final = {"≥", ">"}
_DOWN: Final = {"≤", "<"}
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:<>])")


def is_known(value: Any) -> bool:
    """Say whether a cell holds something: neither None nor NaN."""
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def number(value: float) -> str:
    """Return a rate as people read it: thousands in groups, three digits below ten."""
    return f"{value:,.0f}" if abs(value) >= 10 or value == 0 else f"{value:.3g}"


def bound(status: str | None, qualifier: str | None = None) -> str:
    """Return the sign that belongs before a capacity: ≥, >, ≤, <, ≈ or nothing."""
    return BOUNDS.get(status or "", "") or BOUNDS.get(qualifier or "", "")


def rate(value: float | None, sign: str = "") -> str:
    """Return a capacity with the sign of `bound`, e.g. `≥ 12,000`; a dash where there is none."""
    return f"{sign} {number(value)}".strip() if value is not None and is_known(value) else "-"


def interval(low: float | None, high: float | None) -> str:
    """Return a 95 % confidence interval; a dash without repetitions."""
    return f"{number(low)} to {number(high)}" if low is not None and high is not None and is_known(low) else "-"


def factor_interval(low: float | None, high: float | None) -> str:
    """Return the 95 % confidence interval of a ratio; a dash without repetitions."""
    return f"{low:.3g} to {high:.3g}" if low is not None and high is not None and is_known(low) else "-"


def count(value: float | None) -> str:
    """Return a whole number, or `?` where nobody said it."""
    return f"{value:.0f}" if value is not None and is_known(value) else "?"


def numbers(one: float | None, other: float | None) -> str:
    """Return the numbers of runs behind a ratio, e.g. `(n 9 / 9)`; nothing where neither is known."""
    return f"(n {count(one)} / {count(other)})" if is_known(one) or is_known(other) else ""


def ratio(upper: float | None, lower: float | None, upper_sign: str = "", lower_sign: str = "") -> str:
    """Return upper over lower, e.g. `≥ 1.62 ×`; `?` where both are bounds that pull apart nothing."""
    if not (is_known(upper) and is_known(lower)) or not upper or not lower:
        return "-"
    up, down = upper_sign in _UP or lower_sign in _DOWN, upper_sign in _DOWN or lower_sign in _UP
    if up and down:
        return "?"
    sign = "≥ " if up else "≤ " if down else "≈ " if "≈" in (upper_sign, lower_sign) else ""
    return f"{sign}{upper / lower:.3g} ×"


def quality(mark: str | None) -> str:
    """Return a quality mark with its icon."""
    return QUALITIES.get(mark or "", mark or NOT_STATED)


def findings(names: Any) -> str:
    """Return the names of findings as a sentence part."""
    return ", ".join(str(name).replace("_", " ") for name in names) if is_known(names) else ""


def loss_goal(name: str, limit: float | None, basis: str | None) -> str:
    """Return a loss goal in words, e.g. `isc: 2.5 % of the worst exchange`."""
    if limit is None or not is_known(limit):
        return "no limit named" if name == "unstated" else f"{name}: no limit named"
    of = {"worst_exchange": "of any exchange", "lease": "of whole leases", "packet": "of all packets"}
    return f"{name}: {100 * limit:g} % {of.get(basis or '', '')}".strip()


def plain(text: Any) -> str:
    """Return text from a file so that Markdown shows it as it is."""
    return _MARKDOWN.sub(r"\\\1", " ".join(str(text).split()))
