{#- Fails with every combination of the columns that stands more than once. -#}
{% test unique_together(model, columns) %}

select
    {{ columns | join(', ') }},
    count(*) as occurrences
from {{ model }}
group by {{ columns | join(', ') }}
having count(*) > 1

{% endtest %}
