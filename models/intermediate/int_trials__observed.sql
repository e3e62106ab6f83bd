with

observations as (

    select
        trial_id,
        campaign,
        metric,
        label,
        t_s,
        value,
        label is null and t_s is null as is_of_whole,
        metric = 'responses' and label is not null and t_s is null as is_of_rcode,
        metric = 'interval_sent' and label is null and t_s is not null as is_of_interval
    from {{ ref('stg_observations') }}
    where
        trial_id is not null
        and metric in (
            'latency_avg', 'latency_p50', 'latency_p95', 'latency_p99', 'latency_max', 'outstanding_window',
            'responses', 'interval_sent'
        )

),

watched as (

    select * from {{ ref('int_observations') }}
    where trial_id is not null and coalesce(moment, 'after') = 'after'

),

campaigns as (

    select * from {{ ref('stg_campaigns') }}

),

judged as (

    select
        observations.*,
        observations.is_of_rcode and not array_contains(
            coalesce(campaigns.expected_rcodes, {{ list_of(["'NOERROR'", "'NXDOMAIN'"]) }}), observations.label
        ) as is_unexpected
    from observations
    left join campaigns on observations.campaign = campaigns.campaign

),

summaries as (

    select
        trial_id,
        max(value) filter (where metric = 'latency_avg' and is_of_whole) as latency_avg_ms,
        max(value) filter (where metric = 'latency_p50' and is_of_whole) as latency_p50_ms,
        max(value) filter (where metric = 'latency_p95' and is_of_whole) as latency_p95_ms,
        max(value) filter (where metric = 'latency_p99' and is_of_whole) as latency_p99_ms,
        max(value) filter (where metric = 'latency_max' and is_of_whole) as latency_max_ms,
        max(value) filter (where metric = 'outstanding_window' and is_of_whole) as outstanding_window,
        case when bool_or(is_of_rcode) then coalesce(sum(value) filter (where is_unexpected), 0) end
            as unexpected_answers,
        max_by(label, value) filter (where is_unexpected) as unexpected_rcode,
        -- the first interval may begin before the first request, and nothing is sent in those behind the last
        (
            sum(value) filter (where is_of_interval)
            - min_by(value, t_s) filter (where is_of_interval)
        ) / nullif(
            max(t_s) filter (where is_of_interval and value > 0) - min(t_s) filter (where is_of_interval), 0
        ) as send_rate
    from judged
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

    select trial_id from summaries
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
        summaries.unexpected_answers,
        summaries.unexpected_rcode,
        summaries.send_rate,
        leases.leases_held
    from trials
    left join summaries on trials.trial_id = summaries.trial_id
    left join leases on trials.trial_id = leases.trial_id

)

select * from joined
