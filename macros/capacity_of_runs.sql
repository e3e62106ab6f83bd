{#-
    The one definition of a configuration's capacity: CTEs from `rated_runs` (one row per run and loss goal: the columns of
    int_run_capacity, its configuration, start, session, and the rule that discards runs) to `with_bounds`, one row per configuration
    and loss goal, over relations named student_t and interval_constants. docs/decisions/0004 says why it is as it is.
-#}
{% macro capacities_of_runs() -%}
marked_runs as (

    select
        *,
        -- three others, or most of fewer than five, show that the server need not fail there
        coalesce(
            is_disturbed
            and 2 * least(count(case when not is_disturbed then 1 end) over (partition by configuration_id, loss_goal), 3)
            > least(count(*) over (partition by configuration_id, loss_goal), 5),
            false
        )
        -- nor does a ramp that ended below where every other run still passed say anything
        or coalesce(
            crossing_high is null
            and crossing_low
            < min(crossing_low) filter (where crossing_high > 0 and crossing_low > 0) over (
                partition by configuration_id, loss_goal
            )
            and 2 * count(crossing_high) over (partition by configuration_id, loss_goal)
            > count(*) over (partition by configuration_id, loss_goal),
            false
        ) as is_left_out
    from rated_runs

),

ranked_runs as (

    select
        *,
        first_exceeding_rate - last_passing_rate as step,
        -- a run that fails at its first step reaches less than that; how far one without an exceeding step reaches is open
        case
            when is_left_out then null
            when status = 'exceeded_at_first_step' then bracket_high
            else rate_interpolated
        end as height,
        count(*) over (partition by configuration_id, loss_goal, is_left_out) as all_runs,
        -- a run that exceeds at its first step has no rate and is below all others
        row_number() over (partition by configuration_id, loss_goal, is_left_out order by rate nulls first, run_id)
            as place
    from marked_runs

),

trimmed_runs as (

    select
        *,
        not is_left_out and {{ is_kept_run() }} as is_kept,
        row_number() over (partition by configuration_id, loss_goal order by height nulls last, run_id) as height_place,
        count(height) over (partition by configuration_id, loss_goal) as known_heights,
        min(height) over (partition by configuration_id, loss_goal) as lowest_height
    from ranked_runs

),

with_runs_above as (

    select
        *,
        count(height) over above as runs_above,
        avg(height) over above as mean_above,
        greatest(stddev_samp(height) over above, {{ spread_within('step') }}) as spread_above,
        min(height) over above < max(height) over above as is_spread_above
    from trimmed_runs
    window above as (
        partition by configuration_id, loss_goal
        order by height_place
        rows between 1 following and unbounded following
    )

),

-- the test of several outliers of B. Rosner (Technometrics 25, 1983, pp. 165-172), one-sided
with_dips as (

    select
        with_runs_above.*,
        coalesce(
            with_runs_above.is_spread_above
            -- more than a quarter are no dips, but a second level
            and with_runs_above.known_heights - with_runs_above.runs_above
            <= greatest(1, with_runs_above.known_heights / 4)
            and with_runs_above.mean_above - with_runs_above.height
            > interval_constants.dip_stdevs * with_runs_above.spread_above
            -- nor are several that are alike
            and (
                with_runs_above.height_place = 1
                or with_runs_above.height - with_runs_above.lowest_height > 3 * with_runs_above.spread_above
            ),
            false
        ) as is_far_below
    from with_runs_above
    left join interval_constants on interval_constants.runs = least(with_runs_above.runs_above + 1, 200)

),

judged_runs as (

    select
        *,
        is_left_out
        -- a run below one that dips, dips too
        or max(case when is_far_below then height_place else 0 end) over (partition by configuration_id, loss_goal)
        >= height_place as is_outlier
    from with_dips

),

deviations as (

    select
        *,
        case
            when is_outlier then 0
            else
                rate_interpolated - avg(case when not is_outlier then rate_interpolated end)
                    over (partition by configuration_id, loss_goal)
        end as deviation,
        avg(case when not is_outlier then rate_interpolated end)
            over (partition by configuration_id, loss_goal, session) as rate_of_session,
        row_number() over (partition by configuration_id, loss_goal, session order by is_outlier, run_id)
        = 1 and not is_outlier as is_first_of_session
    from judged_runs

),

in_time as (

    select
        *,
        lead(deviation) over (partition by configuration_id, loss_goal order by started_at, run_id) as next_deviation
    from deviations

),

summarised as (

    select
        configuration_id,
        campaign,
        loss_goal,
        any_value(loss_limit) as loss_limit,
        any_value(loss_basis) as loss_basis,
        {{ rates_of_runs() }},
        count(*) filter (where is_outlier) as outlier_runs,
        count(*) filter (where not is_outlier) as runs_without_outliers,
        {{ list_in_order('coalesce(rate_interpolated, rate)', 'run_id', 'not is_outlier and rate > 0') }}
            as rates_without_outliers,
        median(step) filter (where is_kept) as resolution,
        case
            when count(*) filter (where not is_outlier and rate_interpolated is null) = 0
                then avg(rate_interpolated) filter (where not is_outlier)
        end as rate_interpolated,
        {{ spread_of('rate_interpolated', 'not is_outlier') }} as stdev_interpolated,
        avg(crossing_low) filter (where not is_outlier) as crossing_low,
        {{ spread_of('crossing_low', 'not is_outlier') }} as crossing_low_stdev,
        case
            when count(*) filter (where not is_outlier and crossing_high is null) = 0
                then avg(crossing_high) filter (where not is_outlier)
        end as crossing_high,
        {{ spread_of('crossing_high', 'not is_outlier') }} as crossing_high_stdev,
        count(*) filter (where not is_left_out) as runs_with_dips,
        avg(crossing_low) filter (where not is_left_out) as crossing_low_with_dips,
        {{ spread_of('crossing_low', 'not is_left_out') }} as crossing_low_with_dips_stdev,
        min(case when status = 'bracketed' then bracket_low else crossing_low end) filter (where not is_left_out)
            as bracket_low,
        max(case when crossing_high is not null then bracket_high end) filter (where not is_outlier) as bracket_high,
        min(coalesce(last_passing_rate, 0)) filter (where not is_left_out) as last_passing_rate,
        case
            when count(*) filter (where not is_outlier and crossing_high is null) = 0
                then max(first_exceeding_rate) filter (where not is_outlier)
        end as first_exceeding_rate,
        case
            when count(*) filter (where not is_outlier) >= 8 and count(*) = count(started_at)
                then sum(deviation * next_deviation) / nullif(sum(deviation * deviation), 0)
        end as run_correlation,
        count(distinct session) filter (where not is_outlier) as sessions,
        {{ spread_of('rate_of_session', 'is_first_of_session') }} as session_stdev
    from in_time
    group by configuration_id, campaign, loss_goal

),

with_widening as (

    select
        summarised.*,
        -- runs that are all alike tell no spread, not one of zero
        nullif(summarised.stdev_interpolated, 0) / nullif(summarised.rate_interpolated, 0) as variation,
        greatest(
            -- runs that resemble their neighbours say less than as many independent ones
            sqrt(
                (1 + least(greatest(coalesce(summarised.run_correlation, 0), 0), 0.9))
                / (1 - least(greatest(coalesce(summarised.run_correlation, 0), 0), 0.9))
            ),
            -- so do runs of one session: the interval is at least that of the means of the sessions
            case
                when summarised.sessions between 3 and summarised.runs_without_outliers - 1
                    then coalesce(
                        summarised.session_stdev * of_sessions.t_975 / sqrt(summarised.sessions)
                        / nullif(
                            summarised.stdev_interpolated * of_runs.t_975 / sqrt(summarised.runs_without_outliers), 0
                        ), 1
                    )
                else 1
            end
        ) as widening
    from summarised
    left join student_t as of_sessions
        on of_sessions.degrees_of_freedom = {{ tabulated_degrees_of_freedom('(summarised.sessions - 1)') }}
    left join student_t as of_runs
        on of_runs.degrees_of_freedom = {{ tabulated_degrees_of_freedom('(summarised.runs_without_outliers - 1)') }}

),

with_kind as (

    select
        *,
        case
            when status = 'saturated' then case when stdev_interpolated > 0 then 'confidence' else 'none' end
            -- two runs often agree by chance
            when rate_interpolated is not null
                and resolution
                <= case when runs_without_outliers = 2 then 10 else 5 end * least(stdev_interpolated, crossing_low_stdev)
                then 'confidence'
            else 'bracket'
        end as interval_kind
    from with_widening

),

with_least_spread as (

    select
        *,
        -- of two runs that are more alike than their steps resolve
        case when interval_kind = 'bracket' and runs_without_outliers = 2 then {{ spread_within('resolution') }} end
            as least_spread
    from with_kind

),

with_errors as (

    select
        *,
        widening * {{ spread_of_at_least('crossing_low_stdev', 'least_spread') }} / sqrt(runs_without_outliers)
            as crossing_low_error,
        widening * {{ spread_of_at_least('crossing_high_stdev', 'least_spread') }} / sqrt(runs_without_outliers)
            as crossing_high_error,
        widening * crossing_low_with_dips_stdev / sqrt(runs_with_dips) as crossing_low_with_dips_error
    from with_least_spread

),

-- the interval of a value known to lie between two others: G. Imbens and C. Manski, Econometrica 72, 2004, pp. 1845-1857
with_nearness as (

    select
        *,
        case
            -- two runs do not tell how far apart the ends are
            when runs_without_outliers = 2 then 1
            else greatest(0, 1 - (crossing_high - crossing_low) / nullif(
                3 * greatest(crossing_low_error, crossing_high_error, crossing_low_with_dips_error), 0
            ))
        end as nearness_of_ends
    from with_errors

),

with_bounds as (

    select
        with_nearness.*,
        case
            when with_nearness.interval_kind = 'bracket' then with_nearness.bracket_low
            when with_nearness.interval_kind = 'none' then null
            -- a rate cannot be negative; what looks like a dip may be the tail of a skewed spread: it widens downwards only
            else greatest(0, least(
                with_nearness.crossing_low - {{ critical_t('undisturbed') }} * with_nearness.crossing_low_error,
                with_nearness.crossing_low_with_dips
                - {{ critical_t('every_run') }} * with_nearness.crossing_low_with_dips_error
            ))
        end as ci_low,
        case
            when with_nearness.interval_kind = 'confidence'
                then with_nearness.crossing_high + {{ critical_t('undisturbed') }} * with_nearness.crossing_high_error
            when with_nearness.interval_kind = 'bracket' and with_nearness.crossing_high is not null
                then with_nearness.bracket_high
        end as ci_high
    from with_nearness
    left join student_t as undisturbed
        on undisturbed.degrees_of_freedom = {{ tabulated_degrees_of_freedom("(with_nearness.runs_without_outliers - 1)") }}
    left join student_t as every_run
        on every_run.degrees_of_freedom = {{ tabulated_degrees_of_freedom("(with_nearness.runs_with_dips - 1)") }}

)
{%- endmacro %}

{#- Student's t: of both tails where the ends of an interval coincide, of one where they are so far apart that one misses. -#}
{% macro critical_t(quantiles) -%}
    ({{ quantiles }}.t_950 + with_nearness.nearness_of_ends * ({{ quantiles }}.t_975 - {{ quantiles }}.t_950))
{%- endmacro %}

{#- Whether a run counts when its configuration's rule leaves out the lowest and the highest. -#}
{% macro is_kept_run() -%}
    (
        all_runs < coalesce(discard_from_runs, 5)
        or (place > coalesce(discard_lowest, 1) and place <= all_runs - coalesce(discard_highest, 1))
    )
{%- endmacro %}

{#-
    The rates of a configuration by its method, and by all runs. A run that exceeds at its first step has no rate: no mean
    with it can be had, only a bound, and the median while most runs have one.
-#}
{% macro rates_of_runs() -%}
    count(*) as runs,
    count(*) filter (where is_kept) as runs_kept,
    case when count(*) filter (where is_kept and rate is null) = 0 then avg(rate) filter (where is_kept) end as rate,
    case
        when
            count(*) filter (where is_kept and rate is null) > 0
            and count(*) filter (where is_kept and crossing_high is null) = 0
            then avg(coalesce(rate, crossing_high)) filter (where is_kept)
    end as rate_at_most,
    case when 2 * count(rate) > count(*) then median(coalesce(rate, 0)) end as rate_median,
    case when count(rate) = count(*) then avg(rate) end as rate_mean,
    case when count(rate) = count(*) then stddev_samp(rate) end as rate_stdev,
    {{ worst_status('status', 'is_kept') }} as status
{%- endmacro %}

{#- The greater of both; null for a single run, which has no spread. -#}
{% macro spread_of_at_least(spread, least) -%}
    case when {{ spread }} >= 0 then greatest({{ spread }}, coalesce({{ least }}, 0)) end
{%- endmacro %}

{#- Standard deviation of a value that may be anywhere within a step. -#}
{% macro spread_within(step) -%}
    {{ step }} / sqrt(12)
{%- endmacro %}

{#- Sample standard deviation of the runs that count. Runs that are all alike have none, not that of their last bits. -#}
{% macro spread_of(value, counts) -%}
    case
        when min({{ value }}) filter (where {{ counts }}) < max({{ value }}) filter (where {{ counts }})
            then stddev_samp({{ value }}) filter (where {{ counts }})
        when count({{ value }}) filter (where {{ counts }}) > 1 then 0
    end
{%- endmacro %}
