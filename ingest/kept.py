"""The current files of a lake, taken for an ingest from where their bytes are kept, and the rows they once gave."""

from __future__ import annotations

import weakref
from collections import defaultdict
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dropline.ingest.batches import joined, naming, widened
from dropline.ingest.campaign import FILE_NAME, Campaign
from dropline.ingest.files import HEAD_BYTES, Found, Kind, Scope, Unreadable, adopt, by_scope, recognise, too_large
from dropline.ingest.formats import Reject
from dropline.ingest.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dropline.ingest.lake import Key, Lake, Place

Rows = dict[tuple[str, str], pa.Table]  # (table, trial_id or nothing) -> its rows of one file

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_ROW_GROUPS: Final = 4  # whose contents are held at once
_OF_FILES: Final = ("raw_files", "trials", "rejects", "server_configs", "figures")
_OF_TRIALS: Final = ("exchanges", "intervals", "observations")
# size and digest stand in the key of a version; the contents are the same by that.
_STATE: Final = ("campaign", "source_path", "format", "status", "trials", "context_sha256")


class Kept:
    """The current versions in `lake` as of now; raises CampaignError for a kept campaign.yaml that is of no use."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        reading = ExitStack()
        reading.enter_context(lake.reading())
        weakref.finalize(self, reading.close)  # until then the places hold
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
        """Return every file and what it is by the present code, as `files.survey` does for a folder.

        A file without bytes is what it was. A campaign without a campaign.yaml stands for its folder.
        """
        found: dict[tuple[Path, str], Found] = {}
        for (campaign, path), place in self._places.items():
            scope = self._scope(campaign, place)
            item = Found(scope.folder / path, scope, path)
            if scope.campaign and scope.campaign.ignores(path):
                continue
            # The newer one is on disk: its sidecar has moved it to another campaign.
            found.pop((scope.folder, path), None)
            found[scope.folder, path] = item
            self._kept[item] = (campaign, path), place
            if place.sha256:
                recognise(item, self._content(place)[:HEAD_BYTES])
                continue
            if place.format in set(Kind):
                item.kind = Kind(place.format)
            if item.kind is Kind.UNREADABLE:
                item.reject = self._refused[campaign, path]
        for items in by_scope(found.values()).values():
            adopt(items)
        return list(found.values())

    def read(self, item: Found, limit: int) -> tuple[bytes, int]:
        """Return the bytes of a file of `survey` and its mtime in us; raise Unreadable as a disk would."""
        key, place = self._kept[item]
        if not place.sha256:
            reject = self._refused[key]
            raise Unreadable(reject.reason, reject.hint)
        data = self._content(place)
        if len(data) > limit:
            raise too_large(len(data), limit)
        return data, (place.modified_at - _EPOCH) // _MICROSECOND if place.modified_at else 0

    def call(self, item: Found) -> str:
        """Return the same name for all campaigns that came together in one ingest."""
        return self._calls[item.scope.name]

    def rows(self, keys: Iterable[Key]) -> dict[Key, Rows]:
        """Return what the current versions of some files have in the lake."""
        wanted: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
        for key in keys:
            if place := self._places.get(key):
                wanted[place.folder].append((*key, place.batch))
        found: dict[Key, Rows] = {}
        for folder, those in wanted.items():
            files = pa.table(list(zip(*those, strict=True)), ["campaign", "source_path", "batch"])
            # batches older than a table have none of it
            there = [name for name in _OF_FILES if self._file(name, folder).exists()]
            tables = {name: self._select(name, folder, files) for name in there}
            trials = tables["trials"].select(["trial_id", "batch"])
            tables |= {name: self._select(name, folder, trials) for name in _OF_TRIALS}
            if "source_path" in self._held("observations", folder):
                watched = self._select("observations", folder, files).filter(pc.field("trial_id").is_null())
                tables["observations"] = pa.concat_tables([tables["observations"], watched])
            found |= by_file({name: rows.drop_columns("batch") for name, rows in tables.items()})
        return found

    def latest(self, table: str, key: Key) -> pa.Table | None:
        """Return the newest row of `hosts` (of a folder) or `campaigns` (path empty), whatever file brought it."""
        return self._latest[table].get(key)

    @cached_property
    def _latest(self) -> dict[str, dict[Key, pa.Table]]:
        return {table: by_folder(table, self._lake.tables(table)) for table in ("hosts", "campaigns")}

    @cached_property
    def _refused(self) -> dict[Key, Reject]:
        """The first reason of every file whose bytes could not be had."""
        columns = ["campaign", "source_path", "source_sha256", "line", "reason", "hint"]
        rows = self._lake.tables("rejects", columns).filter(pc.field("source_sha256") == "")
        return {(r["campaign"], r["source_path"]): Reject(r["line"], r["reason"], r["hint"]) for r in rows.to_pylist()}

    def _select(self, table: str, folder: str, wanted: pa.Table) -> pa.Table:
        """Return the rows, but for contents, of the files or trials and batches that `wanted` names."""
        schema = pa.schema([field for field in TABLES[table] if field.name != "content"])
        held = self._held(table, folder)
        columns = [name for name in schema.names if name in held]
        *_, owner, batch = wanted.column_names
        near = pc.field(owner).isin(pc.unique(wanted[owner])) & pc.field(batch).isin(pc.unique(wanted[batch]))
        with naming(file := self._file(table, folder)):
            rows = widened(pq.read_table(file, columns=columns, filters=near, partitioning=None), schema)
        return rows.filter(pc.is_in(joined(rows, wanted.column_names), value_set=joined(wanted, wanted.column_names)))

    def _held(self, table: str, folder: str) -> set[str]:
        with naming(file := self._file(table, folder)):
            return set(pq.read_schema(file).names)

    def _file(self, table: str, folder: str) -> Path:
        return self._lake.folder(folder) / f"{table}.parquet"

    def _content(self, place: Place) -> bytes:
        data: bytes = self._contents(place.folder, place.row_group)[place.row].as_py()
        return data

    def _scope(self, campaign: str, place: Place) -> Scope:
        name = place.scope or campaign
        return Scope(Path(name), name, self._described.get(name))

    @cached_property
    def _batches(self) -> dict[str, set[str]]:
        batches: dict[str, set[str]] = defaultdict(set)
        for (campaign, _), place in self._places.items():
            batches[place.scope or campaign].add(place.origin)
        return batches

    @cached_property
    def _calls(self) -> dict[str, str]:
        together: dict[str, set[str]] = defaultdict(set)
        for campaign, batches in self._batches.items():
            for batch in batches:
                together[batch].add(campaign)
        call = {campaign: campaign for campaign in self._batches}
        for campaigns in together.values():
            merged = {call[campaign] for campaign in campaigns}
            call = {campaign: min(merged) if name in merged else name for campaign, name in call.items()}
        return call


def by_file(tables: Mapping[str, pa.Table]) -> dict[Key, Rows]:
    """Return the rows of every file."""
    files: dict[Key, Rows] = defaultdict(dict)
    owner: dict[str, Key] = {}
    for name in _OF_FILES:
        for key, rows in by_folder(name, tables.get(name, _plain(name).empty_table())).items():
            if name != "trials":
                files[key][name, ""] = rows
                continue
            for n, trial in enumerate(rows["trial_id"].to_pylist()):
                owner[trial] = key
                files[key][name, trial] = rows.slice(n, 1)
    for name in _OF_TRIALS:
        table = tables.get(name, _plain(name).empty_table())
        for trial, rows in _runs(table, table["trial_id"].to_pylist()).items():
            if trial in owner:
                files[owner[trial]][name, trial] = rows
    watched = tables.get("observations", _plain("observations").empty_table())
    of_files = watched.filter(pc.field("trial_id").is_null() & pc.field("source_path").is_valid())
    for key, rows in by_folder("observations", of_files).items():
        files[key]["observations", ""] = rows
    return files


def by_folder(table: str, rows: pa.Table) -> dict[Key, pa.Table]:
    """Return the rows by campaign and source_path (empty where there is none), as far as they can change.

    Of several campaigns or hosts the last one counts.
    """
    paths = rows["source_path"].to_pylist() if "source_path" in rows.column_names else [""] * rows.num_rows
    keys = list(zip(rows["campaign"].to_pylist(), paths, strict=True))
    plain = rows.select(_STATE if table == "raw_files" else _plain(table).names)
    if table in {"hosts", "campaigns"}:
        return {key: plain.slice(n, 1) for n, key in enumerate(keys)}
    return _runs(plain, keys)


def _runs(rows: pa.Table, owners: list[Any]) -> dict[Any, pa.Table]:
    """Return the rows of each owner; they mostly stand together."""
    found: dict[Any, pa.Table] = {}
    begin = 0
    for owner, run in groupby(owners):
        part = rows.slice(begin, sum(1 for _ in run))
        begin += part.num_rows
        found[owner] = pa.concat_tables([found[owner], part]) if owner in found else part
    return found


def _plain(table: str) -> pa.Schema:
    """Return the columns to compare: neither the batch nor the contents."""
    dropped = {"batch", "content"}
    return pa.schema([field for field in TABLES[table] if field.name not in dropped])
