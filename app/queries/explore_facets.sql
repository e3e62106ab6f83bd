with

-- of what was searched: the facets whose choice each does not meet
unmet as (

    select
        described.configuration_id,
        list_filter(
            list_distinct(cast($facets as varchar[])),
            lambda facet: not list_contains(coalesce(met.facets, []), facet) -- noqa: RF02
        ) as facets
    from described
    left join met on described.configuration_id = met.configuration_id
    where described.is_found

)

select
    facts.facet,
    facts.value,
    count(*) filter (where unmet.facets in ([], [facts.facet])) as configurations
from facts
left join unmet on facts.configuration_id = unmet.configuration_id
group by facts.facet, facts.value
order by facts.facet asc, count(*) desc, facts.value
