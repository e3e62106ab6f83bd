{#-
    The SQL functions of the warehouse. Each macro is the plain text of one `create macro`, so that the calculator
    can also run without a warehouse: it renders the same text into an empty database.
-#}

{% macro lps_needed_function() -%}
create or replace macro lps_needed(
    clients := 0,
    lease_s := 86400,
    t1_ratio := 0.5,
    t2_ratio := 0.875,
    renewing_ratio := 1,
    arriving_clients := 0,
    arrival_window_s := 3600,
    moves_per_client_h := 0,
    boot_ratio := 0,
    boot_window_s := 600,
    down_clients := 0,
    outage_s := 0,
    recovery_s := 600,
    ip_version := 4,
    first_timeout_s := 0,
    longest_timeout_s := 0,
    relay_ratio := 1,
    ha_ratio := 1,
    utilisation_ratio := 1
) as table
with

times as (

    select
        t1_ratio * lease_s as t1_s,
        greatest(t1_ratio, t2_ratio) * lease_s as t2_s,
        -- zero stands for the time-outs of RFC 2131 4.1 and RFC 8415 7.6
        coalesce(nullif(first_timeout_s, 0), case ip_version when 6 then 1 else 4 end) as first_s,
        coalesce(nullif(longest_timeout_s, 0), case ip_version when 6 then 3600 else 64 end) as longest_s,
        -- RFC 2131 takes up to a second off the first time-out, RFC 8415 18.2.1 nothing
        case ip_version when 6 then 0 else 1 end as earlier_s

),

loads as (

    select
        *,
        -- whoever renews does so once at T1 (RFC 2131 4.4.5, RFC 8415 21.4), the others come again when the lease is over
        coalesce(renewing_ratio * clients / nullif(t1_s, 0), 0) as renewals_lps,
        coalesce((1 - renewing_ratio) * clients / nullif(lease_s, 0), 0) as expiries_lps,
        coalesce(arriving_clients / nullif(arrival_window_s, 0), 0) as arrivals_lps,
        moves_per_client_h * clients / 3600 as moves_lps,
        coalesce(boot_ratio * clients / nullif(boot_window_s, 0), 0) as boot_wave_lps
    from times

),

outages as (

    select
        *,
        -- of the clients that reach T1 while the server is down: how many get to T1, to T2, and to the end of the lease
        renewals_lps * least(outage_s, t1_s) as missed_t1,
        renewals_lps * least(greatest(outage_s - (t2_s - t1_s), 0), t1_s) as missed_t2,
        renewals_lps * least(greatest(outage_s - (lease_s - t1_s), 0), t1_s) as missed_end
    from loads

),

overdue as (

    select
        *,
        missed_t1 - missed_t2 as renewing_clients,
        missed_t2 - missed_end as rebinding_clients,
        down_clients + missed_end + expiries_lps * least(outage_s, lease_s) + (arrivals_lps + moves_lps) * outage_s
            as starting_clients
    from outages

),

totals as (

    select
        *,
        renewals_lps + expiries_lps + arrivals_lps + moves_lps as steady_lps,
        coalesce((renewing_clients + rebinding_clients + starting_clients) / nullif(recovery_s, 0), 0) as recovery_lps,
        -- two messages for a renewal, four for a new lease
        2 * renewals_lps + 4 * (expiries_lps + arrivals_lps + moves_lps) as steady_messages_per_s,
        coalesce((2 * (renewing_clients + rebinding_clients) + 4 * starting_clients) / nullif(recovery_s, 0), 0)
            as recovery_messages_per_s,
        -- whoever still has no lease at the end of the back-off repeats after the longest time-out
        starting_clients / longest_s as retransmissions_per_s
    from overdue

),

needs as (

    select
        *,
        steady_lps + boot_wave_lps + recovery_lps as peak_lps,
        1 / nullif(relay_ratio * ha_ratio * utilisation_ratio, 0) as allowance
    from totals

)

select
    renewals_lps,
    expiries_lps,
    arrivals_lps,
    moves_lps,
    boot_wave_lps,
    recovery_lps,
    steady_lps,
    peak_lps,
    steady_lps * allowance as needed_steady_lps,
    peak_lps * allowance as needed_lps,
    steady_messages_per_s,
    retransmissions_per_s,
    steady_messages_per_s + 4 * boot_wave_lps + recovery_messages_per_s + retransmissions_per_s as peak_messages_per_s,
    starting_clients,
    renewing_clients,
    rebinding_clients,
    peak_lps * allowance * greatest(first_s - earlier_s, 0) as useful_queue_requests
from needs
{%- endmacro %}

{#-
    Probability that Student's t with a whole number of degrees of freedom is at most `t`: the finite series of
    Abramowitz and Stegun, Handbook of Mathematical Functions, 1964, 26.7.3 and 26.7.4, with their products of odd and
    even numbers written as gamma functions. `t` and `degrees` are names of columns.
-#}
{% macro student_t_probability(t, degrees) -%}
    0.5 + 0.5 * (
        ({{ degrees }} % 2) * 2 / pi() * atan({{ t }} / sqrt({{ degrees }}))
        + sin(atan({{ t }} / sqrt({{ degrees }}))) / sqrt(pi()) * coalesce(list_sum(list_transform(
            range({{ degrees }} // 2),
            lambda k:
                exp(lgamma(k + (1 + {{ degrees }} % 2) / 2) - lgamma(k + 1 + ({{ degrees }} % 2) / 2))
                * power(cos(atan({{ t }} / sqrt({{ degrees }}))), 2 * k + {{ degrees }} % 2)
        )), 0)
    )
{%- endmacro %}

{% macro configurations_meeting_function() -%}
create or replace macro configurations_meeting(required_lps, also_missing := false) as table
with

judged as (

    select
        *,
        -- the lower end of the interval or bracket counts, where there is one
        coalesce(ci_low, lps) as sure_lps,
        runs_undisturbed - 1 as degrees,
        -- Student's prediction for one more run; a bracket has no spread to predict from
        case
            when interval_kind = 'confidence'
                then (lps_interpolated - required_lps)
                    / nullif(lps_interpolated_stdev * sqrt(1 + 1 / runs_undisturbed), 0)
        end as deviate
    from leases_per_second

)

select
    configuration,
    origin,
    campaign,
    protocol,
    backend,
    threading,
    threads,
    ha_mode,
    lps,
    interval_kind,
    ci_low,
    ci_high,
    sure_lps / nullif(required_lps, 0) as headroom_ratio,
    case when sure_lps is not null then greatest(required_lps - sure_lps, 0) end as missing_lps,
    case when degrees > 0 then {{ student_t_probability('deviate', 'degrees') }} end as meeting_probability,
    status,
    quality,
    configuration_id
from judged
where sure_lps >= required_lps or also_missing
order by sure_lps desc nulls last, configuration_id
{%- endmacro %}

{#- False, or an error that names the configurations most like the one asked for, an id or a name. -#}
{% macro is_unknown_configuration(named) -%}
    case
        when
            (select count(*) from configurations where configuration_id = {{ named }})
            + (select count(*) from configurations where configuration = {{ named }}) = 0
            then
                error(concat(
                    'There is no configuration ', {{ named }}, '. Most like it: ',
                    (
                        select array_to_string(
                            arg_max(
                                configuration,
                                jaro_winkler_similarity(lower(configuration), lower(cast({{ named }} as varchar))),
                                3
                            ), '; '
                        )
                        from (select distinct configuration from configurations) as names
                    ), '. All stand in the table configurations.'
                ))
        else false
    end
{%- endmacro %}

{% macro compare_function() -%}
create or replace macro compare(a, b) as table
with

{# by id or name, each an equality of its own: many pairs at once (lateral) are then joined and not tried one by one -#}
{%- for side, named in [('treatment', 'a'), ('baseline', 'b')] -%}
{{ side }} as (

    select * from capacity
    where configuration_id = {{ named }}
    union all
    select * from capacity
    where configuration = {{ named }} and configuration_id <> {{ named }}
    union all
    select * from (select * from capacity limit 1) as whatever
    where {{ is_unknown_configuration(named) }}

),

{% endfor -%}
pairs as (

    select
        treatment.loss_goal,
        treatment.rate_unit,
        {%- for side in ['treatment', 'baseline'] %}
        {{ side }}.configuration as {{ side }}_configuration,
        {{ side }}.configuration_id as {{ side }}_configuration_id,
        {{ side }}.rate as {{ side }}_rate,
        {{ crossings_of(side) }},
        case when {{ side }}.origin = 'measured' then {{ side }}.runs end as {{ side }}_runs{{ "," if not loop.last }}
        {%- endfor %}
    from treatment
    inner join baseline
        on treatment.loss_goal = baseline.loss_goal
            and treatment.rate_unit = baseline.rate_unit

),

{{ tested_pairs_from_pairs() }}

select
    loss_goal,
    rate_unit,
    treatment_configuration as configuration_a,
    baseline_configuration as configuration_b,
    treatment_rate as rate_a,
    baseline_rate as rate_b,
    treatment_runs as runs_a,
    baseline_runs as runs_b,
    ratio,
    ratio_interpolated,
    ci_low,
    ci_high,
    p_value,
    {{ comparison_verdict('p_value') }} as verdict,
    treatment_configuration_id as configuration_id_a,
    baseline_configuration_id as configuration_id_b
from tested_pairs
order by loss_goal, configuration_a, configuration_b
{%- endmacro %}

{#- Run once at the end of a build. -#}
{% macro create_calculator() -%}
    {%- if target.type == 'duckdb' %}
    {{ lps_needed_function() }};
    comment on macro table lps_needed is
    'Leases per second that a site needs, from its clients, lease time, arrivals, boot wave and outage; one row.';
    {%- endif %}
{%- endmacro %}

{#- Run after the model that the functions read. -#}
{% macro create_functions_over_capacity() -%}
    {%- if target.type == 'duckdb' %}
    {{ configurations_meeting_function() }};
    comment on macro table configurations_meeting is
    'Measured and published configurations whose leases per second reach the figure given, fastest first.';
    {%- endif %}
{%- endmacro %}

{#- Run after the last of the tables that compare() reads. -#}
{% macro create_comparison() -%}
    {%- if target.type == 'duckdb' %}
    {{ compare_function() }};
    comment on macro table compare is
    'Two configurations, by id or name, at each loss goal: rates, ratio with interval and p value, and a verdict on a.';
    {%- endif %}
{%- endmacro %}
