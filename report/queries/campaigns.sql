with

products as (

    select
        campaign,
        list(distinct concat_ws(' ', product, product_version) order by concat_ws(' ', product, product_version))
            as products
    from configurations
    where product is not null or product_version is not null
    group by campaign

)

select
    campaigns.campaign,
    campaigns.title,
    campaigns.origin,
    campaigns.description,
    campaigns.started_on,
    campaigns.source_url,
    campaigns.configurations,
    campaigns.runs,
    campaigns.trials,
    campaigns.rejected_files,
    campaigns.first_started_at,
    campaigns.last_started_at,
    coalesce(products.products, []) as products
from campaigns
left join products on campaigns.campaign = products.campaign
where campaigns.campaign in (select unnest($campaigns))
order by campaigns.origin, campaigns.campaign
