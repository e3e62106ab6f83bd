with

trials as (

    select * from {{ ref('stg_trials') }}
    where rate_unit = 'leases/s'

),

server_configs as (

    select * from {{ ref('stg_server_configs') }}

),

observations as (

    select * from {{ ref('int_observations') }}
    where trial_id is not null and metric like 'udp.Udp%' and moment is null and t_s is null

),

counters as (

    select * from {{ ref('int_trial_counters') }}
    where trial_id in (select trials.trial_id from trials)

),

namespaces as (

    select
        trials.trial_id,
        observations.host,
        any_value(trials.protocol = 'DHCPv6' or server_configs.socket_type = 'udp') as is_read_from_udp,
        coalesce(
            max(observations.value) filter (where observations.metric like 'udp.Udp%InDatagrams'), 0
        ) as datagrams_in,
        coalesce(
            max(observations.value) filter (where observations.metric like 'udp.Udp%OutDatagrams'), 0
        ) as datagrams_out,
        coalesce(
            max(observations.value) filter (where observations.metric like 'udp.Udp%RcvbufErrors'), 0
        ) as lost_in_buffer,
        coalesce(
            max(observations.value) filter (where observations.metric like 'udp.Udp%NoPorts'), 0
        ) as at_closed_port
    from trials
    inner join observations on trials.trial_id = observations.trial_id
    left join server_configs on trials.server_config_id = server_configs.server_config_id
    where
        observations.metric like case trials.protocol when 'DHCPv6' then 'udp.Udp6%' else 'udp.Udp%' end
        and observations.host is not null
    group by trials.trial_id, observations.host

),

placed as (

    select
        *,
        -- the generator sends most; a server that answered everything got all of it, the generator perhaps not
        row_number() over (partition by trial_id order by datagrams_out desc, datagrams_in asc, host asc) as place
    from namespaces

),

network as (

    select
        trial_id,
        nullif(sum(datagrams_in + lost_in_buffer) filter (where place > 1), 0) as arrived_at_server,
        -- what a raw socket loses is counted nowhere; the kernel's UDP counters are not of it
        sum(lost_in_buffer) filter (where place > 1 and is_read_from_udp) as lost_in_receive_buffer,
        nullif(sum(datagrams_out) filter (where place > 1), 0) as datagrams_of_server,
        max(datagrams_in + at_closed_port) filter (where place = 1) as answers_seen,
        max(lost_in_buffer) filter (where place = 1) as lost_in_generator_buffer
    from placed
    group by trial_id
    having count(*) > 1

),

snapshots as (

    select
        trial_id,
        sum(change) filter (where metric in ('udp.RcvbufErrors', 'udp6.RcvbufErrors')) as lost_in_buffers,
        sum(change) filter (where metric = 'udp_socket.drops' and (label like '%:67' or label like '%:547'))
            as lost_in_sockets,
        sum(change) filter (where metric in ('kea.pkt4-received', 'kea.pkt6-received')) as received_by_server,
        sum(change) filter (where metric in ('kea.pkt4-receive-drop', 'kea.pkt6-receive-drop')) as dropped_by_server,
        sum(change) filter (where metric in ('kea.pkt4-queue-full', 'kea.pkt6-queue-full')) as dropped_queue_full,
        sum(change) filter (where metric in ('kea.pkt4-sent', 'kea.pkt6-sent')) as sent_by_server
    from counters
    group by trial_id

),

accounts as (

    select
        trials.trial_id,
        trials.sent,
        trials.received,
        case
            when network.arrived_at_server between trials.received - 3 and trials.sent + 3
                then least(network.arrived_at_server, trials.sent)
        end as arrived_at_server,
        -- a socket of the server is nearer to it than all of the host's, a namespace of its own as near
        coalesce(network.lost_in_receive_buffer, snapshots.lost_in_sockets, snapshots.lost_in_buffers)
            as lost_in_receive_buffer,
        case
            when snapshots.received_by_server between trials.received - 3 and trials.sent + 3
                then least(snapshots.received_by_server, trials.sent)
        end as received_by_server,
        -- a server that was started meanwhile counts from 0 again
        case when snapshots.dropped_by_server >= 0 then snapshots.dropped_by_server end as dropped_by_server,
        case when snapshots.dropped_queue_full >= 0 then snapshots.dropped_queue_full end as dropped_queue_full,
        coalesce(
            snapshots.sent_by_server,
            network.datagrams_of_server,
            network.answers_seen + network.lost_in_generator_buffer
        ) as answers_sent,
        network.answers_seen,
        network.lost_in_generator_buffer
    from trials
    left join network on trials.trial_id = network.trial_id
    left join snapshots on trials.trial_id = snapshots.trial_id
    where
        coalesce(
            network.arrived_at_server,
            network.answers_seen,
            snapshots.lost_in_sockets,
            snapshots.lost_in_buffers,
            snapshots.received_by_server
        ) is not null

),

with_answers as (

    select
        *,
        case when answers_sent between received - 3 and sent + 3 then least(answers_sent, sent) end
            as answered_by_server,
        case when answers_seen between received and sent + 3 then answers_seen - received end as answered_too_late,
        coalesce(received_by_server, arrived_at_server - coalesce(lost_in_receive_buffer, 0)) as read_by_server
    from accounts

),

with_losses as (

    select
        *,
        sent - received as unanswered,
        sent - arrived_at_server as lost_on_the_way,
        read_by_server - answered_by_server as lost_in_server
    from with_answers

)

select * from with_losses
