"""The reader of dnspyre's output (Tantalor93/dnspyre 3.x): its table and its --json.

It prints no version and no command; --json also leaves out the target, the transport and the
concurrency, and rounds latencies down to whole milliseconds.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats.dnstrace import BENCHMARKING, TableRun
from dropline.ingest.formats.json_documents import mapping
from dropline.ingest.formats.text import (
    HEAD_BYTES,
    MAX_TEXT_BYTES,
    count,
    head_text,
    json_object,
    marked,
    number,
    plural,
    unpack,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Reject, Report, Row

NAME = "dnspyre"

_MARK: Final = re.compile(
    r"(?:\A|[\r\n])[ \t]*(?:Using \d+ hostnames|Total requests:\t\t\d|usage: dnspyre "
    r'|dnspyre: error: |\{\s*"totalRequests": ?\d+,\s*"totalSuccessResponses":)'
)
_PRETTY: Final = re.compile(r'(?:\A|[\r\n])[ \t]*\{\s+"totalRequests":')
_PRETTY_REPORT: Final = re.compile(r'^\{\s+"totalRequests":.*?^\}', re.MULTILINE | re.DOTALL)
IN_JSON = (" hostnames", "Total requests:\t\t", "usage: dnspyre ", "dnspyre: error: ", '"totalRequests":')
LINES: Final = re.compile(rf"{_MARK.pattern}|(?:\A|[\r\n])[ \t]*{BENCHMARKING}")
CLUES: Final = IN_JSON
_HOSTNAMES: Final = re.compile(r"Using (\d{1,18}) hostnames", re.ASCII)
_PROGRESS: Final = re.compile(r"Progress:.*")
_JSON_COUNTERS: Final = {
    "totalRequests": "requests",
    "totalSuccessResponses": "success",
    "totalNegativeResponses": "negative",
    "totalErrorResponses": "error",
    "totalIOErrors": "io_errors",
    "totalIDmismatch": "id_mismatches",
    "totalTruncatedResponses": "truncated",
    "totalDNSSECSecuredDomains": "dnssec_secured",
}
_JSON_SECTIONS: Final = {
    "responseRcodes": "DNS response codes",
    "questionTypes": "DNS question types",
    "dohHTTPResponseStatusCodes": "DoH HTTP response status codes",
}
_JSON_LATENCIES: Final = {
    **{"minMs": "min", "meanMs": "avg", "stdMs": "stdev", "maxMs": "max"},
    **{f"p{n}Ms": f"p{n}" for n in (99, 95, 90, 75, 50)},
}


def parse(data: bytes, line: int = 1) -> Iterator[Report | Reject]:
    """Yield every report and a reject for every unusable part of `data`, in order; never raises for bad input.

    Received counts answers of any code; dropped counts requests without one. The achieved rate is as printed, which
    includes failed requests; it is 0 if no request was answered.
    """
    return _Run.parse(_compact(data), line)


def explain(data: bytes, line: int = 1) -> Iterator[tuple[int, str, str]]:
    """Yield (number, text, interpretation) of every line that is not blank."""
    return _Run.explain(_compact(data), line)


def _compact(data: bytes) -> bytes:
    """Return the text with pretty-printed JSON (`jq .`) joined on its first line."""
    if not _PRETTY.search(head_text(data[:HEAD_BYTES])):
        return data
    text, _ = unpack(data, MAX_TEXT_BYTES + 1)
    return _PRETTY_REPORT.sub(_on_one_line, text.decode("utf-8", "replace")).encode()


def _on_one_line(report: re.Match[str]) -> str:
    try:
        said = json.loads(report[0])
    except (ValueError, RecursionError):
        return report[0]
    return json.dumps(said, separators=(",", ":")) + "\n" * report[0].count("\n")


class _Run(TableRun):
    tool = NAME
    last_timing = "p50"
    expected = "expected the table or the --json of dnspyre"

    def __init__(self) -> None:
        super().__init__()
        self.hostnames: int | None = None
        self.in_json = False

    def begins_with(self, line: str) -> bool:
        if line.startswith('{"totalRequests":'):
            return self.begun or "requests" in self.counters or self.usage or bool(self.error)
        if line.startswith("Using ") and _HOSTNAMES.fullmatch(line):
            begun = self.hostnames is not None or "requests" in self.counters
            return begun or self.usage or bool(self.error)
        return super().begins_with(line)

    def take(self, line: str) -> bool:
        if (said := json_object(line)) is not None:
            return self._take_json(said)
        if match := _HOSTNAMES.fullmatch(line):
            self.hostnames = count(match[1])
            return True
        return bool(_PROGRESS.match(line)) or super().take(line)

    def _take_json(self, said: Row) -> bool:
        rate = number(said.get("queriesPerSecond"))
        if count(said.get("totalRequests")) is None or rate is None:
            return False
        self.in_json = self.finished = True
        self.counters = {
            ours: value for theirs, ours in _JSON_COUNTERS.items() if (value := count(said.get(theirs))) is not None
        }
        self.facts["achieved_rate"] = rate
        self.facts["duration_s"] = number(said.get("benchmarkDurationSeconds"))
        for theirs, section in _JSON_SECTIONS.items():
            self.sections[section] = {
                name[:100]: value
                for name, counted in mapping(said.get(theirs)).items()
                if (value := count(counted)) is not None
            }
        latencies = mapping(said.get("latencyStats"))
        for theirs, metric in _JSON_LATENCIES.items():
            value_ms = number(latencies.get(theirs))
            if value_ms is not None:
                self.timings_ms[metric] = value_ms
        return True

    def conclude(self) -> Report | Reject:
        if not self.finished or "requests" not in self.counters:
            return self.reject()
        received = sum(self.counters.get(name, 0) for name in ("success", "negative", "error"))
        if self.begun:
            clients = plural(self.facts["clients"] or 0, "concurrent request")
            names = [plural(self.hostnames, "hostname")] if self.hostnames is not None else []
            self.facts["method"] = "; ".join([self.details["transport"], clients, *names])
        if self.in_json and received:
            self.warnings.append("Latencies of --json are whole milliseconds: 0 is less than one.")
        return self.summarise(received, whole=self.is_whole(received))


sniff = marked(_MARK, *IN_JSON)
