"""Reader of TRex's `stl_ndr_bench_tool.py -o` (trex-core, ndr_bench.py): frames/s of all ports, last iteration.

The benchmark is called NDR but accepts `pdr` percent of lost frames, by default 0.1. Rates named `*_L1` and
`rate_*_bps` include preamble and gap; `tx_bps` and `rx_bps` do not. `cpu_util` is that of TRex.
"""

from typing import Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.json_documents import Node, has_strings, of_documents
from dropline.ingest.formats.text import words
from dropline.ingest.formats.throughput import Series, Trial, Trials

NAME = "trex"
IN_JSON = ("ndr_points", "queue_full_percentage", "rate_tx_bps")

_EXPECTED: Final = "expected the JSON that stl_ndr_bench_tool.py writes with -o: an object with `results` and `config`"
_SERIES: Final = (
    Series("total_tx_L1", "offered_rate_l1", "bit/s"),
    Series("total_rx_L1", "achieved_rate_l1", "bit/s"),
    Series("tx_bps", "offered_rate_l2", "bit/s"),
    Series("rx_bps", "achieved_rate_l2", "bit/s"),
    Series("cpu_util", "generator_cpu", "%"),
)


def _trials(line: int, document: Node) -> Trials:
    results, config = document.of("results"), document.of("config")
    if results.number("rx_pps") is None:
        yield Reject(line, "JSON without results.rx_pps", _EXPECTED)
        return
    trial = Trial("TRex", line, "NDR benchmark")
    trial.facts |= {
        "offered_rate": results.number("tx_pps"),
        "achieved_rate": results.number("rx_pps"),
        "duration_s": config.number("iteration_duration"),
    }
    both = config.get("bi_dir")
    line_rate, received = results.number("max_rate_bps"), results.number("rate_rx_bps")
    trial.details |= {
        "direction_scope": ("sum_both" if both else "one_way") if isinstance(both, bool) else None,
        "load_layer": "L1",
        "line_rate_share": received / line_rate if line_rate and received is not None else None,
        "loss_observed_pct": results.number("drop_rate_percentage"),
        "loss_tolerance_pct": config.number("pdr"),
        "load_offered": results.number("rate_p"),
        "load_unit": "%",
        "iteration": results.number("iteration"),
        "queue_full_pct": results.number("queue_full_percentage"),
        "title": results.words("title"),
        "search_s": results.number("Elapsed Time"),
    }
    trial.count_by_rate(trial.facts["offered_rate"])
    trial.frames(config.get("pkt_size", "tunables.size"))
    if ports := config.values("ports"):
        trial.details["ports"] = len(ports)
    if tolerance := trial.details["loss_tolerance_pct"]:
        trial.warnings.append(f"Called NDR, but {tolerance:.15g} % of the frames may be lost.")
    if full := trial.details["queue_full_pct"]:
        trial.warnings.append(f"The queue of the generator was full for {full:.15g} % of the frames.")
    trial.follow(results, _SERIES)
    for stream, figures in results.members("latency").items() if results.get("valid_latency") is True else ():
        trial.latency(figures, "us", words(stream), names="total_{0} {1}")
    yield trial


sniff = has_strings("|".join(IN_JSON))
parse = of_documents(_trials, _EXPECTED)
