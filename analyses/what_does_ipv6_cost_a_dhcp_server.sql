-- What does DHCPv6 cost or gain compared with DHCPv4, all else being equal?
with

ip_version_ratio as (

    select * from {{ ref('ip_version_ratio') }}
    where loss_goal in ('isc', 'unstated') and rate_unit = 'leases/s'

),

side_by_side as (

    select
        campaign,
        backend,
        threading,
        ha_mode,
        rate_v4 as lps_v4,
        rate_v6 as lps_v6,
        coalesce(ratio_interpolated, ratio) as ratio,
        ci_low,
        ci_high,
        verdict
    from ip_version_ratio

)

select * from side_by_side
order by campaign, backend, threading, ha_mode
