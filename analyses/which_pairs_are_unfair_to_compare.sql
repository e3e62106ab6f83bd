-- Which pairs are unfair to compare: what else differs, and what is not stated?
with

ratios as (

    select * from {{ ref('ratios') }}

),

doubtful as (

    select distinct
        factor,
        baseline,
        treatment,
        campaign,
        fairness,
        unfair_differences,
        unknown_differences,
        worst_differences,
        unstated_aspects
    from ratios
    where fairness <> 'same' or len(unstated_aspects) > 0

)

select * from doubtful
order by
    fairness = 'unfair' desc,
    fairness = 'unknown' desc,
    fairness = 'minor' desc,
    factor asc,
    baseline asc,
    treatment asc
