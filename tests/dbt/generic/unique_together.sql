{#-
    Fails with every combination of the columns that stands more than once. Of a table that is kept by trials between
    builds, only the trials that this build computes are looked at. The rows are counted by a hash first, which takes
    half the time of counting by the columns; only those that share one are counted by them.
-#}
{% test unique_together(model, columns, kept_by_trial=false) %}

with

hashed as (

    select
        {{ columns | join(', ') }},
        hash({{ columns | join(', ') }}) as row_hash
    from {{ model }}
    where {{ is_computed('trial_id') if kept_by_trial else 'true' }}

),

shared as (

    select row_hash
    from hashed
    group by row_hash
    having count(*) > 1

)

select
    {{ columns | join(', ') }},
    count(*) as occurrences
from hashed
where row_hash in (select row_hash from shared)
group by {{ columns | join(', ') }}
having count(*) > 1

{% endtest %}
