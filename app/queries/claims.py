"""The questions of the page of claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def claims(warehouse: Warehouse) -> pa.Table:
    """Return the mart `claims`, in its own order."""
    return warehouse.query("select * from claims order by claim_id")


def figures(warehouse: Warehouse, claim_id: str) -> pa.Table:
    """Return the published figures that a claim is held against, each with the configuration it is a capacity of.

    Beside the columns of `published_figures`: `configuration_id`, null for what is no rate (a time, a ratio).
    """
    return warehouse.query(
        """
        with

        named as (

            select unnest(figure_ids) as figure_id from claims where claim_id = $claim_id

        ),

        figures as (

            select
                published_figures.*,
                concat_ws(
                    '; ', scenario_detail, 'layer ' || cast(osi_layer as varchar),
                    case when domain <> 'dhcp' then 'IPv' || cast(ip_version as varchar) end, transport
                ) as conditions
            from named
            inner join published_figures on named.figure_id = published_figures.figure_id

        ),

        published as (

            select * from configurations where origin = 'published'

        )

        select
            figures.* exclude (conditions),
            published.configuration_id
        from figures
        left join published
            on figures.source_id = published.campaign
            and figures.rate_unit = published.rate_unit
            -- the method of what is otherwise alike names its figure
            and published.method in (
                conditions, concat_ws('; ', nullif(conditions, ''), 'figure ' || figures.figure_id)
            )
            and figures.product is not distinct from published.product
            and figures.product_version is not distinct from published.product_version
            and figures.protocol is not distinct from published.protocol
            and figures.backend is not distinct from published.backend
            and figures.backend_version is not distinct from published.backend_version
            and figures.threading is not distinct from published.threading
            and figures.threads is not distinct from published.threads
            and figures.packet_queue_size is not distinct from published.packet_queue_size
            and figures.ha_mode is not distinct from published.ha_mode
            and figures.scenario is not distinct from published.scenario
            and figures.testbed is not distinct from published.testbed
            and figures.tool is not distinct from published.tool
            and figures.tool_version is not distinct from published.tool_version
        order by figures.figure_id
        """,
        {"claim_id": claim_id},
    )
