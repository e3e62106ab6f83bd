"""The reader of CyberFlood's statistics polls: one JSON object per poll of an active run.

`client` and `server` list values by `type`, `id` and `subType`, any of which may be missing; entries of a single port
end in `@<port>` and are skipped. Counters are cumulative, including `rxByteRate`; bandwidth is kbit/s, times are ms.
`cpuUtilized` is the CPU of the tester.

The rate is the mean of successful transactions/s over the steady polls; sent, received and dropped are transactions
up to the last poll. A run that was still active is not completed.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats import Reject, Report
from dropline.ingest.formats.cyberflood import TOOL
from dropline.ingest.formats.json_documents import documents, items, mapping
from dropline.ingest.formats.text import head_text, instant
from dropline.ingest.formats.throughput import (
    MBITS,
    TRANSACTIONS,
    Trial,
    account,
    mean_rate,
    number,
    total,
    whole,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "cyberflood_polls"
IN_JSON = ('"runId"',)

_EXPECTED: Final = "expected polls of CyberFlood's statistics: objects with `runId`, `client` and `server`"
_MARK: Final = re.compile(r'"(?:client|server)"\s*:\s*\[')
_SERIES: Final = (
    ("sum.driver.rxBandwidth driver.rxBandwidth", "incoming_traffic", MBITS, 1e-3, None),
    ("sum.driver.txBandwidth driver.txBandwidth", "outgoing_traffic", MBITS, 1e-3, None),
    ("sum.http.successfulTxnsPerSec http.successfulTxnsPerSec", "transaction_rate", TRANSACTIONS, 1.0, None),
    ("sum.tcp.establishedConnRate tcp.establishedConnRate", "connection_rate", "connections/s", 1.0, None),
    ("sum.tcp.currentEstablishedConns", "concurrent_connections", "connections", 1.0, None),
    ("sum.loadspec.desiredLoadSpecCount", "desired_load", "load units", 1.0, None),
    ("url.averageRespTimePerUrl", "latency_avg", "ms", 1.0, "URL response"),
    ("tcp.averageTimeToSynAck", "latency_avg", "ms", 1.0, "TCP SYN/ACK"),
    ("tcp.averageTimeToFirstByte", "latency_avg", "ms", 1.0, "TCP first byte"),
)
_CPU: Final = ("loadspec.cpuUtilized", "memory.cpuUtilized")

Values = dict[str, object]


def sniff(head: bytes) -> bool:
    """Return whether `head`, the first 64 KiB of a file or all of it, holds polls."""
    text = head_text(head).lstrip()
    return text[:1] in {"[", "{"} and '"runId"' in text and bool(_MARK.search(text))


def _read(text: bytes) -> Iterator[Report | Reject]:
    run: _Run | None = None
    for part in documents(text.decode("utf-8", "replace")):
        if isinstance(part, Reject):
            yield part
            continue
        line, document = part
        for poll in document if isinstance(document, list) else [document]:
            name = words(mapping(poll).get("runId"))
            if name is None or "client" not in mapping(poll):
                yield Reject(line, "JSON without `runId` and `client`", _EXPECTED)
                continue
            client, server = (_values(mapping(poll).get(side)) for side in ("client", "server"))
            if run is None or not run.goes_on(name, client):
                if run:
                    yield run.conclude()
                run = _Run(line, name)
            run.take(client, server)
    if run:
        yield run.conclude()


class _Run:
    """The polls of one run so far."""

    def __init__(self, line: int, name: str) -> None:
        self.name = name
        self.trial = Trial(TOOL, line, "statistics polls", TRANSACTIONS)
        self.last: Values = {}
        self.time_s: float | None = None
        self.rates: list[tuple[float, float]] = []
        self.polls = 0

    def goes_on(self, name: str, client: Values) -> bool:
        time_s = number(client.get("timeElapsed"))
        return name == self.name and (time_s is None or self.time_s is None or time_s >= self.time_s)

    def take(self, client: Values, server: Values) -> None:
        if not client:
            return  # polled before the run began
        self.polls += 1
        self.last = client
        time_s = number(client.get("timeElapsed"))
        self.time_s = time_s if time_s is not None else self.time_s
        for keys, metric, unit, scale, label in _SERIES:
            value = number(next((client[key] for key in keys.split() if key in client), None), scale)
            self.trial.observe(metric, value, unit, label, time_s)
            if metric == "transaction_rate" and value is not None:
                self.rates.append((float(self.polls) if time_s is None else time_s, value))
        for side, values in (("client", client), ("server", server)):
            value = number(next((values[key] for key in _CPU if key in values), None))
            self.trial.observe("generator_cpu", value, "%", side, time_s)

    def conclude(self) -> Report | Reject:
        trial, last = self.trial, self.last
        if not last:
            hint = "poll again while it runs, or ask for its results"
            return Reject(trial.line, f"polls of {self.name} without statistics: the run had not begun", hint)
        failed = [_transactions(last, name) for name in ("unsuccessful", "aborted")]
        trial.facts |= {
            "protocol": "HTTP" if _transactions(last, "attempted") is not None else None,
            "sent": _transactions(last, "attempted"),
            "received": _transactions(last, "successful"),
            "dropped": total(failed),
            "duration_s": self.time_s,
            "started_at": instant(last.get("testStartTime")),
            "achieved_rate": mean_rate(trial, self.rates),
        }
        remaining = number(last.get("timeRemaining"))
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


def _values(entries: object) -> Values:
    """Return the values of one side by `type.id.subType`, without those of single ports."""
    values: Values = {}
    for entry in map(mapping, items(entries)):
        parts = [str(entry[key]) for key in ("type", "id", "subType") if entry.get(key)]
        if not any("@" in part for part in parts):
            values.setdefault(".".join(parts), entry.get("value"))
    return values


def _transactions(values: Values, outcome: str) -> int | None:
    return whole(values.get(f"sum.http.{outcome}Txns", values.get(f"http.{outcome}Txns")))


parse = partial(account, read=_read, expected=_EXPECTED)
