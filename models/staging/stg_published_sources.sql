with

reported as (

    select * from {{ ref('reported_sources') }}

),

figures as (

    select * from {{ ref('stg_figures') }}

),

raw_files as (

    select * from {{ ref('stg_raw_files') }}

),

ingested as (

    select
        source_id,
        -- one row of a source may describe it for all
        coalesce(min(source_title), source_id) as title,
        min(source_publisher) as publisher,
        min(source_date) as published_date,
        min(source_url) as url,
        'Figures ingested: ' || cast(count(*) as string) || '.' as reliability
    from figures
    group by source_id

),

combined as (

    select
        -- a campaign of one's own keeps its name
        case
            when source_id in (select raw_files.campaign from raw_files) then 'published/' || source_id
            else source_id
        end as source_id,
        source_id as stated_id,
        title,
        publisher,
        published_date,
        url,
        reliability
    from reported
    union all
    select
        source_id,
        source_id as stated_id,
        title,
        publisher,
        published_date,
        url,
        reliability
    from ingested

)

select * from combined
