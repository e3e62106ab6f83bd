with

capacity as (

    select * from {{ ref('int_capacity') }}

),

configurations as (

    select * from {{ ref('int_configurations') }}

),

hosts as (

    select
        host_id,
        cpu_cores,
        cpu_threads
    from {{ ref('stg_hosts') }}
    union all
    select
        testbed as host_id,
        cpu_cores,
        cpu_threads
    from {{ ref('reported_testbeds') }}

),

counted as (

    select
        {{ all_but('capacity', 'threads, rate') }},
        coalesce(capacity.rate_interpolated, capacity.rate) as rate,
        configurations.host_id,
        coalesce(capacity.threads, case when capacity.threading = 'single' then 1 end) as threads
    from capacity
    inner join configurations on capacity.configuration_id = configurations.configuration_id
    where capacity.rate > 0

),

-- a published method may say the thread count, too: "8 scheduler threads; median of the runs"
with_shared_method as (

    select
        *,
        coalesce(ha_mode, 'none') as pairing,
        case
            -- a generator has threads of its own
            when origin = 'measured' then method
            else {{ parts_where('method', '; ', "not (
                " ~ fits('part', "'(thread|worker|instance|process|default)'") ~ "
                and " ~ fits('part', regex('\\b') ~ ' || threads || ' ~ regex('\\b')) ~ "
            )") }}
        end as shared_method
    from counted
    where threads >= 1

),

with_family as (

    select
        *,
        {{ surrogate_key(
            'campaign, product, product_version, protocol, backend, backend_version, pairing, scenario, testbed, tool, '
            ~ 'tool_version, shared_method, unnamed_folder, rate_unit, origin, loss_goal'
        ) }} as family_id,
        concat_ws(
            ' ', product, product_version, protocol, backend, case when ha_mode <> 'none' then ha_mode end,
            case when scenario <> 'basic' then scenario end, unnamed_folder
        ) as family
    from with_shared_method

),

-- the queue is tuned to the threads: the fastest setting counts; a pool of one thread has the costs of a pool, as the
-- others have, a server without one does not
tuned as (

    select * from with_family
    qualify row_number() over (
            partition by family_id, threads
            order by coalesce(threading = 'single', false) asc, rate desc, configuration_id asc
        ) = 1

),

points as (

    select
        tuned.family_id,
        tuned.family,
        tuned.origin,
        tuned.campaign,
        tuned.product,
        tuned.product_version,
        tuned.protocol,
        tuned.backend,
        tuned.backend_version,
        tuned.ha_mode,
        tuned.scenario,
        tuned.testbed,
        tuned.tool,
        tuned.tool_version,
        tuned.shared_method as method,
        tuned.rate_unit,
        tuned.loss_goal,
        tuned.usual_goal,
        tuned.configuration_id,
        tuned.configuration,
        tuned.threads,
        tuned.rate,
        tuned.status,
        tuned.qualifier,
        coalesce(tuned.rates_without_outliers, {{ list_of(['tuned.rate']) }}) as rates,
        case
            when tuned.interval_kind = 'bracket'
                then sqrt(
                        power({{ spread_within('(tuned.ci_high - tuned.ci_low)') }}, 2)
                        + power((tuned.ci_high + tuned.ci_low) / 2 - tuned.rate, 2)
                    )
        end as spread_within_bracket,
        -- a bound says nothing of the shape
        tuned.status in ('bracketed', 'saturated', 'published')
        and coalesce(tuned.qualifier, 'exact') in ('exact', 'approx') as is_used,
        hosts.cpu_cores,
        hosts.cpu_threads
    from tuned
    left join hosts on tuned.host_id = hosts.host_id

),

families as (

    select * from points
    qualify count(*) over (partition by family_id) >= 2

)

select * from families
