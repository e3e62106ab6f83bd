with

claims as (

    select * from {{ ref('int_claims') }}

),

sources as (

    select * from {{ ref('stg_published_sources') }}

),

figures as (

    select
        claim_id,
        array_sort(array_distinct(array_agg(figure_id))) as figure_ids
    from {{ ref('reported_claim_terms') }}
    where figure_id is not null
    group by claim_id

)

select
    claims.claim_id,
    sources.source_id,
    sources.title as source_title,
    sources.publisher,
    sources.url as source_url,
    claims.location,
    claims.statement,
    claims.claimed_low,
    claims.claimed_high,
    claims.claimed_unit,
    claims.wording,
    claims.quantity,
    claims.recomputed_low,
    claims.recomputed_high,
    claims.cases,
    claims.cases_within,
    claims.cases_above,
    claims.cases_below,
    claims.arithmetic,
    claims.tolerance_ratio,
    claims.verdict,
    claims.verdict_at_5_percent,
    claims.verdict_at_15_percent,
    claims.reviewed_verdict,
    claims.reason,
    coalesce(figures.figure_ids, {{ list_of([]) }}) as figure_ids
from claims
inner join sources on claims.source_id = sources.stated_id
left join figures on claims.claim_id = figures.claim_id
