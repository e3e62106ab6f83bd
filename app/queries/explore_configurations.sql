with

found as (

    select * from described
    where is_found

)

select
    found.* exclude (found.months, found.tags, found.quality, found.is_found),
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
left join met on found.configuration_id = met.configuration_id
left join figures on found.configuration_id = figures.configuration_id
where len(list_filter(
        list_distinct(cast($facets as varchar[])),
        lambda facet: not list_contains(coalesce(met.facets, []), facet) -- noqa: RF02
    )) = 0
order by
    found.origin asc,
    figures.rate is null,
    count(*) over (partition by found.origin, found.rate_unit) desc,
    found.rate_unit,
    figures.rate desc,
    found.configuration_id asc
limit $most
