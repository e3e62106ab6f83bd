"""Groups of files in a campaign's folder, by names and kinds."""

from __future__ import annotations

import os.path
from bisect import bisect
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from dropline.ingest.files import Found, Kind, adopt, sidecar_paths
from dropline.ingest.names import Name, level_counts, names

if TYPE_CHECKING:
    from collections.abc import Sequence


class Neighbours:
    """The files of one scope. Making it adopts them: it fills in what only neighbours tell of a file.

    Attributes:
        items: all of them, in their order.
        machines: the files of each folder of machine facts.

    """

    def __init__(self, items: Sequence[Found]) -> None:
        adopt(items)
        self.items = items
        self.machines: dict[str, list[Found]] = defaultdict(list)
        sidecars = {item.path: item for item in items if item.kind is Kind.SIDECAR}
        self._sidecar_of: dict[Found, Found] = {}  # output, or a file that may be none -> sidecar
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
        # Stems that begin alike stand together.
        self._stems = {folder: sorted(outputs) for folder, outputs in self._outputs.items()}
        self._names = lru_cache(maxsize=16)(lambda folder: names(self._files[folder]))
        self._numbers: dict[str, set[str]] = defaultdict(set)  # folder -> what folders in it are called, if by numbers
        for folder in self._files:
            levels = folder.split("/")
            for at, level in enumerate(levels):
                if level.isdecimal():
                    self._numbers["/".join(levels[:at])].add(level)

    def sidecar_of(self, item: Found) -> Found | None:
        """Return the sidecar of an output, None when it has none."""
        return self._sidecar_of.get(item)

    def is_shared(self, sidecar: Found) -> bool:
        """Say whether a sidecar is that of several processes."""
        return len(self._served[sidecar]) > 1

    def name(self, item: Found) -> Name:
        """Return the name of an output among those in its folder."""
        return self._names(item.folder).get(item.name) or names([item.name])[item.name]

    def level(self, item: Found) -> int | None:
        """Return the place in the path of the folder that counts repetitions by a mere number; None for none."""
        levels = item.folder.split("/")
        for at in reversed(range(len(levels))):
            above = levels[at - 1] if at else ""
            if levels[at].isdecimal() and level_counts(levels[at], above, self._numbers["/".join(levels[:at])]):
                return at
        return None

    def beside(self, item: Found) -> Found | None:
        """Return the output that a file of counters lies beside: the one whose name begins most like its own.

        Where no two names begin alike, it is the output of the only process in the folder; of several, none.
        """
        stems = self._stems.get(item.folder, [])
        place = bisect(stems, item.stem)
        near = stems[max(place - 2, 0) : place + 2]
        alike = [len(os.path.commonprefix([stem, item.stem])) for stem in near]  # noqa: RUF071 -- of names, too
        if not near or alike.count(max(alike)) > 1:
            return None
        return self._outputs[item.folder][near[alike.index(max(alike))]]
