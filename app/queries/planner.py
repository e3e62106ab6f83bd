"""Queries of the page Plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dropline.app.queries.files import text

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

MOST_RATIOS: Final = 60


def configurations(warehouse: Warehouse, needed_lps: float, protocol: str) -> pa.Table:
    """Return the capacities of a protocol against the need, most headroom first, those without a figure last.

    Besides the columns of `capacity`: lps, headroom_ratio, missing_lps (0 if the need is met) and meeting_probability
    (0..1, null without repeated runs) from `configurations_meeting`.
    """
    return warehouse.query(text("planner_configurations"), {"needed": needed_lps, "protocol": protocol})


def ha_ratios(warehouse: Warehouse, protocol: str) -> pa.Table:
    """Return the share of leases per second left with high availability, measured ones with most runs first.

    At most 60 rows: ratio, ci_low, ci_high, runs_without_ha, runs_with_ha, verdict, product, product_version,
    backend, threading, threads, ha_mode, origin, campaign.
    """
    return warehouse.query(text("planner_ha_ratios"), {"protocol": protocol, "most": MOST_RATIOS})


def goodputs(warehouse: Warehouse, protocol: str) -> pa.Table:
    """Return the answers of set-ups under overload, fastest first.

    Columns: configuration_id, configuration, campaign, lps, and goodput: a list of asked_ratio and answered_ratio, both
    over the capacity at the goal `isc`, median over the runs, for the first step beyond it, the second, ...
    """
    return warehouse.query(text("planner_goodputs"), {"protocol": protocol})


def renewal_costs(warehouse: Warehouse, protocol: str) -> pa.Table:
    """Return the cost of a renewal relative to a new lease, from pairs of ramps that differ only in renewals.

    A server that grants C new leases per second, or c with f renewals per second (perfdhcp -f), spends (C - c) / f of a
    new lease on each renewal. Columns: ratio, lps_without, lps_with, renewals_per_s, product, product_version, backend,
    threading, threads, ha_mode, campaign; most renewals first, at most 60 rows.
    """
    return warehouse.query(text("planner_renewal_costs"), {"protocol": protocol, "most": MOST_RATIOS})
