"""What dnsperf and resperf print alike: title, command line, messages and statistics.

Both are one source (DNS-OARC/dnsperf, src/dnsperf.c and src/resperf.c); their options are in
dnsperf(1) and resperf(1).
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, ClassVar, Final

from dropline.ingest.formats.dns_text import TextRun
from dropline.ingest.formats.text import LONGEST, count, number, plural, quote

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERSION: Final = re.compile(r"(?:Nominum )?Version (\S{1,40})")
_SECRET: Final = re.compile(r"(?<!\S)(-y ?(?:[^\s:]+:)+)[^\s:]+")
_RCODE: Final = re.compile(r"([A-Za-z]\w*) (\d{1,18}) \(")
_DECIMAL: Final = r"(\d{1,12}\.\d{1,6})"  # the tools print six places; who copies a report may round them
_PLACES: Final = 6
_SHARE: Final = r"(\d{1,18})(?: +\((?:\d+\.\d+|-?nan|inf)%\))?"
_THOUSANDS: Final = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?!\d|,\d)", re.ASCII)
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
_LARGEST: Final = 1e15  # no option can mean more
_SECTIONS: Final = {"Statistics:": "total", "Interval Statistics:": "interval", "Connection Statistics:": "connection"}
BLOCK: Final = r"Statistics:[ \t]*(?=[\r\n]|\Z)|Queries sent:[ \t]+\d[\d,]*[ \t]*(?=[\r\n]|\Z)"
_SENT: Final = re.compile(r"(?:\A|[\r\n])[ \t]*Queries sent:[ \t]+\d[\d,]*[ \t]*[\r\n]")
# dnsperf-tcp, a fork of 2.1 by Sinodun, has other words.
_OF_FORKS: Final = {"Average RTT (s)": "Average Latency (s)", "RTT StdDev (s)": "Latency StdDev (s)"}
_HANDSHAKES: Final = re.compile(
    r"Ave Queries per conn: +\d+|(?:TCP|TLS|Total) HS time per (?:client|connection) \(s\): .*|Adjusted Queries/s: .*"
)
_BUCKETS: Final = re.compile(r"Latency bucket \(s\):.*")
_BUCKET: Final = re.compile(r"\d{1,12}\.\d{6} - (\d{1,12}\.\d{6}): +(\d{1,18})", re.ASCII)


def is_block(text: str, last: re.Pattern[str]) -> bool:
    """Say whether `text` holds statistics of which `last` tells whose they are: their title may be left out."""
    return "Queries sent:" in text and _SENT.search(text) is not None and last.search(text) is not None


class PerfRun(TextRun):
    """One process of dnsperf or resperf.

    Attributes:
        title: the first line that the tool prints.
        flags: its options that take no value.
        values: groups of the figures by section and key.
        buckets: of the latency histogram, upper ends in s and how many answers were within.

    """

    title: ClassVar[str]
    flags: ClassVar[str]
    remedies = (
        ("unable to open file", "check the path behind -d, and that the file can be read"),
        ("invalid server address", "give -s an address, or a name that the client can resolve"),
        ("ran out of query data", "give a longer query file, or resperf -R"),
        ("bind", "choose another local address or port (-a, -x)"),
        ("usage", "correct the option and run the trial again"),
    )

    def __init__(self) -> None:
        super().__init__()
        self.options: dict[str, list[str]] = {}
        self.values: dict[tuple[str, str], tuple[str | None, ...]] = {}
        self.buckets: list[tuple[float, int]] = []
        self.section = ""
        self.titled = False
        self.first_warning: tuple[int, str] | None = None
        self.warnings_count = 0

    def begins_with(self, line: str) -> bool:
        """Say whether `line` is the title or the head of another report."""
        if line == self.title:
            # Standard error is not buffered: the messages of a process may stand before its title.
            return self.titled or bool(self.values) or self.facts["command"] is not None
        if line.startswith("[Status] Command line:"):
            return self.facts["command"] is not None or bool(self.values)
        restarts = line == "Statistics:" or (line.startswith("Queries sent:") and self.section != "interval")
        return restarts and ("total", "Queries sent") in self.values

    def take(self, line: str) -> bool:
        """Keep what `line` says; False when it is not of the tool."""
        if line.startswith("[Status] "):
            return self.take_status(line.removeprefix("[Status] "))
        if line.startswith(f"Usage: {self.tool} "):
            self.usage = True
            return True
        if self.usage and line.startswith(("[-", "-")):
            return True
        if len(line) > LONGEST:
            return False
        if line in _SECTIONS:
            self.section = _SECTIONS[line]
            return True
        if match := _VERSION.fullmatch(line):
            self.facts["tool_version"] = match[1]
            return True
        if line == self.title:
            self.titled = True
            return True
        return self._take_message(line) or self._take_value(line)

    def take_status(self, text: str) -> bool:
        """Keep a line of the head or of the end; unknown ones are let through."""
        key, _, value = text.partition(": ")
        if key == "Command line":
            self.facts["command"] = _SECRET.sub(r"\1***", value)
            self.options = split_options(value, self.flags)
        elif key == "Started at":
            self.details["started_at_local"] = value
        elif text.startswith("Testing complete"):
            self.details["outcome"] = text.removeprefix("Testing complete").strip(" ()") or "end"
        return True

    def _take_message(self, line: str) -> bool:
        kind, colon, text = line.partition(": ")
        if kind == "Warning" and colon:
            self.warnings_count += 1
            self.first_warning = self.first_warning or (self.here, text)
        elif kind == "Error" and colon:
            self.error = self.error or (self.here, text)
        return bool(colon) and kind in {"Warning", "Error"}

    def _take_value(self, line: str) -> bool:
        key, colon, value = line.partition(":")
        key = _OF_FORKS.get(key, key.replace("Updates", "Queries", 1))
        if key == "Queries sent" and not self.section:
            self.section = "total"  # whoever copied the figures left the line above them out
        pattern = _VALUES.get(key) if colon and self.section else None
        value = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), value.strip())
        match = pattern.fullmatch(value) if pattern else None
        if match and not self.ended and _is_short(value):
            return False  # its last digits may be missing
        if match:
            if self.section == "total" and self.values.get(("total", key), match.groups()) != match.groups():
                self.doubts.append(
                    f"Line {self.here} states another `{key}`: two reports are mixed, or one is damaged."
                )
            self.values[self.section, key] = match.groups()
            if self.section == "interval" and key == "Queries per second":
                # The run time of an interval counts from the start of the trial.
                at = self.figure("Run time (s)", section="interval")
                self.observe("interval_rate", number(match[1]), "queries/s", t_s=at)
        return bool(match) or (bool(self.section) and self._take_other(line))

    def _take_other(self, line: str) -> bool:
        """Keep a bucket of the latency histogram (`-O latency-histogram`); let through what only forks print."""
        if (bucket := _BUCKET.fullmatch(line)) and self.ended:
            if self.section == "total":
                self.buckets.append((float(bucket[1]), int(bucket[2])))
            return True
        return bool(_BUCKETS.fullmatch(line) or _HANDSHAKES.fullmatch(line))

    def total(self, key: str) -> int | None:
        """Return a counter of the statistics at the end."""
        return count(self.values.get(("total", key), (None,))[0])

    def figure(self, key: str, group: int = 0, scale: float = 1.0, section: str = "total") -> float | None:
        """Return a number of the statistics, times `scale`."""
        return number(self.values.get((section, key), (None,) * 3)[group], scale)

    def option(self, name: str, default: float | None = None) -> float | None:
        """Return the number behind an option; the last one counts."""
        value = number(self.options.get(name, [None])[-1])
        return value if value and 0 < value < _LARGEST else default

    @property
    def unfinished(self) -> str:
        """What a report lacks that has begun."""
        if self.facts["command"] is None and not self.values:
            return f"{self.tool} ended before it sent anything; why, it said on stderr"
        return super().unfinished

    def settle(self) -> None:
        """Fill in what both tools tell in the same words."""
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
        if self.first_warning:
            line, text = self.first_warning
            printed = plural(self.warnings_count, "warning")
            self.warnings.append(f"{self.tool} printed {printed}; line {line}: {quote(text)}.")


def _is_short(value: str) -> bool:
    return value[-1:].isdigit() and "." in value and len(value.rpartition(".")[2]) < _PLACES


def split_options(command: str, flags: str) -> dict[str, list[str]]:
    """Return the values of each option of a command line by its letter, `-O` ones by their name.

    The line was printed without quotes, so a value ends at the first blank; a flag has the value ''.
    """
    found: dict[str, list[str]] = {}
    waiting = ""
    for word in command.split():
        if waiting:
            name, value, waiting = waiting, word, ""
            if name == "O":
                name, _, value = value.partition("=")
            found.setdefault(name, []).append(value)
            continue
        given = word[1:] if word.startswith("-") else ""
        letters = given.lstrip(flags)
        for flag in given[: len(given) - len(letters)]:
            found.setdefault(flag, []).append("")
        if len(letters) > 1 and letters[0] != "O":
            found.setdefault(letters[0], []).append(letters[1:])
        elif letters:
            waiting = letters[0]
    return found


def shared_words(options: Mapping[str, list[str]], words: Mapping[str, str]) -> list[str]:
    """Return the words of a method for the options that were given, in the order of `words`.

    A word may hold the value as {}; of a path only the name of the file stays.
    """
    return [text.format(PurePosixPath(options[name][-1]).name) for name, text in words.items() if name in options]


# What both tools call by the same letter. Of a TSIG key (`-y`) only that there is one.
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
