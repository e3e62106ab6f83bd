{#- The row of seed student_t for so many degrees of freedom, rounded down, so that an interval is never too narrow. -#}
{% macro tabulated_degrees_of_freedom(degrees) -%}
    case
        when {{ degrees }} <= 30 then round(floor(round({{ degrees }} * 10, 6)) / 10, 1)
        when {{ degrees }} > 30 then least(floor({{ degrees }}), 200)
    end
{%- endmacro %}
