{#- The type of a point in time. -#}
{% macro time_type() -%}
    {{ adapter.dispatch('time_type', 'dropline')() }}
{%- endmacro %}

{% macro duckdb__time_type() -%}
    timestamptz
{%- endmacro %}

{% macro spark__time_type() -%}
    timestamp
{%- endmacro %}

{#- A time so many seconds later. -#}
{% macro later(instant, seconds) -%}
    {{ adapter.dispatch('later', 'dropline')(instant, seconds) }}
{%- endmacro %}

{% macro duckdb__later(instant, seconds) -%}
    {{ instant }} + to_microseconds(cast(round(1000000 * ({{ seconds }})) as bigint))
{%- endmacro %}

{% macro spark__later(instant, seconds) -%}
    timestampadd(microsecond, cast(round(1000000 * ({{ seconds }})) as bigint), {{ instant }})
{%- endmacro %}

{#- How many seconds lie between two times. -#}
{% macro seconds_between(start, finish) -%}
    {{ adapter.dispatch('seconds_between', 'dropline')(start, finish) }}
{%- endmacro %}

{% macro duckdb__seconds_between(start, finish) -%}
    (epoch_us({{ finish }}) - epoch_us({{ start }})) / 1000000.0
{%- endmacro %}

{% macro spark__seconds_between(start, finish) -%}
    (unix_micros({{ finish }}) - unix_micros({{ start }})) / 1000000
{%- endmacro %}
