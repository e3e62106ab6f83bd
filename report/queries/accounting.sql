select
    configuration_id as configuration,
    coalesce(backend, '') as backend,
    tool as generator,
    offered_rate,
    count(*) as trials,
    sum(sent) as sent,
    format('{:.3g} %', 100 * sum(ratio_printed * sent) / nullif(sum(sent), 0)) as ratio_printed,
    format('{:.3g} %', 100 * sum(ratio_true * sent) / nullif(sum(sent), 0)) as ratio_true,
    sum(lost_in_receive_buffer) as lost_in_receive_buffer,
    sum(lost_at_closed_port) as lost_at_closed_port,
    sum(lost_in_server) as lost_in_server,
    if(sum(probes) > 0, sum(probes_failed) || ' of ' || sum(probes), '') as probes_failed,
    concat_ws(
        ', ', if(bool_or(is_server_restarted), 'server restarted', null), if(bool_or(is_pace_lost), 'pace lost', null)
    ) as noticed
from packet_accounting
where configuration_id in (select unnest($ids)) and ratio_printed is not null and ratio_true is not null
group by configuration_id, tool, backend, offered_rate
order by backend = '', backend, configuration_id, offered_rate nulls first
