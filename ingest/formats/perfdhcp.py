"""Reader of perfdhcp's output, from Kea 1.4 to 3.x.

The only reference for its output is the source (isc-projects/kea, src/bin/perfdhcp: test_control.cc, stats_mgr.h,
avalanche_scen.cc); perfdhcp(8) describes the options.
"""

import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from dropline.ingest.formats import EMPTY, Reject, Report, Row
from dropline.ingest.formats.draft import remedy
from dropline.ingest.formats.perfdhcp_lines import KEYS, PLACES, START, Line, Process, Stage, clean_counters, recognise
from dropline.ingest.formats.perfdhcp_options import (
    EXCHANGES,
    NEARLY_WHOLE,
    UNKNOWN_OPTIONS,
    Options,
    parse_command,
    parse_options,
)
from dropline.ingest.formats.text import MAX_SERIES, either, in_head, lines, marked, parts, plural, quote, unpack

NAME = "perfdhcp"

_OF_EXCHANGE: Final = frozenset(
    {"head of the statistics", "counter", "drops ratio", "delay", "no delays", "count of collected packets"}
)
_FAILED: Final = "Failed to receive DHCP packet: "
LINES: Final = re.compile(
    r"(?:\A|[\r\n])[ \t\0]*(?:\^C)?(?:"
    r"Running: perfdhcp|Scenario: (?:basic|avalanche)\.|perfdhcp \[-"
    r"|\*\*\*(?:Rate statistics|Statistics for: [A-Z])"
    r"|(?:ERROR: |Error )(?:running perfdhcp|parsing command line options)"
    r"|sent: \d[\d/]*; received: \d|(?:sent|received|collected) packets: \d"
    r"|VERSION: \d+\.\d+\.\d+\s*\Z)",
    re.ASCII,
)
CLUES: Final = (
    *("Running: perfdhcp", "Scenario: ", "***", "perfdhcp [-", " running perfdhcp", " parsing command line options"),
    *("; received: ", " packets: ", "VERSION: "),
)
_NEARLY_ALL: Final = 0.98
_PRINTED_S: Final = 0.01  # precision of a time derived from a rate of six digits
_SUMS: Final = {"sent": "sent", "received": "received", "dropped": "drops"}
_OF_A_HEADER: Final = frozenset({"method", "protocol", "wait_s", "scenario"})


def parse(data: bytes, line: int = 1) -> Iterator[Report | Reject]:
    """Yield every report, and a reject for every unusable part of `data`, in order; see `text.within`."""
    advice = "split the file between two reports, or leave out -x t and -x l"
    return parts(data, lambda text: _parts(text, line), advice)


def explain(data: bytes, line: int = 1) -> Iterator[tuple[int, str, str]]:
    """Yield (number, text, interpretation) of every non-blank line, and of text glued to one."""
    text, _ = unpack(data)
    for number, content, kind, trial in _walk(text, Process(), line):
        if kind:
            exchange = trial.exchange() if kind.words in _OF_EXCHANGE else None
            yield number, content, f"{kind.words} of {exchange}" if exchange else kind.words
        elif trial.error and number == trial.error_line + 1:
            yield number, content, "goes on with the error"
        else:
            yield number, content, "usage text" if trial.stage is Stage.USAGE else "not understood"


def _parts(text: bytes, first: int) -> Iterator[Report | Reject]:
    trial = Process(here=first, line=first)
    for _, _, _, current in _walk(text, trial, first):
        if current is not trial:
            yield _conclude(trial)
            trial = current
    yield _conclude(trial)


def _walk(text: bytes, trial: Process, first: int) -> Iterator[tuple[int, str, Line | None, Process]]:
    """Yield number and text of every line, its kind (None if invalid there), and the trial that it was added to."""
    for number, content in _lines(text, first):
        key, colon, payload = content.partition(": ")
        line = KEYS.get(key) if colon else None
        if line is None:
            line, payload = recognise(content, in_leases=bool(trial.leases))
        if line and line.stage and trial.is_over(line.stage, payload):
            trial = Process(version=trial.next_version)
        trial.here = number
        yield number, content, line if trial.take(line, payload, content) else None, trial


def _lines(text: bytes, first: int = 1) -> Iterator[tuple[int, str]]:
    """Yield (number, line) of all non-blank lines; text glued to other text is split off."""
    start = START.encode()
    begun = text.startswith(start) + text.count(b"\n" + start)
    glued = text.count(start) > begun or any(mark in text for mark in (b"^C", b"Failed to receive", b"\x1b"))
    for number, line, ended in lines(text, first):
        if not ended and _may_be_cut(line):
            line += " (the file ends here)"  # so that no rule matches the cut-off line
        if not glued:
            yield number, line
            continue
        begin = line.find(START, 1)
        if begin > 0:
            yield number, line[:begin]
            line = line[begin:]
        if line.startswith("^C"):
            yield number, "^C"
            line = line.lstrip("^C")
        if line.startswith(_FAILED):
            # stderr is unbuffered: a line of stdout may come between parts of this one.
            yield number, line
            line = line.removeprefix(_FAILED)
            _, message, behind = line.partition("is expected.")
            line = behind if message else line if line.startswith("sent: ") or line.partition(": ")[0] in KEYS else ""
        if line:
            yield number, line


def _may_be_cut(line: str) -> bool:
    key, _, value = line.partition(": ")
    return key in KEYS and value[-1:].isdigit() and value != "0"


def _conclude(trial: Process) -> Report | Reject:
    trial.give_up()
    is_complete = trial.exchanges and trial.exchanges[0]["position"] == 0 and trial.stage < Stage.USAGE
    return _Ended(trial).report() if is_complete else _reject(trial)


class _Ended:
    """A process that has printed at least the statistics of its first exchange."""

    def __init__(self, trial: Process) -> None:
        self.trial, self.rows = trial, trial.exchanges
        self.options = parse_options(trial.arguments) if trial.arguments else None  # as decoded by `-x a`
        if trial.command is not None:
            self.options = parse_command(trial.command)
        self.gave_up = self.options is not None and self._gave_up(self.options)
        self.stopped = trial.interrupted
        if self.options and self.options.duration_s and trial.rate and not self.options.most_drops:
            self.stopped |= self._ran_s() < NEARLY_WHOLE * self.options.duration_s

    def report(self) -> Report:
        trial, faults = self.trial, self._faults()
        found = tuple(row["exchange"] for row in self.rows)
        every = EXCHANGES[PLACES[found[0]][0]]
        columns = (found, self.options.exchanges if self.options else (), every[:2], every)  # candidates
        slots = next((names for names in columns if len(names) == trial.width), ())
        if trial.width and not slots:
            faults.append("The interim lines are left out: it is not known which exchanges they count.")
        for label, addresses in trial.leases:
            trial.observe("leases_listed", len(addresses), "leases", label)
            trial.observe("distinct_addresses", len(set(addresses)), "leases", label)
        return Report(
            line=trial.line,
            facts={**self._facts(), "completed": not (faults or self.stopped)},
            exchanges=self.rows,
            intervals=trial.intervals(slots, self.options.report_s if self.options else None),
            observations=trial.observations,
            warnings=[*faults, *self._notes(), *self._strange_lines()],
        )

    def _faults(self) -> list[str]:
        trial, options, faults = self.trial, self.options, []
        found = tuple(row["exchange"] for row in self.rows)
        expected = trial.width or (2 if trial.rate_name == "4-way exchanges" else 1)
        if trial.broken:
            cut = ", ".join(trial.broken)
            faults.append(f"Report cut off: the statistics of {cut} are incomplete and are left out.")
        elif options and found != options.exchanges:
            faults.append(f"Report cut off? Expected {', '.join(options.exchanges)}, found {', '.join(found)}.")
        elif not options and (len(found) < expected or trial.width not in {0, len(found)}):
            faults.append(f"Report cut off? Expected {expected} exchanges, found {', '.join(found)}.")
        answered = self.rows[:2][-1]["received"]  # on which perfdhcp's rate is based
        if trial.rate is not None and trial.rate <= 0 < answered:
            faults.append(f"A rate of {trial.rate:.15g} contradicts {answered} exchanges.")
        if options and options.offered_rate and trial.expected_rate:
            asked, printed = options.offered_rate, trial.expected_rate
            if not math.isclose(asked, printed, rel_tol=1e-4):  # six digits are printed
                faults.append(f"-r {asked:.15g} contradicts the expected rate, {printed:.15g}: its line is cut off.")
        if options and self.gave_up and not self._is_loss_known(options):
            faults.append(
                f"-D {' and '.join(options.most_drops)} also counts requests under way, and ended the trial before "
                "any answer was late: its loss means nothing. Raise -D, or leave it out."
            )
        if trial.is_avalanche and not trial.provisioned:
            faults.append("Report cut off: the summary of the avalanche is missing.")
        return faults

    def _facts(self) -> Row:
        trial, options, rows = self.trial, self.options, self.rows
        leases = len(rows) > 1 or trial.rate_name == "4-way exchanges"
        facts: Row = {
            **{"tool": "perfdhcp", "tool_version": trial.version, "command": trial.command},
            **dict.fromkeys(("method", "duration_s", "drop_time_s", "drop_time_second_s", "wait_s", "clients")),
            "protocol": PLACES[rows[0]["exchange"]][0],
            "scenario": "avalanche" if trial.is_avalanche else trial.scenario,
            "offered_rate": trial.expected_rate,
            "achieved_rate": trial.rate,
            "rate_unit": "leases/s" if leases else "exchanges/s",
            **{ours: sum(row[name] for row in rows) for ours, name in _SUMS.items()},
            "malformed": trial.malformed,
        }
        if options:
            known = options.facts() | {"scenario": trial.scenario or options.scenario}
            known["offered_rate"] = options.offered_rate or trial.expected_rate
            if trial.command is None:  # `-x a` decodes only some of the options
                known = {name: value for name, value in known.items() if name not in _OF_A_HEADER}
            facts |= known
            if self.gave_up:  # the rate shows the duration, unless that includes a wait
                is_needed = options.wait_s and self._is_loss_known(options)
                facts["duration_s"] = self._sent_for_s(options) if is_needed else None
        if trial.is_avalanche:
            facts["offered_rate"] = None  # perfdhcp prints -r as the expected rate, but all clients start at once
        return facts

    def _gave_up(self, options: Options) -> bool:
        """Return whether -D ended the trial early: it ran for less than its period and the wait, which then overlap."""
        planned = (options.offered_rate or 0) * (options.duration_s or math.inf)
        if not options.most_drops or self.rows[0]["sent"] >= _NEARLY_ALL * planned:
            return False
        planned_s = options.duration_s and options.duration_s + options.wait_s
        if self.trial.rate and planned_s and self._ran_s() >= planned_s - _PRINTED_S:
            return False
        # requests answered during the wait no longer count as drops
        return self._has_drops() or bool(options.duration_s and options.wait_s)

    def _has_drops(self) -> bool:
        return any(row["drops"] for row in self.rows)

    def _is_loss_known(self, options: Options) -> bool:
        """Return whether a trial ended by -D has losses after the drop time, not only requests under way."""
        waited_s = self._sent_for_s(options) + options.wait_s
        return self._has_drops() and waited_s >= (options.drop_times_s[0] or 0)

    def _sent_for_s(self, options: Options) -> float:
        """Return how long a trial ended by -D sent: perfdhcp sends its rate x the period - 1."""
        return float((self.rows[0]["sent"] + 1) / options.offered_rate) if options.offered_rate else self._ran_s()

    def _ran_s(self) -> float:
        """Return how long a trial ran, including waits, on which its rate is based."""
        return float(self.rows[:2][-1]["received"] / (self.trial.rate or math.inf))

    def _notes(self) -> Iterator[str]:
        trial, options = self.trial, self.options
        if trial.command is None:
            yield UNKNOWN_OPTIONS
        if trial.interrupted:
            yield "The trial was interrupted by Ctrl-C."
        elif options and self.stopped:
            yield f"The trial was stopped after {self._ran_s():.3g} of {options.duration_s:g} s."
        if max(trial.interim_lines, len(trial.observations)) >= MAX_SERIES:
            yield f"Only the first {MAX_SERIES} interim lines and packets are kept."
        if trial.is_avalanche and self._has_drops():
            yield "The avalanche was interrupted before all clients had their answers."
        if options and self.gave_up:
            yield f"It ended early: -D allows {' and '.join(options.most_drops)} drops."
        if options and options.ignored:
            yield f"The avalanche scenario ignores {', '.join(options.ignored)}."
        if count := trial.malformed or trial.incorrect.count:
            yield f"{count} malformed packets came in{trial.incorrect.mentioned}."
        if count := trial.failed.count:
            yield f"{count} packets could not be received{trial.failed.mentioned}."
        for row in self.rows:
            name, printed = row["exchange"], row["drop_ratio_printed"]
            if printed is not None and row["drop_ratio"] is None:
                yield f"The drops ratio of {name} is {printed}, not a number: {row['sent']} sent."
            if row["min_delay_ms"] is None and name != "RELEASE":  # a RELEASE has no answer
                yield f"{name} has no delays (min delay inf or n/a): no answer was received."

    def _strange_lines(self) -> Iterator[str]:
        """Yield notes on lines that were not understood; a wrapped command may print anything."""
        strange = self.trial.strange
        if self.options and self.options.wrapped:
            return
        yield from (f"Line {number} is not understood: {quote(text)}." for number, text in strange.first)
        if more := strange.count - len(strange.first):
            yield f"{more} more lines are not understood, the last one is line {strange.last}."


def _reject(trial: Process) -> Reject:
    interims = plural(trial.interim_lines, "interim line")
    if trial.error:
        seen = f" after {interims}" if trial.width else ""
        return Reject(trial.error_line, f"perfdhcp failed{seen}: {trial.error}", remedy(NAME, trial.error))
    if trial.stage is Stage.USAGE:
        reason = "usage text instead of a report: perfdhcp -h, or an error that went to stderr"
        return Reject(trial.line, reason, "run the trial again with 2>&1 to see the error")
    if trial.stage >= Stage.RATE:
        before = "".join(f", before the statistics of {row['exchange']}" for row in trial.exchanges[:1])
        where = "before the statistics" if trial.stage is Stage.RATE else f"at its head{before}"
        where = f"in the statistics of {trial.broken[0]}" if trial.broken else where
        reason = f"report cut off {where}{trial.strange.mentioned}"
        return Reject(trial.here, reason, "copy the whole file again, or run the trial again")
    if trial.stage > Stage.NOTHING:
        reason = f"no final report, {interims}: perfdhcp was killed (SIGTERM) or is still running"
        return Reject(trial.line, reason, "if it was killed, run the trial again; to end it early use Ctrl-C (SIGINT)")
    if trial.version:
        reason = f"version text of perfdhcp {trial.version}, not a report"
        return Reject(1, reason, "append the report to it, or leave the file out")
    if trial.strange.count:
        reason = f"no output of perfdhcp was recognised{trial.strange.mentioned}"
        return Reject(1, reason, "expected the output of perfdhcp 1.4 or later, from `Running:` on")
    return Reject(1, EMPTY, "run the trial again and keep what perfdhcp prints")


def _begins_cleanly(text: str) -> bool:
    return any(clean_counters(line) for _, line in islice(_lines(text.encode()), 1))


sniff = either(marked(LINES, *CLUES), in_head(_begins_cleanly))
