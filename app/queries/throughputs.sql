-- The throughputs, fastest first, with losses and errors in percent.
select
    *,
    100 * loss_packet as lost,
    100 * error_ratio as errors
from queries_per_second
where seen_in = 'throughput'
order by rate desc, configuration_id asc
