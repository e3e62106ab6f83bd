with

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
    select
        configuration_id,
        'month' as facet,
        coalesce(unnest(months), $not_stated) as value
    from described
    union all
    select
        configuration_id,
        'tag' as facet,
        coalesce(unnest(tags), $not_stated) as value
    from described

)

select * from facts
