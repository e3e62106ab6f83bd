-- a configuration may have several months and tags
with

facts as (

    select
        configuration_id,
        unnest([
            'origin', 'campaign', 'product', 'version', 'protocol', 'backend', 'threading', 'threads', 'ha',
            'scenario', 'testbed', 'tool', 'unit', 'quality'
        ] || list_transform(months, lambda _: 'month') || list_transform(tags, lambda _: 'tag')) as facet,
        coalesce(unnest([
            origin, campaign, product, product_version, protocol, backend, threading, cast(threads as varchar),
            ha_mode, scenario, testbed, tool, rate_unit, quality
        ] || months || tags), $not_stated) as value
    from described

)

select * from facts
