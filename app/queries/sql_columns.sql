select
    column_name,
    lower(data_type) as data_type,
    comment
from duckdb_columns()
where table_name = $table and not internal
order by column_index
