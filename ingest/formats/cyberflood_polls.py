"""The reader of CyberFlood's statistics polls: one JSON object per poll of an active run.

`client` and `server` list values by `type`, `id` and `subType`, any of which may be missing; entries of a single port
end in `@<port>` and are skipped. Counters are cumulative, including `rxByteRate`; bandwidth is kbit/s, times are ms.
`cpuUtilized` is the CPU of the tester.

The rate is the mean of successful transactions/s over the steady polls; sent, received and dropped are transactions
up to the last poll. A run that was still active is not completed.
"""

from __future__ import annotations

import re
from typing import Final

from dropline.ingest.formats import Parts, Reject, Report
from dropline.ingest.formats.cyberflood import TOOL
from dropline.ingest.formats.json_documents import Node, documents
from dropline.ingest.formats.text import head_text, instant
from dropline.ingest.formats.throughput import MBITS, TRANSACTIONS, Fields, Series, Trial, accounted, total

NAME = "cyberflood_polls"
IN_JSON = ('"runId"',)

_EXPECTED: Final = "expected polls of CyberFlood's statistics: objects with `runId`, `client` and `server`"
_MARK: Final = re.compile(r'"(?:client|server)"\s*:\s*\[')
_RATE: Final = "sum.http.successfulTxnsPerSec http.successfulTxnsPerSec"
_SERIES: Final = (
    Series("sum.driver.rxBandwidth driver.rxBandwidth", "incoming_traffic", MBITS, scale=1e-3),
    Series("sum.driver.txBandwidth driver.txBandwidth", "outgoing_traffic", MBITS, scale=1e-3),
    Series(_RATE, "transaction_rate", TRANSACTIONS),
    Series("sum.tcp.establishedConnRate tcp.establishedConnRate", "connection_rate", "connections/s"),
    Series("sum.tcp.currentEstablishedConns", "concurrent_connections", "connections"),
    Series("sum.loadspec.desiredLoadSpecCount", "desired_load", "load units"),
    Series("url.averageRespTimePerUrl", "latency_avg", "ms", "URL response"),
    Series("tcp.averageTimeToSynAck", "latency_avg", "ms", "TCP SYN/ACK"),
    Series("tcp.averageTimeToFirstByte", "latency_avg", "ms", "TCP first byte"),
)
_CPU: Final = "loadspec.cpuUtilized memory.cpuUtilized"


def sniff(head: bytes) -> bool:
    """Return whether `head`, the first 64 KiB of a file or all of it, holds polls."""
    text = head_text(head).lstrip()
    return text[:1] in {"[", "{"} and '"runId"' in text and bool(_MARK.search(text))


def _read(text: bytes) -> Parts:
    run: _Run | None = None
    for part in documents(text):
        if isinstance(part, Reject):
            yield part
            continue
        line, document = part
        for poll in document.items() if isinstance(document.value, list) else [document]:
            name = poll.words("runId")
            if name is None or "client" not in poll.members():
                yield Reject(line, "JSON without `runId` and `client`", _EXPECTED)
                continue
            client, server = _Side(poll, "client"), _Side(poll, "server")
            if run is None or not run.goes_on(name, client):
                if run:
                    yield run.conclude()
                run = _Run(line, name)
            run.take(client, server)
    if run:
        yield run.conclude()


class _Side(Fields):
    """The values of one side by `type.id.subType`, without those of single ports."""

    def __init__(self, poll: Node, side: str) -> None:
        self.values: dict[str, object] = {}
        for entry in poll.items(side):
            parts = [str(said) for key in ("type", "id", "subType") if (said := entry.get(key))]
            if not any("@" in part for part in parts):
                self.values.setdefault(".".join(parts), entry.get("value"))

    def get(self, *names: str, unit: str | None = None) -> object:
        return next((self.values[name] for name in names if name in self.values), None)

    def transactions(self, outcome: str) -> int | None:
        return self.whole(f"sum.http.{outcome}Txns", f"http.{outcome}Txns")


class _Run:
    """The polls of one run so far."""

    def __init__(self, line: int, name: str) -> None:
        self.name = name
        self.trial = Trial(TOOL, line, "statistics polls", TRANSACTIONS)
        self.last: _Side | None = None
        self.time_s: float | None = None
        self.rates: list[tuple[float, float]] = []
        self.polls = 0

    def goes_on(self, name: str, client: _Side) -> bool:
        time_s = client.number("timeElapsed")
        return name == self.name and (time_s is None or self.time_s is None or time_s >= self.time_s)

    def take(self, client: _Side, server: _Side) -> None:
        if not client.values:
            return  # polled before the run began
        self.polls += 1
        self.last = client
        time_s, rate = client.number("timeElapsed"), client.number(*_RATE.split())
        self.time_s = time_s if time_s is not None else self.time_s
        if rate is not None:
            self.rates.append((float(self.polls) if time_s is None else time_s, rate))
        self.trial.follow(client, _SERIES, time_s)
        self.trial.follow(client, [Series(_CPU, "generator_cpu", "%", "client")], time_s)
        self.trial.follow(server, [Series(_CPU, "generator_cpu", "%", "server")], time_s)

    def conclude(self) -> Report | Reject:
        trial, last = self.trial, self.last
        if not last:
            hint = "poll again while it runs, or ask for its results"
            return Reject(trial.line, f"polls of {self.name} without statistics: the run had not begun", hint)
        sent, remaining = last.transactions("attempted"), last.number("timeRemaining")
        trial.facts |= {
            "protocol": "HTTP" if sent is not None else None,
            "sent": sent,
            "received": last.transactions("successful"),
            "dropped": total(last.transactions(outcome) for outcome in ("unsuccessful", "aborted")),
            "duration_s": self.time_s,
            "started_at": instant(last.get("testStartTime")),
            "achieved_rate": trial.mean_rate(self.rates),
        }
        trial.details |= {
            "counted": "transactions",
            "run": self.name,
            "polls": self.polls,
            "time_remaining_s": remaining,
        }
        if remaining != 0:
            left = "an unknown time" if remaining is None else f"{remaining:.15g} s"
            trial.doubt(f"The run was still going, with {left} to go: these are no final figures.")
        return trial.conclude()


parse = accounted(_read, _EXPECTED)
