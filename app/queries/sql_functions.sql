select
    concat(function_name, '(', array_to_string(parameters, ', '), ')') as call,
    comment
from duckdb_functions()
where database_name = 'warehouse'
order by function_name
