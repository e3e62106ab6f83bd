select * from trials
where run_id = $id
order by offered_rate nulls last, started_at, source_path, trial_id
