"""Retraction: files that no longer count, and renamed campaigns.

Nothing is removed. A row of raw_files with the status `forgotten` supersedes every earlier version of its file. The
rows of a file that comes back, or moves to another campaign, are written again. `compact --purge` removes for good.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dropline.errors import DroplineError
from dropline.ingest.campaign import slug
from dropline.ingest.lake import FORGOTTEN
from dropline.ingest.parquet import joined, naming, row_groups, widened
from dropline.ingest.rows import NO_CONTEXT, trial_id
from dropline.ingest.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dropline.ingest.lake import Batch, Key, Lake

_OF_FILE: Final = ("campaign", "source_path", "batch")
_OF_TRIAL: Final = ("trial_id", "batch")
_OF_CAMPAIGNS: Final = ("campaigns", "hosts")  # whose rows belong to no single file
_STATE: Final = pa.schema([(name, pa.string()) for name in (*_OF_FILE, "scope", "status")])
_MANY: Final = 10_000  # rows per chunk


class NothingToRetract(DroplineError):
    """A name that matches no campaign and no file, or a new name that is taken; the text lists what exists."""


@dataclass(frozen=True, slots=True)
class Retracted:
    """The result of one call: a phrase for what happened to `files` of `campaigns`, and the batch written."""

    what: str
    files: int
    campaigns: tuple[str, ...]
    batch: str | None

    def text(self) -> str:
        """Return the result as text."""
        said = f"{self.files} {'file' if self.files == 1 else 'files'} of {', '.join(self.campaigns)} {self.what}"
        return f"{said}; batch {self.batch}. Type `dropline build` to publish it"


def forget(lake: Lake, name: str) -> Retracted:
    """Exclude a campaign, or a file or folder of one; its bytes stay until `compact --purge`.

    `name` is a campaign, or CAMPAIGN/PATH. Raises NothingToRetract if no current file matches.
    """
    with lake.reading():
        keys = _named(name, lake.places())
        with lake.batch() as batch:
            tombstones(batch, keys)
            return Retracted("forgotten", len(keys), _campaigns(keys), batch.commit())


def remember(lake: Lake, name: str) -> Retracted:
    """Undo `forget`: restore the last version of forgotten files."""
    with lake.reading():
        gone = {key: file.last for key, file in forgotten(lake).items() if file.last and not file.moved}
        keys = _named(name, gone)
        with lake.batch() as batch:
            _copy(lake, batch, {key: gone[key] for key in keys}, {})
            return Retracted("count again", len(keys), _campaigns(keys), batch.commit())


def rename(lake: Lake, old: str, new: str) -> Retracted:
    """Rename a campaign. Raises NothingToRetract if it does not exist, or the new name is taken."""
    if slug(new) != new:
        message = f"{new!r} is not a name; use lower-case letters, digits, '.', '_' and '-', such as {slug(new)}"
        raise NothingToRetract(message)
    with lake.reading():
        places = lake.places()
        _named(old, {key: None for key in places if key[0] == old})
        if any(new in {campaign, place.scope} for (campaign, _), place in places.items()):
            message = f"there already is a campaign {new}: choose another name, or forget that one first"
            raise NothingToRetract(message)
        with lake.batch() as batch:
            files = move(lake, batch, old, new)
            return Retracted(f"kept as {new}", files, (old,), batch.commit())


def move(lake: Lake, batch: Batch, old: str, new: str, without: Iterable[str] = ()) -> int:
    """Write the files of a campaign again under `new`, except the paths `without`; return their number."""
    places = {key: place for key, place in lake.places().items() if key[0] == old}
    there = {*without}
    kept = {key: place.batch for key, place in places.items() if key[1] not in there}
    _copy(lake, batch, kept, {old: new})
    tombstones(batch, places, new)
    return len(places)


def tombstones(batch: Batch, keys: Iterable[Key], as_part_of: str | None = None) -> None:
    """Mark files as forgotten; those of a renamed campaign continue `as_part_of` another."""
    every = [*keys]
    for first in range(0, len(every), _MANY):
        some = every[first : first + _MANY]
        rows = [
            {
                "campaign": campaign,
                "scope": as_part_of or campaign,
                "source_path": path,
                "size_bytes": 0,
                "sha256": "",
                "context_sha256": NO_CONTEXT,
                "status": FORGOTTEN,
                "trials": 0,
            }
            for campaign, path in some
        ]
        schema = TABLES["raw_files"]
        batch.add("raw_files", pa.Table.from_pylist(rows, schema=schema.remove(schema.get_field_index("batch"))))


def _named(name: str, keys: Iterable[Key]) -> list[Key]:
    """Return the files that a name matches: of a campaign, else CAMPAIGN/PATH of a file or a folder."""
    every = [*keys]
    if found := [key for key in every if key[0] == name]:
        return found
    wanted = name.rstrip("/")
    found = [key for key in every if f"{key[0]}/{key[1]}" == wanted or f"{key[0]}/{key[1]}".startswith(f"{wanted}/")]
    if found:
        return found
    there = ", ".join(_campaigns(every)) or "none"
    message = f"{name} is neither a campaign nor the CAMPAIGN/PATH of a file or folder. Campaigns: {there}"
    raise NothingToRetract(message)


def _campaigns(keys: Iterable[Key]) -> tuple[str, ...]:
    return tuple(sorted({campaign for campaign, _ in keys}))


class Forgotten(NamedTuple):
    """A forgotten file: the batch of its last version, empty if it was purged."""

    last: str
    moved: bool  # it now belongs to another campaign


def forgotten(lake: Lake) -> dict[Key, Forgotten]:
    """Return the forgotten files."""
    last: dict[Key, str] = {}
    gone: dict[Key, Forgotten | None] = {}
    for file in lake.files("raw_files"):
        with naming(file), pq.ParquetFile(file) as parquet:
            rows = widened(parquet.read(columns=[*_OF_FILE, "scope", "status"]), _STATE)
        for campaign, path, batch, scope, status in zip(*(column.to_pylist() for column in rows), strict=True):
            key = campaign, path
            gone[key] = Forgotten(last.get(key, ""), scope != campaign) if status == FORGOTTEN else None
            if status != FORGOTTEN:
                last[key] = batch
    return {key: each for key, each in gone.items() if each}


class Purge:
    """Row filter of `compact --purge`: drops all rows of forgotten files except those that mark them."""

    def __init__(self, lake: Lake) -> None:
        self.gone = forgotten(lake)
        self.files = sum(bool(each.last) for each in self.gone.values())
        self._alive = {campaign for campaign, _ in lake.places()}
        self._trials: set[str] = set()
        self._used: dict[str, set[str]] = {"host_id": set(), "server_config_id": set()}
        for rows in lake.tables("trials", ["campaign", "source_path", "trial_id", *self._used]).to_batches():
            for campaign, path, trial, *ids in zip(*(column.to_pylist() for column in rows), strict=True):
                if (campaign, path) in self.gone:
                    self._trials.add(trial)
                else:
                    for used, each in zip(self._used.values(), ids, strict=True):
                        used.add(each)

    def keeps(self, table: str, rows: pa.Table) -> pa.Table:
        """Return the rows to keep; machines and configurations stay if trials of other campaigns use them."""
        if table in _OF_CAMPAIGNS:
            kept = [campaign in self._alive for campaign in rows["campaign"].to_pylist()]
        elif "source_path" in rows.column_names:
            keys = zip(rows["campaign"].to_pylist(), rows["source_path"].to_pylist(), strict=True)
            kept = [key not in self.gone for key in keys]
        else:
            kept = [trial not in self._trials for trial in rows["trial_id"].to_pylist()]
        identity = {"hosts": "host_id", "server_configs": "server_config_id"}.get(table)
        if identity:
            used = self._used[identity]
            kept = [stays or each in used for stays, each in zip(kept, rows[identity].to_pylist(), strict=True)]
        if table == "raw_files":
            kept = [stays or each == FORGOTTEN for stays, each in zip(kept, rows["status"].to_pylist(), strict=True)]
        return rows.filter(pa.array(kept, pa.bool_()))


def _copy(lake: Lake, batch: Batch, files: Mapping[Key, str], names: Mapping[str, str]) -> None:
    """Write the rows of some file versions again; `names` maps renamed campaigns."""
    wanted = pa.array(["\0".join((*key, of)) for key, of in files.items()], pa.string())
    needed = {*files.values()}
    for entry in [entry for entry in lake.entries() if not needed.isdisjoint(entry.batches)]:
        ids: dict[str, str] = {}  # old trial id -> new one
        trials = pa.array([], pa.string())
        for table in ("trials", *(name for name in TABLES if name not in {"trials", *_OF_CAMPAIGNS})):
            for rows in row_groups(lake.root / entry.files[table].path, table) if table in entry.files else ():
                of_files = "source_path" in rows.column_names
                chosen = rows.filter(_among(rows, _OF_FILE, wanted) if of_files else _among(rows, _OF_TRIAL, trials))
                if table == "trials":
                    trials = pa.concat_arrays([trials, *joined(chosen, _OF_TRIAL).chunks])
                batch.add(table, _renamed(table, chosen, names, ids))
    for table in _OF_CAMPAIGNS:
        batch.add(table, _renamed(table, _newest(lake, table, files, names), names, {}))


def _among(rows: pa.Table, columns: tuple[str, ...], known: pa.Array) -> pa.ChunkedArray:
    return pc.is_in(joined(rows, columns), value_set=known)


def _newest(lake: Lake, table: str, files: Iterable[Key], names: Mapping[str, str]) -> pa.Table:
    """Return the latest rows of renamed campaigns and of their machines."""
    kept = [*files]
    last: dict[tuple[str | None, ...], int] = {}
    rows = lake.tables(table)
    keys = rows.select([name for name in ("campaign", "source_path", "host_id") if name in rows.column_names])
    for number, key in enumerate(zip(*(column.to_pylist() for column in keys), strict=True)):
        campaign, *folder = key
        among = (f"{path}/".startswith(f"{folder[0]}/") or folder[0] == "." for name, path in kept if name == campaign)
        if campaign in names and (any(among) if folder else kept):
            last[key] = number
    return rows.take(pa.array([*last.values()], pa.int64()))


def _renamed(table: str, rows: pa.Table, names: Mapping[str, str], ids: dict[str, str]) -> pa.Table:
    """Return rows under the new names; a trial's id depends on its campaign, see ingest/rows.py."""
    if table == "trials":
        columns = ("trial_id", "campaign", "source_path", "source_sha256", "report_index")
        for was, campaign, *rest in zip(*(rows[name].to_pylist() for name in columns), strict=True):
            ids[was] = trial_id(names.get(campaign, campaign), *rest)
    given: dict[str, Mapping[str, str]] = defaultdict(dict, campaign=names, scope=names, trial_id=ids)
    for place, name in enumerate(rows.column_names):
        if given[name]:
            values = [given[name].get(value, value) for value in rows[name].to_pylist()]
            rows = rows.set_column(place, rows.schema.field(name), pa.array(values, pa.string()))
    return rows
