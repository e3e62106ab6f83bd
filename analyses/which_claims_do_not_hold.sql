-- Claims of public sources that their own figures do not bear out, the worst first, with the arithmetic.
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
    where verdict not in ('holds', 'not_checkable')

)

select * from failed
order by agreeing_ratio, claim_id
