-- depends_on: {{ ref('runs') }}, {{ ref('campaigns') }} (read by run_rates_at and lps_at)
with

steps as (

    select * from {{ ref('int_steps') }}

),

runs as (

    select * from {{ ref('int_runs__identified') }}

)

select
    steps.run_id,
    runs.configuration_id,
    runs.configuration,
    steps.offered_rate,
    steps.trials,
    steps.achieved_rate,
    steps.loss_worst_exchange,
    steps.loss_packet,
    steps.loss_lease,
    steps.answered_ratio,
    steps.successful_ratio,
    steps.error_ratio,
    steps.is_generator_limited,
    steps.is_pace_lost,
    steps.is_unsustained
from steps
inner join runs on steps.run_id = runs.run_id
order by runs.configuration_id, steps.run_id, steps.offered_rate -- questions for a configuration read few rows
