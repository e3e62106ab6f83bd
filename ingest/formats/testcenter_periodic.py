"""Reader of Spirent TestCenter's periodic results (`stc::subscribe -filenamePrefix`): an execution is a trial.

A file has a section per sample and no times: the n-th record is n intervals after the subscription (observations assume
the default of 1 s). Counts are cumulative, rates per second. sent and received are the frames of all ports in the last
record, if the file has that side.
"""

import re
from collections import Counter
from typing import Final

from dropline.ingest.formats import Parts, Reject
from dropline.ingest.formats.testcenter_csv import TOOL
from dropline.ingest.formats.text import marked
from dropline.ingest.formats.throughput import Columns, Line, Record, Series, Table, Trial, accounted, rows

NAME = "testcenter_periodic"

_EXPECTED: Final = (
    "expected TestCenter's periodic results, with `Periodic Results: <type> Record #<n>` above each sample"
)
_TITLE: Final = re.compile(r".{0,1000} for periodic results,*")
_SECTION: Final = re.compile(r"=+ Periodic Results: (\w{1,100}) Record #(\d{1,9}),*", re.ASCII)
_MERGED: Final = re.compile(r"(Generator|Analyzer|RxStream|TxStream)_Results(),*")  # without a number
_MARK: Final = re.compile(
    r"(?:\A|[\r\n])(?:[^\r\n]{0,1000} for periodic results|=+ Periodic Results: "
    r"|(?:Generator|Analyzer|RxStream|TxStream)_Results)"
)
_KINDS: Final = {
    **{"generatorportresults": "Generator", "analyzerportresults": "Analyzer"},
    **dict.fromkeys(("rxstreamsummaryresults", "rxstreamblockresults", "rxstreamresults"), "RxStream"),
    **dict.fromkeys(("txstreamresults", "txstreamblockresults"), "TxStream"),
}
# Columns for the frames of a kind: first those with TestCenter's signature, else all frames.
_Sides = dict[str, tuple[str, ...]]
_SENT: Final[_Sides] = {"Generator": ("generatorsigframecount", "totalframecount"), "TxStream": ("framecount",)}
_RECEIVED: Final[_Sides] = {
    "RxStream": ("sigframecount", "framecount"),
    "Analyzer": ("sigframecount", "totalframecount"),
}
_SERIES: Final = (
    Series("totalframerate framerate sigframerate", "frame_rate", "frames/s"),
    Series("l1bitrate", "bit_rate_l1", "bit/s"),
    Series("totalbitrate bitrate", "bit_rate_l2", "bit/s"),
)


def _read(text: bytes) -> Parts:
    subscription = _Subscription(1)
    for row in rows(text):
        line = ",".join(row.cells)
        title = _TITLE.fullmatch(line[:2000])
        section = _SECTION.fullmatch(line[:2000]) or _MERGED.fullmatch(line[:100])
        record = int(section[2]) if section and section[2] else None
        if title or (section and record and subscription.is_over(section[1], record)):
            yield from subscription.conclude()
            subscription = _Subscription(row.number)
        if section:
            subscription.begin(section[1], record)
        elif not title and (fault := subscription.take(row)):
            yield fault
    yield from subscription.conclude()


class _Subscription:
    def __init__(self, line: int) -> None:
        self.trial = Trial(TOOL, line, "periodic results")
        self.kind: str | None = None
        self.record: int | None = None
        self.table: Table | None = None
        self.last: dict[tuple[str, str], Record] = {}
        self.times: Counter[tuple[str, str]] = Counter()
        self.records = 0
        self.broken: set[str] = set()  # kinds of results with an unusable row

    def is_over(self, name: str, record: int) -> bool:
        return self.record is not None and record <= self.record and _KINDS.get(name.lower(), name) == self.kind

    def begin(self, name: str, record: int | None) -> None:
        self.kind, self.record, self.table = _KINDS.get(name.lower(), name), record, None

    def take(self, row: Line) -> Reject | None:
        if row.cells[0].startswith("ResultObject"):
            self.table = Table(row.number, Columns(row.cells))
            return None
        if not self.table or not self.kind:
            return Reject(row.number, f"not part of a section: {row.quoted}", _EXPECTED)
        record = self.table.record(row, self.trial)
        if isinstance(record, Reject):
            self.broken.add(self.kind)
            return record
        key = self.kind, record.words("resultobject") or ""
        self.times[key] += 1
        t_s = self.record or self.times[key]
        self.records = max(self.records, t_s)
        self.last[key] = record
        label = record.words("resultparentname", "resultparent")
        side = "tx" if self.kind in _SENT else "rx"
        series = (each._replace(metric=f"{side}_{each.metric}", label=label) for each in _SERIES)
        self.trial.follow(record, series, t_s)
        if self.kind == "RxStream" and record.whole("sigframecount", "framecount"):
            self.trial.latency(record, "us", label, t_s)
        return None

    def conclude(self) -> Parts:
        trial = self.trial
        if not self.last and self.kind:
            yield Reject(trial.line, "periodic results without a sample", "subscribe again, before the traffic starts")
        if not self.last:
            return
        kinds = sorted({kind for kind, _ in self.last})
        if {*_SENT, *_RECEIVED}.isdisjoint(kinds):
            hint = "export their view at the end of the test, or save the results as a database, and ingest that"
            yield Reject(trial.line, f"periodic results that count no frames: {', '.join(kinds)}", hint)
            return
        trial.facts["sent"] = self._total(_SENT)
        trial.facts["received"] = self._total(_RECEIVED)
        trial.details |= {"direction_scope": "sum_both", "interval_s": None, "records": self.records, "results": kinds}
        if trial.facts["sent"] is not None:
            trial.details["ports_tx"] = len({r.get("resultparent") for (k, _), r in self.last.items() if k in _SENT})
        sequence = [r.whole("droppedframecount") for (kind, _), r in self.last.items() if kind == "RxStream"]
        if any(sequence):
            # This counts gaps in sequence numbers, and may exceed the frames sent.
            trial.details["dropped_by_sequence"] = sum(dropped or 0 for dropped in sequence)
        trial.warnings.append("Its samples have no timestamps: t_s counts them as if they were 1 s apart.")
        if None in (trial.facts["sent"], trial.facts["received"]):
            trial.warnings.append("Only one side is in this file: loss needs the results of the other side.")
        if any(len({n for (k, _), n in self.times.items() if k == kind}) > 1 for kind, _ in self.times):
            trial.doubt("Its last sample is incomplete: some ports are missing in it.")
        yield trial.conclude()

    def _total(self, sides: _Sides) -> int | None:
        """Return the frames of the kind of objects with values for most ports, as a truncated file may lack some."""
        ports = {
            kind: {r.get("resultparent") for (key, _), r in self.last.items() if key == kind and r.whole(*names)}
            for kind, names in sides.items()
        }
        kind = max(sides, key=lambda kind: len(ports[kind]))
        counts = [record.whole(*sides[kind]) for (key, _), record in self.last.items() if key == kind]
        known = [count for count in counts if count is not None]
        lacking = kind in self.broken and len({kind for kind, _ in self.last}) > 1  # the loss would be wrong
        return sum(known) if known and not lacking else None


sniff = marked(_MARK, " for periodic results", "= Periodic Results: ", "_Results")
parse = accounted(_read, _EXPECTED)
