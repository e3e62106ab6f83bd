"""Which files there are, held in a few bytes each until their turn comes: a tree may have millions of them."""

from __future__ import annotations

import pickle
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

from dropline.ingest.files import Found

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dropline.ingest.files import Nature, Scope

MOST_FILES: Final = 2000
MOST_BYTES: Final = 64 * 1024 * 1024


class Packed(NamedTuple):
    """All of some files but their scope: one text of bytes, in which names that repeat take next to nothing.

    Objects would not only be larger: a process that shares them comes to own each that it looks at.
    """

    rows: bytes
    natures: tuple[Nature, ...]


class Listing(NamedTuple):
    """A part of the files of one scope, in their order.

    Attributes:
        first: how many files of the scope stand before them.
        files: how many they are; `size_bytes` is what they hold.

    """

    scope: Scope
    first: int
    files: int
    size_bytes: int
    packed: Packed

    def items(self) -> list[Found]:
        """Return the files as they were packed."""
        rows, natures = pickle.loads(zlib.decompress(self.packed.rows)), self.packed.natures  # noqa: S301 -- our own
        return [Found.again(self.scope, *row, natures[nature]) for *row, nature in rows]


def pack(items: Sequence[Found]) -> Packed:
    """Return what `Listing.items` unpacks."""
    natures: dict[Nature, int] = {}
    rows = [
        (
            each.folder,
            each.name,
            each.elsewhere,
            each.size,
            each.modified_us,
            natures.setdefault(each.nature, len(natures)),
        )
        for each in items
    ]
    return Packed(zlib.compress(pickle.dumps(rows), 1), tuple(natures))


def listings(items: Sequence[Found]) -> Iterator[Listing]:
    """Yield the files of one scope in parts: one ends with MOST_FILES, or when its files hold MOST_BYTES."""
    first = size_bytes = 0
    for end, item in enumerate(items, 1):
        size_bytes += item.size
        if end - first == MOST_FILES or size_bytes >= MOST_BYTES or end == len(items):
            yield Listing(item.scope, first, end - first, size_bytes, pack(items[first:end]))
            first, size_bytes = end, 0


def gathered(parts: Iterable[Listing]) -> Iterator[list[Listing]]:
    """Yield what one process does at a time: small parts together, as far as they keep to the limits of one."""
    task: list[Listing] = []
    files = size_bytes = 0
    for part in parts:
        if task and (files + part.files > MOST_FILES or size_bytes + part.size_bytes > MOST_BYTES):
            yield task
            task, files, size_bytes = [], 0, 0
        task.append(part)
        files += part.files
        size_bytes += part.size_bytes
    if task:
        yield task
