"""Change detection: the file versions that the lake holds, and the folders that cannot have changed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dropline.ingest import servers
from dropline.ingest.context import ServerConfig
from dropline.ingest.files import Kind
from dropline.ingest.lake import FORGOTTEN, Version
from dropline.ingest.listing import listings
from dropline.ingest.parquet import naming
from dropline.ingest.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from dropline.ingest.files import Found, Scope
    from dropline.ingest.formats import Row
    from dropline.ingest.lake import Key, Lake
    from dropline.ingest.listing import Listing

    Look = Callable[[list[Listing]], Iterable[tuple[Listing, list[ServerConfig]]]]

_BEGAN: Final = re.compile(r"-(\d{8}T\d{6}Z)")
# A file that was changed in the instant in which it was read, and once more, can have the same time: with the
# coarsest clock that file systems have (FAT), within two seconds.
_TICK_US: Final = 2_000_000
_CAMPAIGNS: Final = 8  # whose files are held at once
_OPEN_FILES: Final = 16


class Held(NamedTuple):
    """The current version of one file; `since_us` is when the ingest began that first brought these bytes."""

    scope: str
    batch: str
    size_bytes: int
    modified_us: int | None
    format: str
    sha256: str
    context_sha256: str
    status: str
    since_us: int

    def is_of(self, item: Found) -> bool:
        """Say whether a file on disk must have these bytes, by its size and time."""
        aged = item.modified_us + _TICK_US < self.since_us
        return aged and (item.size, item.modified_us) == (self.size_bytes, self.modified_us)


class Known:
    """The current versions in `lake` as of now, campaign by campaign: never those of all campaigns are in memory.

    Use it while the lake is `reading`.
    """

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._opened = lru_cache(maxsize=_OPEN_FILES)(pq.ParquetFile)
        self._current = lru_cache(maxsize=_CAMPAIGNS)(self._load)
        self._groups: list[tuple[Path, int, set[str]]] = []  # row groups and the campaigns in them
        self._campaigns: dict[str, set[str]] = defaultdict(set)  # of the files of a scope
        self.places: dict[str, dict[str, None]] = defaultdict(dict)  # folder -> the scopes that it was, the last last
        self.renamed: dict[str, str] = {}  # campaign -> as what its files go on
        for file in lake.files("raw_files"):
            with naming(file):
                groups = self._opened(file).num_row_groups
            for group in range(groups):
                held = self._read(file, group, _NAMES)
                held = held.group_by(_NAMES, use_threads=False).aggregate([])
                self._groups.append((file, group, {*held["campaign"].to_pylist()}))
                for campaign, scope, place, status in zip(*map(_plain, held.select(_NAMES)), strict=True):
                    self._note(campaign, scope, place, status)

    def _note(self, campaign: str, scope: str, place: str | None, status: str) -> None:
        if status == FORGOTTEN:
            if scope != campaign:
                self.renamed[campaign] = scope
            return
        self._campaigns[scope].add(campaign)
        if place:
            self.places[place].pop(scope, None)
            self.places[place][scope] = None

    def is_held(self, scope: str) -> bool:
        """Say whether there are current files of a scope, or of a campaign of its name."""
        return bool(self.of_scope(scope)) or any(f.status != FORGOTTEN for f in self._current(scope).values())

    def get(self, key: Key) -> Version | None:
        """Return the current version of a file, None when there is none."""
        held = self._current(key[0]).get(key[1])
        return Version(held.sha256, held.context_sha256, held.status) if held else None

    def of_scope(self, scope: str) -> dict[Key, Held]:
        """Return the current files whose folder is that of `scope`, whatever campaign they are of."""
        return {
            (campaign, path): held
            for campaign in sorted(self._campaigns.get(scope, ()))
            for path, held in self._current(campaign).items()
            if held.scope == scope and held.status != FORGOTTEN
        }

    def with_bytes(self, digests: Iterable[str]) -> set[str]:
        """Return the scopes with current files, of which a file has or had one of some digests."""
        wanted, found = pa.array(sorted(digests), pa.string()), set[str]()
        for file, group, _ in self._groups:
            rows = self._read(file, group, ("campaign", "scope", "sha256"))
            found.update(rows["scope"].filter(pc.is_in(rows["sha256"], value_set=wanted)).to_pylist())
        return {scope for scope in found if self.of_scope(scope)}

    def all_of(self, items: Sequence[Found]) -> dict[Key, Held] | None:
        """Return the files of a scope as the lake holds them; None when one may have changed, or explained others.

        What an output is joined to stands in its scope. So nothing can come out otherwise where every file has the size
        and the time of its current version. Of the files that are gone only those with status `context` matter, and
        those that campaign.yaml ignores by now.
        """
        # A file may have been of another campaign before its sidecar named this one.
        files = sorted(self.of_scope(items[0].scope.name).items(), key=lambda file: file[1].batch)
        newest = {key[1]: (key, held) for key, held in files}
        there = {}
        for item in items:
            key, held = newest.pop(item.path, (None, None))
            if key is None or held is None or not held.is_of(item):
                return None
            there[key] = held
        campaign = items[0].scope.campaign
        if campaign and any(campaign.ignores(path) for path in newest):
            return None
        return None if any(held.status == "context" for _, held in newest.values()) else there

    def rejects(self, batches: Mapping[Key, str]) -> Iterator[Row]:
        """Yield the rows of schema.REJECTS without the batch, of files in the batch that is told for each."""
        if batches:
            for row in self._lake.tables("rejects").to_pylist():
                if batches.get((row["campaign"], row["source_path"])) == row.pop("batch"):
                    yield row

    def server_configs(self, folders: Mapping[str, str]) -> Iterator[ServerConfig]:
        """Yield the current server configurations of some scopes; `folders` are the scopes' own."""
        columns = [name for name in TABLES["server_configs"].names if name != "settings"]
        for row in self._lake.tables("server_configs", columns).to_pylist():
            campaign, path, batch = row["campaign"], row["source_path"], row.pop("batch")
            if campaign in folders and (held := self._current(campaign).get(path)) and held.batch == batch:
                yield ServerConfig(row, folders[campaign], path, row["source_sha256"])

    def _load(self, campaign: str) -> dict[str, Held]:
        """Return the current version of every file of a campaign by its path."""
        current: dict[str, Held] = {}
        for file, group, campaigns in self._groups:
            if campaign not in campaigns:
                continue
            rows = self._read(file, group, _COLUMNS)
            rows = rows.filter(pc.equal(rows["campaign"], campaign))
            for _, path, scope, batch, *more in zip(*map(_plain, rows), strict=True):
                held = Held._make((scope, batch, *more, _began_us(batch)))
                before = current.get(path)
                if before and before.sha256 == held.sha256:
                    held = held._replace(since_us=before.since_us)
                current[path] = held
        return current

    def _read(self, file: Path, group: int, columns: Sequence[str]) -> pa.Table:
        """Return columns of a row group; scope and place were not told in batches of old."""
        with naming(file):
            held = self._opened(file)
            there = [name for name in columns if name in held.schema_arrow.names]
            rows = held.read_row_group(group, columns=there, use_threads=False)
        scope = pc.coalesce(rows["scope"], rows["campaign"]) if "scope" in there else rows["campaign"]
        told = {"scope": scope, "place": rows["place"] if "place" in there else pa.nulls(rows.num_rows, pa.string())}
        return pa.table({name: told[name] if name in told else rows[name] for name in columns})


@dataclass(slots=True)
class Unread:
    """Scopes that need not be read: the lake holds all their files as they are.

    Attributes:
        files: how many there are; `rejected` of them are of no use.
        ignored: those that a rule leaves out.
        folders: scope -> its folder.
        rejects: files of which the lake has rejects -> the batch that has them.

    """

    files: int = 0
    rejected: int = 0
    ignored: list[str] = field(default_factory=list)
    campaigns: set[str] = field(default_factory=set)
    folders: dict[str, str] = field(default_factory=dict)
    rejects: dict[Key, str] = field(default_factory=dict)

    @classmethod
    def of(cls, scope: Scope, held: Mapping[Key, Held]) -> Unread:
        """Return what one scope comes to; `held` is what the lake holds of its files."""
        return cls(
            len(held),
            sum(file.status == "rejected" for file in held.values()),
            [f"{scope.folder}/{path}" for (_, path), file in held.items() if file.status == "ignored"],
            {campaign for campaign, _ in held},
            {scope.name: str(scope.folder)},
            {key: file.batch for key, file in held.items() if file.status.endswith("rejected")},
        )

    def add(self, other: Unread) -> None:
        """Count other scopes, too."""
        self.files += other.files
        self.rejected += other.rejected
        self.ignored += other.ignored
        self.campaigns |= other.campaigns
        self.folders |= other.folders
        self.rejects |= other.rejects


class Chosen(NamedTuple):
    """Which files of a call must be read.

    Attributes:
        listings: the scopes that must be read, in the order of their names, as somebody has looked at their files.
        configs: the server configurations among them.
        unread: the other scopes.

    """

    listings: list[Listing]
    configs: list[ServerConfig]
    unread: Unread


def choose(scopes: Iterable[list[Found]], known: Known, look: Look, *, reread: bool = False) -> Chosen:
    """Return which files of some scopes must be read.

    `look` yields listings as the heads of their files tell what they are, with the server configurations among them. A
    scope must be read when `Known.all_of` says so, or when its sidecars may name a server configuration that another
    scope brings; also when another scope has its name.
    """
    changed: list[Listing] = []
    waiting: list[tuple[bool, Unread, list[Listing]]] = []
    unread = Unread()
    names: Counter[str] = Counter()
    for items in scopes:
        scope = items[0].scope
        names[scope.name] += 1
        held = None if reread else known.all_of(items)
        if held is None:
            changed += listings(items)
        elif scope.campaign is None or _refers(held):
            waiting.append((_refers(held), Unread.of(scope, held), [*listings(items)]))
        else:
            unread.add(Unread.of(scope, held))
    looked = [*look(changed)]
    news = any(_is_new(config, each.scope, known) for each, configs in looked for config in configs)
    drawn: list[Listing] = []
    for refers, untouched, parts in waiting:
        if names[parts[0].scope.name] > 1 or (news and refers):
            drawn += parts
        else:
            unread.add(untouched)
    looked += look(drawn)
    looked.sort(key=lambda found: (found[0].scope.name, found[0].scope.folder))
    return Chosen([each for each, _ in looked], [config for _, configs in looked for config in configs], unread)


def _is_new(config: ServerConfig, scope: Scope, known: Known) -> bool:
    held = known.get((scope.name, config.path))
    return held is None or held.sha256 != config.sha256


def _refers(held: Mapping[Key, Held]) -> bool:
    """Say whether sidecars of a scope may name server configurations of another: it has none of its own."""
    formats = {file.format for file in held.values()}
    return Kind.SIDECAR in formats and formats.isdisjoint(servers.FORMATS)


_NAMES: Final = ["campaign", "scope", "place", "status"]
_COLUMNS: Final = (
    *("campaign", "source_path"),
    *("scope", "batch", "size_bytes", "modified_at", "format", *Version._fields),  # as Held has them
)


def _plain(column: pa.ChunkedArray) -> list[Any]:
    times = pa.types.is_timestamp(column.type)
    values: list[Any] = (column.cast(pa.int64()) if times else column).to_pylist()
    return values


@lru_cache(maxsize=1024)
def _began_us(batch: str) -> int:
    """Return when a batch began, as its name tells; 0 for one that does not tell."""
    found = _BEGAN.search(batch)
    return int(datetime.strptime(found[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()) * 10**6 if found else 0
