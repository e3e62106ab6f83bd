{#-
    The one definition of a run's capacity: from `judged_steps` (run_id, loss_goal, loss_limit, loss_basis, offered_rate,
    achieved_rate, loss_ratio, loss_lease and three marks) to `run_capacities`, one row per run and loss goal.
-#}
{% macro run_brackets() -%}
with_excess as (

    select
        *,
        -- what is lost beyond the limit, per second: a straight line where each further request costs the same
        case when not coalesce(is_generator_limited, false) then offered_rate * (loss_ratio - loss_limit) end as excess,
        loss_ratio > loss_limit or coalesce(is_unsustained, false) as exceeds
    from judged_steps
    where loss_ratio is not null

),

-- groups, not windows: they need no sorting
ends as (

    select
        run_id,
        loss_goal,
        min(offered_rate) filter (where exceeds) as first_exceeding_rate,
        max(offered_rate) filter (where not exceeds and excess is not null) as last_within_rate
    from with_excess
    group by run_id, loss_goal

),

with_first_exceeding as (

    select
        with_excess.*,
        ends.first_exceeding_rate,
        ends.last_within_rate
    from with_excess
    inner join ends on with_excess.run_id = ends.run_id and with_excess.loss_goal = ends.loss_goal

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
        coalesce(
            max_by(achieved_rate, offered_rate) filter (where passes and achieved_rate is not null),
            -- answered without a loss, though the generator fell behind at the first step
            any_value(achieved_rate) filter (
                where offered_rate = first_exceeding_rate and is_pace_lost and loss_ratio <= loss_limit
            )
        ) as rate,
        max_by(loss_ratio, offered_rate) filter (where passes) as last_passing_loss,
        -- what is lost at any rate; one step does not tell it
        case when count(*) filter (where passes) > 1 then min(loss_ratio) filter (where passes) else 0 end
            as background_loss,
        max_by(is_generator_limited, offered_rate) filter (where passes) as is_last_passing_limited,
        any_value(loss_ratio) filter (where offered_rate = first_exceeding_rate) as first_exceeding_loss,
        max_by(loss_lease, offered_rate) filter (where passes and loss_lease is not null) as last_passing_loss_lease,
        any_value(loss_lease) filter (where offered_rate = first_exceeding_rate) as first_exceeding_loss_lease,
        any_value(excess) filter (where offered_rate = first_exceeding_rate) as first_excess,
        min(offered_rate) filter (where offered_rate > first_exceeding_rate) as next_rate,
        min(offered_rate) filter (where offered_rate > first_exceeding_rate and excess is not null) as next_known_rate,
        min_by(excess, offered_rate) filter (where offered_rate > first_exceeding_rate and excess is not null) as next_excess,
        coalesce(any_value(is_pace_lost) filter (where offered_rate = first_exceeding_rate), false)
            as is_first_exceeding_pace_lost,
        coalesce(bool_or(offered_rate > first_exceeding_rate and not exceeds), false) as dips_back,
        max(loss_ratio) filter (where exceeds and offered_rate < last_within_rate) as loss_before_dip,
        2 * count(*) filter (where exceeds and offered_rate < last_within_rate)
        < count(*) filter (where offered_rate between first_exceeding_rate and last_within_rate) as is_disturbed
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
        {{ share_of_bracket('last_passing_loss', 'first_exceeding_loss', 'loss_limit', otherwise=0) }} as share_low,
        case
            when next_rate = next_known_rate
                then
                    first_exceeding_rate
                    - first_excess * (next_rate - first_exceeding_rate) / nullif(next_excess - first_excess, 0)
        end as first_excess_rate,
        case
            -- nothing was lost, the generator fell behind by itself
            when is_first_exceeding_pace_lost and first_exceeding_loss <= loss_limit then 'generator_limited'
            when last_passing_rate is null then 'exceeded_at_first_step'
            when is_last_passing_limited then 'generator_limited'
            when first_exceeding_rate is null then 'never_exceeded'
            else 'bracketed'
        end as status
    from bracketed

),

with_shares as (

    select
        *,
        -- what a request yields where the loss is the limit: less than 1 - limit if several exchanges lose
        coalesce(
            1 - last_passing_loss_lease - share_low * (first_exceeding_loss_lease - last_passing_loss_lease),
            1 - loss_limit
        ) as goodput_ratio,
        greatest(share_low, least(1, {{ share_of_bracket(
            log_of_loss('last_passing_loss'), log_of_loss('first_exceeding_loss'), log_of_loss(limit_of_logarithm()), otherwise=1
        ) }})) as share_by_logarithm,
        case
            when first_exceeding_loss > loss_limit
                then (first_excess_rate - last_passing_rate) / (first_exceeding_rate - last_passing_rate)
        end as share_of_line
    from with_status

),

with_mirrored_line as (

    select
        *,
        goodput_ratio * last_passing_rate as bracket_low,
        goodput_ratio * first_exceeding_rate as bracket_high,
        -- a line that falls short of the low estimate contradicts it: it may as well be too low by as much
        share_low + abs(share_of_line - share_low) as share_by_line
    from with_shares

),

with_share_high as (

    select
        *,
        case
            when share_by_line is null then share_by_logarithm
            -- the loss sets in at once, anywhere between the two steps
            when share_by_line > 1 then 1
            -- a logarithm of no loss is the floor's, and too low where the loss sets in suddenly
            when last_passing_loss - background_loss < {{ least_loss() }} then share_by_line
            else least(share_by_line, share_by_logarithm)
        end as share_high
    from with_mirrored_line

),

with_crossing as (

    select
        *,
        case
            when status = 'bracketed' then bracket_low + share_low * (bracket_high - bracket_low)
            when status = 'exceeded_at_first_step' then 0
            else least(bracket_low, rate)
        end as crossing_low,
        case
            when status = 'bracketed' then bracket_low + share_high * (bracket_high - bracket_low)
            when status = 'exceeded_at_first_step' then bracket_high
        end as crossing_high
    from with_share_high

),

run_capacities as (

    select
        {{ all_but(
            'with_crossing',
            'background_loss, last_passing_loss_lease, first_exceeding_loss_lease, first_excess, next_rate, '
            ~ 'next_known_rate, next_excess, first_excess_rate, goodput_ratio, share_low, share_by_logarithm, share_of_line, '
            ~ 'share_by_line, share_high'
        ) }},
        case when status = 'bracketed' then (crossing_low + crossing_high) / 2 end as rate_interpolated
    from with_crossing

)
{%- endmacro %}

{#- Where the fault for a lost pace lies: errors are the server's, whatever the generator sent. -#}
{% macro faults_at(error_limit, step='') -%}
    {{ step }}is_pace_lost and not coalesce({{ step }}error_ratio > {{ error_limit }}, false) as is_pace_lost,
        coalesce({{ step }}is_unsustained or {{ step }}error_ratio > {{ error_limit }}, false) as is_unsustained
{%- endmacro %}

{#-
    How far into its bracket, 0 to 1, a run reaches the limit; `otherwise` where the exceeding step failed for another reason
    than its loss: then the bracket is all that is known.
-#}
{% macro share_of_bracket(passing, exceeding, limit, otherwise) -%}
    coalesce(
        case
            when first_exceeding_loss > loss_limit
                then ({{ limit }} - {{ passing }}) / nullif({{ exceeding }} - {{ passing }}, 0)
        end,
        {{ otherwise }}
    )
{%- endmacro %}

{#- The logarithm of a loss beyond the background's, of at least 0.1 %, less for lower limits. -#}
{% macro log_of_loss(loss) -%}
    ln(greatest({{ loss }} - background_loss, {{ least_loss() }}))
{%- endmacro %}

{#- Zero has no logarithm; what sustains it sustains a permille, too. -#}
{% macro limit_of_logarithm() -%}
    greatest(loss_limit, 0.001)
{%- endmacro %}

{#- The least loss that differs from none. -#}
{% macro least_loss() -%}
    least(0.001, {{ limit_of_logarithm() }} / 25)
{%- endmacro %}

{#- True, or an error that says what can be asked for. -#}
{% macro is_limit_a_share(name) -%}
    case
        when not coalesce({{ name }}_limit between 0 and 1, false)
            then
                error(concat(
                    'The {{ name }} limit ', coalesce({{ name }}_limit::varchar, 'null'), ' is no share from 0 to 1.',
                    case
                        when {{ name }}_limit between 1 and 100
                            then concat(' ', {{ name }}_limit, ' % is ', {{ name }}_limit / 100, '.')
                    end
                ))
        else true
    end
{%- endmacro %}

{% macro refused_basis() -%}
    case
        when coalesce(loss_basis, 'null') not in ('worst_exchange', 'packet', 'lease')
            then error(concat('There is no loss basis ', coalesce(loss_basis, 'null'), ': name worst_exchange, packet or lease.'))
    end
{%- endmacro %}

{% macro run_rates_at_function() -%}
create or replace macro run_rates_at(
    loss_limit, loss_basis := 'worst_exchange', configuration_ids := null, error_limit := 0.001
) as table
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
        {{ faults_at('error_limit') }},
        loss_lease,
        coalesce({{ loss_on('loss_basis') }}, {{ refused_basis() }}) as loss_ratio
    from run_steps
    where
        (configuration_ids is null or list_contains(configuration_ids, configuration_id))
        and {{ is_limit_a_share('loss') }}
        and {{ is_limit_a_share('error') }}

),

{{ run_brackets() }}

select
    run_capacities.run_id,
    runs.configuration_id,
    runs.configuration,
    runs.campaign,
    runs.repetition,
    runs.started_at,
    runs.rate_unit,
    loss_limit as loss_limit,
    loss_basis as loss_basis,
    run_capacities.rate,
    run_capacities.rate_interpolated,
    run_capacities.crossing_low,
    run_capacities.crossing_high,
    run_capacities.bracket_low,
    run_capacities.bracket_high,
    run_capacities.last_passing_rate,
    run_capacities.first_exceeding_rate,
    run_capacities.is_disturbed,
    run_capacities.status
from run_capacities
inner join runs on run_capacities.run_id = runs.run_id
{%- endmacro %}

{% macro lps_at_function() -%}
create or replace macro lps_at(
    loss_limit, loss_basis := 'worst_exchange', configuration_ids := null, error_limit := 0.001
) as table
with

rated_runs as (

    select
        rates.*,
        'asked' as loss_goal,
        runs.session,
        campaigns.discard_lowest,
        campaigns.discard_highest,
        campaigns.discard_from_runs
    from run_rates_at(
        loss_limit, loss_basis := loss_basis, configuration_ids := configuration_ids, error_limit := error_limit
    ) as rates
    inner join runs on rates.run_id = runs.run_id
    left join campaigns on rates.campaign = campaigns.campaign

),

{{ capacities_of_runs() }}

select
    configurations.configuration_id,
    configurations.configuration,
    configurations.campaign,
    configurations.rate_unit,
    loss_limit as loss_limit,
    loss_basis as loss_basis,
    with_bounds.runs,
    with_bounds.runs_kept,
    with_bounds.rate,
    with_bounds.rate_at_most,
    with_bounds.rate_median,
    with_bounds.rate_mean,
    with_bounds.rate_stdev,
    with_bounds.interval_kind,
    with_bounds.ci_low,
    with_bounds.ci_high,
    with_bounds.last_passing_rate,
    with_bounds.first_exceeding_rate,
    with_bounds.rate_interpolated,
    with_bounds.run_correlation,
    with_bounds.sessions,
    with_bounds.widening,
    with_bounds.status
from with_bounds
inner join configurations on with_bounds.configuration_id = configurations.configuration_id
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
