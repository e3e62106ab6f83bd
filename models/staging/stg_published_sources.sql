with

reported as (

    select * from {{ ref('reported_sources') }}

),

figures as (

    select * from {{ ref('stg_figures') }}

),

campaigns as (

    select distinct campaign from {{ ref('stg_raw_files') }}

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
        case when campaigns.campaign is null then '' else 'published/' end || reported.source_id as source_id,
        reported.source_id as stated_id,
        reported.title,
        reported.publisher,
        reported.published_date,
        reported.url,
        reported.reliability
    from reported
    left join campaigns on reported.source_id = campaigns.campaign
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
