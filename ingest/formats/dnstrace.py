"""The reader of dnstrace's output (redsift/dnstrace, which prints no version)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dropline.ingest.formats.dns_text import read
from dropline.ingest.formats.dnstrace_text import BENCHMARKING, TableRun
from dropline.ingest.formats.text import head_text, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dropline.ingest.formats import Reject, Report

NAME = "dnstrace"

LINES: Final = re.compile(
    rf"(?:\A|[\r\n])[ \t]*(?:{BENCHMARKING}|Total requests:\t \d+ of \d+ \(|DNS success codes:\t"
    r"|usage: dnstrace |dnstrace: error: )"
)
CLUES: Final = ("Benchmarking ", "Total requests:\t ", "DNS success codes:\t", "dnstrace: error: ", "usage: dnstrace ")
_OF_DNSPYRE: Final = re.compile(r"(?:\A|[\r\n])[ \t]*(?:Using \d+ hostnames|Total requests:\t\t)")


def sniff(head: bytes) -> bool:
    """Say whether a file that begins with `head` (64 KiB, or all of it) is of dnstrace."""
    text = head_text(head)
    return bool(LINES.search(text)) and not _OF_DNSPYRE.search(text)


def parse(data: bytes, line: int = 1) -> Iterator[Report | Reject]:
    """Yield every report and every unusable part of `data`, in order; never raises for bad input.

    Received are answers of any code; the success codes count NOERROR only.
    """
    return read(data, _Run, line)


class _Run(TableRun):
    tool = NAME
    last_timing = "max"
    expected = "expected the output of dnstrace, from `Benchmarking` on"

    def conclude(self) -> Report | Reject:
        if not self.finished or "requests" not in self.counters:
            return self.reject()
        codes = self.sections.get("DNS response codes", {})
        received = self.datapoints or sum(codes.values()) or self.counters.get("success", 0)
        if self.begun:
            clients = plural(self.facts["clients"] or 0, "concurrent request")
            self.facts["method"] = f"{self.details['transport']}; {clients}"
        if self.wanted is not None:
            self.details["requests_wanted"] = self.wanted
        all_sent = self.wanted in {None, self.counters["requests"]}
        return self.summarise(received, whole=self.is_whole(received) and all_sent)


explain = _Run.explain
