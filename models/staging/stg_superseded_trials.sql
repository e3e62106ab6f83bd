with

trials as (

    select * from {{ source('lake', 'trials') }}

),

current_trials as (

    select * from {{ ref('stg_current_trials') }}

),

superseded as (

    select
        trials.trial_id,
        trials.batch
    from trials
    anti join current_trials
        on trials.trial_id = current_trials.trial_id
            and trials.batch = current_trials.batch

)

select * from superseded
