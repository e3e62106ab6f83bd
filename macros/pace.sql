{#- The share of the offered rate below which the generator is the limit. -#}
{% macro least_sent_ratio() -%} 0.98 {%- endmacro %}

{#- The share below which a load of queries falls behind. -#}
{% macro least_sent_ratio_of_queries() -%} 0.99 {%- endmacro %}

{#- The share of a closed loop's window that may wait before the server, not the generator, holds the load back. -#}
{% macro most_waiting_ratio() -%} 0.5 {%- endmacro %}
