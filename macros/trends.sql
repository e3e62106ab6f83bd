{#- What of the set-up is another than in the run before, in words; null where it is the same. -#}
{% macro what_changed(aspect, before, now) -%}
    case
        when coalesce(cast({{ now }} as varchar), '') <> coalesce(cast({{ before }} as varchar), '')
            then
                '{{ aspect }}: ' || coalesce(cast({{ before }} as varchar), 'not stated')
                || ' -> ' || coalesce(cast({{ now }} as varchar), 'not stated')
    end
{%- endmacro %}
