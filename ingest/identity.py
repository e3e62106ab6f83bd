"""Campaign names of folders: from campaign.yaml or the caller, else as stored in the lake.

A folder without a given name is named after itself. It is recognised later by its path on disk or, if it was moved or
renamed, by its bytes. If the name is taken, the parent folder's name is prefixed. A folder is rejected if the lake has
its files from a folder above or below it, because they would count twice.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Final

from dropline.ingest.campaign import slug
from dropline.ingest.change_detection import Known
from dropline.ingest.files import Found, IntakeError, Refused, Scope, Unreadable, read
from dropline.ingest.formats import Reject
from dropline.ingest.lake import Key

_SAMPLED: Final = 20  # files per folder whose digests are looked up


class Identities:
    """Naming of the scopes of one call: as in `known`, or as `given` for folders without a campaign.yaml."""

    def __init__(self, known: Known, given: str | None = None) -> None:
        if given is not None and slug(given) != given:
            raise IntakeError(
                f"--campaign {given!r} is not a name; use lower-case letters, digits, '.', '_' and '-': {slug(given)}"
            )
        self._known, self._given = known, given
        self._taken: dict[str, Path] = {}
        self.notes: list[str] = []  # remarks for the user about the names, one sentence each
        self.renamed: list[tuple[str, str, set[str]]] = []  # old and new name in campaign.yaml, files on disk
        self.left: list[tuple[str, list[Key]]] = []  # name in campaign.yaml, files formerly named by their sidecars
        self.refused: list[Refused] = []  # rejected folders

    def named(self, scopes: Iterable[list[Found]]) -> Iterator[list[Found]]:
        """Yield the files of each scope under its name in the lake."""
        for items in scopes:
            scope = items[0].scope
            if self._is_refused(scope, items):
                continue
            name = self._described(scope, items) if scope.campaign else self._bare(scope, items)
            self._taken[name] = scope.folder
            if name != scope.name:
                own = replace(scope, name=name)
                for item in items:
                    item.scope = own
            yield items

    def _described(self, scope: Scope, items: list[Found]) -> str:
        if self._given not in {None, scope.name}:
            raise IntakeError(
                f"{scope.folder}/campaign.yaml names the campaign {scope.name!r}: change it there, and ingest without "
                f"--campaign {self._given}"
            )
        before = self._at(scope.folder)
        others = self._known.campaigns[before] - {before, scope.name} if before else set()  # named by sidecars
        if before and others and [*self._places(before)] == [str(scope.folder)]:
            paths = {item.path for item in items}
            if keys := [key for key in self._known.of_scope(before) if key[0] in others and key[1] in paths]:
                self.notes.append(f"{', '.join(sorted(others))} is now called {scope.name}, as campaign.yaml says")
                self.left.append((scope.name, keys))
        if self._known.is_held(scope.name):
            return scope.name
        after = next(filter(self._known.is_held, self._known.later_names(scope.name)), None)
        if after and (after == before or self._is(after, items)):
            self.notes.append(
                f"{scope.folder}: kept as campaign {after}, because {scope.name!r} was renamed; "
                f"write `campaign: {after}` in its campaign.yaml"
            )
            return after
        if before and any(self._same(items, before)):
            self.notes.append(f"campaign {before} is now called {scope.name}, as its campaign.yaml says")
            self.renamed.append((before, scope.name, {item.path for item in items}))
        return scope.name

    def _bare(self, scope: Scope, items: list[Found]) -> str:
        if self._given:
            return self._given
        if (before := self._at(scope.folder)) and before not in self._taken:
            return before
        if scope.name not in self._taken and self._known.is_held(scope.name) and self._is(scope.name, items):
            return scope.name
        if same := self._of_bytes(scope, items):
            return same
        own = [scope.name]  # with as many parents' names as prefix as it takes to be unique
        for number in count(2):
            name = slug("-".join(own))
            if name not in self._taken and not self._known.is_held(name):
                break
            above = scope.folder.parents[len(own) - 1 : len(own)]
            own = [above[0].name, *own] if above and above[0].name else [f"{scope.name}-{number}"]
        if name != scope.name:
            place = self._taken.get(scope.name) or next(self._places(scope.name), None)
            elsewhere = f"campaign {scope.name} is {place}" if place else f"there is a campaign {scope.name}"
            self.notes.append(f"{scope.folder}: kept as campaign {name} ({elsewhere}); --campaign sets another name")
        return name

    def _is_refused(self, scope: Scope, items: list[Found]) -> bool:
        """Reject a folder whose files the lake has from one above or below; if it has a name, only add a note."""
        here = f"{scope.folder}/"
        others = ((f"{place}/", name) for place, names in self._known.places.items() for name in names)
        near = [(at, name) for at, name in others if at != here and (at.startswith(here) or here.startswith(at))]
        own = {here + item.path for item in items} if near else set()
        for at, name in near:
            there = self._known.of_scope(name).items()
            if not any(file.status != "context" and at + path in own for (_, path), file in there):
                continue
            place = at.rstrip("/")
            reason = f"its files are already in the lake, from {place}, which is campaign {name}"
            if scope.campaign or self._given or self._at(scope.folder):
                self.notes.append(f"{scope.folder}: {reason}: `dropline forget` whatever counts twice")
                return False
            hint = f"ingest {place}, or type `dropline forget {name}` first, or give this folder a name with --campaign"
            self.refused.append(Refused(str(scope.folder), (Reject(1, reason, hint),), len(items)))
            return True
        return False

    def _of_bytes(self, scope: Scope, items: list[Found]) -> str | None:
        """Return the campaign that has all results of a folder; add notes about campaigns that have some of them."""
        sample = {*filter(None, map(_digest, items[:: len(items) // _SAMPLED + 1]))}
        for name in sorted(self._known.with_bytes(sample)):
            same = [*self._same(items, name)] if name not in self._taken else []
            files = self._known.of_scope(name).values()
            if not any(same):
                results = {file.sha256 for file in files if file.status != "context"}
                others = {file.sha256 for file in files} - results  # without facts, which a test bed's campaigns share
                if 2 * len(sample & results) > len(sample - others):
                    twice = f"campaign {name} has these results, too, in other folders: `dropline forget` one of them"
                    self.notes.append(f"{scope.folder}: {twice}")
                continue
            if sum(same) == sum(file.status != "context" for file in files):
                self.notes.append(f"{scope.folder}: kept as campaign {name}, all of whose results it has")
                return name
            self.notes.append(
                f"{scope.folder}: campaign {name} also has {sum(same)} of its files; `--campaign {name}` makes it that "
                "campaign"
            )
        return None

    def _at(self, folder: Path) -> str | None:
        """Return the campaign of a folder in the lake."""
        return next(filter(self._known.is_held, reversed(self._known.places.get(str(folder), {}))), None)

    def _is(self, name: str, items: list[Found]) -> bool:
        """Return whether a moved folder has the files of a campaign: all of them, or some if its folder is gone."""
        if any(Path(place).is_dir() for place in self._places(name)):
            same = [*self._same(items, name)]
            return bool(same) and all(same)
        return any(self._same(items, name))

    def _places(self, name: str) -> Iterator[str]:
        return (place for place, names in self._known.places.items() if name in names)

    def _same(self, items: list[Found], name: str) -> Iterator[bool]:
        """Yield for each result with the same path in a campaign and a folder whether the bytes are equal."""
        held = {path: file for (_, path), file in self._known.of_scope(name).items() if file.status != "context"}
        for item in items:
            if file := held.get(item.path):
                # A size of 0 was not looked up.
                yield item.size in {0, file.size_bytes} and _digest(item) == file.sha256


def _digest(item: Found) -> str | None:
    """Return the digest of a file's bytes, or None if they cannot be read."""
    try:
        return hashlib.sha256(read(item.where)[0]).hexdigest()
    except Unreadable:
        return None
