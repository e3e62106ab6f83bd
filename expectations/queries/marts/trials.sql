with
apart as (
    select
        in_lake.trial_id as lake_id,
        in_mart.trial_id as mart_id
    from lake_trials as in_lake
    full outer join trials as in_mart on in_lake.trial_id = in_mart.trial_id
    where in_lake.trial_id is null or in_mart.trial_id is null
),

counted as (
    select
        count(distinct lake_id) as missing_trials,
        array_to_string(list_sort(list_distinct(list(lake_id)))[:10], ', ') as missing_ids,
        count(distinct mart_id) as unknown_trials,
        array_to_string(list_sort(list_distinct(list(mart_id)))[:10], ', ') as unknown_ids
    from apart
),

repeated as (
    select count(*) - count(distinct trial_id) as repeated_trials
    from trials
),

dropped as (
    select
        finding,
        trial_id
    from lake_findings
    where severity = 'warning' and trial_id is not null
    except
    select
        finding,
        trial_id
    from quality_findings
),

listed as (
    select
        count(*) as dropped_findings,
        array_to_string(list_sort(list(finding || ' of ' || trial_id))[:10], ', ') as dropped_ids
    from dropped
)

select
    counted.*,
    repeated.repeated_trials,
    listed.*
from counted
cross join repeated
cross join listed
