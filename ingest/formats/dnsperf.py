"""The reader of dnsperf's output (DNS-OARC), from 2.0 on.

Its figures are defined in dnsperf(1): queries per second are completed queries by run time, and
with the default of 100 outstanding queries (`-q`) it is a closed loop that waits for the server.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats.dns_text import read
from dropline.ingest.formats.dnsperf_text import BLOCK, LOAD_OPTIONS, PerfRun, is_block, shared_words
from dropline.ingest.formats.text import head_text, is_marked, number, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Reject, Report

NAME = "dnsperf"

_HEADS: Final = r"DNS Performance Testing Tool[ \t]*(?=[\r\n]|\Z)|Usage: dnsperf \[|\[Status\] Command line: dnsperf "
_RATE: Final = r"Queries per second:[ \t]+\d[\d,]*\.\d+[ \t]*(?=[\r\n]|\Z)"
_MARK: Final = re.compile(rf"(?:\A|[\r\n])[ \t]*(?:{_HEADS})")
_LAST: Final = re.compile(rf"[\r\n][ \t]*{_RATE}")
_TITLES: Final = ("DNS Performance Testing Tool", "dnsperf ")
LINES: Final = re.compile(rf"(?:\A|[\r\n])[ \t]*(?:{_HEADS}|{_RATE}|{BLOCK})")
CLUES: Final = (*_TITLES, "Queries per second:")
_TIMEOUT: Final = "[Timeout] Query timed out"
_INTERVAL: Final = re.compile(r"(\d{1,12}\.\d{6}): (\d{1,15}\.\d{6}|-?nan|inf)", re.ASCII)
_TARGET: Final = re.compile(r"Sending (?:queries|updates) \(to (\S+)\)")
_ESSENTIAL: Final = (
    *("Queries sent", "Queries completed", "Queries lost"),
    *("Run time (s)", "Queries per second"),
)
_PERCENTILES: Final = (50, 90, 95, 99)
# Below this first rate nothing can have been measured: see _intervals.
_BOGUS_RATE: Final = 0.001
_KEEPS_UP: Final = 0.98
_DEFAULTS: Final = {"c": 1.0, "T": 1.0, "q": 100.0, "t": 5.0}
_WORDS: Final = {**LOAD_OPTIONS, "u": "updates", "B": "binary queries"}


def sniff(head: bytes) -> bool:
    """Say whether a file that begins with `head` (64 KiB, or all of it) is of dnsperf."""
    text = head_text(head)
    return is_marked(text, _MARK, *_TITLES) or is_block(text, _LAST)


def parse(data: bytes, line: int = 1) -> Iterator[Report | Reject]:
    """Yield every report and every unusable part of `data`, in order; never raises for bad input."""
    return read(data, _Run, line)


class _Run(PerfRun):
    tool = NAME
    title = "DNS Performance Testing Tool"
    flags = "eDuBvWhH"
    expected = "expected the output of dnsperf, from `DNS Performance Testing Tool` on"

    def __init__(self) -> None:
        super().__init__()
        self.timeouts = 0
        self.rates: list[tuple[float, float | None]] = []
        self.latencies_s: list[float] = []

    def take(self, line: str) -> bool:
        if line.startswith(_TIMEOUT):
            self.timeouts += 1
            return True
        if line.startswith("> "):
            return self._take_answer(line)
        if line[0].isdigit() and (match := _INTERVAL.fullmatch(line)):
            self.rates.append((float(match[1]), number(match[2])))
            return True
        return super().take(line)

    def take_status(self, text: str) -> bool:
        if target := _TARGET.fullmatch(text):
            self.details["target"] = target[1]
        return super().take_status(text)

    def _take_answer(self, line: str) -> bool:
        """Keep the response time of one answer of -v; `> T` is a query without one."""
        if line.startswith("> T "):
            return True
        latency_s = number(line.rpartition(" ")[2])
        if latency_s is None or latency_s < 0:
            return False
        self.latencies_s.append(latency_s)
        return True

    def conclude(self) -> Report | Reject:
        if any(("total", key) not in self.values for key in _ESSENTIAL):
            return self.reject()
        self.settle()
        self._options()
        self._latencies()
        self._intervals()
        whole = ("total", "Average Latency (s)") in self.values and (
            ("total", "Latency StdDev (s)") in self.values
            or (self.facts["received"] or 0) < 2  # one answer has no deviation
        )
        if not whole:
            self.warnings.append("Report cut off: the latencies at its end are missing.")
        if self.details.get("outcome") == "interruption":
            self.warnings.append("The trial was interrupted before its end.")
            whole = False
        if self.timeouts:
            self.details["timeouts_logged"] = self.timeouts
            logged = plural(self.timeouts, "time-out")
            self.warnings.append(f"{logged} of queries stand in the log between the lines.")
        self._closed_loop()
        return self.report(completed=whole)

    def _options(self) -> None:
        """Fill in what the command line says; without one nothing is assumed."""
        self.facts["achieved_rate"] = self.figure("Queries per second")
        if interrupted := self.total("Queries interrupted") or 0:
            self.details["interrupted_queries"] = interrupted
        self.add_up(interrupted)
        if unexpected := self.total("Unexpected IDs"):
            self.details["unexpected_ids"] = unexpected
        if self.facts["command"] is None:
            self.warnings.append("There is no `Command line:`, so the options are not known.")
            return
        chosen = {name: self.option(name, default) for name, default in _DEFAULTS.items()}
        transport = self.options.get("m", ["udp"])[-1]
        clients, threads, outstanding = (int(chosen[name] or 0) for name in "cTq")
        timeout_s = chosen["t"] or 0
        self.facts["offered_rate"] = self.option("Q")
        self.facts["drop_time_s"], self.facts["clients"] = timeout_s, clients
        self.details |= {"transport": transport, "threads": threads, "outstanding": outstanding}
        self.observe("outstanding_window", outstanding, "queries")
        self.facts["method"] = "; ".join(
            [
                *self._length(),
                transport,
                plural(clients, "client"),
                plural(threads, "thread"),
                f"{outstanding} outstanding",
                f"time-out {plural(timeout_s, 's')}",
                *shared_words(self.options, _WORDS),
            ]
        )

    def _length(self) -> list[str]:
        limit_s, runs = self.option("l"), self.option("n")
        words = [] if limit_s is None else [plural(limit_s, "s")]
        if runs or limit_s is None:
            words.append(f"{plural(runs or 1, 'run')} through the file")
        return words

    def _latencies(self) -> None:
        """Keep latencies in ms; a TCP report has a second block, of its connections."""
        for section, start in (("total", "latency"), ("connection", "connection_latency")):
            if section == "total" and not self.facts["received"]:
                continue  # then they are printed as 0
            for group, name in enumerate(("avg", "min", "max")):
                value = self.figure("Average Latency (s)", group, 1000, section)
                self.observe(f"{start}_{name}", value, "ms")
            stdev = self.figure("Latency StdDev (s)", 0, 1000, section)
            self.observe(f"{start}_stdev", stdev, "ms")
        if connections := self.total("TCP connections"):
            self.details["tcp_connections"] = connections
        for key in ("Reconnections", "Connection attempts"):
            metric = key.lower().replace(" ", "_")
            self.observe(metric, self.figure(key, section="connection"), "connections")
        buckets = [(latency_s, 1) for latency_s in sorted(self.latencies_s)] or self.buckets
        answers = sum(count for _, count in buckets)
        if not self.latencies_s and answers != self.facts["received"]:
            answers = 0
            if buckets:
                self.warnings.append("The latency histogram does not hold all answers: it gives no percentiles.")
        for percent in _PERCENTILES if answers else ():
            # Nearest rank: the smallest value that so many percent do not exceed, of a bucket its upper end.
            rank, within = -(-percent * answers // 100), accumulate(count for _, count in buckets)
            latency_s = next(end for (end, _), count in zip(buckets, within, strict=True) if count >= rank)
            self.observe(f"latency_p{percent}", number(latency_s, 1000), "ms")
        self.observe("latency_percentiles_of", answers or None, "responses")

    def _intervals(self) -> None:
        """Keep the rates of -S, without the first one when dnsperf divided it by the epoch."""
        rates, step_s = self.rates, self.option("S")
        started = rates[0][0] - step_s if rates and step_s else None
        if rates and self.facts["received"] and (rates[0][1] or 0) < _BOGUS_RATE:
            self.warnings.append(
                f"The first interval of -S ({rates[0][1] or 0:.6f} queries/s) is left out: "
                "dnsperf divides it by the time since 1970."
            )
            rates = rates[1:]
        for epoch, rate in rates:
            t_s = None if started is None else round(epoch - started, 6)
            self.observe("interval_rate", rate, "queries/s", t_s=t_s)

    def _closed_loop(self) -> None:
        """Say when fewer queries were sent than asked for: the window, not -Q, set the pace."""
        offered, sent, run_s = (self.facts[name] for name in ("offered_rate", "sent", "duration_s"))
        limit_s = self.option("l")
        sending_s = min(limit_s or run_s, run_s)  # a run ends with its last answer
        if limit_s:
            self.details["sending_s"] = sending_s
        if offered and sending_s and sent / sending_s < offered * _KEEPS_UP:
            self.warnings.append(
                f"{sent} queries in {sending_s:.6g} s are fewer than the {offered:.15g}/s asked for: "
                "the outstanding queries (-q) or the client held the load back."
            )


explain = _Run.explain
