"""The report that nearly every file of perfdhcp holds: of one process, whole, without `-x`. It is read by sections.

That takes a third of the time that its lines take one by one. Whatever differs from the patterns here in a single
letter is left to the reader of lines, which gives the same trial for these reports, and knows all others.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from ingest.formats.perfdhcp_lines import COUNTERS, DELAY_KEYS, INTERIM, START, take_rate
from ingest.formats.perfdhcp_trial import PLACES, Counters, Stage, Trial

if TYPE_CHECKING:
    from ingest.formats import Row

_LARGEST: Final = 1024 * 1024  # bytes: a longer one is not held in pieces beside the whole
_COUNT: Final = r"(\d{1,18})"
_HEAD: Final = re.compile(
    rf"(?={START})Running: ([ -~]*[!-~])\nScenario: (basic)\.\n(?:Multi-thread mode enabled\.\n)?"
)
_SUMMARY: Final = "***Rate statistics***\n"
_RATE: Final = re.compile(
    rf"{re.escape(_SUMMARY)}Rate: ([ -~]*[!-~])\n\n\*\*\*Malformed Packets\*\*\*\nMalformed packets: {_COUNT}\n",
    re.ASCII,
)
_RATIO: Final = r"drops ratio: (?P<drop_ratio_printed>\d{1,9}(?:\.\d{1,9})?(?:e-\d\d)?) %\n"  # follows the drops
_EXCHANGE: Final = re.compile(
    r"\*\*\*Statistics for: (?P<exchange>[^*\n]+)\*\*\*\n"
    + "".join(rf"{key}: (?P<{name}>\d{{1,18}})\n" + _RATIO * (name == "drops") for key, name in COUNTERS.items())
    + "\n"
    + "".join(rf"{key}: (?P<{name}>\d{{1,9}}\.\d{{1,9}}) ms\n" for key, name in DELAY_KEYS.items())
    + r"collected packets: (?P<collected>\d{1,18})\n\n*",
    re.ASCII,
)


def read_whole(text: bytes) -> Trial | None:
    """Return the trial of a text that is such a report to the letter; None for any other text."""
    if len(text) > _LARGEST or not text.isascii():
        return None
    report = text.decode()
    head, summary = _HEAD.match(report), report.find(_SUMMARY)
    rate = _RATE.match(report, summary) if summary > 0 else None
    if not head or not rate or report.count(START) > 1:
        return None
    trial = Trial(command=head[1], scenario=head[2], stage=Stage.STATISTICS, malformed=int(rate[2]))
    interims, exchanges = _interims(report[head.end() : summary]), _exchanges(report, rate.end())
    if interims is None or not exchanges or not take_rate(trial, rate[1]):
        return None
    trial.interims, trial.exchanges = interims, exchanges
    return trial


def _interims(load: str) -> list[Counters] | None:
    """Return the counters of interim lines that are alike and never fall; None where anything else stands."""
    if not load:
        return []
    kinds = load.partition("\n")[0].split(";")
    width = kinds[0].count("/") + 1
    if len(kinds) not in {3, 4} or width > len(PLACES) // 2 or not load.endswith("\n"):
        return None
    rows = [[*map(int, counts)] for counts in _like(width, len(kinds)).findall(load)]
    first = [row[0] for row in rows]
    if len(rows) != load.count("\n") or first != sorted(first):
        return None
    return [Counters(r[:width], r[width : 2 * width], r[2 * width : 3 * width], r[3 * width :] or None) for r in rows]


@cache
def _like(width: int, kinds: int) -> re.Pattern[str]:
    """Return the pattern of interim lines with so many exchanges and kinds of counters."""
    counts = "/".join([_COUNT] * width)
    return re.compile("^" + "; ".join(f"{kind}: {counts}" for kind in INTERIM[:kinds]) + "$", re.ASCII | re.MULTILINE)


def _exchanges(report: str, begin: int) -> list[Row]:
    """Return the statistics that stand from `begin` to the end; none where anything else stands, or another order."""
    rows: list[Row] = []
    position = -1
    while begin < len(report):
        found = _EXCHANGE.match(report, begin)
        _, place = PLACES.get(found["exchange"], ("", -1)) if found else ("", -1)
        if not found or place <= position:
            return []
        begin, position = found.end(), place
        said = found.groupdict()
        rows.append(
            said
            | {name: int(said[name]) for name in (*COUNTERS.values(), "collected")}
            | {name: float(said[name]) for name in DELAY_KEYS.values()}
            | {"position": position, "drop_ratio": float(said["drop_ratio_printed"]) / 100}
        )
    return rows
