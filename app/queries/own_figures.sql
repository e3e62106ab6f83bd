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
        campaign,
        configuration,
        runs,
        case when rate is not null then format('{:,.0f} ', rate) || rate_unit end as "at least", -- noqa: RF05
        case
            when ci_low is not null and ci_high is not null
                then
                    case
                        when interval_kind = 'confidence' then format('{:,.0f} to {:,.0f} (95 %)', ci_low, ci_high)
                        -- as goodput, the lower step could lie below what passed there
                        else
                            format('{:,.0f} to {:,.0f} offered', ci_low / (1 - loss_limit), ci_high / (1 - loss_limit))
                    end
            when ci_low is not null then 'not reached'
            when ci_high is not null then format('below {:,.0f}', ci_high)
        end as "rate at the limit", -- noqa: RF05
        status,
        quality
    from capacity
    where
        origin = 'measured'
        and loss_goal = usual_goal(rate_unit)
    union all
    select
        campaign,
        configuration,
        runs,
        format('{:,.0f} queries/s', rate) as "at least", -- noqa: RF05
        null as "rate at the limit", -- noqa: RF05
        kind as status,
        quality
    from queries_per_second
    where seen_in = 'throughput'
    union all
    select
        configurations.campaign,
        configurations.configuration,
        configurations.runs,
        null as "at least", -- noqa: RF05
        null as "rate at the limit", -- noqa: RF05
        case when complete.set_rates = 0 then 'no set rate' else 'no complete trial' end as status,
        null as quality
    from configurations
    left join complete on configurations.configuration_id = complete.configuration_id
    where
        configurations.origin = 'measured'
        and coalesce(complete.set_rates, 0) = 0
        and configurations.configuration_id not in (select told.configuration_id from queries_per_second as told)

)

select * from figures
order by all
