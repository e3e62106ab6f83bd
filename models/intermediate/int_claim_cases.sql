with

claims as (

    select * from {{ ref('reported_claims') }}

),

terms as (

    select * from {{ ref('reported_claim_terms') }}

),

figures as (

    select * from {{ ref('stg_published_figures') }}

),

numbered_terms as (

    select
        terms.claim_id,
        terms.case_number,
        terms.side,
        terms.position,
        terms.operation,
        terms.field,
        terms.note,
        case when terms.field = 'value' then figures.qualifier end as qualifier,
        coalesce(
            terms.constant,
            case terms.field
                when 'value' then figures.value
                when 'offered_rate' then figures.offered_rate
                when 'drop_time_s' then figures.drop_time_s
                when 'duration_s' then figures.duration_s
                when 'packet_queue_size' then figures.packet_queue_size
                when 'threads' then figures.threads
                when 'runs_kept' then figures.repetitions - figures.discard_lowest - figures.discard_highest
            end
        ) as number
    from terms
    left join figures on terms.figure_id = figures.figure_id
    where terms.side <> 'context'

),

worded_terms as (

    select
        *,
        concat_ws(
            '',
            case qualifier
                when 'approx' then '~'
                when 'less_than' then '<'
                when 'at_most' then '<='
                when 'greater_than' then '>'
            end,
            {{ short_number('number') }},
            ' (' || coalesce(note, nullif(field, 'value')) || ')'
        ) as text
    from numbered_terms

),

sides as (

    select
        claim_id,
        case_number,
        side,
        count(*) as terms,
        max(number) as highest,
        {{ product_of("case operation when 'over' then 1 / number else number end") }} as number,
        {{ joined_texts(
            "case when position = 1 then '' when operation = 'over' then ' / ' else ' * ' end || text", '', 'position'
        ) }} as formula,
        {{ joined_texts('text', ', ', 'position') }} as listing
    from worded_terms
    group by claim_id, case_number, side

),

cases as (

    select
        claim_id,
        case_number,
        sum(terms) filter (where side <> 'expected') as terms,
        max(number) filter (where side = 'left') as left_number,
        max(number) filter (where side = 'right') as right_number,
        max(number) filter (where side = 'expected') as expected,
        max(highest) filter (where side = 'left') as highest,
        max(listing) filter (where side = 'left') as listing,
        max(formula) filter (where side = 'left') as left_formula,
        max(case when terms > 1 then '(' || formula || ')' else formula end) filter (where side = 'right')
            as right_formula
    from sides
    group by claim_id, case_number

),

computed as (

    select
        cases.*,
        claims.computation,
        case claims.computation
            when 'restated' then cases.left_number
            when 'quotient' then cases.left_number / coalesce(cases.right_number, 1)
            when 'percent' then 100 * cases.left_number / cases.right_number
            when 'gain' then 100 * (cases.left_number / cases.right_number - 1)
            when 'loss' then 100 * (1 - cases.left_number / cases.right_number)
            when 'spread'
                then 100 * (cases.left_number - cases.right_number) / (cases.left_number + cases.right_number)
            when 'difference' then cases.left_number - coalesce(cases.right_number, 0)
            when 'sum' then cases.left_number + coalesce(cases.right_number, 0)
            when 'highest' then cases.highest
        end as recomputed,
        case claims.computation
            when 'restated' then cases.left_formula
            when 'quotient' then concat_ws(' / ', cases.left_formula, cases.right_formula)
            when 'percent' then '100 * ' || cases.left_formula || ' / ' || cases.right_formula
            when 'gain' then '100 * (' || cases.left_formula || ' / ' || cases.right_formula || ' - 1)'
            when 'loss' then '100 * (1 - ' || cases.left_formula || ' / ' || cases.right_formula || ')'
            when 'spread'
                then
                    '100 * (' || cases.left_formula || ' - ' || cases.right_formula || ') / ('
                    || cases.left_formula || ' + ' || cases.right_formula || ')'
            when 'difference' then concat_ws(' - ', cases.left_formula, cases.right_formula)
            when 'sum' then concat_ws(' + ', cases.left_formula, cases.right_formula)
            when 'highest' then 'highest of ' || cases.listing
        end as formula
    from cases
    inner join claims on cases.claim_id = claims.claim_id

),

worded as (

    select
        claim_id,
        case_number,
        recomputed,
        expected,
        -- a number that is its own case needs no equation
        concat_ws(' = ', case when terms > 1 then {{ short_number('round(recomputed, 2)') }} end, formula) as arithmetic
    from computed

)

select * from worded
