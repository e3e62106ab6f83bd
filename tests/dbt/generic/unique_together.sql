{#-
    Fails with every combination of the columns that stands more than once.  The rows are counted by a hash first, which takes
    half the time of counting by the columns; only those that share one are counted by them. Where one of the columns
    numbers the rows, the hash is of the others and of each fifty numbers, and the numbers are bits: as many as there
    are rows, or one stands twice. Of thirty million rows so few hashes are left that they need no memory to speak of.
-#}
{% test unique_together(model, columns, numbered_by=none) %}

{%- set fifties = ['floor(' ~ numbered_by ~ ' / 50)'] if numbered_by else [] -%}
{%- set hashed_columns = columns | reject('equalto', numbered_by) | list + fifties -%}
{%- set numbers = 'bit_count(bit_or(cast(power(2, ' ~ numbered_by ~ ' % 50) as bigint)))' -%}

with

hashed as (

    select
        {{ columns | join(', ') }},
        hash({{ hashed_columns | join(', ') }}) as row_hash
    from {{ model }}

),

shared as (

    select row_hash
    from hashed
    group by row_hash
    having count(*) > {{ numbers if numbered_by else 1 }}

)

select
    {{ columns | join(', ') }},
    count(*) as occurrences
from hashed
where row_hash in (select row_hash from shared)
group by {{ columns | join(', ') }}
having count(*) > 1

{% endtest %}
