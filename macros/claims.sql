{#-
    How far a recomputed number may be from the one claimed and still agree with it: for "about" and "up to" so many
    percent of it; for any other wording half a unit of its last digit, which is rounding.
-#}
{% macro claim_tolerance(claimed, wording, percent) -%}
    case
        when {{ wording }} in ('about', 'up_to') then abs({{ claimed }}) * {{ percent }} / 100
        else 0.5 / power(10, length(split_part({{ short_number(claimed) }}, '.', 2)))
    end
{%- endmacro %}
