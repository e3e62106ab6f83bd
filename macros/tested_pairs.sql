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
    How campaigns of a series differ beyond what their own runs explain: CTEs from `placed` (one row per capacity, with the
    columns of `with_bounds`, series_id, and its number in the order of time) to `varying`, of series of at least five.
-#}
{% macro variations_of_series() -%}
levels as (

    select
        *,
        ln(rate_interpolated) as level,
        -- of the mean, by its own runs; a single run says nothing of it
        coalesce(power(widening * stdev_interpolated / rate_interpolated, 2) / runs_without_outliers, 0) as variance
    from placed

),

-- from the one before, and from the one before that: two branches may be measured every night
steps as (

    select
        series_id,
        power(level - lag(level) over in_time, 2) as squared_step,
        power(level - lag(level, 2) over in_time, 2) as squared_double_step,
        variance + lag(variance) over in_time as expected_square
    from levels
    window in_time as (partition by series_id order by number)

),

-- medians, because some steps are changes of the server; that of a squared standard normal value is 0.455
series as (

    select
        series_id,
        count(*) as series_campaigns,
        sqrt(greatest(
            least(median(squared_step), median(squared_double_step)) / 0.455 - avg(expected_square), 0
        ) / 2) as series_variation
    from steps
    group by series_id
    having count(*) >= 5

),

varying as (

    select
        levels.configuration_id,
        levels.loss_goal,
        series.series_campaigns,
        series.series_variation
    from levels
    inner join series on levels.series_id = series.series_id

)
{%- endmacro %}

{#-
    By how much the two series vary from campaign to campaign, if that makes two capacities differ: not if both were
    measured in turn, or in the same half day of one campaign.
-#}
{% macro variation_between(one, other) -%}
    case
        when
            not coalesce({{ is_in_turn(one, other) }}, false)
            and not (
                {{ one }}.campaign = {{ other }}.campaign
                and coalesce(
                    greatest(
                        {{ seconds_between(one ~ '.last_started_at', other ~ '.first_started_at') }},
                        {{ seconds_between(other ~ '.last_started_at', one ~ '.first_started_at') }}
                    ) < 12 * 3600,
                    {{ one }}.product_version is not distinct from {{ other }}.product_version
                )
            )
            then sqrt((
                power(coalesce({{ one }}.series_variation, {{ other }}.series_variation), 2)
                + power(coalesce({{ other }}.series_variation, {{ one }}.series_variation), 2)
            ) / 2)
    end as series_variation,
    least({{ one }}.series_campaigns, {{ other }}.series_campaigns) as series_campaigns
{%- endmacro %}

{#-
    Ratio, interval and p value of pairs of capacities: CTEs from `pairs` to `tested_pairs`, over the relation student_t.
    The models and the SQL function compare() share this text.

    pairs: loss_goal and, for both `treatment` and `baseline`: <side>_configuration_id, _rate, _interpolated, _low,
    _low_error, _high, _high_error (both estimates of the crossing with their standard errors), _undisturbed_runs, and
    is_<side>_open: then there is no ratio, and its interval has one end, or none. series_variation and series_campaigns
    are null unless the campaigns of both series are known to vary: that is a third source of error, and the only one of a
    single run.

    A ratio is at least the treatment's low estimate over the baseline's high one, and at most the reverse; each end has
    Welch's margin on the log scale (B. L. Welch, Biometrika 34, 1947, pp. 28-35).
-#}
{% macro tested_pairs_from_pairs() -%}
{%- set ends = [('low', 'low', 'high'), ('high', 'high', 'low')] -%}
{%- set scaffolding = ['t', 'hill_y', 'hill_b', 'normal_deviate', 'between_variance'] -%}
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
        {%- for side, crossing in [('treatment', above), ('baseline', below)] %}
        coalesce(
            power({{ side }}_{{ crossing }}_error / nullif({{ side }}_{{ crossing }}, 0), 2),
            case when {{ side }}_undisturbed_runs = 1 and series_variation > 0 then 0 end
        ) as {{ side }}_variance_{{ end }},
        {%- endfor %}
        {%- endfor %}
        2 * coalesce(power(series_variation, 2), 0) as between_variance
    from pairs

),

with_degrees_of_freedom as (

    select
        *,
        {%- for end, above, below in ends %}
        -- runs that all end at the same steps, as those of a closed loop do, have brackets and no spread
        case
            when treatment_variance_{{ end }} + baseline_variance_{{ end }} + between_variance = 0 then 1e-9
            else sqrt(treatment_variance_{{ end }} + baseline_variance_{{ end }} + between_variance)
        end as error_{{ end }},
        -- Welch and Satterthwaite
        case
            when treatment_variance_{{ end }} + baseline_variance_{{ end }} + between_variance = 0
                then least(treatment_undisturbed_runs, baseline_undisturbed_runs) - 1
            else
                power(treatment_variance_{{ end }} + baseline_variance_{{ end }} + between_variance, 2)
                / nullif(
                    coalesce(power(treatment_variance_{{ end }}, 2) / nullif(treatment_undisturbed_runs - 1, 0), 0)
                    + coalesce(power(baseline_variance_{{ end }}, 2) / nullif(baseline_undisturbed_runs - 1, 0), 0)
                    -- a variance by medians of steps is worth two fifths of its degrees (simulated)
                    + coalesce(power(between_variance, 2) / (0.4 * (series_campaigns - 1)), 0), 0
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
