-- rates and losses by protocol and backend (all rows)
select
    protocol,
    backend,
    count(*) as trials,
    avg(achieved_rate) as rate,
    percentile_cont(0.95) within group (order by loss_worst_exchange) as loss
from trials
where completed
group by protocol, backend;

-- totals of every campaign (all rows)
select
    campaign,
    count(*) as trials,
    sum(sent) as sent,
    sum(received) as received,
    max(achieved_rate) as rate,
    count(distinct run_id) as runs
from trials
group by campaign;

-- loss over the load (all rows)
select
    protocol,
    floor(offered_rate / 1000) as thousand,
    count(*) as trials,
    avg(loss_lease) as loss
from trials
group by protocol, floor(offered_rate / 1000);

-- months and tools (all rows)
select
    left(cast(started_at as varchar), 7) as month,
    tool,
    count(*) as trials,
    avg(achieved_rate) as rate
from trials
group by left(cast(started_at as varchar), 7), tool;

-- drops of all intervals (all rows)
select
    exchange,
    count(*) as lines,
    sum(interval_drops) as drops,
    max(interval_received) as most
from trial_intervals
group by exchange;

-- findings by campaign (all rows)
select
    severity,
    finding,
    campaign,
    count(*) as findings
from quality_findings
group by severity, finding, campaign;

-- a word in all findings (all rows)
select
    finding,
    count(*) as findings
from quality_findings
where lower(detail) like $pattern
group by finding;

-- the fastest 500 configurations (a key)
select
    capacity.configuration_id,
    configurations.configuration,
    configurations.method,
    capacity.rate,
    capacity.ci_low,
    capacity.ci_high,
    capacity.status
from capacity
inner join configurations on capacity.configuration_id = configurations.configuration_id
where capacity.loss_goal = $loss_goal and capacity.origin = 'measured'
order by capacity.rate desc nulls last, capacity.configuration_id asc
limit 500;

-- the curves of a configuration (a key)
select
    run_steps.run_id,
    runs.repetition,
    run_steps.offered_rate,
    run_steps.achieved_rate,
    run_steps.loss_worst_exchange
from run_steps
inner join runs on run_steps.run_id = runs.run_id
where run_steps.configuration_id = $configuration_id;

-- the seconds of a trial (a key)
select
    exchange,
    t_s,
    interval_sent,
    interval_received,
    interval_drops
from trial_intervals
where trial_id = $trial_id;

-- the trials of a run (a key)
select
    trial_id,
    offered_rate,
    achieved_rate,
    sent,
    received,
    loss_worst_exchange
from trials
where run_id = $run_id;

-- windows over all intervals (build)
select
    trial_id,
    exchange,
    interval_received as b,
    t_s - coalesce(lag(t_s) over (partition by trial_id, exchange order by position), 0) as a
from trial_intervals;

-- crossings of all ramps (build)
select
    run_id,
    max(case when loss_worst_exchange <= 0.025 then offered_rate end) as a,
    min(case when loss_worst_exchange > 0.025 then offered_rate end) as b
from trials
group by run_id;
