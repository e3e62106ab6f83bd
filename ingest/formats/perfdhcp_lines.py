"""The lines that perfdhcp prints, and the handlers that add them to a trial.

Nearly every line is one `key: value`, found in KEYS; `recognise` handles the others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from dropline.ingest.formats.perfdhcp_trial import DELAYS, Counters, Process, Stage
from dropline.ingest.formats.text import count

Handler = Callable[[Process, Any], bool]
"""Adds the payload of a line, and returns whether it is valid there; its name describes the line to users."""

START: Final = "Running: perfdhcp"

INTERIM: Final = ("sent", "received", "drops", "rejected")  # counters of an interim line, the last since 1.7.2
COUNTERS: Final = {
    "sent packets": "sent",
    "received packets": "received",
    "drops": "drops",
    "orphans": "orphans",
    "rejected leases": "rejected",
    "non unique addresses": "non_unique",
}
DELAY_KEYS: Final = dict(zip(("min delay", "avg delay", "max delay", "std deviation"), DELAYS, strict=True))

_LONGEST: Final = 1000  # characters of a line; longer ones are not matched
_NO_DELAYS: Final = "Delay summary unavailable! No packets received."

_ERROR: Final = re.compile(r"((?:ERROR: |Error )(?:running perfdhcp|parsing command line options))(?:: *.*)?")
_INTERIM: Final = re.compile(
    "{}: ([\\d/]+); {}: ([\\d/]+); {}: ([\\d/]+)(?:; {}: ([\\d/]+))?".format(*INTERIM), re.ASCII
)
_CLEAN: Final = re.compile(r"\d+(\D+)\d+(?:\1\d+)+", re.ASCII)
_PROGRESS: Final = re.compile(
    r"\d{4}-\w{3}-\d\d \S+ \S+: still waiting for \d+ answers, resent \d+, retrying \d+", re.ASCII
)
_PROVISIONED: Final = re.compile(
    r"It took (\S+) to provision \d+ clients\."
    r"(?: (\d+) packets were sent, (\d+) retransmissions needed, received (\d+) responses\.)?",
    re.ASCII,
)
_RATE: Final = re.compile(
    r"([^ ,]+)(?: ([^/]+)/second)?(?:, expected rate: (\d{1,15})(?: exchanges/second)?)?", re.ASCII
)
_TIME: Final = re.compile(r"(\d{1,6})(\d\d)(\d\d)(?:\.(\d{1,9}))?", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|nan|inf)", re.ASCII)
_VERSION: Final = re.compile(r"(?:VERSION: )?(\d+\.\d+\.\d+(?:-\w+)?)", re.ASCII)
_LEASE: Final = re.compile(r"[0-9A-Fa-f:]*,([0-9A-Fa-f:.]*),([0-9A-Fa-f:]*)")
_TEMPLATE: Final = re.compile(r"[0-9a-f]{4,8} +[0-9a-f]+")
_ARGUMENT: Final = re.compile(r"([a-z][a-z-]*)(?:[\[{][^\]=]*\])?=(.*)")

# Labels printed by `-x a` -> the option; the values of the others are ignored.
_DECODED: Final = {
    **{"rate": "r", "renew-rate": "f", "release-rate": "F", "report": "t", "clients": "R"},
    **{"num-request": "n", "test-period": "p", "drop-time": "d"},
    **dict.fromkeys(
        (
            *("aggressivity", "base", "diagnostic-selectors", "elp-offset", "interface"),
            *("ip-offset", "lease-type", "local-addr", "local-port", "mac-list-file", "max-drop"),
            *("max-pdrop", "preload", "random-offset", "relay-addr-list-file", "remote-port"),
            *("rip-offset", "rnd-offset", "seed", "server", "sid-offset", "srvid-offset"),
            *("template-file", "time-offset", "wrapped", "xid-offset"),
        ),
        "",
    ),
}


def recognise(line: str, *, in_leases: bool) -> tuple[Stage, Handler, Any]:
    """Return (stage, handler, payload) of a line without a known key.

    Rows of leases are recognised only `in_leases`, after the start of their table.
    """
    if line.startswith(START):
        return Stage.STARTED, _command_line, line.removeprefix("Running: ")
    if line in _LINES:
        return *_LINES[line], ""
    if line.startswith("sent: ") and (counters := _counters(line)):
        return Stage.LOAD, _interim_counters, counters
    if match := _ERROR.fullmatch(line):
        return Stage.ERROR, _error, match[0]
    if len(line) <= _LONGEST:
        if counters := clean_counters(line):
            return Stage.LOAD, _interim_counters, counters
        if in_leases and (match := _LEASE.fullmatch(line)):
            return Stage.NOTHING, _lease, match[1] or match[2]
        for start, stage, handle in _STARTS:
            if line.startswith(start):
                return stage, handle, line.removeprefix(start)
        for pattern, stage, handle in _PATTERNS:
            if match := pattern.fullmatch(line):
                return stage, handle, match
    return Stage.NOTHING, _refuse, ""


def clean_counters(line: str) -> Counters | None:
    """Return the counters of an interim line with a custom separator (`-C`).

    It has no labels, but of its four counters per exchange the third follows from the first two.
    """
    match = _CLEAN.fullmatch(line) if len(line) <= _LONGEST else None
    numbers = line.split(match[1]) if match else []
    width, rest = divmod(len(numbers), 4)
    if rest or not numbers:
        return None
    counters = _table([numbers[i : i + width] for i in range(0, len(numbers), width)])
    if counters is None:
        return None
    lost = [max(s - r, 0) for s, r in zip(counters.sent, counters.received, strict=True)]
    return counters if counters.drops == lost else None


def _counters(line: str) -> Counters | None:
    """Return the counters of an interim line (`-t`)."""
    match = _INTERIM.fullmatch(line) if len(line) <= _LONGEST else None
    return _table([group.split("/") for group in match.groups() if group]) if match else None


def _table(columns: list[list[str]]) -> Counters | None:
    """Return the counters in columns of digits; None if there are none, or one exceeds a 64-bit integer."""
    width = len(columns[0])
    counts = [[int(text) for text in texts if 0 < len(text) <= 18] for texts in columns]
    if width > 4 or any(len(values) != width for values in columns + counts):
        return None
    return Counters(counts[0], counts[1], counts[2], counts[3] if len(counts) > 3 else None)


def _number(text: str) -> float | None:
    """Parse a number as a C++ stream prints it, including inf and nan; return None if invalid."""
    return float(text) if len(text) <= _LONGEST and _NUMBER.fullmatch(text) else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _nanoseconds(text: str) -> int | None:
    """Parse a boost time, HHMMSS.ffffff; boost omits the fraction if it is zero."""
    match = _TIME.fullmatch(text)
    if not match:
        return None
    seconds = int(match[1]) * 3600 + int(match[2]) * 60 + int(match[3])
    return seconds * 10**9 + int((match[4] or "").ljust(9, "0"))


def _known_text(_trial: Process, _payload: object) -> bool:
    return True


def _refuse(_trial: Process, _payload: object) -> bool:
    return False


def _command_line(trial: Process, command: str) -> bool:
    trial.command = command
    return True


def _scenario(trial: Process, _payload: object, name: str) -> bool:
    trial.scenario = name
    return True


def _option(trial: Process, match: re.Match[str]) -> bool:
    option = _DECODED.get(match[1])
    if option:
        trial.arguments.append((option, match[2]))
    return option is not None


def _option_without_value(trial: Process, _payload: object, option: str) -> bool:
    trial.arguments.append((option, ""))
    return True


def _interim_counters(trial: Process, counters: Counters) -> bool:
    trial.interims.add(counters)
    return True


def _interrupt(trial: Process, _payload: object) -> bool:
    trial.interrupted |= Stage.NOTHING < trial.stage < Stage.RATE
    return True


def take_rate(trial: Process, text: str) -> bool:
    """Parse the text after `Rate: `, and return whether it is a rate."""
    match = _RATE.fullmatch(text) if len(text) <= _LONGEST else None
    rate = _number(match[1]) if match else None
    if match is None or rate is None:
        return False
    trial.rate, trial.rate_name = _finite(rate), match[2]
    trial.expected_rate = float(match[3]) if match[3] else None
    return True


def _count_of_malformed_packets(trial: Process, text: str) -> bool:
    trial.malformed = count(text)
    return trial.malformed is not None


def _head_of_the_statistics(trial: Process, text: str) -> bool:
    return trial.begin_exchange(text)


def _counter(trial: Process, text: str, column: str) -> bool:
    value = count(text)
    return value is not None and trial.fill({column: value})


def _drops_ratio(trial: Process, text: str) -> bool:
    printed = text.removesuffix(" %")
    ratio = _number(printed)
    if ratio is None or printed == text:
        return False
    share = ratio / 100 if math.isfinite(ratio) else None
    return trial.fill({"drop_ratio": share, "drop_ratio_printed": printed})


def _delay(trial: Process, text: str, column: str) -> bool:
    if text in {"n/a", "min delay: n/a"}:
        # Without an answer the first two lines are printed twice, once glued to another line.
        return trial.fill({column: None}, again=True)
    if text == _NO_DELAYS:
        return _no_delays(trial, text)
    delay = _number(text.removesuffix(" ms"))
    return delay is not None and text.endswith(" ms") and trial.fill({column: _finite(delay)})


def _no_delays(trial: Process, _payload: object) -> bool:
    return trial.fill(dict.fromkeys(DELAYS), again=True) and trial.end_exchange(None)


def _count_of_collected_packets(trial: Process, text: str) -> bool:
    value = count(text)
    return trial.end_exchange(value) and value is not None


def _diagnostic_counter(trial: Process, text: str, metric: str, unit: str) -> bool:
    value = count(text)
    if value is not None:
        trial.observe(metric, value, unit)
    return value is not None


def _head_of_the_timestamps(trial: Process, text: str) -> bool:
    trial.section = text.removesuffix("***")
    return True


def _times_of_one_packet(trial: Process, text: str) -> bool:
    """Add the response time of one packet; both times count from the start of the trial."""
    sent_text, _, received_text = text.partition(" / ")
    sent, received = _nanoseconds(sent_text), _nanoseconds(received_text)
    if sent is None or received is None or trial.section is None:
        return False
    trial.observe("response_time", (received - sent) / 1e6, "ms", trial.section, sent / 1e9)
    return True


def _summary_of_the_avalanche(trial: Process, match: re.Match[str]) -> bool:
    took = _nanoseconds(match[1].replace(":", ""))
    if took is None:
        return False
    trial.provisioned = True
    trial.observe("provision_time", took / 1e9, "s")
    for metric, text in zip(_TOTALS.values(), match.groups()[1:], strict=True):
        if text:
            _diagnostic_counter(trial, text, metric, "packets")
    return True


def _head_of_the_leases(trial: Process, text: str) -> bool:
    trial.leases.append((text.removesuffix("***"), []))
    return True


def _lease(trial: Process, address: str) -> bool:
    if address:  # clients without a lease are listed, too
        trial.leases[-1][1].append(address)
    return True


def _packet_that_could_not_be_received(trial: Process, text: str) -> bool:
    trial.failed.add(trial.here, text)
    return True


def _malformed_packet(trial: Process, text: str) -> bool:
    trial.incorrect.add(trial.here, text)
    return True


def _error(trial: Process, text: str) -> bool:
    return trial.fail(text)


def _version(trial: Process, match: re.Match[str]) -> bool:
    """Use the answer to `perfdhcp -v` as the version of the reports that follow."""
    trial.next_version = match[1]
    if trial.stage is Stage.NOTHING:
        trial.version = match[1]
    return True


# Before 2.0 the avalanche printed all of this in one line, in the same order.
_TOTALS: Final = {
    "Requests sent + resent": "requests_sent",
    "Requests resent": "requests_resent",
    "Responses received": "responses_received",
}
KEYS: Final[dict[str, tuple[Stage, Handler]]] = {
    "Rate": (Stage.NOTHING, take_rate),
    "Malformed packets": (Stage.NOTHING, _count_of_malformed_packets),
    "***Statistics for": (Stage.STATISTICS, _head_of_the_statistics),
    **{key: (Stage.NOTHING, partial(_counter, column=column)) for key, column in COUNTERS.items()},
    "drops ratio": (Stage.NOTHING, _drops_ratio),
    **{key: (Stage.NOTHING, partial(_delay, column=column)) for key, column in DELAY_KEYS.items()},
    "collected packets": (Stage.NOTHING, _count_of_collected_packets),
    "***Timestamps for packets": (Stage.NOTHING, _head_of_the_timestamps),
    "sent / received": (Stage.NOTHING, _times_of_one_packet),
    "Server id": (Stage.NOTHING, _known_text),
    "Failed to receive DHCP packet": (Stage.NOTHING, _packet_that_could_not_be_received),
    **{
        key: (Stage.NOTHING, partial(_diagnostic_counter, metric=metric, unit=unit))
        for key, metric, unit in (
            ("Short waits for packets", "short_waits", "waits"),
            ("Late sent packets", "late_sent_packets", "packets"),
            ("Multiple packets receives", "multiple_receives", "receives"),
            *((key, metric, "packets") for key, metric in _TOTALS.items()),
        )
    },
}
_LINES: Final[dict[str, tuple[Stage, Handler]]] = {
    "Scenario: basic.": (Stage.SCENARIO, partial(_scenario, name="basic")),
    "Scenario: avalanche.": (Stage.SCENARIO, partial(_scenario, name="avalanche")),
    "***Rate statistics***": (Stage.RATE, _known_text),
    _NO_DELAYS: (Stage.NOTHING, _no_delays),
    "^C": (Stage.NOTHING, _interrupt),
    "IPv6": (Stage.NOTHING, partial(_option_without_value, option="6")),
    "DISCOVER-OFFER only": (Stage.NOTHING, partial(_option_without_value, option="i")),
    "SOLICIT-ADVERTISE only": (Stage.NOTHING, partial(_option_without_value, option="i")),
    **dict.fromkeys(
        (
            *("Multi-thread mode enabled.", "***Malformed Packets***", "Fatal error"),
            *("reached test-period.", "Reached max requests limit."),
            *("Reached maximum drops number.", "Reached maximum percentage of drops."),
            "Interrupted",  # always printed with `-x e`
            *("IPv4", "broadcast", "rapid-commit", "use-first"),
            *("single-thread-mode", "multi-thread-mode"),
            *("Unavailable! No packets received.", "contents:"),
            *("client_id,adrress,prefix", "client_id,address,prefix"),
        ),
        (Stage.NOTHING, _known_text),
    ),
}
_STARTS: Final[tuple[tuple[str, Stage, Handler], ...]] = (
    ("perfdhcp [-", Stage.USAGE, _known_text),
    ("***Leases for ", Stage.NOTHING, _head_of_the_leases),
    ("Incorrect DHCP packet received", Stage.NOTHING, _malformed_packet),
    ("INFO: in avalanche scenario ", Stage.NOTHING, _known_text),
    *(
        (start, Stage.NOTHING, _known_text)
        for start in ("Set MAC to ", "Set DUID to ", "Truncated DHCPv", "Script started", "Script done")
    ),
    *(
        (f"WARNING: {start} ", Stage.NOTHING, _known_text)
        for start in ("Currently system", "Better results", "To switch use")
    ),
)
_PATTERNS: Final[tuple[tuple[re.Pattern[str], Stage, Handler], ...]] = (
    (_PROGRESS, Stage.LOAD, _known_text),
    (_PROVISIONED, Stage.NOTHING, _summary_of_the_avalanche),
    (_ARGUMENT, Stage.NOTHING, _option),
    (_TEMPLATE, Stage.NOTHING, _known_text),
    (_VERSION, Stage.NOTHING, _version),
)
