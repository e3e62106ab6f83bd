with

raw_files as (

    select * from {{ source('lake', 'raw_files') }}

),

-- nearly every file has one version; a shared hash only lets more be sorted
shared as (

    select hash(campaign, source_path) as file_hash
    from raw_files
    group by hash(campaign, source_path)
    having count(*) > 1

),

current_versions as (

    select
        raw_files.campaign,
        raw_files.batch,
        raw_files.source_path,
        raw_files.format,
        raw_files.status
    from raw_files
    anti join shared on hash(raw_files.campaign, raw_files.source_path) = shared.file_hash
    union all
    select
        campaign,
        batch,
        source_path,
        format,
        status
    from raw_files
    where hash(campaign, source_path) in (select shared.file_hash from shared)
    qualify row_number() over (partition by campaign, source_path order by batch desc) = 1

),

not_forgotten as (

    select * from current_versions
    where status <> 'forgotten'

)

select * from not_forgotten
