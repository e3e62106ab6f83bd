with

described as (

    select * from {{ ref('stg_campaigns') }}

),

configurations as (

    select * from {{ ref('int_configurations') }}

),

files as (

    select
        campaign,
        count(*) as files,
        count(*) filter (where status in ('rejected', 'partly_rejected')) as rejected_files,
        max(batch) as last_batch
    from {{ ref('stg_raw_files') }}
    group by campaign
    -- notes above the folders of campaigns make none
    having count(*) > count(*) filter (where status = 'ignored')

),

sources as (

    select * from {{ ref('stg_published_sources') }}

),

counts as (

    select
        campaign,
        origin,
        count(*) as configurations,
        cast(sum(runs) as bigint) as runs,
        cast(sum(trials) as bigint) as trials,
        {{ utc_time('min(first_started_at)') }} as first_started_at,
        {{ utc_time('max(last_started_at)') }} as last_started_at
    from configurations
    group by campaign, origin

),

measured as (

    select
        files.campaign,
        'measured' as origin,
        described.title,
        described.description,
        described.started_on,
        described.source_url,
        described.discard_lowest,
        described.discard_highest,
        described.discard_from_runs,
        described.exceed_ratio,
        described.expected_rcodes,
        described.tags,
        coalesce(counts.configurations, 0) as configurations,
        coalesce(counts.runs, 0) as runs,
        coalesce(counts.trials, 0) as trials,
        files.files,
        files.rejected_files,
        counts.first_started_at,
        counts.last_started_at,
        files.last_batch
    from files
    left join described on files.campaign = described.campaign
    left join counts on files.campaign = counts.campaign and counts.origin = 'measured'

),

published as (

    select
        sources.source_id as campaign,
        'published' as origin,
        sources.title,
        concat_ws(', ', sources.publisher, sources.published_date) || '. ' || sources.reliability as description,
        case when sources.published_date like '____-__-__' then cast(sources.published_date as date) end as started_on,
        sources.url as source_url,
        null as discard_lowest,
        null as discard_highest,
        null as discard_from_runs,
        null as exceed_ratio,
        null as expected_rcodes,
        null as tags,
        coalesce(counts.configurations, 0) as configurations,
        counts.runs,
        null as trials,
        null as files,
        null as rejected_files,
        null as first_started_at,
        null as last_started_at,
        null as last_batch
    from sources
    left join counts on sources.source_id = counts.campaign and counts.origin = 'published'

),

combined as (

    select * from measured
    union all
    select * from published

)

select * from combined
