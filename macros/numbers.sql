{#- 4.0 as '4', 0.5 as '0.5': for texts that people read. -#}
{% macro short_number(value) -%}
    case
        when {{ value }} = floor({{ value }}) and abs({{ value }}) < 1e18 then cast(cast({{ value }} as bigint) as string)
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

{#-
    By what a step is judged: the median of its trials, or the worst where the campaign's exceed ratio is 0. Rounded, so
    that a loss that is the limit stays it where the median is a mean of two.
-#}
{% macro of_step(ratio, worst='max') -%}
    round(case when any_value(exceed_ratio) = 0 then {{ worst }}({{ ratio }}) else median({{ ratio }}) end, 12)
{%- endmacro %}

{#- Whether a step counts as what some of its trials are: at least half of them, or one where the exceed ratio is 0. -#}
{% macro is_of_step(flag) -%}
    count(*) filter (where {{ flag }}) >= greatest(coalesce(any_value(exceed_ratio), 0.5) * count(*), 1)
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

{#- A count with its noun: `1 run`, `2 runs`. -#}
{% macro counted(count, noun) -%}
    cast({{ count }} as string) || ' {{ noun }}' || case when {{ count }} = 1 then '' else 's' end
{%- endmacro %}
