-- The published figures that a claim is checked against; without a configuration if they are no rates.
with

named as (

    select unnest(figure_ids) as figure_id from claims
    where claim_id = $claim_id

),

figures as (

    select
        published_figures.*,
        concat_ws(
            '; ',
            published_figures.scenario_detail,
            'layer ' || cast(published_figures.osi_layer as varchar),
            case
                when published_figures.domain <> 'dhcp' then 'IPv' || cast(published_figures.ip_version as varchar)
            end,
            published_figures.transport
        ) as conditions
    from named
    inner join published_figures on named.figure_id = published_figures.figure_id

),

published as (

    select * from configurations
    where origin = 'published'

)

select
    figures.* exclude (figures.conditions),
    published.configuration_id
from figures
left join published
    on figures.source_id = published.campaign
        and figures.rate_unit = published.rate_unit
        -- the method of what is otherwise alike names its figure
        and published.method in (
            figures.conditions, concat_ws('; ', nullif(figures.conditions, ''), 'figure ' || figures.figure_id)
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
