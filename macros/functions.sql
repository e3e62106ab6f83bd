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
