-- What did PowerDNS publish about its authoritative server, and how do the backends compare?
with

capacity as (

    select * from {{ ref('capacity') }}
    where origin = 'published' and product = 'PowerDNS Authoritative Server'

),

ratios as (

    select * from {{ ref('backend_ratio') }}

),

published as (

    select
        capacity.campaign,
        capacity.product_version,
        capacity.scenario,
        capacity.backend,
        capacity.rate,
        capacity.rate_unit,
        capacity.qualifier,
        capacity.status,
        capacity.quality,
        capacity.findings,
        ratios.reference_backend,
        ratios.reference_rate,
        ratios.ratio
    from capacity
    left join ratios
        on capacity.configuration_id = ratios.configuration_id_backend
            and capacity.loss_goal = ratios.loss_goal

)

select * from published
order by campaign asc, scenario asc, rate desc
