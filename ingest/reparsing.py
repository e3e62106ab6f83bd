"""Reparse: parse the stored bytes again with the current readers; list the rejects."""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from dataclasses import astuple, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow as pa

from dropline.ingest.loader import Intake, printable, reject_text
from dropline.ingest.parquet import DamagedFile
from dropline.ingest.resolve import Resolver, explains_first
from dropline.ingest.rows import Outcome, tables
from dropline.ingest.schema import TABLES
from dropline.ingest.stored_files import Kept
from dropline.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dropline.ingest.files import Found
    from dropline.ingest.lake import Batch, Key, Lake
    from dropline.ingest.loader import Summary

_MAX_FILES_TOLD: Final = 20
_REJECT_COLUMNS: Final = ("campaign", "source_path", "line", "reason", "hint")
_SHARED: Final = ("campaigns", "hosts")  # their rows come with one of several files
# Size, time and digest are part of a version's key, and with them the contents.
_STATE: Final = ("campaign", "source_path", "format", "status", "trials", "context_sha256")
_COMPARED: Final = {
    table: [name for name in schema.names if name != "batch" and (table != "raw_files" or name in _STATE)]
    for table, schema in TABLES.items()
    if table not in _SHARED
}
_CURRENT: Final = """
    create temp table current_files as
    select campaign, source_path, max(batch) as batch
    from all_raw_files
    group by campaign, source_path
    having arg_max(status, batch) <> 'forgotten';

    create temp table current_trials as
    select trial_id, batch from all_trials
    semi join current_files using (campaign, source_path, batch)
"""
# One digest per unit of a file: the file itself, each trial with everything below it, each reject.
_DIGESTS: Final = """
    with

    of_trials as (
        select trial_id, hash(rows) as digest from exchanges as rows
        union all
        select trial_id, hash(rows) as digest from intervals as rows
        union all
        select trial_id, hash(rows) as digest from observations as rows where trial_id is not null
    ),

    all_rows as (
        select campaign, source_path, 'file' as kind, '' as item, hash(rows) as digest from raw_files as rows
        union all
        select campaign, source_path, 'configuration', '', hash(rows) from server_configs as rows
        union all
        select campaign, source_path, 'figure', '', hash(rows) from figures as rows
        union all
        select campaign, source_path, 'counter', '', hash(rows) from observations as rows where trial_id is null
        union all
        select campaign, source_path, 'reject', concat_ws(' ', line, reason, hint), hash(rows) from rejects as rows
        union all
        select campaign, source_path, 'trial', trial_id, hash(rows) from trials as rows
        union all
        select trials.campaign, trials.source_path, 'trial', trial_id, of_trials.digest
        from of_trials
        inner join trials using (trial_id)
    )

    select campaign, source_path, kind, item, sum(digest) as digest, count(*) as held
    from all_rows
    where source_path is not null
    group by campaign, source_path, kind, item
"""
_CHANGED: Final = """
    select
        campaign,
        source_path,
        count(*) filter (kind = 'trial' and was.digest is null) as trials_added,
        count(*) filter (kind = 'trial' and now.digest is null) as trials_removed,
        count(*) filter (kind = 'trial' and was.digest <> now.digest) as trials_changed,
        coalesce(sum(now.held - coalesce(was.held, 0)) filter (kind = 'reject' and now.held > coalesce(was.held, 0)), 0)
            as rejects_added,
        coalesce(sum(was.held - coalesce(now.held, 0)) filter (kind = 'reject' and was.held > coalesce(now.held, 0)), 0)
            as rejects_removed
    from (select * from before semi join now.raw_files using (campaign, source_path)) as was
    full join after as now using (campaign, source_path, kind, item)
    where was.digest is distinct from now.digest
    group by campaign, source_path
"""


@dataclass(slots=True)
class Counts:
    """How many rows change, in one file or in all.

    `rejects_added` counts parts of files that are newly rejected, or for a new reason.
    """

    trials_added: int = 0
    trials_removed: int = 0
    trials_changed: int = 0
    rejects_added: int = 0
    rejects_removed: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(own + others for own, others in zip(astuple(self), astuple(other), strict=True)))

    def text(self) -> str:
        """Return the counts above 0: `2 trials added, 1 reject removed`."""
        counts = ((getattr(self, each.name), each.name.split("s_")) for each in fields(self))
        return ", ".join(f"{count} {noun}{'s' * (count > 1)} {what}" for count, (noun, what) in counts if count)


@dataclass(slots=True)
class FileChange:
    """How one file changes; a status is one of schema.RAW_FILES.

    `was` is None if the file is new in this campaign: a sidecar that can be read now has named another campaign.
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
    """The result of one `reparse`.

    Attributes:
        files: files that were parsed again.
        without_bytes: files that could not be read when they were ingested, so nothing is stored to parse.
        overtaken: files that another process has committed meanwhile; its version wins.
        batch: the batch that was written, None if nothing changed.
        changes: the files that were written again.

    """

    files: int = 0
    without_bytes: int = 0
    overtaken: int = 0
    batch: str | None = None
    changes: list[FileChange] = field(default_factory=list)

    @property
    def rescued(self) -> list[FileChange]:
        """Files that were rejected and now have trials."""
        return [c for c in self.changes if c.was in {"rejected", None} and c.counts.trials_added]

    @property
    def lost(self) -> list[FileChange]:
        """Files that had trials and are now rejected."""
        return [c for c in self.changes if c.now == "rejected" and c.counts.trials_removed]

    def text(self) -> str:
        """Return the changes as text: by file, then the totals."""
        lines = [f"changed  {change.text()}" for change in self.changes[:_MAX_FILES_TOLD]]
        if more := len(self.changes) - len(lines):
            lines.append(f"changed  {more} more files")
        return "\n".join([*map(printable, lines), self._sum()])

    def _sum(self) -> str:
        said = f"{self.files} files read again"
        if self.without_bytes:
            said += f", {self.without_bytes} without stored bytes left as they are"
        if self.overtaken:
            said += f", {self.overtaken} left to another process that has ingested them meanwhile"
        if not self.changes:
            return f"{said}; nothing changes"
        counts = sum((change.counts for change in self.changes), Counts()).text() or "no trials"
        turned = f"{len(self.rescued)} rejected files now give trials, {len(self.lost)} no longer do"
        return f"{said}; batch {self.batch}: {len(self.changes)} files changed: {counts}; {turned}"


def reparse(lake: Lake, *, progress: Callable[[int, int, str], None] | None = None) -> Reparsed:
    """Parse the stored bytes of all current files again, and write changed files as one batch.

    The context of each trial is resolved again, too, from the stored sidecars, configurations, machine facts and
    campaign.yaml of the same ingest. Files since deleted on disk still count. All rows of a changed file are written to
    the new batch, which supersedes the old version; that stays readable. Unchanged files are not written. `progress` is
    called with (done, total, path) before each file.

    A file is dropped if another process commits a version of it meanwhile. Raises CampaignError, before anything is
    written, if a stored campaign.yaml is unusable for the current code; an interrupted reparse leaves nothing behind.
    """
    kept = Kept(lake)
    found = sorted(kept.survey(), key=explains_first)
    if not found:
        return Reparsed()
    with ExitStack() as stack:
        reading = _Rereading(lake, kept, found, lambda: stack.enter_context(lake.batch(kept.newest, reread=True)))
        for done, item in enumerate(found):
            if progress:
                progress(done, len(found), item.path)
            reading.take(item)
        reading.finish()
    return reading.told


class _Rereading(Intake):
    """An intake without known versions that drops files equal to the lake's."""

    def __init__(self, lake: Lake, kept: Kept, found: Sequence[Found], begin: Callable[[], Batch]) -> None:
        # Files of different ingests are not joined: a configuration of the same name may be another's.
        calls: dict[str, list[Found]] = defaultdict(list)
        for item in found:
            calls[kept.call(item)].append(item)
        self._resolvers = {call: Resolver.among(items, kept.read) for call, items in calls.items()}
        super().__init__(Resolver.among([], kept.read), {}, begin)
        self._kept, self._held = kept, _Held(lake)
        self.told = Reparsed()

    def take(self, item: Found) -> None:
        """Parse one file again, among the files of the same ingest."""
        self._resolver = self._resolvers[self._kept.call(item)]
        super().take(item)

    def write(self, outcomes: list[Outcome], written: Mapping[str, pa.Table]) -> None:
        """Write and record the outcomes that differ from the lake."""
        differing = self._held.changes(written)
        changed = []
        for outcome in outcomes:
            if outcome.raw["content"] is None:
                self.told.without_bytes += 1
                self.skip(outcome)
                continue
            self.told.files += 1
            if outcome.key not in differing and not self._held.is_news(outcome):
                self.skip(outcome)
                continue
            changed.append(outcome)
            counts = differing.get(outcome.key, Counts())
            status = self._kept.status(outcome.key)
            self.told.changes.append(FileChange(*outcome.key, status, outcome.raw["status"], counts))
        if changed:
            super().write(changed, tables(changed))

    def finish(self) -> Summary:
        """Commit, and drop changes that lost to another process."""
        summary = super().finish()
        told, dropped = self.told, self._batch.dropped if self._batch else {}
        told.batch, told.overtaken = summary.batch, len(dropped)
        told.changes = [c for c in told.changes if (c.campaign, c.source_path) not in dropped]
        return summary


class _Held:
    """Digests of the rows of all current files, to compare with the new rows."""

    def __init__(self, lake: Lake) -> None:
        self._connection = duckdb.connect()
        self._run("set timezone = 'UTC'; create schema held; create schema now")
        for table in TABLES:
            files = ", ".join(quoted(file) for file in lake.files(table))
            options = "hive_partitioning = false, union_by_name = true, file_row_number = true"
            self._run(f"create view all_{table} as from read_parquet([{files}], {options})")
        self._run(_CURRENT)
        for table, columns in _COMPARED.items():
            current = "semi join current_trials using (trial_id, batch)"
            if "source_path" in columns:
                current = "semi join current_files using (campaign, source_path, batch)"
            if table == "observations":  # those of trials have no file
                current = (
                    "where (trial_id, batch) in (from current_trials) or "
                    "trial_id is null and (campaign, source_path, batch) in (from current_files)"
                )
            self._run(f"create view held.{table} as select {', '.join(columns)} from all_{table} {current}")  # noqa: S608
        self._run(f"use held; create temp table before as {_DIGESTS}")
        self._latest = {table: dict(self._shared(f"all_{table}", table, "batch, file_row_number")) for table in _SHARED}

    def changes(self, written: Mapping[str, pa.Table]) -> dict[Key, Counts]:
        """Return the differences of the changed files, given all their rows in `written`."""
        for table, columns in _COMPARED.items():
            self._connection.register("rows", written.get(table, TABLES[table].empty_table()).select(columns))
            self._run(f"create or replace table now.{table} as from rows")
        self._run(f"use now; create or replace temp table after as {_DIGESTS}")
        rows = self._run(_CHANGED).fetchall()
        return {(campaign, path): Counts(*map(int, counts)) for campaign, path, *counts in rows}

    def is_news(self, outcome: Outcome) -> bool:
        """Return whether a machine or campaign that comes with a file differs from its latest row in the lake."""
        shared = {table: outcome.rows[table] for table in _SHARED if outcome.rows.get(table)}
        for table, rows in (tables([Outcome(outcome.raw, shared)]) if shared else {}).items():
            if table in shared:
                self._connection.register("rows", rows)
                if any(
                    self._latest[table].get(owner) != digest for owner, digest in self._shared("rows", table, "all")
                ):
                    return True
        return False

    def _shared(self, rows: str, table: str, order: str) -> list[tuple[Any, int]]:
        """Return digests of machines or campaigns, with their owners."""
        owner = "campaign" if table == "campaigns" else "(campaign, source_path)"
        columns = ", ".join(name for name in TABLES[table].names if name != "batch")
        return self._run(f"select {owner}, hash({columns}) from {rows} order by {order}").fetchall()  # noqa: S608 - ours

    def _run(self, query: str) -> duckdb.DuckDBPyConnection:
        try:
            return self._connection.execute(query)
        except duckdb.Error as error:
            message = f"The lake cannot be read ({str(error).splitlines()[0]}): type `dropline verify`"
            raise DamagedFile(message) from error


def rejects(lake: Lake) -> pa.Table:
    """Return the rejects of the current version of every file: campaign, source_path, line, reason, hint.

    In the order of campaign, file and line.
    """
    current = {key: place.batch for key, place in lake.places().items()}
    rows = lake.tables("rejects", (*_REJECT_COLUMNS, "batch"))
    keys = zip(rows["campaign"].to_pylist(), rows["source_path"].to_pylist(), strict=True)
    is_current = [current.get(key) == batch for key, batch in zip(keys, rows["batch"].to_pylist(), strict=True)]
    order = [(name, "ascending") for name in _REJECT_COLUMNS[:3]]
    return rows.filter(pa.array(is_current, pa.bool_())).drop_columns("batch").sort_by(order)


def rejects_text(rejected: pa.Table) -> str:
    """Return the rows of `rejects` as text: where, why and what to do, then the total."""
    rows = rejected.to_pylist()
    lines = [f"{row['campaign']}: {reject_text(row, indent=4)}" for row in rows]
    files = len({(row["campaign"], row["source_path"]) for row in rows})
    counts = f"{len(rows)} rejects in {files} files" if rows else "nothing is rejected"
    return "\n".join([*map(printable, lines), counts])
