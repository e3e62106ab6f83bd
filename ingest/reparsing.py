"""Reparsing of the stored bytes with the current readers, and the list of rejects."""

import weakref
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from dropline.ingest import views
from dropline.ingest.campaign import FILE_NAME, Campaign
from dropline.ingest.change_detection import Known
from dropline.ingest.files import HEAD_BYTES, Found, Kind, Scope, Unreadable, adopt, by_scope, recognise, too_large
from dropline.ingest.formats import Reject
from dropline.ingest.lake import Key, Lake, Place
from dropline.ingest.loader import Intake, counted, in_tasks, printable, reject_text
from dropline.ingest.resolve import Resolver
from dropline.ingest.rows import Outcome, tables
from dropline.ingest.schema import TABLES
from dropline.progress import Progress, unseen

_MOST_LISTED: Final = 20
_COUNTS: Final = ("trials_added", "trials_removed", "trials_changed", "rejects_added", "rejects_removed")
_ROW_GROUPS: Final = 4  # with cached contents
_SHARED: Final = ("campaigns", "hosts")  # tables whose rows come with one of several files


class FileChange(NamedTuple):
    """Change of one file; a status is one of schema.RAW_FILES."""

    campaign: str
    source_path: str
    was: str | None  # None if it is new in this campaign, as a sidecar that can be read now names it
    now: str
    counts: Counter[str]  # counts of queries/changes.sql; rejects are rejected parts of the file

    def text(self) -> str:
        """Return the change in one line."""
        turn = f"{self.was} -> {self.now}" if self.was != self.now else "its context differs"
        return f"{self.campaign}: {self.source_path}: {_counts_text(self.counts) or turn}"


def _counts_text(counts: Counter[str]) -> str:
    """Return the counts above 0: `2 trials added, 1 reject removed`."""
    parts = ((counts[name], name.split("s_")) for name in _COUNTS)
    return ", ".join(f"{count} {noun}{'s' * (count > 1)} {what}" for count, (noun, what) in parts if count)


@dataclass(slots=True)
class Reparsed:
    """Result of one `reparse`."""

    files: int = 0  # files that were parsed again
    without_bytes: int = 0  # files without stored bytes, as they could not be read when they were ingested
    overtaken: int = 0  # files of which another process has committed a version meanwhile, which wins
    batch: str | None = None  # the batch that was written, None if nothing changed
    changes: list[FileChange] = field(default_factory=list)  # the files that were written again

    @property
    def rescued(self) -> list[FileChange]:
        """Files that were rejected and now have trials."""
        return [c for c in self.changes if c.was in {"rejected", None} and c.counts["trials_added"]]

    @property
    def lost(self) -> list[FileChange]:
        """Files that had trials and are now rejected."""
        return [c for c in self.changes if c.now == "rejected" and c.counts["trials_removed"]]

    def text(self) -> str:
        """Return the changes as text: by file, then the totals."""
        lines = [f"changed  {change.text()}" for change in self.changes[:_MOST_LISTED]]
        if more := len(self.changes) - len(lines):
            lines.append(f"changed  {more} more files")
        summary = f"{counted(self.files, 'file', 'files')} read again"
        if self.without_bytes:
            summary += f", {self.without_bytes} without stored bytes left as they are"
        if self.overtaken:
            summary += f", {self.overtaken} left to another process that has ingested them meanwhile"
        if not self.changes:
            return f"{summary}; nothing changes"
        counts = _counts_text(sum((change.counts for change in self.changes), Counter())) or "no trials"
        turned = f"{len(self.rescued)} rejected files now give trials, {len(self.lost)} no longer do"
        summary += f"; batch {self.batch}: {counted(len(self.changes), 'file', 'files')} changed: {counts}; {turned}"
        return "\n".join([*map(printable, lines), summary])


class Kept:
    """Snapshot of the current versions in `lake`; raises CampaignError if a stored campaign.yaml is unusable."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        reading = ExitStack()
        reading.enter_context(lake.reading())
        weakref.finalize(self, reading.close)  # protects the files until then
        self.newest = (lake.batches() or [""])[-1]
        self._places = lake.places()
        self._contents = lru_cache(maxsize=_ROW_GROUPS)(lake.contents)
        self._described = {
            campaign: Campaign.parse(self._content(place), f"{FILE_NAME} of {campaign} as kept in the lake")
            for (campaign, path), place in self._places.items()
            if path == FILE_NAME and place.sha256
        }
        self._kept: dict[Found, tuple[Key, Place]] = {}

    def survey(self) -> list[Found]:
        """Return every file, recognised by the current code, like `files.survey`, with campaigns as folders."""
        found: dict[tuple[Path, str], Found] = {}
        for (campaign, path), place in self._places.items():
            name = place.scope or campaign
            scope = Scope(Path(name), name, self._described.get(name))
            item = Found.at(f"{scope.place}/{path}", scope)
            item.size = place.size_bytes
            if scope.campaign and scope.campaign.ignores(path):
                continue
            # Only the newer version is on disk, moved to another campaign by its sidecar.
            found.pop((scope.folder, path), None)
            found[scope.folder, path] = item
            self._kept[item] = (campaign, path), place
            if place.sha256:
                recognise(item, self._content(place)[:HEAD_BYTES])
            elif place.format in set(Kind):  # the file keeps its kind
                item.kind = Kind(place.format)
            if not place.sha256 and item.kind is Kind.UNREADABLE:
                item.reject = self._refused[campaign, path]
        for items in by_scope(found.values()).values():
            adopt(items)
        return list(found.values())

    def read(self, item: Found, limit: int) -> tuple[bytes, int]:
        """Return the bytes of a file of `survey` and its mtime in us; raise Unreadable as for a file on disk."""
        key, place = self._kept[item]
        if not place.sha256:
            raise Unreadable(self._refused[key].reason, self._refused[key].hint)
        data = self._content(place)
        if len(data) > limit:
            raise too_large(len(data), limit)
        return data, place.modified_us or 0

    def status(self, key: Key) -> str | None:
        """Return the status of a file in the lake, None if it is not there."""
        place = self._places.get(key)
        return place.status if place else None

    @cached_property
    def _refused(self) -> dict[Key, Reject]:
        """First reject of every file whose bytes could not be read."""
        columns = ["campaign", "source_path", "source_sha256", "line", "reason", "hint"]
        rows = self._lake.tables("rejects", columns).filter(pc.field("source_sha256") == "")
        return {(r["campaign"], r["source_path"]): Reject(r["line"], r["reason"], r["hint"]) for r in rows.to_pylist()}

    def _content(self, place: Place) -> bytes:
        data: bytes = self._contents(place.file, place.row_group)[place.row].as_py()
        return data

    @cached_property
    def calls(self) -> dict[str, str]:
        """Campaign -> a name that is the same for all campaigns of one ingest."""
        together: dict[str, set[str]] = defaultdict(set)  # batch -> campaigns
        for (campaign, _), place in self._places.items():
            together[place.origin].add(place.scope or campaign)
        call = {campaign: campaign for campaigns in together.values() for campaign in campaigns}
        for campaigns in together.values():
            merged = {call[campaign] for campaign in campaigns}
            call = {campaign: min(merged) if name in merged else name for campaign, name in call.items()}
        return call


def reparse(lake: Lake, *, progress: Progress = unseen) -> Reparsed:
    """Parse the stored bytes of all current files again, and write changed files as one batch.

    The context of each trial is also resolved again, from the stored files of the same ingest. Files deleted on disk
    still count; files of which another process commits a version meanwhile are dropped. Raise CampaignError, before
    anything is written, if a stored campaign.yaml is unusable for the current code.
    """
    kept = Kept(lake)
    if not (found := kept.survey()):
        return Reparsed()
    # Files of different ingests are not joined, as configurations of the same name may differ.
    calls: dict[str, list[Found]] = defaultdict(list)
    for item in found:
        calls[kept.calls[item.scope.name]].append(item)
    known = Known(lake)
    resolvers = {call: Resolver(items, kept.read, named=known.campaign) for call, items in calls.items()}
    with lake.batch(kept.newest, reread=True) as batch:
        intake, held, summary, done = Intake({}), _Held(lake), Reparsed(), count()
        for task in in_tasks(found):
            for item in task:
                progress(next(done), len(found))
                intake.take(item, resolvers[kept.calls[item.scope.name]].outcome(item))
            for outcomes, rows in intake.written():
                for name, changed in tables([*_changed(outcomes, held.changes(rows), kept, summary)]).items():
                    batch.add(name, changed)
        summary.batch, summary.overtaken = batch.commit(), len(batch.dropped)
    summary.changes = [
        change for change in summary.changes if (change.campaign, change.source_path) not in batch.dropped
    ]
    return summary


def _changed(
    outcomes: Iterable[Outcome], differing: Mapping[Key, Counter[str]], kept: Kept, summary: Reparsed
) -> Iterator[Outcome]:
    for outcome in outcomes:
        if outcome.raw["content"] is None:
            summary.without_bytes += 1
            continue
        summary.files += 1
        rows = [row for name in _SHARED for row in outcome.rows.get(name, ())]
        owners = {(row["campaign"], row.get("source_path", "")) for row in rows}
        if not differing.keys().isdisjoint({outcome.key, *owners}):
            counts = differing.get(outcome.key, Counter())
            summary.changes.append(FileChange(*outcome.key, kept.status(outcome.key), outcome.raw["status"], counts))
            yield outcome


class _Held:
    def __init__(self, lake: Lake) -> None:
        self._connection = views.current(lake)
        self._run("create schema now")
        self._digest("held", "before")

    def changes(self, written: Mapping[str, pa.Table]) -> dict[Key, Counter[str]]:
        """Return the differences by file; a changed machine has the path of its folder, a campaign an empty path."""
        for table, schema in TABLES.items():
            self._connection.register(f"now_{table}", written.get(table, schema.empty_table()))
            self._run(f"create or replace view now.{table} as from now_{table}")
        self._digest("now", "after")
        rows = self._run(views.sql("changes")).fetchall()
        return {(campaign, path): Counter(dict(zip(_COUNTS, counts, strict=True))) for campaign, path, *counts in rows}

    def _digest(self, schema: str, name: str) -> None:
        self._run(f"use {schema}; create or replace temp table {name} as {views.sql('digests')}")

    def _run(self, query: str) -> duckdb.DuckDBPyConnection:
        with views.naming_damage():
            return self._connection.execute(query)


def rejects(lake: Lake) -> pa.Table:
    """Return campaign, source_path, line, reason and hint of the rejects of all current files, sorted by these."""
    with lake.reading(), views.naming_damage(), views.current(lake) as connection:
        columns = "campaign, source_path, line, reason, hint"
        return connection.sql(f"select {columns} from held.rejects order by all").to_arrow_table()  # noqa: S608 - ours


def rejects_text(rejected: pa.Table) -> str:
    """Return the rows of `rejects` as text: place, reason and what to do, then the total."""
    rows = rejected.to_pylist()
    lines = [printable(f"{row['campaign']}: {reject_text(row, indent=4)}") for row in rows]
    files = len({(row["campaign"], row["source_path"]) for row in rows})
    counts = f"{counted(len(rows), 'reject', 'rejects')} in {counted(files, 'file', 'files')}"
    return "\n".join([*lines, counts if rows else "nothing is rejected"])
