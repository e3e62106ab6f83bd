with

accounting as (

    select * from {{ ref('int_query_accounting') }}

),

trials as (

    select * from {{ ref('int_trials__measured') }}

),

runs as (

    select * from {{ ref('int_runs__identified') }}

)

select
    accounting.trial_id,
    trials.run_id,
    runs.configuration_id,
    runs.configuration,
    trials.campaign,
    trials.tool,
    trials.backend,
    trials.repetition,
    trials.offered_rate,
    accounting.sent,
    accounting.received,
    accounting.lost_in_receive_buffer,
    accounting.lost_at_closed_port,
    accounting.probes,
    accounting.probes_answered,
    accounting.probes_failed,
    accounting.queue_peak,
    accounting.queue_s,
    accounting.ratio_printed,
    accounting.is_server_restarted,
    accounting.answered_by_server,
    accounting.answered_by_network,
    accounting.answered,
    accounting.ratio_true,
    accounting.lost_in_server,
    trials.is_pace_lost,
    trials.is_unsustained
from accounting
inner join trials on accounting.trial_id = trials.trial_id
inner join runs on trials.run_id = runs.run_id
