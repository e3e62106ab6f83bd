-- Which pairs are unfair to compare: what else differs, and what is not stated?
with

fairness as (

    select * from {{ ref('comparison_fairness') }}

),

configurations as (

    select * from {{ ref('configurations') }}

),

doubtful as (

    select
        fairness.factor,
        baseline.configuration as baseline,
        treatment.configuration as treatment,
        treatment.campaign,
        fairness.grade,
        fairness.unfair_differences,
        fairness.unknown_differences,
        fairness.worst,
        fairness.unstated_aspects
    from fairness
    inner join configurations as baseline on fairness.baseline_configuration_id = baseline.configuration_id
    inner join configurations as treatment on fairness.treatment_configuration_id = treatment.configuration_id
    where fairness.grade <> 'same' or len(fairness.unstated_aspects) > 0

)

select * from doubtful
order by grade = 'unfair' desc, grade = 'unknown' desc, grade = 'minor' desc, factor asc, baseline asc, treatment asc
