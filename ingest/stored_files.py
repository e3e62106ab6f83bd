"""Stored files: the current files of a lake, read from their stored bytes."""

import weakref
from collections import defaultdict
from contextlib import ExitStack
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

import pyarrow.compute as pc

from dropline.ingest.campaign import FILE_NAME, Campaign
from dropline.ingest.files import HEAD_BYTES, Found, Kind, Scope, Unreadable, adopt, by_scope, recognise, too_large
from dropline.ingest.formats import Reject
from dropline.ingest.lake import Key, Lake, Place

_ROW_GROUPS: Final = 4  # whose contents are cached


class Kept:
    """The current versions in `lake`, as a snapshot; raises CampaignError if a stored campaign.yaml is unusable."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        reading = ExitStack()
        reading.enter_context(lake.reading())
        weakref.finalize(self, reading.close)  # keeps the files until then
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
        """Return every file, recognised by the current code, as `files.survey` does: a campaign is a folder."""
        found: dict[tuple[Path, str], Found] = {}
        for (campaign, path), place in self._places.items():
            name = place.scope or campaign
            scope = Scope(Path(name), name, self._described.get(name))
            item = Found.at(f"{scope.place}/{path}", scope)
            item.size = place.size_bytes
            if scope.campaign and scope.campaign.ignores(path):
                continue
            # Only the newer version is on disk: its sidecar has moved it to another campaign.
            found.pop((scope.folder, path), None)
            found[scope.folder, path] = item
            self._kept[item] = (campaign, path), place
            if place.sha256:
                recognise(item, self._content(place)[:HEAD_BYTES])
            elif place.format in set(Kind):  # it keeps its kind
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
        """Return the status of a file in the lake, None if it has no such file."""
        place = self._places.get(key)
        return place.status if place else None

    @cached_property
    def _refused(self) -> dict[Key, Reject]:
        """The first reject of every file whose bytes could not be read."""
        columns = ["campaign", "source_path", "source_sha256", "line", "reason", "hint"]
        rows = self._lake.tables("rejects", columns).filter(pc.field("source_sha256") == "")
        return {(r["campaign"], r["source_path"]): Reject(r["line"], r["reason"], r["hint"]) for r in rows.to_pylist()}

    def _content(self, place: Place) -> bytes:
        data: bytes = self._contents(place.file, place.row_group)[place.row].as_py()
        return data

    @cached_property
    def calls(self) -> dict[str, str]:
        """For each campaign a name that is the same for all of one ingest."""
        together: dict[str, set[str]] = defaultdict(set)  # batch -> campaigns
        for (campaign, _), place in self._places.items():
            together[place.origin].add(place.scope or campaign)
        call = {campaign: campaign for campaigns in together.values() for campaign in campaigns}
        for campaigns in together.values():
            merged = {call[campaign] for campaign in campaigns}
            call = {campaign: min(merged) if name in merged else name for campaign, name in call.items()}
        return call
