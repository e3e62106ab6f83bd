{#- One status for several runs: the one that limits most what a figure over those that count means. -#}
{% macro worst_status(status, counts) -%}
    case
        when bool_or({{ status }} = 'exceeded_at_first_step') filter (where {{ counts }}) then 'exceeded_at_first_step'
        when bool_or({{ status }} = 'generator_limited') filter (where {{ counts }}) then 'generator_limited'
        when bool_or({{ status }} = 'never_exceeded') filter (where {{ counts }}) then 'never_exceeded'
        else 'bracketed'
    end
{%- endmacro %}

{#- Whether a capacity is a lower bound only: no step exceeded the limit, or the source says so. -#}
{% macro is_lower_bound(capacity) -%}
    coalesce(
        {{ capacity }}.status in ('never_exceeded', 'generator_limited')
        or {{ capacity }}.qualifier in ('at_least', 'greater_than'), false
    )
{%- endmacro %}

{#- The worse of two quality marks: suspect before warn before ok. -#}
{% macro worse_quality(one, other) -%}
    case
        when 'suspect' in ({{ one }}, {{ other }}) then 'suspect'
        when 'warn' in ({{ one }}, {{ other }}) then 'warn'
        else 'ok'
    end
{%- endmacro %}
