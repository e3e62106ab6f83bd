"""Groups of files in a campaign's folder, by names and kinds."""

from __future__ import annotations

import os.path
from bisect import bisect
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from dropline.ingest.files import Found, Kind, sidecar_paths
from dropline.ingest.names import Name, level_counts, names

if TYPE_CHECKING:
    from collections.abc import Sequence


class Neighbours:
    """The files of one scope, after `adopt`.

    Attributes:
        machines: the files of each folder of machine facts.

    """

    def __init__(self, items: Sequence[Found]) -> None:
        self.machines: dict[str, list[Found]] = defaultdict(list)
        sidecars = {item.path: item for item in items if item.kind is Kind.SIDECAR}
        self._sidecar_of: dict[Found, Found] = {}  # output, or a file that may not be one -> sidecar
        self._served: dict[Found, set[str]] = defaultdict(set)  # sidecar -> stems of its outputs
        self._outputs: dict[str, dict[str, Found]] = defaultdict(dict)  # folder -> stem -> output
        self._files: dict[str, list[str]] = defaultdict(list)  # folder -> names of the outputs
        for item in items:
            if item.kind is Kind.MACHINE:
                self.machines[item.folder].append(item)
            elif item.kind in {Kind.OUTPUT, Kind.UNKNOWN}:
                there = (sidecars.get(path) for path in sidecar_paths(item))
                if sidecar := next(filter(None, there), None):
                    self._sidecar_of[item] = sidecar
                if item.kind is Kind.OUTPUT:
                    self._files[item.folder].append(item.name)
                    self._outputs[item.folder].setdefault(item.stem, item)
                    if sidecar:
                        self._served[sidecar].add(item.stem)
        # Sorted so that stems with a common prefix are adjacent.
        self._stems = {folder: sorted(outputs) for folder, outputs in self._outputs.items()}
        self._names = lru_cache(maxsize=16)(lambda folder: names(self._files[folder]))
        self._numbers: dict[str, set[str]] = defaultdict(set)  # folder -> numeric names of its subfolders
        for folder in self._files:
            levels = folder.split("/")
            for at, level in enumerate(levels):
                if level.isdecimal():
                    self._numbers["/".join(levels[:at])].add(level)

    def sidecar_of(self, item: Found) -> Found | None:
        """Return the sidecar of an output, or None."""
        return self._sidecar_of.get(item)

    def is_shared(self, sidecar: Found) -> bool:
        """Return whether several processes share a sidecar."""
        return len(self._served[sidecar]) > 1

    def name(self, item: Found) -> Name:
        """Return the parsed name of an output, compared with the others in its folder."""
        return self._names(item.folder).get(item.name) or names([item.name])[item.name]

    def level(self, item: Found) -> int | None:
        """Return the index in the path of the folder whose bare number counts repetitions, or None."""
        levels = item.folder.split("/")
        for at in reversed(range(len(levels))):
            above = levels[at - 1] if at else ""
            if levels[at].isdecimal() and level_counts(levels[at], above, self._numbers["/".join(levels[:at])]):
                return at
        return None

    def beside(self, item: Found) -> Found | None:
        """Return the output that a file of counters belongs to: the one with the longest common name prefix.

        If no names share a prefix, it is the output of the only process in the folder; None if there are several.
        """
        stems = self._stems.get(item.folder, [])
        place = bisect(stems, item.stem)
        near = stems[max(place - 2, 0) : place + 2]
        alike = [len(os.path.commonprefix([stem, item.stem])) for stem in near]  # noqa: RUF071 -- any text, not a path
        if not near or alike.count(max(alike)) > 1:
            return None
        return self._outputs[item.folder][near[alike.index(max(alike))]]
