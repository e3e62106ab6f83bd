-- Two versions in which the same set-ups were measured, those measured last first.
with

versions as (

    select
        product,
        product_version,
        series_id,
        max(place) as place,
        max(started_at) as started_at,
        -- 2.7.9 is before 2.7.10
        list_transform(regexp_extract_all(product_version, '[0-9]{1,18}'), lambda digits: digits::bigint) as numbers
    from trends
    where
        product_version is not null
        and loss_goal = coalesce($loss_goal, usual_goal)
        and (len($campaigns) = 0 or list_contains($campaigns, campaign))
    group by product, product_version, series_id

)

select
    newer.product,
    newer.product_version as version,
    older.product_version as previous_version,
    concat(newer.product, ' ', newer.product_version, ' against ', older.product_version) as title,
    count(*) as set_ups
from versions as newer
inner join versions as older on newer.series_id = older.series_id and newer.place > older.place
group by newer.product, newer.product_version, older.product_version
order by
    max(newer.started_at) desc nulls last,
    max(count(*)) over (partition by newer.product) desc, newer.product asc,
    any_value(newer.numbers) desc, version desc,
    max(older.started_at) desc nulls last, any_value(older.numbers) desc, previous_version desc
