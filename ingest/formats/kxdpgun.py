"""The reader of kxdpgun's output (Knot DNS, kxdpgun(8); src/utils/kxdpgun/main.c), from 3.1 on.

Up to Knot 3.3 all figures are whole numbers: a duration of `3 s` is at least that long. From 3.4 on, totals follow
`cumulative metrics:`, after those of each period (`-S`); 3.5 separates thousands. The rate option is approximate and
not printed. The achieved rate is the reply rate; over TCP and QUIC, connections count as queries.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats.text import LONGEST, count, marked, number, plural, without_thousands
from dropline.ingest.formats.text_run import TextRun

if TYPE_CHECKING:
    from dropline.ingest.formats import Reject, Report

NAME = "kxdpgun"

_INTERFACE: Final = re.compile(
    r"using interface (\S+), XDP threads (\d{1,6}), (?:IPv([46])/)?(UDP|TCP|QUIC)([^,]*), (\S+) mode"
)
_THREAD: Final = re.compile(
    r"thread#\d+: sent (\d{1,18})(?:, received \d+)?(?:, lost (\d{1,18}))?(?:, errors (\d{1,18}))?"
)
_TOTAL: Final = re.compile(
    r"total (queries|SYNs|initials|established|handshakes|replies|closed|reset): +(\d{1,18})"
    r" \((\d{1,18}) pps\)(?: \((\d+(?:\.\d+)?|-?nan|inf) ?%\))?",
    re.ASCII,
)
_REPLY_SIZE: Final = re.compile(r"average DNS reply size: (\d{1,18}) B", re.ASCII)
_WIRE_RATE: Final = re.compile(r"average Ethernet reply rate: (\d{1,18}) bps \(.*\)", re.ASCII)
_RCODE: Final = re.compile(r"responded (\w+): +(\d{1,18})", re.ASCII)
_DURATION: Final = re.compile(r"duration: (\d{1,12}(?:\.\d{1,6})?) s", re.ASCII)
_METRICS: Final = re.compile(r"(cumulative|periodic) metrics:")
_PERIOD: Final = re.compile(r"since: (\d{1,12}\.\d{1,6}) ?s +until: (\d{1,12}\.\d{1,6}) ?s", re.ASCII)
_RULE: Final = re.compile(r"-{20,}")
_MESSAGE: Final = re.compile(r"(error|warning): (.*)")
_SENT: Final = frozenset({"queries", "SYNs", "initials"})
LINES: Final = re.compile(
    r"(?:\A|[\r\n])[ \t]*(?:using interface \S+, XDP threads \d|thread#\d+: sent \d"
    r"|total (?:queries|SYNs|initials): +\d[\d,]* \(\d[\d,]* pps\)|Usage: kxdpgun "
    r"|error: (?:failed to get remote MAC|failed to initialize XDP|can't find route to))"
)
CLUES: Final = ("using interface ", "thread#", "total ", "Usage: kxdpgun ", "error: ")


class _Run(TextRun):
    tool = NAME
    expected = "expected the output of kxdpgun, from `using interface` or `total queries` on"
    remedies = (
        ("remote MAC", "ping the target first, so that its address is resolved, or give -R"),
        ("route", "give a target that the interface reaches, or -I"),
        ("XDP", "run it as root on an interface whose driver supports XDP"),
        ("resolve", "give the target as an IP address"),
    )

    def __init__(self) -> None:
        super().__init__()
        self.totals: dict[str, tuple[int | None, float | None]] = {}
        self.codes: dict[str, int | None] = {}
        self.sizes: dict[str, float | None] = {}
        self.duration_s: float | None = None
        self.threads = 0
        self.thread_sums = [0, 0, 0]  # sent, lost, errors
        self.period: dict[str, int | None] | None = None  # the totals of the current period

    def begins_with(self, line: str) -> bool:
        finished = bool(self.threads) and self.duration_s is not None
        if line.startswith("using interface "):
            return finished or self.usage or bool(self.error) or "interface" in self.details
        return finished and line.startswith(("thread#", "error: ", "Usage: "))

    def take(self, line: str) -> bool:
        if len(line) > LONGEST:
            return False
        if self.usage or line.startswith("Usage: kxdpgun "):
            self.usage = True
            return True
        if match := _MESSAGE.fullmatch(line):
            if match[1] == "error":
                self.error = (self.here, match[2])
            else:
                self.warnings.append(f"kxdpgun warns in line {self.here}: {match[2][:200]}.")
            return True
        if match := _METRICS.fullmatch(line):
            self.period = {} if match[1] == "periodic" else None
            return True
        line = without_thousands(line)
        if self.period is not None and not line.startswith(("using ", "thread#")):
            return self._take_period(line, self.period)
        return self._take_head(line) or self._take_totals(line) or bool(_RULE.fullmatch(line))

    def _take_period(self, line: str, totals: dict[str, int | None]) -> bool:
        """Parse the totals of one period, which end with its time."""
        if match := _TOTAL.fullmatch(line):
            totals["queries" if match[1] in _SENT else match[1]] = count(match[2])
        elif match := _PERIOD.fullmatch(line):
            t_s = number(match[2])
            self.observe("interval_sent", totals.get("queries"), "queries", t_s=t_s)
            self.observe("interval_received", totals.get("replies"), "responses", t_s=t_s)
            self.period = None
        else:
            return bool(_RCODE.fullmatch(line) or _REPLY_SIZE.fullmatch(line) or _WIRE_RATE.fullmatch(line))
        return True

    def _take_head(self, line: str) -> bool:
        if match := _INTERFACE.fullmatch(line):
            interface, threads, family, transport, kind, xdp = match.groups()
            self.details |= {
                "interface": interface,
                "threads": int(threads),
                "transport": transport.lower(),
                "xdp_mode": xdp,
            }
            words = [transport.lower() + kind, f"{xdp} XDP", plural(int(threads), "thread")]
            self.facts["method"] = "; ".join([*words, *([f"IPv{family}"] if family else [])])
            return True
        if match := _THREAD.fullmatch(line):
            self.threads += 1
            for index, text in enumerate(match.groups()):
                self.thread_sums[index] += count(text) or 0
            return True
        return False

    def _take_totals(self, line: str) -> bool:
        if match := _TOTAL.fullmatch(line):
            if match[1] in _SENT:
                # A SIGUSR1 prints intermediate totals; only the last ones count.
                self.totals, self.codes, self.sizes, self.duration_s = {}, {}, {}, None
                if (share := number(match[4])) is not None:
                    self.details["sent_of_asked_pct"] = share
            self.totals[match[1]] = count(match[2]), number(match[3])
        elif match := _RCODE.fullmatch(line):
            if not self.ended:
                return False  # its last digits may be missing
            self.codes[match[1]] = count(match[2])
        elif match := _REPLY_SIZE.fullmatch(line):
            self.sizes["response_size_avg"] = number(match[1])
        elif match := _WIRE_RATE.fullmatch(line):
            self.sizes["wire_rate"] = number(match[1])
        elif match := _DURATION.fullmatch(line):
            self.duration_s = number(match[1])
        else:
            return False
        return True

    def conclude(self) -> Report | Reject:
        sent = next((self.totals[name] for name in _SENT if name in self.totals), None)
        if sent is None:
            return self.reject()
        replies, rate = self.totals.get("replies", (None, None))
        self.facts |= {
            "achieved_rate": rate,
            "sent": sent[0],
            "received": replies,
            "dropped": None if replies is None else max((sent[0] or 0) - replies, 0),
            "duration_s": self.duration_s,
        }
        self.observe("send_rate", sent[1], "queries/s")
        for name, (total, _) in self.totals.items():
            if name not in _SENT and name != "replies":
                self.observe(f"connections_{name}", total, "connections")
        for code, answers in self.codes.items():
            self.observe("responses", answers, "responses", code)
        self.observe("response_size_avg", self.sizes.get("response_size_avg"), "bytes")
        self.observe("wire_rate", self.sizes.get("wire_rate"), "bit/s")
        self._judge(sent[0], replies)
        return self.report(completed=self.duration_s is not None and self.threads > 0)

    def _judge(self, sent: int | None, replies: int | None) -> None:
        if self.duration_s is None:
            self.warnings.append("Report cut off: the duration at its end is missing.")
        if not self.threads:
            self.warnings.append("No thread has reported its end: these totals are interim (SIGUSR1), or cut off.")
        elif self.thread_sums[0] != sent:
            self.warnings.append(f"The threads sent {self.thread_sums[0]}, the total is {sent}.")
        for index, name in ((1, "lost_by_client"), (2, "client_errors")):
            if self.thread_sums[index]:
                self.details[name] = self.thread_sums[index]
        if "lost_by_client" in self.details:
            self.warnings.append(f"kxdpgun itself lost {self.thread_sums[1]} packets before sending.")
        if replies is None and (self.codes or self.sizes):
            self.doubts.append("Replies are described, and their total is missing: its line is damaged.")
        elif sent and replies is None:
            self.warnings.append("Replies were not counted (--drop).")
        elif sent and replies == 0:
            self.warnings.append("No query was answered: is the server up, and do queries reach it?")


sniff = marked(LINES, *CLUES)
parse, explain = _Run.parse, _Run.explain
