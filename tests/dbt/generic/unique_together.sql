{#-
    Fails with every combination of the columns that stands more than once.  The rows are counted by a hash first, which takes
    half the time of counting by the columns; only those that share one are counted by them. Where one of the columns
    numbers the rows, the hash is of the others and of each fifty numbers, and the numbers are bits: as many as there
    are rows, or one stands twice. Of thirty million rows so few hashes are left that they need no memory to speak of.
-#}
{% test unique_together(model, columns, numbered_by=none) %}

{%- set fifties = ['floor(' ~ numbered_by ~ ' / 50)'] if numbered_by else [] -%}
{%- set hashed = (columns | reject('equalto', numbered_by) | list + fifties) | join(', ') -%}
{%- set row_hash = 'hash(' ~ hashed ~ ')' -%}
{%- set numbers = 'bit_count(bit_or(cast(1 as bigint) << (' ~ numbered_by ~ ' % 50)))' -%}

with

shared as (

    select {{ row_hash }} as row_hash
    from {{ model }}
    group by {{ row_hash }}
    having count(*) > {{ numbers if numbered_by else 1 }}

)

select
    {{ columns | join(', ') }},
    count(*) as occurrences
from {{ model }}
where {{ row_hash }} in (select row_hash from shared)
group by {{ columns | join(', ') }}
having count(*) > 1

{% endtest %}
