"""Reader of vswitchperf's result files (OPNFV vsperf, core/results/results_constants.py): a row per trial.

The file names no generator and has no counts. With TestCenter, its `_mbps` columns are megabytes per second, too low by
a factor of 8, so only rates in frames/s are used. A cell may be `Unknown`. Latencies (ns) become observations in ms.
"""

from functools import partial
from typing import Final

from dropline.ingest.formats.throughput import Record, Trial, each_row, of_tables

NAME = "vsperf"

_EXPECTED: Final = "expected vsperf's result_<n>_<test>_<deployment>.csv, with the columns tx_rate_fps and packet_size"
_COLUMNS: Final = frozenset({"txratefps", "throughputrxfps", "packetsize"})
_CLOSE: Final = 0.01


def _trial(record: Record) -> Trial:
    trial = Trial("vsperf", record.line, record.words("type") or "vsperf")
    achieved = record.number("throughputrxfps")
    trial.facts |= {"offered_rate": record.number("txratefps"), "achieved_rate": achieved}
    size, share = record.number("packetsize"), record.number("throughputrxpercent")
    trial.details |= {
        "frame_size_bytes": size,
        "line_rate_share": None if share is None else share / 100,
        "loss_observed_pct": record.number("framelosspercent"),
        "deployment": record.words("deployment"),
        "test": record.words("id"),
    }
    if genome := record.words("imixgenome"):
        trial.details["frame_mix"] = f"iMIX {genome} frames"
        trial.details["frame_size_avg_bytes"] = size = record.number("imixavgframesize")
    trial.latency(record, "ns", names="{0}latencyns")
    printed = record.number("throughputrxmbps")
    if achieved and size and printed and abs(printed / (achieved * size / 1e6) - 1) < _CLOSE:
        trial.warnings.append("Its mbps columns are megabytes per second, without the factor 8. They are not used.")
    return trial


sniff, parse = of_tables(lambda columns: columns.names >= _COLUMNS, partial(each_row, trial_of=_trial), _EXPECTED)
