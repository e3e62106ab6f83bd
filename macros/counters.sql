{#- From `snapshots`, the values of counters before and after trials, to `counters`, with the change of each. -#}
{% macro changes_of_counters() -%}
read_twice as (

    select
        trial_id,
        batch,
        host,
        metric,
        label,
        any_value(unit) as unit,
        max(value) filter (where moment = 'before') as value_before,
        max(value) filter (where moment = 'after') as value_after
    from snapshots
    group by trial_id, batch, host, metric, label

),

counters as (

    select
        *,
        value_after - value_before as change
    from read_twice

)
{%- endmacro %}
