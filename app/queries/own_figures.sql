-- The figures of each measured configuration at its usual goal, and its throughput; the newest campaigns first.
-- `labels` is given.
with

complete as (

    select
        configuration_id,
        count(offered_rate) as set_rates
    from trials
    where completed
    group by configuration_id

),

figures as (

    select
        configuration_id,
        campaign,
        rate,
        rate_unit,
        interval_kind,
        ci_low,
        ci_high,
        last_passing_rate,
        first_exceeding_rate,
        runs,
        status,
        quality
    from capacity
    where
        origin = 'measured'
        and loss_goal in (usual_goal, 'throughput')
    union all by name
    select
        configurations.configuration_id,
        configurations.campaign,
        configurations.runs,
        case when complete.set_rates = 0 then 'no set rate' else 'no complete trial' end as status
    from configurations
    left join complete on configurations.configuration_id = complete.configuration_id
    where
        configurations.origin = 'measured'
        and coalesce(complete.set_rates, 0) = 0
        and configurations.configuration_id not in (select judged.configuration_id from capacity as judged)

)

select
    figures.*,
    replace(labels.label, ' (' || figures.campaign || ')', '') as configuration
from figures
inner join labels on figures.configuration_id = labels.configuration_id
left join campaigns on figures.campaign = campaigns.campaign
order by
    campaigns.last_batch desc,
    coalesce(campaigns.last_started_at, campaigns.started_on) desc nulls last,
    figures.campaign asc,
    configuration asc,
    figures.status asc
