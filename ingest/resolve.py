"""What each file comes to, with all that stands around it, wherever the bytes are taken from."""

from __future__ import annotations

import hashlib
import os.path
import re
from bisect import bisect
from collections import defaultdict
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from ingest import figures, machines
from ingest.context import (
    Context,
    ServerConfig,
    ServerConfigs,
    SidecarError,
    gather,
    read_sidecar,
)
from ingest.files import MAX_BYTES, Found, Kind, Unreadable, sidecar_paths, slug
from ingest.formats import READERS, Reject
from ingest.rows import Content, Outcome, campaign_row, context_file, output, published, rejected, watched
from ingest.servers import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from ingest.formats import Reader, Row
    from ingest.lake import Key, Version
    from ingest.watched import Watcher

_MAX_SIDECAR_BYTES: Final = 1024 * 1024
_READERS: Final = {reader.NAME: reader for reader in READERS}
EXPLAINING: Final = (Kind.CAMPAIGN, Kind.SERVER, Kind.MACHINE)


def explains_first(item: Found) -> int:
    """Return the sort key that puts what explains trials before the trials."""
    return EXPLAINING.index(item.kind) if item.kind in EXPLAINING else len(EXPLAINING)


class Resolver:
    """The files of one call and what is known around them; asked for each file in the order of `explains_first`.

    `known` are the versions for which nobody needs the rows. `read` gives the bytes of a file, at most so many, and
    the time of its last change in us; it raises Unreadable.
    """

    def __init__(
        self,
        found: Sequence[Found],
        known: Mapping[Key, Version],
        read: Callable[[Found, int], tuple[bytes, int]],
    ) -> None:
        self._known, self._bytes = known, read
        self._sidecars = {(f.scope.folder, f.path): f for f in found if f.kind is Kind.SIDECAR}
        self._machines: dict[Path, list[Found]] = defaultdict(list)
        for item in found:
            if item.kind is Kind.MACHINE:
                self._machines[item.file.parent].append(item)
        self._hosts: dict[Path, dict[str, str]] = defaultdict(dict)  # scope -> folder -> host_id
        self._served: dict[Found, set[str]] = defaultdict(set)  # sidecar -> stems of its outputs
        self._outputs: dict[tuple[Path, str], dict[str, Found]] = defaultdict(dict)  # folder -> stem -> output
        for item in found:
            if item.kind is not Kind.OUTPUT:
                continue
            self._outputs[item.scope.folder, item.folder].setdefault(item.stem, item)
            if sidecar := self._sidecar_of(item):
                self._served[sidecar].add(item.stem)
        # Stems that begin alike stand together.
        self._stems = {folder: sorted(outputs) for folder, outputs in self._outputs.items()}
        self._servers = ServerConfigs()
        self._read_sidecar = lru_cache(maxsize=16)(self._load_sidecar)

    def outcomes(self, item: Found) -> Iterator[Outcome]:
        """Yield what a file came to; the first file of a folder of machine facts yields them all, the others none."""
        if item.kind is Kind.MACHINE:
            yield from self._host(self._machines.pop(item.file.parent, []))
            return
        try:
            outcome = self._outcome(item)
        except Unreadable as error:
            outcome = rejected(item, self._campaign(item), [error.reject])
        yield outcome

    def joined(self, item: Found) -> Row:
        """Return the columns of schema.TRIALS that an output has from outside; raises Unreadable."""
        context = self._context(item, self._read(item))
        return {**context.resolve({}), "warnings": list(context.warnings)}

    def _outcome(self, item: Found) -> Outcome:
        if item.reject and item.kind is Kind.UNREADABLE:
            return rejected(item, item.scope.name, [item.reject])
        if item.kind is Kind.SIDECAR:
            return self._sidecar(item)
        content = self._read(item)
        if item.reject:
            return rejected(item, item.scope.name, self._silence(item, content) or [item.reject], content)
        if item.kind is Kind.OUTPUT:
            return self._output(item, content)
        if item.kind is Kind.WATCHED:
            return self._watched(item, content)
        if item.kind is Kind.SERVER:
            return self._server(item, content)
        if item.kind is Kind.FIGURES:
            return published(item, item.scope.name, content, _parsed(figures, content.data))
        outcome = context_file(item, item.scope.name, content, item.kind.value)
        if item.kind is Kind.CAMPAIGN and item.scope.campaign:
            outcome.rows["campaigns"] = [campaign_row(item.scope.campaign)]
        return outcome

    def _read(self, item: Found) -> Content:
        limit = _MAX_SIDECAR_BYTES if item.kind is Kind.SIDECAR else MAX_BYTES
        data, modified_us = self._bytes(item, limit)
        return Content(data, modified_us, hashlib.sha256(data).hexdigest())

    def _server(self, item: Found, content: Content) -> Outcome:
        assert item.server is not None  # noqa: S101 -- that is what makes it a SERVER
        try:
            row: Row = dict(item.server.parse(content.data))
        except ConfigError as error:
            reject = Reject(error.line or 1, str(error), error.hint)
            return rejected(item, item.scope.name, [reject], content)
        row["campaign"], row["source_path"] = item.scope.name, item.path
        row["source_sha256"] = content.sha256
        said = {name: value for name, value in row.items() if name != "settings"}
        folder = str(item.scope.folder)
        self._servers.add(ServerConfig(said, folder, item.path, content.sha256))
        name = item.server.__name__.rpartition(".")[2]
        return context_file(item, item.scope.name, content, name, {"server_configs": [row]})

    def _host(self, items: list[Found]) -> Iterator[Outcome]:
        """Yield what one folder of machine facts came to; the host goes with its first new file."""
        contents: dict[str, tuple[Found, Content]] = {}
        for item in items:
            try:
                contents[item.file.name] = item, self._read(item)
            except Unreadable as error:
                yield rejected(item, item.scope.name, [error.reject])
        if not contents:
            return
        host, rejects = machines.host({name: held.data for name, (_, held) in contents.items()})
        first = items[0]
        self._hosts[first.scope.folder][first.folder] = host["host_id"]
        rows = [{**host, "campaign": first.scope.name, "source_path": first.folder}]
        for name, (item, content) in contents.items():
            if faults := [reject for reject in rejects if reject.reason.startswith(f"{name}:")]:
                yield rejected(item, item.scope.name, faults, content)
                continue
            outcome = context_file(item, item.scope.name, content, item.fact or item.kind.value)
            if self._known.get(outcome.key) != outcome.version:
                outcome.rows["hosts"], rows = rows, []
            yield outcome

    def _load_sidecar(self, item: Found) -> tuple[Content, Row | SidecarError]:
        content = self._read(item)
        try:
            return content, read_sidecar(content.data)
        except SidecarError as error:
            return content, error

    def _sidecar(self, item: Found) -> Outcome:
        content, said = self._read_sidecar(item)
        if isinstance(said, SidecarError):
            reject = Reject(said.line, str(said), "repair it, or remove it, and ingest again")
            return rejected(item, self._campaign(item), [reject], content)
        return context_file(item, self._campaign(item), content, item.kind.value)

    def _silence(self, item: Found, content: Content) -> list[Reject]:
        """Return what it means that a file is empty, when its sidecar names the generator."""
        said = self._said(self._sidecar_of(item)) if not content.data else None
        reader = _READERS.get(str(said.get("tool"))) if isinstance(said, dict) else None
        return [part for part in _parsed(reader, b"") if isinstance(part, Reject)] if reader else []

    def _sidecar_of(self, item: Found) -> Found | None:
        there = (self._sidecars.get((item.scope.folder, path)) for path in sidecar_paths(item))
        return next((sidecar for sidecar in there if sidecar), None)

    def _said(self, sidecar: Found | None) -> Row | Exception | None:
        """Return what a sidecar says, or why it cannot be used."""
        try:
            return self._read_sidecar(sidecar)[1] if sidecar else None
        except Unreadable as error:
            return error

    def _campaign(self, item: Found) -> str:
        """Return the campaign of a file: that of its campaign.yaml, its sidecar, or its folder."""
        if item.kind is Kind.WATCHED:
            beside = self._beside(item)
            return self._campaign(beside) if beside else item.scope.name
        if item.scope.campaign or item.kind not in {Kind.OUTPUT, Kind.SIDECAR}:
            return item.scope.name
        said = self._said(item if item.kind is Kind.SIDECAR else self._sidecar_of(item))
        name = said.get("campaign") if isinstance(said, dict) else None
        return slug(name) if isinstance(name, str) and name else item.scope.name

    def _context(self, item: Found, content: Content) -> Context:
        sidecar = self._sidecar_of(item)
        said = self._said(sidecar)
        context = gather(
            item.path,
            str(item.scope.folder),
            item.scope.campaign,
            self._servers,
            (sidecar.path, said) if sidecar and isinstance(said, dict) else None,
            self._host_of(item),
            content.sha256,
            shared=sidecar is not None and len(self._served[sidecar]) > 1,
        )
        if sidecar and isinstance(said, Exception):
            note = f"sidecar {sidecar.path} cannot be used: {said}"
            return replace(context, warnings=(*context.warnings, note))
        return context

    def _host_of(self, item: Found) -> str | None:
        """Return the machine under test: the one named so, else the only one of the campaign."""
        hosts = self._hosts[item.scope.folder]
        roles = item.scope.campaign.machines if item.scope.campaign else {}
        if named := [folder for folder, role in roles.items() if role == "server"]:
            return hosts.get(named[0])
        ids = set(hosts.values())
        return ids.pop() if len(ids) == 1 else None

    def _output(self, item: Found, content: Content) -> Outcome:
        assert item.reader is not None  # noqa: S101 -- that is what makes it an OUTPUT
        campaign, context = self._campaign(item), self._context(item, content)
        if known := self._unchanged(item, campaign, content, context, "trials"):
            return known
        return output(item, campaign, content, context, list(_parsed(item.reader, content.data)))

    def _watched(self, item: Found, content: Content) -> Outcome:
        assert item.watcher is not None  # noqa: S101 -- that is what makes it WATCHED
        beside = self._beside(item)
        own = {"beside": beside.stem if beside else None, "moment": _moment(item.file.name)}
        campaign, context = self._campaign(beside) if beside else item.scope.name, Context(own=own)
        if known := self._unchanged(item, campaign, content, context, "observations"):
            return known
        return watched(item, campaign, content, context, _parsed(item.watcher, content.data))

    def _unchanged(self, item: Found, campaign: str, content: Content, context: Context, status: str) -> Outcome | None:
        """Return a file without its rows when the lake knows this version and nothing of it was refused."""
        known = self._known.get((campaign, item.path))
        if known != (content.sha256, context.sha256(), status):
            return None
        outcome = context_file(item, campaign, content, item.kind.value)
        outcome.raw |= {"context_sha256": known.context_sha256, "status": known.status}
        return outcome

    def _beside(self, item: Found) -> Found | None:
        """Return the output that a file of counters lies beside: the one whose name begins most like its own.

        Where no two names begin alike, it is the output of the only process in the folder; of several, none.
        """
        folder = item.scope.folder, item.folder
        stems = self._stems.get(folder, [])
        place = bisect(stems, item.stem)
        near = stems[max(place - 2, 0) : place + 2]
        alike = [len(os.path.commonprefix([stem, item.stem])) for stem in near]  # noqa: RUF071 -- of names, too
        if not near or alike.count(max(alike)) > 1:
            return None
        return self._outputs[folder][near[alike.index(max(alike))]]


def _parsed(reader: Reader | Watcher | ModuleType, data: bytes) -> Iterator[Any]:
    """Yield what a reader finds; a reader that fails yields a reject that says so."""
    try:
        yield from reader.parse(data)
    except Exception as error:
        fault = f"the {reader.NAME} reader failed: {type(error).__name__}: {error}"
        yield Reject(1, fault, "this is a fault of the reader: report it with the file")


def _moment(name: str) -> str | None:
    """Return `before` or `after` when a file's name says so."""
    words = re.findall("before|after", name)
    return words[-1] if words else None
