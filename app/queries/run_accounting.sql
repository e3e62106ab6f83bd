select * from packet_accounting
where trial_id = $trial_id and campaign = $campaign
