select
    facts.facet,
    facts.value,
    count(*) filter (
        where described.is_found
        and len(list_filter(
            list_distinct(cast($facets as varchar[])),
            lambda other: other <> facts.facet and not list_contains(coalesce(met.facets, []), other) -- noqa: RF02
        )) = 0
    ) as configurations
from facts
inner join described on facts.configuration_id = described.configuration_id
left join met on facts.configuration_id = met.configuration_id
group by facts.facet, facts.value
order by facts.facet asc, count(*) desc, facts.value
