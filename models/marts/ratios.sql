with

capacity_pairs as (

    select * from {{ ref('int_capacity_pairs') }}

),

capacity as (

    select * from {{ ref('capacity') }}

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
    capacity_pairs.factor,
    treatment.origin,
    treatment.campaign,
    baseline.campaign as baseline_campaign,
    capacity_pairs.loss_goal,
    treatment.usual_goal,
    capacity_pairs.rate_unit,
    treatment.configuration as treatment,
    baseline.configuration as baseline,
    capacity_pairs.treatment_rate,
    capacity_pairs.baseline_rate,
    capacity_pairs.ratio,
    {{ ratio_qualifier('treatment.qualifier', 'baseline.qualifier') }} as qualifier,
    capacity_pairs.ratio_interpolated,
    capacity_pairs.ci_low,
    capacity_pairs.ci_high,
    capacity_pairs.p_value,
    capacity_pairs.p_value_holm,
    capacity_pairs.verdict,
    {{ is_in_turn('treatment', 'baseline') }} as is_in_turn,
    capacity_pairs.series_variation,
    case
        -- nothing says that two campaigns were measured on one machine
        when
            treatment.campaign <> baseline.campaign
            and treatment.testbed is null and baseline.testbed is null
            and array_contains(silent_aspects.unstated_aspects, 'hardware')
            and coalesce(summarised.grade, 'same') <> 'unfair'
            then 'unknown'
        else coalesce(summarised.grade, 'same')
    end as fairness,
    coalesce(summarised.differences, 0) as differences,
    coalesce(summarised.unfair_differences, 0) as unfair_differences,
    coalesce(summarised.unknown_differences, 0) as unknown_differences,
    coalesce(summarised.minor_differences, 0) as minor_differences,
    coalesce({{ first_of('summarised.worst', 10) }}, {{ list_of([]) }}) as worst_differences,
    coalesce(silent_aspects.unstated_aspects, {{ list_of([]) }}) as unstated_aspects,
    capacity_pairs.treatment_runs,
    capacity_pairs.baseline_runs,
    {{ worse_quality('baseline.quality', 'treatment.quality') }} as quality,
    capacity_pairs.treatment_configuration_id,
    capacity_pairs.baseline_configuration_id
from capacity_pairs
inner join capacity as baseline
    on capacity_pairs.baseline_configuration_id = baseline.configuration_id
        and capacity_pairs.loss_goal = baseline.loss_goal
inner join capacity as treatment
    on capacity_pairs.treatment_configuration_id = treatment.configuration_id
        and capacity_pairs.loss_goal = treatment.loss_goal
left join summarised
    on capacity_pairs.factor = summarised.factor
        and capacity_pairs.baseline_configuration_id = summarised.configuration_id_a
        and capacity_pairs.treatment_configuration_id = summarised.configuration_id_b
left join silent_aspects
    on capacity_pairs.baseline_configuration_id = silent_aspects.configuration_id_a
        and capacity_pairs.treatment_configuration_id = silent_aspects.configuration_id_b
