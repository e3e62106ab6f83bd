select * from queries_per_second
where seen_in = 'throughput'
order by rate desc, configuration_id asc
