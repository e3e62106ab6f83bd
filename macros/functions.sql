{#-
    The SQL functions of the warehouse. Each macro is the plain text of one `create macro`, so that the calculator
    can also run without a warehouse: it renders the same text into an empty database.
-#}

{#- The inputs of the calculator, as JSON: name, default, and the least and the most that make sense. -#}
{% macro lps_needed_inputs() -%}
[
    ["clients", 0, 0, 1e12],
    ["lease_s", 86400, 1, 1e10],
    ["preferred_ratio", 0, 0, 1],
    ["t1_ratio", 0.5, 0.01, 1],
    ["t2_ratio", 0, 0, 1],
    ["renewing_ratio", 1, 0, 1],
    ["arriving_clients", 0, 0, 1e12],
    ["arrival_window_s", 3600, 1, 1e10],
    ["moves_per_client_h", 0, 0, 3600],
    ["boot_ratio", 0, 0, 1],
    ["boot_window_s", 600, 1, 1e10],
    ["down_clients", 0, 0, 1e12],
    ["remembering_ratio", 0, 0, 1],
    ["outage_s", 0, 0, 1e10],
    ["recovery_s", 600, 1, 1e10],
    ["ip_version", 4, 4, 6],
    ["first_timeout_s", 0, 0, 3600],
    ["longest_timeout_s", 0, 0, 1e6],
    ["leases_per_client", 1, 1, 100],
    ["renewal_cost_ratio", 1, 0.01, 2],
    ["relay_ratio", 1, 0.01, 2],
    ["ha_ratio", 1, 0.01, 2],
    ["utilisation_ratio", 1, 0.01, 1]
]
{%- endmacro %}

{% macro lps_needed_function() -%}
{%- set inputs = fromjson(lps_needed_inputs()) -%}
create or replace macro lps_needed(
    {%- for name, default, least, most in inputs %}
    {{ name }} := {{ default }}{{ "," if not loop.last }}
    {%- endfor %}
) as table
with

chosen as (

    -- zero means what the RFCs and Kea say
    select
        -- T1 and T2 are shares of the lease, in DHCPv6 of its preferred lifetime (RFC 8415 21.4), for Kea 0.625 of it
        case ip_version when 6 then coalesce(nullif(preferred_ratio, 0), 0.625) else 1 end * lease_s::double as lifetime_s,
        coalesce(nullif(t2_ratio, 0), case ip_version when 6 then 0.8 else 0.875 end)::double as t2_share,
        -- RFC 2131 4.1, RFC 8415 7.6
        coalesce(nullif(first_timeout_s, 0), case ip_version when 6 then 1 else 4 end) as first_s,
        coalesce(nullif(longest_timeout_s, 0), case ip_version when 6 then 3600 else 64 end) as longest_s,
        -- RFC 2131 takes up to a second off the first time-out, RFC 8415 15 up to a tenth
        case ip_version when 6 then 0.1 * first_s else 1 end as earlier_s

),

times as (

    select
        *,
        t1_ratio * lifetime_s as t1_s,
        t2_share * lifetime_s as t2_s,
        -- what a client is to the server, in new leases of one address
        leases_per_client * renewal_cost_ratio as renewal_cost,
        leases_per_client * (1 + remembering_ratio * (renewal_cost_ratio - 1)) as return_cost,
        4 - 2 * remembering_ratio as return_messages,
        -- the answer to a CONFIRM lengthens no lease, RFC 8415 18.3.3
        renewing_ratio * (1 - case ip_version when 6 then remembering_ratio else 0 end) as echoing_ratio
    from chosen
    where
        case
            {%- for name, default, least, most in inputs %}
            when not coalesce({{ name }} between {{ least }} and {{ most }}, false) then error(concat(
                '{{ name }} is ', coalesce({{ name }}::varchar, 'null'), '; expected {{ '%g to %g' % (least, most) }}'
            ))
            {%- endfor %}
            when ip_version not in (4, 6) then error(concat('ip_version is ', ip_version, '; expected 4 or 6'))
            when ip_version = 4 and preferred_ratio not in (0, 1) then error(concat(
                'preferred_ratio is ', preferred_ratio, '; only a lease of DHCPv6 has a preferred lifetime'
            ))
            {%- for small, large, is, than in [
                ('t1_ratio', 't2_ratio', 't1_ratio', 't2_share'), ('first_timeout_s', 'longest_timeout_s', 'first_s', 'longest_s')
            ] %}
            when {{ is }} > {{ than }} then error(concat(
                '{{ small }} is ', {{ is }}, ' and {{ large }} ', {{ than }}, '; expected {{ small }} to be no larger'
            ))
            {%- endfor %}
            else true
        end

),

flows as (

    select
        *,
        -- clients that renew do so once at T1 (RFC 2131 4.4.5, RFC 8415 21.4), the others come again when the lease ends
        renewing_ratio * clients / t1_s as renewals_per_s,
        (1 - renewing_ratio) * clients / lease_s as expiries_per_s,
        arriving_clients / arrival_window_s as arrivals_per_s,
        moves_per_client_h * clients / 3600 as moves_per_s,
        boot_ratio * clients / boot_window_s as boot_per_s
    from times

),

outages as (

    select
        *,
        -- of the clients that reach T1 while the server is down: how many get to T1, to T2, and to the end of the lease
        renewals_per_s * least(outage_s, t1_s) as missed_t1,
        renewals_per_s * least(greatest(outage_s - (t2_s - t1_s), 0), t1_s) as missed_t2,
        renewals_per_s * least(greatest(outage_s - (lease_s - t1_s), 0), t1_s) as missed_end
    from flows

),

overdue as (

    select
        *,
        missed_t1 - missed_t2 as renewing_clients,
        missed_t2 - missed_end as rebinding_clients,
        missed_end + expiries_per_s * least(outage_s, lease_s) + (arrivals_per_s + moves_per_s) * outage_s
            as late_clients,
        down_clients + late_clients as starting_clients,
        -- how often a client without a lease has asked: who came, who lost it first, and last; each attempt under way
        -- brings back as many per second as began per second (docs/explanation/planner.md)
        list_transform(
            [outage_s, outage_s - (lease_s - t1_s), outage_s - lease_s],
            lambda s: log2(1 + least(greatest(s, 0), longest_s) / first_s) + greatest(s - longest_s, 0) / longest_s
        ) as attempts,
        renewals_per_s * ceil(attempts[2] - attempts[3]) + expiries_per_s * ceil(attempts[1] - attempts[3])
        + (arrivals_per_s + moves_per_s) * ceil(attempts[1]) as late_returns_per_s
    from outages

),

serving as (

    select
        *,
        -- which rate, for how long, gives all a lease in time: the last one waits once more, and the offers of a server
        -- that then drops the requests are in vain (docs/explanation/planner.md); a wait that doubles takes two thirds
        case ip_version when 6 then recovery_s / 3 else greatest(
            least(recovery_s / 3, longest_s),
            2 * greatest(recovery_s - longest_s, 0) / (1 + sqrt(
                1 + (1 - remembering_ratio * down_clients / greatest(starting_clients, 1))
                * greatest(recovery_s - longest_s, 0) / (7 * longest_s)
            ))
        ) end as serving_s,
        -- how far apart RAND has brought the waits of DHCPv6 since the last client lost its lease
        case ip_version when 6 then longest_s * least(0.9, sqrt(
            power(0.27 * least(greatest(outage_s - lease_s, 0) / longest_s, 1), 2)
            + 0.021 * greatest((outage_s - lease_s) / longest_s - 1, 0)
        )) else 0 end as apart_s,
        -- or nobody waits
        greatest(serving_s, late_clients / nullif(late_returns_per_s, 0), apart_s) as late_serving_s,
        greatest(
            serving_s + case ip_version when 6 then boot_window_s / 2 else 0 end, least(boot_window_s, recovery_s)
        ) as down_serving_s
    from overdue

),

phases as (

    -- in seconds after T1; a wait is halved as long as the half is a minute or more
    select
        *,
        greatest(floor(log2(greatest(phase_s, 60) / 60)), 0) as halvings
    from (
        select renewals_per_s, t1_s, 0 as begin_s, t2_s - t1_s as phase_s from flows
        union all
        select renewals_per_s, t1_s, t2_s - t1_s as begin_s, lease_s - t2_s as phase_s from flows
    )

),

attempts as (

    -- of a client whom nobody answers: how long after the beginning of the phase each ends, and its wait
    select
        renewals_per_s,
        t1_s,
        begin_s,
        phase_s,
        unnest(
            case ip_version
                -- RFC 8415 18.2.4 and 18.2.5: 10 s, doubled up to 600 s; of those only as many as begin in the outage
                when 6 then
                    list_transform(range(1, 7), lambda k: {'until_s': 10 * (power(2, k) - 1), 'wait_s': 5 * power(2, k)})
                    || list_transform(
                        range(1, 1 + ceil(greatest(least(outage_s - begin_s, phase_s) - 630, 0) / 600)::bigint),
                        lambda k: {'until_s': 630.0 + 600 * k, 'wait_s': 600.0}
                    )
                -- RFC 2131 4.4.5: half the time that is left, at least 60 s
                else
                    list_transform(
                        range(1, 1 + halvings::bigint),
                        lambda k: {'until_s': phase_s * (1 - power(2, -k)), 'wait_s': phase_s * power(2, -k)}
                    )
                    || [
                        {'until_s': phase_s * (1 - power(2, -halvings)) + 60.0, 'wait_s': 60.0},
                        {'until_s': phase_s * (1 - power(2, -halvings)) + 120.0, 'wait_s': 60.0}
                    ]
            end,
            recursive := true
        )
    from phases

),

returns as (

    -- from when until when after the outage this attempt brings back one client for each that reaches T1; the
    -- phase ends the last wait
    select
        greatest(begin_s + least(until_s, phase_s) - outage_s, 0) as from_s,
        least(
            least(until_s, phase_s) - (until_s - wait_s),
            begin_s + least(until_s, phase_s) - greatest(outage_s - t1_s, 0)
        ) as to_s,
        count(*) * any_value(renewals_per_s) as returns_per_s
    from attempts
    where until_s - wait_s < phase_s
    group by all
    having to_s > from_s

),

-- loads only rise where an attempt begins to bring clients back, so that the busiest minute begins or ends where one does
minutes as (

    select 0 as begins_s
    union
    select from_s from returns
    union
    select greatest(to_s - 60, 0) from returns

),

filled_minutes as (

    select
        minutes.begins_s,
        coalesce(sum(
            returns.returns_per_s * (least(returns.to_s, minutes.begins_s + 60) - greatest(returns.from_s, minutes.begins_s))
        ) / 60, 0) as mean_per_s,
        -- for how many minutes it goes on like this
        greatest(coalesce(min(returns.to_s - returns.from_s), 0) / 60, 1) as alike
    from minutes
    left join returns
        on returns.from_s < minutes.begins_s + 60
            and returns.to_s > minutes.begins_s
    group by all

),

loads as (

    select
        serving.*,
        filled_minutes.begins_s,
        -- clients come at random: the busiest of so many minutes alike, at most, for a count that scatters by its root
        renewal_cost * (mean_per_s + sqrt(2 * ln(alike) * mean_per_s / 60)) as returning_lps,
        case when begins_s < boot_window_s then return_cost * boot_per_s else 0 end as boot_wave_lps,
        case when begins_s < recovery_s
            then return_cost * down_clients / down_serving_s + leases_per_client * late_clients / late_serving_s
            else 0 end as recovery_lps,
        case when begins_s < boot_window_s then return_messages * boot_per_s else 0 end
            + case when begins_s < recovery_s
                then return_messages * down_clients / down_serving_s + 4 * late_clients / late_serving_s else 0 end
            + 2 * returning_lps / renewal_cost as event_messages_per_s
    from serving
    cross join filled_minutes

),

busiest as (

    select * from loads
    order by boot_wave_lps + recovery_lps + returning_lps desc, begins_s
    limit 1

),

totals as (

    select
        *,
        renewal_cost * renewals_per_s as renewals_lps,
        leases_per_client * expiries_per_s as expiries_lps,
        leases_per_client * arrivals_per_s as arrivals_lps,
        leases_per_client * moves_per_s as moves_lps,
        renewals_lps + expiries_lps + arrivals_lps + moves_lps as steady_lps,
        steady_lps + boot_wave_lps + recovery_lps + returning_lps as peak_lps,
        1 / (relay_ratio * utilisation_ratio) as alone_allowance,
        alone_allowance / ha_ratio as allowance,
        -- two messages for a renewal, four for a new lease
        2 * renewals_per_s + 4 * (expiries_per_s + arrivals_per_s + moves_per_s) as steady_messages_per_s
    from busiest

)

select
    renewals_lps,
    expiries_lps,
    arrivals_lps,
    moves_lps,
    boot_wave_lps,
    recovery_lps,
    returning_lps,
    steady_lps,
    peak_lps,
    steady_lps * allowance as needed_steady_lps,
    peak_lps * allowance as needed_lps,
    peak_lps * alone_allowance as needed_partner_down_lps,
    renewal_cost * (
        echoing_ratio * (boot_per_s + down_clients / down_serving_s) + renewing_ratio * late_clients / late_serving_s
    ) as echo_lps,
    case when returning_lps > 0 then begins_s end as busiest_after_s,
    t1_s,
    t2_s,
    steady_messages_per_s,
    steady_messages_per_s + event_messages_per_s as peak_messages_per_s,
    starting_clients,
    -- those whom the outage cost their lease ask again after as long as they have asked, at most after their longest wait
    greatest(recovery_s, case
        when starting_clients > down_clients then least(
            outage_s - case when expiries_lps + arrivals_lps + moves_lps > 0 then 0 else lease_s - t1_s end, longest_s
        )
        else 0
    end) as recovery_lasts_s,
    renewing_clients,
    rebinding_clients,
    leases_per_client * (greatest(clients, down_clients) + (arrivals_per_s + moves_per_s) * lease_s) as pool_size,
    -- an answer to every request, two for a new lease
    peak_messages_per_s / 2 * allowance * greatest(first_s - earlier_s, 0) as useful_queue_requests
from totals
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
        runs_without_outliers - 1 as degrees,
        -- Student's prediction for one more run; a bracket has no spread to predict from
        case
            when interval_kind = 'confidence'
                then (lps_interpolated - required_lps)
                    / nullif(lps_interpolated_stdev * sqrt(1 + 1 / runs_without_outliers), 0)
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
    case
        when sure_lps >= required_lps then 'yes'
        -- a ramp that ended too soon has no upper end
        when coalesce(ci_high, case when interval_kind = 'none' then lps end) < required_lps then 'no'
        else 'unknown'
    end as meets,
    case when degrees > 0 then {{ student_t_probability('deviate', 'degrees') }} end as meeting_probability,
    status,
    quality,
    configuration_id
from judged
where
    case
        when coalesce(required_lps >= 0, false) then sure_lps >= required_lps or also_missing
        else error(concat('required_lps is ', coalesce(required_lps::varchar, 'null'), '; expected 0 or more'))
    end
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
                    'There is no configuration ', coalesce({{ named }}::varchar, 'null'), '. Most like it: ',
                    (
                        select array_to_string(
                            arg_max(
                                configuration,
                                jaro_winkler_similarity(lower(configuration), coalesce(lower({{ named }}::varchar), '')),
                                3
                            ), '; '
                        )
                        from (select distinct configuration from configurations) as names
                    ), '. The table configurations lists them all.'
                ))
        else false
    end
{%- endmacro %}

{#- From the capacities `treatment` and `baseline`, joined as given, to the columns of a comparison. -#}
{% macro compared(joined) -%}
pairs as (

    select
        treatment.loss_goal,
        treatment.rate_unit,
        {{ is_in_turn('treatment', 'baseline') }} as is_in_turn,
        {{ variation_between('treatment', 'baseline') }},
        {%- for side in ['treatment', 'baseline'] %}
        {{ side }}.configuration as {{ side }}_configuration,
        {{ side }}.configuration_id as {{ side }}_configuration_id,
        {{ side }}.rate as {{ side }}_rate,
        {{ crossings_of(side) }},
        case when {{ side }}.origin = 'measured' then {{ side }}.runs end as {{ side }}_runs{{ "," if not loop.last }}
        {%- endfor %}
    from {{ joined }}
    where treatment.loss_goal = baseline.loss_goal and treatment.rate_unit = baseline.rate_unit

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
    is_in_turn,
    series_variation,
    treatment_configuration_id as configuration_id_a,
    baseline_configuration_id as configuration_id_b
from tested_pairs
order by loss_goal, configuration_a, configuration_b
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
{{ compared('treatment cross join baseline') }}
{%- endmacro %}

{#- The loss goal that is usual for a rate: ISC's for DHCP, for DNS what its operators ask for, and so for the rest. -#}
{% macro usual_goal_of(rate_unit) -%}
case when {{ rate_unit }} in ('leases/s', 'exchanges/s') then 'isc' else 'permille' end
{%- endmacro %}

{#- Functions that read no table; run once at the end of a build. -#}
{% macro create_standalone_functions() -%}
    {%- if target.type == 'duckdb' %}
    create or replace macro usual_goal(rate_unit) as {{ usual_goal_of('rate_unit') }};
    comment on macro usual_goal is 'The loss goal by which rates in this unit are usually judged.';
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

{#- The same for many pairs at once, by id only: planned in a quarter of the time of a lateral join. -#}
{% macro compare_each_function() -%}
create or replace macro compare_each(ids_a := [], ids_b := []) as table
with

asked as (

    select
        unnest(cast(ids_a as varchar[])) as id_a,
        unnest(cast(ids_b as varchar[])) as id_b
    where
        case
            when len(cast(ids_a as varchar[])) <> len(cast(ids_b as varchar[]))
                then error('Both lists of ids must have the same length.')
            else true
        end

),

{{ compared('asked
    inner join capacity as treatment on asked.id_a = treatment.configuration_id
    inner join capacity as baseline on asked.id_b = baseline.configuration_id') }}
{%- endmacro %}

{#- Run after the last of the tables that these functions read. -#}
{% macro create_comparison() -%}
    {%- if target.type == 'duckdb' %}
    {{ compare_function() }};
    {{ compare_each_function() }};
    comment on macro table compare_each is
    'The same for many pairs, given as two lists of ids of the same length.';
    comment on macro table compare is
    'Two configurations, by id or name, at each loss goal: rates, ratio with interval and p value, and a verdict on a.';
    {%- endif %}
{%- endmacro %}
