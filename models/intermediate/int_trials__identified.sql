with

labelled as (

    select * from {{ ref('int_trials__labelled') }}

),

duplicates as (

    select * from {{ ref('int_trials__duplicates') }}

),

methods_of_ramps as (

    select * from {{ ref('int_trials__methods') }}

),

numbered_by_order as (

    select * from {{ ref('int_trials__ordered') }}

),

with_repetition as (

    select
        labelled.trial_id,
        labelled.campaign,
        {{ configuration_columns_of('labelled') }},
        labelled.unnamed_folder,
        coalesce(methods_of_ramps.method, labelled.method) as method,
        case when numbered_by_order.trial_id is null then labelled.repetition else numbered_by_order.ramp end
            as repetition,
        numbered_by_order.ramp is not null as is_numbered_by_order
    from labelled
    left join methods_of_ramps on labelled.trial_id = methods_of_ramps.trial_id
    left join numbered_by_order on labelled.trial_id = numbered_by_order.trial_id

),

own_runs as (

    select
        trial_id,
        unnamed_folder,
        method,
        repetition,
        is_numbered_by_order,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', unnamed_folder, method, repetition') }} as run_id
    from with_repetition

),

runs_of_duplicates as (

    select
        own_runs.trial_id,
        own_runs.run_id
    from own_runs
    where own_runs.trial_id in (select duplicates.duplicate_of from duplicates)

),

with_runs as (

    select
        {{ all_but('own_runs', 'run_id') }},
        duplicates.duplicate_of,
        -- a duplicate belongs to the run of the trial that counts
        coalesce(runs_of_duplicates.run_id, own_runs.run_id) as run_id
    from own_runs
    left join duplicates on own_runs.trial_id = duplicates.trial_id
    left join runs_of_duplicates on duplicates.duplicate_of = runs_of_duplicates.trial_id

)

select
    trial_id,
    run_id,
    unnamed_folder,
    method,
    repetition,
    is_numbered_by_order,
    duplicate_of
from with_runs
