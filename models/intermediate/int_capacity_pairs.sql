with

capacity as (

    select * from {{ ref('int_capacity') }}

),

student_t as (

    select * from {{ ref('student_t') }}

),

limits as (

    select
        {{ all_but('capacity', 'ha_mode') }},
        -- nobody mentions the partner that a server does not have
        coalesce(ha_mode, 'none') as ha_mode
    from capacity
    -- an upper bound is a partner, too: without it another campaign's figure would take its place
    where rate > 0 or (rate is null and crossing_high > 0)

),

peers as (

    select
        *,
        configuration_id || ' ' || loss_goal as capacity_key,
        {{ surrogate_key('comparable_key, protocol, backend, threading, threads, ha_mode') }} as kind_key,
        coalesce(first_started_at, cast(started_on as timestamp), cast('1970-01-01 00:00:00' as timestamp))
            as measured_at
    from limits

),

-- capacities of a kind differ in campaign, time and tuning: versions of backend and tool, size of the queue
kinds as (

    select distinct
        kind_key,
        comparable_key,
        protocol,
        backend,
        threading,
        threads,
        ha_mode
    from peers

),

pairs_of_kinds as (

    select
        treatment.kind_key as treatment_kind,
        baseline.kind_key as baseline_kind,
        case
            when treatment.threading = 'multi' and baseline.threading = 'single' then 'threading'
            when treatment.ha_mode <> 'none' and baseline.ha_mode = 'none' then 'ha_mode'
            when treatment.backend <> baseline.backend then 'backend'
            when treatment.protocol = 'DHCPv6' and baseline.protocol = 'DHCPv4' then 'protocol'
        end as factor
    from kinds as treatment
    inner join kinds as baseline on treatment.comparable_key = baseline.comparable_key
    -- they differ in one factor
    where
        cast(
            treatment.threading is distinct from baseline.threading
            or treatment.threads is distinct from baseline.threads as integer
        )
        + cast(treatment.ha_mode is distinct from baseline.ha_mode as integer)
        + cast(treatment.backend is distinct from baseline.backend as integer)
        + cast(treatment.protocol is distinct from baseline.protocol as integer) = 1

),

sought as (

    select
        peers.capacity_key as treatment_key,
        peers.campaign,
        peers.measured_at,
        pairs_of_kinds.factor,
        pairs_of_kinds.baseline_kind as kind_key
    from peers
    inner join pairs_of_kinds on peers.kind_key = pairs_of_kinds.treatment_kind
    where pairs_of_kinds.factor is not null

),

-- the baselines before and after a treatment are found along a line of both: the work does not grow with their product
line as (

    select
        treatment_key,
        factor,
        kind_key,
        measured_at,
        cast(null as timestamp) as baseline_at
    from sought
    union all
    select distinct
        cast(null as string) as treatment_key,
        cast(null as string) as factor,
        kind_key,
        measured_at,
        measured_at as baseline_at
    from peers

),

neighbours as (

    select
        treatment_key,
        factor,
        kind_key,
        max(baseline_at) over (partition by kind_key order by measured_at) as earlier_at,
        min(baseline_at) over (partition by kind_key order by measured_at desc) as later_at
    from line

),

candidates as (

    select
        neighbours.treatment_key,
        neighbours.factor,
        neighbours.kind_key,
        baseline.capacity_key as baseline_key
    from neighbours
    inner join peers as baseline
        on neighbours.kind_key = baseline.kind_key
            and baseline.measured_at in (neighbours.earlier_at, neighbours.later_at)
    where neighbours.treatment_key is not null
    union
    select
        sought.treatment_key,
        sought.factor,
        sought.kind_key,
        baseline.capacity_key as baseline_key
    from sought
    inner join peers as baseline
        on sought.kind_key = baseline.kind_key
            and sought.campaign = baseline.campaign

),

-- the baseline of the same campaign, else the nearest in time
nearest_pairs as (

    select
        candidates.factor,
        treatment.loss_goal,
        treatment.rate_unit,
        treatment.comparable_key,
        baseline.configuration_id as baseline_configuration_id,
        treatment.configuration_id as treatment_configuration_id,
        baseline.rate as baseline_rate,
        treatment.rate as treatment_rate,
        {{ crossings_of('baseline') }},
        {{ crossings_of('treatment') }},
        case when baseline.origin = 'measured' then baseline.runs end as baseline_runs,
        case when treatment.origin = 'measured' then treatment.runs end as treatment_runs,
        {{ variation_between('treatment', 'baseline') }}
    from candidates
    inner join peers as treatment on candidates.treatment_key = treatment.capacity_key
    inner join peers as baseline on candidates.baseline_key = baseline.capacity_key
    qualify row_number() over (
            partition by candidates.treatment_key, candidates.kind_key
            order by
                (baseline.campaign = treatment.campaign) desc,
                abs({{ seconds_between('baseline.measured_at', 'treatment.measured_at') }}),
                (baseline.backend_version is not distinct from treatment.backend_version) desc,
                baseline.campaign_batch desc nulls last,
                baseline.configuration_id
        ) = 1

),

pairs as (

    select * from nearest_pairs
    where coalesce(baseline_rate, treatment_rate) is not null

),

{{ tested_pairs_from_pairs() }},

numbered_tests as (

    select
        *,
        -- a pair and its mirror image are one test
        dense_rank() over (
            partition by factor, loss_goal, rate_unit, p_value is null
            order by
                p_value,
                least(baseline_configuration_id, treatment_configuration_id),
                greatest(baseline_configuration_id, treatment_configuration_id)
        ) as place
    from tested_pairs

),

counted_tests as (

    select
        *,
        max(place) over (partition by factor, loss_goal, rate_unit, p_value is null) as tests
    from numbered_tests

),

-- Holm: the smallest p value counts as often as there are tests, the next once less
adjusted as (

    select
        *,
        case
            when p_value is not null
                then max(least(1, (tests - place + 1) * p_value)) over (
                        partition by factor, loss_goal, rate_unit, p_value is null
                        order by place
                    )
        end as p_value_holm
    from counted_tests

),

with_verdict as (

    select
        *,
        {{ comparison_verdict('p_value_holm') }} as verdict
    from adjusted

)

select * from with_verdict
