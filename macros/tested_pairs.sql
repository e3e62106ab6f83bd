{#- What a test of two capacities needs of one side: both estimates of its crossing, with their errors, or that it is open. -#}
{% macro crossings_of(side) -%}
    {{ side }}.rate_interpolated as {{ side }}_interpolated,
    {{ side }}.crossing_low as {{ side }}_low,
    {{ side }}.crossing_low_error as {{ side }}_low_error,
    {{ side }}.crossing_high as {{ side }}_high,
    {{ side }}.crossing_high_error as {{ side }}_high_error,
    {{ is_open(side) }} as is_{{ side }}_open,
    {{ side }}.runs_without_outliers as {{ side }}_undisturbed_runs
{%- endmacro %}

{#- Whether the runs of two capacities alternated, instead of running one after the other; null for a single run. -#}
{% macro is_in_turn(one, other) -%}
    case
        when {{ one }}.runs > 1 and {{ other }}.runs > 1
            then
                {{ one }}.first_started_at <= {{ other }}.last_started_at
                and {{ other }}.first_started_at <= {{ one }}.last_started_at
    end
{%- endmacro %}

{#-
    Ratio, interval and p value of pairs of capacities: CTEs from `pairs` to `tested_pairs`, over the relation student_t.
    The models and the SQL function compare() share this text.

    pairs: loss_goal and, for both `treatment` and `baseline`: <side>_configuration_id, _rate, _interpolated, _low,
    _low_error, _high, _high_error (both estimates of the crossing with their standard errors), _undisturbed_runs, and
    is_<side>_open: then there is no ratio, and its interval has one end, or none.

    A ratio is at least the treatment's low estimate over the baseline's high one, and at most the reverse; each end has
    Welch's margin on the log scale (B. L. Welch, Biometrika 34, 1947, pp. 28-35).
-#}
{% macro tested_pairs_from_pairs() -%}
{%- set ends = [('low', 'low', 'high'), ('high', 'high', 'low')] -%}
{%- set scaffolding = ['t', 'hill_y', 'hill_b', 'normal_deviate'] -%}
{%- for end, above, below in ends -%}
    {%- for name in ['log_', 'treatment_variance_', 'baseline_variance_', 'error_', 'degrees_'] -%}
        {%- do scaffolding.append(name ~ end) -%}
    {%- endfor -%}
{%- endfor -%}
with_variances as (

    select
        *,
        case
            when not (is_treatment_open or is_baseline_open) then treatment_rate / nullif(baseline_rate, 0)
        end as ratio,
        treatment_interpolated / nullif(baseline_interpolated, 0) as ratio_interpolated,
        {%- for end, above, below in ends %}
        -- a difference of logarithms, not the logarithm of a ratio: the mirror image then has the same p value to the last bit
        ln(nullif(treatment_{{ above }}, 0)) - ln(nullif(baseline_{{ below }}, 0)) as log_{{ end }},
        -- variance of the logarithm of each mean, to first order
        power(treatment_{{ above }}_error / nullif(treatment_{{ above }}, 0), 2) as treatment_variance_{{ end }},
        power(baseline_{{ below }}_error / nullif(baseline_{{ below }}, 0), 2) as baseline_variance_{{ end }}{{ "," if not loop.last }}
        {%- endfor %}
    from pairs

),

with_degrees_of_freedom as (

    select
        *,
        {%- for end, above, below in ends %}
        -- runs that all end at the same steps, as those of a closed loop do, have brackets and no spread
        case
            when treatment_variance_{{ end }} + baseline_variance_{{ end }} = 0 then 1e-9
            else sqrt(treatment_variance_{{ end }} + baseline_variance_{{ end }})
        end as error_{{ end }},
        -- Welch and Satterthwaite
        case
            when treatment_variance_{{ end }} + baseline_variance_{{ end }} = 0
                then least(treatment_undisturbed_runs, baseline_undisturbed_runs) - 1
            else
                power(treatment_variance_{{ end }} + baseline_variance_{{ end }}, 2)
                / nullif(
                    power(treatment_variance_{{ end }}, 2) / nullif(treatment_undisturbed_runs - 1, 0)
                    + power(baseline_variance_{{ end }}, 2) / nullif(baseline_undisturbed_runs - 1, 0), 0
                )
        end as degrees_{{ end }}
        {{- "," if not loop.last }}
        {%- endfor %}
    from with_variances

),

with_interval as (

    select
        with_degrees_of_freedom.*,
        exp(log_low - t_low.t_975 * error_low) as ci_low,
        exp(log_high + t_high.t_975 * error_high) as ci_high,
        -- how far, in standard errors, both ends are beyond 1, and what that is based on
        greatest(log_low / nullif(error_low, 0), -log_high / nullif(error_high, 0), 0) as t,
        case
            when coalesce(log_low / nullif(error_low, 0), 0) >= coalesce(-log_high / nullif(error_high, 0), 0)
                then coalesce(t_low.degrees_of_freedom, t_high.degrees_of_freedom)
            else coalesce(t_high.degrees_of_freedom, t_low.degrees_of_freedom)
        end as degrees_of_freedom
    from with_degrees_of_freedom
    {%- for end, above, below in ends %}
    left join student_t as t_{{ end }}
        on t_{{ end }}.degrees_of_freedom
            = {{ tabulated_degrees_of_freedom('with_degrees_of_freedom.degrees_' ~ end) }}
    {%- endfor %}

),

-- G. W. Hill, Algorithm 395, CACM 13, 1970, pp. 617-619: right to 1 % of the p value from two degrees of freedom on
with_hills_terms as (

    select
        *,
        (degrees_of_freedom - 0.5) * ln(1 + power(t, 2) / degrees_of_freedom) as hill_y,
        48 * power(degrees_of_freedom - 0.5, 2) as hill_b
    from with_interval

),

with_deviate as (

    select
        *,
        (
            (
                (((-0.4 * hill_y - 3.3) * hill_y - 24) * hill_y - 85.5) / (0.8 * power(hill_y, 2) + 100 + hill_b)
                + hill_y + 3
            ) / hill_b + 1
        ) * sqrt(hill_y) as normal_deviate
    from with_hills_terms

),

tested_pairs as (

    select
        {{ all_but('with_deviate', scaffolding | join(', ')) }},
        -- a smaller one would be precise beyond any sense, as of runs that all end at the same steps
        case
            when degrees_of_freedom < 2
                then greatest(1e-6, {{ two_sided_student_of_two_runs('t', 'degrees_of_freedom') }})
            when degrees_of_freedom >= 2 then greatest(1e-6, {{ two_sided_normal('normal_deviate') }})
        end as p_value
    from with_deviate

)
{%- endmacro %}

{#-
    Probability that Student's t with 1 to 2 degrees of freedom lies further than t >= 0 from zero: exact for 1 and for 2, and
    between them a weighted geometric mean, right to 1 % (compared with scipy).
-#}
{% macro two_sided_student_of_two_runs(t, degrees) -%}
    power(1 - 2 * atan({{ t }}) / pi(), 2 - {{ degrees }})
    * power(1 - {{ t }} / sqrt(2 + power({{ t }}, 2)), {{ degrees }} - 1)
    * exp(-0.22 * ({{ degrees }} - 1) * (2 - {{ degrees }}) * 2 * atan({{ t }}) / pi())
{%- endmacro %}

{#-
    Probability that a standard normal value lies further than z >= 0 from zero, right to 2e-7: Abramowitz and Stegun,
    Handbook of Mathematical Functions, 1964, 26.2.17.
-#}
{% macro two_sided_normal(z) -%}
    least(1, 2 * exp(-power({{ z }}, 2) / 2) / sqrt(2 * pi()) * (
        0.319381530 / (1 + 0.2316419 * {{ z }})
        - 0.356563782 / power(1 + 0.2316419 * {{ z }}, 2)
        + 1.781477937 / power(1 + 0.2316419 * {{ z }}, 3)
        - 1.821255978 / power(1 + 0.2316419 * {{ z }}, 4)
        + 1.330274429 / power(1 + 0.2316419 * {{ z }}, 5)
    ))
{%- endmacro %}

{#-
    What a pair shows of its treatment, in words. The interval speaks of the pair alone, the corrected p value of all tests
    of the table: a pair whose interval excludes 1 is `probably` different until it stands out among them, too.
-#}
{% macro comparison_verdict(p_value) -%}
    case
        when ci_low is null and ci_high is null
            then case when is_treatment_open or is_baseline_open then 'limits not reached' else 'not testable' end
        when ci_low > 1 and {{ p_value }} <= 0.05 then 'faster'
        when ci_high < 1 and {{ p_value }} <= 0.05 then 'slower'
        when ci_low > 1 then 'probably faster'
        when ci_high < 1 then 'probably slower'
        else 'no evidence'
    end
{%- endmacro %}
