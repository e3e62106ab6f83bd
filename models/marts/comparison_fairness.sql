with

capacity_pairs as (

    select * from {{ ref('int_capacity_pairs') }}

),

configuration_facts as (

    select * from {{ ref('configuration_facts') }}

),

compared as (

    select distinct
        factor,
        baseline_configuration_id,
        treatment_configuration_id
    from capacity_pairs

),

pairs as (

    select distinct
        baseline_configuration_id as configuration_id_a,
        treatment_configuration_id as configuration_id_b
    from compared

),

{{ differences_of_pairs() }},

-- what necessarily goes with the factor in question is no reproach
unasked_differences as (

    select
        compared.factor,
        graded_differences.*,
        {{ rank_of_grade('graded_differences.grade') }} as grade_rank,
        graded_differences.aspect || ', ' || graded_differences.item || ': '
        || coalesce(graded_differences.value_a, 'not known') || ' against '
        || coalesce(graded_differences.value_b, 'not known') as in_words
    from compared
    inner join graded_differences
        on compared.baseline_configuration_id = graded_differences.configuration_id_a
            and compared.treatment_configuration_id = graded_differences.configuration_id_b
    where not array_contains(graded_differences.goes_with, compared.factor)

),

with_worst as (

    select
        *,
        min(grade_rank) over (partition by factor, configuration_id_a, configuration_id_b) as worst_rank
    from unasked_differences

),

summarised as (

    select
        factor,
        configuration_id_a,
        configuration_id_b,
        min_by(grade, grade_rank) as grade,
        count(*) as differences,
        count(*) filter (where grade = 'unfair') as unfair_differences,
        count(*) filter (where grade = 'unknown') as unknown_differences,
        count(*) filter (where grade = 'minor') as minor_differences,
        {{ list_in_order('in_words', 'aspect, item', 'grade_rank = worst_rank') }} as worst
    from with_worst
    group by factor, configuration_id_a, configuration_id_b

),

silences as (

    select
        pair_number,
        aspect
    from items
    group by pair_number, aspect
    having count(value_a) = 0 and count(value_b) = 0

),

silent_aspects as (

    select
        numbered_pairs.configuration_id_a,
        numbered_pairs.configuration_id_b,
        array_sort(array_distinct(array_agg(silences.aspect))) as unstated_aspects
    from silences
    inner join numbered_pairs on silences.pair_number = numbered_pairs.pair_number
    group by numbered_pairs.configuration_id_a, numbered_pairs.configuration_id_b

)

select
    compared.factor,
    compared.baseline_configuration_id,
    compared.treatment_configuration_id,
    coalesce(summarised.grade, 'same') as grade,
    coalesce(summarised.differences, 0) as differences,
    coalesce(summarised.unfair_differences, 0) as unfair_differences,
    coalesce(summarised.unknown_differences, 0) as unknown_differences,
    coalesce(summarised.minor_differences, 0) as minor_differences,
    coalesce({{ first_of('summarised.worst', 10) }}, {{ list_of([]) }}) as worst,
    coalesce(silent_aspects.unstated_aspects, {{ list_of([]) }}) as unstated_aspects
from compared
left join summarised
    on compared.factor = summarised.factor
        and compared.baseline_configuration_id = summarised.configuration_id_a
        and compared.treatment_configuration_id = summarised.configuration_id_b
left join silent_aspects
    on compared.baseline_configuration_id = silent_aspects.configuration_id_a
        and compared.treatment_configuration_id = silent_aspects.configuration_id_b
