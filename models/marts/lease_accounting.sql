with

accounting as (

    select * from {{ ref('int_lease_accounting') }}

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
    accounting.unanswered,
    accounting.arrived_at_server,
    accounting.lost_on_the_way,
    accounting.lost_in_receive_buffer,
    accounting.received_by_server,
    accounting.dropped_by_server,
    accounting.dropped_queue_full,
    accounting.answered_by_server,
    accounting.lost_in_server,
    accounting.lost_in_generator_buffer,
    accounting.answered_too_late
from accounting
inner join trials on accounting.trial_id = trials.trial_id
inner join runs on trials.run_id = runs.run_id
