"""Column-wise rows of long reports."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Self, overload

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Records(Sequence[dict[str, Any]]):
    """Rows of one table stored by column; as a sequence they are dicts, created on access.

    Attributes:
        values: the columns by name, all of the same length.

    """

    __slots__ = ("_rows", "values")

    def __init__(self, values: Mapping[str, Sequence[Any]] | None = None) -> None:
        self.values: Mapping[str, Sequence[Any]] = values or {}
        self._rows = len(next(iter(self.values.values()), ()))

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Self:
        """Convert rows to columns; missing values are None."""
        rows = list(rows)
        names = dict.fromkeys(chain.from_iterable(rows))
        return cls({name: [row.get(name) for row in rows] for name in names})

    @classmethod
    def named(cls, names: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> Self:
        """Convert tuples to columns; their values are in the order of `names`."""
        return cls(dict(zip(names, zip(*rows, strict=True), strict=False)))

    def column(self, name: str) -> Sequence[Any]:
        """Return one column, empty if there are no rows."""
        return self.values.get(name, [])

    def __len__(self) -> int:
        return self._rows

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        place = range(len(self))[index]
        if isinstance(place, range):
            return [self[number] for number in place]
        return {name: column[place] for name, column in self.values.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]
