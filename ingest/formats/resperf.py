"""Reader of the output and plot files of resperf (DNS-OARC, resperf(1)), which raises the rate until answers fail.

Its maximum throughput counts an answer in the bucket in which the query was sent, so that a queue within the time-out
counts as throughput. The duration is the printed run time, including the wait for late answers.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from dropline.ingest.formats.dnsperf import BLOCK, COUNTED, LOAD_OPTIONS, PerfRun, prints, shared_words
from dropline.ingest.formats.text import number, plural
from dropline.ingest.formats.text_run import Result, line_starts

NAME = "resperf"

_HEADS: Final = (
    r"DNS Resolution Performance Testing Tool|Usage: resperf \[|\[Status\] Command line: resperf "
    r"|# time target_qps actual_qps responses_per_sec"
)
_MAXIMUM: Final = r"Maximum throughput:[ \t]+\d[\d,]*\.\d+ qps"
_TITLES: Final = ("DNS Resolution Performance", "resperf", "# time target_qps ")
LINES: Final = re.compile(line_starts(_HEADS, _MAXIMUM, BLOCK))
CLUES: Final = (*_TITLES, "Maximum throughput:")
_PLOT: Final = "# time target_qps "
_ROW: Final = re.compile(r"\d{1,9}\.\d{3}(?: +\d{1,15}\.\d+){5,9}", re.ASCII)
# Column of the plot -> metric, unit, factor.
_COLUMNS: Final = {
    **{"target_qps": ("target_rate", "queries/s", 1), "actual_qps": ("send_rate", "queries/s", 1)},
    "responses_per_sec": ("response_rate", "queries/s", 1),
    "failures_per_sec": ("failure_rate", "queries/s", 1),
    "avg_latency": ("latency_avg", "ms", 1000),
    "connections": ("connection_rate", "connections/s", 1),
    "conn_avg_latency": ("connection_latency_avg", "ms", 1000),
}
# In a bucket in which this count is 0, the latency is printed as 0.
_COUNTED_BY: Final = {"avg_latency": "responses_per_sec", "conn_avg_latency": "connections"}


@dataclass
class _Run(PerfRun):
    tool = NAME
    title = "DNS Resolution Performance Testing Tool"
    flags = "eDvWhHR"
    expected = "expected the output of resperf, or its plot file (-P) from `# time` on"
    silence = (
        "resperf printed nothing: it keeps its output until the end, and loses it when it is interrupted",
        "let it run to the end; its results so far are in its plot file (-P)",
    )

    columns: tuple[str, ...] = ()
    rates: list[float] = field(default_factory=list)

    def begins_with(self, line: str) -> bool:
        if line.startswith(_PLOT):
            return bool(self.columns or self.values)
        if self.columns and (line == self.title or line.startswith("[Status] Command line:")):
            return True
        return super().begins_with(line)

    def take(self, line: str) -> bool:
        if line.startswith(_PLOT):
            self.columns = tuple(line.split()[1:])
            return True
        if not self.columns or not _ROW.fullmatch(line) or len(line.split()) != len(self.columns):
            return super().take(line)
        row = dict(zip(self.columns, map(float, line.split()), strict=True))
        self.rates.append(row.get("responses_per_sec", 0.0))
        for column, (metric, unit, scale) in _COLUMNS.items():
            if column in row and row.get(_COUNTED_BY.get(column, ""), 1):
                self.observe(metric, number(row[column], scale), unit, t_s=row["time"])
        return True

    def take_status(self, text: str) -> bool:
        if text.startswith(("Fell behind by", "Reached ")):
            self.details["ended_early"] = text
        return super().take_status(text)

    def conclude(self) -> Result:
        if self.has(*COUNTED, "Maximum throughput"):
            return self._report()
        if self.rates and self.facts["command"] is None and not self.error:
            plot = "This is the plot of a run (-P): the totals of sent and lost queries are in resperf's report."
            self.warnings.append(plot)
            self.facts["achieved_rate"] = max(self.rates)
            self._judge_plot()
            return self.report(completed=False)
        return self.reject()

    def _report(self) -> Result:
        self.settle()
        self.add_up()
        self.facts["achieved_rate"] = self.figure("Maximum throughput")
        if (reconnections := self.total("Reconnection(s)")) is not None:
            self.details["reconnections"] = reconnections
        lost = self.values.get(("total", "Lost at that point"))
        self.details["lost_at_that_point"] = lost[0] if lost else None
        self.observe("lost_at_maximum", number(lost[0]) if lost else None, "%")
        if lost is None:
            self.warnings.append("Report cut off: the loss at the maximum is missing.")
        if ended := self.details.get("ended_early"):
            self.warnings.append(f"The ramp ended early: {ended}.")
        self._options()
        self._judge_plot()
        return self.report(completed=lost is not None)

    def _options(self) -> None:
        if self.facts["command"] is None:
            self.warnings.append("There is no `Command line:`, so the options are not known.")
            return
        transport = self.options.get("M", ["udp"])[-1]
        clients = int(self.option("C", 1) or 1)
        outstanding, timeout_s = int(self.option("q", 65536) or 0), self.option("t", 45) or 0
        top, ramp_s = self.option("m", 100_000.0) or 0, self.option("r", 60.0) or 0
        constant_s, limit = self.option("c"), self.option("L", 100) or 100
        self.facts["clients"], self.facts["drop_time_s"] = clients, timeout_s
        if server := self.options.get("s"):
            self.details["target"] = ":".join([server[-1], *self.options.get("p", [])[-1:]])
        self.details |= {"transport": transport, "outstanding": outstanding, "ramp_to": top, "ramp_s": ramp_s}
        self.observe("outstanding_window", outstanding, "queries")
        words = [
            f"ramp to {top:.15g}/s in {plural(ramp_s, 's')}",
            *((f"then constant for {plural(constant_s, 's')}",) if constant_s else ()),
            transport,
            plural(clients, "client"),
            f"{outstanding} outstanding",
            f"time-out {plural(timeout_s, 's')}",
            f"buckets of {plural(self.option('i', 0.5) or 0.5, 's')}",
            *((f"at most {limit:.15g} % loss",) if limit < 100 else ()),
            *shared_words(self.options, {**LOAD_OPTIONS, "F": "at most {} behind"}),
        ]
        self.facts["method"] = "; ".join(words)

    def _judge_plot(self) -> None:
        if self.rates and not any(self.rates):
            self.warnings.append("No query was answered in any bucket: is the server up?")
        elif self.rates and max(self.rates) in self.rates[-2:]:
            self.warnings.append("The best bucket is one of the last two: the ramp ended first.")


sniff = prints(_HEADS, _TITLES, _MAXIMUM)
parse, explain = _Run.parse, _Run.explain
