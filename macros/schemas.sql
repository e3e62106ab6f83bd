{#- Every model lives in the schema `main`: an analyst types `from capacity`, nothing longer. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ target.schema }}
{%- endmacro %}
