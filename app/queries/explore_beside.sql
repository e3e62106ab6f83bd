-- What the words name beside configurations; a kind of which they name many is left out, as they tell none apart.
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

),

found as (

    select
        texts.kind,
        texts.id,
        texts.label,
        texts.configuration_id,
        count(*) over (partition by texts.kind) as alike
    from texts
    where len(list_filter(
            cast($words as varchar[]), lambda word: not contains(lower(texts.text), word) -- noqa: RF02,RF03
        )) = 0

)

select
    found.kind,
    found.id,
    found.label,
    found.configuration_id
from found
where found.alike <= $most
order by found.kind, found.label, found.id
