"""What lies under the given paths: which files there are, whose they are, and what each one is."""

from __future__ import annotations

import os
import posixpath
import re
import stat
import sys
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from errors import DroplineError
from ingest import figures, formats, machines, servers, watched
from ingest.campaign import FILE_NAME, SIDECARS, Campaign, CampaignError
from ingest.formats import Reject, contents

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import ModuleType

    from ingest.formats import Reader
    from ingest.watched import Watcher

    Nature = tuple["Kind", Reject | None, Reader | None, ModuleType | None, Watcher | None, str | None]

MAX_BYTES: Final = 64 * 1024 * 1024
HEAD_BYTES: Final = 64 * 1024
_HEADS_BYTES: Final = 4 * 1024 * 1024  # that are held at once
_IGNORED: Final = re.compile(r"\..*|README.*|LICENSE.*|.*\.md|.*~", re.DOTALL)
_MESSAGES: Final = (".err", ".stderr")
_ENDING: Final = re.compile(r"(?<=[^/])\.[A-Za-z][^./]*\Z")


class IntakeError(DroplineError):
    """A call that cannot be done at all, with what to do instead."""


class Unreadable(Exception):
    """A file whose bytes cannot be had."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reject = Reject(1, reason, hint)


class Kind(StrEnum):
    """What a file is."""

    CAMPAIGN = "campaign"
    SERVER = "server"
    MACHINE = "machine"
    SIDECAR = "sidecar"
    OUTPUT = "output"
    WATCHED = "watched"  # counters or probes beside trials
    FIGURES = "figures"  # read from a published document
    MESSAGES = "stderr"
    CONFIGURATION = "configuration"  # of a program that serves no clients
    UNKNOWN = "unknown"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Scope:
    """The folder to which a campaign belongs: that of its campaign.yaml, else the one given."""

    folder: Path
    name: str
    campaign: Campaign | None = None


class Found:
    """One file; of its path, folder and name are shared with others.

    Attributes:
        folder: relative to the scope's folder, with forward slashes, always valid text; `.` for the scope itself.
        name: the last part of the path.
        elsewhere: the place on disk, where scope and path do not tell it.
        size: in bytes, and the time of the last change in us, as the folder tells them; 0 where nobody looked.
        reject: why it is of no use, when it is UNREADABLE or empty.
        reader: what reads it, when it is an OUTPUT; `server` and `watcher` likewise.
        fact: which kind of machine fact it holds, when it is known.

    """

    __slots__ = (
        *("scope", "folder", "name", "elsewhere", "size", "modified_us"),
        *("kind", "reject", "reader", "server", "watcher", "fact"),
    )

    def __init__(
        self,
        place: str | Path,
        scope: Scope,
        path: str,
        kind: Kind = Kind.UNREADABLE,
        *,
        reject: Reject | None = None,
        reader: Reader | None = None,
    ) -> None:
        folder, _, name = path.rpartition("/")
        self.scope, self.folder, self.name = scope, sys.intern(folder or "."), sys.intern(name)
        self.elsewhere = None if str(place) == f"{scope.folder}/{path}" else str(place)
        self.size = self.modified_us = 0
        self.kind, self.reject, self.reader = kind, reject, reader
        self.server: ModuleType | None = None
        self.watcher: Watcher | None = None
        self.fact: str | None = None

    @classmethod
    def again(cls, scope: Scope, folder: str, name: str, elsewhere: str | None, *rest: Any) -> Found:
        """Return a file of which all is known; `rest` are its size, modified_us and nature."""
        item = cls.__new__(cls)
        item.scope, item.folder, item.name, item.elsewhere = scope, folder, name, elsewhere
        item.size, item.modified_us, item.nature = rest
        return item

    @property
    def nature(self) -> Nature:
        """What the head of the file tells of it."""
        return self.kind, self.reject, self.reader, self.server, self.watcher, self.fact

    @nature.setter
    def nature(self, nature: Nature) -> None:
        self.kind, self.reject, self.reader, self.server, self.watcher, self.fact = nature

    @property
    def path(self) -> str:
        """The place relative to the scope's folder."""
        return self.name if self.folder == "." else f"{self.folder}/{self.name}"

    @property
    def where(self) -> str:
        """The place on disk."""
        return self.elsewhere or f"{self.scope.folder}/{self.path}"

    @property
    def file(self) -> Path:
        """The place on disk."""
        return Path(self.where)

    @property
    def stem(self) -> str:
        """The path without ending, as stg_trials has it: what one process wrote shares it, but out.1 and out.2."""
        return _ENDING.sub("", self.path.removesuffix(".gz"))


def survey(paths: Iterable[Path], max_bytes: int = MAX_BYTES) -> list[Found]:
    """Return every file under `paths`, each once, in a fixed order, and what it is.

    Raises as `walk` does.
    """
    scopes = list(walk(paths))
    for items in scopes:
        look(items, max_bytes)
        adopt(items)
    return sorted((item for items in scopes for item in items), key=lambda i: (i.scope.name, i.path, i.where))


def look(items: Iterable[Found], max_bytes: int = MAX_BYTES) -> None:
    """Fill in what the heads of files tell of them, and why others cannot be read."""
    heads: list[tuple[Found, bytes]] = []
    size_bytes = 0
    for item in items:
        if item.reject:
            continue
        try:
            heads.append((item, read(item.where, max_bytes, HEAD_BYTES)[0]))
        except Unreadable as error:
            item.reject = error.reject
            continue
        size_bytes += len(heads[-1][1])
        if size_bytes > _HEADS_BYTES:
            _recognise(heads)
            heads, size_bytes = [], 0
    _recognise(heads)


def _recognise(heads: Sequence[tuple[Found, bytes]]) -> None:
    in_question = formats.in_question([head for _, head in heads])
    for (item, head), asked in zip(heads, in_question, strict=True):
        recognise(item, head, asked=asked)


def recognise(item: Found, head: bytes, *, asked: bool = True) -> None:
    """Fill in what `head`, the first HEAD_BYTES of a file, tells of it; generators' readers must not be `asked`."""
    name = item.name
    item.kind = Kind.CAMPAIGN if name == FILE_NAME else Kind.UNKNOWN
    if item.kind is Kind.CAMPAIGN:
        return
    item.fact = machines.recognise(name, head)
    is_json = formats.begins_like_json(head)
    if not head and not name.endswith(_MESSAGES):
        item.reject = Reject(1, "the file is empty", "run the trial again, or remove the file")
    elif server := servers.recognise(head):
        item.kind, item.server = Kind.SERVER, server
    elif asked and (reader := formats.recognise(head)):
        item.kind, item.reader = Kind.OUTPUT, reader
    elif watcher := watched.recognise(head):
        item.kind, item.watcher = Kind.WATCHED, watcher
    elif not is_json and figures.recognise(head):
        item.kind = Kind.FIGURES
    elif reader := contents.behind(head):
        item.kind, item.reader = Kind.OUTPUT, reader
    elif name.endswith(_MESSAGES):
        item.kind = Kind.MESSAGES
    elif servers.describe(head):
        item.kind = Kind.CONFIGURATION


def by_scope(found: Iterable[Found]) -> dict[Path, list[Found]]:
    """Return the files of each scope's folder, in their order."""
    scopes: dict[Path, list[Found]] = defaultdict(list)
    for item in found:
        scopes[item.scope.folder].append(item)
    return scopes


def adopt(items: Iterable[Found]) -> None:
    """Make files of one scope what only neighbours tell: machine facts by their folder, sidecars by their output."""
    folders: dict[str, list[Found]] = defaultdict(list)
    for item in items:
        folders[item.folder].append(item)
    for each in folders.values():
        _adopt_machine_facts(each)
    _adopt_sidecars([item for each in folders.values() for item in each])


def read(file: str | Path, max_bytes: int = MAX_BYTES, first: int | None = None) -> tuple[bytes, int]:
    """Return the bytes (only the `first` ones when given) and the mtime in us of a regular file.

    Raises Unreadable; never opens a pipe or a device, never follows a link.
    """
    try:
        _require_regular(os.lstat(file))
        opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(opened)
            _require_regular(status)  # it may have been replaced in between
            data = _read(opened, min(status.st_size, max_bytes) + 1, max_bytes + 1 if first is None else first)
        finally:
            os.close(opened)
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        raise Unreadable(reason, "check the file and its rights") from None
    if status.st_size > max_bytes or len(data) > max_bytes:
        raise too_large(max(status.st_size, len(data)), max_bytes)
    return data, status.st_mtime_ns // 1000


def _read(opened: int, expected: int, most: int) -> bytes:
    """Return at most `most` bytes; the first call asks for `expected`, and a file may have grown since."""
    data = os.read(opened, min(expected, most))
    while len(data) < most and (more := os.read(opened, min(most - len(data), HEAD_BYTES))):
        data += more
    return data


def too_large(size: int, limit: int) -> Unreadable:
    """Return the refusal of a file of `size` bytes."""
    reason = f"{size} bytes are more than the limit of {limit}"
    return Unreadable(reason, "split it into one file per run, or compress it with gzip")


def _require_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        reason = "not a regular file (a pipe, socket, device or link)"
        raise Unreadable(reason, "copy what it gives into a file, and ingest that")


def slug(name: str) -> str:
    """Return `name` as a campaign's short name."""
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower())[:100].strip("-._") or "campaign"


def sidecar_paths(item: Found) -> list[str]:
    """Return where the sidecar of an output may lie, relative to its scope; the first that is there counts."""
    templates = item.scope.campaign.sidecar if item.scope.campaign else SIDECARS
    path = item.path
    folder = path.removesuffix(item.name)
    paths = [posixpath.normpath(folder + own) if "/" in own else folder + own for own in _beside(item.name, templates)]
    return [beside for beside in paths if beside != path]


@lru_cache(maxsize=4096)  # the repetitions of a ramp have the same names
def _beside(name: str, templates: tuple[str, ...]) -> list[str]:
    """Return what the sidecar of an output of that name may be called, relative to its folder."""
    stem = name.removesuffix(".gz").rpartition(".")[0] or name
    prefix = name.partition("-")[0]
    return [each.replace("{stem}", stem).replace("{name}", name).replace("{prefix}", prefix) for each in templates]


def walk(paths: Iterable[Path]) -> Iterator[list[Found]]:
    """Yield the files under `paths` scope by scope, each file once; of them only every campaign.yaml is read.

    Hidden files, README*, LICENSE*, *.md, *~, what campaign.yaml ignores, and links to files that are found anyway are
    left alone. Raises IntakeError for a path that is not there, CampaignError for an unusable campaign.yaml and for
    two of one name.
    """
    roots: set[Path] = set()
    for path in paths:
        try:
            roots.add(path.resolve(strict=True))
        except (OSError, RuntimeError):
            message = f"{path}: there is no such file or folder"
            raise IntakeError(message) from None
    outer = {root for root in roots if not any(parent in roots for parent in root.parents)}
    single: dict[Path, set[str]] = defaultdict(set)
    owners: dict[str, Path] = {}
    for root in sorted(outer):
        if not root.is_dir():
            single[root.parent].add(root.name)
            continue
        for items in _walk_folder(root):
            _refuse_shared_name(items[0].scope, owners)
            yield items
    for folder, names in single.items():
        items = _walk_single(folder, names)
        _refuse_shared_name(items[0].scope, owners)
        yield items


def _walk_single(folder: Path, names: set[str]) -> list[Found]:
    """Return files that were named one by one, with campaign.yaml and the sidecars beside them."""
    scope = _scope(folder, (folder / FILE_NAME).is_file()) or Scope(folder, slug(folder.name))
    beside = {path for name in names for path in sidecar_paths(Found("", scope, name))} | {FILE_NAME}
    there = sorted(names | {name for name in beside if (folder / name).is_file()})
    return [_found(f"{folder}/{name}", scope) for name in there]


def _walk_folder(root: Path) -> Iterator[list[Found]]:
    """Yield the files below `root` by scope, for each scope that has any."""
    scopes = [Scope(root, slug(root.name))]
    while scopes:
        scope = scopes.pop()
        found: list[Found] = []
        pending = [str(scope.folder)]
        while pending:
            folder = pending.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                reject = Reject(1, f"folder cannot be read: {error.strerror}", "check its rights")
                found.append(_found(folder, scope, reject=reject))
                continue
            if not scope.campaign or folder != str(scope.folder):
                here = _scope(Path(folder), any(entry.name == FILE_NAME for entry in entries))
                if here and folder == str(scope.folder):
                    scope = here
                elif here:
                    scopes.append(here)
                    continue
            for entry in entries:
                if _IGNORED.fullmatch(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif item := _file(entry, scope, root):
                    found.append(item)
        if found:
            yield found


def _file(entry: os.DirEntry[str], scope: Scope, root: Path) -> Found | None:
    """Return what is no folder; None when it is to be left alone."""
    item = _found(entry.path, scope)
    if scope.campaign and scope.campaign.ignores(item.path):
        return None
    if entry.is_symlink():
        item.reject = _link_reject(item.file, root)
        return item if item.reject else None
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:  # whoever reads it will say what is wrong
        return item
    item.size, item.modified_us = status.st_size, status.st_mtime_ns // 1000
    return item


def _link_reject(link: Path, root: Path) -> Reject | None:
    """Return why a link is refused; None when it leads to what is found under its own name."""
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return Reject(1, "a symbolic link that leads nowhere", "remove it or put the file there")
    if not target.is_relative_to(root):
        return Reject(
            1,
            "a symbolic link that leaves the ingested folder",
            "copy the file, or ingest its folder",
        )
    if any(_IGNORED.fullmatch(part) for part in target.relative_to(root).parts):
        return Reject(1, "a symbolic link to a hidden or ignored file", "put the file in its place")
    return None


def _scope(folder: Path, has_campaign: bool) -> Scope | None:
    if not has_campaign:
        return None
    try:
        data, _ = read(folder / FILE_NAME)
    except Unreadable as error:
        message = f"{folder / FILE_NAME}: {error}"
        raise CampaignError(message) from None
    campaign = Campaign.parse(data, str(folder / FILE_NAME))
    return Scope(folder, campaign.campaign, campaign)


def _found(place: str, scope: Scope, reject: Reject | None = None) -> Found:
    path = place.removeprefix(str(scope.folder)).lstrip("/") or "."
    if not path.isascii():
        path = os.fsencode(path).decode("utf-8", "backslashreplace")
    return Found(place, scope, path, reject=reject)


def _refuse_shared_name(scope: Scope, owners: dict[str, Path]) -> None:
    """Note whose name it is; refuse a second campaign.yaml with it."""
    if scope.campaign and (other := owners.setdefault(scope.name, scope.folder)) != scope.folder:
        message = (
            f"{scope.folder / FILE_NAME} and {other / FILE_NAME} are both named {scope.name!r}; "
            "give every campaign a name of its own"
        )
        raise CampaignError(message)


def _adopt_machine_facts(items: list[Found]) -> None:
    """Make the files of a folder of machine facts what they are, those nobody reads included."""
    first = items[0]
    named = first.scope.campaign is not None and first.folder in first.scope.campaign.machines
    facts = {item.fact for item in items if item.fact}
    if not named and not _tell_of_a_machine(facts):
        return
    left_over = {Kind.UNKNOWN, Kind.MESSAGES}
    if named:
        left_over.add(Kind.OUTPUT)
    elif any(item.reader and not item.fact for item in items):
        left_over.clear()
    for item in items:
        if item.kind in left_over or (item.fact and item.kind in {Kind.UNKNOWN, Kind.OUTPUT}):
            item.kind, item.reject = Kind.MACHINE, None


def _tell_of_a_machine(facts: set[str]) -> bool:
    # An index alone may be anything: it is known by its name.
    indexed = "index" in facts and len(facts) > 2
    return "lscpu" in facts or {"uname", "os_release"} <= facts or indexed


def _adopt_sidecars(found: list[Found]) -> None:
    outputs = (item for item in found if item.kind in {Kind.OUTPUT, Kind.UNKNOWN})
    partners = {path for item in outputs for path in sidecar_paths(item)}
    for item in found:
        if item.kind is Kind.UNKNOWN and item.path in partners:
            item.kind, item.reject = Kind.SIDECAR, None
