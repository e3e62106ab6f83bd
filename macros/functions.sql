{% macro create_functions() %}{% endmacro %}
