-- Functions of the warehouse with their arguments, and DuckDB's own by name.
with

functions as (

    select
        function_name,
        database_name = 'warehouse' as is_own,
        function_type like '%table%' as is_table,
        coalesce(comment, description) as comment,
        if(database_name = 'warehouse', array_to_string(parameters, ', '), '') as arguments
    from duckdb_functions()
    where database_name = 'warehouse'
        or (function_type in ('scalar', 'aggregate') and regexp_full_match(function_name, '[a-z][a-z0-9_]+'))

)

select
    function_name || '(' || max(arguments) || ')' as call,
    max(comment) as comment,
    bool_or(is_table) as is_table,
    bool_or(is_own) as is_own
from functions
group by function_name
order by function_name
