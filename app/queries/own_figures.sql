-- The figure of each measured configuration at its unit's usual goal, those of the newest campaigns first.
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
        case when interval_kind = 'confidence' then ' (95 %)' else ' offered' end as kind,
        -- as goodput, the lower step could lie below what passed there
        case when interval_kind = 'confidence' then ci_low else last_passing_rate end as low,
        case when interval_kind = 'confidence' then ci_high else first_exceeding_rate end as high,
        runs,
        status,
        quality
    from capacity
    where
        origin = 'measured'
        and loss_goal = usual_goal(rate_unit)
    union all
    select
        configuration_id,
        campaign,
        rate,
        'queries/s' as rate_unit,
        null as kind,
        null as low,
        null as high,
        runs,
        kind as status,
        quality
    from queries_per_second
    where seen_in = 'throughput'
    union all
    select
        configurations.configuration_id,
        configurations.campaign,
        null as rate,
        null as rate_unit,
        null as kind,
        null as low,
        null as high,
        configurations.runs,
        case when complete.set_rates = 0 then 'no set rate' else 'no complete trial' end as status,
        null as quality
    from configurations
    left join complete on configurations.configuration_id = complete.configuration_id
    where
        configurations.origin = 'measured'
        and coalesce(complete.set_rates, 0) = 0
        and configurations.configuration_id not in (select told.configuration_id from queries_per_second as told)

),

rounded as (

    -- the ends of an interval are estimates, rounded as by `wording.about`
    select
        * exclude (low, high),
        case
            when kind = ' (95 %)' and high > low then -cast(floor(log10((high - low) / 20)) as integer) else 3
        end as places,
        round(low, places) as low,
        round(high, places) as high
    from figures

),

written as (

    select
        *,
        list_transform(
            [rate, low, high], lambda x: case when x < 10 then format('{:.3g}', x) else format('{:,.0f}', x) end
        ) as texts
    from rounded

)

select
    written.campaign,
    replace(labels.label, ' (' || written.campaign || ')', '') as configuration,
    written.runs,
    written.texts[1] || ' ' || written.rate_unit as "at least", -- noqa: RF05
    case
        when written.low is not null and written.high is not null
            then written.texts[2] || ' to ' || written.texts[3] || written.kind
        when written.low is not null then 'not reached'
        when written.high is not null then 'below ' || written.texts[3]
    end as "rate at the limit", -- noqa: RF05
    written.status,
    written.quality
from written
inner join labels on written.configuration_id = labels.configuration_id
left join campaigns on written.campaign = campaigns.campaign
order by
    campaigns.last_batch desc,
    coalesce(campaigns.last_started_at, campaigns.started_on) desc nulls last,
    written.campaign asc,
    configuration asc,
    written.status asc
