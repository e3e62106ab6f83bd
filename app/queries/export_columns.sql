-- Every column of the warehouse that is attached as `warehouse`: its type, and what it means.
select
    table_name,
    column_name,
    data_type,
    comment as description
from duckdb_columns()
where database_name = 'warehouse' and not internal
order by table_name, column_index
