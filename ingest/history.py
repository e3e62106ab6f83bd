"""History that can be read again: the kept bytes with the present readers, and what was refused."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import ExitStack
from dataclasses import astuple, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from dropline.ingest.intake import Intake, printable, reject_text
from dropline.ingest.kept import Kept, by_file, by_folder
from dropline.ingest.resolve import Resolver, explains_first
from dropline.ingest.rows import Outcome, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from dropline.ingest.files import Found
    from dropline.ingest.formats import Row
    from dropline.ingest.intake import Summary
    from dropline.ingest.kept import Rows
    from dropline.ingest.lake import Batch, Key, Lake

MAX_EXAMPLES: Final = 20

_MAX_FILES_TOLD: Final = 20
_SHOWN: Final = 100  # characters of a value
_ALIKE: Final = 3  # examples of one column
_NOT_TOLD: Final = frozenset({"raw_files.context_sha256", "hosts.facts", "server_configs.settings"})
_REJECT_COLUMNS: Final = ("campaign", "source_path", "line", "reason", "hint")
_NAMED: Final = {"exchanges": ("exchange",), "intervals": ("position", "exchange"), "observations": ("metric", "label")}


class Difference(NamedTuple):
    """One value that comes out otherwise; `place` says where in the file: a report, an exchange."""

    campaign: str
    source_path: str
    place: str
    column: str  # table.column
    before: Any
    after: Any

    def text(self) -> str:
        """Return the difference in one line."""
        place = f"{self.campaign}: {self.source_path}" + (f", {self.place}" if self.place else "")
        return f"{place}: {self.column}: {_value(self.before)} -> {_value(self.after)}"


@dataclass(slots=True)
class Counts:
    """How many rows of one file, or of all of them, come out otherwise.

    `rejects_added` are parts of files that are refused now and were not, or not for this reason.
    """

    trials_added: int = 0
    trials_removed: int = 0
    trials_changed: int = 0
    rejects_added: int = 0
    rejects_removed: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(own + others for own, others in zip(astuple(self), astuple(other), strict=True)))

    def text(self) -> str:
        """Return what is not 0: `2 trials added, 1 reject removed`."""
        counts = ((getattr(self, each.name), each.name.split("s_")) for each in fields(self))
        return ", ".join(f"{count} {noun}{'s' * (count > 1)} {what}" for count, (noun, what) in counts if count)


@dataclass(slots=True)
class FileChange:
    """How one file comes out otherwise; a status is one of schema.RAW_FILES.

    `was` is None when the file was not known under this campaign: a sidecar that is read now has named another.
    """

    campaign: str
    source_path: str
    was: str | None
    now: str
    counts: Counts

    def text(self) -> str:
        """Return the change in one line."""
        turn = f"{self.was} -> {self.now}" if self.was != self.now else "what is joined to it differs"
        return f"{self.campaign}: {self.source_path}: {self.counts.text() or turn}"


@dataclass(slots=True)
class Reparsed:
    """What one `reparse` did.

    Attributes:
        files: files that were read again.
        without_bytes: files that could not be read when they were ingested, so that there is nothing to read again.
        overtaken: files that another process has committed meanwhile; its version stays.
        batch: the batch that was written, None when nothing changes.
        changes: the files that were written again.
        examples: values that changed, at most MAX_EXAMPLES.

    """

    files: int = 0
    without_bytes: int = 0
    overtaken: int = 0
    batch: str | None = None
    changes: list[FileChange] = field(default_factory=list)
    examples: list[Difference] = field(default_factory=list)

    @property
    def rescued(self) -> list[FileChange]:
        """Files that were refused and now give trials."""
        return [c for c in self.changes if c.was in {"rejected", None} and c.counts.trials_added]

    @property
    def lost(self) -> list[FileChange]:
        """Files that gave trials and now are refused."""
        return [c for c in self.changes if c.now == "rejected" and c.counts.trials_removed]

    def text(self) -> str:
        """Return the changes for people: by file, some values before and after, then the sum."""
        lines = [f"changed  {change.text()}" for change in self.changes[:_MAX_FILES_TOLD]]
        if more := len(self.changes) - len(lines):
            lines.append(f"changed  {more} more files")
        lines += [f"for example  {example.text()}" for example in self.examples]
        return "\n".join([*map(printable, lines), self._sum()])

    def _sum(self) -> str:
        said = f"{self.files} files read again"
        if self.without_bytes:
            said += f", {self.without_bytes} without kept bytes left as they are"
        if self.overtaken:
            said += f", {self.overtaken} left to another process that has brought them meanwhile"
        if not self.changes:
            return f"{said}; nothing changes"
        counts = sum((change.counts for change in self.changes), Counts()).text() or "no trials"
        turned = f"{len(self.rescued)} rejected files now give trials, {len(self.lost)} no longer do"
        return f"{said}; batch {self.batch}: {len(self.changes)} files changed: {counts}; {turned}"


def reparse(lake: Lake, *, progress: Callable[[int, int, str], None] | None = None) -> Reparsed:
    """Read the kept bytes of all current files again, and bring what comes out otherwise as one batch.

    All that stands around a trial is resolved again, too, from the kept sidecars, configurations, machine facts and
    campaign.yaml, among the files that came in one ingest. What was deleted on disk since still counts. A changed file
    gets all its rows in the new batch, so that it supersedes its old version, which stays readable; files that come
    out the same are not written. `progress` is called with (done, total, path) before each file.

    A file of which another process commits a version meanwhile is left to it. Raises CampaignError for a kept
    campaign.yaml that the present code cannot use, before anything is written; leaves nothing behind when it is
    interrupted.
    """
    kept = Kept(lake)
    found = sorted(kept.survey(), key=explains_first)
    with ExitStack() as stack:
        reading = _Rereading(kept, found, lambda: stack.enter_context(lake.batch(kept.newest, reread=True)))
        for done, item in enumerate(found):
            if progress:
                progress(done, len(found), item.path)
            reading.take(item)
        reading.finish()
    return reading.told


class _Rereading(Intake):
    """An intake that knows no version, but drops what comes out as it is in the lake."""

    def __init__(self, kept: Kept, found: Sequence[Found], begin: Callable[[], Batch]) -> None:
        # What was never ingested in one call is not joined now: a like-named configuration may be another's.
        calls: dict[str, list[Found]] = defaultdict(list)
        for item in found:
            calls[kept.call(item)].append(item)
        self._resolvers = {call: Resolver.among(items, kept.read) for call, items in calls.items()}
        super().__init__(Resolver.among([], kept.read), {}, begin)
        self._kept = kept
        self.told = Reparsed()

    def take(self, item: Found) -> None:
        """Read one file again, among the files that were ingested with it."""
        self._resolver = self._resolvers[self._kept.call(item)]
        super().take(item)

    def write(self, outcomes: list[Outcome], written: Mapping[str, pa.Table]) -> None:
        """Write and note the outcomes that differ from the lake."""
        before = self._kept.rows([outcome.key for outcome in outcomes])
        after = by_file(written)
        changed = []
        for outcome in outcomes:
            if outcome.raw["content"] is None:
                self.told.without_bytes += 1
                self.skip(outcome)
                continue
            self.told.files += 1
            old, new = before.get(outcome.key, {}), after[outcome.key]
            self._add_shared(outcome, old, new)
            comparison = Comparison(outcome.key, old, new)
            if not comparison.differs:
                self.skip(outcome)
                continue
            changed.append(outcome)
            raw = old.get(("raw_files", ""))
            was = raw["status"][0].as_py() if raw is not None else None
            self.told.changes.append(FileChange(*outcome.key, was, outcome.raw["status"], comparison.counts))
            self._exemplify(comparison.differences)
        if changed:
            super().write(changed, tables(changed))

    def finish(self) -> Summary:
        """Commit, and forget the changes that came too late."""
        summary = super().finish()
        told, dropped = self.told, self._batch.dropped if self._batch else {}
        told.batch, told.overtaken = summary.batch, len(dropped)
        told.changes = [c for c in told.changes if (c.campaign, c.source_path) not in dropped]
        told.examples = [e for e in told.examples if (e.campaign, e.source_path) not in dropped]
        return summary

    def _exemplify(self, differences: Iterable[Difference]) -> None:
        """Keep examples, only a few of each column, so that they tell of many."""
        for difference in differences:
            if len(self.told.examples) == MAX_EXAMPLES or difference.column in _NOT_TOLD:
                continue
            if sum(example.column == difference.column for example in self.told.examples) < _ALIKE:
                self.told.examples.append(difference)

    def _add_shared(self, outcome: Outcome, old: Rows, new: Rows) -> None:
        """Add the rows that come with one of several files: a host, a campaign."""
        for table in ("hosts", "campaigns"):
            if outcome.rows.get(table):
                fresh = tables([Outcome(outcome.raw, {table: outcome.rows[table]})])[table]
                for key, row in by_folder(table, fresh).items():
                    new[table, ""] = row
                    if (latest := self._kept.latest(table, key)) is not None:
                        old[table, ""] = latest


class Comparison:
    """The rows of one file before and after.

    Attributes:
        differs: whether anything differs at all.
        differences: the values that differ in rows that were there before.

    """

    def __init__(self, key: Key, before: Rows, after: Rows) -> None:
        self._key, self._after = key, after
        self.counts = Counts()
        self.differs = False
        self.differences: list[Difference] = []
        changed: set[str] = set()
        for table, trial in sorted(before.keys() | after.keys()):
            old, new = before.get((table, trial)), after.get((table, trial))
            if old is not None and new is not None and old.equals(new):
                continue
            if trial and not (("trials", trial) in before and ("trials", trial) in after):
                self._count_whole(table, old, new)
            elif table == "rejects":
                self._count_rejects(_rows(old), _rows(new))
            elif found := [*self._differences(table, trial, _rows(old), _rows(new))]:
                self.differs = True
                self.differences += found
                changed.add(trial)
        self.counts.trials_changed = len(changed - {""})

    def _count_whole(self, table: str, old: pa.Table | None, new: pa.Table | None) -> None:
        """Count a trial that was not there before, or is no more."""
        self.differs = True
        if table == "trials":
            self.counts.trials_added += new is not None
            self.counts.trials_removed += old is not None

    def _count_rejects(self, old: list[Row], new: list[Row]) -> None:
        before, after = (Counter((r["line"], r["reason"], r["hint"]) for r in rows) for rows in (old, new))
        self.counts.rejects_added += (after - before).total()
        self.counts.rejects_removed += (before - after).total()
        self.differs |= before != after

    def _differences(self, table: str, trial: str, old: list[Row], new: list[Row]) -> Iterator[Difference]:
        place = ""
        if trial:
            place = f"report {self._after['trials', trial]['report_index'][0].as_py() + 1}"
        if len(old) != len(new):
            yield Difference(*self._key, place, table, f"{len(old)} rows", f"{len(new)} rows")
            return
        for before, after in zip(old, new, strict=True):
            where = " ".join(str(after[name]) for name in _NAMED.get(table, ()) if after[name] is not None)
            for column, value in after.items():
                if not _same(before[column], value):
                    yield Difference(*self._key, f"{place} {where}".strip(), f"{table}.{column}", before[column], value)


def rejects(lake: Lake) -> pa.Table:
    """Return what is refused of the current version of every file: campaign, source_path, line, reason, hint.

    In the order of campaign, file and line.
    """
    current = {key: place.batch for key, place in lake.places().items()}
    rows = lake.tables("rejects", (*_REJECT_COLUMNS, "batch"))
    keys = zip(rows["campaign"].to_pylist(), rows["source_path"].to_pylist(), strict=True)
    is_current = [current.get(key) == batch for key, batch in zip(keys, rows["batch"].to_pylist(), strict=True)]
    order = [(name, "ascending") for name in _REJECT_COLUMNS[:3]]
    return rows.filter(pa.array(is_current, pa.bool_())).drop_columns("batch").sort_by(order)


def rejects_text(rejected: pa.Table) -> str:
    """Return the rows of `rejects` for people: where, why and what to do, then how many."""
    rows = rejected.to_pylist()
    lines = [f"{row['campaign']}: {reject_text(row, indent=4)}" for row in rows]
    files = len({(row["campaign"], row["source_path"]) for row in rows})
    counts = f"{len(rows)} rejects in {files} files" if rows else "nothing is rejected"
    return "\n".join([*map(printable, lines), counts])


def _rows(table: pa.Table | None) -> list[Row]:
    rows: list[Row] = table.to_pylist() if table is not None else []
    return rows


def _same(one: object, other: object) -> bool:
    return one == other or (one != one and other != other)


def _value(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
