-- Which set-ups give a site what it needs and keep half in reserve?
-- The site: 350,000 subscribers with leases of two hours, of whom 50,000 come back together after an outage. The lower
-- end of the interval counts, where there is one.
with

needed as (

    select * from lps_needed(clients := 350000, lease_s := 7200, down_clients := 50000, recovery_s := 600)

),

leases_per_second as (

    select * from {{ ref('leases_per_second') }}

),

with_headroom as (

    select
        leases_per_second.configuration,
        leases_per_second.origin,
        leases_per_second.campaign,
        leases_per_second.lps,
        leases_per_second.ci_low,
        needed.needed_lps,
        coalesce(leases_per_second.ci_low, leases_per_second.lps) / needed.needed_lps as headroom_ratio,
        leases_per_second.status,
        leases_per_second.quality
    from leases_per_second
    cross join needed
    where leases_per_second.status <> 'exceeded_at_first_step'

)

select * from with_headroom
where headroom_ratio >= 2
order by headroom_ratio desc
