"""The figures of who built the warehouse, without the published ones that stand beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

# DHCP at the loss that ISC allows, DNS at that which operators ask for.
_FIGURES: Final = """
    select
        campaign,
        configuration,
        runs,
        case when rate is not null then format('{:,.0f} ', rate) || rate_unit end as "at least",
        case
            when ci_low is not null and ci_high is not null
                then format('{:,.0f} to {:,.0f} ({})', ci_low, ci_high, interval_kind)
            when ci_low is not null then format('above {:,.0f}', ci_low)
            when ci_high is not null then format('below {:,.0f}', ci_high)
        end as "rate at the limit",
        status,
        quality
    from capacity
    where
        origin = 'measured'
        and loss_goal = if(rate_unit = 'leases/s', 'isc', 'permille')
    order by all
"""


def own_figures(warehouse: Warehouse) -> pa.Table:
    """Return a row for each measured configuration: its capacity, and between what the rate at its loss limit lies."""
    return warehouse.query(_FIGURES)
