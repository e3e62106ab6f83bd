-- Which claims of public sources do their own figures not bear out, and by what arithmetic?
with

claims as (

    select * from {{ ref('claims') }}

),

failed as (

    select
        claim_id,
        publisher,
        statement,
        verdict,
        reviewed_verdict,
        cases_within / cases as agreeing_ratio,
        arithmetic,
        reason
    from claims
    where verdict not in ('holds', 'tautology', 'not_checkable')

)

select * from failed
order by agreeing_ratio, claim_id
