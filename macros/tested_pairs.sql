{#-
    Ratio, interval and rank test of pairs of capacities, as in inference/comparison.py: CTEs from `pairs` to
    `tested_pairs`, over relations named student_t, mann_whitney and run_capacity. The models and the SQL function
    compare() share this text.

    pairs: loss_goal and, for both `treatment` and `baseline`: <side>_configuration_id, _rate, _undisturbed (mean of
    the runs that do not dip), _stdev, _undisturbed_runs.
-#}
{% macro tested_pairs_from_pairs() -%}
with_variances as (

    select
        *,
        treatment_rate / nullif(baseline_rate, 0) as ratio,
        treatment_undisturbed / nullif(baseline_undisturbed, 0) as ratio_undisturbed,
        -- variance of the logarithm of each mean, to first order
        power(treatment_stdev / nullif(treatment_undisturbed, 0), 2) / treatment_undisturbed_runs as treatment_variance,
        power(baseline_stdev / nullif(baseline_undisturbed, 0), 2) / baseline_undisturbed_runs as baseline_variance
    from pairs

),

with_degrees_of_freedom as (

    select
        *,
        sqrt(treatment_variance + baseline_variance) as log_ratio_error,
        -- Welch and Satterthwaite
        power(treatment_variance + baseline_variance, 2)
        / nullif(
            power(treatment_variance, 2) / nullif(treatment_undisturbed_runs - 1, 0)
            + power(baseline_variance, 2) / nullif(baseline_undisturbed_runs - 1, 0), 0
        ) as degrees_of_freedom
    from with_variances

),

with_interval as (

    select
        with_degrees_of_freedom.*,
        ratio_undisturbed * exp(-student_t.t_975 * log_ratio_error) as ci_low,
        ratio_undisturbed * exp(student_t.t_975 * log_ratio_error) as ci_high
    from with_degrees_of_freedom
    left join student_t
        on student_t.degrees_of_freedom
            = {{ tabulated_degrees_of_freedom('with_degrees_of_freedom.degrees_of_freedom') }}

),

runs_of_pairs as (

    {%- for side in ['treatment', 'baseline'] %}
    select
        pairs.loss_goal,
        pairs.treatment_configuration_id,
        pairs.baseline_configuration_id,
        run_capacity.rate,
        {{ 1 if side == 'treatment' else 0 }} as is_treatment
    from pairs
    inner join run_capacity
        on pairs.{{ side }}_configuration_id = run_capacity.configuration_id
            and pairs.loss_goal = run_capacity.loss_goal
    where run_capacity.rate is not null
    {{ "union all" if not loop.last }}
    {%- endfor %}

),

ranked_rates as (

    select
        loss_goal,
        treatment_configuration_id,
        baseline_configuration_id,
        count(*) as tied_runs,
        sum(is_treatment) as tied_treatment_runs,
        -- runs with the same rate share the mean of their ranks
        sum(count(*)) over (
            partition by loss_goal, treatment_configuration_id, baseline_configuration_id
            order by rate
        ) - (count(*) - 1) / 2 as mean_rank
    from runs_of_pairs
    group by loss_goal, treatment_configuration_id, baseline_configuration_id, rate

),

rank_sums as (

    select
        loss_goal,
        treatment_configuration_id,
        baseline_configuration_id,
        sum(tied_treatment_runs) as treatment_size,
        sum(tied_runs - tied_treatment_runs) as baseline_size,
        sum(tied_treatment_runs * mean_rank)
        - sum(tied_treatment_runs) * (sum(tied_treatment_runs) + 1) / 2 as u,
        sum(tied_runs * tied_runs * tied_runs - tied_runs) as ties
    from ranked_rates
    group by loss_goal, treatment_configuration_id, baseline_configuration_id
    having least(sum(tied_treatment_runs), sum(tied_runs - tied_treatment_runs)) >= 2

),

with_deviates as (

    select
        *,
        treatment_size + baseline_size as size,
        treatment_size * baseline_size as run_pairs,
        least(u, treatment_size * baseline_size - u) as fewer,
        sqrt(
            treatment_size * baseline_size / 12
            * (
                treatment_size + baseline_size + 1
                - ties / ((treatment_size + baseline_size) * (treatment_size + baseline_size - 1))
            )
        ) as u_stdev,
        sqrt(treatment_size * baseline_size * (treatment_size + baseline_size + 1) / 12) as u_stdev_without_ties
    from rank_sums

),

with_normal_scores as (

    select
        *,
        -- half a pair for continuity
        greatest(0, (run_pairs / 2 - fewer - 0.5) / nullif(u_stdev, 0)) as score,
        (run_pairs / 2 - 0.5) / u_stdev_without_ties as largest_score
    from with_deviates

),

with_floor as (

    select
        with_normal_scores.*,
        coalesce(complete_separation.p_value, {{ two_sided_normal('largest_score') }}) as p_floor
    from with_normal_scores
    left join mann_whitney as complete_separation
        on complete_separation.smaller_runs = least(treatment_size, baseline_size)
            and complete_separation.larger_runs = greatest(treatment_size, baseline_size)
            and complete_separation.u = 0

),

rank_tests as (

    select
        with_floor.loss_goal,
        with_floor.treatment_configuration_id,
        with_floor.baseline_configuration_id,
        with_floor.u > with_floor.run_pairs / 2 as is_above,
        with_floor.p_floor,
        greatest(
            with_floor.p_floor,
            coalesce(exact.p_value, {{ two_sided_normal('score') }})
        ) as p_value
    from with_floor
    left join mann_whitney as exact
        on exact.smaller_runs = least(with_floor.treatment_size, with_floor.baseline_size)
            and exact.larger_runs = greatest(with_floor.treatment_size, with_floor.baseline_size)
            and exact.u = with_floor.fewer
            and with_floor.ties = 0

),

tested_pairs as (

    select
        with_interval.*,
        rank_tests.is_above,
        rank_tests.p_value,
        rank_tests.p_floor
    from with_interval
    left join rank_tests
        on with_interval.loss_goal = rank_tests.loss_goal
            and with_interval.treatment_configuration_id = rank_tests.treatment_configuration_id
            and with_interval.baseline_configuration_id = rank_tests.baseline_configuration_id

)
{%- endmacro %}

{#-
    Probability that a standard normal value lies further than z >= 0 from zero, right to 2e-7: Abramowitz and Stegun,
    Handbook of Mathematical Functions, 1964, 26.2.17.
-#}
{% macro two_sided_normal(z) -%}
    least(1, 2 * exp(-{{ z }} * {{ z }} / 2) / sqrt(2 * pi()) * (
        0.319381530 / (1 + 0.2316419 * {{ z }})
        - 0.356563782 / power(1 + 0.2316419 * {{ z }}, 2)
        + 1.781477937 / power(1 + 0.2316419 * {{ z }}, 3)
        - 1.821255978 / power(1 + 0.2316419 * {{ z }}, 4)
        + 1.330274429 / power(1 + 0.2316419 * {{ z }}, 5)
    ))
{%- endmacro %}

{#- What a test found among so many, in words, from the columns of `tested_pairs`. -#}
{% macro comparison_verdict(p_value, tests) -%}
    case
        when p_value is null then 'not testable'
        when {{ p_value }} <= 0.05 and is_above then 'faster'
        when {{ p_value }} <= 0.05 then 'slower'
        -- not even complete separation would be evidence among so many tests
        when p_floor * {{ tests }} > 0.05 then 'too few runs'
        else 'no evidence'
    end
{%- endmacro %}
