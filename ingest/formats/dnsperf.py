"""Reader of dnsperf's output (DNS-OARC, src/dnsperf.c and src/resperf.c), from 2.0 on; resperf shares parts of it.

dnsperf(1) defines figures and options: queries per second are completed queries by run time, and with the default of
100 outstanding queries (`-q`) it is a closed loop that waits for the server.
"""

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import ClassVar, Final

from dropline.ingest.formats import Sniff
from dropline.ingest.formats.draft import Tally
from dropline.ingest.formats.text import count, either, in_head, is_marked, marked, number, plural, without_thousands
from dropline.ingest.formats.text_run import Result, TextRun, fact, line_starts, rule_table, skip

NAME = "dnsperf"

_SECRET: Final = re.compile(r"(?<!\S)(-y ?(?:[^\s:]+:)+)[^\s:]+")
_RCODE: Final = re.compile(r"\b([A-Za-z]\w*) (\d{1,18}) \(")
_DECIMAL: Final = r"(\d{1,12}\.\d{1,6})"  # the tools print six places; people may round them
_SHORT: Final = re.compile(r"\.\d{1,5}\Z", re.ASCII)
_BEHIND: Final = re.compile(r"(?<=\d)u\b|(?<![ \t])[ \t]+#.*", re.ASCII)  # from a wrong printf format; a comment
_SHARE: Final = r"(\d{1,18})(?: +\((?:\d+\.\d+|-?nan|inf)%\))?"
_VALUES: Final[dict[str, re.Pattern[str]]] = {
    key: re.compile(pattern, re.ASCII)
    for key, pattern in {
        **dict.fromkeys(("Queries sent", "Queries completed", "Queries lost", "Queries interrupted"), _SHARE),
        "Unexpected IDs": _SHARE,
        "Response codes": r"(.*)",
        "Average packet size": r"request (\d{1,9}), response (\d{1,9})",
        "Run time (s)": _DECIMAL,
        "Queries per second": _DECIMAL,
        "Average Latency (s)": rf"{_DECIMAL}(?: +\(min {_DECIMAL}, max {_DECIMAL}\))?",
        "Latency StdDev (s)": r"(\d{1,12}\.\d{1,6}|-?nan)",
        "TCP connections": r"(\d{1,18})",
        "Reconnections": r"(\d{1,18})",
        "Reconnection(s)": r"(\d{1,18})",
        "Connection attempts": r"(\d{1,18}) \((\d{1,18}) successful, .*%\)",
        "Maximum throughput": rf"{_DECIMAL} qps",
        "Lost at that point": r"(\d{1,3}\.\d\d)%",
    }.items()
}
_LARGEST: Final = 1e15  # above any meaningful option value
_SECTIONS: Final = {
    **{"Statistics:": "total", "Interval Statistics:": "interval", "Connection Statistics:": "connection"},
    "```": "",  # text after a report in Markdown has no figures
}
BLOCK: Final = r"Statistics:[ \t]*(?=[\r\n]|\Z)|Queries sent:[ \t]+\d[\d,]*[ \t]*(?=[\r\n]|\Z)"
_SENT: Final = re.compile(r"(?:\A|[\r\n])[ \t]*Queries sent:[ \t]+\d[\d,]*[ \t]*[\r\n]")
# dnsperf-tcp, a fork of 2.1 by Sinodun, uses other labels.
_OF_FORKS: Final = {"Average RTT (s)": "Average Latency (s)", "RTT StdDev (s)": "Latency StdDev (s)"}
# Options with the same letter in both tools. For a TSIG key (`-y`), only its presence is kept.
LOAD_OPTIONS: Final = {
    "d": "queries {}",
    "e": "EDNS",
    "D": "DNSSEC OK",
    "E": "EDNS option {}",
    "y": "TSIG",
    "b": "buffer {} kB",
    "doh-method": "DoH {}",
    "num-queries-per-conn": "{} queries per connection",
    "qps-threshold-wait": "threshold wait {} us",
}
_HEADS: Final = r"DNS Performance Testing Tool[ \t]*(?=[\r\n]|\Z)|Usage: dnsperf \[|\[Status\] Command line: dnsperf "
_RATE: Final = r"Queries per second:[ \t]+\d[\d,]*\.\d+[ \t]*(?=[\r\n]|\Z)"
_TITLES: Final = ("DNS Performance Testing Tool", "dnsperf ")
LINES: Final = re.compile(line_starts(_HEADS, _RATE, BLOCK))
CLUES: Final = (*_TITLES, "Queries per second:")
# Prompts before a command that people typed, and the command with continuation lines.
_BEFORE: Final = (
    rb"(?m)^(?=.{0,200}(?:dns|res)perf -)((?:.{0,80}[$#>%] ?)?"
    rb"(?:\++ )?(?:[\w=./,:-]{0,60} ){0,6}(?:[\w/.~-]{0,60}/)?)"
)
_TYPED: Final = re.compile(_BEFORE + rb"((?:dns|res)perf -(?:.*\\[ \t\r]*\n)*.*)")
# The tool's own line as terminals and web pages alter it.
_WRAPPED: Final = re.compile(rb"(?m)^(\[Status\] Command line: .*?)\r?\n((?!\S*perf )(?:[^\s\[>]{1,80} )?-[a-zA-Z].*)")
_TARGET: Final = re.compile(r"Sending (?:queries|updates) \(to (\S+)\)")
COUNTED: Final = ("Queries sent", "Queries completed", "Queries lost", "Run time (s)")
# A first rate below this is an artefact: see _intervals.
_BOGUS_RATE: Final = 0.001
_KEEPS_UP: Final = 0.98
_DEFAULTS: Final = {"c": 1.0, "T": 1.0, "q": 100.0, "t": 5.0}
_WORDS: Final = {**LOAD_OPTIONS, "u": "updates", "B": "binary queries"}


def prints(heads: str, titles: tuple[str, ...], last: str) -> Sniff:
    """Return a reader's `sniff`: for its `heads`, or for statistics without them that end with a line of its own."""
    mark, at_end = re.compile(line_starts(heads)), re.compile(rf"[\r\n][ \t]*{last}")
    ended = in_head(lambda text: is_marked(text, _SENT, "Queries sent:") and at_end.search(text))
    return either(ended, marked(mark, *titles))


@dataclass
class PerfRun(TextRun):
    """One process of dnsperf or resperf."""

    title: ClassVar[str]  # the first line that the tool prints
    flags: ClassVar[str]  # the options without a value

    options: dict[str, list[str]] = field(default_factory=dict)
    values: dict[tuple[str, str], tuple[str | None, ...]] = field(default_factory=dict)  # (section, key) -> groups
    buckets: list[tuple[float, int]] = field(default_factory=list)  # of the latencies: upper bound in s, answers
    section: str = ""
    titled: bool = False
    http: dict[str, int] = field(default_factory=dict)  # answers by HTTP's code, of DNS over HTTPS
    own_warnings: Tally = field(default_factory=Tally)  # its warnings

    @classmethod
    def prepared(cls, data: bytes) -> bytes:
        """Return `data` with commands on one line; if a report lacks a command, one typed above it is made its own."""
        data = _WRAPPED.sub(rb"\1 \2\n", data)
        parts = _TYPED.split(data) if b"perf -" in data else [data]
        for place in range(2, len(parts), 3):
            typed, (below, sent, _) = parts[place], parts[place + 1].partition(b"Queries sent:")
            if typed.startswith(cls.tool.encode()) and sent and b"Command line:" not in below:
                command = b" ".join(re.sub(rb"\\[ \t\r]*\n", b" ", typed).split())
                parts[place - 1] = b"[Status] Command line: "
                parts[place] = command + b"\n" * typed.count(b"\n")
        return b"".join(parts)

    def begins_with(self, line: str) -> bool:
        """Return whether `line` is the title or the head of another report."""
        if line.endswith(self.title):  # a text of `echo -n` may precede it
            # stderr is unbuffered: its messages may precede the title, as may a command that people typed.
            return self.titled or bool(self.values or self.details)
        if line.startswith("[Status] Command line:"):
            return self.facts["command"] is not None or bool(self.values)
        restarts = line == "Statistics:" or (line.startswith("Queries sent:") and self.section != "interval")
        return restarts and ("total", "Queries sent") in self.values

    def take(self, line: str) -> bool:
        """Parse `line`; return False if it is not from the tool."""
        if line.startswith("[Status] "):
            return self.take_status(line.removeprefix("[Status] "))
        if line.startswith(f"Usage: {self.tool} ") or (self.usage and line.startswith(("[-", "-"))):
            self.usage = True
        elif line in _SECTIONS:
            self.section = _SECTIONS[line]
            return bool(self.section)
        elif line.endswith(self.title):
            self.titled = True
        else:
            return self.take_ruled(line)
        return True

    def take_status(self, text: str) -> bool:
        """Parse a line of the head or of the end; ignore unknown ones."""
        key, _, value = text.partition(": ")
        if key == "Command line":
            self.facts["command"] = _SECRET.sub(r"\1***", value)
            self.options = split_options(value, self.flags)
        elif key == "Started at":
            self.details["started_at_local"] = value
        elif text.startswith("Testing complete"):
            self.details["outcome"] = text.removeprefix("Testing complete").strip(" ()") or "end"
        return True

    def _fail(self, text: str) -> None:
        self.error = self.error or (self.here, text)

    def _value(self, key: str, value: str) -> bool:
        key = _OF_FORKS.get(key, key.replace("Updates", "Queries", 1))
        if key == "Queries sent" and not self.section:
            self.section = "total"  # the line above the figures is missing
        pattern = _VALUES.get(key) if self.section else None
        value = _BEHIND.sub("", without_thousands(value))
        match = pattern.fullmatch(value) if pattern else None
        if match and not self.ended and _SHORT.search(value):
            return False  # its last digits may be missing
        if match:
            if self.section == "total" and self.values.get(("total", key), match.groups()) != match.groups():
                other = f"Line {self.here} states another `{key}`"
                self.doubts.append(f"{other}: two reports are mixed, or one is damaged.")
            self.values[self.section, key] = match.groups()
            if self.section == "interval" and key == "Queries per second":
                # The run time of an interval counts from the start of the trial.
                at = self.figure("Run time (s)", section="interval")
                self.observe("interval_rate", number(match[1]), "queries/s", t_s=at)
        return bool(match)

    def _bucket(self, to_s: str, answers: str) -> bool:
        if self.section == "total" and self.ended:
            self.buckets.append((float(to_s), int(answers)))
        return bool(self.section) and self.ended

    def _codes(self, codes: str) -> bool:
        self.http = {code: int(answers) for code, answers in re.findall(r"(\w{1,20}): (\d{1,18})", codes)}
        return bool(self.section)

    rules = rule_table(
        {
            r"(?:Nominum )?Version (\S{1,40})": fact("tool_version"),
            r"Warning: (.*)": lambda run, text: run.own_warnings.add(run.here, text),
            r"Error: (.*)": _fail,
            r"\d{1,12}\.\d{6} - (\d{1,12}\.\d{6}): +(\d{1,18})": _bucket,
            r"HTTP/2 return codes: +(.*)": _codes,
            r"([^:]+):\s*(.*)": _value,
            # The histogram's head, and lines of forks.
            r"Latency bucket \(s\):.*|DNS-over-HTTPS statistics:"
            r"|Ave Queries per conn: +\d+|Adjusted Queries/s: .*"
            r"|(?:TCP|TLS|Total) HS time per (?:client|connection) \(s\): .*": lambda run: bool(run.section),
        }
    )

    def has(self, *keys: str) -> bool:
        """Return whether the final statistics have all these figures."""
        return all(("total", key) in self.values for key in keys)

    def total(self, key: str) -> int | None:
        """Return a counter of the final statistics."""
        return count(self.values.get(("total", key), (None,))[0])

    def figure(self, key: str, group: int = 0, scale: float = 1.0, section: str = "total") -> float | None:
        """Return a number of the statistics, times `scale`."""
        return number(self.values.get((section, key), (None,) * 3)[group], scale)

    def option(self, name: str, default: float | None = None) -> float | None:
        """Return the value of an option; the last one wins."""
        value = number(self.options.get(name, [None])[-1])
        return value if value and 0 < value < _LARGEST else default

    @property
    def unfinished(self) -> str:
        """Description of a report that has begun but is incomplete."""
        if self.facts["command"] is None and not self.values:
            return f"{self.tool} ended before it sent anything; stderr has the reason"
        return super().unfinished

    def settle(self) -> None:
        """Set the facts that both tools report."""
        sent, completed = self.total("Queries sent"), self.total("Queries completed")
        self.facts |= {
            "sent": sent,
            "received": completed,
            "dropped": self.total("Queries lost"),
            "duration_s": self.figure("Run time (s)"),
        }
        codes = self.values.get(("total", "Response codes"), ("",))[0] or ""
        for name, answers in _RCODE.findall(codes):
            self.observe("responses", count(answers), "responses", name)
        for group, metric in enumerate(("request_size_avg", "response_size_avg")):
            size = self.figure("Average packet size", group)
            self.observe(metric, size if completed or not group else None, "bytes")
        if sent and completed == 0:
            self.warnings.append("No query was answered: is the server up, and does the client reach it?")
        self._judge_http(completed or 0)
        if self.own_warnings.count:
            self.warnings.append(
                f"{self.tool} printed {plural(self.own_warnings.count, 'warning')}{self.own_warnings.mentioned}."
            )

    def _judge_http(self, completed: int) -> None:
        """Compare the answers counted by HTTP with those that DNS over HTTPS counts as completed."""
        others = ", ".join(f"{code} ({answers})" for code, answers in self.http.items() if code != "200")
        if others:
            self.warnings.append(f"HTTP answered {others} instead of 200; these queries count as lost: see -O doh-uri.")
        more, latency_s = self.http.get("200", 0) - completed, self.figure("Average Latency (s)")
        if more > completed and latency_s is not None and latency_s < (self.option("t") or _DEFAULTS["t"]) / 10:
            self.doubts.append(
                f"{more} answers with HTTP 200 do not count as completed, though those that do took "
                f"{1000 * latency_s:.3g} ms: {self.tool} could not match them, so its loss means nothing."
            )
        elif more > 0:
            self.warnings.append(f"{more} answers with HTTP 200 came too late to count as completed.")


def split_options(command: str, flags: str) -> dict[str, list[str]]:
    """Return the values of each option of a command line by its letter, or by name for `-O`; '' for a flag.

    The tool prints the line without quotes, so a value ends at the first blank.
    """
    found: dict[str, list[str]] = {}
    for given, name, value in re.findall(rf"(?<!\S)-([{flags}]*+)(?:(\S)\s*(\S+))?", command):
        for flag in given:
            found.setdefault(flag, []).append("")
        if name == "O":
            name, _, value = value.partition("=")
        if name:
            found.setdefault(name, []).append(value)
    return found


def shared_words(options: dict[str, list[str]], words: dict[str, str]) -> list[str]:
    """Return the method's words for the options; {} stands for the value or, if that is a path, its last name."""
    return [text.format(PurePosixPath(options[name][-1]).name) for name, text in words.items() if name in options]


@dataclass
class _Run(PerfRun):
    tool = NAME
    title = "DNS Performance Testing Tool"
    flags = "eDuBvWhH"
    expected = "expected the output of dnsperf, from `DNS Performance Testing Tool` on"

    timeouts: list[int] = field(default_factory=list)  # lines of the log with a timeout
    rates: list[tuple[float, float | None]] = field(default_factory=list)
    latencies_s: list[float] = field(default_factory=list)

    rules = (
        *rule_table(
            {
                r"> T .*": skip,  # of -v: a query without an answer
                r"> .* (\d{1,12}(?:\.\d{1,9})?)": lambda run, latency_s: run.latencies_s.append(float(latency_s)),
                r"\[Timeout\] Query timed out.*": lambda run: run.timeouts.append(run.here),
                r"(\d{1,12}\.\d{6}): (\d{1,15}\.\d{6}|-?nan|inf)": lambda run, epoch, rate: run.rates.append(
                    (float(epoch), number(rate))
                ),
            }
        ),
        *PerfRun.rules,
    )

    def take_status(self, text: str) -> bool:
        if target := _TARGET.fullmatch(text):
            self.details["target"] = target[1]
        return super().take_status(text)

    def conclude(self) -> Result:
        if not self.has(*COUNTED, "Queries per second"):
            return self.reject()
        self.settle()
        self._options()
        self._latencies()
        self._intervals()
        has_deviation = self.has("Latency StdDev (s)") or (self.facts["received"] or 0) < 2  # one answer has none
        if not (whole := self.has("Average Latency (s)") and has_deviation):
            self.warnings.append("Report cut off: the latencies at its end are missing.")
        if self.details.get("outcome") == "interruption" or self.total("Queries interrupted"):
            self.warnings.append("The trial was interrupted before its end.")
            whole = False
        if self.timeouts:
            self.details["timeouts_logged"] = len(self.timeouts)
            logged = plural(len(self.timeouts), "time-out")
            self.warnings.append(f"{logged} of queries are in the log between the lines.")
        self._closed_loop()
        return self.report(completed=whole)

    def _options(self) -> None:
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
        self.facts |= {"offered_rate": self.option("Q"), "drop_time_s": timeout_s, "clients": clients}
        self.details |= {"transport": transport, "threads": threads, "outstanding": outstanding}
        self.observe("outstanding_window", outstanding, "queries")
        limit_s, runs = self.option("l"), self.option("n")
        words = [
            *([] if limit_s is None else [plural(limit_s, "s")]),
            *([f"{plural(runs or 1, 'run')} through the file"] if runs or limit_s is None else []),
            transport,
            plural(clients, "client"),
            plural(threads, "thread"),
            f"{outstanding} outstanding",
            f"time-out {plural(timeout_s, 's')}",
            *shared_words(self.options, _WORDS),
        ]
        self.facts["method"] = "; ".join(words)

    def _latencies(self) -> None:
        """Add latencies in ms; a TCP report has a second block for its connections."""
        for section, start in (("total", "latency"), ("connection", "connection_latency")):
            if section == "total" and not self.facts["received"]:
                continue  # in this case they are printed as 0
            for group, name in enumerate(("avg", "min", "max")):
                self.observe(f"{start}_{name}", self.figure("Average Latency (s)", group, 1000, section), "ms")
            self.observe(f"{start}_stdev", self.figure("Latency StdDev (s)", 0, 1000, section), "ms")
        if connections := self.total("TCP connections"):
            self.details["tcp_connections"] = connections
        for key in ("Reconnections", "Connection attempts"):
            self.observe(key.lower().replace(" ", "_"), self.figure(key, section="connection"), "connections")
        buckets = [(latency_s, 1) for latency_s in sorted(self.latencies_s)] or self.buckets
        answers = sum(count for _, count in buckets)
        if buckets and not self.latencies_s and answers != self.facts["received"]:
            self.warnings.append("The latency histogram does not hold all answers, so there are no percentiles.")
        elif answers:
            self.observe_percentiles([(number(latency_s, 1000), count) for latency_s, count in buckets])

    def _intervals(self) -> None:
        """Add the rates of -S; skip the first if dnsperf divided it by the epoch."""
        rates, step_s = self.rates, self.option("S")
        started = rates[0][0] - step_s if rates and step_s else None
        if rates and self.facts["received"] and (rates[0][1] or 0) < _BOGUS_RATE:
            first = f"The first interval of -S ({rates[0][1] or 0:.6f} queries/s) is left out"
            self.warnings.append(f"{first}: dnsperf divides it by the time since 1970.")
            rates = rates[1:]
        for epoch, rate in rates:
            t_s = None if started is None else round(epoch - started, 6)
            self.observe("interval_rate", rate, "queries/s", t_s=t_s)

    def _closed_loop(self) -> None:
        """Warn if fewer queries were sent than requested, because the window, not -Q, set the pace."""
        offered, sent, run_s = (self.facts[name] for name in ("offered_rate", "sent", "duration_s"))
        limit_s = self.option("l")
        sending_s = min(limit_s or run_s, run_s)  # a run ends with its last answer
        if limit_s and self.details.get("outcome") != "end of file":
            self.details["sending_s"] = sending_s
        if sent == 0:
            transport = self.details.get("transport", "udp")
            self.warnings.append(f"No query was sent: does the server accept connections of {transport} (-m) there?")
        elif offered and sending_s and sent / sending_s < offered * _KEEPS_UP:
            fewer = f"{sent} queries in {sending_s:.6g} s are fewer than the requested {offered:.15g}/s"
            self.warnings.append(f"{fewer}: the outstanding queries (-q) or the client held the load back.")


sniff = prints(_HEADS, _TITLES, _RATE)
parse, explain = _Run.parse, _Run.explain
