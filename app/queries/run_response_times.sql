with

of_trial as materialized (  -- one look at the millions of others

    select
        label,
        metric,
        moment,
        t_s,
        unit,
        value
    from trial_observations
    where trial_id = $id and batch = $batch

),

figures as (

    select
        coalesce(label, 'generator') as source,
        metric,
        value
    from of_trial
    where t_s is null and moment is null and starts_with(metric, 'latency_') and unit = 'ms'

),

summed_up as (

    select
        source,
        max(value) filter (where metric = 'latency_min') as min,
        max(value) filter (where metric = 'latency_avg') as avg,
        max(value) filter (where metric = 'latency_p50') as p50,
        max(value) filter (where metric = 'latency_p90') as p90,
        max(value) filter (where metric = 'latency_p99') as p99,
        max(value) filter (where metric = 'latency_max') as max,
        max(value) filter (where metric = 'latency_stdev') as stdev
    from figures
    group by source

),

probes as (

    select
        'probes (' || count(*) || ' answered)',
        min(value),
        avg(value),
        quantile_cont(value, 0.5),
        quantile_cont(value, 0.9),
        quantile_cont(value, 0.99),
        max(value),
        stddev_samp(value)
    from of_trial
    where metric = 'probe_latency'
    having count(*) > 0

)

from summed_up
union all
from probes
