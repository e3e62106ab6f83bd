"""Reader of dnstrace's output (redsift/dnstrace, dnstrace.go), whose table its fork dnspyre also prints.

Times are Go durations from a histogram with few digits, in which a minimum of 0s means the lowest bucket. Received
counts answers of any code; the success codes count only NOERROR.
"""

import re
from dataclasses import dataclass, field
from typing import ClassVar, Final

from dropline.ingest.formats.text import count, in_head, is_marked, number, plural
from dropline.ingest.formats.text_run import Result, TextRun, fail, line_starts, rule_table, skip, store

NAME = "dnstrace"

BENCHMARKING: Final = r"Benchmarking \S+ via [^\r\n]{1,40} with \d+ conn?current requests"
_OVERALL: Final = re.compile(r"(\d{1,15}) QPS(?: overall)?(?: and .*)?", re.ASCII)
_PER_WORKER: Final = re.compile(r"(?:.* and )?(\d{1,15}) QPS per concurrent worker", re.ASCII)
_DURATION: Final = re.compile(r"(?:(\d{1,9})h)?(?:(\d{1,9})m)?(\d{1,12}(?:\.\d{1,12})?)(ns|us|µs|μs|ms|s)", re.ASCII)
_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0}
_TIMINGS: Final = {"min": "min", "mean": "avg", "[+/-sd]": "stdev", "max": "max"}
_PERCENTILE: Final = re.compile(r"p\d{1,3}", re.ASCII)
_COUNTERS: Final = {
    "Total requests": "requests",
    "Connection errors": "connection_errors",
    "Read/Write errors": "io_errors",
    "ID mismatch errors": "id_mismatches",
    "DNS success codes": "noerror",
    "Expected results": "expected",
    "DNS success responses": "success",
    "DNS negative responses": "negative",
    "DNS error responses": "error",
    "Truncated responses": "truncated",
    "Total Errors": "errors",
    "Number of domains secured using DNSSEC": "dnssec_secured",
}
_KEPT: Final = ("connection_errors", "io_errors", "id_mismatches", "truncated", "expected", "dnssec_secured")
_LISTED: Final = {"DNS question types": "question_types", "DoH HTTP response status codes": "http_statuses"}
LINES: Final = re.compile(
    line_starts(*(BENCHMARKING, r"Total requests:\t \d+ of \d+ \(", "usage: dnstrace ", "dnstrace: error: "))
)
CLUES: Final = ("Benchmarking ", "Total requests:\t ", "dnstrace: error: ", "usage: dnstrace ")
_OF_DNSPYRE: Final = re.compile(line_starts(r"Using \d+ hostnames", "Total requests:\t\t"))


@dataclass
class TableRun(TextRun):
    """One process of dnstrace or dnspyre."""

    last_timing: ClassVar[str]  # the last row of the timings, without which the table is cut off

    counters: dict[str, int] = field(default_factory=dict)  # of the table, by our names
    wanted: int | None = None  # the requested number of queries
    sections: dict[str, dict[str, int]] = field(default_factory=dict)  # rows of the lists below the table, by list name
    section: str = ""
    datapoints: int = 0
    timings_ms: dict[str, float] = field(default_factory=dict)
    begun: bool = False
    finished: bool = False
    hostnames: int | None = None  # of dnspyre

    @property
    def over(self) -> bool:
        """Whether there is a table, usage or an error already, so that whatever follows is another process."""
        return "requests" in self.counters or self.usage or bool(self.error)

    def begins_with(self, line: str) -> bool:
        """Return whether `line` begins another table; progress may repeat the counters."""
        if line.startswith("Benchmarking "):
            return self.begun or self.over
        return self.finished and line.startswith("Total requests:")

    def _begin(self, target: str, transport: str, clients: str, limit: str | None) -> None:
        self.begun = True
        self.details |= {"target": target, "transport": transport}
        self.facts["clients"] = count(clients)
        if limit:
            self.details["limit"] = limit
            overall, each = _OVERALL.fullmatch(limit), _PER_WORKER.fullmatch(limit)
            rates = [number(overall[1]) or 0.0] if overall else []
            rates += [(number(each[1]) or 0.0) * (count(clients) or 0)] if each else []
            self.facts["offered_rate"] = min(rates, default=None)

    def _begin_section(self, name: str, datapoints: str | None) -> None:
        self.section = name
        if name == "DNS timings":
            self.datapoints = count(datapoints) or 0

    def _top_error(self, message: str, times: str) -> bool:
        if self.section == "Top errors":
            self.observe("errors", count(times), "errors", message[:200])
        return self.section == "Top errors"

    def _row(self, name: str, text: str) -> bool:
        if not self.section or not self.ended:
            return False
        if self.section == "DNS timings":
            metric = _TIMINGS.get(name) or (name if _PERCENTILE.fullmatch(name) else None)
            seconds = duration_s(text)
            if metric and seconds is not None:
                self.timings_ms[metric] = round(seconds * 1000, 9)
            return bool(metric) and seconds is not None
        if (value := count(text)) is not None:
            self.sections.setdefault(self.section, {})[name] = value
        return value is not None

    def _duration(self, text: str) -> bool:
        self.facts["duration_s"] = duration_s(text)
        return self.facts["duration_s"] is not None

    def _rate(self, text: str) -> bool:
        self.facts["achieved_rate"] = number(text)
        self.finished = self.facts["achieved_rate"] is not None and self.ended
        self.section = ""
        return self.finished

    def _counter(self, name: str, value: str, wanted: str | None) -> bool:
        if name in _COUNTERS:
            self.section = ""
            self.counters[_COUNTERS[name]] = count(value) or 0
            self.wanted = count(wanted) if wanted else self.wanted
        return name in _COUNTERS

    rules = rule_table(
        {
            r"dns(?:trace|pyre): error: (.*)": fail,
            r"\S+ +\|.*\| +\d+|LATENCY +\|.*|[+-]-+.*": lambda run: run.section == "DNS distribution",
            r"(\S{1,40}):\s+(\S.*)": _row,
            r"Benchmarking (\S+) via (.{1,40}) with (\d{1,9}) conn?current requests ?(?:\(limited to (.*)\))?": _begin,
            r"Cancelling benchmark.*": store("interrupted", lambda: True),
            r"(DNS response codes|DNS question types|DoH HTTP response status codes|DNS timings|DNS distribution"
            r"|Top errors)(?:, (\d{1,18}) datapoints|:)?": _begin_section,
            r"DNS distribution written to .*": skip,
            r"(.*)\t(\d{1,18}) \(-?[\d.]+\)%": _top_error,
            r"Time taken for tests:\s*(.*)": _duration,
            r"Questions per second:\s*(.*)": _rate,
            r"([^:]+):\s*(\d{1,18})(?: of (\d{1,18}) \(.*%\))?": _counter,
        }
    )

    def received(self) -> int:
        """Return how many requests were answered."""
        codes = self.sections.get("DNS response codes", {})
        return self.datapoints or sum(codes.values()) or self.counters.get("noerror", 0)

    def conclude(self) -> Result:
        """Return the report, or a reject."""
        if not self.finished or "requests" not in self.counters:
            return self.reject()
        sent, received = self.counters["requests"], self.received()
        if self.begun:
            clients = plural(self.facts["clients"] or 0, "concurrent request")
            names = [plural(self.hostnames, "hostname")] if self.hostnames is not None else []
            self.facts["method"] = "; ".join([self.details["transport"], clients, *names])
        if self.wanted is not None:
            self.details["requests_wanted"] = self.wanted
        # Without any answer there are no timings.
        whole = self.wanted in {None, sent} and (received == 0 or self.last_timing in self.timings_ms)
        self.facts |= {"sent": sent, "received": received, "dropped": max(sent - received, 0)}
        self.details |= {name: self.counters[name] for name in _KEPT if self.counters.get(name)}
        listed = {ours: self.sections.get(theirs) for theirs, ours in _LISTED.items()}
        self.details |= {name: counts for name, counts in listed.items() if counts}
        for code, answers in self.sections.get("DNS response codes", {}).items():
            self.observe("responses", answers, "responses", code)
        for metric, value in self.timings_ms.items() if received else ():
            self.observe(f"latency_{metric}", value, "ms")
        self._judge(sent, received, whole)
        answers = max(self.datapoints, sum(self.sections.get("DNS response codes", {}).values()))
        if answers > received:
            self.doubts.append(f"{answers} answers are described, {received} are counted: a line is damaged.")
        return self.report(completed=whole)

    def _judge(self, sent: int, received: int, whole: bool) -> None:
        printed = self.facts["achieved_rate"]
        if not whole:
            self.warnings.append("Report cut off or cancelled: it does not cover all requests.")
        if sent and received == 0:
            self.details["questions_per_second_printed"] = printed
            self.facts["achieved_rate"] = 0.0
            failed_only = f"The {printed} questions per second are failed requests, so the achieved rate is 0."
            self.warnings.append(f"No request was answered: is the server up? {failed_only}")
        elif failed := sent - received:
            self.warnings.append(f"The questions per second count {plural(failed, 'request')} without an answer.")
        codes = self.sections.get("DNS response codes", {})
        if received and codes.get("REFUSED") == received:
            self.warnings.append("Every answer is REFUSED: a query file of dnsperf (name and type) is read as names.")


def duration_s(text: str) -> float | None:
    """Parse a Go duration (`1m2.5s`, `238.76µs`) to seconds; return None if it is invalid."""
    if not (match := _DURATION.fullmatch(text)):
        return None
    hours, minutes = int(match[1] or 0), int(match[2] or 0)
    return round(hours * 3600 + minutes * 60 + float(match[3]) * _SECONDS[match[4]], 12)


class _Run(TableRun):
    tool = NAME
    usage_begins = ("usage: dnstrace ", "Usage: dnstrace ")
    last_timing = "max"
    expected = "expected the output of dnstrace, from `Benchmarking` on"


sniff = in_head(lambda text: is_marked(text, LINES, *CLUES) and not _OF_DNSPYRE.search(text))
parse, explain = _Run.parse, _Run.explain
