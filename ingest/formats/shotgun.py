"""The reader of DNS Shotgun's results (CZ.NIC) of one sender, merged from its threads (data/<sender>.json).

They are one JSON object of version 20200527, or JSON Lines in the DNS-OARC schema of DNS metrics: `header`, any number
of `stats_periodic`, `stats_sum` (replay/dnssim/src/output/dnssim.lua, tools/merge-data.py). A histogram counts requests
by the whole milliseconds of their answers, or by the bounds in the header; its last bucket is the time-out and holds
the lost ones. Shotgun replays traffic and does not print an offered rate.

sent counts requests, received answers of any code, dropped requests without an answer in time. The achieved rate is
answers divided by the time from the first to the last statistics.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.json_documents import documents, items, mapping, of_json
from dropline.ingest.formats.text import plural
from dropline.ingest.formats.throughput import Trial, Unusable, account, number, whole, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Report, Row

NAME = "shotgun"
IN_JSON = ('"stats_sum"', '"stats_periodic"')

_EXPECTED: Final = "expected the JSON of DNS Shotgun with its `stats_sum`, or its lines from `header` to `stats_sum`"
_MARK: Final = re.compile(r'"(?:merged|stats_interval_ms|timeout_ms|time_units_per_sec)"\s*:')
_VERSION: Final = 20200527
_RCODE: Final = "rcode_"
_TRANSPORTS: Final = {"udp": "udp", "tcp": "tcp", "tls_conn": "tls", "quic_conn": "quic"}
_PERCENTILES: Final = (50, 90, 95, 99)
_SERIES: Final = (
    ("requests", "interval_sent", "queries"),
    ("answers", "interval_received", "responses"),
    ("conn_active", "connections_active", "connections"),
    ("conn_handshakes", "connection_handshakes", "connections"),
    ("conn_handshakes_failed", "connection_handshakes_failed", "connections"),
)


class _Replay(Trial):
    def _method(self) -> str:
        timeout_s, transport = self.details["timeout_s"], self.details.get("transport")
        words = ["replay", transport, None if timeout_s is None else f"time-out {plural(timeout_s, 's')}"]
        return "; ".join(word for word in words if word)


def _read(text: bytes) -> Iterator[Report | Reject]:
    begun = 0
    header: Row = {}
    periods: list[Row] = []
    for part in documents(text.decode("utf-8", "replace")):
        if isinstance(part, Reject):
            yield part
            continue
        line, record = part[0], mapping(part[1])
        kind = record.get("type")
        if kind == "header":
            begun, header, periods = line, record, []
        elif kind == "stats_periodic":
            periods.append(record)
        elif kind != "event":
            try:
                yield _trial(begun or line, _from_lines(header, periods, record) if kind else record).conclude()
            except Unusable as fault:
                yield Reject(line, fault.reason, fault.hint)
            begun, header, periods = 0, {}, []
    if begun or periods:
        reason = "it ends before its `stats_sum`: Shotgun did not finish"
        yield Reject(begun or 1, reason, "merge the threads' files with `merge-data.py --summarize`, and ingest that")


def _from_lines(header: Row, periods: list[Row], total: Row) -> Row:
    """Convert the records of one run to the layout of version 20200527, plus the bounds of the histogram."""
    if "kxdpgun" in str(header.get("generator")):
        reason = "the JSON of kxdpgun, which says neither threads nor mode"
        raise Unusable(reason, "ingest what kxdpgun printed without -j")
    per_s = number(header.get("time_units_per_sec"))
    if not per_s:
        reason = "lines of DNS Shotgun without a `header` that gives `time_units_per_sec`"
        raise Unusable(reason, "copy the whole file again")
    to_ms = 1000 / per_s
    latency = mapping(total.get("response_latency"))
    counts = (items(latency.get(key)) for key in ("bucket_counts", "counts", "buckets"))
    return {
        "version": _VERSION,
        "generator_version": words(header.get("generator_version")),
        "merged": header.get("merged"),
        "timeout_ms": number(header.get("timeout"), to_ms),
        "discarded": next((each["discarded"] for each in (total, header) if "discarded" in each), None),
        "transport": _TRANSPORTS.get(str(mapping(total.get("conn_info")).get("type"))),
        "stats_sum": _stats(total, to_ms) | {"latency": next(filter(None, counts), [])},
        "stats_periodic": [_stats(period, to_ms) for period in periods],
        "bounds_ms": [number(bound, to_ms) for bound in items(header.get("latency_bucket_boundaries"))],
    }


def _stats(record: Row, to_ms: float) -> Row:
    connections = mapping(record.get("conn_info"))
    return {
        "since_ms": number(record.get("since"), to_ms),
        "until_ms": number(record.get("until"), to_ms),
        "requests": record.get("queries"),
        "answers": record.get("responses"),
        "ongoing": record.get("ongoing"),
        "conn_active": record.get("conn_active"),
        "conn_handshakes": record.get("conn_handshakes", connections.get("handshakes")),
        "conn_handshakes_failed": record.get("conn_handshakes_failed", connections.get("handshakes_failed")),
        **{f"{_RCODE}{name}": count for name, count in mapping(record.get("response_rcodes")).items()},
    }


def _trial(line: int, root: Row) -> Trial:
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
    trial.facts["tool_version"] = root.get("generator_version")
    trial.details |= {
        "timeout_s": number(root.get("timeout_ms"), 1e-3),
        "discarded": whole(root.get("discarded")),
        "ongoing": whole(total.get("ongoing")),
    }
    if transport := root.get("transport"):
        trial.details["transport"] = transport
    for name, answers in total.items():
        if name.startswith(_RCODE) and (counted := whole(answers)):
            trial.observe("responses", counted, "responses", name.removeprefix(_RCODE).upper()[:40])
    _observe_periods(trial, root, since_ms)
    _observe_latencies(trial, items(total.get("latency")), received, root.get("bounds_ms"))
    if root.get("merged") is not True:
        trial.doubt("It is the share of one thread: the whole is in the merged file of its sender.")
    if trial.details["discarded"]:
        trial.warnings.append(f"{trial.details['discarded']} requests could not be sent and were discarded.")
    return trial


def _observe_periods(trial: Trial, root: Row, since_ms: float | None) -> None:
    for period in map(mapping, items(root.get("stats_periodic"))):
        until_ms = number(period.get("until_ms"))
        t_s = None if None in (until_ms, since_ms) else ((until_ms or 0) - (since_ms or 0)) / 1000
        for key, metric, unit in _SERIES:
            trial.observe(metric, number(period.get(key)), unit, None, t_s)


def _observe_latencies(trial: Trial, histogram: list[Any], received: int, bounds_ms: list[float] | None) -> None:
    """Add percentiles, in whole milliseconds or upper bounds of buckets; none if the histogram lacks answers."""
    counts = [whole(count) or 0 for count in histogram[:-1]]
    answers = sum(counts)
    if not answers or answers != received or (bounds_ms is not None and len(bounds_ms) < len(counts)):
        if histogram and received:
            trial.warnings.append("The latency histogram does not hold all answers, so there are no latencies.")
        return
    within = list(accumulate(counts))
    for percent in _PERCENTILES:
        rank = -(-percent * answers // 100)
        place = next(place for place, count in enumerate(within) if count >= rank)
        trial.observe(f"latency_p{percent}", place if bounds_ms is None else bounds_ms[place], "ms")
    trial.observe("latency_percentiles_of", answers, "responses")


sniff = of_json("stats_sum|stats_periodic", "merged|stats_interval_ms|timeout_ms|time_units_per_sec")
parse = partial(account, read=_read, expected=_EXPECTED)
