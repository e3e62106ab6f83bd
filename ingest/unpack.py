"""Export of the lake's raw files to disk: one folder per campaign, with safe names."""

import csv
import hashlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final

from dropline.ingest.lake import Key, Lake
from dropline.progress import Progress, unseen

FOLDER: Final = "raw"
INDEX: Final = "raw-files.csv"

_COLUMNS: Final = ("campaign", "source_path", "sha256", "format", "status", "file")
_LONGEST_BYTES: Final = 255  # of a name, on common file systems
_KEPT_CHARACTERS: Final = 40  # of a longer name
# Separators, drives, streams and wildcards of some file systems, and our own escape character.
_STRANGE: Final = frozenset('/\\:*?"<>|%')


def unpack(lake: Lake, folder: Path, *, progress: Progress = unseen) -> int:
    """Write the current version of every stored raw file to `folder`/raw/<campaign>/<source_path>; return their number.

    INDEX in `folder` lists their paths, empty for files whose bytes could not be read.
    """
    with lake.reading():
        places = lake.places()
        targets = file_names(key for key, place in places.items() if place.sha256)
        ordered = sorted(targets, key=lambda key: places[key][:5])
        contents = lru_cache(maxsize=1)(lake.contents)
        for done, key in enumerate(ordered):
            progress(done, len(ordered))
            place, file = places[key], folder / FOLDER / targets[key]
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("xb") as opened:  # fails if the file system considers two names equal
                opened.write(contents(place.file, place.row_group)[place.row].as_buffer())
            if place.modified_us:
                os.utime(file, ns=(place.modified_us * 1000,) * 2)
    with (folder / INDEX).open("w", encoding="utf-8", newline="") as index:
        rows = csv.writer(index)
        rows.writerow(_COLUMNS)
        for key, place in sorted(places.items()):
            named = f"{FOLDER}/{targets[key]}" if key in targets else ""
            rows.writerow([*key, place.sha256, place.format, place.status, named])
    return len(ordered)


def file_names(keys: Iterable[Key]) -> dict[Key, str]:
    """Return a safe relative path for each campaign and source_path; no path is a folder of another."""
    paths = {key: "/".join(map(_harmless, (key[0], *key[1].split("/")))) for key in keys}
    folders = {str(folder) for path in paths.values() for folder in PurePosixPath(path).parents}
    return {key: f"{path}%" if path in folders else path for key, path in paths.items()}


def _harmless(name: str) -> str:
    """Return one name of a path with unsafe characters as %XX, as in a URL; a lone `%` is an empty name."""
    escaped = "".join(_escaped(char) if char in _STRANGE or not char.isprintable() else char for char in name)
    if escaped.endswith((".", " ")):  # also `.` and `..`
        escaped = escaped[:-1] + _escaped(escaped[-1])
    if len(escaped.encode()) > _LONGEST_BYTES:
        escaped = f"{escaped[:_KEPT_CHARACTERS]}%%{hashlib.sha256(name.encode()).hexdigest()}"
    return escaped or "%"


def _escaped(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode())
