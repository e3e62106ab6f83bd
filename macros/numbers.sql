{#- 4.0 as '4', 0.5 as '0.5': for texts that people read. -#}
{% macro short_number(value) -%}
    case
        when {{ value }} = floor({{ value }}) then cast(cast({{ value }} as bigint) as string)
        else {{ fraction_text(value) }}
    end
{%- endmacro %}

{#- A number that is not whole in its shortest digits, which Spark writes as 1.23E7 from ten millions on. -#}
{% macro fraction_text(value) -%}
    {{ adapter.dispatch('fraction_text', 'dropline')(value) }}
{%- endmacro %}

{% macro duckdb__fraction_text(value) -%}
    cast({{ value }} as string)
{%- endmacro %}

{% macro spark__fraction_text(value) -%}
    case
        when abs({{ value }}) < 1e7 then cast({{ value }} as string)
        else regexp_replace(cast(cast({{ value }} as decimal(38, 12)) as string), '0+$', '')
    end
{%- endmacro %}

{#- The loss of a step on the basis that its loss goal names. -#}
{% macro loss_on(basis) -%}
    case {{ basis }}
        when 'worst_exchange' then loss_worst_exchange
        when 'packet' then loss_packet
        when 'lease' then loss_lease
    end
{%- endmacro %}

{#- 0.6730 as '67.30 %': for texts that people read. -#}
{% macro percent(ratio) -%}
    {{ adapter.dispatch('percent', 'dropline')(ratio) }}
{%- endmacro %}

{% macro duckdb__percent(ratio) -%}
    format('{:.2f} %', 100 * ({{ ratio }}))
{%- endmacro %}

{% macro spark__percent(ratio) -%}
    format_number(100 * ({{ ratio }}), '0.00') || ' %'
{%- endmacro %}
