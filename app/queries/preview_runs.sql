-- The configurations of a preview, from the models of its scratch database: their runs, rates and files.
with

files_of_runs as (

    select
        run_id,
        count(distinct source_path) as files
    from int_trials__measured
    where duplicate_of is null
    group by run_id

)

select
    runs.campaign,
    any_value(runs.configuration) as configuration,
    count(*) as runs,
    if(
        min(runs.lowest_offered_rate) < max(runs.highest_offered_rate),
        format('{:,g} to {:,g}', min(runs.lowest_offered_rate), max(runs.highest_offered_rate)),
        format('{:,g}', max(runs.highest_offered_rate))
    ) as rates,
    sum(runs.trials)::bigint as trials,
    sum(files_of_runs.files)::bigint as files
from int_runs__identified as runs
inner join files_of_runs on runs.run_id = files_of_runs.run_id
group by runs.campaign, runs.configuration_id
order by runs.campaign, configuration, runs.configuration_id
