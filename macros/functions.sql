{#-
    The SQL functions of the warehouse. Each macro is the plain text of one `create macro`, so that the calculator
    can also run without a warehouse: it renders the same text into an empty database.
-#}

{% macro lps_needed_function() -%}
create or replace macro lps_needed(
    clients := 0,
    lease_s := 86400,
    t1_ratio := 0.5,
    arriving_clients := 0,
    arrival_window_s := 3600,
    boot_ratio := 0,
    boot_window_s := 600,
    down_clients := 0,
    recovery_s := 600,
    ip_version := 4,
    ha_ratio := 1,
    utilisation_ratio := 1
) as table
with

loads as (

    select
        -- every client renews once at T1 (RFC 2131 4.4.5, RFC 8415 21.4)
        coalesce(clients / nullif(t1_ratio * lease_s, 0), 0) as renewals_lps,
        coalesce(arriving_clients / nullif(arrival_window_s, 0), 0) as arrivals_lps,
        coalesce(boot_ratio * clients / nullif(boot_window_s, 0), 0) as boot_wave_lps,
        coalesce(down_clients / nullif(recovery_s, 0), 0) as recovery_lps,
        -- whoever still waits repeats himself at the end of the back-off: each 64 s (RFC 2131 4.1), 3600 s (RFC 8415 7.6)
        down_clients / case ip_version when 6 then 3600 else 64 end as retransmissions_per_s

),

totals as (

    select
        *,
        renewals_lps + arrivals_lps as steady_lps,
        renewals_lps + arrivals_lps + boot_wave_lps + recovery_lps as peak_lps,
        -- two messages for a renewal, four for a new lease
        2 * renewals_lps + 4 * (arrivals_lps + boot_wave_lps + recovery_lps) + retransmissions_per_s
            as peak_messages_per_s
    from loads

)

select
    renewals_lps,
    arrivals_lps,
    boot_wave_lps,
    recovery_lps,
    steady_lps,
    peak_lps,
    peak_lps / nullif(ha_ratio * utilisation_ratio, 0) as needed_lps,
    retransmissions_per_s,
    peak_messages_per_s
from totals
{%- endmacro %}

{% macro configurations_meeting_function() -%}
create or replace macro configurations_meeting(required_lps) as table
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
    ci_low,
    -- the lower end of the interval counts, where there is one
    coalesce(ci_low, lps) / nullif(required_lps, 0) as headroom_ratio,
    status,
    quality,
    configuration_id
from leases_per_second
where coalesce(ci_low, lps) >= required_lps
order by coalesce(ci_low, lps) desc
{%- endmacro %}

{% macro compare_function() -%}
create or replace macro compare(a, b) as table
with

pairs as (

    select
        treatment.loss_goal,
        treatment.rate_unit,
        {%- for side in ['treatment', 'baseline'] %}
        {{ side }}.configuration as {{ side }}_configuration,
        {{ side }}.configuration_id as {{ side }}_configuration_id,
        {{ side }}.rate as {{ side }}_rate,
        {{ side }}.rate_undisturbed as {{ side }}_undisturbed,
        {{ side }}.stdev_undisturbed as {{ side }}_stdev,
        {{ side }}.runs_undisturbed as {{ side }}_undisturbed_runs,
        {{ side }}.runs_undisturbed + {{ side }}.runs_dipping as {{ side }}_runs{{ "," if not loop.last }}
        {%- endfor %}
    from capacity as treatment
    inner join capacity as baseline
        on treatment.loss_goal = baseline.loss_goal
            and treatment.rate_unit = baseline.rate_unit
    where a in (treatment.configuration_id, treatment.configuration)
        and b in (baseline.configuration_id, baseline.configuration)

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
    ratio_undisturbed,
    ci_low,
    ci_high,
    p_value,
    p_floor,
    {{ comparison_verdict('p_value', 1) }} as verdict,
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
    'Two configurations, by id or name, at each loss goal: rates, ratio with interval, rank test and a verdict on a.';
    {%- endif %}
{%- endmacro %}
