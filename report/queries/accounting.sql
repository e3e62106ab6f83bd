select
    configuration_id,
    tool,
    backend,
    offered_rate,
    count(*) as trials,
    sum(sent) as sent,
    sum(ratio_printed * sent) / nullif(sum(sent), 0) as ratio_printed,
    sum(ratio_true * sent) / nullif(sum(sent), 0) as ratio_true,
    sum(lost_in_receive_buffer) as lost_in_receive_buffer,
    sum(lost_at_closed_port) as lost_at_closed_port,
    sum(lost_in_server) as lost_in_server,
    sum(probes) as probes,
    sum(probes_failed) as probes_failed,
    bool_or(is_server_restarted) as is_server_restarted,
    bool_or(is_pace_lost) as is_pace_lost
from packet_accounting
where configuration_id in (select unnest($ids)) and ratio_printed is not null and ratio_true is not null
group by all
order by backend nulls last, configuration_id, offered_rate nulls first
