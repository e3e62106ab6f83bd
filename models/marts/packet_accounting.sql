with

leases as (

    select * from {{ ref('int_lease_accounting') }}

),

queries as (

    select * from {{ ref('int_query_accounting') }}

),

trials as (

    select * from {{ ref('int_trials__measured') }}

),

runs as (

    select * from {{ ref('int_runs__identified') }}

)

select
    trials.trial_id,
    trials.run_id,
    runs.configuration_id,
    runs.configuration,
    trials.campaign,
    trials.protocol,
    trials.tool,
    trials.backend,
    trials.repetition,
    trials.offered_rate,
    trials.sent,
    trials.received,
    coalesce(leases.unanswered, cast(queries.sent - queries.answered as bigint)) as unanswered,
    leases.arrived_at_server,
    leases.lost_on_the_way,
    coalesce(leases.lost_in_receive_buffer, queries.lost_in_receive_buffer) as lost_in_receive_buffer,
    queries.lost_at_closed_port,
    leases.received_by_server,
    leases.dropped_by_server,
    leases.dropped_queue_full,
    coalesce(leases.answered_by_server, queries.answered_by_server) as answered_by_server,
    queries.answered_by_network,
    queries.answered,
    coalesce(leases.lost_in_server, queries.lost_in_server) as lost_in_server,
    leases.lost_in_generator_buffer,
    leases.answered_too_late,
    queries.ratio_printed,
    queries.ratio_true,
    queries.probes,
    queries.probes_answered,
    queries.probes_failed,
    queries.queue_peak,
    queries.queue_s,
    queries.is_server_restarted,
    trials.is_pace_lost,
    trials.is_unsustained
from trials
inner join runs on trials.run_id = runs.run_id
left join leases on trials.trial_id = leases.trial_id
left join queries on trials.trial_id = queries.trial_id
where coalesce(leases.trial_id, queries.trial_id) is not null
