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
)

select
    table_name,
    comment
from everything
order by table_name
