"""Ingest: new files under the given paths go into the lake, as one batch."""

import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, Self

import pyarrow as pa
import pyarrow.compute as pc

from dropline.ingest import ramps, servers
from dropline.ingest.change_detection import Known
from dropline.ingest.context import ServerConfig
from dropline.ingest.files import NOTES, Found, Ignored, Kind, Scope, absent_machines, adopt, look, walk, whole
from dropline.ingest.formats import Reject, Row
from dropline.ingest.identity import Identities
from dropline.ingest.lake import Batch, Key, Lake, Version
from dropline.ingest.parallel import in_order, uncollected
from dropline.ingest.resolve import Resolver, server_configs
from dropline.ingest.retraction import move, tombstones
from dropline.ingest.rows import Outcome, campaign_row, reject_row, tables, unfit
from dropline.progress import Progress, unseen

Scopes = list[list[Found]]

MOST_FILES: Final = 2000  # per task
MOST_BYTES: Final = 64 * 1024 * 1024
_DOUBTED: Final = r"^(?:sidecar|server configuration) .*(?:is left out|is not used|did you mean .*)$"
_SIDECAR: Final = re.compile(r"^sidecar .*?: ")
_MOST_DOUBTS: Final = 5  # in the summary; the finding reader_warning lists all
_KEPT_BYTES: Final = 256 * 1024 * 1024  # of small files, kept so that they are read only once


@dataclass(slots=True)
class Summary:
    """Result of one ingest; `seen` is always `ingested + skipped + rejected` plus the number of `ignored`."""

    seen: int = 0
    ingested: int = 0  # new or changed files that were accepted
    skipped: int = 0  # files already in the lake in this version
    rejected: int = 0  # rejected files, including known ones
    ignored: list[Ignored] = field(default_factory=list)  # files, including known ones, and folders with contents
    trials: int = 0
    superseded: int = 0  # ingested files that replaced an earlier version
    retired: int = 0  # files in the lake that campaign.yaml now ignores; they no longer count
    batch: str | None = None  # the batch that was written, None if nothing was new
    campaigns: set[str] = field(default_factory=set)
    rejects: list[Row] = field(default_factory=list)  # rows of schema.REJECTS without the batch, including known ones
    notes: list[str] = field(default_factory=list)  # remarks about the campaigns for the user, one sentence each

    def add(self, other: Self) -> None:
        """Add the counts of another part of the ingest."""
        for name in ("seen", "ingested", "skipped", "rejected", "trials", "superseded", "ignored", "rejects"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.campaigns |= other.campaigns

    def commit(self, batch: Batch) -> None:
        """Commit the batch, and subtract files that others have committed meanwhile."""
        self.batch = batch.commit()
        self.trials -= batch.dropped_trials
        late = sum(v.status not in {"rejected", "ignored"} for v in batch.dropped.values())
        self.ingested -= late
        self.skipped += late
        self.rejects.sort(key=lambda row: (row["campaign"], row["source_path"]))
        self.ignored.sort()
        if self.seen != self.ingested + self.skipped + self.rejected + len(self.ignored):
            raise AssertionError(f"the files do not add up: {self}")

    def text(self, *, dry: bool = False, with_ignored: bool = False) -> str:
        """Return the summary as text: ignored files on request, rejects, and totals; `dry` if nothing was written."""
        lines = [f"ignored   {each.path}\n          -> {each.rule}" for each in self.ignored if with_ignored]
        rows = self.rejects
        if len({row["campaign"] for row in rows}) > 1:  # files of several campaigns may have the same names
            rows = [row | {"source_path": f"{row['campaign']}/{row['source_path']}"} for row in rows]
        lines += [f"rejected  {reject_text(row, indent=10)}" for row in rows]
        news = f"batch {self.batch}: {counted(self.trials, 'trial', 'trials')}" if self.batch else "nothing new"
        news = f"{counted(self.trials, 'trial', 'trials')}; nothing was written" if dry else news
        counts = f"{counted(self.seen, 'file', 'files')} = {self.ingested} ingested + {self.skipped} skipped"
        counts += f" + {self.rejected} rejected + {len(self.ignored)} ignored"
        texts = [*lines, *(f"note      {note}" for note in self.notes)]
        changes = [counts, news]
        if self.superseded:
            changes.append(f"{counted(self.superseded, 'file supersedes', 'files supersede')} an earlier version")
        if self.retired:
            changes.append(f"{counted(self.retired, 'earlier file', 'earlier files')} now ignored")
        return "\n".join([*map(printable, texts), "; ".join(changes)])


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many}"


class Part(NamedTuple):
    """Result of one task: counts, the files' keys in the lake, and rows of its tables without the batch."""

    summary: Summary
    keys: set[Key]
    left: set[Key]  # of files that now count for another campaign
    replaced: Counter[tuple[str, str, str]]  # number of files by their folder, the replaced file's folder, campaign
    notes: list[str]
    tables: list[tuple[str, pa.Table]]


class Unread(NamedTuple):
    """A scope that is skipped unread; `rejects` are its files with rejects, and the batches with these."""

    scope: Scope
    counts: Summary
    rejects: dict[Key, str]


def ingest(
    paths: Iterable[Path],
    lake: Lake,
    *,
    progress: Progress = unseen,
    reread: bool = False,
    campaign: str | None = None,
    named_in: Lake | None = None,
) -> Summary:
    """Ingest all files under `paths` into `lake` as one batch, and return the result.

    A file is skipped if the lake has it with the same bytes and the same context. A scope is skipped unread if the lake
    has all its files with the same size and mtime, unless `reread`. Many files are split among several processes.
    `campaign` names folders without a campaign.yaml; other names come from the lake `named_in`, by default `lake`.
    Files under an unusable campaign.yaml are rejected, and their versions in the lake stay. Raise IntakeError for a
    missing path and CampaignError for two campaigns of the same name, both before anything is written; an interrupted
    ingest leaves nothing behind.
    """
    with lake.reading(), uncollected(), ExitStack() as stack:
        room = cache(lambda: stack.enter_context(lake.staged()))  # for extracted archives
        newest = (lake.batches() or [""])[-1]  # before reading the known versions: later batches are compared on commit
        known = Known(lake)
        identities = Identities(Known(named_in) if named_in else known, campaign)
        left_out: list[Ignored] = []
        named = identities.named(walk(paths, left_out, room, identities.refused))
        scopes, configs, unread = _chosen(named, known, reread=reread)
        summary = Summary(len(left_out), ignored=left_out, notes=identities.notes)
        for each in unread:
            summary.add(each.counts)
        summary.rejects += known.rejects({key: batch for each in unread for key, batch in each.rejects.items()})
        for path, rejects, files in identities.refused:  # none of their files is written
            summary.seen += files
            summary.rejected += files
            raw = {"campaign": "", "source_path": path, "sha256": ""}
            waiting = f": {counted(files, 'file', 'files')} of the folder {'waits' if files == 1 else 'wait'} for it"
            summary.rejects += (reject_row(raw, replace(each, hint=each.hint + waiting)) for each in rejects)
        if scopes and unread:
            configs += known.server_configs({each.scope.name: each.scope.place for each in unread})
        resolver = Resolver(chain.from_iterable(scopes), whole, known, configs)
        retired: list[Key] = []
        for items in scopes:
            adopt(items)
            if described := items[0].scope.campaign:
                summary.notes += described.doubts(item.path for item in items if item.kind is Kind.OUTPUT)
                summary.notes += absent_machines(items)
                retired += (key for key in known.of_scope(items[0].scope.name) if described.ignores(key[1]))
        batch = stack.enter_context(lake.batch(newest))
        introduced: set[str] = set()
        doubts: Counter[str] = Counter()
        left: set[Key] = set()
        replaced: Counter[tuple[str, str, str]] = Counter()
        before = cache(lambda: _machines(lake.tables("hosts", ["campaign", "source_path", "host_id"])))
        parts = _parts(resolver, known, scopes, [each.scope.name for each in unread], summary.seen, progress)
        for part in stack.enter_context(closing(parts)):
            summary.add(part.summary)
            left |= part.left
            replaced += part.replaced
            summary.notes += (note for note in part.notes if note not in summary.notes)
            summary.superseded += len(part.left)
            for name, rows in part.tables:
                if name == "campaigns":  # leave out bare names that other parts have added already
                    campaigns = [*zip(*(rows[column].to_pylist() for column in ("campaign", "tags")), strict=True)]
                    # A campaign.yaml always sets tags.
                    fresh = [tags is not None or name not in introduced for name, tags in campaigns]
                    introduced |= {name for name, tags in campaigns if tags is None}
                    rows = rows.filter(pa.array(fresh, pa.bool_()))
                elif name == "hosts":
                    summary.notes += _other_machines(before(), rows)
                elif name == "trials":
                    texts = pc.list_flatten(rows["warnings"])
                    doubted = texts.filter(pc.match_substring_regex(texts, _DOUBTED)).to_pylist()
                    doubts.update(_SIDECAR.sub("sidecars: ", text) for text in doubted)
                batch.add(name, rows)
        summary.notes += (
            f"{counted(n, 'file', 'files')} of {ours} replaced those of {theirs}, as both folders are campaign {name} "
            f"and have the same paths: to keep both, `dropline forget {name}` and ingest the folder above"
            for (ours, theirs, name), n in replaced.items()
        )
        summary.notes += (f"{counted(n, 'trial', 'trials')}: {text}" for text, n in doubts.most_common(_MOST_DOUBTS))
        if campaign and (others := sorted(summary.campaigns - {campaign})):
            summary.notes.append(f"sidecars name campaign {', '.join(others)}, not {campaign}: use `dropline rename`")
        summary.retired = len(retired)
        if gone := [*retired, *sorted(left)]:
            tombstones(batch, gone)
        for renamed in identities.renamed:
            move(lake, batch, *renamed)
        for name, keys in identities.left:
            tombstones(batch, keys, name)
        summary.commit(batch)
    return summary


def _machines(hosts: pa.Table) -> dict[Key, str]:
    """Return the machine of each folder of facts, given by campaign and path."""
    columns = (hosts[name].to_pylist() for name in ("campaign", "source_path", "host_id"))
    return {(campaign, folder): host_id for campaign, folder, host_id in zip(*columns, strict=True)}


def _other_machines(before: Mapping[Key, str], rows: pa.Table) -> Iterator[str]:
    """Yield a note for each folder of machine facts that described another machine before."""
    for place, host_id in _machines(rows).items():
        if before.get(place, host_id) != host_id:
            yield (
                f"{'/'.join(filter(None, place))}: these facts of a machine replace different ones, also for earlier "
                "results; if the machine has changed, keep old and new results in two folders, each with its facts"
            )


def _chosen(
    scopes: Iterable[list[Found]], known: Known, *, reread: bool
) -> tuple[Scopes, list[ServerConfig], list[Unread]]:
    """Return the scopes to read, recognised, the server configurations among their files, and the other scopes.

    A scope is read if `Known.all_of` returns None, if its sidecars may refer to a server configuration in another
    scope, or if another scope has the same name.
    """
    changed: Scopes = []
    unchanged: list[tuple[Unread, bool, list[Found]]] = []
    names: Counter[str] = Counter()
    for items in scopes:
        scope = items[0].scope
        names[scope.name] += 1
        if reread or (held := known.all_of(items)) is None:
            changed.append(items)
            continue
        notes = [path for (_, path), file in held.items() if file.status == "ignored"]
        rejects = {key: file.batch for key, file in held.items() if file.status.endswith("rejected")}
        rejected = sum(file.status == "rejected" for file in held.values())
        counts = Summary(len(held), skipped=len(held) - rejected - len(notes), rejected=rejected)
        counts.ignored = [Ignored(f"{scope.place}/{path}", NOTES) for path in notes]
        counts.campaigns = {campaign for campaign, _ in held}
        formats = {file.format for file in held.values()}
        refers = Kind.SIDECAR in formats and formats.isdisjoint(servers.FORMATS)  # to another scope's configurations
        mixes = refers or scope.campaign is None
        unchanged.append((Unread(scope, counts, rejects), refers, items if mixes else []))
    look(chain.from_iterable(changed), _KEPT_BYTES)
    configs = [*server_configs(chain.from_iterable(changed), whole)]
    campaigns = {items[0].scope.place: items[0].scope.name for items in changed}
    before = [known.get((campaigns[each.folder], each.path)) for each in configs]
    news = any(was is None or was.sha256 != each.sha256 for was, each in zip(before, configs, strict=True))
    drawn: Scopes = []
    unread: list[Unread] = []
    for each, refers, items in unchanged:
        if items and (names[each.scope.name] > 1 or (news and refers)):
            drawn.append(items)
        else:
            unread.append(each)
    look(chain.from_iterable(drawn))
    configs += server_configs(chain.from_iterable(drawn), whole)
    return sorted(changed + drawn, key=lambda items: (items[0].scope.name, items[0].scope.folder)), configs, unread


def in_tasks(items: Iterable[Found]) -> Iterator[list[Found]]:
    """Yield lists of consecutive files, one per task: at most MOST_FILES, or about MOST_BYTES."""
    task: list[Found] = []
    size_bytes = 0
    for item in items:
        if task and (len(task) == MOST_FILES or size_bytes + item.size > MOST_BYTES):
            yield task
            task, size_bytes = [], 0
        task.append(item)
        size_bytes += item.size
    if task:
        yield task


def _parts(
    resolver: Resolver, known: Known, scopes: Scopes, unread: Sequence[str], seen: int, progress: Progress
) -> Generator[Part]:
    """Yield the results of all tasks, in order; `seen` files of `unread` scopes are in the lake already."""
    # Two scopes can claim the same key only if no campaign.yaml names the campaign.
    shared = len(scopes) + len(unread) > 1 and any(items[0].scope.campaign is None for items in scopes)
    taken = {key for name in unread for key in known.of_scope(name)} if shared else set()
    tasks = [*in_tasks(chain.from_iterable(scopes))]
    total = seen + sum(map(len, tasks))
    with closing(in_order(partial(_take, resolver, known, shared=shared), tasks)) as parts:
        for task, part in zip(tasks, parts, strict=True):
            seen += len(task)
            progress(seen, total)
            if not taken.isdisjoint(part.keys):
                part = _take(resolver, known, task, taken, shared=shared)
            taken |= part.keys
            yield part


def _take(resolver: Resolver, known: Known, items: Sequence[Found], taken: Iterable[Key] = (), *, shared: bool) -> Part:
    """Parse files, except keys `taken` by other parts; return the files' keys if other parts may have the same."""
    intake = Intake(known, taken)
    by_columns = ramps.Ramps(resolver).outcomes(items)
    left: set[Key] = set()
    replaced: Counter[tuple[str, str, str]] = Counter()
    for item in items:
        outcome = by_columns.get(item) or resolver.outcome(item)
        intake.take(item, outcome)
        left.update(known.left(item, outcome.key, outcome.raw["sha256"]))
        if other := known.other_scope(item, outcome.key, outcome.raw["sha256"]):
            replaced[item.scope.name, other, outcome.key[0]] += 1
    rows = [table for _, written in intake.written() for table in written.items()]
    return Part(
        intake.summary, intake.taken if shared else set(), left, replaced, [*resolver.machines_in_doubt(items)], rows
    )


class Intake:
    """Counter of files, which keeps those whose version the lake lacks; `taken` are keys in use already."""

    def __init__(self, known: Known | Mapping[Key, Version], taken: Iterable[Key] = ()) -> None:
        self._known = known
        self.taken = set(taken)
        self.summary = Summary()
        self._introduced: set[str] = set()  # names of campaigns without a campaign.yaml
        self._fresh: list[Outcome] = []

    def take(self, item: Found, outcome: Outcome) -> None:
        """Count one file, or keep it if the lake lacks this version."""
        key = campaign, path = outcome.key
        self.summary.seen += 1
        self.summary.campaigns.add(campaign)
        if key in self.taken:
            reason = f"another file of this ingest is also {path} of campaign {campaign}"
            clash = Reject(1, reason, "give each folder a campaign.yaml with its own name")
            self.summary.rejected += 1
            self.summary.rejects.append(reject_row(outcome.raw, clash))
            return
        self.taken.add(key)
        if self._known.get(key) == outcome.version:
            self._count(outcome)
            return
        if item.scope.campaign is None and campaign not in self._introduced:
            self._introduced.add(campaign)
            outcome.rows["campaigns"] = [campaign_row(campaign)]
        self._fresh.append(outcome)

    def written(self) -> Iterator[tuple[list[Outcome], dict[str, pa.Table]]]:
        """Yield the kept files with the tables of their rows, once, and count them."""
        waiting, self._fresh = [self._fresh], []
        while waiting:
            outcomes = waiting.pop()
            try:
                rows = tables(outcomes)
            except (ValueError, TypeError, OverflowError) as error:  # a value that no column can hold
                if middle := len(outcomes) // 2:
                    waiting += outcomes[middle:], outcomes[:middle]
                    continue
                refused = unfit(outcomes[0], error)
                if self._known.get(refused.key) == refused.version:
                    self._count(refused)
                else:
                    waiting.append([refused])
                continue
            for outcome in outcomes:
                self._count(outcome, is_new=True)
            yield outcomes, rows

    def _count(self, outcome: Outcome, *, is_new: bool = False) -> None:
        summary, status = self.summary, outcome.raw["status"]
        summary.rejects += outcome.rejects
        if status == "rejected":
            summary.rejected += 1
        elif status == "ignored":
            summary.ignored.append(Ignored(outcome.place, NOTES))
        elif is_new:
            summary.ingested += 1
        else:
            summary.skipped += 1
        if is_new:
            summary.superseded += self._known.get(outcome.key) is not None
            summary.trials += outcome.raw["trials"]


def reject_text(reject: Row, indent: int) -> str:
    """Return a row of schema.REJECTS as text: place and reason, then what to do."""
    place = reject["source_path"] + (f", line {reject['line']}" if reject["line"] else "")
    return f"{place}: {reject['reason']}\n{' ' * indent}-> {reject['hint']}"


def printable(text: str) -> str:
    """Return `text` without terminal control characters, as file names and contents are untrusted."""
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)
