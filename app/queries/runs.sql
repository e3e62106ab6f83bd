select * from runs
where $configuration_id is null or configuration_id = $configuration_id
order by configuration_id, repetition nulls last, started_at, run_id
