with

rejects as (

    select * from {{ source('lake', 'rejects') }}

),

files as (

    select * from {{ ref('stg_raw_files') }}

),

current_versions as (

    select
        rejects.campaign,
        rejects.batch,
        rejects.source_path,
        rejects.source_sha256,
        rejects.line,
        rejects.reason,
        rejects.hint
    from rejects
    inner join files
        on rejects.campaign = files.campaign
            and rejects.source_path = files.source_path
            and rejects.batch = files.batch

)

select * from current_versions
