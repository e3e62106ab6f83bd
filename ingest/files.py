"""What lies under the given paths: which files there are, whose they are, and what each one is."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from errors import DroplineError
from ingest import figures, foreign, formats, machines, servers, watched
from ingest.campaign import FILE_NAME, SIDECARS, Campaign, CampaignError
from ingest.formats import Reject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from ingest.formats import Reader
    from ingest.watched import Watcher

MAX_BYTES: Final = 64 * 1024 * 1024
HEAD_BYTES: Final = 64 * 1024
_IGNORED: Final = re.compile(r"\..*|README.*|LICENSE.*|.*\.md|.*~", re.DOTALL)
_MESSAGES: Final = (".err", ".stderr")
_ENDING: Final = re.compile(r"(?<=[^/])\.[A-Za-z][^./]*\Z")


_UNRECOGNISED: Final = (
    "not recognised: no traffic generator's output, counters, server configuration or machine facts",
    "check that it is whole; if it is no result, name it under `ignore:` in campaign.yaml",
)


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


@dataclass(slots=True, eq=False)
class Found:
    """One file.

    Attributes:
        path: relative to the scope's folder, with forward slashes, always valid text.
        reject: why it is of no use, when it is UNKNOWN or UNREADABLE.
        reader: what reads it, when it is an OUTPUT; `server` and `watcher` likewise.
        fact: which kind of machine fact it holds, when it is known.

    """

    file: Path
    scope: Scope
    path: str
    kind: Kind = Kind.UNREADABLE
    reject: Reject | None = None
    reader: Reader | None = None
    server: ModuleType | None = None
    watcher: Watcher | None = None
    fact: str | None = None

    @property
    def folder(self) -> str:
        """The folder of the file relative to the scope, `.` for the scope itself."""
        return self.path.rpartition("/")[0] or "."

    @property
    def stem(self) -> str:
        """The path without ending, as stg_trials has it: what one process wrote shares it, but out.1 and out.2."""
        return _ENDING.sub("", self.path.removesuffix(".gz"))


def survey(paths: Iterable[Path], max_bytes: int = MAX_BYTES) -> list[Found]:
    """Return every file under `paths`, each once, in a fixed order, and what it is.

    Hidden files, README*, LICENSE*, *.md, *~, what campaign.yaml ignores, and links to files that
    are found anyway are left alone. Raises IntakeError for a path that is not there, CampaignError
    for an unusable campaign.yaml.
    """
    found = list(_walk(paths))
    _refuse_shared_names(found)
    for item in found:
        if item.reject:
            continue
        try:
            recognise(item, read(item.file, max_bytes, HEAD_BYTES)[0])
        except Unreadable as error:
            item.reject = error.reject
    adopt(found)
    return sorted(found, key=lambda item: (item.scope.name, item.path, item.file))


def recognise(item: Found, head: bytes) -> None:
    """Fill in what `head`, the first HEAD_BYTES of a file, tells of it."""
    name = item.file.name
    item.kind = Kind.CAMPAIGN if name == FILE_NAME else Kind.UNKNOWN
    if item.kind is Kind.CAMPAIGN:
        return
    item.fact = machines.recognise(name, head)
    if not head and not name.endswith(_MESSAGES):
        item.reject = Reject(1, "the file is empty", "run the trial again, or remove the file")
    elif server := servers.recognise(head):
        item.kind, item.server = Kind.SERVER, server
    elif reader := formats.recognise(head):
        item.kind, item.reader = Kind.OUTPUT, reader
    elif watcher := watched.recognise(head):
        item.kind, item.watcher = Kind.WATCHED, watcher
    elif figures.recognise(head):
        item.kind = Kind.FIGURES
    elif name.endswith(_MESSAGES):
        item.kind = Kind.MESSAGES
    elif servers.describe(head):
        item.kind = Kind.CONFIGURATION
    else:
        item.reject = Reject(1, *(foreign.describe(head) or _UNRECOGNISED))


def adopt(found: Iterable[Found]) -> None:
    """Make files what only their neighbours tell: machine facts by their folder, sidecars by their output."""
    folders: dict[Path, list[Found]] = defaultdict(list)
    for item in found:
        folders[item.file.parent].append(item)
    for items in folders.values():
        _adopt_machine_facts(items)
    _adopt_sidecars([item for items in folders.values() for item in items])


def read(file: Path, max_bytes: int = MAX_BYTES, first: int | None = None) -> tuple[bytes, int]:
    """Return the bytes (only the `first` ones when given) and the mtime in us of a regular file.

    Raises Unreadable; never opens a pipe or a device, never follows a link.
    """
    try:
        _require_regular(file.lstat())
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(os.open(file, flags), "rb") as opened:  # noqa: PTH123 -- Path.open takes no flags
            status = os.fstat(opened.fileno())
            _require_regular(status)  # it may have been replaced in between
            data = opened.read(max_bytes + 1 if first is None else first)
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        raise Unreadable(reason, "check the file and its rights") from None
    if status.st_size > max_bytes or len(data) > max_bytes:
        raise too_large(max(status.st_size, len(data)), max_bytes)
    return data, status.st_mtime_ns // 1000


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
    folder, slash, name = item.path.rpartition("/")
    stem = name.removesuffix(".gz").rpartition(".")[0] or name
    names = {"{stem}": stem, "{name}": name, "{prefix}": name.partition("-")[0]}
    paths = []
    for path in templates:
        for field, text in names.items():
            path = path.replace(field, text)
        paths.append(posixpath.normpath(folder + slash + path))
    return [path for path in paths if path != item.path]


def _walk(paths: Iterable[Path]) -> Iterator[Found]:
    roots: set[Path] = set()
    for path in paths:
        try:
            roots.add(path.resolve(strict=True))
        except (OSError, RuntimeError):
            message = f"{path}: there is no such file or folder"
            raise IntakeError(message) from None
    outer = {root for root in roots if not any(parent in roots for parent in root.parents)}
    single: dict[Path, set[str]] = defaultdict(set)
    for root in sorted(outer):
        if root.is_dir():
            yield from _walk_folder(root)
        else:
            single[root.parent].add(root.name)
    for folder, names in single.items():
        yield from _walk_single(folder, names)


def _walk_single(folder: Path, names: set[str]) -> Iterator[Found]:
    """Yield files that were named one by one, with campaign.yaml and the sidecars beside them."""
    scope = _scope(folder, (folder / FILE_NAME).is_file()) or Scope(folder, slug(folder.name))
    beside = {path for name in names for path in sidecar_paths(Found(folder / name, scope, name))} | {FILE_NAME}
    for name in sorted(names | {name for name in beside if (folder / name).is_file()}):
        yield _found(folder / name, scope)


def _walk_folder(root: Path) -> Iterator[Found]:
    pending = [(root, Scope(root, slug(root.name)))]
    while pending:
        folder, scope = pending.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            reject = Reject(1, f"folder cannot be read: {error.strerror}", "check its rights")
            yield _found(folder, scope, reject)
            continue
        scope = _scope(folder, any(entry.name == FILE_NAME for entry in entries)) or scope
        for entry in entries:
            item = _found(Path(entry.path), scope)
            if _IGNORED.fullmatch(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append((item.file, scope))
            elif scope.campaign and scope.campaign.ignores(item.path):
                continue
            elif entry.is_symlink():
                item.reject = _link_reject(item.file, root)
                if item.reject:
                    yield item
            else:
                yield item


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


def _found(file: Path, scope: Scope, reject: Reject | None = None) -> Found:
    relative = os.fsencode(file.relative_to(scope.folder))
    return Found(file, scope, relative.decode("utf-8", "backslashreplace"), reject=reject)


def _refuse_shared_names(found: list[Found]) -> None:
    owners: dict[str, Path] = {}
    for item in found:
        if item.scope.campaign:
            other = owners.setdefault(item.scope.name, item.scope.folder)
            if other != item.scope.folder:
                message = (
                    f"{item.scope.folder / FILE_NAME} and {other / FILE_NAME} are both named "
                    f"{item.scope.name!r}; give every campaign a name of its own"
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
    partners = {
        (item.scope.folder, path)
        for item in found
        if item.kind in {Kind.OUTPUT, Kind.UNKNOWN}
        for path in sidecar_paths(item)
    }
    for item in found:
        if item.kind is Kind.UNKNOWN and (item.scope.folder, item.path) in partners:
            item.kind, item.reject = Kind.SIDECAR, None
