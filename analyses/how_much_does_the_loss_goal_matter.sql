-- How much does the loss goal matter: what is the capacity of each configuration at every goal?
with

capacity as (

    select * from {{ ref('capacity') }}
    where origin = 'measured'

),

goals as (

    select
        configuration,
        campaign,
        max(rate) filter (where loss_goal = 'ndr') as rate_ndr,
        max(rate) filter (where loss_goal = 'pdr') as rate_pdr,
        max(rate) filter (where loss_goal = 'moj') as rate_moj,
        max(rate) filter (where loss_goal = 'isc') as rate_isc
    from capacity
    group by configuration, campaign

)

select * from goals
order by rate_isc desc
