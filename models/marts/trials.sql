with

trials as (

    select * from {{ ref('int_trials__measured') }}

),

runs as (

    select * from {{ ref('int_runs__identified') }}

),

told as (

    select
        trial_id,
        source_sha256,
        source_line,
        context_sources
    from {{ ref('stg_trials') }}

)

select
    trials.trial_id,
    trials.run_id,
    runs.configuration_id,
    runs.configuration,
    trials.campaign,
    trials.source_path,
    told.source_sha256,
    trials.report_index,
    told.source_line,
    trials.tool,
    trials.tool_version,
    trials.command,
    trials.method,
    trials.product,
    trials.product_version,
    trials.protocol,
    trials.backend,
    trials.backend_version,
    trials.threading,
    trials.threads,
    trials.packet_queue_size,
    trials.ha_mode,
    trials.scenario,
    trials.testbed,
    trials.host_id,
    trials.server_config_id,
    trials.repetition,
    trials.offered_rate,
    trials.computed_rate as achieved_rate,
    trials.reported_rate,
    trials.rate_unit,
    trials.sent,
    trials.received,
    trials.dropped,
    trials.malformed,
    trials.completed_exchanges,
    trials.loss_worst_exchange,
    trials.loss_packet,
    trials.loss_lease,
    trials.answered_ratio,
    trials.successful_ratio,
    trials.error_ratio,
    trials.transport,
    trials.latency_avg_ms,
    trials.latency_p50_ms,
    trials.latency_p95_ms,
    trials.latency_p99_ms,
    trials.latency_max_ms,
    trials.cache_hit_ratio,
    trials.is_generator_limited,
    trials.is_held_back,
    trials.is_unsustained,
    trials.send_rate,
    trials.duration_s,
    trials.test_period_s,
    trials.drop_time_s,
    trials.drop_time_second_s,
    trials.wait_s,
    trials.clients,
    trials.max_delay_ms,
    cast(trials.rejected_leases as bigint) as rejected_leases,
    cast(trials.orphans as bigint) as orphans,
    cast(trials.leases_granted as bigint) as leases_granted,
    trials.pool_size,
    coalesce(trials.leases_granted, least(trials.exchanges_since_wiped, trials.clients)) / nullif(trials.pool_size, 0)
        as pool_utilisation_ratio,
    {{ utc_time('trials.started_at') }} as started_at,
    {{ utc_time('trials.ended_at') }} as ended_at,
    trials.exit_code,
    trials.completed,
    trials.server_wiped,
    trials.requests_planned,
    trials.duplicate_of,
    trials.details,
    trials.warnings,
    told.context_sources,
    trials.conflicts,
    trials.batch
from trials
inner join told on trials.trial_id = told.trial_id
inner join runs on trials.run_id = runs.run_id
