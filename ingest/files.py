"""Discovery of files: the walk over folders, the campaign and the kind of each file, and the ignored ones."""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import stat
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, NamedTuple

from dropline.errors import DroplineError
from dropline.ingest import archives, figures, formats, machines, servers
from dropline.ingest.campaign import FILE_NAME, SIDECARS, Campaign, CampaignError, slug
from dropline.ingest.formats import Reject, Rejected, contents, perfdhcp, perfdhcp_forms, prefixes
from dropline.ingest.formats.perfdhcp_forms import Form
from dropline.ingest.formats.text import head_text, is_packed, unpack
from dropline.ingest.names import ARCHIVES, PACKED
from dropline.ingest.telemetry import TELEMETRY_READERS

MAX_BYTES: Final = 64 * 1024 * 1024
HEAD_BYTES: Final = 64 * 1024
_HEADS_BYTES: Final = 4 * 1024 * 1024  # held in memory at once
NOTES: Final = "notes without a report: README*, *.md"
_NOTES: Final = re.compile(r"README.*|.*\.(?:md|markdown)", re.DOTALL | re.IGNORECASE)
# Files and folders that are ignored by name; the first match wins.
_RULES: Final = (
    (re.compile(r"\.(?:git|hg|svn|bzr)|CVS"), "the history of a version control system"),
    (re.compile(r"\..*", re.DOTALL), "hidden: its name begins with a dot"),
    (re.compile(r".*~", re.DOTALL), "an editor's backup: *~"),
    (re.compile(r"(?:LICEN[CS]E|COPYING).*", re.DOTALL), "a licence: LICENSE*, LICENCE*, COPYING*"),
)
_BY_CAMPAIGN: Final = "listed under `ignore:` in campaign.yaml"
_LINKED: Final = "a link to a file that is found under its own name"
_MESSAGES: Final = (".err", ".stderr")
_FAULT: Final = re.compile(r"(?:, line (\d+))?(?:: )?(.*)", re.DOTALL)  # a campaign.yaml error after its path
# kinds of facts that make a folder one of machine facts
_TELLING: Final = frozenset({"lscpu", "lshw", "cpuinfo", "dmidecode", "hostnamectl", machines.TRANSCRIPT})
_ASKED: Final = (*formats.READERS, *TELEMETRY_READERS, servers)
_CLUES: Final = (text for each in _ASKED for text in getattr(each, "IN_JSON", ()))
IN_JSON: Final = "|".join((*map(re.escape, _CLUES), prefixes.IN_JSON))  # a fifth of the time of separate searches
_ENDING: Final = re.compile(r"(?<=[^/])\.[A-Za-z][^./]*\Z")


class IntakeError(DroplineError):
    """A call cannot be carried out at all; the message says what to do instead."""


class Unreadable(Rejected):
    """The bytes of a file cannot be read."""


class Kind(StrEnum):
    """The kind of a file."""

    CAMPAIGN = "campaign"
    SERVER = "server"
    MACHINE = "machine"
    SIDECAR = "sidecar"
    OUTPUT = "output"
    WATCHED = "watched"  # counters or probes beside trials
    FIGURES = "figures"  # taken from a published document
    MESSAGES = "stderr"
    CONFIGURATION = "configuration"  # of a program that is not a server
    NOTES = "notes"  # may contain a report
    UNKNOWN = "unknown"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Scope:
    """Folder of a campaign: that of its campaign.yaml, else the ingested one."""

    folder: Path
    name: str
    campaign: Campaign | None = None
    fault: str | None = None  # why its campaign.yaml is unusable

    @cached_property
    def place(self) -> str:
        """Path of the folder."""
        return str(self.folder)


class Ignored(NamedTuple):
    """A file, a folder with its contents, or a member of an archive that a rule ignores."""

    path: str
    rule: str


class Refused(NamedTuple):
    """A rejected folder or campaign.yaml: the reason, and how many files are rejected with it."""

    path: str
    rejects: tuple[Reject, ...]
    files: int


@dataclass(slots=True, eq=False, repr=False)
class Found:
    """One file; the strings of its folder and name are shared with other files."""

    scope: Scope
    folder: str  # relative to the scope's folder, with forward slashes, always valid text; `.` for the scope itself
    name: str
    elsewhere: str | None = None  # the path on disk, if it differs from scope and path
    reject: Reject | None = None  # why it is rejected, if it is UNREADABLE or empty
    kind: Kind = Kind.UNREADABLE
    reader: Any = None  # the module that recognised it, if it is an OUTPUT, SERVER or WATCHED
    fact: str | None = None  # the kind of machine fact in it, if known
    size: int = 0  # in bytes, like the mtime in us from the directory entry; 0 if not looked up
    modified_us: int = 0
    sidecar: Found | None = None  # of an output or a possible output, set by `adopt`
    form: Form | None = None  # of the report in it, if that is a usual one of perfdhcp
    held: tuple[bytes, int] | None = None  # its bytes and mtime in us, if `look` keeps them until it is parsed

    @classmethod
    def at(cls, file: str, scope: Scope, place: str = "", reject: Reject | None = None) -> Found:
        """Return the file with a path below the scope's folder; `place` is its path on disk, if it is another."""
        path = file.removeprefix(scope.place).lstrip("/") or "."
        if not path.isascii():
            path = os.fsencode(path).decode("utf-8", "backslashreplace")
        folder, _, name = path.rpartition("/")
        elsewhere = None if (place or file) == f"{scope.place}/{path}" else place or file
        return cls(scope, sys.intern(folder or "."), sys.intern(name), elsewhere, reject)

    @property
    def path(self) -> str:
        """Path relative to the scope's folder."""
        return self.name if self.folder == "." else f"{self.folder}/{self.name}"

    @property
    def where(self) -> str:
        """Path on disk."""
        return self.elsewhere or f"{self.scope.place}/{self.path}"

    @property
    def stem(self) -> str:
        """Path without ending, as in stg_trials: files of one process share it, except for out.1 and out.2."""
        return _ENDING.sub("", PACKED.sub("", self.path))


def survey(paths: Iterable[Path], room: Callable[[], Path] | None = None) -> list[Found]:
    """Return every file under `paths` once, recognised, in a fixed order; see `walk`."""
    scopes = list(walk(paths, room=room))
    for items in scopes:
        look(items)
        adopt(items)
    return sorted((item for items in scopes for item in items), key=lambda i: (i.scope.name, i.path, i.where))


def look(items: Iterable[Found], keep_bytes: int = 0) -> None:
    """Recognise files by their heads, or note why they cannot be read; keep small files, up to `keep_bytes` in all."""
    heads: list[tuple[Found, bytes]] = []
    size_bytes = 0
    for item in items:
        if item.reject:
            continue
        try:
            head, modified_us = read(item.where, MAX_BYTES, HEAD_BYTES)
        except Unreadable as error:
            item.reject = error.reject
            continue
        if len(head) < HEAD_BYTES and len(head) <= keep_bytes:
            item.held = head, modified_us
            keep_bytes -= len(head)
        heads.append((item, head))
        size_bytes += len(head)
        if size_bytes > _HEADS_BYTES:
            _recognise(heads)
            heads, size_bytes = [], 0
    _recognise(heads)


def _recognise(heads: Sequence[tuple[Found, bytes]]) -> None:
    """Recognise usual reports of perfdhcp by their form, all other files by asking the readers."""
    for (item, _), form in zip(heads, perfdhcp_forms.forms([head for _, head in heads]), strict=True):
        if form and item.name != FILE_NAME:
            item.kind, item.reader, item.form = Kind.OUTPUT, perfdhcp, form
            item.fact = machines.recognise(item.name, perfdhcp_forms.START)
    others = [each for each in heads if each[0].form is None]
    in_question = formats.in_question([head for _, head in others], IN_JSON)
    alike: dict[tuple[str, bytes], Found] = {}  # campaigns of one testbed have the same facts and configurations
    for (item, head), asked in zip(others, in_question, strict=True):
        before = alike.setdefault((item.name, head), item)
        if before is item:
            recognise(item, head, asked=asked)
        else:
            item.kind, item.reject, item.reader, item.fact = before.kind, before.reject, before.reader, before.fact


def recognise(item: Found, head: bytes, *, asked: bool = True) -> None:
    """Recognise a file by `head`, its first HEAD_BYTES; readers are tried only if `asked`."""
    name = item.name
    item.kind = Kind.CAMPAIGN if name == FILE_NAME else Kind.UNKNOWN
    if item.kind is Kind.CAMPAIGN:
        return
    if archives.is_tar(unpack(head, HEAD_BYTES)[0] if is_packed(head) else head):
        return  # otherwise its members would be parsed as one text
    item.fact = machines.recognise(name, head)
    if not asked:
        item.kind = Kind.MESSAGES if name.endswith(_MESSAGES) else Kind.UNKNOWN
    elif not head and not name.endswith(_MESSAGES):
        item.reject = Reject(1, formats.EMPTY, "run the trial again, or remove the file")
    elif server := servers.recognise(head):
        item.kind, item.reader = Kind.SERVER, server
    elif reader := formats.recognise(head):
        item.kind, item.reader = Kind.OUTPUT, reader
    elif watcher := formats.recognise(head, TELEMETRY_READERS):
        item.kind, item.reader = Kind.WATCHED, watcher
    elif not formats.begins_like_json(head) and figures.recognise(head):
        item.kind = Kind.FIGURES
    elif reader := contents.behind(head):
        item.kind, item.reader = Kind.OUTPUT, reader
    elif name.endswith(_MESSAGES):
        item.kind = Kind.MESSAGES
    elif servers.describe(head):
        item.kind = Kind.CONFIGURATION
    if item.kind is not Kind.UNKNOWN and item.fact == machines.TRANSCRIPT:
        item.fact = None  # it is a log
    if item.kind is Kind.UNKNOWN and _NOTES.fullmatch(name) and not contents.mentioned(head_text(head)):
        item.kind, item.reject = Kind.NOTES, None


def by_scope(found: Iterable[Found]) -> dict[str, list[Found]]:
    """Group files by their scope's place, in order."""
    scopes: dict[str, list[Found]] = defaultdict(list)
    for item in found:
        scopes[item.scope.place].append(item)
    return scopes


def adopt(items: Iterable[Found]) -> None:
    """Classify files of one scope by their neighbours: machine facts by their folder, sidecars by their output."""
    folders: dict[str, list[Found]] = defaultdict(list)
    for item in items:
        folders[item.folder].append(item)
    for files in folders.values():
        named = files[0].scope.campaign is not None and files[0].folder in files[0].scope.campaign.machines
        facts = {item.fact for item in files if item.fact and item.kind is not Kind.NOTES}
        indexed = "index" in facts and len(facts) > 2  # an index is recognised only by name, so alone it is ambiguous
        if not (named or indexed or not _TELLING.isdisjoint(facts) or {"uname", "os_release"} <= facts):
            continue
        left_over = {Kind.UNKNOWN, Kind.MESSAGES, *([Kind.OUTPUT] if named else [])}  # including those without a reader
        if not named and any(item.kind is Kind.OUTPUT and not item.fact for item in files):
            left_over.clear()
        for item in files:
            if item.kind in left_over or (item.fact and item.kind in {Kind.UNKNOWN, Kind.OUTPUT}):
                item.kind, item.reject = Kind.MACHINE, None
    every = [item for each in folders.values() for item in each]
    # A stored sidecar without bytes keeps its kind.
    possible = {item.path: item for item in every if item.kind in {Kind.UNKNOWN, Kind.SIDECAR}}
    partners: list[Found] = []
    for item in every:
        if item.kind in {Kind.OUTPUT, Kind.UNKNOWN}:
            beside = [possible[path] for path in sidecar_paths(item) if path in possible]
            item.sidecar = beside[0] if beside else None
            partners += beside
    for item in partners:
        item.kind, item.reject = Kind.SIDECAR, None


def whole(item: Found, limit: int) -> tuple[bytes, int]:
    """Return the bytes of a file, up to a limit, and its mtime in us; raise Unreadable."""
    return item.held or read(item.where, min(limit, MAX_BYTES))


def read(file: str | Path, max_bytes: int = MAX_BYTES, first: int = -1) -> tuple[bytes, int]:
    """Return the bytes of a regular file (the `first` ones if given) and its mtime in us; raise Unreadable."""
    try:
        if stat.S_ISREG(os.lstat(file).st_mode):  # never open a pipe or a device, never follow a link
            with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb", buffering=0) as opened:  # noqa: PTH123
                status = os.fstat(opened.fileno())
                if status.st_size > max_bytes:
                    raise too_large(status.st_size, max_bytes)
                if stat.S_ISREG(status.st_mode):  # it may have been replaced meanwhile
                    return opened.read(first), status.st_mtime_ns // 1000
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}", "check the file and its permissions") from None
    reason = "not a regular file (a pipe, socket, device or link)"
    raise Unreadable(reason, "save its output to a file, and ingest that")


def too_large(size: int, limit: int) -> Unreadable:
    """Return the error for a file of `size` bytes."""
    reason = f"{size} bytes are more than the limit of {limit}"
    return Unreadable(reason, "split it into one file per run, or compress it with gzip")


def sidecar_paths(item: Found) -> list[str]:
    """Return the possible paths of an output's sidecar, relative to its scope; the first existing one is used."""
    templates = item.scope.campaign.sidecar if item.scope.campaign else SIDECARS
    path, name = item.path, item.name
    folder, prefix = path.removesuffix(name), name.partition("-")[0]
    stem = PACKED.sub("", name).rpartition(".")[0] or name
    named = [each.replace("{stem}", stem).replace("{name}", name).replace("{prefix}", prefix) for each in templates]
    paths = [posixpath.normpath(folder + own) if "/" in own else folder + own for own in named]
    return [beside for beside in paths if beside != path]


def walk(
    paths: Iterable[Path],
    ignored: list[Ignored] | None = None,
    room: Callable[[], Path] | None = None,
    refused: list[Refused] | None = None,
) -> Iterator[list[Found]]:
    """Yield the files under `paths` scope by scope, each file once; only campaign.yaml files are read.

    Files ignored by name are appended to `ignored`: matches of _RULES or campaign.yaml, and links to files that are
    found anyway. A tar or zip archive counts as a folder: its members are extracted to a new folder in `room()`, which
    must exist while they are read. Raise IntakeError for a missing path and CampaignError if two campaign.yaml files
    have the same name. Files under an unusable campaign.yaml are counted in `refused`; without it, raise CampaignError.
    """
    roots: set[Path] = set()
    for path in paths:
        try:
            roots.add(path.resolve(strict=True))
        except (OSError, RuntimeError):
            message = f"{path}: there is no such file or folder"
            if path.exists():
                message = f"{path}: a pipe or device, not a file; save its output to a file, and ingest that"
            raise IntakeError(message) from None
    outer = {root for root in roots if not any(parent in roots for parent in root.parents)}
    single: dict[Path, set[str]] = defaultdict(set)
    owners: dict[str, Path] = {}
    walker = _Walker([] if ignored is None else ignored, room)
    found: list[Iterable[list[Found]]] = []
    for root in sorted(outer):
        unpacked = None if root.is_dir() else walker.unpacked(str(root), str(root), 1)
        if unpacked is None and not root.is_dir():
            single[root.parent].add(root.name)
        else:
            found.append(walker.folder(root, unpacked))
    for folder, names in single.items():  # single files come with the campaign.yaml and the sidecars beside them
        scope = _scope(folder, folder) if (folder / FILE_NAME).is_file() else Scope(folder, slug(folder.name))
        beside = {path for name in names for path in sidecar_paths(Found(scope, ".", name))} | {FILE_NAME}
        there = sorted(names | {name for name in beside if (folder / name).is_file()})
        found.append([[Found.at(f"{folder}/{name}", scope) for name in there]])
    for items in chain.from_iterable(found):
        scope = items[0].scope
        described = str(scope.folder / FILE_NAME)
        if scope.fault:
            if refused is None:
                raise CampaignError(scope.fault)
            faults = (_FAULT.findall(fault.removeprefix(described))[0] for fault in scope.fault.split("\n"))
            hint = "repair it, and ingest the folder again"
            rejects = tuple(Reject(int(line or 1), reason, hint) for line, reason in faults)
            refused.append(Refused(described, rejects, len(items)))
            continue
        if scope.campaign and (other := owners.setdefault(scope.name, scope.folder)) != scope.folder:
            both = f"{described} and {other / FILE_NAME} are both named {scope.name!r}"
            raise CampaignError(f"{both}; give every campaign its own name")
        yield items


class _Folder(NamedTuple):
    """A folder: its displayed path, its real path (different within an archive), and its nesting level."""

    path: str
    place: str
    levels: int = 0


class _Walker:
    """Walk below folders, which adds ignored files to `ignored` and extracts archives into `room`."""

    def __init__(self, ignored: list[Ignored], room: Callable[[], Path] | None) -> None:
        self._ignored, self._room = ignored, room

    def folder(self, root: Path, unpacked: _Folder | Reject | None = None) -> Iterator[list[Found]]:
        """Yield the files below `root`, a list per non-empty scope; `unpacked` is the result of unpacking `root`."""
        whole = Scope(root, slug(ARCHIVES.sub("", root.name) if unpacked else root.name))
        if isinstance(unpacked, Reject):
            yield [Found.at(f"{root}/{root.name}", whole, str(root), unpacked)]
            return
        scopes = [(whole, unpacked or _Folder(str(root), str(root)))]
        while scopes:
            scope, first = scopes.pop()
            found: list[Found] = []
            pending = [first]
            while pending:
                folder = pending.pop()
                try:
                    entries = sorted(os.scandir(folder.place), key=lambda entry: entry.name)
                except OSError as error:
                    reject = Reject(1, f"folder cannot be read: {error.strerror}", "check its permissions")
                    found.append(Found.at(folder.path, scope, reject=reject))
                    continue
                if not scope.campaign or folder != first:
                    named = any(entry.name == FILE_NAME for entry in entries)
                    here = _scope(Path(folder.path), Path(folder.place)) if named else scope
                    if named and folder != first:
                        scopes.append((here, folder))
                        continue
                    scope = here
                for entry in entries:
                    path = f"{folder.path}/{entry.name}"
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if rule := _rule(entry.name):
                        self._ignored.append(Ignored(path + "/" * is_folder, rule))
                        continue
                    if is_folder:
                        pending.append(_Folder(path, entry.path, folder.levels))
                        continue
                    item = Found.at(path, scope, entry.path)
                    if scope.campaign and scope.campaign.ignores(item.path):
                        self._ignored.append(Ignored(path, _BY_CAMPAIGN))
                    elif entry.is_symlink():
                        item.reject = _link_reject(Path(path), root)
                        if item.reject:
                            found.append(item)
                        else:
                            self._ignored.append(Ignored(path, _LINKED))
                    elif isinstance(inner := self.unpacked(path, entry.path, folder.levels + 1), _Folder):
                        pending.append(inner)
                    else:
                        item.reject = inner
                        with suppress(OSError):  # reading the file reports the error
                            status = entry.stat(follow_symlinks=False)
                            item.size, item.modified_us = status.st_size, status.st_mtime_ns // 1000
                        found.append(item)
            if found:
                yield found

    def unpacked(self, path: str, place: str, levels: int) -> _Folder | Reject | None:
        """Return the folder of an extracted archive, or a reject; None if the file is not an archive."""
        name = path.rpartition("/")[2]
        if not self._room or ARCHIVES.sub("", name) in {"", name}:
            return None
        if levels > archives.MOST_LEVELS:
            return Reject(1, f"an archive within {levels - 1} others", "unpack the outer ones, and ingest the folder")
        folder = mkdtemp(dir=self._room())
        try:
            left_out = archives.unpack(place, Path(folder), MAX_BYTES)
        except Rejected as error:
            reject = error.reject
        except OSError as error:
            hint = "check the file, its permissions, and the space on the disk"
            reject = Reject(1, f"cannot be unpacked: {error.strerror}", hint)
        else:
            if left_out is None:
                return None
            self._ignored += (Ignored(f"{path}/{member}", rule) for member, rule in left_out)
            return _Folder(path, folder, levels)
        shutil.rmtree(folder, ignore_errors=True)
        return reject


@lru_cache(maxsize=4096)  # the repetitions of a ramp have the same names
def _rule(name: str) -> str | None:
    """Return the rule that ignores a file or folder of this name, if any."""
    return next((rule for pattern, rule in _RULES if pattern.fullmatch(name)), None)


def _link_reject(link: Path, root: Path) -> Reject | None:
    """Return the reject of a link; None if its target is found under its own name."""
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return Reject(1, "a symbolic link that points nowhere", "remove it or put the file there")
    if not target.is_relative_to(root):
        return Reject(1, "a symbolic link that leaves the ingested folder", "copy the file, or ingest its folder")
    if any(_rule(part) for part in target.relative_to(root).parts):
        return Reject(1, "a symbolic link to a hidden or ignored file", "replace it with the file")
    return None


def _scope(folder: Path, place: Path) -> Scope:
    """Return the scope of a folder with a campaign.yaml."""
    try:
        campaign = Campaign.parse(read(place / FILE_NAME)[0], str(folder / FILE_NAME))
    except Unreadable as error:
        return Scope(folder, slug(folder.name), fault=f"{folder / FILE_NAME}: {error}")
    except CampaignError as error:
        return Scope(folder, slug(folder.name), fault=str(error))
    return Scope(folder, campaign.campaign, campaign)


def absent_machines(items: list[Found]) -> Iterator[str]:
    """Yield a warning for each missing folder that a campaign.yaml lists as a machine."""
    scope, folders = items[0].scope, {item.folder for item in items}
    for name in scope.campaign.machines if scope.campaign and scope.folder.is_dir() else ():
        if name not in folders and not (scope.folder / name).exists():
            yield f"{scope.folder / FILE_NAME}: machines: there is no folder {name!r} next to it"
