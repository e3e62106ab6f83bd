"""Reader of NFVbench's results (OPNFV): its JSON, parts of it, and its records for fluentd.

Each search and each single run is a trial. Rates are frames/s of both directions, computed from packets and duration,
as `stats.overall` halves `pkt_rate`; bit/s refer to layer 1. Latencies (us) become observations in ms. An `ndr` accepts
the configured drop rate (by default 0.001 %).
"""

import re
from collections import deque
from typing import Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.json_documents import Node, has_strings, of_documents
from dropline.ingest.formats.throughput import FRAMES, Series, Trial, Trials

NAME = "nfvbench"
IN_JSON = (
    *("nfvbench_version", "load_percent_per_direction", "initial_rate_type", "l2frame_size"),
    *("total_orig_rate_bps", "total_orig_rate_pps"),
)

_EXPECTED: Final = "expected the JSON of NFVbench: its whole result, an `ndr` or `pdr` part, or a record for fluentd"
_SEARCHES: Final = ("ndr", "pdr")
_FRAME_SIZE: Final = re.compile(r"\d{2,5}|IMIX", re.ASCII)
_SERIES: Final = (
    Series("total_tx_rate_bps", "offered_rate_l1", "bit/s"),
    Series("total_rx_rate_bps", "achieved_rate_l1", "bit/s"),
    Series("total_tx_rate_pps", "send_rate", FRAMES),
)


def _trials(line: int, root: Node) -> Trials:
    """Yield the trials of every part of a result, which a complete result nests under chains and frame sizes."""
    found = False
    pending: deque[tuple[Node, str | None]] = deque([(root, None)])
    while pending:
        part, size = pending.popleft()
        pending += [(item, size) for item in part.items()]
        node = part.members()
        if "total_orig_rate_pps" in node or (node.keys() >= {"drop_percentage", "rate_pps"} and "stats" not in node):
            found = True
            yield _record(line, part)
            continue
        searches = [name for name in _SEARCHES if name in node and "rate_pps" in node[name].members()]
        trials = [_search(line, name, part, size, root) for name in searches]
        if "stats" in node and "overall" in node["stats"].members() and "rate_pps" not in node:
            trial = Trial("NFVbench", line, "single run")
            trial.facts["offered_rate"] = part.number("run_config.direction-total.orig.rate_pps")
            trial.facts["achieved_rate"] = part.number("run_config.direction-total.rx.rate_pps")
            trial.facts["duration_s"] = part.number("duration_sec")
            trial.frames(part.get("l2frame_size") or size)
            _overall(trial, part.of("stats.overall"))
            trials.append(trial)
        for trial in trials:
            found = True
            trial.facts["tool_version"] = root.words("nfvbench_version")
            trial.details["date"] = root.words("date")
            yield trial
        pending += [
            (child, name if _FRAME_SIZE.fullmatch(name) else size)
            for name, child in node.items()
            if isinstance(child.value, (dict, list)) and name not in {*_SEARCHES, "config", "stats"}
        ]
    if not found:
        yield Reject(line, "JSON without a search (ndr, pdr), a run with stats, or a record of NFVbench", _EXPECTED)


def _search(line: int, name: str, part: Node, size: str | None, root: Node) -> Trial:
    trial, search = Trial("NFVbench", line, name.upper()), part.of(name)
    trial.facts |= {"offered_rate": search.number("rate_pps"), "duration_s": search.number("duration_sec")}
    trial.frames(search.get("l2frame_size") or size)
    _overall(trial, search.of("stats.overall") if search.members("stats.overall") else search)
    trial.count_by_rate(trial.facts["offered_rate"])
    trial.details |= {
        "load_offered": search.number("load_percent_per_direction"),
        "load_unit": "%",
        "load_scope": "one_way",
        "loss_tolerance_pct": root.number(f"config.measurement.{name.upper()}"),
        "offered_l1_bit_s": search.number("rate_bps"),
        "search_s": search.number("time_taken_sec"),
    }
    line_rate = search.number("stats.theoretical_tx_rate_pps")
    if line_rate and trial.facts["achieved_rate"] is not None:
        trial.details["line_rate_share"] = trial.facts["achieved_rate"] / line_rate
    return trial


def _overall(trial: Trial, overall: Node) -> None:
    facts = trial.facts
    facts |= {
        "sent": overall.whole("tx.total_pkts"),
        "received": overall.whole("rx.total_pkts"),
        "dropped": overall.whole("rx.dropped_pkts"),
    }
    if facts["received"] is not None and facts["duration_s"]:
        facts["achieved_rate"] = facts["received"] / facts["duration_s"]
    elif (rate := overall.number("rx.pkt_rate")) is not None:
        facts["achieved_rate"] = facts["achieved_rate"] or rate * 2  # as it is halved there
    trial.details["loss_observed_pct"] = overall.number("drop_rate_percent", "drop_percentage")
    trial.details |= {"direction_scope": "sum_both", "load_layer": "L1"}
    trial.latency(overall, "us", names="rx.{0}_delay_usec {0}_delay_usec")


def _record(line: int, record: Node) -> Trial:
    """Return the trial of a fluentd record, from a single run or a search."""
    search = record.words("type") if "rate_pps" in record.members() else None
    trial = Trial("NFVbench", line, search or "single run")
    trial.facts["duration_s"] = record.number("chain_analysis_duration")
    _overall(trial, record)
    trial.facts |= {
        "tool_version": record.words("version"),
        "offered_rate": record.number("total_orig_rate_pps", "rate_pps"),
        "achieved_rate": record.number("total_rx_rate_pps"),
    }
    trial.count_by_rate(record.number("total_tx_rate_pps") or trial.facts["offered_rate"])
    if search and (loss := trial.details["loss_observed_pct"]) is not None and trial.facts["offered_rate"]:
        trial.facts["achieved_rate"] = trial.facts["offered_rate"] * (1 - loss / 100)
    trial.frames(record.get("frame_size"))
    if record.get("bidirectional") is False:
        trial.details["direction_scope"] = "one_way"
    trial.follow(record, _SERIES)
    for key in ("service_chain", "flow_count", "profile", "vSwitch", "Encapsulation", "user_label", "@timestamp"):
        if (text := record.words(key)) is not None:
            trial.details[key.strip("@").lower()] = text
    return trial


sniff = has_strings("|".join(IN_JSON))
parse = of_documents(_trials, _EXPECTED)
