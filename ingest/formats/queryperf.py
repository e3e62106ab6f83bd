"""The reader of queryperf's output, the load generator that came with BIND 9 (contrib/queryperf/queryperf.c).

Queries per second are completed queries by run time; with at most 20 queries under way by default (`-q`) it is a
closed loop that waits for the server.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats.text import count, marked, number
from dropline.ingest.formats.text_run import TextRun

if TYPE_CHECKING:
    from dropline.ingest.formats import Reject, Report

NAME = "queryperf"

_TITLE: Final = "DNS Query Performance Testing Tool"
_MARK: Final = re.compile(rf"(?:\A|[\r\n])[ \t]*{_TITLE}")
LINES: Final = re.compile(
    rf"(?:\A|[\r\n])[ \t]*(?:{_TITLE}|Statistics:[ \t]*(?=[\r\n]|\Z)|Queries sent:[ \t]+\d+ queries)"
)
CLUES: Final = (_TITLE, "Queries delayed(?):")
_FIGURE: Final = re.compile(
    r"([A-Z][\w ()?]{2,30}):\s+(\d{1,18}(?:\.\d{1,9})?)(?:%| (?:queries|sec|seconds|times|qps))"
)
_RCODE: Final = re.compile(r"Returned +([A-Z]+)")
_PROSE: Final = ("[Status]", "[Timeout]", "Statistics:", "Parse input file:", "Ended due to:", "Started at:")
_ESSENTIAL: Final = ("Queries sent", "Queries completed", "Queries lost", "Ran for")


class _Run(TextRun):
    tool = NAME
    expected = f"expected the output of queryperf, from `{_TITLE}` on"

    def __init__(self) -> None:
        super().__init__()
        self.figures: dict[str, str] = {}

    def begins_with(self, line: str) -> bool:
        return line == _TITLE

    def take(self, line: str) -> bool:
        if line.startswith("Version: $Id: queryperf.c,v "):
            self.facts["tool_version"] = line.split(" ")[3]
        elif match := _FIGURE.fullmatch(line):
            self.figures[match[1].strip()] = match[2]
        elif line.startswith("Finished at:"):
            self.details["outcome"] = "ended by itself"
        else:
            return line == _TITLE or line.startswith(_PROSE)
        return True

    def conclude(self) -> Report | Reject:
        if not self.figures.keys() >= set(_ESSENTIAL):
            return self.reject()
        sent, received, dropped = (count(self.figures[name]) for name in _ESSENTIAL[:3])
        self.facts |= {
            "sent": sent,
            "received": received,
            "dropped": dropped,
            "duration_s": number(self.figures["Ran for"]),
            "achieved_rate": number(self.figures.get("Queries per second")),
        }
        self.add_up()
        for name, printed in (("avg", "average"), ("min", "min"), ("max", "max"), ("stdev", "std deviation")):
            if received:
                self.observe(f"latency_{name}", number(self.figures.get(f"RTT {printed}"), 1000), "ms")
        for name, value in self.figures.items():
            if code := _RCODE.fullmatch(name):
                self.observe("responses", count(value), "responses", code[1])
        whole = self.facts["achieved_rate"] is not None
        if not whole:
            self.warnings.append("Report cut off: the queries per second at its end are missing.")
        return self.report(completed=whole)


sniff = marked(_MARK, _TITLE)
parse, explain = _Run.parse, _Run.explain
