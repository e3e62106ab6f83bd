-- Each set-up with its latest configuration of one version and of the other.
with

latest as (

    select
        series_id,
        product_version,
        arg_max(configuration_id, place) as configuration_id
    from trends
    where
        product = $product
        and loss_goal = coalesce($loss_goal, usual_goal)
        and (len($campaigns) = 0 or list_contains($campaigns, campaign))
    group by series_id, product_version

)

select
    newer.configuration_id as a,
    older.configuration_id as b,
    row_number() over (order by newer.series_id) as place_a,
    1 as place_b
from latest as newer
inner join latest as older on newer.series_id = older.series_id
where newer.product_version = $version and older.product_version = $previous_version
