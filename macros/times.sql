{#- A time so many seconds later. -#}
{% macro later(instant, seconds) -%}
    {{ instant }} + to_microseconds(cast(round(1000000 * ({{ seconds }})) as bigint))
{%- endmacro %}

{#- How many seconds lie between two times. -#}
{% macro seconds_between(start, finish) -%}
    (epoch_us({{ finish }}) - epoch_us({{ start }})) / 1000000.0
{%- endmacro %}
