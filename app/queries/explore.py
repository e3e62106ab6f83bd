"""The questions of the page Explore: which configurations are there, of what kind, and what do they sustain?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dropline.app import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

# The months are those of the runs, or that in which the source was published.
_MATCHED: Final = """
        with

        figures as (

            select * from capacity
            where loss_goal = $loss_goal or (origin = 'published' and loss_goal = 'unstated')
            qualify row_number() over (partition by configuration_id order by loss_goal <> $loss_goal) = 1

        ),

        months as (

            select
                configuration_id,
                list(distinct strftime(started_at, '%Y-%m')) as months
            from runs
            where started_at is not null
            group by configuration_id

        ),

        described as (

            select
                configurations.*,
                coalesce(months.months, [strftime(campaigns.started_on, '%Y-%m')]) as months,
                if(len(campaigns.tags) > 0, list_distinct(campaigns.tags), [null]) as tags,
                figures.quality,
                len(list_filter(
                    cast($words as varchar[]),
                    lambda word: not contains(
                        lower(concat_ws(
                            ' ', configurations.configuration, configurations.campaign, campaigns.title,
                            campaigns.description, configurations.method, configurations.testbed,
                            replace(array_to_string(figures.findings, ' '), '_', ' ')
                        )),
                        word
                    )
                )) = 0 as is_found
            from configurations
            left join campaigns
                on configurations.campaign = campaigns.campaign and configurations.origin = campaigns.origin
            left join figures on configurations.configuration_id = figures.configuration_id
            left join months on configurations.configuration_id = months.configuration_id

        ),

        found as (

            select * from described where is_found

        ),

        facts as (

            select
                configuration_id,
                unnest([
                    'origin', 'campaign', 'product', 'version', 'protocol', 'backend', 'threading', 'threads', 'ha',
                    'scenario', 'testbed', 'tool', 'unit', 'quality'
                ]) as facet,
                coalesce(
                    unnest([
                        origin, campaign, product, product_version, protocol, backend, threading,
                        cast(threads as varchar), ha_mode, scenario, testbed, tool, rate_unit, quality
                    ]), $not_stated
                ) as value
            from described
            union all
            select configuration_id, 'month', coalesce(unnest(months), $not_stated) from described
            union all
            select configuration_id, 'tag', coalesce(unnest(tags), $not_stated) from described

        ),

        chosen as (

            select
                unnest(cast($facets as varchar[])) as facet,
                unnest(cast($facet_values as varchar[])) as value

        ),

        met as (

            select
                configuration_id,
                list(distinct facet) as facets
            from facts
            inner join chosen using (facet, value)
            group by configuration_id

        )
"""
MOST_FOUND: Final = 500  # that a page shows at once
FACETS: Final = (
    *("protocol", "product", "backend", "campaign", "version", "threading", "threads", "ha", "testbed", "scenario"),
    *("tool", "tag", "month", "origin", "unit", "quality"),
)


def facets(warehouse: Warehouse, loss_goal: str, search: str, chosen: Mapping[str, Sequence[str]]) -> pa.Table:
    """Count the configurations by every value of every facet: facet, value, configurations.

    A facet counts what the search and the choices in all other facets leave, as if nothing were chosen in itself;
    values of which nothing is left are there with 0. The most frequent of all come first, then by value.

    Args:
        warehouse: the warehouse.
        loss_goal: whose quality is counted.
        search: words; a configuration is found if its texts hold all of them, in whatever case.
        chosen: by facet (FACETS) the values of which a configuration needs one.
    """
    return warehouse.query(
        f"""{_MATCHED}
        select
            facts.facet,
            facts.value,
            count(*) filter (
                where is_found
                    and len(list_filter(
                        list_distinct(cast($facets as varchar[])),
                        lambda other: other <> facts.facet and not list_contains(coalesce(met.facets, []), other)
                    )) = 0
            ) as configurations
        from facts
        inner join described using (configuration_id)
        left join met using (configuration_id)
        group by facts.facet, facts.value
        order by facts.facet, count(*) desc, facts.value
        """,  # noqa: S608 -- the text is ours
        _parameters(loss_goal, search, chosen),
    )


def configurations(warehouse: Warehouse, loss_goal: str, search: str, chosen: Mapping[str, Sequence[str]]) -> pa.Table:
    """Return the configurations that meet the search and every facet, measured and fast ones first, at most 500.

    Beside what a configuration is: `matches` (how many there are in all), `loss_limit` and `loss_basis`, and of
    `capacity` the rate with its bounds, range and estimate, status, qualifier, quality and findings; empty where it has
    no figure at this goal. A published figure that names no limit is there at every goal, with an empty limit.
    """
    return warehouse.query(
        f"""{_MATCHED}
        select
            found.* exclude (months, tags, quality, is_found),
            figures.loss_goal,
            figures.loss_limit,
            figures.loss_basis,
            figures.rate,
            figures.rate_at_most,
            figures.interval_kind,
            figures.ci_low,
            figures.ci_high,
            figures.rate_interpolated,
            figures.status,
            figures.qualifier,
            figures.quality,
            figures.findings,
            count(*) over () as matches
        from found
        left join met using (configuration_id)
        left join figures using (configuration_id)
        where len(list_filter(
            list_distinct(cast($facets as varchar[])),
            lambda facet: not list_contains(coalesce(met.facets, []), facet)
        )) = 0
        order by
            found.origin,
            figures.rate is null,
            count(*) over (partition by found.origin, found.rate_unit) desc,
            found.rate_unit,
            figures.rate desc,
            found.configuration_id
        limit $most
        """,  # noqa: S608 -- the text is ours
        _parameters(loss_goal, search, chosen) | {"most": MOST_FOUND},
    )


def pairs(warehouse: Warehouse, configuration_id: str) -> pa.Table:
    """Return in which factors a configuration has a partner that differs in nothing else: factor, pairs."""
    return warehouse.query(
        """
        select 'threading' as factor, count(*) as pairs from multithreading_speedup
        where $id in (configuration_id_multi, configuration_id_single)
        union all
        select 'ha_mode', count(*) from ha_speedup
        where $id in (configuration_id_with_ha, configuration_id_without_ha)
        union all
        select 'backend', count(*) from backend_ratio
        where loss_goal in ('isc', 'unstated') and $id in (configuration_id_backend, configuration_id_reference)
        union all
        select 'ip_version', count(*) from ip_version_ratio
        where loss_goal = 'isc' and $id in (configuration_id_v6, configuration_id_v4)
        order by pairs desc, factor
        """,
        {"id": configuration_id},
    )


def _parameters(loss_goal: str, search: str, chosen: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    each = [(facet, value) for facet, values in chosen.items() for value in values]
    return {
        "loss_goal": loss_goal,
        "words": search.lower().split(),
        "facets": [facet for facet, _ in each],
        "facet_values": [value for _, value in each],
        "not_stated": words.NOT_STATED,
    }
