with

chosen as (

    select
        unnest(cast($facets as varchar[])) as facet,
        unnest(cast($facet_values as varchar[])) as value

),

met as (

    select
        facts.configuration_id,
        list(distinct facts.facet) as facets
    from facts
    inner join chosen on facts.facet = chosen.facet and facts.value = chosen.value
    group by facts.configuration_id

)

select * from met
