select * from runs
where $id is null or configuration_id = $id
order by configuration_id, repetition nulls last, started_at, run_id
