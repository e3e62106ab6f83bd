"""Reader of DNS Shotgun's results (CZ.NIC) for one sender, merged from its threads (data/<sender>.json).

They are one JSON object of version 20200527, or JSON Lines in the DNS-OARC schema of DNS metrics: `header`, any number
of `stats_periodic`, `stats_sum` (replay/dnssim/src/output/dnssim.lua, tools/merge-data.py). A histogram counts requests
by their latency in whole ms, or by the bounds in the header; its last bucket holds the lost ones.

sent counts requests, received answers of any code, dropped requests without an answer in time. The achieved rate is
answers divided by the time from the first to the last statistics; there is no offered rate.
"""

from typing import Any, Final

from dropline.ingest.formats import Parts, Reject, Row
from dropline.ingest.formats.json_documents import Node, documents, has_strings
from dropline.ingest.formats.text import plural
from dropline.ingest.formats.throughput import Series, Trial, accounted, concluded, number, whole

NAME = "shotgun"
IN_JSON = ('"stats_sum"', '"stats_periodic"')

_EXPECTED: Final = "expected the JSON of DNS Shotgun with its `stats_sum`, or its lines from `header` to `stats_sum`"
_COPY: Final = "copy the whole file again"
_VERSION: Final = 20200527
_RCODE: Final = "rcode_"
_TRANSPORTS: Final = {"udp": "udp", "tcp": "tcp", "tls_conn": "tls", "quic_conn": "quic"}
_SERIES: Final = (
    Series("requests", "interval_sent", "queries"),
    Series("answers", "interval_received", "responses"),
    Series("conn_active", "connections_active", "connections"),
    Series("conn_handshakes", "connection_handshakes", "connections"),
    Series("conn_handshakes_failed", "connection_handshakes_failed", "connections"),
)


def _read(text: bytes) -> Parts:
    begun = 0
    header, periods = Node({}), list[Node]()
    for part in documents(text):
        if isinstance(part, Reject):
            yield part
            continue
        line, record = part
        kind = record.get("type")
        if kind == "header":
            begun, header, periods = line, record, []
        elif kind == "stats_periodic":
            periods.append(record)
        elif kind != "event":
            whole = _from_lines(line, header, periods, record) if kind else record
            yield whole if isinstance(whole, Reject) else concluded(_trial(line, begun or line, whole))
            begun, header, periods = 0, Node({}), []
    if begun or periods:
        reason = "it ends before its `stats_sum`: Shotgun did not finish"
        yield Reject(begun or 1, reason, "merge the threads' files with `merge-data.py --summarize`, and ingest that")


def _from_lines(line: int, header: Node, periods: list[Node], total: Node) -> Node | Reject:
    """Convert the records of one run to the layout of version 20200527, plus the bounds of the histogram."""
    if "kxdpgun" in str(header.get("generator")):
        hint = "ingest what kxdpgun printed without -j"
        return Reject(line, "the JSON of kxdpgun, which lacks threads and mode", hint)
    per_s = header.number("time_units_per_sec")
    if not per_s:
        return Reject(line, "lines of DNS Shotgun without a `header` that gives `time_units_per_sec`", _COPY)
    to_ms = 1000 / per_s
    latency = (total.values(f"response_latency.{key}") for key in ("bucket_counts", "counts", "buckets"))
    return Node(
        {
            "version": _VERSION,
            "generator_version": header.words("generator_version"),
            "merged": header.get("merged"),
            "timeout_ms": header.number("timeout", scale=to_ms),
            "discarded": total.get("discarded") if "discarded" in total.members() else header.get("discarded"),
            "transport": _TRANSPORTS.get(str(total.get("conn_info.type"))),
            "stats_sum": _stats(total, to_ms) | {"latency": next(filter(None, latency), [])},
            "stats_periodic": [_stats(period, to_ms) for period in periods],
            "bounds_ms": [number(bound, to_ms) for bound in header.values("latency_bucket_boundaries")],
        }
    )


def _stats(record: Node, to_ms: float) -> Row:
    return {
        "since_ms": record.number("since", scale=to_ms),
        "until_ms": record.number("until", scale=to_ms),
        "requests": record.get("queries"),
        "answers": record.get("responses"),
        "ongoing": record.get("ongoing"),
        "conn_active": record.get("conn_active"),
        "conn_handshakes": record.get("conn_handshakes", "conn_info.handshakes"),
        "conn_handshakes_failed": record.get("conn_handshakes_failed", "conn_info.handshakes_failed"),
        **{f"{_RCODE}{name}": count.value for name, count in record.members("response_rcodes").items()},
    }


def _trial(line: int, begun: int, root: Node) -> Trial | Reject:
    if root.whole("version") != _VERSION:
        reason = f"DNS Shotgun's JSON of version {root.get('version')!r:.40}, known is {_VERSION}"
        hint = "merge and save the results with the Shotgun that wrote them, or keep its charts' data"
        return Reject(line, reason, hint)
    total = root.of("stats_sum")
    sent, received = total.whole("requests"), total.whole("answers")
    if sent is None or received is None:
        return Reject(line, "its `stats_sum` has no `requests` and `answers`", _COPY)
    trial = Trial(NAME, begun, "replay", "queries/s")
    since_ms, until_ms = total.number("since_ms"), total.number("until_ms")
    if since_ms is not None and until_ms is not None and until_ms > since_ms:
        trial.facts["duration_s"] = (until_ms - since_ms) / 1000
        trial.facts["achieved_rate"] = round(received * 1000 / (until_ms - since_ms), 6)
        trial.observe("send_rate", round(sent * 1000 / (until_ms - since_ms), 6), "queries/s")
    timeout_s, transport = root.number("timeout_ms", scale=1e-3), root.get("transport")
    method = ("replay", transport, None if timeout_s is None else f"time-out {plural(timeout_s, 's')}")
    trial.facts |= {
        "tool_version": root.get("generator_version"),
        "method": "; ".join(word for word in method if word),
        "protocol": "DNS",
        "sent": sent,
        "received": received,
    }
    discarded = root.whole("discarded")
    trial.details |= {"timeout_s": timeout_s, "discarded": discarded, "ongoing": total.whole("ongoing")}
    if transport:
        trial.details["transport"] = transport
    for name, answers in total.members().items():
        if name.startswith(_RCODE) and (counted := whole(answers.value)):
            trial.observe("responses", counted, "responses", name.removeprefix(_RCODE).upper()[:40])
    for period in root.items("stats_periodic"):
        at_ms = period.number("until_ms")
        trial.follow(period, _SERIES, None if at_ms is None or since_ms is None else (at_ms - since_ms) / 1000)
    _observe_latencies(trial, [whole(count) or 0 for count in total.values("latency")], received, root)
    if root.get("merged") is not True:
        trial.doubt("It is the share of one thread: the total is in the merged file of its sender.")
    if discarded:
        trial.warnings.append(f"{discarded} requests could not be sent and were discarded.")
    return trial


def _observe_latencies(trial: Trial, histogram: list[int], received: int, root: Node) -> None:
    """Add percentiles, in whole milliseconds or as bounds of buckets; none if the histogram lacks answers."""
    bounds_ms: list[Any] | None = root.get("bounds_ms")
    counts = histogram[:-1]
    answers = sum(counts)
    if not answers or answers != received or (bounds_ms is not None and len(bounds_ms) < len(counts)):
        if histogram and received:
            trial.warnings.append("The latency histogram does not hold all answers, so there are no latencies.")
        return
    trial.observe_percentiles([*zip(range(len(counts)) if bounds_ms is None else bounds_ms, counts, strict=False)])


sniff = has_strings("stats_sum|stats_periodic", "merged|stats_interval_ms|timeout_ms|time_units_per_sec")
parse = accounted(_read, _EXPECTED)
