"""The reader of NFVbench's results (OPNFV): its JSON, parts of it, and the records sent to fluentd.

Rates in bit/s are of layer 1 and of both directions; `rate_percent` is 200 if both are at line rate. `stats.overall`
sums packets over the directions but halves `pkt_rate`, so rates are computed from packets and duration. An `ndr`
accepts the drop rate of its configuration (0.001 % by default).

Each search and each single run is a trial. Rates are frames/s of both directions, counts are frames, latencies (us)
become observations in ms.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from dropline.ingest.formats.json_documents import mapping, of_json, trials_of_json
from dropline.ingest.formats.throughput import Trial, Unusable, number, whole, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Row

NAME = "nfvbench"
IN_JSON = (
    *("nfvbench_version", "load_percent_per_direction", "initial_rate_type", "l2frame_size"),
    *("total_orig_rate_bps", "total_orig_rate_pps"),
)

_EXPECTED: Final = "expected the JSON of NFVbench: its whole result, an `ndr` or `pdr` part, or a record for fluentd"
_MARK: Final = re.compile(rf'"(?:{"|".join(IN_JSON)})"\s*:')
_SEARCHES: Final = ("ndr", "pdr")
_DEEPEST: Final = 12
_FRAME_SIZE: Final = re.compile(r"\d{2,5}|IMIX", re.ASCII)
_HALVED: Final = 2


def _trials(line: int, document: Any) -> Iterator[Trial]:
    found = 0
    for trial in _walk(line, document):
        found += 1
        yield trial
    if not found:
        reason = "JSON without a search (ndr, pdr), a run with stats, or a record of NFVbench"
        raise Unusable(reason, _EXPECTED)


def _walk(line: int, document: object) -> Iterator[Trial]:
    """Yield the trials of every part of a result; a complete one nests them under chains and frame sizes."""
    root = mapping(document)
    limits = mapping(mapping(root.get("config")).get("measurement"))
    pending: deque[tuple[object, str | None, int]] = deque([(document, None, 0)])
    while pending:
        part, size, depth = pending.popleft()
        if depth > _DEEPEST:
            continue
        if isinstance(part, list):
            pending += [(item, size, depth + 1) for item in part]
            continue
        node = mapping(part)
        if "total_orig_rate_pps" in node or ("drop_percentage" in node and "rate_pps" in node and "stats" not in node):
            yield _record(line, node)
            continue
        for name in _SEARCHES:
            if "rate_pps" in (search := mapping(node.get(name))):
                trial = _search(line, name, search, size)
                trial.details["loss_tolerance_pct"] = number(limits.get(name.upper()))
                yield _of_result(trial, root)
        if "overall" in mapping(node.get("stats")) and "rate_pps" not in node:
            yield _of_result(_single_run(line, node, size), root)
        pending += [
            (child, name if _FRAME_SIZE.fullmatch(name) else size, depth + 1)
            for name, child in node.items()
            if isinstance(child, dict | list) and name not in {*_SEARCHES, "config", "stats"}
        ]


def _of_result(trial: Trial, root: Row) -> Trial:
    trial.facts["tool_version"] = words(root.get("nfvbench_version"))
    trial.details["date"] = words(root.get("date"))
    return trial


def _search(line: int, name: str, search: Row, size: str | None) -> Trial:
    trial = Trial("NFVbench", line, name.upper())
    stats = mapping(search.get("stats"))
    trial.facts |= {"offered_rate": number(search.get("rate_pps")), "duration_s": number(search.get("duration_sec"))}
    _frames(trial, search.get("l2frame_size") or size)
    _overall(trial, mapping(stats.get("overall")) or search)
    _count_by_rate(trial, trial.facts["offered_rate"])
    trial.details |= {
        "load_offered": number(search.get("load_percent_per_direction")),
        "load_unit": "%",
        "load_scope": "one_way",
        "offered_l1_bit_s": number(search.get("rate_bps")),
        "search_s": number(search.get("time_taken_sec")),
    }
    line_rate = number(stats.get("theoretical_tx_rate_pps"))
    if line_rate and trial.facts["achieved_rate"] is not None:
        trial.details["line_rate_share"] = trial.facts["achieved_rate"] / line_rate
    return trial


def _single_run(line: int, run: Row, size: str | None) -> Trial:
    trial = Trial("NFVbench", line, "single run")
    total = mapping(mapping(run.get("run_config")).get("direction-total"))
    trial.facts |= {
        "offered_rate": number(mapping(total.get("orig")).get("rate_pps")),
        "achieved_rate": number(mapping(total.get("rx")).get("rate_pps")),
        "duration_s": number(run.get("duration_sec")),
    }
    _frames(trial, run.get("l2frame_size") or size)
    _overall(trial, mapping(mapping(run.get("stats")).get("overall")))
    return trial


def _overall(trial: Trial, overall: Row) -> None:
    sent, received = mapping(overall.get("tx")), mapping(overall.get("rx"))
    facts = trial.facts
    facts |= {
        "sent": whole(sent.get("total_pkts")),
        "received": whole(received.get("total_pkts")),
        "dropped": whole(received.get("dropped_pkts")),
    }
    if facts["received"] is not None and facts["duration_s"]:
        facts["achieved_rate"] = facts["received"] / facts["duration_s"]
    elif (rate := number(received.get("pkt_rate"))) is not None:
        facts["achieved_rate"] = facts["achieved_rate"] or rate * _HALVED
    trial.details["loss_observed_pct"] = number(overall.get("drop_rate_percent", overall.get("drop_percentage")))
    trial.details |= {"direction_scope": "sum_both", "load_layer": "L1"}
    delays = received if "avg_delay_usec" in received else overall
    trial.latency({name: delays.get(f"{name}_delay_usec") for name in ("min", "avg", "max")}, "us")


def _record(line: int, record: Row) -> Trial:
    """Return the trial of a fluentd record: of a single run, or of a search."""
    search = words(record.get("type")) if "rate_pps" in record else None
    trial = Trial("NFVbench", line, search or "single run")
    trial.facts["duration_s"] = number(record.get("chain_analysis_duration"))
    _overall(trial, record)
    trial.facts |= {
        "tool_version": words(record.get("version")),
        "offered_rate": number(record.get("total_orig_rate_pps", record.get("rate_pps"))),
        "achieved_rate": number(record.get("total_rx_rate_pps")),
    }
    _count_by_rate(trial, number(record.get("total_tx_rate_pps")) or trial.facts["offered_rate"])
    if search and (loss := trial.details["loss_observed_pct"]) is not None and trial.facts["offered_rate"]:
        trial.facts["achieved_rate"] = trial.facts["offered_rate"] * (1 - loss / 100)
    _frames(trial, record.get("frame_size"))
    if record.get("bidirectional") is False:
        trial.details["direction_scope"] = "one_way"
    for metric, key in (("offered_rate_l1", "total_tx_rate_bps"), ("achieved_rate_l1", "total_rx_rate_bps")):
        trial.observe(metric, number(record.get(key)), "bit/s")
    trial.observe("send_rate", number(record.get("total_tx_rate_pps")), "frames/s")
    for key in ("service_chain", "flow_count", "profile", "vSwitch", "Encapsulation", "user_label", "@timestamp"):
        if (said := words(record.get(key))) is not None:
            trial.details[key.strip("@").lower()] = said
    return trial


def _count_by_rate(trial: Trial, sent_rate: float | None) -> None:
    """Derive missing counts from rate and duration; the drop rate gives the lost frames."""
    facts, loss_pct = trial.facts, trial.details["loss_observed_pct"]
    if facts["sent"] is not None or not sent_rate or not facts["duration_s"] or loss_pct is None or loss_pct > 100:
        return
    facts["sent"] = round(sent_rate * facts["duration_s"])
    facts["dropped"] = round(facts["sent"] * max(loss_pct, 0) / 100)
    facts["received"] = facts["sent"] - facts["dropped"]
    trial.warnings.append("It gives rates and the share that was dropped: the counts are computed from these.")


def _frames(trial: Trial, size: object) -> None:
    trial.details["frame_size_bytes"] = number(size)
    if number(size) is None and (mix := words(size)):
        trial.details["frame_mix"] = f"{mix} frames"


sniff = of_json("|".join(IN_JSON))
parse = trials_of_json(_trials, _EXPECTED)
