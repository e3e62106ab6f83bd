"""Reader of FD.io CSIT's result of one test case (model of CSIT 1.4 and 1.5).

ndrpdr gives two trials; mrr, soak, reconf and hoststack one. Rates cover both directions, in frames/s, connections/s or
transactions/s (requests), else as goodput in Mbit/s. The lower bound is the load of a trial that passed, and the rate
that CSIT publishes; packets that were not sent count as lost. The duration includes set-up and search.
"""

import re
from typing import Final

from dropline.ingest.formats import Reject
from dropline.ingest.formats.json_documents import Node, has_strings, of_documents
from dropline.ingest.formats.text import words
from dropline.ingest.formats.throughput import CONNECTIONS, FRAMES, MBITS, TRANSACTIONS, Trial, Trials, number

NAME = "csit"
IN_JSON = ('"dut_type"',)

_EXPECTED: Final = "expected the JSON of one CSIT test case, with `dut_type`, `tg_type` and `result`"
_UNITS: Final = {"pps": FRAMES, "cps": CONNECTIONS, "rps": TRANSACTIONS}
# result key -> (test, accepted loss in percent)
_BOUNDS: Final = {"ndr": ("NDR", 0.0), "pdr": ("PDR", 0.5), "critical_rate": ("soak", 1e-5)}
_FRAME_SIZE: Final = re.compile(r"(\d{2,5})B", re.ASCII)


def _trials(line: int, case: Node) -> Trials:
    result = case.of("result")
    found = _results(line, result)
    for trial in found:
        _describe(trial, case)
        yield trial
    if not found:
        message = case.words("message")
        reason = f"test case without a rate: its result is of type {result.words('type') or 'none'}"
        hint = "ingest the test cases that passed and that measure a rate"
        yield Reject(line, f"{reason}; {message}" if message else reason, hint)


def _results(line: int, result: Node) -> list[Trial]:
    found = []
    for key, (test, tolerance) in _BOUNDS.items():
        if trial := _rated(line, test, result.of(f"{key}.lower")):
            trial.facts["offered_rate"] = trial.facts["achieved_rate"]
            trial.details["loss_tolerance_pct"] = tolerance
            trial.details["upper_bound"] = result.number(f"{key}.upper.rate.value")
            for direction in ("forward", "reverse") if key == "pdr" else ():
                for load, figures in result.members(f"latency_{direction}").items():
                    trial.latency(figures, str(figures.get("unit") or "us"), words(f"{direction} {load}"), names="{0}")
            found.append(trial)
    if trial := _rated(line, "MRR", result.of("receive_rate"), "avg"):
        for place, value in enumerate(result.values("receive_rate.rate.values"), 1):
            trial.observe("receive_rate", number(value), trial.facts["rate_unit"], f"trial {place}")
        found.append(trial)
    if trial := _rated(line, "reconf", result.of("aggregate_rate")):
        trial.facts["offered_rate"] = trial.facts["achieved_rate"]
        trial.facts["dropped"] = result.whole("loss.packet.value")
        trial.observe("time_lost", result.number("loss.time.value"), "s")
        found.append(trial)
    if result.get("type") == "hoststack":
        found.append(_hoststack(line, result))
    return found


def _rated(line: int, test: str, rates: Node, key: str = "value") -> Trial | None:
    value, unit = rates.number(f"rate.{key}"), _UNITS.get(str(rates.get("rate.unit")))
    if value is None or unit is None:
        return None
    trial = Trial("CSIT", line, test, unit)
    trial.facts["achieved_rate"] = value
    trial.details["direction_scope"] = "sum_both"
    trial.observe("achieved_rate_bits", rates.number(f"bandwidth.{key}"), "bit/s")
    return trial


def _hoststack(line: int, result: Node) -> Trial:
    goodput = result.number("bandwidth.value", scale=1e-6)
    trial = _rated(line, "hoststack", result)
    if not trial:
        trial = Trial("CSIT", line, "hoststack", MBITS)
        trial.facts["achieved_rate"] = goodput
        trial.details["load_layer"] = "goodput"
    trial.observe("goodput", goodput, MBITS)
    completed, failed = (result.whole(f"{name}_requests.value") for name in ("completed", "failed"))
    trial.facts |= {"received": completed, "dropped": failed, "duration_s": result.number("duration.value")}
    if completed is not None and failed is not None:
        trial.facts["sent"] = completed + failed
    trial.details["counted"] = "transactions"
    trial.observe("retransmits", result.number("retransmits.value"), "packets")
    trial.latency(Node({"avg": result.get("latency.value")}), str(result.get("latency.unit")), names="{0}")
    return trial


def _describe(trial: Trial, case: Node) -> None:
    trial.facts |= {
        "tool_version": case.words("version"),
        "product": case.words("dut_type"),
        "product_version": case.words("dut_version"),
        "started_at": case.instant("start_time"),
        "ended_at": case.instant("end_time"),
    }
    tags = list(filter(None, map(words, case.values("tags"))))
    passed = case.get("passed")
    trial.details |= {
        "frame_size_bytes": next((number(match[1]) for tag in tags if (match := _FRAME_SIZE.fullmatch(tag))), None),
        "verdict": ("passed" if passed else "failed") if isinstance(passed, bool) else None,
        "generator": case.words("tg_type"),
        "generator_version": case.words("tg_version"),
        "test_id": case.words("test_id"),
        "test": case.words("test_name_long"),
        "test_case_s": case.number("duration"),
        "hosts": list(filter(None, map(words, case.values("hosts")))),
    }
    if mix := next((tag for tag in tags if tag.startswith("IMIX")), None):
        trial.details["frame_mix"] = f"{mix} frames"
    if passed is False:
        trial.doubt(f"The test case failed: {case.words('message') or 'no message'}.")


sniff = has_strings("dut_type", "tg_type")
parse = of_documents(_trials, _EXPECTED)
