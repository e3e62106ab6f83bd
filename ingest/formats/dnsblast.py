"""Reader of dnsblast's output (jedisct1/dnsblast; without versions and manual, its source is the reference).

It prints a status line, which ends with only a CR, at least every 0.5 s and when all queries are sent, and one with a
newline when as many datagrams came back. It waits for these without limit, so after a lost reply it must be interrupted
and never prints the last lines. The reply rate is the mean since the start, capped at the requested rate.
"""

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from dropline.ingest.formats import Parts, Reject, Report, Row
from dropline.ingest.formats.text import clean, count, in_head, is_marked, number, parts, unpack
from dropline.ingest.formats.text_run import Explained, TextRun, fail

NAME = "dnsblast"

_STATUS: Final = re.compile(
    r"Sent: \[(\d{1,18})\] - Received: \[(\d{1,18})\] - Reply rate: \[(\d{1,20}) pps\]"
    r" - Ratio: \[(\d{1,20}\.\d\d)%\]",
    re.ASCII,
)
_CALL: Final = r"\[\S{0,300}:\S{0,100}\]: \[[A-Z][\w ,.'/-]{3,100}\]|(?:sendto|poll|Oops): \S.{0,200}"
_ALONE: Final = re.compile(_CALL)
_LONGEST_ALONE: Final = 1000
# Messages before it exits.
_ERROR: Final = re.compile(
    rf"{_CALL}|dnsblast: \S*dnsblast\.c:\d+: .{{0,300}}|Assertion failed: .{{0,300}}dnsblast\.c.{{0,100}}"
)
_USAGE: Final = "Usage: dnsblast [fuzz]"
_COMMAND: Final = re.compile(r"\bdnsblast (?:fuzz )?([\w.:%-]+) (\d{1,18})(?: (\d{1,9}))?(?= |\Z)", re.ASCII)
LINES: Final = re.compile(
    r"(?:(?:\A|[\r\n])[ \t]*|%\] *|\^C)Sent: \[\d+\] - Received: \[\d+\] - Reply rate: \["
    r"|(?:\A|[\r\n])[ \t]*(?:Usage: dnsblast \[fuzz\]|dnsblast: \S*dnsblast\.c:\d"
    r'|Script started [^\r\n]*COMMAND="[^"\r\n]*\bdnsblast )'
)
CLUES: Final = ("Sent: [", "dnsblast")
_ENDS: Final = re.compile(r"(\r{0,2}\n|\r)")


class _Status(NamedTuple):
    sent: int
    received: int
    rate: float | None
    ratio: str


def told_by_command(command: object) -> Row:
    """Return the number of queries and the rate that a command requests: `dnsblast HOST COUNT PPS PORT`."""
    if not (asked := _COMMAND.search(str(command))):
        return {}
    return {"requests_planned": int(asked[2])} | ({"offered_rate": float(asked[3])} if asked[3] else {})


def parse(data: bytes, line: int = 1) -> Parts:
    """Yield every run and a reject for every unusable part of `data`, in order; never raises for bad input."""
    return parts(data, lambda text: _runs(text.decode("utf-8", "replace"), line), "split the file between two runs")


def explain(data: bytes, line: int = 1) -> Explained:
    """Yield (number, text, interpretation) of every status line and every other line; a CR ends a line."""
    text, _ = unpack(data)
    for here, content in enumerate(_ENDS.split(text.decode("utf-8", "replace"))[::2], line):
        run = _Run()
        for part in _parts(content):
            if isinstance(part, _Status):
                yield here, f"{part.sent} sent, {part.received} received, {part.ratio} %", "status line"
            else:
                yield here, part, run.explained(part)


def _runs(text: str, first: int) -> Parts:
    run = _Run()
    pieces = [*_ENDS.split(text), "", "", ""]
    for index in range(0, len(pieces) - 3, 2):
        line, end, next_line, next_end = pieces[index : index + 4]
        for part in _parts(line):
            if run.begins_with(part):
                yield run.conclude()
                run = _Run()
            run.here = index // 2 + first
            run.add(part) if isinstance(part, _Status) else run.read(part)
        run.end_line(end, blank_follows=not next_line.strip(" \t") and "\n" in next_end)
    yield run.conclude()


def _parts(line: str) -> list[_Status | str]:
    """Return the status lines in `line` (a copy may lack the CRs between them) and the text between them."""
    found: list[_Status | str] = []
    at = 0
    for match in _STATUS.finditer(line):
        found.append(clean(line[at : match.start()]))
        found.append(_Status(count(match[1]) or 0, count(match[2]) or 0, number(match[3]), match[4]))
        at = match.end()
    return [part for part in (*found, clean(line[at:])) if part]


@dataclass
class _Run(TextRun):
    tool = NAME
    expected = "expected the status lines of dnsblast: `Sent: [..] - Received: [..] - ...`"
    silence = (
        "no status line: dnsblast sent a query or two and then nothing more, because at "
        "many rates (300, 750, 2500, 5000) its wait underflows (unsigned) to days, or it was stopped",
        "choose a rate of 200, 400, 500, 1000, 2000, 4000 or 10000, and check that the server is up",
    )
    usage_hint = "give it a host and at most count, rate and port; its exit code 0 means nothing"

    statuses: list[_Status] = field(default_factory=list)
    recorded: bool = False
    closed: bool = False
    _after_status: bool = False
    _last_end: str | None = None

    def begins_with(self, part: _Status | str) -> bool:
        """Return whether `part` is from another process: counters never decrease within one."""
        if isinstance(part, str):
            if part.startswith("Script started"):
                return bool(self.line) or self.recorded
            if part.startswith(_USAGE):
                return bool(self.statuses or self.usage or self.error)
            if _COMMAND.search(part):
                return bool(self.line)
            return bool(_ERROR.fullmatch(part) and (self.closed or self.usage or self.error))
        if not self.statuses:
            return bool(self.error or self.usage)
        last = self.statuses[-1]
        fallen = part.sent < last.sent or part.received < last.received
        return fallen or self.closed or self.error is not None or self.usage

    def read(self, line: str) -> None:
        self.recorded |= line.startswith("Script")
        super().read(line)

    def add(self, status: _Status) -> None:
        if self._after_status:
            self._last_end = ""  # the previous line had no end
        self.line = self.line or self.here
        self.statuses.append(status)
        self._after_status = True

    def end_line(self, end: str, *, blank_follows: bool) -> None:
        """Record how a line ended: after lines with only a CR, a newline means that dnsblast ended cleanly."""
        if self._after_status:
            # If `tr` converted all CRs to newlines, a blank line stands for this newline.
            self.closed = "\n" in end and (blank_follows or self._last_end in {"\r", ""})
            self._last_end, self._after_status = end, False

    def take(self, line: str) -> bool:
        if line.startswith(_USAGE):
            self.usage = True
            return True
        if asked := _COMMAND.search(line):
            self.facts["command"] = line[asked.start() :]
            return True
        if is_error := bool(_ERROR.fullmatch(line)):
            fail(self, line)
        return is_error

    def conclude(self) -> Report | Reject:
        if self.statuses:
            return self._report()
        if self.recorded and not (self.error or self.usage or self.line):
            return Reject(1, *self.silence)
        return self.reject()

    def _report(self) -> Report:
        last = self.statuses[-1]
        clean_end = self.closed and last.sent == last.received and self.error is None
        self.facts |= told_by_command(self.facts["command"]) | {
            "achieved_rate": last.rate,
            "sent": last.sent,
            "received": last.received,
            "dropped": last.sent - last.received if last.received <= last.sent else None,
        }
        self.details = {
            "outcome": "all replies came" if clean_end else "did not end by itself",
            "ratio_printed": last.ratio,
            "transport": "udp",
        }
        if asked := _COMMAND.search(self.facts["command"] or ""):
            self.details["target"] = asked[1]
        for position, status in enumerate(self.statuses, 1):
            self.observe("sent", status.sent, "queries", str(position))
            self.observe("received", status.received, "responses", str(position))
            self.observe("reply_rate", status.rate, "queries/s", str(position))
        self._judge(last, clean_end)
        return self.report(completed=clean_end)

    def _judge(self, last: _Status, clean_end: bool) -> None:
        if last.received == 0:
            self.warnings.append("No reply came: is the server up? dnsblast cannot see a closed port.")
        elif not clean_end and last.received < last.sent:
            bound = f"so {last.received} of {last.sent} is a lower bound."
            self.warnings.append(f"The run did not end by itself: replies behind the last line are missing, {bound}")
        elif not clean_end and last.received == last.sent:
            self.warnings.append("The run did not end by itself, or its last line is missing.")
        if last.received > last.sent:
            more = f"More replies than queries ({last.ratio} %): replies came twice"
            self.warnings.append(f"{more}, so how many queries were lost is not known.")
        share = 100 * last.received / last.sent if last.sent else 0.0
        if abs(share - (number(last.ratio) or 0.0)) > 0.01:
            self.warnings.append(f"Damaged? The ratio is {last.ratio} %, its counters give {share:.2f}.")


sniff = in_head(
    lambda text: is_marked(text, LINES, *CLUES) or (len(text) < _LONGEST_ALONE and _ALONE.fullmatch(text.strip()))
)
