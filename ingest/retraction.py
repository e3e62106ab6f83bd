"""Retraction of files, and renaming of campaigns.

A row of raw_files with the status `forgotten` supersedes every earlier version of its file. If a file is restored or
moves to another campaign, its rows are written again. Only `compact --purge` removes data.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from dropline.errors import DroplineError
from dropline.ingest import views
from dropline.ingest.campaign import slug
from dropline.ingest.lake import FORGOTTEN, Batch, Key, Lake
from dropline.ingest.parquet import belonging, keyed, row_groups, row_keys
from dropline.ingest.rows import NO_CONTEXT, from_rows, trial_id
from dropline.ingest.schema import TABLES

_OF_CAMPAIGNS: Final = ("campaigns", "hosts")  # tables whose rows belong to no single file
_USED: Final = {"hosts": "host_id", "server_configs": "server_config_id"}  # trials of other campaigns may use them


def forget(lake: Lake, name: str) -> str:
    """Exclude a campaign or CAMPAIGN/PATH until restored or purged; raise DroplineError if no file matches."""
    with lake.reading():
        keys = _named(name, lake.places())
        with lake.batch() as batch:
            tombstones(batch, keys)
            return _committed(batch, keys, "forgotten")


def remember(lake: Lake, name: str) -> str:
    """Undo `forget`: restore the last version of forgotten files."""
    with lake.reading():
        gone = {key: last for key, (last, moved) in forgotten(lake).items() if last and not moved}
        keys = _named(name, gone, "Campaigns with forgotten files:")
        with lake.batch() as batch:
            _copy(lake, batch, {key: gone[key] for key in keys}, {})
            return _committed(batch, keys, "counts again" if len(keys) == 1 else "count again")


def rename(lake: Lake, old: str, new: str) -> str:
    """Rename a campaign; raise DroplineError if it does not exist or the new name is taken."""
    if slug(new) != new:
        allowed = f"use lower-case letters, digits, '.', '_' and '-', such as {slug(new)}"
        raise DroplineError(f"{new!r} is not a name; {allowed}")
    with lake.reading():
        places = lake.places()
        if old not in (there := _campaigns(places)):
            raise DroplineError(f"{old} is not a campaign. Campaigns: {', '.join(there) or 'none'}")
        if any(new == campaign or (new == place.scope and campaign != old) for (campaign, _), place in places.items()):
            raise DroplineError(f"there already is a campaign {new}: choose another name, or forget that one first")
        with lake.batch() as batch:
            move(lake, batch, old, new)
            return _committed(batch, [key for key in places if key[0] == old], f"kept as {new}")


def move(lake: Lake, batch: Batch, old: str, new: str, without: Collection[str] = ()) -> None:
    """Write the files of a campaign again under the name `new`, except for the paths `without`."""
    places = {key: place for key, place in lake.places().items() if key[0] == old}
    kept = {key: place.batch for key, place in places.items() if key[1] not in without}
    _copy(lake, batch, kept, {old: new})
    tombstones(batch, places, new)


def tombstones(batch: Batch, keys: Iterable[Key], as_part_of: str | None = None) -> None:
    """Mark files as forgotten; those of a renamed campaign continue `as_part_of` another."""
    same = {"size_bytes": 0, "sha256": "", "context_sha256": NO_CONTEXT, "status": FORGOTTEN, "trials": 0}
    own = [{"campaign": name, "scope": as_part_of or name, "source_path": path} for name, path in keys]
    batch.add("raw_files", from_rows("raw_files", [row | same for row in own]))


def _named(name: str, keys: Iterable[Key], listing: str = "Campaigns:") -> list[Key]:
    """Return the files that a name matches: a campaign, else the CAMPAIGN/PATH of a file or folder."""
    every, wanted = [*keys], f"{name.rstrip('/')}/"
    if found := [key for key in every if key[0] == name]:
        return found
    if found := [key for key in every if f"{key[0]}/{key[1]}/".startswith(wanted)]:
        return found
    there = ", ".join(_campaigns(every)) or "none"
    raise DroplineError(f"{name} is neither a campaign nor the CAMPAIGN/PATH of a file or folder. {listing} {there}")


def _committed(batch: Batch, files: Sequence[Key], what: str) -> str:
    message = f"{len(files)} {'file' if len(files) == 1 else 'files'} of {', '.join(_campaigns(files))} {what}"
    return f"{message}; batch {batch.commit()}. Type `dropline build` to publish it"


def _campaigns(keys: Iterable[Key]) -> tuple[str, ...]:
    return tuple(sorted({campaign for campaign, _ in keys}))


def forgotten(lake: Lake) -> dict[Key, tuple[str, bool]]:
    """Return for each forgotten file the batch of its last version, empty if purged, and whether it moved elsewhere."""
    with views.naming_damage(), views.opened({"raw_files": lake.files("raw_files")}) as connection:
        rows = connection.execute(views.sql("forgotten")).fetchall()
    return {(campaign, path): (last, moved) for campaign, path, last, moved in rows}


class Purge:
    """Row filter of `compact --purge`, which drops all rows of forgotten files except for the marks."""

    def __init__(self, lake: Lake) -> None:
        gone = forgotten(lake)
        self.files = sum(bool(last) for last, _ in gone.values())
        self._files, self._trials = keyed(gone), keyed(())
        trials = lake.tables("trials", ["campaign", "source_path", "trial_id", *_USED.values()])
        doomed = belonging(trials, self._files, self._trials)
        self._trials = trials.filter(doomed)["trial_id"].combine_chunks()
        kept = trials.filter(pc.invert(doomed))
        self._used = {table: kept[column].combine_chunks() for table, column in _USED.items()}
        self._alive = pa.array({campaign for campaign, _ in lake.places()}, pa.string())

    def keeps(self, table: str, rows: pa.Table) -> pa.Table:
        """Return the rows to keep; machines and configurations stay if trials of other campaigns use them."""
        kept = pc.invert(belonging(rows, self._files, self._trials))
        if table in _OF_CAMPAIGNS:
            kept = pc.is_in(rows["campaign"], value_set=self._alive)
        if table in _USED:
            kept = pc.or_(kept, pc.is_in(rows[_USED[table]], value_set=self._used[table]))
        if table == "raw_files":
            kept = pc.or_(kept, pc.equal(rows["status"], FORGOTTEN))
        return rows.filter(kept)


def _copy(lake: Lake, batch: Batch, files: Mapping[Key, str], names: Mapping[str, str]) -> None:
    """Write the rows of some file versions again; `names` maps renamed campaigns."""
    wanted, needed = keyed((*key, of) for key, of in files.items()), {*files.values()}
    for entry in [entry for entry in lake.entries() if not needed.isdisjoint(entry.batches)]:
        ids: dict[str, str] = {}  # old trial id -> new one
        trials = keyed(())
        for table in ("trials", *(name for name in TABLES if name not in {"trials", *_OF_CAMPAIGNS})):
            for rows in row_groups(lake.root / entry.files[table].path, table) if table in entry.files else ():
                chosen = rows.filter(belonging(rows, wanted, trials, "batch"))
                if table == "trials":
                    trials = pa.concat_arrays([trials, *row_keys(chosen, ("trial_id", "batch")).chunks])
                batch.add(table, _renamed(table, chosen, names, ids))
    for table in _OF_CAMPAIGNS:
        batch.add(table, _renamed(table, _newest(lake, table, files, names), names, {}))


def _newest(lake: Lake, table: str, files: Iterable[Key], names: Mapping[str, str]) -> pa.Table:
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
