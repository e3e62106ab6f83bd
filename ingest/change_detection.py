"""Change detection: which file versions the lake has, and which folders cannot have changed."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dropline.ingest.context import ServerConfig
from dropline.ingest.files import Found
from dropline.ingest.formats import Row
from dropline.ingest.lake import FORGOTTEN, Key, Lake, Version
from dropline.ingest.parquet import naming, plain, widened
from dropline.ingest.schema import TABLES

_BEGAN: Final = re.compile(r"-(\d{8}T\d{6}Z)")
# A file that changes right after it was read may keep its time: the coarsest clock of a file system (FAT) ticks every
# two seconds.
_TICK_US: Final = 2_000_000
_CAMPAIGNS: Final = 8  # with cached files
_OPEN_FILES: Final = 16


class Held(NamedTuple):
    """Current version of one file; `since_us` is the start of the ingest that first stored these bytes."""

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
        """Return whether a file on disk has these bytes, by its size and time."""
        aged = item.modified_us + _TICK_US < self.since_us
        return aged and (item.size, item.modified_us) == (self.size_bytes, self.modified_us)


class Known:
    """Snapshot of the current versions in `lake`, which must be `reading`; loaded by campaign, to limit memory."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._opened = lru_cache(maxsize=_OPEN_FILES)(pq.ParquetFile)
        self._current = lru_cache(maxsize=_CAMPAIGNS)(self._load)
        self._there = lru_cache(maxsize=_CAMPAIGNS)(lambda scope: {name for name, _ in self.of_scope(scope)})
        self._groups: list[tuple[Path, int, set[str]]] = []  # row groups and the campaigns in them
        self.campaigns: dict[str, set[str]] = defaultdict(set)  # scope -> campaigns of its files
        self.places: dict[str, dict[str, None]] = defaultdict(dict)  # folder -> the scopes it has had, newest last
        self.renamed: dict[str, str] = {}  # old campaign name -> new one
        for file in lake.files("raw_files"):
            with naming(file):
                groups = self._opened(file).num_row_groups
            for group in range(groups):
                held = self._read(file, group, _NAMES)
                held = held.group_by(_NAMES, use_threads=False).aggregate([])
                self._groups.append((file, group, {*held["campaign"].to_pylist()}))
                for campaign, scope, place, status in zip(*map(plain, held.select(_NAMES)), strict=True):
                    if status != FORGOTTEN:
                        self.campaigns[scope].add(campaign)
                        if place:
                            self.places[place].pop(scope, None)
                            self.places[place][scope] = None
                    elif scope != campaign:
                        self.renamed[campaign] = scope

    def is_held(self, scope: str) -> bool:
        """Return whether the lake has current files of a scope or of a campaign of the same name."""
        return bool(self.of_scope(scope) or self._current(scope))

    def campaign(self, scope: str, named: str) -> str:
        """Return the current name of the campaign that sidecars of a scope name, which may have been renamed."""
        return next((name for name in (named, *self.later_names(named)) if name in self._there(scope)), named)

    def later_names(self, name: str) -> Iterator[str]:
        """Yield the later names of a renamed campaign, in order."""
        seen: set[str] = set()
        while name not in seen and (after := self.renamed.get(name)):
            yield after
            seen.add(name)
            name = after

    def get(self, key: Key) -> Version | None:
        """Return the current version of a file; None if there is none or it is forgotten."""
        held = self._current(key[0]).get(key[1])
        return Version(held.sha256, held.context_sha256, held.status) if held else None

    def other_scope(self, item: Found, key: Key, sha256: str) -> str | None:
        """Return the other scope whose file, with other bytes, a file would replace, if any."""
        held = self._current(key[0]).get(key[1])
        return held.scope if held and held.sha256 != sha256 and held.scope != item.scope.name else None

    def left(self, item: Found, key: Key, sha256: str) -> Iterator[Key]:
        """Yield the earlier keys of a file and its sidecar, if the sidecar named another campaign before."""
        scope, (campaign, path) = item.scope.name, key
        for other in self.campaigns.get(scope, set()) - {campaign} if not self.get(key) else ():
            before = self._current(other)
            if (held := before.get(path)) and (held.scope, held.sha256) == (scope, sha256):
                yield from ((other, each.path) for each in (item, item.sidecar) if each and each.path in before)

    def of_scope(self, scope: str) -> dict[Key, Held]:
        """Return the current files of a scope, whatever their campaign."""
        return {
            (campaign, path): held
            for campaign in sorted(self.campaigns.get(scope, ()))
            for path, held in self._current(campaign).items()
            if held.scope == scope
        }

    def with_bytes(self, digests: Iterable[str]) -> set[str]:
        """Return the scopes that have current files, and in which any version of a file has one of the digests."""
        wanted, found = pa.array(sorted(digests), pa.string()), set[str]()
        for file, group, _ in self._groups:
            rows = self._read(file, group, ["campaign", "scope", "sha256"])
            found.update(rows["scope"].filter(pc.is_in(rows["sha256"], value_set=wanted)).to_pylist())
        return {scope for scope in found if self.of_scope(scope)}

    def all_of(self, items: Sequence[Found]) -> dict[Key, Held] | None:
        """Return the stored files of a scope, or None if one may have changed or a removed one was context of others.

        Outputs are joined only to files of their scope, so nothing changes if every file has the size and time of its
        current version. Removed files matter if their status is `context`, or if campaign.yaml now ignores them.
        """
        # A file may have belonged to another campaign until its sidecar named this one.
        files = sorted(self.of_scope(items[0].scope.name).items(), key=lambda file: file[1].batch)
        newest, there = {key[1]: (key, held) for key, held in files}, {}
        for item in items:
            key, held = newest.pop(item.path, (None, None))
            if key is None or held is None or not held.is_of(item):
                return None
            there[key] = held
        campaign = items[0].scope.campaign
        is_ignored = campaign and any(map(campaign.ignores, newest))
        return None if is_ignored or any(held.status == "context" for _, held in newest.values()) else there

    def rejects(self, batches: Mapping[Key, str]) -> Iterator[Row]:
        """Yield the rows of schema.REJECTS, without the batch, for files and their batches."""
        if batches:
            for row in self._lake.tables("rejects").to_pylist():
                if batches.get((row["campaign"], row["source_path"])) == row.pop("batch"):
                    yield row

    def server_configs(self, folders: Mapping[str, str]) -> Iterator[ServerConfig]:
        """Yield the current server configurations of these scopes (scope -> folder)."""
        columns = [name for name in TABLES["server_configs"].names if name != "settings"]
        for row in self._lake.tables("server_configs", columns).to_pylist():
            campaign, path, batch = row["campaign"], row["source_path"], row.pop("batch")
            if campaign in folders and (held := self._current(campaign).get(path)) and held.batch == batch:
                yield ServerConfig(row, folders[campaign], path, row["source_sha256"])

    def _load(self, campaign: str) -> dict[str, Held]:
        current: dict[str, Held] = {}
        for file, group, campaigns in self._groups:
            if campaign not in campaigns:
                continue
            rows = self._read(file, group, _COLUMNS)
            rows = rows.filter(pc.equal(rows["campaign"], campaign))
            for _, path, scope, batch, *more in zip(*map(plain, rows), strict=True):
                held = Held._make((scope, batch, *more, _began_us(batch)))
                before = current.get(path)
                if before and before.sha256 == held.sha256:
                    held = held._replace(since_us=before.since_us)
                current[path] = held
        return {path: held for path, held in current.items() if held.status != FORGOTTEN}

    def _read(self, file: Path, group: int, columns: list[str]) -> pa.Table:
        """Return columns of a row group; in batches of older versions, the scope is the campaign."""
        with naming(file):
            rows = self._opened(file).read_row_group(group, columns=columns, use_threads=False)
        rows = widened(rows, pa.schema([TABLES["raw_files"].field(name) for name in columns]))
        return rows.set_column(columns.index("scope"), "scope", pc.coalesce(rows["scope"], rows["campaign"]))


_NAMES: Final = ["campaign", "scope", "place", "status"]
_COLUMNS: Final = [
    *("campaign", "source_path"),
    *("scope", "batch", "size_bytes", "modified_at", "format", *Version._fields),  # in the order of Held
]


@lru_cache(maxsize=1024)
def _began_us(batch: str) -> int:
    """Return the start of a batch, from its name; 0 if that has no time."""
    found = _BEGAN.search(batch)
    return int(datetime.strptime(found[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()) * 10**6 if found else 0
