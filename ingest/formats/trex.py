"""The reader of TRex's `stl_ndr_bench_tool.py -o` (trex-core, ndr_bench.py).

The benchmark is called NDR but accepts `pdr` percent of lost frames, 0.1 by default. Rates named `*_L1` and
`rate_*_bps` include preamble and gap, `tx_bps` and `rx_bps` do not.

A trial is the last iteration: frames/s sent and received by all ports. `cpu_util` is TRex's own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from dropline.ingest.formats.json_documents import items, mapping, of_json, trials_of_json
from dropline.ingest.formats.throughput import Trial, Unusable, number, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Row

NAME = "trex"
IN_JSON = ("ndr_points", "queue_full_percentage", "rate_tx_bps")

_EXPECTED: Final = "expected the JSON that stl_ndr_bench_tool.py writes with -o: an object with `results` and `config`"
_MARK: Final = re.compile(rf'"(?:{"|".join(IN_JSON)})"\s*:')
_LATENCIES: Final = {"min": "total_min", "avg": "average", "max": "total_max"}
_L1_RATES: Final = {"offered_rate_l1": "total_tx_L1", "achieved_rate_l1": "total_rx_L1"}
_L2_RATES: Final = {"offered_rate_l2": "tx_bps", "achieved_rate_l2": "rx_bps"}


def _trials(line: int, document: Any) -> Iterator[Trial]:
    results, config = mapping(mapping(document).get("results")), mapping(mapping(document).get("config"))
    if number(results.get("rx_pps")) is None:
        reason = "JSON without results.rx_pps"
        raise Unusable(reason, _EXPECTED)
    trial = Trial("TRex", line, "NDR benchmark")
    trial.facts |= {
        "offered_rate": number(results.get("tx_pps")),
        "achieved_rate": number(results.get("rx_pps")),
        "duration_s": number(config.get("iteration_duration")),
    }
    _describe(trial, results, config)
    for names, unit in ((_L1_RATES, "bit/s"), (_L2_RATES, "bit/s")):
        for metric, key in names.items():
            trial.observe(metric, number(results.get(key)), unit)
    trial.observe("generator_cpu", number(results.get("cpu_util")), "%")
    if results.get("valid_latency") is True:
        for stream, figures in mapping(results.get("latency")).items():
            values = {name: mapping(figures).get(key) for name, key in _LATENCIES.items()}
            trial.latency(values, "us", words(stream))
    yield trial


def _describe(trial: Trial, results: Row, config: Row) -> None:
    details = trial.details
    scopes = {True: "sum_both", False: "one_way"}
    both = config.get("bi_dir")
    line, received = number(results.get("max_rate_bps")), number(results.get("rate_rx_bps"))
    details |= {
        "direction_scope": scopes[both] if isinstance(both, bool) else None,
        "load_layer": "L1",
        "line_rate_share": received / line if line and received is not None else None,
        "loss_observed_pct": number(results.get("drop_rate_percentage")),
        "loss_tolerance_pct": number(config.get("pdr")),
        "load_offered": number(results.get("rate_p")),
        "load_unit": "%",
        "iteration": number(results.get("iteration")),
        "queue_full_pct": number(results.get("queue_full_percentage")),
        "title": words(results.get("title")),
        "search_s": number(results.get("Elapsed Time")),
    }
    if ports := items(config.get("ports")):
        details["ports"] = len(ports)
    if tolerance := details["loss_tolerance_pct"]:
        trial.warnings.append(f"Called NDR, but {tolerance:.15g} % of the frames may be lost.")
    if full := details["queue_full_pct"]:
        trial.warnings.append(f"The queue of the generator was full for {full:.15g} % of the frames.")


sniff = of_json("|".join(IN_JSON))
parse = trials_of_json(_trials, _EXPECTED)
