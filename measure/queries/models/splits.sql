-- the halves of `splits` compared: even ones are the baseline, odd ones the treatment, whose rates have a factor
{% set rates = [
    'rate', 'rate_interpolated', 'crossing_low', 'crossing_high', 'bracket_low', 'bracket_high', 'last_passing_rate',
    'first_exceeding_rate',
] -%}
with

runs as (

    select * exclude (configuration)
    from numbered

),

rated_runs as (

    select
        runs.* replace (
            {%- for name in rates %}
                runs.{{ name }} * splits.factor as {{ name }}{{ "," if not loop.last }}
            {%- endfor %}
        ),
        splits.split as configuration_id,
        'split' as campaign,
        'split' as session,
        null as discard_lowest,
        null as discard_highest,
        null as discard_from_runs
    from splits
    inner join runs on splits.place = runs.place

),

{{ capacities_of_runs() }},

pairs as (

    select
        treatment.loss_goal,
        treatment.rate as treatment_rate,
        baseline.rate as baseline_rate,
        {{ crossings_of('treatment') }},
        {{ crossings_of('baseline') }},
        null as series_variation,
        null as series_campaigns
    from with_bounds as treatment
    inner join with_bounds as baseline
        on treatment.configuration_id = baseline.configuration_id + 1 and treatment.loss_goal = baseline.loss_goal
    where baseline.configuration_id % 2 = 0

),

{{ tested_pairs_from_pairs() }}

select
    ratio_interpolated,
    ci_low,
    ci_high,
    p_value
from tested_pairs
