{#- One status for several runs: the one that limits what the figure means most. -#}
{% macro worst_status(status) -%}
    case
        when count(*) filter (where {{ status }} <> 'exceeded_at_first_step') = 0 then 'exceeded_at_first_step'
        when count(*) filter (where {{ status }} = 'generator_limited') > 0 then 'generator_limited'
        when count(*) filter (where {{ status }} = 'never_exceeded') > 0 then 'never_exceeded'
        when count(*) filter (where {{ status }} = 'exceeded_at_first_step') > 0 then 'exceeded_at_first_step'
        else 'bracketed'
    end
{%- endmacro %}

{#- The worse of two quality marks: suspect before warn before ok. -#}
{% macro worse_quality(one, other) -%}
    case
        when 'suspect' in ({{ one }}, {{ other }}) then 'suspect'
        when 'warn' in ({{ one }}, {{ other }}) then 'warn'
        else 'ok'
    end
{%- endmacro %}
