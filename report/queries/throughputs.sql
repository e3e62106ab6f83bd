with

runs as (

    select
        configuration_id,
        rate_unit as unit,
        max(achieved_rate) as rate
    from trials
    where
        completed
        and duplicate_of is null
        and rate_unit not in ('leases/s', 'exchanges/s', 'queries/s')
        and configuration_id not in (select capacity.configuration_id from capacity)
    group by configuration_id, rate_unit, run_id

),

throughputs as (

    select
        configuration_id,
        'queries/s' as unit,
        rate,
        rate_low,
        rate_high,
        runs,
        kind,
        findings
    from queries_per_second
    -- those of others are their capacity
    where
        seen_in = 'throughput'
        and configuration_id in (
            select configurations.configuration_id from configurations
            where configurations.usual_goal <> 'throughput'
        )
    union all
    select
        configuration_id,
        unit,
        median(rate) as rate,
        min(rate) as rate_low,
        max(rate) as rate_high,
        count(*) as runs,
        'as reported' as kind,
        [] as findings
    from runs
    where rate is not null
    group by configuration_id, unit

)

select
    configuration_id as configuration,
    rate,
    unit,
    if(runs > 1, rate_low, null) as lowest_run,
    if(runs > 1, rate_high, null) as highest_run,
    runs,
    kind as how,
    replace(array_to_string(findings, ', '), '_', ' ') as findings
from throughputs
where configuration_id in (select unnest($ids))
order by unit asc, rate desc, configuration_id asc
