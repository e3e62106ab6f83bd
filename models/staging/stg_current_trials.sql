with

trials as (

    select * from {{ source('lake', 'trials') }}

),

files as (

    select * from {{ ref('stg_raw_files') }}

),

current_versions as (

    select
        trials.trial_id,
        trials.batch
    from trials
    inner join files
        on trials.campaign = files.campaign
            and trials.source_path = files.source_path
            and trials.batch = files.batch

)

select * from current_versions
