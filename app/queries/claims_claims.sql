-- All claims; `is_agreed`: whether the maintainers agree with the rule, as docs/explanation/claims.md counts it.
select
    *,
    coalesce(
        verdict = reviewed_verdict
        or (verdict, reviewed_verdict) in (
            ('holds', 'holds_with_caveat'), ('overstated', 'does_not_hold'), ('understated', 'does_not_hold')
        ),
        false
    ) as is_agreed
from claims
order by claim_id
