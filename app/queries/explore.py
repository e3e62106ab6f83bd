"""Queries of the page Runs: configurations by facet, and their capacities."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dropline.app import wording
from dropline.app.queries import ask
from dropline.app.warehouse import Warehouse

MOST_FOUND: Final = 200  # per page
MOST_BESIDE: Final = 5  # matches per kind: campaign, machine or run
FACETS: Final = wording.FACETS
# Facets whose column has another name; a configuration may have several months and tags.
_COLUMNS: Final = {"version": "product_version", "ha": "ha_mode", "tag": "tags", "month": "months", "unit": "rate_unit"}


class Found(NamedTuple):
    """Matching configurations: at most `MOST_FOUND` rows, the number of all matches, and counts by facet and value.

    `fastest` has one of each protocol and unit, the most frequent first; published ones only if none was measured.
    A facet counts the matches of the search and of the choices in all other facets, ignoring its own choices; values
    without matches count 0. Values are sorted by their overall frequency, then by name.
    """

    rows: pa.Table
    fastest: pa.Table
    matches: int
    counts: dict[str, dict[str, int]]


class _Facet(NamedTuple):
    """Values of a facet as text, and for each the position of its configuration."""

    values: pa.Array
    places: NDArray[np.int64]

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Self:
        values, places = column.combine_chunks(), np.arange(len(column))
        if pa.types.is_list(values.type):
            values, places = pc.list_flatten(values), pc.list_parent_indices(values).to_numpy()
        return cls(pc.fill_null(values.cast(pa.string()), wording.NOT_STATED), places)

    def lacking(self, wanted: Sequence[str], configurations: int) -> NDArray[np.int64]:
        """Return 0 for each configuration that has one of these values, 1 for the others."""
        lacking = np.ones(configurations, np.int64)
        lacking[self.places[pc.is_in(self.values, pa.array(wanted, pa.string())).to_numpy(zero_copy_only=False)]] = 0
        return lacking

    def counts(self, kept: NDArray[np.bool_] | None = None) -> Counter[str]:
        """Count the values of the `kept` configurations, by default of all."""
        values = self.values if kept is None else self.values.filter(kept[self.places])
        found = values.value_counts()
        return Counter(dict(zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True)))


class Configurations:
    """All configurations with their capacities at a loss goal, loaded by one query and searched in memory.

    Rows have the columns of a configuration, `loss_goal`, `loss_limit` and `loss_basis`, and from `capacity` the rate
    with its bounds, range and estimate, status, qualifier, quality and findings, all empty without such a capacity.
    Published figures without a stated limit appear at every goal, with an empty limit.
    """

    def __init__(self, warehouse: Warehouse, loss_goal: str | None) -> None:
        """Load the configurations; a `loss_goal` of None means the usual goal of each."""
        self._known = ask(warehouse, "explore_configurations", loss_goal=loss_goal).combine_chunks()
        self._facets = {facet: _Facet.of(self._known[_COLUMNS.get(facet, facet)]) for facet in FACETS}
        counts = {facet: each.counts() for facet, each in self._facets.items()}
        self.values = {facet: sorted(of, key=lambda value: (-of[value], value)) for facet, of in counts.items()}

    def search(self, search: str, chosen: Mapping[str, Sequence[str]]) -> Found:
        """Find the configurations whose texts contain all words, ignoring case, and that have the chosen values.

        If there are none, search the titles and descriptions of campaigns, too. Measured ones come first, then those
        with a figure, with the most frequent unit, the newest of each set-up, and the fastest.
        """
        for texts in ("searched", "described"):
            named = np.ones(len(self._known), bool)
            for word in search.lower().split():
                named &= _have(self._known[texts], word).to_numpy()
            if named.any():
                break
        unmet = {facet: self._facets[facet].lacking(each, len(named)) for facet, each in chosen.items() if each}
        misses = sum(unmet.values(), np.zeros(len(named), np.int64))
        counts = {facet: each.counts(named & (misses == unmet.get(facet, 0))) for facet, each in self._facets.items()}
        found = self._known.filter(named & (misses == 0))
        return Found(
            found.take(_places(found)).drop_columns(["months", "tags", "searched", "described"]),
            _fastest(found),
            len(found),
            {facet: {value: counts[facet][value] for value in values} for facet, values in self.values.items()},
        )


def _have(texts: pa.ChunkedArray, word: str) -> pa.ChunkedArray:
    """Return which texts contain a word; Arrow matches a pattern faster."""
    return pc.match_substring_regex(texts, re.escape(word))


def _places(found: pa.Table) -> NDArray[np.int64]:
    """Return the positions of the rows to show; `found` is in order except for the frequency of the units."""
    groups = list(zip(found["origin"].to_pylist(), found["rate_unit"].to_pylist(), strict=True))
    sizes, rates = Counter(groups), found["rate"].to_pylist()
    keys = [(group[0], rate is None, -sizes[group]) for group, rate in zip(groups, rates, strict=True)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__)[:MOST_FOUND], np.int64)


def _fastest(found: pa.Table) -> pa.Table:
    """Return the fastest of each protocol and unit, separately for throughputs, ignoring upper bounds."""
    found = found.filter(pc.is_valid(found["rate"])).filter(pc.field("status") != "exceeded_at_first_step")
    found = found.filter(pc.equal(found["origin"], pc.min(found["origin"]))).sort_by([("rate", "descending")])
    found = found.append_column("is_throughput", pc.equal(found["loss_goal"], "throughput"))
    groups = found.append_column("place", pa.array(np.arange(len(found)))).group_by(
        ["protocol", "rate_unit", "is_throughput"]
    )
    first = groups.aggregate([("place", "min"), ("place", "count")])
    return found.take(first.sort_by([("place_count", "descending"), ("place_min", "ascending")])["place_min"])


def beside(warehouse: Warehouse, search: str) -> list[dict[str, Any]]:
    """Return the campaigns, machines and runs whose names have all words: kind, id, label, configuration_id.

    A kind with more than `MOST_BESIDE` matches is left out.
    """
    # Matched here instead of in SQL: the query is the same for every search and thus cached.
    words = search.lower().split()
    found = ask(warehouse, "explore_texts", {"machines": "machines_hosts"}).slice(0, None if words else 0)
    for word in words:
        found = found.filter(_have(found["text"], word))
    alike = Counter(found["kind"].to_pylist())
    few = pa.array([kind for kind, count in alike.items() if count <= MOST_BESIDE], pa.string())
    named: list[dict[str, Any]] = found.drop_columns("text").filter(pc.is_in(found["kind"], few)).to_pylist()
    return named
