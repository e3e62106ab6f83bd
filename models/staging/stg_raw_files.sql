with

raw_files as (

    select * from {{ source('lake', 'raw_files') }}

),

current_versions as (

    select
        campaign,
        batch,
        source_path,
        format,
        status
    from raw_files
    qualify row_number() over (partition by campaign, source_path order by batch desc) = 1

),

not_forgotten as (

    select * from current_versions
    where status <> 'forgotten'

)

select * from not_forgotten
