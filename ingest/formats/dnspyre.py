"""Reader of dnspyre's output (Tantalor93/dnspyre 2.x and 3.x): its table and its --json.

It prints no version and no command; --json also omits target, transport and concurrency, and rounds latencies down to
whole ms. Received counts answers of any code, dropped the rest. The achieved rate includes failed requests; it is 0 if
none was answered.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from dropline.ingest.formats.dnstrace import BENCHMARKING, TableRun
from dropline.ingest.formats.json_documents import Node
from dropline.ingest.formats.text import HEAD_BYTES, count, head_text, json_object, mapping, marked, number, unpack
from dropline.ingest.formats.text_run import line_starts, rule_table, skip, store

NAME = "dnspyre"

_MARK: Final = re.compile(
    line_starts(
        *(r"Using \d+ hostnames", r"Total requests:\t\t\d", "usage: dnspyre ", "dnspyre: error: "),
        r'\{\s*"totalRequests": ?\d+,\s*"totalSuccessResponses":',
    )
)
_PRETTY: Final = re.compile(line_starts(r'\{\s+"totalRequests":'))
_PRETTY_REPORT: Final = re.compile(r'^\{\s+"totalRequests":.*?^\}', re.MULTILINE | re.DOTALL)
IN_JSON = (" hostnames", "Total requests:\t\t", "usage: dnspyre ", "dnspyre: error: ", '"totalRequests":')
LINES: Final = re.compile(rf"{_MARK.pattern}|{line_starts(BENCHMARKING)}")
CLUES: Final = IN_JSON
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


def _on_one_line(report: re.Match[str]) -> str:
    document = json_object(report[0])
    return json.dumps(document, separators=(",", ":")) + "\n" * report[0].count("\n") if document else report[0]


@dataclass
class _Run(TableRun):
    tool = NAME
    usage_begins = ("usage: dnspyre ", "Usage: dnspyre ")
    last_timing = "p50"
    expected = "expected the table or the --json of dnspyre"

    @classmethod
    def prepared(cls, data: bytes) -> bytes:
        """Return the text with pretty-printed JSON (`jq .`) joined on its first line."""
        if not _PRETTY.search(head_text(data[:HEAD_BYTES])):
            return data
        text, _ = unpack(data)
        return _PRETTY_REPORT.sub(_on_one_line, text.decode("utf-8", "replace")).encode()

    def begins_with(self, line: str) -> bool:
        if line.startswith("Using ") and line.endswith(" hostnames"):
            return self.hostnames is not None or self.over
        return (self.begun or self.over) if line.startswith('{"totalRequests":') else super().begins_with(line)

    def take(self, line: str) -> bool:
        if (document := json_object(line)) is not None:
            return self._take_json(document)
        return super().take(line)

    rules = (
        *rule_table({r"Using (\d{1,18}) hostnames": store("hostnames", count), "Progress:.*": skip}),
        *TableRun.rules,
    )

    def _take_json(self, document: dict[str, Any]) -> bool:
        report = Node(document)
        rate = number(document.get("queriesPerSecond"))
        if count(document.get("totalRequests")) is None or rate is None:
            return False
        self.finished = True
        self.counters = _counters({ours: document.get(theirs) for theirs, ours in _JSON_COUNTERS.items()})
        self.facts |= {"achieved_rate": rate, "duration_s": number(document.get("benchmarkDurationSeconds"))}
        self.sections |= {ours: _counters(mapping(document.get(theirs))) for theirs, ours in _JSON_SECTIONS.items()}
        for theirs, metric in _JSON_LATENCIES.items():
            if (value_ms := number(report.get(f"latencyStats.{theirs}"))) is not None:
                self.timings_ms[metric] = value_ms
        if self.received():
            self.warnings.append("Latencies of --json are whole milliseconds: 0 is less than one.")
        return True

    def received(self) -> int:
        if "noerror" in self.counters:  # before 3.0 the table counts no other answers
            return super().received()
        return sum(self.counters.get(name, 0) for name in ("success", "negative", "error"))


def _counters(counts: dict[str, Any]) -> dict[str, int]:
    return {name[:100]: value for name, counted in counts.items() if (value := count(counted)) is not None}


sniff = marked(_MARK, *IN_JSON)
parse, explain = _Run.parse, _Run.explain
