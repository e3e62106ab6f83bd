"""The questions of the page of the needed leases per second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

    from app.warehouse import Warehouse

MOST_RATIOS: Final = 60


def configurations(warehouse: Warehouse, needed_lps: float, protocol: str) -> pa.Table:
    """Return the capacities of a protocol beside the need, most head-room first; whoever has no figure comes last.

    Beside the columns of `capacity`: lps, headroom_ratio, missing_lps (0 where the need is met) and meeting_probability
    (0..1, null without repeated runs) as `configurations_meeting` gives them.
    """
    return warehouse.query(
        """
        select
            capacity.*,
            met.headroom_ratio,
            met.missing_lps,
            met.meeting_probability,
            met.lps
        from configurations_meeting($needed, also_missing := true) as met
        inner join capacity on met.configuration_id = capacity.configuration_id
        where capacity.rate_unit = 'leases/s'
            and capacity.loss_goal = 'isc'
            and coalesce(capacity.protocol, $protocol) = $protocol
        order by met.headroom_ratio desc nulls last, met.configuration_id
        """,
        {"needed": needed_lps, "protocol": protocol},
    )


def ha_ratios(warehouse: Warehouse, protocol: str) -> pa.Table:
    """Return what high availability leaves of the leases per second, measured ones with most runs first.

    At most 60 rows: ratio, ci_low, ci_high, runs_without_ha, runs_with_ha, verdict, product, product_version,
    backend, threading, threads, ha_mode, origin, campaign.
    """
    return warehouse.query(
        """
        select
            ratio, ci_low, ci_high, runs_without_ha, runs_with_ha, verdict, product, product_version, backend,
            threading, threads, ha_mode, origin, campaign
        from ha_speedup
        where protocol = $protocol and ratio is not null
        order by
            origin, least(runs_without_ha, runs_with_ha) desc nulls last, backend, ha_mode, threading, campaign
        limit $most
        """,
        {"protocol": protocol, "most": MOST_RATIOS},
    )
