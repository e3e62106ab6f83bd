-- Was it the receive buffer: where were the queries of each trial with losses left?
with

accounting as (

    select * from {{ ref('packet_accounting') }}
    where protocol = 'DNS'
        and sent > coalesce(answered, received)
        and (lost_in_receive_buffer is not null or lost_in_server is not null)

),

with_places as (

    select
        configuration,
        repetition,
        offered_rate,
        sent,
        answered,
        lost_in_receive_buffer,
        lost_at_closed_port,
        lost_in_server,
        queue_peak,
        probes_failed,
        is_server_restarted,
        case
            when lost_in_receive_buffer > greatest(lost_at_closed_port, lost_in_server, 0) then 'receive buffer'
            when lost_at_closed_port > greatest(lost_in_server, 0) then 'closed port'
            when lost_in_server > 0 then 'server'
            else 'not known'
        end as main_loss
    from accounting

)

select * from with_places
order by configuration, offered_rate, repetition
