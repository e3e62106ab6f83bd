{#-
    What DuckDB and Spark say in different words. A model calls the macro without a prefix; dbt takes the one of its
    engine. Where both engines know an expression the models use that, and nothing of it is here.
-#}

{#- A list of these expressions; without any, an empty one. -#}
{% macro list_of(items) -%}
    {{ adapter.dispatch('list_of', 'dropline')(items) }}
{%- endmacro %}

{% macro duckdb__list_of(items) -%}
    [{{ items | join(', ') }}]
{%- endmacro %}

{% macro spark__list_of(items) -%}
    array({{ items | join(', ') }})
{%- endmacro %}

{#- The same without those that are null. -#}
{% macro list_of_known(items) -%}
    {{ adapter.dispatch('list_of_known', 'dropline')(items) }}
{%- endmacro %}

{% macro duckdb__list_of_known(items) -%}
    list_filter({{ list_of(items) }}, lambda item: item is not null)
{%- endmacro %}

{% macro spark__list_of_known(items) -%}
    array_compact({{ list_of(items) }})
{%- endmacro %}

{#- The values of a group as a list, in the order of `place`; of those rows only that meet a condition, if one is given. -#}
{% macro list_in_order(value, place, condition=none) -%}
    {{ adapter.dispatch('list_in_order', 'dropline')(value, place, condition) }}
{%- endmacro %}

{% macro duckdb__list_in_order(value, place, condition) -%}
    list({{ value }} order by {{ place }}){% if condition %} filter (where {{ condition }}){% endif %}
{%- endmacro %}

{% macro spark__list_in_order(value, place, condition) -%}
    transform(
        array_sort(
            collect_list(struct({{ place }}, {{ value }} as listed))
            {%- if condition %} filter (where {{ condition }}){% endif %}
        ), entry -> entry.listed
    )
{%- endmacro %}

{#- The first so many of a list. -#}
{% macro first_of(list, count) -%}
    {{ adapter.dispatch('first_of', 'dropline')(list, count) }}
{%- endmacro %}

{% macro duckdb__first_of(list, count) -%}
    {{ list }}[:{{ count }}]
{%- endmacro %}

{% macro spark__first_of(list, count) -%}
    slice({{ list }}, 1, {{ count }})
{%- endmacro %}

{#- One row for each item of a list, as a column. -#}
{% macro each_of(list) -%}
    {{ adapter.dispatch('each_of', 'dropline')(list) }}
{%- endmacro %}

{% macro duckdb__each_of(list) -%}
    unnest({{ list }})
{%- endmacro %}

{% macro spark__each_of(list) -%}
    explode({{ list }})
{%- endmacro %}

{#- One row for each entry of a map, as the columns `item` and `value`. -#}
{% macro each_entry_of(map) -%}
    {{ adapter.dispatch('each_entry_of', 'dropline')(map) }}
{%- endmacro %}

{% macro duckdb__each_entry_of(map) -%}
    unnest(map_keys({{ map }})) as item,
    unnest(map_values({{ map }})) as value
{%- endmacro %}

{% macro spark__each_entry_of(map) -%}
    explode({{ map }}) as (item, value)
{%- endmacro %}

{#- One row for each name with its expression, as the columns `item` and `value`. -#}
{% macro each_named(names, expressions) -%}
    {{ adapter.dispatch('each_named', 'dropline')(names, expressions) }}
{%- endmacro %}

{% macro duckdb__each_named(names, expressions) -%}
    unnest(['{{ names | join("', '") }}']) as item,
    unnest([{{ expressions | join(', ') }}]) as value
{%- endmacro %}

{% macro spark__each_named(names, expressions) -%}
    stack(
        {{ names | length }}
        {%- for name in names %}, '{{ name }}', {{ expressions[loop.index0] }}{% endfor %}
    ) as (item, value)
{%- endmacro %}

{#- The numbers of a group, multiplied. -#}
{% macro product_of(number) -%}
    {{ adapter.dispatch('product_of', 'dropline')(number) }}
{%- endmacro %}

{% macro duckdb__product_of(number) -%}
    product({{ number }})
{%- endmacro %}

{% macro spark__product_of(number) -%}
    reduce(nullif(collect_list({{ number }}), array()), double(1), (so_far, factor) -> so_far * factor)
{%- endmacro %}

{#- The texts of a group with a separator between, in the order of `place`. -#}
{% macro joined_texts(text, separator, place) -%}
    {{ adapter.dispatch('joined_texts', 'dropline')(text, separator, place) }}
{%- endmacro %}

{% macro duckdb__joined_texts(text, separator, place) -%}
    string_agg({{ text }}, '{{ separator }}' order by {{ place }})
{%- endmacro %}

{% macro spark__joined_texts(text, separator, place) -%}
    string_agg({{ text }}, '{{ separator }}') within group (order by {{ place }})
{%- endmacro %}

{#- A text without those parts between separators for which the condition on `part` does not hold. -#}
{% macro parts_where(text, separator, condition) -%}
    {{ adapter.dispatch('parts_where', 'dropline')(text, separator, condition) }}
{%- endmacro %}

{% macro duckdb__parts_where(text, separator, condition) -%}
    array_to_string(list_filter(split({{ text }}, '{{ separator }}'), lambda part: {{ condition }}), '{{ separator }}')
{%- endmacro %}

{% macro spark__parts_where(text, separator, condition) -%}
    array_join(filter(split({{ text }}, '{{ separator }}'), part -> {{ condition }}), '{{ separator }}')
{%- endmacro %}

{#- Whether a regular expression, an SQL expression itself, fits anywhere in a text. -#}
{% macro fits(text, pattern) -%}
    {{ adapter.dispatch('fits', 'dropline')(text, pattern) }}
{%- endmacro %}

{% macro duckdb__fits(text, pattern) -%}
    regexp_matches({{ text }}, {{ pattern }})
{%- endmacro %}

{% macro spark__fits(text, pattern) -%}
    regexp_like({{ text }}, {{ pattern }})
{%- endmacro %}

{#- What the first group of a regular expression found, for the text that replaces it. -#}
{% macro first_group() -%}
    {{ adapter.dispatch('first_group', 'dropline')() }}
{%- endmacro %}

{% macro duckdb__first_group() -%}
    \1
{%- endmacro %}

{% macro spark__first_group() -%}
    $1
{%- endmacro %}

{#- A regular expression as a literal: Spark reads backslashes in a plain one. -#}
{% macro regex(pattern) -%}
    {{ adapter.dispatch('regex', 'dropline')(pattern) }}
{%- endmacro %}

{% macro duckdb__regex(pattern) -%}
    '{{ pattern }}'
{%- endmacro %}

{% macro spark__regex(pattern) -%}
    r'{{ pattern }}'
{%- endmacro %}

{#- A text with something else for every match of a pattern. -#}
{% macro replaced(text, pattern, by) -%}
    {{ adapter.dispatch('replaced', 'dropline')(text, pattern, by) }}
{%- endmacro %}

{% macro duckdb__replaced(text, pattern, by) -%}
    regexp_replace({{ text }}, '{{ pattern }}', '{{ by }}', 'g')
{%- endmacro %}

{% macro spark__replaced(text, pattern, by) -%}
    regexp_replace({{ text }}, '{{ pattern }}', '{{ by }}')
{%- endmacro %}

{#- The text of one key of a JSON object. -#}
{% macro json_text(json, key) -%}
    {{ adapter.dispatch('json_text', 'dropline')(json, key) }}
{%- endmacro %}

{% macro duckdb__json_text(json, key) -%}
    json_extract_string({{ json }}, '$.{{ key }}')
{%- endmacro %}

{% macro spark__json_text(json, key) -%}
    get_json_object({{ json }}, '$.{{ key }}')
{%- endmacro %}

{#-
    Everything in the JSON objects in the column `json` of a relation, however deep: one row per value, with the column
    `key` of the relation, `path` (a.b[0].c), `is_list`, `list_text` (a list as compact JSON) and `text` (null of lists
    and objects).
-#}
{% macro json_values(relation, key, json) -%}
    {{ adapter.dispatch('json_values', 'dropline')(relation, key, json) }}
{%- endmacro %}

{% macro duckdb__json_values(relation, key, json) -%}
    select
        {{ relation }}.{{ key }},
        -- $.a."b-c"[0].d
        replace(substr(node.fullkey, 3), '"', '') as path,
        case when node.type = 'ARRAY' then cast(node.value as string) end as list_text,
        node.atom ->> '$' as text
    from {{ relation }}
    cross join json_tree({{ relation }}.{{ json }}) as node
{%- endmacro %}

{% macro spark__json_values(relation, key, json) -%}
    with recursive nodes (owner, path, kind, json) as (
        select {{ key }}, '', schema_of_variant(parse_json({{ json }})), {{ json }}
        from {{ relation }}
        union all
        select owner, path || step, kind, json
        from (
            select
                owner,
                path,
                inline(case
                    when kind like 'OBJECT%' then transform(
                        map_keys(from_json(json, 'map<string,string>')),
                        name -> struct(
                            case when path = '' then '' else '.' end || name as step,
                            schema_of_variant(from_json(json, 'map<string,variant>')[name]) as kind,
                            from_json(json, 'map<string,string>')[name] as json
                        )
                    )
                    when kind like 'ARRAY%' then transform(
                        from_json(json, 'array<string>'),
                        (item, place) -> struct(
                            '[' || place || ']' as step,
                            schema_of_variant(from_json(json, 'array<variant>')[place]) as kind,
                            item as json
                        )
                    )
                end)
            from nodes
        )
    )
    select
        owner as {{ key }},
        path,
        case when kind like 'ARRAY%' then json end as list_text,
        case when kind not like 'OBJECT%' and kind not like 'ARRAY%' then json end as text
    from nodes
{%- endmacro %}

{#- All columns of a relation but these. -#}
{% macro all_but(relation, columns) -%}
    {{ adapter.dispatch('all_but', 'dropline')(relation, columns) }}
{%- endmacro %}

{% macro duckdb__all_but(relation, columns) -%}
    {{ relation }}.* exclude ({{ columns }})
{%- endmacro %}

{% macro spark__all_but(relation, columns) -%}
    {{ relation }}.* except ({{ columns }})
{%- endmacro %}
