-- How many clients with one-day leases does each set-up serve at half load, and how many come back in ten minutes?
-- A client renews once in half a lease (RFC 2131 4.4.5); after an outage the whole rate goes into new leases.
with

assumptions as (

    select
        86400 as lease_s,
        0.5 as t1_ratio,
        0.5 as utilisation_ratio,
        600 as recovery_s

),

leases_per_second as (

    select * from {{ ref('leases_per_second') }}
    where status <> 'exceeded_at_first_step' and quality <> 'suspect'

),

clients_served as (

    select
        leases_per_second.configuration,
        leases_per_second.origin,
        leases_per_second.campaign,
        coalesce(leases_per_second.ci_low, leases_per_second.lps) as believed_lps,
        floor(
            believed_lps * assumptions.utilisation_ratio * assumptions.t1_ratio * assumptions.lease_s
        ) as clients,
        floor(believed_lps * assumptions.recovery_s) as clients_back_in_ten_minutes
    from leases_per_second
    cross join assumptions

)

select * from clients_served
order by clients desc
