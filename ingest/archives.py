"""Archives read as folders: the plain files of a tar or zip file, extracted into a temporary folder within limits.

Every file gets the archive's own modification time, on which change detection relies: a repacked archive may keep the
times of its members.
"""

from __future__ import annotations

import errno
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any, Final, NamedTuple, cast

from dropline.ingest.formats import Rejected
from dropline.ingest.formats.text import decompressed, is_packed

MOST_LEVELS: Final = 3  # an archive in an archive in an archive
MOST_MEMBERS: Final = 20_000
MOST_BYTES: Final = 1024 * 1024 * 1024
MOST_RATIO: Final = 200  # unpacked to packed size; text output of generators reaches 50
_RATIO_FROM: Final = 16 * 1024 * 1024
_LONGEST_READ: Final = 1024 * 1024
_DIRECTORY_BYTES: Final = 200 * MOST_MEMBERS  # the zip central directory
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_BLOCK: Final = 512
_DAMAGES: Final = (
    *(EOFError, OSError, ValueError, OverflowError, struct.error),
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})

ELSEWHERE: Final = "an archive member whose path leads out of the archive"
NO_FILE: Final = "a link or device in an archive"
TWICE: Final = "an archive member that a later one with the same name replaces"
NO_NAME: Final = "an archive member with a name that no file can have here"

_UNPACK: Final = "unpack it yourself, and ingest the folder"
_DAMAGED: Final = "copy it again from its source, or unpack what can be saved and ingest that"
_SPLIT: Final = "unpack it yourself and ingest the folder, or make several archives of it"


class Member(NamedTuple):
    """One member of an archive: its path and size, a function that opens it, and why it is skipped, if it is."""

    path: str
    size: int
    held: Any = None
    rule: str | None = None


def is_tar(data: bytes) -> bool:
    """Return whether the bytes begin with a tar header with a correct checksum."""
    if len(data) < _BLOCK or b"\0" not in data[:_BLOCK]:
        return False
    try:
        tarfile.TarInfo.frombuf(data[:_BLOCK], "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return False
    return True


def unpack(file: str, folder: Path, max_bytes: int) -> list[tuple[str, str]] | None:
    """Extract an archive into the empty `folder`; return the path and the rule of every member left out.

    None if the file is not an archive, whatever its name. A member larger than `max_bytes` gets its size but no
    contents. Raise Rejected if the archive is damaged or exceeds the limits.
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
            elif is_packed(head) or is_tar(head):
                bounded = _Bounded(decompressed(raw, head), status.st_size)
                if not is_tar(bounded.read(_LONGEST_READ)):  # reads a whole block, as bzip2 has the checksum at its end
                    return None
                bounded.seek(0)
                members = _of_tar(bounded)
            else:
                return None
            return _write(members, folder, max_bytes, status)
        except NotImplementedError as error:
            raise Rejected(f"an archive packed in an unsupported way: {error}", _UNPACK) from None
        except RuntimeError as error:  # zipfile needs a password
            raise Rejected(f"an archive that cannot be read: {error}", _UNPACK) from None
        except _DAMAGES as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise Rejected(f"a damaged or truncated archive: {error}", _DAMAGED) from None


def _write(members: Iterator[Member], folder: Path, max_bytes: int, status: os.stat_result) -> list[tuple[str, str]]:
    left_out: list[tuple[str, str]] = []
    size = 0
    for count, member in enumerate(members, 1):
        size += member.size
        if count > MOST_MEMBERS:
            raise Rejected(f"an archive of more than {MOST_MEMBERS} members", _SPLIT)
        _require_size(size, status.st_size)
        parts = [part for part in member.path.split("/") if part not in {"", "."}]
        outside = ELSEWHERE if member.path.startswith("/") or ".." in parts else None
        if rule := member.rule or outside or (None if parts and "\0" not in member.path else NO_NAME):
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
                opened.truncate(member.size)  # so that the reader rejects it by its size
            else:
                copyfileobj(member.held(), opened, _LONGEST_READ)  # raises an error if a member is too short
        os.utime(place, ns=(status.st_mtime_ns, status.st_mtime_ns))
    return left_out


def _require_size(size: int, packed: int) -> None:
    if size > MOST_BYTES:
        raise Rejected(f"an archive of more than {MOST_BYTES // 1024**2} MiB unpacked", _SPLIT)
    if size > _RATIO_FROM and size > MOST_RATIO * packed:
        raise Rejected(f"an archive that unpacks to more than {MOST_RATIO} times its size", _SPLIT)


def _of_zip(raw: IO[bytes]) -> Iterator[Member]:
    # zipfile reads the whole central directory into memory
    raw.seek(max(0, raw.seek(0, io.SEEK_END) - (1 << 16) - 22))
    tail = raw.read()
    end = tail.rfind(b"PK\x05\x06")
    if 0 <= end <= len(tail) - 16 and struct.unpack_from("<L", tail, end + 12)[0] > _DIRECTORY_BYTES:
        raise Rejected(f"an archive of more than {MOST_MEMBERS} members", _SPLIT)
    raw.seek(0)
    with zipfile.ZipFile(raw) as archive:
        for info in (info for info in archive.infolist() if not info.is_dir()):
            rule = NO_FILE if stat.S_IFMT(info.external_attr >> 16) not in {0, stat.S_IFREG} else None
            yield Member(info.filename, info.file_size, lambda info=info: archive.open(info), rule)


def _of_tar(raw: _Bounded) -> Iterator[Member]:
    with tarfile.open(fileobj=cast("IO[bytes]", raw), mode="r:") as archive:  # _Bounded has all that it needs
        while info := archive.next():
            archive.members.clear()  # type: ignore[attr-defined] # else tarfile keeps all of them
            if info.isreg():
                yield Member(info.name, info.size, lambda info=info: archive.extractfile(info))
            elif not info.isdir():
                yield Member(info.name, 0, None, NO_FILE)
    while raw.read(_LONGEST_READ):  # up to the checksum at the end
        pass


class _Bounded:
    """A stream that limits the total size and the size of each read, as headers may claim anything."""

    def __init__(self, raw: Any, packed: int) -> None:
        self._raw, self._packed = raw, packed

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _LONGEST_READ:
            raise EOFError("a header of more than 1 MiB")
        data: bytes = self._raw.read(size)
        _require_size(self._raw.tell() // 2, self._packed)  # headers of small members are as long as the members
        return data

    def seek(self, offset: int) -> Any:
        _require_size(offset // 2, self._packed)
        return self._raw.seek(offset)

    def tell(self) -> Any:
        return self._raw.tell()
