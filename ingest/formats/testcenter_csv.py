"""Reader of Spirent TestCenter's RFC 2544 tables: exported CSV and answers of QueryResult.

A row is a trial: one frame size at one load; in a newer summary, a snapshot. `Offered Load (fps)` and `Forwarding Rate
(fps)` are sums over all transmitting ports; the load columns are per port, in the unit in brackets. `Passed` does not
mean that no frame was lost, as the tolerance is not in the table. Latencies (us) become observations in ms.
"""

import re
from functools import partial
from itertools import pairwise
from typing import Final

from dropline.ingest.formats import Parts, Reject, throughput
from dropline.ingest.formats.text import either, in_head, quote

NAME = "testcenter_csv"
TOOL: Final = "Spirent TestCenter"

_EXPECTED: Final = "expected TestCenter's RFC 2544 table, from the line that begins with `Trial Number` on"
_SIZES: Final = frozenset({"configuredframesize", "framesize"})
_SENT: Final = frozenset({"txframecount", "txsigframecount", "txsignatureframecount"})
_SUMMARY: Final = frozenset({"snapshotname", "aggofferedload", "aggforwardingrate", "txcount", "rxcount"})
_TESTS: Final = {
    **{"optimallearningrate": "RFC 2889", "burstsize": "RFC 2544 back to back"},
    "throughput": "RFC 2544 throughput",
}
_ANSWER: Final = re.compile(r"-Columns\s+\{")
_OPTION: Final = re.compile(r"(?:\A|\s)-([A-Z][A-Za-z]*)\s")
_ROW: Final = re.compile(r"\{((?:[^{}]++|\{[^{}]*+\})*+)(\}?)")
_WORD: Final = re.compile(r"\{([^{}]*)\}|([^\s{}]+)")
# Units of a rate in a caption; with another unit, such as Mbps, the rate of the frames is used.
_FRAMES_PER: Final = {"": 1.0, "fps": 1.0, "pps": 1.0, "kpps": 1e3, "mpps": 1e6}
# PERCENT_LINE_RATE, BITS_PER_SECOND and similar units add 8 bytes of preamble and 12 of gap to a frame.
_UNITS: Final = {
    **{"PERCENT_LINE_RATE": "%", "FRAMES_PER_SECOND": "fps", "INTER_BURST_GAP": "inter burst gap"},
    **{"BITS_PER_SECOND": "bps", "KILOBITS_PER_SECOND": "kbps", "MEGABITS_PER_SECOND": "mbps"},
}
_L1_UNITS: Final = frozenset({"%", "bps", "kbps", "mbps"})
_SHORTFALL: Final = 0.98
_CLOSE: Final = 0.01


def _rows(table: throughput.Table) -> Parts:
    summary = table.columns.names >= _SUMMARY
    numbers = table.columns.places("trial" if summary else "trialnumber")
    test = next((test for name, test in _TESTS.items() if name in table.columns.names), "RFC 2544")
    several = throughput.several_trials(
        row.cells[numbers[0]] for row in table.rows if numbers and len(row.cells) > numbers[0]
    )

    def trial(record: throughput.Record) -> throughput.Trial | Reject:
        if summary:
            return _snapshot(record, several=several)
        if numbers and record.number("trialnumber") is None:  # perhaps a row of totals
            reason = f"row without a trial number: {record.quoted}"
            return Reject(record.line, reason, "it is not TestCenter's; remove it, or leave it: no trial is lost")
        return trial_of(record, test, several=several)

    return throughput.each_row(table, trial)


def _snapshot(record: throughput.Record, *, several: bool) -> throughput.Trial:
    """Return the trial of a row of the newer summary, of which only the header is public."""
    trial = throughput.Trial(TOOL, record.line, "RFC 2544 summary")
    trial.facts |= {
        "offered_rate": record.number("aggintendedload", "aggofferedload", unit="fps"),
        "achieved_rate": record.number("aggforwardingrate", unit="fps"),
        "sent": record.whole("txcount", unit="frames"),
        "received": record.whole("rxcount", unit="frames"),
    }
    trial.details |= {
        "direction_scope": "sum_both",
        "frame_size_bytes": record.number("framesize", unit="bytes"),
        "snapshot": record.words("snapshotname"),
    }
    trial.repeat(record.whole("trial"), several=several)
    trial.observe("latency_avg", record.number("streamavglatency", scale=1e-3), "ms")
    trial.observe("offered_rate_l1", record.number("aggofferedl1load", unit="bps"), "bit/s")
    trial.observe("achieved_rate_l1", record.number("aggforwardingl1rate", unit="bps"), "bit/s")
    if queue_drops := record.whole("txqueuefulldropframecount"):
        trial.warnings.append(f"The generator itself dropped {queue_drops} frames: its queue was full.")
    trial.warnings.append("This kind of summary is probably, but not certainly, from TestCenter.")
    return trial


def _is_header(columns: throughput.Columns) -> bool:
    names = columns.names
    return bool(names & _SIZES and names & _SENT and "rxframecount" in names) or names >= _SUMMARY


def _is_answer(text: str) -> bool:
    return bool(_ANSWER.search(text)) and "-Output" in text


def _read_answers(text: str) -> Parts:
    """Yield the trials of each `-Columns {...} -Output {{...} ...}`, Tcl lists with words with spaces in braces."""
    starts = [match.start() for match in _ANSWER.finditer(text)]
    if before := text[: starts[0]].strip():
        yield Reject(1, f"not part of an answer: {quote(before)}", _EXPECTED)
    following = 1 + text.count("\n", 0, starts[0])
    for start, end in pairwise([*starts, len(text)]):
        line, following = following, following + text.count("\n", start, end)
        answer = _OPTION.split(text[start:end])
        parts = dict(zip(answer[1::2], answer[2::2], strict=True))
        columns = throughput.Columns(_words(parts["Columns"].strip("{} \n")))
        if not _is_header(columns):
            hint = "query RFC2544ThroughputTestResultDetailedSummaryView, or another RFC2544 view"
            yield Reject(line, "answer of QueryResult without the columns of an RFC 2544 view", hint)
            continue
        found = _ROW.finditer(parts.get("Output", "").partition("{")[2])
        # In a text of one line, an unclosed row of values corresponds to a missing newline.
        yield from _rows(
            throughput.Table(line, columns, [throughput.Line(line, _words(row[1]), bool(row[2])) for row in found])
        )


def _words(text: str) -> list[str]:
    return [braced or bare for braced, bare in _WORD.findall(text)]


def _read(text: bytes) -> Parts:
    if _is_answer(text[:65536].decode("utf-8", "replace")):
        return _read_answers(text.decode("utf-8", "replace"))
    return throughput.each_table(text, _is_header, _rows, _EXPECTED)


def trial_of(record: throughput.Record, test: str, *, several: bool) -> throughput.Trial:
    """Return the trial of a row of a table or a database: frames/s of all ports, frames, s, latencies in us."""
    trial = throughput.Trial(TOOL, record.line, test)
    sent = record.whole("txframecount", "txsignatureframecount", "txsigframecount")
    received = record.whole("rxframecount", "rxsigframecount")
    loads = [throughput.number(record.values[place]) for place in record.columns.places("offeredload", "fps")]
    # If the load is displayed in frames/s, two columns have this name: the larger is for all ports, the other for one.
    displayed = "fps" in (record.columns.unit("intendedload"), record.columns.unit("throughput"))
    of_all = max((load for load in loads if load is not None), default=None)
    offered = of_all if len(loads) > displayed else _frame_rate(record, "txframerate")
    duration = (spent := record.milliseconds("s", "duration", "durationinsec")) and spent / 1e3
    cut = throughput.number(record.cut) if record.cut is not None and record.columns.keys[-1][0] == "duration" else None
    if cut and sent and offered and abs(sent / cut / offered - 1) < _CLOSE:  # not cut off, as it gives the rate
        duration, record.cut = cut, None
    achieved = _frame_rate(record, "forwardingrate", "framerate")
    trial.facts |= {
        "offered_rate": sent / duration if offered is None and sent is not None and duration else offered,
        "achieved_rate": received / duration if achieved is None and received is not None and duration else achieved,
        **{"sent": sent, "received": received, "duration_s": duration},
    }
    trial.repeat(record.whole("trialnumber", "trialnum"), several=several)
    trial.details |= {"direction_scope": "sum_both", "verdict": record.words("result")}
    _describe_frames(trial, record)
    _describe_load(trial, record)
    for measure in ("latency", "jitter"):
        trial.latency(record, "us", names="{1}{2} {0}{2}", measure=measure)
    _check(trial, record)
    return trial


def _frame_rate(record: throughput.Record, *names: str) -> float | None:
    rates = (record.number(*names, unit=unit, scale=scale) for unit, scale in _FRAMES_PER.items())
    return next((rate for rate in rates if rate is not None), None)


def _describe_frames(trial: throughput.Trial, record: throughput.Record) -> None:
    kind = record.words("framesizetype")
    trial.details["frame_size_bytes"] = record.number("configuredframesize", "framesize")
    if average := record.number("avgframesize"):
        trial.details["frame_size_avg_bytes"] = average
    if kind and kind.lower() != "fixed":
        mix = record.words("imixdistribution", "framelengthdistribution")
        trial.details["frame_mix"] = f"{kind} {mix} frames" if mix and mix != "N/A" else f"{kind} frames"
    if burst := record.whole("burstsize"):
        trial.details["burst_size_frames"] = burst


def _describe_load(trial: throughput.Trial, record: throughput.Record) -> None:
    details, display = trial.details, record.words("displayloadunit")
    unit = record.columns.unit("intendedload") or record.columns.unit("throughput")
    unit = _UNITS.get(display or "", display) or unit or None
    bracket = unit if record.columns.unit("offeredload") else None
    intended, offered = record.number("intendedload"), record.number("offeredload", unit=bracket)
    details |= {"load_unit": unit, "load_intended": intended, "load_offered": offered, "load_scope": "per_port"}
    details["throughput"] = record.number("throughput")
    if unit in _L1_UNITS:
        details["load_layer"] = "L1"
    achieved, sent = trial.facts["achieved_rate"], trial.facts["offered_rate"]
    if unit == "%" and offered and achieved is not None and sent:
        details["line_rate_share"] = achieved / sent * offered / 100
    if intended and offered is not None and unit != "inter burst gap" and offered < _SHORTFALL * intended:
        trial.warnings.append(f"Of an intended load of {intended:.15g} only {offered:.15g} was offered.")


def _check(trial: throughput.Trial, record: throughput.Record) -> None:
    facts, details = trial.facts, trial.details
    printed = record.whole("frameloss")
    percent = record.number("percentloss", "percentframeloss")
    if None not in (facts["sent"], facts["received"]):
        lost = max(facts["sent"] - facts["received"], 0)
        if printed not in (None, lost):
            trial.warnings.append(f"Frame loss is printed as {printed}; sent minus received is {lost}.")
        if lost and details["verdict"] == "Passed":
            trial.warnings.append(f"Passed with {lost} frames lost: the loss tolerance of the test is not stated.")
    else:
        facts["dropped"], details["loss_observed_pct"] = printed, percent
    for name in ("maxlatencythresholdexceeded", "outofseqthresholdexceeded", "unexpectedrxsignatureframes"):
        if str(record.get(name)).lower() in {"true", "yes", "1"}:
            trial.warnings.append(f"TestCenter marks this row as {name}.")


sniff = either(partial(throughput.has_table, is_header=_is_header), in_head(_is_answer))
parse = throughput.accounted(_read, _EXPECTED)
