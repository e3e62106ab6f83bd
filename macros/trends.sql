{#- What of the set-up is another than in the run before, in words; null where it is the same. -#}
{% macro what_changed(aspect, before, now) -%}
    case
        when coalesce(cast({{ now }} as string), '') <> coalesce(cast({{ before }} as string), '')
            then
                '{{ aspect }}: ' || coalesce(cast({{ before }} as string), 'not stated')
                || ' -> ' || coalesce(cast({{ now }} as string), 'not stated')
    end
{%- endmacro %}
