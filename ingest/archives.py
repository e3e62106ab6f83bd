"""Archives as folders: the members of a tar or zip file, written within limits into a folder of our own.

Only plain files come out; no link, device or path that leads elsewhere does. Every file gets the time of the archive,
by which the next ingest sees whether it may have changed: of the members' own times a repacked archive may keep all.
"""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_LEVELS: Final = 3  # an archive in an archive in an archive
MOST_MEMBERS: Final = 20_000
MOST_BYTES: Final = 1024 * 1024 * 1024
MOST_RATIO: Final = 200  # of what comes out to the archive; texts of generators come to 50
_RATIO_FROM: Final = 16 * 1024 * 1024
_LONGEST_READ: Final = 1024 * 1024
_DIRECTORY_BYTES: Final = 200 * MOST_MEMBERS  # the list of members at the end of a zip file
_NAMED: Final = re.compile(r".+\.(?:tar|tar\.gz|tgz|zip)", re.IGNORECASE | re.DOTALL)
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_BLOCK: Final = 512
_DAMAGES: Final = (
    *(EOFError, OSError, ValueError, OverflowError, struct.error),
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})

ELSEWHERE: Final = "a member of an archive whose path leads out of it"
NO_FILE: Final = "a link or device in an archive"
TWICE: Final = "a member of an archive that a later one of the same name replaces"
NO_NAME: Final = "a member of an archive whose name no file can have here"

_UNPACK: Final = "unpack it yourself, and ingest the folder"
_DAMAGED: Final = "copy it again from where it was made, or unpack what can be saved and ingest that"
_SPLIT: Final = "unpack it yourself and ingest the folder, or make several archives of it"


class ArchiveError(Exception):
    """An archive of which nothing is taken: why, and what to do about it."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.hint = hint


class Member(NamedTuple):
    """One member of an archive: its path, how large it is, what `held` reads, and why it is none to be taken."""

    path: str
    size: int
    held: Any = None
    rule: str | None = None


def is_named(name: str) -> bool:
    """Say whether a file is called as a tar or zip archive is."""
    return _NAMED.fullmatch(name) is not None


def is_tar(data: bytes) -> bool:
    """Say whether bytes begin as a tar archive does: with the header of a member, whose checksum is right."""
    if len(data) < _BLOCK or b"\0" not in data[:_BLOCK]:
        return False
    try:
        tarfile.TarInfo.frombuf(data[:_BLOCK], "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return False
    return True


def unpack(file: str, folder: Path, max_bytes: int) -> list[tuple[str, str]] | None:
    """Write the members of an archive into the empty `folder`; return the paths of those left out, each with the rule.

    None is returned for a file that is no archive, whatever its name. A member of more than `max_bytes` gets its size,
    but no contents. Raises ArchiveError for an archive that is damaged or larger than the limits.
    """
    opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(opened, "rb") as raw:  # noqa: PTH123 -- a descriptor
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            return None
        head = raw.read(_BLOCK)
        raw.seek(0)
        try:
            if head.startswith(_ZIP):
                members = _of_zip(raw)
            elif head.startswith(_GZIP) or is_tar(head):
                bounded = _Bounded(gzip.GzipFile(fileobj=raw) if head.startswith(_GZIP) else raw, status.st_size)
                if not is_tar(bounded.read(_BLOCK)):
                    return None
                bounded.seek(0)
                members = _of_tar(bounded)
            else:
                return None
            return _write(members, folder, max_bytes, status)
        except NotImplementedError as error:
            reason = f"an archive packed in a way that is not known here: {error}"
            raise ArchiveError(reason, _UNPACK) from None
        except RuntimeError as error:  # zipfile's word for a password
            reason = f"an archive that cannot be read: {error}"
            raise ArchiveError(reason, _UNPACK) from None
        except _DAMAGES as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            reason = f"a damaged or cut archive: {error}"
            raise ArchiveError(reason, _DAMAGED) from None


def _write(members: Iterator[Member], folder: Path, max_bytes: int, status: os.stat_result) -> list[tuple[str, str]]:
    left_out: list[tuple[str, str]] = []
    count = size = 0
    for member in members:
        count += 1
        size += member.size
        if count > MOST_MEMBERS:
            reason = f"an archive of more than {MOST_MEMBERS} members"
            raise ArchiveError(reason, _SPLIT)
        _require_size(size, status.st_size)
        parts = [part for part in member.path.split("/") if part not in {"", "."}]
        if rule := member.rule or _fault(member.path, parts):
            left_out.append((member.path, rule))
            continue
        place = folder.joinpath(*parts)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists() and not place.is_dir():
                left_out.append((member.path, TWICE))
            opened = place.open("wb")
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                raise
            left_out.append((member.path, NO_NAME))
            continue
        with opened:
            if member.size > max_bytes:
                opened.truncate(member.size)  # whoever reads it sees that it is too large
            else:
                _copy(member.held(), opened, member.size)
        os.utime(place, ns=(status.st_mtime_ns, status.st_mtime_ns))
    return left_out


def _fault(path: str, parts: list[str]) -> str | None:
    if path.startswith("/") or ".." in parts:
        return ELSEWHERE
    return None if parts and "\0" not in path else NO_NAME


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    left = size
    while left and (data := source.read(min(left, _LONGEST_READ))):
        target.write(data)
        left -= len(data)
    if left or source.read(1):
        message = "a member is not as long as its header says"
        raise EOFError(message)


def _require_size(size: int, packed: int) -> None:
    if size > MOST_BYTES:
        reason = f"an archive of more than {MOST_BYTES // 1024**2} MiB unpacked"
        raise ArchiveError(reason, _SPLIT)
    if size > _RATIO_FROM and size > MOST_RATIO * packed:
        reason = f"an archive that unpacks to more than {MOST_RATIO} times its size"
        raise ArchiveError(reason, _SPLIT)


def _of_zip(raw: IO[bytes]) -> Iterator[Member]:
    _require_short_directory(raw)
    with zipfile.ZipFile(raw) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            mode = info.external_attr >> 16
            rule = NO_FILE if stat.S_IFMT(mode) not in {0, stat.S_IFREG} else None
            yield Member(info.filename, info.file_size, lambda info=info: archive.open(info), rule)


def _require_short_directory(raw: IO[bytes]) -> None:
    """Refuse a zip file whose list of members would fill the memory: all of it is read at once."""
    raw.seek(max(0, raw.seek(0, io.SEEK_END) - (1 << 16) - 22))
    tail = raw.read()
    if (end := tail.rfind(b"PK\x05\x06")) >= 0 and len(tail) >= end + 16:
        (size,) = struct.unpack_from("<L", tail, end + 12)
        if size > _DIRECTORY_BYTES:
            reason = f"an archive of more than {MOST_MEMBERS} members"
            raise ArchiveError(reason, _SPLIT)
    raw.seek(0)


def _of_tar(raw: _Bounded) -> Iterator[Member]:
    with tarfile.open(fileobj=raw, mode="r:") as archive:
        while info := archive.next():
            archive.members.clear()  # type: ignore[attr-defined] # it keeps them all
            if info.isdir():
                continue
            if not info.isreg():
                yield Member(info.name, 0, None, NO_FILE)
                continue
            yield Member(info.name, info.size, lambda info=info: archive.extractfile(info))
    while raw.read(_LONGEST_READ):  # to the checksum at the end of gzip
        pass


class _Bounded(io.RawIOBase):
    """A stream that gives no more than an archive may hold, and never much at once: headers may claim anything."""

    def __init__(self, raw: Any, packed: int) -> None:
        self._raw, self._packed = raw, packed

    def read(self, size: int = -1, /) -> bytes:
        if not 0 <= size <= _LONGEST_READ:
            message = "a header of more than 1 MiB"
            raise EOFError(message)
        data: bytes = self._raw.read(size)
        _require_size(self._raw.tell() // 2, self._packed)  # the headers of small members are as long as these
        return data

    def seek(self, offset: int, whence: int = 0, /) -> int:
        _require_size(offset // 2, self._packed)
        place: int = self._raw.seek(offset, whence)
        return place

    def tell(self) -> int:
        place: int = self._raw.tell()
        return place

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True
