with

runs as (

    select
        run_id,
        configuration_id
    from {{ ref('int_runs__identified') }}

),

trials as (

    select * from {{ ref('int_trials__measured') }}
    where
        rate_unit = 'queries/s'
        and duplicate_of is null
        and completed
        and (offered_rate is null or is_held_back)
        and (received > 0 or sent > 0)

),

with_throughput as (

    select
        run_id,
        trial_id,
        offered_rate,
        test_period_s,
        -- all tools count answers of any code, and two of them queries without one
        least(
            case when received = 0 then 0 else computed_rate end
            * coalesce(successful_ratio / nullif(answered_ratio, 0), 1),
            successes_of_ramp
        )
        * case when tool in ('dnspyre', 'dnstrace') then coalesce(answered_ratio, 1) else 1 end as throughput,
        -- an open load that lost and failed nothing and a window with room left show no limit of the server
        coalesce(
            loss_packet <= 0.001
            and coalesce(error_ratio, 0) <= 0.001
            and (
                tool in ('dnsblast', 'flame', 'kxdpgun', 'shotgun')
                -- its ramp ended first, unless its window of outstanding queries did
                or (tool = 'resperf' and coalesce({{ json_text('details', 'ended_early') }} not like 'Reached%', true))
                or waiting_ratio <= {{ most_waiting_ratio() }}
                -- its head is missing, and with it the window and the rate that was asked for
                or (tool = 'dnsperf' and waiting_ratio is null)
                -- --json of dnspyre does not repeat its limit of the rate
                or coalesce({{ fits('command', "'^dnspyre .* (-l|--rate-limit)[ =]'") }}, false)
            ),
            false
        ) as is_unlimited
    from trials

),

-- a server that a disturbance held back at a lower rate was not loaded
loaded as (

    select * from with_throughput
    where throughput is not null
    qualify coalesce(offered_rate >= max(throughput) over (partition by run_id), true)

),

-- a lower bound tells nothing beside higher throughputs that show a limit
telling as (

    select loaded.*
    from loaded
    inner join runs on loaded.run_id = runs.run_id
    qualify
        not loaded.is_unlimited
        or loaded.throughput > coalesce(
            max(case when not loaded.is_unlimited then loaded.throughput end)
                over (partition by runs.configuration_id),
            -1
        )

)

select * from telling
