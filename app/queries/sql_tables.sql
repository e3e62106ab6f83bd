select
    table_name,
    comment
from duckdb_tables()
order by table_name
