with

complete as (

    select distinct configuration_id
    from trials
    where completed

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
        and loss_goal = case when list_contains($dhcp_units, rate_unit) then $dhcp_goal else $other_goal end
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
        campaign,
        configuration,
        runs,
        null as "at least", -- noqa: RF05
        null as "rate at the limit", -- noqa: RF05
        'no complete trial' as status,
        null as quality
    from configurations
    where
        origin = 'measured'
        and configuration_id not in (select complete.configuration_id from complete)

)

select * from figures
order by all
