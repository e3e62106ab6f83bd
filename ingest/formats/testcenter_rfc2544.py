"""One row of a TestCenter RFC 2544 result, from an exported table or a results database."""

from typing import Final

from dropline.ingest.formats.throughput import Record, Trial, number

TOOL: Final = "Spirent TestCenter"

# Units of a rate in a caption; of another, such as Mbps, the rate is that of the frames.
_FRAMES_PER: Final = {"": 1.0, "fps": 1.0, "pps": 1.0, "kpps": 1e3, "mpps": 1e6}
# PERCENT_LINE_RATE, BITS_PER_SECOND and similar units add 8 bytes of preamble and 12 of gap to a frame.
_UNITS: Final = {
    **{"PERCENT_LINE_RATE": "%", "FRAMES_PER_SECOND": "fps", "INTER_BURST_GAP": "inter burst gap"},
    **{"BITS_PER_SECOND": "bps", "KILOBITS_PER_SECOND": "kbps", "MEGABITS_PER_SECOND": "mbps"},
}
_L1_UNITS: Final = frozenset({"%", "bps", "kbps", "mbps"})
_SHORTFALL: Final = 0.98
_CLOSE: Final = 0.01


def trial_of(record: Record, test: str, *, several: bool) -> Trial:
    """Return the trial of one row: frames/s of all ports, frames, seconds, latencies in us; see `repeat`."""
    trial = Trial(TOOL, record.line, test)
    sent = record.whole("txframecount", "txsignatureframecount", "txsigframecount")
    received = record.whole("rxframecount", "rxsigframecount")
    loads = [number(record.values[place]) for place in record.columns.places("offeredload", "fps")]
    # If the load is displayed in frames/s, two columns have that name; the larger is of all ports, the other of one.
    displayed = "fps" in (record.columns.unit("intendedload"), record.columns.unit("throughput"))
    of_all = max((load for load in loads if load is not None), default=None)
    offered = of_all if len(loads) > displayed else _frame_rate(record, "txframerate")
    duration = (spent := record.milliseconds("s", "duration", "durationinsec")) and spent / 1e3
    cut = number(record.cut) if record.cut is not None and record.columns.keys[-1][0] == "duration" else None
    if cut and sent and offered and abs(sent / cut / offered - 1) < _CLOSE:  # it is whole, as it gives the rate
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


def _frame_rate(record: Record, *names: str) -> float | None:
    rates = (record.number(*names, unit=unit, scale=scale) for unit, scale in _FRAMES_PER.items())
    return next((rate for rate in rates if rate is not None), None)


def _describe_frames(trial: Trial, record: Record) -> None:
    kind = record.words("framesizetype")
    trial.details["frame_size_bytes"] = record.number("configuredframesize", "framesize")
    if average := record.number("avgframesize"):
        trial.details["frame_size_avg_bytes"] = average
    if kind and kind.lower() != "fixed":
        mix = record.words("imixdistribution", "framelengthdistribution")
        trial.details["frame_mix"] = f"{kind} {mix} frames" if mix and mix != "N/A" else f"{kind} frames"
    if burst := record.whole("burstsize"):
        trial.details["burst_size_frames"] = burst


def _describe_load(trial: Trial, record: Record) -> None:
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


def _check(trial: Trial, record: Record) -> None:
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
            trial.warnings.append(f"TestCenter says of this row: {name}.")
