-- What the words name beside configurations; a kind of which they name many is left out, as they tell none apart.
-- `machines` is given.
with

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
        run_id as id,
        coalesce('run ' || cast(repetition as varchar), 'run') as label,
        configuration_id,
        concat_ws(
            ' ', 'run', repetition, strftime(started_at, '%Y-%m-%d %H:%M'), run_id, configuration, campaign
        ) as text -- noqa: RF04
    from runs

),

found as (

    select
        *,
        count(*) over (partition by kind) as found
    from texts
    where len(list_filter(
            cast($words as varchar[]), lambda word: not contains(lower(texts.text), word) -- noqa: RF02
        )) = 0

)

select
    kind,
    id,
    label,
    configuration_id
from found
where found.found <= $most
order by kind, label, id
