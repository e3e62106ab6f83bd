"""Queries of the page Runs: configurations by facet, and their capacities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dropline.app import wording
from dropline.app.queries import USUAL_GOALS
from dropline.app.queries.files import text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

_GIVEN: Final = {
    "figures": "explore_figures",
    "described": "explore_described",
    "facts": "explore_facts",
    "met": "explore_met",
}
MOST_FOUND: Final = 500  # that a page shows at once
MOST_BESIDE: Final = 5  # of each other kind
FACETS: Final = (
    *("protocol", "product", "backend", "campaign", "version", "threading", "threads", "ha", "testbed", "scenario"),
    *("tool", "tag", "month", "origin", "unit", "quality"),
)


def facets(warehouse: Warehouse, loss_goal: str | None, search: str, chosen: Mapping[str, Sequence[str]]) -> pa.Table:
    """Count the configurations by every value of every facet: facet, value, configurations.

    A facet counts what the search and the choices in all other facets leave, ignoring the choices in itself;
    values without matches are there with 0. Sorted by total frequency, then by value.

    Args:
        warehouse: the warehouse.
        loss_goal: whose quality is counted; the usual one of each unit, unless it is given.
        search: words; a configuration is found if its texts hold all of them, in whatever case.
        chosen: by facet (FACETS), the accepted values.
    """
    return warehouse.query(
        text("explore_facets", **_GIVEN),
        _parameters(loss_goal, search, chosen),
    )


def configurations(
    warehouse: Warehouse, loss_goal: str | None, search: str, chosen: Mapping[str, Sequence[str]]
) -> pa.Table:
    """Return the configurations that meet the search and every facet, measured and fast ones first, at most 500.

    Beside what a configuration is: `matches` (how many there are in all), `loss_limit` and `loss_basis`, and of
    `capacity` the rate with its bounds, range and estimate, status, qualifier, quality and findings; empty where it has
    no figure at this goal. A published figure that names no limit is there at every goal, with an empty limit.
    """
    return warehouse.query(
        text("explore_configurations", **_GIVEN),
        _parameters(loss_goal, search, chosen) | {"most": MOST_FOUND},
    )


def beside(warehouse: Warehouse, search: str) -> list[dict[str, Any]]:
    """Return the campaigns, machines and runs that hold all words: kind, id, label, configuration_id (of a run)."""
    found = warehouse.query(
        text("explore_beside", machines="machines_hosts"), {"words": search.lower().split(), "most": MOST_BESIDE}
    )
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


def pairs(warehouse: Warehouse, configuration_id: str) -> pa.Table:
    """Return in which factors a configuration has a partner that differs in nothing else: factor, pairs."""
    return warehouse.query(
        text("explore_pairs"),
        {"id": configuration_id},
    )


def _parameters(loss_goal: str | None, search: str, chosen: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    each = [(facet, value) for facet, values in chosen.items() for value in values]
    return {
        **USUAL_GOALS,
        "loss_goal": loss_goal,
        "words": search.lower().split(),
        "facets": [facet for facet, _ in each],
        "facet_values": [value for _, value in each],
        "not_stated": wording.NOT_STATED,
    }
