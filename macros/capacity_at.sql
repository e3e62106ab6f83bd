{#-
    The one definition of a run's capacity: from `judged_steps` (run_id, loss_goal, loss_limit, loss_basis, offered_rate,
    achieved_rate, loss_ratio and three marks) to `with_status`, one row per run and loss goal.
-#}
{% macro run_brackets() -%}
with_first_exceeding as (

    select
        *,
        min(offered_rate) filter (where loss_ratio > loss_limit or coalesce(is_unsustained, false))
            over (partition by run_id, loss_goal) as first_exceeding_rate
    from judged_steps
    where loss_ratio is not null

),

bracketed as (

    select
        run_id,
        loss_goal,
        any_value(loss_limit) as loss_limit,
        any_value(loss_basis) as loss_basis,
        any_value(first_exceeding_rate) as first_exceeding_rate,
        count(*) as steps,
        max(offered_rate) filter (where passes) as last_passing_rate,
        {{ value_at_highest('achieved_rate', 'offered_rate') }} filter (where passes) as rate,
        {{ value_at_highest('loss_ratio', 'offered_rate') }} filter (where passes) as last_passing_loss,
        {{ value_at_highest('is_generator_limited', 'offered_rate') }} filter (where passes) as is_last_passing_limited,
        any_value(achieved_rate) filter (where offered_rate = first_exceeding_rate) as first_exceeding_achieved,
        any_value(loss_ratio) filter (where offered_rate = first_exceeding_rate) as first_exceeding_loss,
        coalesce(any_value(is_pace_lost) filter (where offered_rate = first_exceeding_rate), false)
            as is_first_exceeding_pace_lost,
        coalesce(
            bool_or(offered_rate > first_exceeding_rate and loss_ratio <= loss_limit and not coalesce(is_unsustained, false)), false
        ) as dips_back
    from (
        select
            *,
            first_exceeding_rate is null or offered_rate < first_exceeding_rate as passes
        from with_first_exceeding
    ) as marked_steps
    group by run_id, loss_goal

),

with_status as (

    select
        *,
        case
            when first_exceeding_loss > loss_limit
                then
                    rate + (first_exceeding_achieved - rate)
                    * (loss_limit - last_passing_loss) / (first_exceeding_loss - last_passing_loss)
        end as rate_interpolated,
        case
            when last_passing_rate is null then 'exceeded_at_first_step'
            when is_last_passing_limited then 'generator_limited'
            -- nothing was lost, the generator fell behind: a closed loop that waits for the server
            when is_first_exceeding_pace_lost and first_exceeding_loss <= loss_limit then 'generator_limited'
            when first_exceeding_rate is null then 'never_exceeded'
            else 'bracketed'
        end as status
    from bracketed

)
{%- endmacro %}

{#- Whether a run counts when its configuration's rule leaves out the lowest and the highest. -#}
{% macro is_kept_run() -%}
    all_runs < coalesce(discard_from_runs, 5)
    or (place > coalesce(discard_lowest, 1) and place <= all_runs - coalesce(discard_highest, 1))
{%- endmacro %}

{% macro run_rates_at_function() -%}
create or replace macro run_rates_at(loss_limit, loss_basis := 'worst_exchange', configuration_ids := null) as table
with

judged_steps as (

    select
        run_id,
        configuration_id,
        'asked' as loss_goal,
        loss_limit,
        loss_basis,
        offered_rate,
        achieved_rate,
        is_generator_limited,
        is_pace_lost,
        is_unsustained,
        {{ loss_on('loss_basis') }} as loss_ratio
    from run_steps
    where configuration_ids is null or list_contains(configuration_ids, configuration_id)

),

{{ run_brackets() }}

select
    with_status.run_id,
    runs.configuration_id,
    runs.configuration,
    runs.campaign,
    runs.repetition,
    runs.rate_unit,
    loss_limit as loss_limit,
    loss_basis as loss_basis,
    with_status.rate,
    with_status.rate_interpolated,
    with_status.last_passing_rate,
    with_status.first_exceeding_rate,
    with_status.status
from with_status
inner join runs on with_status.run_id = runs.run_id
{%- endmacro %}

{% macro lps_at_function() -%}
create or replace macro lps_at(loss_limit, loss_basis := 'worst_exchange', configuration_ids := null) as table
with

ranked_runs as (

    select
        rates.*,
        campaigns.discard_lowest,
        campaigns.discard_highest,
        campaigns.discard_from_runs,
        count(*) over (partition by rates.configuration_id) as all_runs,
        row_number() over (
            partition by rates.configuration_id order by rates.rate nulls first, rates.run_id
        ) as place
    from run_rates_at(loss_limit, loss_basis := loss_basis, configuration_ids := configuration_ids) as rates
    left join campaigns on rates.campaign = campaigns.campaign

),

trimmed_runs as (

    select
        *,
        {{ is_kept_run() }} as is_kept
    from ranked_runs

)

select
    configuration_id,
    any_value(configuration) as configuration,
    any_value(campaign) as campaign,
    any_value(rate_unit) as rate_unit,
    loss_limit as loss_limit,
    loss_basis as loss_basis,
    count(*) as runs,
    count(rate) filter (where is_kept) as runs_kept,
    avg(rate) filter (where is_kept) as rate,
    median(rate) as rate_median,
    avg(rate) as rate_mean,
    stddev_samp(rate) as rate_stdev,
    avg(rate_interpolated) filter (where is_kept) as rate_interpolated,
    {{ worst_status('status', 'is_kept') }} as status
from trimmed_runs
group by configuration_id
{%- endmacro %}

{#- Run after the last of the tables that these functions read. -#}
{% macro create_capacity_functions() -%}
    {%- if target.type == 'duckdb' %}
    {{ run_rates_at_function() }};
    {{ lps_at_function() }};
    comment on macro table run_rates_at is
    'What every run, or those of configuration_ids, sustains at any loss limit and basis (worst_exchange, packet, lease).';
    comment on macro table lps_at is
    'What measured configurations sustain at any loss limit and basis: runs, trimmed mean, median, mean, status.';
    {%- endif %}
{%- endmacro %}
