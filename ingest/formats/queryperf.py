"""Reader of the output of queryperf, the load generator that came with BIND 9 (contrib/queryperf/queryperf.c).

Queries per second are completed queries divided by run time; with at most 20 outstanding queries by default (`-q`), it
is a closed loop that waits for the server. With `-i` it also prints statistics of intervals, which are ignored.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from dropline.ingest.formats.text import count, marked, number
from dropline.ingest.formats.text_run import Result, TextRun, detail, fact, line_starts, rule_table, skip, store

NAME = "queryperf"

_TITLE: Final = "DNS Query Performance Testing Tool"
_STATISTICS: Final = r"Statistics:[ \t]*(?=[\r\n]|\Z)"
LINES: Final = re.compile(line_starts(_TITLE, _STATISTICS, r"Queries sent:[ \t]+\d+ queries"))
CLUES: Final = (_TITLE, "Queries delayed(?):")
_RCODE: Final = re.compile(r"Returned +([A-Z]+)")
_ESSENTIAL: Final = ("Queries sent", "Queries completed", "Queries lost", "Ran for")


@dataclass
class _Run(TextRun):
    tool = NAME
    expected = f"expected the output of queryperf, from `{_TITLE}` on"

    figures: dict[str, str] = field(default_factory=dict)
    of_interval: bool = False

    def begins_with(self, line: str) -> bool:
        return line == _TITLE or (line == "Statistics:" and bool(self.figures))

    def _figure(self, name: str, value: str) -> None:
        if not self.of_interval:
            self.figures[name.strip()] = value

    rules = rule_table(
        {
            r"Version: \$Id: queryperf\.c,v (\S+) .*": fact("tool_version"),
            r"([A-Z][\w ()?]{2,30}):\s+(\d{1,18}(?:\.\d{1,9})?)(?:%| (?:queries|sec|seconds|times|qps))": _figure,
            r"Total QPS/target:\s+[\d.]+/(\d{1,9}) qps": fact("offered_rate", float),
            r"(Intermediate )?Statistics:": store("of_interval", bool),
            r"\[Status\] Sending queries \(beginning with (\S+)\)": detail("target"),
            r"Started at:\s+(.*)": detail("started_at_local"),
            r"Finished at:.*": lambda run: run.details.update(outcome="ended by itself"),
            rf"{_TITLE}|(?:\[Status\]|\[Timeout\]|Parse input file:|Ended due to:|\(w/o? delayed qrys\):).*": skip,
        }
    )

    def conclude(self) -> Result:
        if not self.figures.keys() >= set(_ESSENTIAL):
            return self.reject()
        counts = (count(self.figures[name]) for name in _ESSENTIAL[:3])
        self.facts |= zip(("sent", "received", "dropped"), counts, strict=True)
        self.facts["duration_s"] = number(self.figures["Ran for"])
        self.facts["achieved_rate"] = number(self.figures.get("Queries per second"))
        self.add_up()
        for name, printed in (("avg", "average"), ("min", "min"), ("max", "max"), ("stdev", "std deviation")):
            if self.facts["received"]:
                self.observe(f"latency_{name}", number(self.figures.get(f"RTT {printed}"), 1000), "ms")
        for name, value in self.figures.items():
            if code := _RCODE.fullmatch(name):
                self.observe("responses", count(value), "responses", code[1])
        whole = self.facts["achieved_rate"] is not None
        if not whole:
            self.warnings.append("Report cut off: the queries per second at its end are missing.")
        return self.report(completed=whole)


sniff = marked(re.compile(line_starts(_TITLE, r"Queries delayed\(\?\):")), *CLUES)
parse, explain = _Run.parse, _Run.explain
