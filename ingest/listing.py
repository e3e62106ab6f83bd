"""Listings: the files of a call, split into parts for worker processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dropline.ingest.files import Found, Scope

MOST_FILES: Final = 2000
MOST_BYTES: Final = 64 * 1024 * 1024


class Listing(NamedTuple):
    """Consecutive files of one scope, and their total size."""

    scope: Scope
    items: Sequence[Found]
    size_bytes: int


def listings(items: Sequence[Found]) -> Iterator[Listing]:
    """Yield the files of one scope in parts of at most MOST_FILES files or about MOST_BYTES."""
    first = size_bytes = 0
    for end, item in enumerate(items, 1):
        size_bytes += item.size
        if end - first == MOST_FILES or size_bytes >= MOST_BYTES or end == len(items):
            yield Listing(item.scope, items[first:end], size_bytes)
            first, size_bytes = end, 0


def gathered(parts: Iterable[Listing]) -> Iterator[list[Listing]]:
    """Yield the parts for one task: small parts together, up to the limits of one."""
    task: list[Listing] = []
    files = size_bytes = 0
    for part in parts:
        if task and (files + len(part.items) > MOST_FILES or size_bytes + part.size_bytes > MOST_BYTES):
            yield task
            task, files, size_bytes = [], 0, 0
        task.append(part)
        files += len(part.items)
        size_bytes += part.size_bytes
    if task:
        yield task
