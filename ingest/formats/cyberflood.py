"""Reader of Spirent CyberFlood's results of a test run (REST, JSON; the engine is Avalanche).

`raw` has a Summary and series of [seconds, value], a sample every 4 s. `Live Bandwidth` is the sum of the receiving and
the sending side, in kbit/s of 1000 bit, without FCS; if a version has `Live Incoming Bandwidth`, that is the rate. The
mean is over the steady samples at the highest desired load, which the load reaches some samples late. `Average
Throughput` matches no mean of the series in some versions; `Incoming BW` is twice the rate and is ignored.

The rate is Mbit/s, connections/s or transactions/s, depending on the desired load. sent, received and dropped are
transactions executed, passed and failed, not packets.
"""

import re
from collections import defaultdict
from typing import Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.json_documents import Node, of_documents
from dropline.ingest.formats.text import head_text, items
from dropline.ingest.formats.throughput import CONNECTIONS, MBITS, TRANSACTIONS, Series, Trial, Trials, number

NAME = "cyberflood"
IN_JSON = ('"runId"',)
TOOL: Final = "Spirent CyberFlood"

_EXPECTED: Final = "expected CyberFlood's results of test runs: objects with `runId`, `test` and `raw.Summary`"
_RUN: Final = re.compile(r'"runId"\s*:')
_RESULT: Final = re.compile(r'"(?:raw|startedAt|grade|queue)"\s*:')
_POLL: Final = re.compile(r'"(?:subType|client)"\s*:')
# Words in the name of a load or a series (not `https`) -> unit and factor.
_QUANTITIES: Final = (
    (re.compile("bandwidth|throughput"), MBITS, 1e-3),
    (re.compile("connections/s|cps"), CONNECTIONS, 1.0),
    (re.compile("transactions/s|(?<!ht)tps"), TRANSACTIONS, 1.0),
    (re.compile("round trip"), "ms", 1.0),
    (re.compile("tcp connections"), "connections", 1.0),
)
_RATE_UNITS: Final = frozenset({MBITS, CONNECTIONS, TRANSACTIONS})
_AVERAGES: Final = {CONNECTIONS: "Average CPS", TRANSACTIONS: "Average TPS"}
_TOTALS: Final = (
    Series("Client Sent", "client_sent", "bytes"),
    Series("Server Received", "server_received", "bytes"),
    Series("Server Sent", "server_sent", "bytes"),
    Series("Client Received", "client_received", "bytes"),
)
# Values of each poll: first by their names in the REST interface, then by the captions of a CSV file.
POLLED: Final = (
    Series("sum:driver:rxBandwidth driver:rxBandwidth rxbandwidth", "incoming_traffic", MBITS, scale=1e-3),
    Series("sum:driver:txBandwidth driver:txBandwidth txbandwidth", "outgoing_traffic", MBITS, scale=1e-3),
    Series("sum:http:successfulTxnsPerSec http:successfulTxnsPerSec tps", "transaction_rate", TRANSACTIONS),
    Series("sum:tcp:establishedConnRate tcp:establishedConnRate cps", "connection_rate", CONNECTIONS),
    Series("sum:tcp:currentEstablishedConns openconns", "concurrent_connections", "connections"),
    Series("sum:loadspec:desiredLoadSpecCount", "desired_load", "load units"),
    Series("url:averageRespTimePerUrl urlresponsetime", "latency_avg", "ms", "URL response"),
    Series("tcp:averageTimeToSynAck tcpavgttsynack", "latency_avg", "ms", "TCP SYN/ACK"),
    Series("tcp:averageTimeToFirstByte tcpavgttfb", "latency_avg", "ms", "TCP first byte"),
    Series("loadspec:cpuUtilized memory:cpuUtilized clientcpu", "generator_cpu", "%", "client"),
    Series("servercpu", "generator_cpu", "%", "server"),
)
_NO_SERIES: Final = frozenset({"Summary", "Protocol Data", "Per Port Data", "Network Packet Count", "_config"})


def sniff(head: bytes) -> bool:
    """Return whether `head`, the first 64 KiB of a file or all of it, holds such results."""
    text = head_text(head).lstrip()
    is_json = text[:1] in {"[", "{"} and bool(_RUN.search(text))
    return is_json and bool(_RESULT.search(text)) and not _POLL.search(text.partition('"raw"')[0])


def _trials(line: int, document: Node) -> Trials:
    runs = document.items() if isinstance(document.value, list) else [document]
    finished = [run for run in runs if run.members("raw.Summary")]
    tests: dict[tuple[str | None, ...], list[str]] = defaultdict(list)
    for run in finished:
        tests[_test(run)].append(_started(run))
    for run in finished:
        trial = _trial(line, run)
        if len(starts := sorted(tests[_test(run)])) > 1:  # repetitions, which the list may have in any order
            trial.facts["repetition"] = starts.index(_started(run)) + 1
        yield trial
    if len(finished) < max(len(runs), 1):
        reason = f"{len(runs) - len(finished)} of {len(runs)} test runs have no raw.Summary: they have not finished"
        yield Reject(line, reason, "ask for the results again after the runs have finished")


def _test(run: Node) -> tuple[str | None, ...]:
    return run.words("test.name"), run.words("test.type")


def _started(run: Node) -> str:
    return f"{run.words('startedAt')} {run.words('runId')}"


def _trial(line: int, run: Node) -> Trial:
    summary, kind = run.of("raw.Summary"), run.words("test.type") or "test"
    trial = Trial(TOOL, line, kind, None)
    trial.facts |= {
        "scenario": run.words("test.name"),
        "protocol": next((name for name in ("HTTPS", "HTTP") if kind.upper().startswith(name)), None),
        **{
            ours: summary.whole(key)
            for ours, key in (("sent", "Executed"), ("received", "Passed"), ("dropped", "Failed"))
        },
        "duration_s": summary.number("Test Duration") or run.number("duration"),
        **{"started_at": run.instant("startedAt"), "ended_at": run.instant("finishedAt")},
    }
    trial.details |= {
        "counted": "transactions",
        **{"verdict": run.words("grade"), "run": run.words("runId"), "test": run.words("test.name")},
        "score": run.number("score"),
        "average_throughput_reported": summary.number("Average Throughput", scale=1e-3),
    }
    if trial.facts["dropped"]:
        trial.warnings.append("Its failed transactions are not packet loss; many fail when the test stops.")
    trial.follow(summary, _TOTALS)
    for section, content in run.members("raw").items():
        for name, samples in (content.members() or {"": content}).items() if section not in _NO_SERIES else ():
            unit, scale = _quantity(f"{section} {name}")
            metric = re.sub(r"[^a-z0-9]+", "_", f"{name or section}".lower()).strip("_")[:100] or "series"
            for time_s, value in _samples(samples, scale) if unit else ():
                trial.observe(metric, value, str(unit), None, time_s)
    _rate(trial, run.members("raw.Load Specification"), summary, kind)
    if (rate := trial.facts["offered_rate"]) and (name := trial.facts["scenario"]):  # `CPS 16000`: `CPS` at 16,000
        trial.facts["scenario"] = " ".join(re.sub(rf"(?<![\w.]){rate:.15g}(?![\w.])", "", name).split()) or None
    return trial


def _rate(trial: Trial, load: dict[str, Node], summary: Node, kind: str) -> None:
    wanted = next((name for name in load if name.startswith("Desired ")), "")
    subject = wanted.removeprefix("Desired ") or kind
    quantities = (_quantity(name) for name in (subject, kind))
    unit, scale = next((each for each in quantities if each[0] in _RATE_UNITS), (MBITS, 0.0))
    desired = _samples(load.get(wanted), scale)
    offered = max((value for _, value in desired), default=None) if scale else None
    trial.facts |= {"rate_unit": unit, "offered_rate": offered}
    one_way, both_ways = (["Live Incoming Bandwidth"], ["Live Bandwidth"]) if unit == MBITS else ([], [])
    names = [*one_way, f"Live {subject}", f"Current {subject}", *both_ways]
    shown = next((name for name in names if name in load), "")
    live = _samples(load.get(shown), _quantity(shown)[1])
    # At the highest desired load, without the ramp in which the load reaches it.
    full = {time_s for time_s, value in desired if value == offered} if offered else set()
    rate = trial.mean_rate([sample for sample in live if sample[0] in full])
    rate = trial.mean_rate(live) if rate is None else rate
    trial.facts["achieved_rate"] = summary.number(_AVERAGES.get(str(unit), "")) if rate is None else rate
    if shown == "Live Bandwidth":
        trial.warnings.append("Its bandwidth is the sum of both directions; a load balancer's is only one of them.")
    if shown == "Live Bandwidth" or unit == MBITS:
        trial.details["direction_scope"] = "sum_both" if shown == "Live Bandwidth" else "one_way"
    if unit == MBITS:
        trial.details["load_layer"] = "L2 without FCS"


def _quantity(name: str) -> tuple[str | None, float]:
    return next(((unit, scale) for word, unit, scale in _QUANTITIES if word.search(name.lower())), (None, 1.0))


def _samples(series: Node | None, scale: float) -> list[tuple[float, float]]:
    pairs = (pair for pair in (items(series.value) if series else ()) if isinstance(pair, list) and len(pair) > 1)
    read = [(number(pair[0]), number(pair[1], scale)) for pair in pairs]
    return [(time_s, value) for time_s, value in read if time_s is not None and value is not None]


parse = of_documents(_trials, _EXPECTED)
