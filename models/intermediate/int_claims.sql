with

claims as (

    select * from {{ ref('reported_claims') }}

),

cases as (

    select * from {{ ref('int_claim_cases') }}

),

tolerances as (

    -- a tenth is the project's choice; the others show what hangs on it
    select 10 as tolerance_percent
    union all
    select 5 as tolerance_percent
    union all
    select 15 as tolerance_percent

),

expectations as (

    select
        claims.claim_id,
        claims.wording,
        tolerances.tolerance_percent,
        cases.case_number,
        cases.recomputed,
        cases.arithmetic,
        coalesce(cases.expected, claims.claimed_low) as expected_low,
        coalesce(cases.expected, claims.claimed_high) as expected_high
    from claims
    inner join cases on claims.claim_id = cases.claim_id
    cross join tolerances

),

bounded as (

    select
        *,
        case
            when wording in ('at_least', 'some_at_least') then expected_low
            when wording <> 'at_most'
                then expected_low - {{ claim_tolerance('expected_low', 'wording', 'tolerance_percent') }}
        end as lowest_agreeing,
        case
            when wording in ('at_most', 'up_to') then expected_high
            when wording not in ('at_least', 'some_at_least')
                then expected_high + {{ claim_tolerance('expected_high', 'wording', 'tolerance_percent') }}
        end as highest_agreeing
    from expectations

),

placed as (

    select
        *,
        case
            when coalesce(lowest_agreeing, highest_agreeing) is null then null
            when recomputed < lowest_agreeing then 'below'
            when recomputed > highest_agreeing then 'above'
            else 'within'
        end as place
    from bounded

),

summed_up as (

    select
        claim_id,
        tolerance_percent,
        count(*) as cases,
        count(*) filter (where place = 'within') as cases_within,
        count(*) filter (where place = 'above') as cases_above,
        count(*) filter (where place = 'below') as cases_below,
        min(recomputed) as recomputed_low,
        max(recomputed) as recomputed_high,
        max_by(place, recomputed) as place_of_highest,
        {{ joined_texts('arithmetic', '; ', 'case_number') }} as every_case,
        'lowest ' || min_by(arithmetic, recomputed)
        || '; highest ' || max_by(arithmetic, recomputed) as ends
    from placed
    group by claim_id, tolerance_percent

),

judged as (

    select
        claims.claim_id,
        tolerances.tolerance_percent,
        claims.source_id,
        claims.location,
        claims.statement,
        claims.claimed_low,
        claims.claimed_high,
        claims.claimed_unit,
        claims.wording,
        claims.quantity,
        claims.reviewed_verdict,
        claims.reason,
        summed_up.recomputed_low,
        summed_up.recomputed_high,
        coalesce(summed_up.cases, 0) as cases,
        coalesce(summed_up.cases_within, 0) as cases_within,
        coalesce(summed_up.cases_above, 0) as cases_above,
        coalesce(summed_up.cases_below, 0) as cases_below,
        concat_ws(
            ': ',
            case
                when summed_up.cases > 1 and claims.wording not in ('same', 'between')
                    then
                        cast(summed_up.cases_within as string) || ' of ' || cast(summed_up.cases as string)
                        || ' agree, ' || cast(summed_up.cases_above as string) || ' above, '
                        || cast(summed_up.cases_below as string) || ' below'
            end,
            case when summed_up.cases > 4 then summed_up.ends else summed_up.every_case end
        ) as arithmetic,
        case
            when summed_up.place_of_highest is null then 'not_checkable'
            when
                claims.wording = 'between'
                and claims.claimed_low >= summed_up.recomputed_low
                and claims.claimed_high <= summed_up.recomputed_high
                then 'holds'
            when claims.wording = 'between' then 'contradicted_in_source'
            when summed_up.cases_within = summed_up.cases and claims.computation = 'restated' then 'tautology'
            when summed_up.cases_within = summed_up.cases then 'holds'
            when claims.wording = 'same' then 'contradicted_in_source'
            when claims.wording = 'some_at_least' and summed_up.cases_within > 0 then 'holds'
            when claims.wording = 'up_to' and summed_up.place_of_highest = 'within' then 'holds'
            when claims.wording = 'up_to' and summed_up.place_of_highest = 'above' then 'understated'
            when summed_up.cases_below = summed_up.cases then 'overstated'
            when summed_up.cases_above = summed_up.cases then 'understated'
            when summed_up.cases_within > 0 then 'partly'
            else 'does_not_hold'
        end as verdict
    from claims
    cross join tolerances
    left join summed_up
        on claims.claim_id = summed_up.claim_id and tolerances.tolerance_percent = summed_up.tolerance_percent

),

sensitivities as (

    select
        claim_id,
        max(verdict) filter (where tolerance_percent = 5) as verdict_at_5_percent,
        max(verdict) filter (where tolerance_percent = 15) as verdict_at_15_percent
    from judged
    group by claim_id

),

with_sensitivity as (

    select
        judged.*,
        case when judged.wording in ('about', 'up_to') then judged.tolerance_percent / 100 end as tolerance_ratio,
        sensitivities.verdict_at_5_percent,
        sensitivities.verdict_at_15_percent
    from judged
    inner join sensitivities on judged.claim_id = sensitivities.claim_id
    where judged.tolerance_percent = 10

)

select * from with_sensitivity
