-- Bring `found`, the findings of the gate about marts, into the marts. As in models/marts/capacity.sql, a finding about
-- a configuration concerns its capacities at all loss goals, one about a trial only where the trial is not above the
-- crossing.
insert into quality_findings by name
with
named as (
    select distinct
        found.finding,
        found.severity,
        if(found.trial_id is null, 'configuration', 'trial') as subject,
        coalesce(found.trial_id, found.configuration_id) as subject_id,
        found.campaign,
        found.configuration_id,
        configurations.configuration,
        trials.run_id,
        found.trial_id,
        found.source_path,
        found.detail
    from found
    left join trials on found.trial_id = trials.trial_id
    left join configurations on found.configuration_id = configurations.configuration_id
)

select
    md5(concat_ws('|', finding, subject, subject_id, campaign, detail)) as finding_id,
    *
from named;

update capacity
set
    quality = if(capacity.quality = 'ok' and marks.is_warning, 'warn', capacity.quality),
    findings = list_sort(list_distinct(list_concat(capacity.findings, marks.findings)))
from (
    select
        capacities.configuration_id,
        capacities.loss_goal,
        bool_or(found.severity = 'warning') as is_warning,
        list(found.finding) as findings
    from capacity as capacities
    inner join found
        on capacities.configuration_id = found.configuration_id
            and coalesce(found.loss_goal, capacities.loss_goal) = capacities.loss_goal
    left join trials on found.trial_id = trials.trial_id
    left join run_capacity
        on trials.run_id = run_capacity.run_id
            and capacities.loss_goal = run_capacity.loss_goal
    where
        found.trial_id is null
        or run_capacity.first_exceeding_rate is null
        or trials.offered_rate <= run_capacity.first_exceeding_rate
    group by capacities.configuration_id, capacities.loss_goal
) as marks
where capacity.configuration_id = marks.configuration_id and capacity.loss_goal = marks.loss_goal;

-- Tables made from capacities show the marks of those.
update queries_per_second as copies
set quality = capacity.quality, findings = capacity.findings
from capacity
where
    copies.configuration_id = capacity.configuration_id
    and capacity.loss_goal = if(copies.seen_in = 'ramp', 'permille', 'throughput');

-- A comparison is as good as the weaker of its two capacities; the gate raises `ok` to `warn` and nothing to `suspect`.
update ratios
set quality = 'warn'
from capacity
where
    ratios.quality = 'ok'
    and capacity.quality = 'warn'
    and capacity.configuration_id in (ratios.baseline_configuration_id, ratios.treatment_configuration_id)
    and capacity.loss_goal = ratios.loss_goal;
