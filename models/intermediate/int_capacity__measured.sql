with

runs as (

    select * from {{ ref('int_runs__identified') }}

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

rated_runs as (

    select
        run_capacity.*,
        runs.configuration_id,
        runs.campaign,
        runs.started_at,
        runs.session,
        campaigns.discard_lowest,
        campaigns.discard_highest,
        campaigns.discard_from_runs
    from runs
    inner join run_capacity on runs.run_id = run_capacity.run_id
    left join campaigns on runs.campaign = campaigns.campaign

),

{{ capacities_of_runs() }},

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
            where interval_constants.runs = least(with_bounds.runs_without_outliers, 200)
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
                -- beyond the table the normal approximation serves (W. C. Guenther, The American Statistician 35, 1981)
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
