-- All claims, with figures as text; `is_agreed`: whether the maintainers agree with the rule, as
-- docs/explanation/claims.md counts it.
with

written as (

    select
        claim_id,
        list_transform(
            [claimed_low, claimed_high, recomputed_low, recomputed_high],
            lambda figure: if(abs(figure) >= 1000, format('{:,.0f}', figure), format('{:.4g}', figure))
        ) as figures
    from claims

),

spans as (

    select
        claim_id,
        nullif(concat_ws(' to ', figures[1], nullif(figures[2], figures[1])), '') as claimed,
        nullif(concat_ws(' to ', figures[3], nullif(figures[4], figures[3])), '') as recomputed
    from written

)

select
    claims.*,
    coalesce(
        case claims.wording
            when 'at_least' then 'at least '
            when 'at_most' then 'at most '
            when 'up_to' then 'up to '
            when 'some_at_least' then 'in some cases at least '
            when 'about' then 'about '
            else ''
        end || spans.claimed || coalesce(' ' || claims.claimed_unit, ''),
        'no number named'
    ) as claimed,
    coalesce(spans.recomputed || coalesce(' ' || claims.claimed_unit, ''), '-') as figures_give,
    if(claims.cases > 0, claims.cases_within || ' of ' || claims.cases, '-') as cases_that_agree,
    coalesce(
        claims.verdict = claims.reviewed_verdict
        or (claims.verdict, claims.reviewed_verdict) in (
            ('holds', 'holds_with_caveat'), ('overstated', 'does_not_hold'), ('understated', 'does_not_hold')
        ),
        false
    ) as is_agreed
from claims
inner join spans on claims.claim_id = spans.claim_id
order by claims.claim_id
