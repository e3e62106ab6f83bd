select
    table_name,
    column_name,
    lower(data_type) as data_type,
    comment
from duckdb_columns()
where not internal and database_name = 'warehouse'
order by table_name, column_index
