select * from trials
where run_id = $run_id
order by offered_rate nulls last, started_at, source_path, trial_id
