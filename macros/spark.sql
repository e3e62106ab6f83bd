{#- What dbt-spark does otherwise, or not at all, with Parquet tables in a session. -#}

{#- A type of a contract or a seed, which are written in DuckDB's words, in Spark's. -#}
{% macro spark_type(type) -%}
    {%- set words = {'varchar': 'string', 'hugeint': 'bigint', 'timestamptz': 'timestamp', 'timestamp with time zone': 'timestamp'} -%}
    {%- if type.endswith('[]') -%}
        array<{{ spark_type(type[:-2]) }}>
    {%- elif type.startswith('map(') -%}
        map<{% for part in type[4:-1].split(', ') %}{{ spark_type(part) }}{{ ', ' if not loop.last }}{% endfor %}>
    {%- else -%}
        {{ words.get(type, type) }}
    {%- endif -%}
{%- endmacro %}

{#- A text as a literal of Spark, which reads backslashes in one. -#}
{% macro spark_literal(text) -%}
    '{{ text | replace('\\', '\\\\') | replace("'", "\\'") }}'
{%- endmacro %}

{#- Run before a build: DuckDB reads the files of a source directly, Spark through a view of its name. -#}
{% macro create_views_of_the_lake() -%}
    {%- if execute and target.type == 'spark' -%}
        {%- for schema in graph.sources.values() | map(attribute='schema') | unique -%}
            {%- do run_query('create schema if not exists ' ~ schema) -%}
        {%- endfor -%}
        {%- for source in graph.sources.values() -%}
            {#- no external table: the catalogue would make a folder of that path, with the star in its name -#}
            {%- do run_query(
                'create or replace view ' ~ source.schema ~ '.' ~ source.identifier
                ~ ' as select * from parquet.`' ~ source.config.meta.files | replace('{name}', source.name) ~ '`'
            ) -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}

{#- The columns of a contract, as dbt holds them against those of the model. -#}
{% macro spark__get_empty_schema_sql(columns) -%}
    select
    {%- for column in columns.values() %}
        cast(null as {{ spark_type(column.data_type) }}) as {{ column.name }}{{ ',' if not loop.last }}
    {%- endfor %}
{%- endmacro %}

{% macro spark__create_csv_table(model, agate_table) -%}
    {%- set types = model.config.column_types -%}
    {%- set sql -%}
        create table {{ this }} (
        {%- for name in agate_table.column_names %}
            {{ name }} {{ spark_type(types.get(name, adapter.convert_type(agate_table, loop.index0))) }}{{ ',' if not loop.last }}
        {%- endfor %}
        )
        using parquet
        {{ comment_clause() }}
    {%- endset -%}
    {%- call statement('_') %}{{ sql }}{% endcall -%}
    {{ return(sql) }}
{%- endmacro %}

{#- dbt-spark would write null as the text 'None', and a quote as it is. -#}
{% macro spark__load_csv_rows(model, agate_table) -%}
    {%- set rows = [] -%}
    {%- for row in agate_table.rows -%}
        {%- set texts = [] -%}
        {%- for value in row -%}{%- do texts.append(none if value is none else value | string) -%}{%- endfor -%}
        {%- do rows.append(texts) -%}
    {%- endfor -%}
    {%- set types = model.config.column_types -%}
    {%- set sql -%}
        insert into {{ this }}
        select
        {%- for name in agate_table.column_names %}
            cast(
                row[{{ loop.index0 }}] as {{ spark_type(types.get(name, adapter.convert_type(agate_table, loop.index0))) }}
            ) as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
        from (select explode(from_json({{ spark_literal(tojson(rows)) }}, 'array<array<string>>')) as row)
    {%- endset -%}
    {%- do adapter.add_query(sql, abridge_sql_log=True) -%}
    {{ return(sql) }}
{%- endmacro %}
