with

observations as (

    select * from {{ ref('stg_observations') }}
    where trial_id is not null

),

watched as (

    select * from {{ ref('trial_observations') }}
    where trial_id is not null and coalesce(moment, 'after') = 'after'

),

campaigns as (

    select * from {{ ref('stg_campaigns') }}

),

summaries as (

    select
        trial_id,
        max(value) filter (where metric = 'latency_avg') as latency_avg_ms,
        max(value) filter (where metric = 'latency_p50') as latency_p50_ms,
        max(value) filter (where metric = 'latency_p95') as latency_p95_ms,
        max(value) filter (where metric = 'latency_p99') as latency_p99_ms,
        max(value) filter (where metric = 'latency_max') as latency_max_ms,
        max(value) filter (where metric = 'outstanding_window') as outstanding_window
    from observations
    where label is null and t_s is null
    group by trial_id

),

coded_answers as (

    select
        observations.trial_id,
        observations.label as rcode,
        observations.value as answers,
        not array_contains(
            coalesce(campaigns.expected_rcodes, {{ list_of(["'NOERROR'", "'NXDOMAIN'"]) }}), observations.label
        ) as is_unexpected
    from observations
    left join campaigns on observations.campaign = campaigns.campaign
    where observations.metric = 'responses' and observations.label is not null and observations.t_s is null

),

codes as (

    select
        trial_id,
        coalesce(sum(answers) filter (where is_unexpected), 0) as unexpected_answers,
        {{ value_at_highest('rcode', 'answers') }} filter (where is_unexpected) as unexpected_rcode
    from coded_answers
    group by trial_id

),

sending as (

    -- the first interval may begin before the first request, and nothing is sent in those behind the last
    select
        trial_id,
        (sum(value) - {{ value_at_lowest('value', 't_s') }})
        / nullif(max(case when value > 0 then t_s end) - min(t_s), 0) as send_rate
    from observations
    where metric = 'interval_sent' and label is null and t_s is not null
    group by trial_id

),

lease_counts as (

    select
        trial_id,
        metric,
        max(value) filter (where coalesce(label, '') <> 'rows') as unique_leases,
        max(value) as value,
        -- of a subnet its pools are parts
        sum(value) filter (where label like 'subnet[%]' and label not like '%].%') as assigned
    from watched
    where
        metric in (
            'leases_in_db_after', 'kea.leased-addresses', 'kea.leased-prefixes',
            'kea.assigned-addresses', 'kea.assigned-nas', 'kea.assigned-pds'
        )
    group by trial_id, source_path, metric

),

leases as (

    -- servers of one pair hold the same leases; a lease file may have several rows for one
    select
        trial_id,
        cast(
            coalesce(
                max(unique_leases) filter (where metric = 'leases_in_db_after'),
                max(value) filter (where metric = 'leases_in_db_after'),
                max(value) filter (where metric like 'kea.leased-%'),
                max(assigned)
            ) as bigint
        ) as leases_held
    from lease_counts
    group by trial_id

),

trials as (

    select trial_id from observations
    union
    select trial_id from leases

),

joined as (

    select
        trials.trial_id,
        summaries.latency_avg_ms,
        summaries.latency_p50_ms,
        summaries.latency_p95_ms,
        summaries.latency_p99_ms,
        summaries.latency_max_ms,
        summaries.outstanding_window,
        codes.unexpected_answers,
        codes.unexpected_rcode,
        sending.send_rate,
        leases.leases_held
    from trials
    left join summaries on trials.trial_id = summaries.trial_id
    left join codes on trials.trial_id = codes.trial_id
    left join sending on trials.trial_id = sending.trial_id
    left join leases on trials.trial_id = leases.trial_id

)

select * from joined
