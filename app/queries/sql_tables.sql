-- The tables and views of the warehouse, each with its columns as name, type and comment.
with

everything as (

    select
        table_name,
        comment
    from duckdb_tables()
    union all
    select
        view_name as table_name,
        comment
    from duckdb_views()
    where not internal

),

columns_of as (

    select
        table_name,
        list([column_name, lower(data_type), comment] order by column_index) as named
    from duckdb_columns()
    where not internal and database_name = 'warehouse'
    group by table_name

)

select
    everything.table_name,
    trim(regexp_replace(coalesce(everything.comment, ''), '\s+', ' ', 'g')) as comment,
    columns_of.named as columns
from everything
left join columns_of on everything.table_name = columns_of.table_name
order by everything.table_name
