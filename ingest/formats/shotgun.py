"""The reader of DNS Shotgun's results (CZ.NIC): the JSON of one sender, merged from its threads (data/<sender>.json).

Its layout is that of version 20200527 (replay/dnssim/src/output/dnssim.lua, tools/merge-data.py). A histogram counts
requests by the whole milliseconds that their answers took; its last bucket is the time-out, and holds what was lost.
It replays traffic: what rate was asked for it does not say, nor over which transport.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from dropline.ingest.formats.json_documents import each_document, items, mapping
from dropline.ingest.formats.text import head_text, plural
from dropline.ingest.formats.throughput import Trial, Unusable, number, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Reject, Report, Row

NAME = "shotgun"
IN_JSON = ('"stats_sum"',)

_EXPECTED: Final = "expected the JSON of DNS Shotgun, with `version`, `timeout_ms` and `stats_sum`"
_MARK: Final = re.compile(r'"(?:merged|stats_interval_ms|timeout_ms)"\s*:')
_VERSION: Final = 20200527
_RCODE: Final = "rcode_"
_PERCENTILES: Final = (50, 90, 95, 99)
_SERIES: Final = (
    ("requests", "interval_sent", "queries"),
    ("answers", "interval_received", "responses"),
    ("conn_active", "connections_active", "connections"),
    ("conn_handshakes", "connection_handshakes", "connections"),
    ("conn_handshakes_failed", "connection_handshakes_failed", "connections"),
)


def sniff(head: bytes) -> bool:
    """Say whether a file that begins with `head` (64 KiB, or all of it) is of DNS Shotgun."""
    text = head_text(head).lstrip()
    return text.startswith("{") and '"stats_sum"' in text and bool(_MARK.search(text))


def parse(data: bytes) -> Iterator[Report | Reject]:
    """Yield the trial of each sender in `data`; never raises for bad input.

    sent are requests, received answers of any code, dropped requests without an answer in time. The achieved rate is
    answers by the time from the first to the last statistics.
    """
    return each_document(data, _trials, _EXPECTED)


class _Replay(Trial):
    def _method(self) -> str:
        timeout_s = self.details["timeout_s"]
        return "replay" if timeout_s is None else f"replay; time-out {plural(timeout_s, 's')}"


def _trials(line: int, document: Any) -> Iterator[Trial]:
    root = mapping(document)
    if whole(root.get("version")) != _VERSION:
        reason = f"DNS Shotgun's JSON of version {root.get('version')!r:.40}, known is {_VERSION}"
        raise Unusable(reason, "merge and save the results with the Shotgun that wrote them, or keep its charts' data")
    total = mapping(root.get("stats_sum"))
    sent, received = whole(total.get("requests")), whole(total.get("answers"))
    if sent is None or received is None:
        reason = "its `stats_sum` has no `requests` and `answers`"
        raise Unusable(reason, "copy the whole file again")
    trial = _Replay(NAME, line, "replay", "queries/s")
    since_ms, until_ms = number(total.get("since_ms")), number(total.get("until_ms"))
    if since_ms is not None and until_ms is not None and until_ms > since_ms:
        trial.facts["duration_s"] = (until_ms - since_ms) / 1000
        trial.facts["achieved_rate"] = round(received * 1000 / (until_ms - since_ms), 6)
        trial.observe("send_rate", round(sent * 1000 / (until_ms - since_ms), 6), "queries/s")
    trial.facts |= {"protocol": "DNS", "sent": sent, "received": received}
    trial.details |= {
        "timeout_s": number(root.get("timeout_ms"), 1e-3),
        "discarded": whole(root.get("discarded")),
        "ongoing": whole(total.get("ongoing")),
    }
    for name, answers in total.items():
        if name.startswith(_RCODE) and (counted := whole(answers)):
            trial.observe("responses", counted, "responses", name.removeprefix(_RCODE).upper()[:40])
    _observe_periods(trial, root, since_ms)
    _observe_latencies(trial, items(total.get("latency")), received)
    if root.get("merged") is not True:
        trial.completed = False
        trial.warnings.append("It is the share of one thread: the whole stands in the merged file of its sender.")
    if trial.details["discarded"]:
        trial.warnings.append(f"{trial.details['discarded']} requests could not be sent and were discarded.")
    yield trial


def _observe_periods(trial: Trial, root: Row, since_ms: float | None) -> None:
    for period in map(mapping, items(root.get("stats_periodic"))):
        until_ms = number(period.get("until_ms"))
        t_s = None if None in (until_ms, since_ms) else ((until_ms or 0) - (since_ms or 0)) / 1000
        for key, metric, unit in _SERIES:
            trial.observe(metric, number(period.get(key)), unit, None, t_s)


def _observe_latencies(trial: Trial, histogram: list[Any], received: int) -> None:
    """Add percentiles, in whole milliseconds; none of a histogram that does not hold all answers."""
    counts = [whole(count) or 0 for count in histogram[:-1]]
    answers = sum(counts)
    if not answers or answers != received:
        if histogram and received:
            trial.warnings.append("The latency histogram does not hold all answers: it gives no latencies.")
        return
    within = list(accumulate(counts))
    for percent in _PERCENTILES:
        rank = -(-percent * answers // 100)
        at_ms = next(ms for ms, count in enumerate(within) if count >= rank)
        trial.observe(f"latency_p{percent}", at_ms, "ms")
    trial.observe("latency_percentiles_of", answers, "responses")
