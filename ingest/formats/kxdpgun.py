"""Reader of kxdpgun's output (Knot DNS, kxdpgun(8); src/utils/kxdpgun/main.c), from 3.1 on.

Up to Knot 3.3 all figures are whole numbers, and a duration of `3 s` is at least that long. From 3.4 on, totals follow
`cumulative metrics:`, after those of each period (`-S`); 3.5 separates thousands. The offered rate, which is
approximate, is only in a command before the output. The achieved rate is the reply rate; over TCP and QUIC,
connections count as queries.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from dropline.ingest.formats.perfdhcp_options import ADDRESS
from dropline.ingest.formats.text import count, marked, number, plural, without_thousands
from dropline.ingest.formats.text_run import Result, TextRun, fail, line_starts, rule_table, skip

NAME = "kxdpgun"

_COMMAND: Final = r".{0,300}?\b(kxdpgun (?:.{0,2000} )?(?:-Q ?|--qps[ =])(\d{1,12})(?: .{0,2000})?)"
_SENT: Final = frozenset({"queries", "SYNs", "initials"})
LINES: Final = re.compile(
    line_starts(
        r"using interface \S+, XDP threads \d",
        r"thread#\d+: sent \d",
        r"total (?:queries|SYNs|initials): +\d[\d,]* \(\d[\d,]* pps\)",
        "Usage: kxdpgun ",
        "error: (?:failed to get remote MAC|failed to initialize XDP|can't find route to)",
    )
)
CLUES: Final = ("using interface ", "thread#", "total ", "Usage: kxdpgun ", "error: ")


@dataclass
class _Run(TextRun):
    tool = NAME
    expected = "expected the output of kxdpgun, from `using interface` or `total queries` on"
    usage_begins = "Usage: kxdpgun "

    totals: dict[str, tuple[int | None, float | None]] = field(default_factory=dict)
    codes: dict[str, int | None] = field(default_factory=dict)
    sizes: dict[str, float | None] = field(default_factory=dict)
    duration_s: float | None = None
    threads: int = 0
    thread_sums: tuple[int, ...] = (0, 0, 0)  # sent, lost, errors
    period: dict[str, int | None] | None = None  # totals of the current period

    def begins_with(self, line: str) -> bool:
        finished = bool(self.threads) and self.duration_s is not None
        if line.startswith("using interface ") or re.fullmatch(_COMMAND, line):
            return finished or self.usage or bool(self.error) or "interface" in self.details
        return finished and line.startswith(("thread#", "error: ", "Usage: "))

    def take(self, line: str) -> bool:
        return super().take(line if line.startswith(("error: ", "warning: ")) else without_thousands(line))

    def _warn(self, text: str) -> None:
        self.warnings.append(f"kxdpgun warns in line {self.here}: {text}.")

    def _start(self, interface: str, threads: str, family: str | None, transport: str, kind: str, xdp: str) -> None:
        transport = transport.lower()
        self.details |= {"interface": interface, "threads": int(threads), "transport": transport, "xdp_mode": xdp}
        words = [transport + kind, f"{xdp} XDP", plural(int(threads), "thread"), f"IPv{family}" if family else ""]
        self.facts["method"] = "; ".join(filter(None, words))

    def _end_thread(self, *counters: str | None) -> None:
        self.threads += 1
        own = (count(counter) or 0 for counter in counters)
        self.thread_sums = tuple(map(sum, zip(self.thread_sums, own, strict=True)))

    def _total(self, name: str, counted: str, rate: str, share: str | None) -> None:
        if self.period is not None:
            self.period["queries" if name in _SENT else name] = count(counted)
            return
        if name in _SENT:
            # On SIGUSR1 it prints intermediate totals; only the last ones count.
            self.totals, self.codes, self.sizes, self.duration_s = {}, {}, {}, None
            if (sent_pct := number(share)) is not None:
                self.details["sent_of_asked_pct"] = sent_pct
        self.totals[name] = count(counted), number(rate)

    def _end_period(self, until_s: str) -> bool | None:
        if self.period is None:
            return False
        self.observe("interval_sent", self.period.get("queries"), "queries", t_s=number(until_s))
        self.observe("interval_received", self.period.get("replies"), "responses", t_s=number(until_s))
        self.period = None
        return True

    def _code(self, name: str, answers: str) -> bool:
        if self.period is None and self.ended:
            self.codes[name] = count(answers)
        return self.period is not None or self.ended  # its last digits may be missing

    def _size(self, name: str, value: str) -> None:
        if self.period is None:
            self.sizes[name] = number(value)

    def _duration(self, value: str) -> bool:
        if self.period is None:
            self.duration_s = number(value)
        return self.period is None

    rules = rule_table(
        {
            r"error: (.*)": fail,
            _COMMAND: lambda run, command, rate: run.facts.update(command=command, offered_rate=number(rate)),
            r"warning: (.{,200}).*": _warn,
            r"cumulative metrics:": lambda run: setattr(run, "period", None),
            r"periodic metrics:": lambda run: setattr(run, "period", {}),
            r"using interface (\S+), XDP threads (\d{1,6}), (?:IPv([46])/)?(UDP|TCP|QUIC)([^,]*), (\S+) mode": _start,
            r"thread#\d+: sent (\d{1,18})(?:, received \d+)?(?:, lost (\d{1,18}))?"
            r"(?:, errors (\d{1,18}))?": _end_thread,
            r"total (queries|SYNs|initials|established|handshakes|replies|closed|reset): +(\d{1,18})"
            r" \((\d{1,18}) pps\)(?: \((\d+(?:\.\d+)?|-?nan|inf) ?%\))?": _total,
            r"since: \d{1,12}\.\d{1,6} ?s +until: (\d{1,12}\.\d{1,6}) ?s": _end_period,
            r"responded (\w+): +(\d{1,18})": _code,
            r"average (DNS reply size): (\d{1,18}) B": _size,
            r"average (Ethernet reply rate): (\d{1,18}) bps \(.*\)": _size,
            r"duration: (\d{1,12}(?:\.\d{1,6})?) s": _duration,
            r"-{20,}": skip,
        }
    )

    def conclude(self) -> Result:
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
        if asked := [*filter(ADDRESS.fullmatch, (self.facts["command"] or "").split())]:
            self.details["target"] = asked[-1]
        self.observe("send_rate", sent[1], "queries/s")
        for name, (total, _) in self.totals.items():
            if name not in _SENT and name != "replies":
                self.observe(f"connections_{name}", total, "connections")
        for code, answers in self.codes.items():
            self.observe("responses", answers, "responses", code)
        self.observe("response_size_avg", self.sizes.get("DNS reply size"), "bytes")
        self.observe("wire_rate", self.sizes.get("Ethernet reply rate"), "bit/s")
        self._judge(sent[0], replies)
        return self.report(completed=self.duration_s is not None and self.threads > 0)

    def _judge(self, sent: int | None, replies: int | None) -> None:
        by_threads, lost, errors = self.thread_sums
        if self.duration_s is None:
            self.warnings.append("Report cut off: the duration at its end is missing.")
        if not self.threads:
            self.warnings.append("No thread has reported its end: these totals are interim (SIGUSR1), or cut off.")
        elif by_threads != sent:
            self.warnings.append(f"The threads sent {by_threads}, the total is {sent}.")
        if lost:
            self.details["lost_by_client"] = lost
            self.warnings.append(f"kxdpgun itself lost {lost} packets before sending.")
        if errors:
            self.details["client_errors"] = errors
        if replies is None and (self.codes or self.sizes):
            self.doubts.append("Replies are described, and their total is missing: its line is damaged.")
        elif sent and replies is None:
            self.warnings.append("Replies were not counted (--drop).")
        elif sent and replies == 0:
            self.warnings.append("No query was answered: is the server up, and do queries reach it?")


sniff = marked(LINES, *CLUES)
parse, explain = _Run.parse, _Run.explain
