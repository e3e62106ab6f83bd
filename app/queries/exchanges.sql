select * exclude (trial_id, batch, position, drop_ratio_printed) from trial_exchanges
where trial_id = $trial_id and batch = $batch
order by position
