-- What a search finds besides configurations: campaigns, machines and runs, each with its words in lower case.
-- `machines` is given.
with

dips as (

    select distinct run_id from trends
    where is_dip

),

texts as (

    select
        'campaign' as kind,
        campaign as id,
        campaign as label,
        null as configuration_id,
        concat_ws(' ', 'campaign', campaign, title) as text -- noqa: RF04
    from campaigns
    union all
    select
        'machine' as kind,
        host_id as id,
        label,
        null as configuration_id,
        concat_ws(' ', 'machine host', label, cpu_model, os_name, os_version, virtualisation) as text -- noqa: RF04
    from machines
    union all
    select
        'run' as kind,
        runs.run_id as id,
        concat(
            coalesce('run ' || cast(runs.repetition as varchar), 'run'),
            if(dips.run_id is null, '', ', which dipped')
        ) as label,
        runs.configuration_id,
        concat_ws(
            ' ', 'run', runs.repetition, strftime(runs.started_at, '%Y-%m-%d %H:%M'), runs.run_id,
            runs.configuration, runs.campaign, if(dips.run_id is null, '', 'dip dips dipped')
        ) as text -- noqa: RF04
    from runs
    left join dips on runs.run_id = dips.run_id

)

select
    kind,
    id,
    label,
    configuration_id,
    lower(text) as text -- noqa: RF04
from texts
order by kind, label, id
