with

runs as (

    select * from {{ ref('int_runs__identified') }}
    where {{ is_changed('campaign') }}

),

run_capacity as (

    select * from {{ ref('int_run_capacity') }}

),

campaigns as (

    select * from {{ ref('stg_campaigns') }}

),

student_t as (

    select * from {{ ref('student_t') }}

),

interval_constants as (

    select * from {{ ref('interval_constants') }}

),

ranked_runs as (

    select
        runs.run_id,
        runs.configuration_id,
        runs.campaign,
        run_capacity.loss_goal,
        run_capacity.loss_limit,
        run_capacity.loss_basis,
        run_capacity.rate,
        run_capacity.rate_interpolated,
        run_capacity.first_exceeding_rate - run_capacity.last_passing_rate as step,
        run_capacity.status,
        campaigns.discard_lowest,
        campaigns.discard_highest,
        campaigns.discard_from_runs,
        count(*) over capacity_of_configuration as all_runs,
        count(run_capacity.rate) over capacity_of_configuration as rated_runs,
        -- a run that exceeds at its first step has no rate and lies below all others
        row_number() over (
            partition by runs.configuration_id, run_capacity.loss_goal
            order by run_capacity.rate nulls first, runs.run_id
        ) as place
    from runs
    inner join run_capacity on runs.run_id = run_capacity.run_id
    left join campaigns on runs.campaign = campaigns.campaign
    window capacity_of_configuration as (partition by runs.configuration_id, run_capacity.loss_goal)

),

trimmed_runs as (

    select
        *,
        {{ is_kept_run() }} as is_kept
    from ranked_runs

),

with_runs_above as (

    select
        *,
        median(case when is_kept then step end) over (partition by configuration_id, loss_goal) as resolution,
        count(rate) over above as runs_above,
        avg(rate) over above as mean_above,
        stddev_samp(rate) over above as stdev_above,
        min(rate) over above < max(rate) over above as is_spread_above
    from trimmed_runs
    window above as (
        partition by configuration_id, loss_goal
        order by place
        rows between 1 following and unbounded following
    )

),

-- Rosner's test of several outliers, one-sided: inference/location.py
with_dips as (

    select
        with_runs_above.*,
        coalesce(
            with_runs_above.is_spread_above
            and 2 * with_runs_above.runs_above > with_runs_above.rated_runs
            and with_runs_above.mean_above - with_runs_above.rate
            > interval_constants.dip_stdevs
            -- a ramp adds the spread of rates that it cannot tell apart
            * sqrt(power(with_runs_above.stdev_above, 2) + power(coalesce(with_runs_above.resolution, 0), 2) / 12),
            false
        ) as is_far_below
    from with_runs_above
    left join interval_constants on interval_constants.runs = least(with_runs_above.runs_above + 1, 200)

),

judged_runs as (

    select
        *,
        -- whatever lies below a run that dips, dips too
        max(case when is_far_below then place else 0 end) over (partition by configuration_id, loss_goal) >= place
            as is_dipping
    from with_dips

),

summarised as (

    select
        configuration_id,
        campaign,
        loss_goal,
        any_value(loss_limit) as loss_limit,
        any_value(loss_basis) as loss_basis,
        count(*) as runs,
        count(rate) filter (where is_kept) as runs_kept,
        avg(rate) filter (where is_kept) as rate,
        median(rate) as rate_median,
        avg(rate) as rate_mean,
        stddev_samp(rate) as rate_stdev,
        count(rate) as rated_runs,
        count(rate) filter (where is_dipping) as runs_dipping,
        count(rate) filter (where not is_dipping) as runs_undisturbed,
        avg(rate) filter (where not is_dipping) as rate_undisturbed,
        case
            -- runs that are all alike have no spread, not that of their last bits
            when min(rate) filter (where not is_dipping) < max(rate) filter (where not is_dipping)
                then stddev_samp(rate) filter (where not is_dipping)
            when count(rate) filter (where not is_dipping) > 1 then 0
        end as stdev_undisturbed,
        any_value(resolution) as resolution,
        avg(rate_interpolated) filter (where is_kept) as rate_interpolated,
        {{ worst_status('status', 'is_kept') }} as status
    from judged_runs
    group by configuration_id, campaign, loss_goal

),

with_interval as (

    select
        summarised.*,
        summarised.stdev_undisturbed / nullif(summarised.rate_undisturbed, 0) as variation,
        student_t.t_975 * summarised.stdev_undisturbed / sqrt(summarised.runs_undisturbed) as half_width
    from summarised
    left join student_t
        on student_t.degrees_of_freedom = {{ tabulated_degrees_of_freedom("(summarised.runs_undisturbed - 1)") }}

),

with_bounds as (

    select
        *,
        -- a rate cannot be negative
        case when half_width is not null then greatest(0, rate_undisturbed - half_width) end as ci_low,
        rate_undisturbed + half_width as ci_high
    from with_interval

),

runs_that_show as (

    select
        with_bounds.configuration_id,
        with_bounds.loss_goal,
        {%- for percent in [1, 2, 5] %}
            min(interval_constants.runs) filter (
                where interval_constants.detectable_stdevs * with_bounds.variation <= {{ percent / 100 }}
            ) as runs_for_{{ percent }}_percent,
        {%- endfor %}
        any_value(interval_constants.detectable_stdevs) filter (
            where interval_constants.runs = least(with_bounds.runs_undisturbed, 200)
        ) * any_value(with_bounds.variation) as detectable_ratio
    from with_bounds
    cross join interval_constants
    group by with_bounds.configuration_id, with_bounds.loss_goal

),

with_power as (

    select
        with_bounds.*,
        {%- for percent in [1, 2, 5] %}
            coalesce(
                runs_that_show.runs_for_{{ percent }}_percent,
                -- beyond the table the normal approximation serves: inference/location.py
                cast(ceil(15.697759 * power(with_bounds.variation / {{ percent / 100 }}, 2) + 0.960365) as bigint)
            ) as runs_for_{{ percent }}_percent,
        {%- endfor %}
        runs_that_show.detectable_ratio
    from with_bounds
    left join runs_that_show
        on with_bounds.configuration_id = runs_that_show.configuration_id
            and with_bounds.loss_goal = runs_that_show.loss_goal

)

select * from with_power
