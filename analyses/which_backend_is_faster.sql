-- Which backend is faster, by how much, and do the runs bear it out?
with

backend_ratio as (

    select * from {{ ref('backend_ratio') }}
    where loss_goal in (usual_goal(rate_unit), 'throughput', 'unstated') and coalesce(ratio_interpolated, ratio) >= 1

),

ranked as (

    select
        product,
        product_version,
        protocol,
        threading,
        ha_mode,
        scenario,
        backend,
        reference_backend,
        rate,
        reference_rate,
        rate_unit,
        coalesce(ratio_interpolated, ratio) as ratio,
        ci_low,
        ci_high,
        verdict,
        origin,
        campaign
    from backend_ratio

)

select * from ranked
order by product asc, protocol asc, threading asc, ha_mode asc, ratio desc
