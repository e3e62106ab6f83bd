"""Queries of the page Runs: configurations by facet, and their capacities."""

from __future__ import annotations

import re
from collections import Counter
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from dropline.app import wording
from dropline.app.queries import ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dropline.app.warehouse import Warehouse

GIVEN: Final = {
    "figures": "explore_figures",
    "described": "explore_described",
    "facts": "explore_facts",
    "met": "explore_met",
}
MOST_FOUND: Final = 200  # per page
MOST_BESIDE: Final = 5  # campaigns, machines or runs
FACETS: Final = (
    *("protocol", "product", "backend", "campaign", "version", "threading", "threads", "ha", "testbed", "scenario"),
    *("tool", "tag", "month", "origin", "unit", "quality"),
)


def facets(warehouse: Warehouse, loss_goal: str | None, search: str, chosen: Mapping[str, Sequence[str]]) -> pa.Table:
    """Count the configurations by every value of every facet: facet, value, configurations.

    A facet counts the matches of the search and of the choices in all other facets, ignoring choices in itself; values
    without matches count 0. The most frequent values overall come first, then by value.

    Args:
        warehouse: the warehouse.
        loss_goal: the goal of the counted quality; None for each unit's usual goal.
        search: words; a configuration matches if its texts contain all of them, ignoring case.
        chosen: by facet (FACETS) the accepted values.
    """
    return ask(warehouse, "explore_facets", GIVEN, **_parameters(loss_goal, search, chosen))


def configurations(
    warehouse: Warehouse, loss_goal: str | None, search: str, chosen: Mapping[str, Sequence[str]]
) -> pa.Table:
    """Return the configurations that match the search and every facet, measured and fast ones first, at most 200.

    Besides the columns of a configuration: `matches` (the total), `loss_limit` and `loss_basis`, and from `capacity`
    the rate with its bounds, range and estimate, status, qualifier, quality and findings, empty without a figure at
    this goal. Published figures without a stated limit appear at every goal, with an empty limit.
    """
    return ask(warehouse, "explore_configurations", GIVEN, **_parameters(loss_goal, search, chosen), most=MOST_FOUND)


def beside(warehouse: Warehouse, search: str) -> list[dict[str, Any]]:
    """Return the campaigns, machines and runs that all words of a search name: kind, id, label, configuration_id.

    A kind with more than `MOST_BESIDE` matches is left out.
    """
    # Matched here, as the texts are the same for every search and thus cached; as patterns, which Arrow matches faster.
    texts = ask(warehouse, "explore_texts", {"machines": "machines_hosts"})
    words = [pc.match_substring_regex(texts["text"], re.escape(word)) for word in search.lower().split()]
    found = texts.drop_columns("text").filter(reduce(pc.and_, words)) if words else texts.slice(0, 0)
    alike = Counter(found["kind"].to_pylist())
    few = pa.array([kind for kind, count in alike.items() if count <= MOST_BESIDE], pa.string())
    named: list[dict[str, Any]] = found.filter(pc.is_in(found["kind"], few)).to_pylist()
    return named


def _parameters(loss_goal: str | None, search: str, chosen: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    each = [(facet, value) for facet, values in chosen.items() for value in values]
    return {
        "loss_goal": loss_goal,
        "words": search.lower().split(),
        "facets": [facet for facet, _ in each],
        "facet_values": [value for _, value in each],
        "not_stated": wording.NOT_STATED,
    }
