"""The ingest: load new files under the given paths into the lake, as one batch."""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Final, Protocol

import pyarrow as pa

from dropline.ingest.change_detection import Known, choose
from dropline.ingest.files import MAX_BYTES, NOTES, Ignored, Kind, adopt, look, read, walk
from dropline.ingest.formats import Reject
from dropline.ingest.identity import Identities
from dropline.ingest.lake import FORGOTTEN
from dropline.ingest.listing import MOST_BYTES, MOST_FILES, gathered
from dropline.ingest.parallel import in_order, uncollected
from dropline.ingest.ramps import Ramps
from dropline.ingest.resolve import Resolver, server_configs
from dropline.ingest.retraction import move, tombstones
from dropline.ingest.rows import Outcome, campaign_row, from_rows, reject_row, tables, unfit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from dropline.ingest.change_detection import Chosen
    from dropline.ingest.context import ServerConfig
    from dropline.ingest.files import Found, Refused
    from dropline.ingest.formats import Row
    from dropline.ingest.lake import Batch, Key, Lake, Version
    from dropline.ingest.listing import Listing
    from dropline.ingest.resolve import Read, Versions

_FLUSH_FILES: Final = MOST_FILES
_FLUSH_BYTES: Final = MOST_BYTES
_KEPT_BYTES: Final = 256 * 1024 * 1024  # of small files, so that they are read once


@dataclass(slots=True)
class Summary:
    """The result of one ingest; `seen` is always `ingested + skipped + rejected` plus the `ignored`.

    Attributes:
        ingested: new or changed files that were accepted.
        skipped: files already in the lake in this version.
        rejected: rejected files, including those already known.
        ignored: ignored files, including those already known, and folders with their contents.
        superseded: ingested files that replaced an earlier version.
        retired: files in the lake that campaign.yaml now ignores; they no longer count.
        batch: the batch that was written, None if nothing was new.
        notes: remarks about the campaigns for the user, one sentence each.
        rejects: rows of schema.REJECTS without the batch, including known ones.

    """

    seen: int = 0
    ingested: int = 0
    skipped: int = 0
    rejected: int = 0
    ignored: list[Ignored] = field(default_factory=list)
    trials: int = 0
    superseded: int = 0
    retired: int = 0
    batch: str | None = None
    campaigns: list[str] = field(default_factory=list)
    rejects: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, other: Summary) -> None:
        """Add the counts of another part of the call."""
        self.seen += other.seen
        self.ingested += other.ingested
        self.skipped += other.skipped
        self.rejected += other.rejected
        self.ignored += other.ignored
        self.trials += other.trials
        self.superseded += other.superseded
        self.campaigns = sorted({*self.campaigns, *other.campaigns})
        self.rejects += other.rejects

    def refuse(self, folders: Iterable[Refused]) -> None:
        """Count the files of rejected folders and add their rejects; nothing of them is written."""
        for path, rejects, files in folders:
            self.seen += files
            self.rejected += files
            raw = {"campaign": "", "source_path": path, "sha256": ""}
            waiting = f": {counted(files, 'file', 'files')} of the folder {'waits' if files == 1 else 'wait'} for it"
            self.rejects += (reject_row(raw, replace(each, hint=each.hint + waiting)) for each in rejects)

    def commit(self, batch: Sink | None) -> None:
        """Commit the batch, and subtract the files that others have committed meanwhile."""
        if batch:
            self.batch = batch.commit()
            self.trials -= batch.dropped_trials
            late = sum(v.status not in {"rejected", "ignored"} for v in batch.dropped.values())
            self.ingested -= late
            self.skipped += late
        self.rejects.sort(key=lambda row: (row["campaign"], row["source_path"]))
        self.ignored.sort()
        if self.seen != self.ingested + self.skipped + self.rejected + len(self.ignored):
            message = f"the files do not add up: {self}"
            raise AssertionError(message)

    def text(self, *, dry: bool = False, with_ignored: bool = False) -> str:
        """Return the summary as text: ignored files if wanted, rejects with reasons, then the totals.

        After a `dry` run it says what would be done.
        """
        lines = [f"ignored   {each.path}\n          -> {each.rule}" for each in self.ignored if with_ignored]
        lines += [f"rejected  {reject_text(reject, indent=10)}" for reject in self.rejects]
        news = f"batch {self.batch}: {self.trials} trials" if self.batch else "nothing new"
        news = f"{counted(self.trials, 'trial', 'trials')}; nothing was written" if dry else news
        counts = f"{self.seen} files = {self.ingested} ingested + {self.skipped} skipped + {self.rejected} rejected"
        counts += f" + {len(self.ignored)} ignored"
        told = [*lines, *(f"note      {note}" for note in self.notes)]
        return "\n".join([*map(printable, told), "; ".join([counts, news, *self._replaced()])])

    def _replaced(self) -> Iterator[str]:
        if self.superseded:
            yield f"{counted(self.superseded, 'file supersedes', 'files supersede')} an earlier version"
        if self.retired:
            yield f"{counted(self.retired, 'file', 'files')} ingested before ignored from now on"


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many}"


class Sink(Protocol):
    """The target of an intake: a batch of the lake, or a part of one in memory."""

    dropped: dict[Key, Version]
    dropped_trials: int

    def add(self, table: str, rows: pa.Table, /) -> None:
        """Append rows to one table."""

    def commit(self) -> str | None:
        """Commit it and return its name."""


@dataclass(slots=True)
class Part:
    """The rows of some files, for another process to write.

    Attributes:
        keys: the files' keys in the lake.
        tables: rows of the lake's tables without the batch, in the order they were added.

    """

    summary: Summary = field(default_factory=Summary)
    keys: set[Key] = field(default_factory=set)
    tables: list[tuple[str, pa.Table]] = field(default_factory=list)
    dropped: dict[Key, Version] = field(default_factory=dict)
    dropped_trials: int = 0

    def add(self, table: str, rows: pa.Table) -> None:
        """Append rows to one table."""
        self.tables.append((table, rows))

    def commit(self) -> None:
        """Do nothing: the process that writes the part commits it."""


def ingest(
    paths: Iterable[Path],
    lake: Lake,
    *,
    progress: Callable[[int, int, str], None] | None = None,
    max_bytes: int = MAX_BYTES,
    reread: bool = False,
    campaign: str | None = None,
    named_in: Lake | None = None,
) -> Summary:
    """Ingest all files under `paths` into `lake` as one batch, and return the result.

    A file is skipped if the lake has it with the same bytes and the same context. A scope is skipped unread if the lake
    has all its files with the same size and mtime, unless `reread`. Many files are split among several processes.
    `campaign` names folders that have no campaign.yaml; names are taken from the lake `named_in`, if it is not `lake`.
    `progress` is called with (done, total, path) for each file that is read. Files under an unusable campaign.yaml are
    rejected, and their versions in the lake stay. Raises IntakeError for a missing path and CampaignError for two
    campaigns of one name, both before anything is written; an interrupted ingest leaves nothing behind.
    """
    with lake.reading(), uncollected(), ExitStack() as stack:
        room = cache(lambda: stack.enter_context(lake.staged()))  # for extracted archives
        newest = (lake.batches() or [""])[-1]  # before reading the known versions: later batches are compared on commit
        known = Known(lake)
        identities = Identities(Known(named_in) if named_in else known, campaign)
        return _ingest(paths, lake, newest, known, identities, progress, max_bytes, room, reread=reread)


def _ingest(
    paths: Iterable[Path],
    lake: Lake,
    newest: str,
    known: Known,
    identities: Identities,
    progress: Callable[[int, int, str], None] | None,
    max_bytes: int,
    room: Callable[[], Path],
    *,
    reread: bool,
) -> Summary:
    reader = partial(_read, max_bytes=max_bytes)
    left_out: list[Ignored] = []
    scopes = identities.named(walk(paths, left_out, room, identities.refused))
    found = choose(scopes, known, partial(_looked, read=reader, max_bytes=max_bytes), reread=reread)
    unread = found.unread
    skipped = unread.files - unread.rejected - len(unread.ignored)
    left_out += (Ignored(path, NOTES) for path in unread.ignored)
    seen = unread.files + len(left_out) - len(unread.ignored)
    summary = Summary(seen, 0, skipped, unread.rejected, left_out, notes=identities.notes)
    summary.campaigns, summary.rejects = sorted(unread.campaigns), [*known.rejects(unread.rejects)]
    summary.refuse(identities.refused)
    resolver = _resolver(found, known, reader)
    summary.notes += _doubts(found.listings, resolver)
    # Two scopes can claim the same key only if no campaign.yaml names the campaign.
    several = len({each.scope.folder for each in found.listings}) + len(unread.folders) > 1
    shared = several and any(each.scope.campaign is None for each in found.listings)
    taken = {key for scope in unread.folders for key in known.of_scope(scope)} if shared else set()
    introduced: set[str] = set()
    batch: Batch | None = None
    total = summary.seen + sum(len(each.items) for each in found.listings)
    tasks = list(gathered(found.listings))
    with ExitStack() as stack:
        parts = stack.enter_context(closing(in_order(partial(_take, resolver, known, shared=shared), tasks)))
        for task, part in zip(tasks, parts, strict=True):
            if progress:
                names = (item.path for each in task for item in each.items)
                for done, path in enumerate(names, summary.seen):
                    progress(done, total, path)
            if not taken.isdisjoint(part.keys):
                part = _take(resolver, known, task, taken, shared=shared)
            taken |= part.keys
            summary.add(part.summary)
            for name, rows in part.tables:
                batch = batch or stack.enter_context(lake.batch(newest))
                batch.add(name, _introduce(rows, introduced) if name == "campaigns" else rows)
        retired = _retired(found.listings, known)
        if retired or identities.renamed:
            batch = batch or stack.enter_context(lake.batch(newest))
            summary.retired = len(retired)
            tombstones(batch, retired)
            for each in identities.renamed:
                move(lake, batch, each.old, each.new, each.there)
        summary.commit(batch)
    return summary


def _doubts(found: Iterable[Listing], resolver: Resolver) -> Iterator[str]:
    """Yield warnings about the path templates of the campaigns that are read."""
    for folder, campaign in {each.scope.folder: each.scope.campaign for each in found}.items():
        if campaign and campaign.path:
            yield from campaign.doubts(item.path for item in resolver.files(folder) if item.kind is Kind.OUTPUT)


def _retired(found: Iterable[Listing], known: Known) -> list[Key]:
    """Return the files in the lake that their campaign.yaml now ignores."""
    campaigns = {each.scope.name: each.scope.campaign for each in found if each.scope.campaign}
    return [key for name, campaign in campaigns.items() for key in known.of_scope(name) if campaign.ignores(key[1])]


def _read(item: Found, limit: int, max_bytes: int) -> tuple[bytes, int]:
    if item.held:
        return item.held
    return read(item.where, min(limit, max_bytes))


def _looked(found: Sequence[Listing], read: Read, max_bytes: int) -> Iterator[tuple[Listing, list[ServerConfig]]]:
    """Recognise files by their heads; yield each listing with its server configurations."""
    kept_bytes = 0
    for each in found:
        kept_bytes += look(each.items, max_bytes, _KEPT_BYTES - kept_bytes)
        yield each, list(server_configs(each.items, read))


def _resolver(found: Chosen, known: Known, reader: Read) -> Resolver:
    """Return the resolver of the files of a call."""
    items: dict[Path, list[Found]] = defaultdict(list)
    for each in found.listings:
        items[each.scope.folder] += each.items
    for of_scope in items.values():
        adopt(of_scope)
    configs = [*found.configs, *known.server_configs(found.unread.folders)] if found.listings else []
    return Resolver(items.__getitem__, known, reader, configs)


def _take(
    resolver: Resolver, known: Versions, found: Iterable[Listing], taken: Iterable[Key] = (), *, shared: bool
) -> Part:
    """Parse some files; others with the keys `taken` are already there.

    Keys are returned only if they may be `shared` with files of other parts.
    """
    part = Part()
    intake = Intake(resolver, known, lambda: part, taken)
    ramps = Ramps(resolver)
    for each in found:
        by_columns = intake.take_ramps(ramps, each)
        for item in each.items:
            if item not in by_columns:
                intake.take(item)
    part.summary, part.keys = intake.finish(), intake.taken if shared else set()
    return part


def _introduce(campaigns: pa.Table, introduced: set[str]) -> pa.Table:
    """Return rows of schema.CAMPAIGNS without bare names that other parts have added already."""
    fresh = []
    for name, tags in zip(campaigns["campaign"].to_pylist(), campaigns["tags"].to_pylist(), strict=True):
        fresh.append(tags is not None or name not in introduced)  # a campaign.yaml always sets tags
        if tags is None:
            introduced.add(name)
    return campaigns.filter(pa.array(fresh, pa.bool_()))


class Intake:
    """Parses files, skips known versions and queues the rest for writing.

    `begin` creates the batch when there is something to write; `taken` are the keys already used.
    """

    def __init__(
        self,
        resolver: Resolver,
        known: Versions,
        begin: Callable[[], Sink],
        taken: Iterable[Key] = (),
    ) -> None:
        self._resolver, self._known, self._begin = resolver, known, begin
        self.taken = set(taken)
        self._pending: list[Outcome] = []
        self._pending_bytes = 0
        self._batch: Sink | None = None
        self._introduced: set[str] = set()  # names of campaigns without a campaign.yaml
        self._campaigns: set[str] = set()
        self._summary = Summary()

    def take(self, item: Found) -> None:
        """Count one file, and queue it if the lake does not have this version."""
        self._summary.seen += 1
        self._keep(item, self._resolver.outcome(item))

    def take_ramps(self, ramps: Ramps, found: Listing) -> Collection[Found]:
        """Count and write what `ramps` takes of some files, and return it."""

        def is_new(key: Key, version: Version) -> bool:
            return self._known.get(key) != version

        try:
            taken = ramps.take(found.items, is_new)
        except (ValueError, TypeError, OverflowError):  # a value that does not fit: `_store` finds the file
            return ()
        keys = {key for key, _ in taken.versions.values()}
        if len(keys) < len(taken.versions) or not keys.isdisjoint(self.taken):
            return ()  # `_keep` finds the file
        self.taken |= keys
        summary = self._summary
        summary.seen += len(keys)
        summary.trials += taken.trials
        introduced: set[str] = set()
        for key, version in taken.versions.values():
            self._campaigns.add(key[0])
            if not is_new(key, version):
                summary.skipped += 1
                continue
            summary.ingested += 1
            summary.superseded += self._is_held(key)
            introduced.add(key[0])
        introduced -= self._introduced
        if introduced and found.scope.campaign is None:
            self._introduced |= introduced
            self._add({"campaigns": from_rows("campaigns", [*map(campaign_row, sorted(introduced))])})
        self._add(taken.tables)
        return taken.versions

    def finish(self) -> Summary:
        """Write the queue, commit, and return the summary."""
        while self._pending:
            waiting, self._pending = self._pending, []
            self._store(waiting)
        self._summary.campaigns = sorted(self._campaigns)
        self._summary.commit(self._batch)
        return self._summary

    def _keep(self, item: Found, outcome: Outcome) -> None:
        """Count an outcome that the lake has; queue any other."""
        key = campaign, path = outcome.key
        if outcome.raw["status"] == "ignored":
            outcome.place = f"{item.scope.place}/{item.path}"
        self._campaigns.add(campaign)
        if key in self.taken:
            reason = f"another file of this ingest is also {path} of campaign {campaign}"
            clash = Reject(1, reason, "give each folder a campaign.yaml with its own name")
            self._summary.rejected += 1
            self._summary.rejects.append(reject_row(outcome.raw, clash))
            return
        self.taken.add(key)
        if (known := self._known.get(key)) and known == outcome.version:
            self.skip(outcome)
            return
        if item.scope.campaign is None and campaign not in self._introduced:
            self._introduced.add(campaign)
            outcome.rows["campaigns"] = [campaign_row(campaign)]
        self._queue(outcome)

    def _queue(self, outcome: Outcome) -> None:
        self._pending.append(outcome)
        self._pending_bytes += len(outcome.raw["content"] or b"")
        if len(self._pending) >= _FLUSH_FILES or self._pending_bytes >= _FLUSH_BYTES:
            waiting, self._pending, self._pending_bytes = self._pending, [], 0
            self._store(waiting)

    def skip(self, outcome: Outcome) -> None:
        """Count an outcome that is already in the lake."""
        self._summary.skipped += self._is_of_use(outcome)
        self._summary.rejects += outcome.rejects

    def _is_of_use(self, outcome: Outcome) -> bool:
        """Return whether an outcome is neither rejected nor ignored; count it if it is."""
        status = outcome.raw["status"]
        self._summary.rejected += status == "rejected"
        if status == "ignored":
            self._summary.ignored.append(Ignored(outcome.place, NOTES))
        return status not in {"rejected", "ignored"}

    def _store(self, outcomes: list[Outcome]) -> None:
        """Write outcomes to the batch; reject a file with a value that no column can hold."""
        if not outcomes:
            return
        try:
            written = tables(outcomes)
        except (ValueError, TypeError, OverflowError) as error:
            if len(outcomes) > 1:
                middle = len(outcomes) // 2
                self._store(outcomes[:middle])
                self._store(outcomes[middle:])
            else:
                refused = unfit(outcomes[0], error)
                (self.skip if self._known.get(refused.key) == refused.version else self._queue)(refused)
        else:
            self.write(outcomes, written)

    def write(self, outcomes: list[Outcome], written: Mapping[str, pa.Table]) -> None:
        """Add `outcomes` to the batch and count them; `written` are their tables."""
        self._add(written)
        for outcome in outcomes:
            self._summary.ingested += self._is_of_use(outcome)
            self._summary.superseded += self._is_held(outcome.key)
            self._summary.trials += outcome.raw["trials"]
            self._summary.rejects += outcome.rejects

    def _is_held(self, key: Key) -> bool:
        """Return whether the lake has a version of a file, and has not forgotten it."""
        known = self._known.get(key)
        return known is not None and known.status != FORGOTTEN

    def _add(self, written: Mapping[str, pa.Table]) -> None:
        for name, rows in written.items():
            if self._batch is None:
                self._batch = self._begin()
            self._batch.add(name, rows)


def reject_text(reject: Row, indent: int = 0) -> str:
    """Return a row of schema.REJECTS as text: where and why, then what to do."""
    place = reject["source_path"] + (f", line {reject['line']}" if reject["line"] else "")
    return f"{place}: {reject['reason']}\n{' ' * indent}-> {reject['hint']}"


def printable(text: str) -> str:
    """Return `text` without terminal control characters: file names and contents are untrusted."""
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)
