{#- One status for several runs: the one that limits most what a figure over those that count means. -#}
{% macro worst_status(status, counts) -%}
    case
        when bool_or({{ status }} = 'exceeded_at_first_step') filter (where {{ counts }}) then 'exceeded_at_first_step'
        when bool_or({{ status }} = 'generator_limited') filter (where {{ counts }}) then 'generator_limited'
        when bool_or({{ status }} = 'never_exceeded') filter (where {{ counts }}) then 'never_exceeded'
        when bool_or({{ status }} = 'saturated') filter (where {{ counts }}) then 'saturated'
        else 'bracketed'
    end
{%- endmacro %}

{#- Whether a ramp ended too soon for more than a lower bound. -#}
{% macro is_open(capacity) -%}
    coalesce({{ capacity }}.status in ('never_exceeded', 'generator_limited'), false)
{%- endmacro %}

{#- How two published figures qualify their ratio: a figure worded as a bound makes it one, or, both ways, unknown. -#}
{% macro ratio_qualifier(upper, lower) -%}
    {%- set is_lower_bound = upper ~ " in ('at_least', 'greater_than') or " ~ lower ~ " in ('at_most', 'less_than')" -%}
    {%- set is_upper_bound = upper ~ " in ('at_most', 'less_than') or " ~ lower ~ " in ('at_least', 'greater_than')" -%}
    case
        when ({{ is_lower_bound }}) and ({{ is_upper_bound }}) then 'unknown'
        when {{ is_lower_bound }} then 'at_least'
        when {{ is_upper_bound }} then 'at_most'
        when 'approx' in ({{ upper }}, {{ lower }}) then 'approx'
        else coalesce({{ upper }}, {{ lower }})
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

{#- Of some findings: their names, each once, and the quality that they leave to a figure. -#}
{% macro findings_and_quality() -%}
    array_sort(array_distinct(array_agg(finding))) as findings,
    case
        when bool_or(severity = 'suspect') then 'suspect'
        when bool_or(severity = 'warning') then 'warn'
        else 'ok'
    end as quality
{%- endmacro %}
