with

campaigns as (

    select * from {{ source('lake', 'campaigns') }}

),

files as (

    select * from {{ ref('stg_raw_files') }}

),

counting as (

    select campaigns.*
    from campaigns
    where campaigns.campaign in (select files.campaign from files)

),

latest as (

    select
        campaign,
        batch,
        title,
        description,
        started_on,
        source_url,
        discard_lowest,
        discard_highest,
        discard_from_runs,
        exceed_ratio,
        expected_rcodes,
        tags
    from counting
    qualify row_number() over (partition by campaign order by batch desc) = 1

)

select * from latest
