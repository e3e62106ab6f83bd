{#- What a relation says of each configuration in columns grouped by aspect: the items are `aspect.column`. -#}
{% macro facts_in_columns(relation, columns_by_aspect) -%}
    {%- set names, as_texts = [], [] -%}
    {%- for aspect, columns in columns_by_aspect.items() %}
        {%- for column in columns %}
            {%- do names.append(aspect ~ '.' ~ column) %}{% do as_texts.append('cast(' ~ column ~ ' as string)') %}
        {%- endfor %}
    {%- endfor %}
    select
        configuration_id,
        {{ each_named(names, as_texts) }}
    from {{ relation }}
{%- endmacro %}

{#-
    The CTEs that find what differs between the two configurations of each row of the CTE `pairs` (configuration_id_a,
    configuration_id_b), from the table or CTE `configuration_facts`; the last is `graded_differences`. The function for
    analysts and the mart share them, so that they cannot disagree.
-#}
{% macro differences_of_pairs() -%}
numbered_pairs as (

    -- a number is grouped and sorted by many times faster than two texts
    select
        *,
        row_number() over (order by configuration_id_a, configuration_id_b) as pair_number
    from pairs

),

facts_a as (

    select
        numbered_pairs.pair_number,
        facts.*
    from numbered_pairs
    inner join configuration_facts as facts on numbered_pairs.configuration_id_a = facts.configuration_id

),

facts_b as (

    select
        numbered_pairs.pair_number,
        facts.*
    from numbered_pairs
    inner join configuration_facts as facts on numbered_pairs.configuration_id_b = facts.configuration_id

),

items as (

    select
        coalesce(facts_a.pair_number, facts_b.pair_number) as pair_number,
        coalesce(facts_a.aspect, facts_b.aspect) as aspect,
        coalesce(facts_a.item, facts_b.item) as item,
        facts_a.value as value_a,
        facts_b.value as value_b,
        coalesce(facts_a.may_be_absent, facts_b.may_be_absent) as may_be_absent,
        coalesce(facts_a.grade, facts_b.grade) as grade,
        coalesce(facts_a.goes_with, facts_b.goes_with) as goes_with,
        coalesce(facts_a.why, facts_b.why) as why
    from facts_a
    full outer join facts_b
        on facts_a.pair_number = facts_b.pair_number
            and facts_a.aspect = facts_b.aspect
            and facts_a.item = facts_b.item

),

with_lists as (

    select
        *,
        -- where one side has no list at all, its items are not known; that is a difference of its own
        count(value_a) filter (where may_be_absent) over pair_and_aspect > 0
        and count(value_b) filter (where may_be_absent) over pair_and_aspect > 0 as both_are_listed
    from items
    window pair_and_aspect as (partition by pair_number, aspect)

),

graded_differences as (

    select
        numbered_pairs.configuration_id_a,
        numbered_pairs.configuration_id_b,
        with_lists.aspect,
        with_lists.item,
        coalesce(with_lists.value_a, case when with_lists.may_be_absent then 'not set' end) as value_a,
        coalesce(with_lists.value_b, case when with_lists.may_be_absent then 'not set' end) as value_b,
        case
            when not with_lists.may_be_absent and (with_lists.value_a is null or with_lists.value_b is null)
                then 'unknown'
            else with_lists.grade
        end as grade,
        with_lists.goes_with,
        with_lists.why
    from with_lists
    inner join numbered_pairs on with_lists.pair_number = numbered_pairs.pair_number
    where
        with_lists.value_a is distinct from with_lists.value_b
        and (with_lists.both_are_listed or not with_lists.may_be_absent)

)
{%- endmacro %}

{#- 1 for the worst: `same` has no rows, so that there is none for it. -#}
{% macro rank_of_grade(grade) -%}
    case {{ grade }} when 'unfair' then 1 when 'unknown' then 2 when 'minor' then 3 end
{%- endmacro %}

{% macro differences_function() -%}
create or replace macro differences(a, b) as table
with

pairs as (

    select
        a as configuration_id_a,
        b as configuration_id_b
    where
        case
            {%- for side in ['a', 'b'] %}
            when (select count(*) from configurations where configuration_id = {{ side }}) = 0
                then error(concat('No configuration has the id ', coalesce({{ side }}::varchar, 'null'), '. The table configurations lists them all.'))
            {%- endfor %}
            else true
        end

),

{{ differences_of_pairs() }}

select
    aspect,
    item,
    value_a,
    value_b,
    grade,
    why
from graded_differences
order by {{ rank_of_grade('grade') }}, aspect, item
{%- endmacro %}

{#- The differences of two machines that may explain one between their figures, by name, for many pairs at once. -#}
{% macro machine_differences_function() -%}
create or replace macro machine_differences(ids_a := [], ids_b := []) as table
with

pairs as (

    select distinct
        unnest(cast(ids_a as varchar[])) as configuration_id_a,
        unnest(cast(ids_b as varchar[])) as configuration_id_b

),

{{ differences_of_pairs() }}

select
    configuration_id_a,
    configuration_id_b,
    list_sort(list(distinct split_part(item, '.', 1))) as differences
from graded_differences
where aspect in ('hardware', 'tuning') and grade = 'unfair'
group by configuration_id_a, configuration_id_b
{%- endmacro %}

{#- Run after the model that the functions read. -#}
{% macro create_functions_over_facts() -%}
    {%- if target.type == 'duckdb' %}
    {{ machine_differences_function() }};
    comment on macro table machine_differences is
    'What differs in hardware and tuning between the machines of many pairs, given as two lists of ids of the same length.';
    {{ differences_function() }};
    comment on macro table differences is
    'What differs between two configurations (by configuration_id), graded: unfair, unknown (one side does not say), minor.';
    {%- endif %}
{%- endmacro %}
