"""The reader of FD.io CSIT's test case results (resources/model_schema/test_case.schema.yaml, 1.4 and 1.5).

Rates are of both directions, and packets that the generator did not send count as lost. NDR accepts no loss, PDR
0.5 %, a soak test 1e-7. Their lower bound is the load of a trial that passed, and the rate that CSIT publishes. The
duration of a test case includes its set-up and all trials of a search.

ndrpdr gives two trials; mrr, soak, reconf and hoststack one. Rates are frames/s, connections/s or transactions/s
(requests); a hoststack test without a rate has its goodput in Mbit/s.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from dropline.ingest.formats.json_documents import items, mapping, of_json, trials_of_json
from dropline.ingest.formats.text import instant
from dropline.ingest.formats.throughput import (
    CONNECTIONS,
    FRAMES,
    MBITS,
    MS_PER,
    TRANSACTIONS,
    Trial,
    Unusable,
    number,
    whole,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Row

NAME = "csit"
IN_JSON = ('"dut_type"',)

_EXPECTED: Final = "expected the JSON of one CSIT test case, with `dut_type`, `tg_type` and `result`"
_UNITS: Final = {"pps": FRAMES, "cps": CONNECTIONS, "rps": TRANSACTIONS}
# result key -> (test, accepted loss in percent)
_BOUNDS: Final = {"ndr": ("NDR", 0.0), "pdr": ("PDR", 0.5), "critical_rate": ("soak", 1e-5)}
_FRAME_SIZE: Final = re.compile(r"(\d{2,5})B", re.ASCII)
_DIRECTIONS: Final = ("forward", "reverse")


def _trials(line: int, document: Any) -> Iterator[Trial]:
    case = mapping(document)
    result = mapping(case.get("result"))
    found = list(_results(line, result))
    if not found:
        kind, message = words(result.get("type")) or "none", words(case.get("message"))
        reason = f"test case without a rate: its result is of type {kind}" + (f"; {message}" if message else "")
        raise Unusable(reason, "ingest the test cases that passed and that measure a rate")
    for trial in found:
        _describe(trial, case)
        yield trial


def _results(line: int, result: Row) -> Iterator[Trial]:
    for key, (test, tolerance) in _BOUNDS.items():
        bounds = mapping(result.get(key))
        if trial := _rated(line, test, mapping(bounds.get("lower"))):
            trial.facts["offered_rate"] = trial.facts["achieved_rate"]
            trial.details["loss_tolerance_pct"] = tolerance
            trial.details["upper_bound"] = _value(mapping(bounds.get("upper")).get("rate"))
            if key == "pdr":
                _latencies(trial, result)
            yield trial
    if trial := _rated(line, "MRR", mapping(result.get("receive_rate")), "avg"):
        values = items(mapping(mapping(result.get("receive_rate")).get("rate")).get("values"))
        for place, value in enumerate(values, 1):
            trial.observe("receive_rate", number(value), trial.facts["rate_unit"], f"trial {place}")
        yield trial
    if trial := _rated(line, "reconf", mapping(result.get("aggregate_rate"))):
        trial.facts["offered_rate"] = trial.facts["achieved_rate"]
        loss = mapping(result.get("loss"))
        trial.facts["dropped"] = whole(_value(loss.get("packet")))
        trial.observe("time_lost", _value(loss.get("time")), "s")
        yield trial
    if result.get("type") == "hoststack":
        yield _hoststack(line, result)


def _rated(line: int, test: str, rates: Row, key: str = "value") -> Trial | None:
    rate = mapping(rates.get("rate"))
    value, unit = number(rate.get(key)), _UNITS.get(str(rate.get("unit")))
    if value is None or unit is None:
        return None
    trial = Trial("CSIT", line, test, unit)
    trial.facts["achieved_rate"] = value
    trial.details["direction_scope"] = "sum_both"
    trial.observe("achieved_rate_bits", number(mapping(rates.get("bandwidth")).get(key)), "bit/s")
    return trial


def _hoststack(line: int, result: Row) -> Trial:
    goodput = number(mapping(result.get("bandwidth")).get("value"), 1e-6)
    trial = _rated(line, "hoststack", result)
    if not trial:
        trial = Trial("CSIT", line, "hoststack", MBITS)
        trial.facts["achieved_rate"] = goodput
        trial.details["load_layer"] = "goodput"
    trial.observe("goodput", goodput, MBITS)
    completed, failed = (whole(_value(result.get(f"{name}_requests"))) for name in ("completed", "failed"))
    trial.facts |= {"received": completed, "dropped": failed, "duration_s": _value(result.get("duration"))}
    if completed is not None and failed is not None:
        trial.facts["sent"] = completed + failed
    trial.details["counted"] = "transactions"
    trial.observe("retransmits", _value(result.get("retransmits")), "packets")
    latency = mapping(result.get("latency"))
    if (unit := str(latency.get("unit"))) in MS_PER:
        trial.latency({"avg": latency.get("value")}, unit)
    return trial


def _latencies(trial: Trial, result: Row) -> None:
    """Add the latencies at shares of the PDR, in each direction."""
    for direction in _DIRECTIONS:
        for load, figures in mapping(result.get(f"latency_{direction}")).items():
            unit = str(mapping(figures).get("unit", "us"))
            if unit in MS_PER:
                values = {name: mapping(figures).get(name) for name in ("min", "avg", "max")}
                trial.latency(values, unit, words(f"{direction} {load}"))


def _describe(trial: Trial, case: Row) -> None:
    trial.facts |= {
        "tool_version": words(case.get("version")),
        "product": words(case.get("dut_type")),
        "product_version": words(case.get("dut_version")),
        "started_at": instant(case.get("start_time")),
        "ended_at": instant(case.get("end_time")),
    }
    tags = [tag for tag in map(words, items(case.get("tags"))) if tag]
    size = next((match for tag in tags if (match := _FRAME_SIZE.fullmatch(tag))), None)
    trial.details |= {
        "frame_size_bytes": number(size[1]) if size else None,
        "verdict": {True: "passed", False: "failed"}.get(case["passed"])
        if isinstance(case.get("passed"), bool)
        else None,
        "generator": words(case.get("tg_type")),
        "generator_version": words(case.get("tg_version")),
        "test_id": words(case.get("test_id")),
        "test": words(case.get("test_name_long")),
        "test_case_s": number(case.get("duration")),
        "hosts": [host for host in map(words, items(case.get("hosts"))) if host],
    }
    if mix := next((tag for tag in tags if tag.startswith("IMIX")), None):
        trial.details["frame_mix"] = f"{mix} frames"
    if case.get("passed") is False:
        trial.doubt(f"The test case failed: {words(case.get('message')) or 'no message'}.")


def _value(quantity: object) -> float | None:
    return number(mapping(quantity).get("value"))


sniff = of_json("dut_type", "tg_type")
parse = trials_of_json(_trials, _EXPECTED)
