-- The share of leases per second left with high availability, measured ones with most runs first.
select
    ratio,
    product,
    product_version,
    backend,
    threading,
    threads,
    ha_mode,
    campaign
from ha_speedup
where
    protocol = $protocol
    and ratio is not null
    -- not of two campaigns on machines that nobody names
    and (fairness <> 'unknown' or campaign = campaign_without_ha)
order by
    origin asc, least(runs_without_ha, runs_with_ha) desc nulls last, backend, ha_mode asc, threading asc, campaign asc,
    ratio asc
limit 60
