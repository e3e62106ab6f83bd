{#- 4.0 as '4', 0.5 as '0.5': for texts that people read. -#}
{% macro short_number(value) -%}
    case
        when {{ value }} = floor({{ value }}) then cast(cast({{ value }} as bigint) as string)
        else cast({{ value }} as string)
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
    printf('%.2f %%', 100 * ({{ ratio }}))
{%- endmacro %}
