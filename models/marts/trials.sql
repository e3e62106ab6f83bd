with

-- as they were read: no step on the way copies the texts that only this table shows
trials as (

    select * from {{ ref('stg_trials') }}

),

measured as (

    select * from {{ ref('int_trials__measured') }}

),

runs as (

    select * from {{ ref('int_runs__identified') }}

)

select
    trials.trial_id,
    measured.run_id,
    runs.configuration_id,
    runs.configuration,
    trials.campaign,
    trials.source_path,
    trials.source_sha256,
    trials.report_index,
    trials.source_line,
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
    measured.repetition,
    trials.offered_rate,
    measured.computed_rate as achieved_rate,
    trials.achieved_rate as reported_rate,
    trials.rate_unit,
    trials.sent,
    trials.received,
    trials.dropped,
    trials.malformed,
    measured.completed_exchanges,
    measured.loss_worst_exchange,
    measured.loss_packet,
    measured.loss_lease,
    measured.answered_ratio,
    measured.successful_ratio,
    measured.error_ratio,
    measured.transport,
    measured.latency_avg_ms,
    measured.latency_p50_ms,
    measured.latency_p95_ms,
    measured.latency_p99_ms,
    measured.latency_max_ms,
    measured.cache_hit_ratio,
    measured.is_generator_limited,
    measured.is_held_back,
    measured.is_unsustained,
    measured.send_rate,
    trials.duration_s,
    measured.test_period_s,
    trials.drop_time_s,
    trials.drop_time_second_s,
    trials.wait_s,
    trials.clients,
    measured.max_delay_ms,
    cast(measured.rejected_leases as bigint) as rejected_leases,
    cast(measured.orphans as bigint) as orphans,
    cast(measured.leases_granted as bigint) as leases_granted,
    measured.pool_size,
    coalesce(measured.leases_granted, least(measured.exchanges_since_wiped, trials.clients))
    / nullif(measured.pool_size, 0)
        as pool_utilisation_ratio,
    {{ utc_time('trials.started_at') }} as started_at,
    {{ utc_time('trials.ended_at') }} as ended_at,
    trials.exit_code,
    trials.completed,
    trials.server_wiped,
    trials.requests_planned,
    measured.duplicate_of,
    trials.details,
    trials.warnings,
    trials.context_sources,
    trials.conflicts,
    trials.batch
from trials
inner join measured on trials.trial_id = measured.trial_id
inner join runs on measured.run_id = runs.run_id
