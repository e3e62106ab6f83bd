select * from query_accounting
where trial_id = $id
