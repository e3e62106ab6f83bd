"""The reader of Spirent TestCenter's RFC 2544 tables: exported CSV and the answer of QueryResult.

One row is one trial: one frame size at one load; in a newer summary, a snapshot. `Offered Load (fps)` and `Forwarding
Rate (fps)` are sums over all transmitting ports, the load columns are per port, in the unit in brackets. `Passed` does
not mean that no frame was lost: the tolerance is not in the table. Latencies (us) become observations in ms.
"""

import re
from functools import partial
from itertools import pairwise
from typing import Final

from dropline.ingest.formats import Parts, Reject, throughput
from dropline.ingest.formats.testcenter_rfc2544 import TOOL, trial_of
from dropline.ingest.formats.text import either, in_head, quote

NAME = "testcenter_csv"

_EXPECTED: Final = "expected TestCenter's RFC 2544 table, from the line that begins with `Trial Number` on"
_SIZES: Final = frozenset({"configuredframesize", "framesize"})
_SENT: Final = frozenset({"txframecount", "txsigframecount", "txsignatureframecount"})
_SUMMARY: Final = frozenset({"snapshotname", "aggofferedload", "aggforwardingrate", "txcount", "rxcount"})
_TESTS: Final = {
    **{"optimallearningrate": "RFC 2889", "burstsize": "RFC 2544 back to back"},
    "throughput": "RFC 2544 throughput",
}
_ANSWER: Final = re.compile(r"-Columns\s+\{")
_OPTION: Final = re.compile(r"(?:\A|\s)-([A-Z][A-Za-z]*)\s")
_ROW: Final = re.compile(r"\{((?:[^{}]++|\{[^{}]*+\})*+)(\}?)")
_WORD: Final = re.compile(r"\{([^{}]*)\}|([^\s{}]+)")


def _rows(table: throughput.Table) -> Parts:
    summary = table.columns.names >= _SUMMARY
    numbers = table.columns.places("trial" if summary else "trialnumber")
    test = next((test for name, test in _TESTS.items() if name in table.columns.names), "RFC 2544")
    several = throughput.several_trials(
        row.cells[numbers[0]] for row in table.rows if numbers and len(row.cells) > numbers[0]
    )

    def trial(record: throughput.Record) -> throughput.Trial | Reject:
        if summary:
            return _snapshot(record, several=several)
        if numbers and record.number("trialnumber") is None:  # such as a row of totals
            reason = f"row without a trial number: {record.quoted}"
            return Reject(record.line, reason, "it is not TestCenter's; remove it, or leave it: no trial is lost")
        return trial_of(record, test, several=several)

    return throughput.each_row(table, trial)


def _snapshot(record: throughput.Record, *, several: bool) -> throughput.Trial:
    """Return the trial of a row of the newer summary, only whose header is public."""
    trial = throughput.Trial(TOOL, record.line, "RFC 2544 summary")
    trial.facts |= {
        "offered_rate": record.number("aggintendedload", "aggofferedload", unit="fps"),
        "achieved_rate": record.number("aggforwardingrate", unit="fps"),
        "sent": record.whole("txcount", unit="frames"),
        "received": record.whole("rxcount", unit="frames"),
    }
    trial.details |= {
        "direction_scope": "sum_both",
        "frame_size_bytes": record.number("framesize", unit="bytes"),
        "snapshot": record.words("snapshotname"),
    }
    trial.repeat(record.whole("trial"), several=several)
    trial.observe("latency_avg", record.number("streamavglatency", scale=1e-3), "ms")
    trial.observe("offered_rate_l1", record.number("aggofferedl1load", unit="bps"), "bit/s")
    trial.observe("achieved_rate_l1", record.number("aggforwardingl1rate", unit="bps"), "bit/s")
    if queue_drops := record.whole("txqueuefulldropframecount"):
        trial.warnings.append(f"The generator itself dropped {queue_drops} frames: its queue was full.")
    trial.warnings.append("This kind of summary is probably from TestCenter; that is not proven.")
    return trial


def _is_header(columns: throughput.Columns) -> bool:
    names = columns.names
    return bool(names & _SIZES and names & _SENT and "rxframecount" in names) or names >= _SUMMARY


def _is_answer(text: str) -> bool:
    return bool(_ANSWER.search(text)) and "-Output" in text


def _read_answers(text: str) -> Parts:
    """Yield the trials of each `-Columns {...} -Output {{...} ...}`: Tcl lists, words with spaces are in braces."""
    starts = [match.start() for match in _ANSWER.finditer(text)]
    if before := text[: starts[0]].strip():
        yield Reject(1, f"not of an answer: {quote(before)}", _EXPECTED)
    following = 1 + text.count("\n", 0, starts[0])
    for start, end in pairwise([*starts, len(text)]):
        line, following = following, following + text.count("\n", start, end)
        answer = _OPTION.split(text[start:end])
        said = dict(zip(answer[1::2], answer[2::2], strict=True))
        columns = throughput.Columns(_words(said["Columns"].strip("{} \n")))
        if not _is_header(columns):
            hint = "query RFC2544ThroughputTestResultDetailedSummaryView, or another RFC2544 view"
            yield Reject(line, "answer of QueryResult without the columns of an RFC 2544 view", hint)
            continue
        found = _ROW.finditer(said.get("Output", "").partition("{")[2])
        # On a single line of text, an unclosed row of values corresponds to a missing newline.
        yield from _rows(
            throughput.Table(line, columns, [throughput.Line(line, _words(row[1]), bool(row[2])) for row in found])
        )


def _words(text: str) -> list[str]:
    return [braced or bare for braced, bare in _WORD.findall(text)]


def _read(text: bytes) -> Parts:
    if _is_answer(text[:65536].decode("utf-8", "replace")):
        return _read_answers(text.decode("utf-8", "replace"))
    return throughput.each_table(text, _is_header, _rows, _EXPECTED)


sniff = either(partial(throughput.has_table, is_header=_is_header), in_head(_is_answer))
parse = throughput.accounted(_read, _EXPECTED)
