with

campaigns as (

    select * from {{ source('lake', 'campaigns') }}

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
        expected_rcodes,
        tags
    from campaigns
    where {{ is_changed('campaign') }}
    qualify row_number() over (partition by campaign order by batch desc) = 1

)

select * from latest
