with

raw_files as (

    select * from {{ source('lake', 'raw_files') }}

),

-- nearly every file has one version: only the others are sorted; a shared hash lets one more of them through
shared_names as (

    select hash(campaign, source_path) as name_hash
    from raw_files
    group by hash(campaign, source_path)
    having count(*) > 1

),

current_versions as (

    select
        campaign,
        batch,
        source_path,
        format,
        status
    from raw_files
    where hash(campaign, source_path) not in (select shared_names.name_hash from shared_names)
    union all
    select
        campaign,
        batch,
        source_path,
        format,
        status
    from raw_files
    where hash(campaign, source_path) in (select shared_names.name_hash from shared_names)
    qualify row_number() over (partition by campaign, source_path order by batch desc) = 1

),

not_forgotten as (

    select * from current_versions
    where status <> 'forgotten'

)

select * from not_forgotten
