with

trials as (

    select * from {{ ref('stg_trials') }}
    where rate_unit = 'queries/s'

),

observations as (

    select * from {{ ref('int_observations') }}
    where trial_id is not null

),

counters as (

    select * from {{ ref('int_trial_counters') }}
    where trial_id in (select trials.trial_id from trials)

),

network as (

    select
        trial_id,
        sum(change) filter (where metric = 'udp.OutDatagrams') as datagrams_out,
        sum(change) filter (where metric = 'udp.RcvbufErrors') as lost_in_receive_buffer,
        sum(change) filter (where metric = 'udp.NoPorts') as lost_at_closed_port
    from counters
    group by trial_id

),

server as (

    select
        trial_id,
        sum(change) filter (where metric = 'pdns.udp-answers') as answers,
        -- failed, and asked for what it does not serve (REFUSED)
        sum(change) filter (where metric in ('pdns.servfail-packets', 'pdns.unauth-packets')) as answers_in_error,
        -- of the recursor, what its packet cache misses is looked up among its records
        sum(change) filter (where metric in ('pdns.packetcache-hit', 'pdns.packetcache-hits', 'pdns.cache-hits'))
            as cache_hits,
        sum(change) filter (where metric in ('pdns.packetcache-miss', 'pdns.cache-misses')) as cache_misses,
        sum(change) filter (where metric = 'pdns.uptime') as uptime_s
    from counters
    group by trial_id

),

watched as (

    select
        observations.trial_id,
        count(*) filter (where observations.metric in ('probe_latency', 'probe_failure')) as probes,
        count(*) filter (where observations.metric = 'probe_latency') as probes_answered,
        count(*) filter (
            where observations.metric = 'probe_failure'
            and observations.observed_at between trials.started_at and trials.ended_at
        ) as probes_failed,
        max(observations.value) filter (where observations.metric = 'pdns.qsize-q') as queue_peak,
        -- a burst that drains at once is no standing queue: while queries were sent, in the middle of three or more
        case
            when count(*) filter (
                    where observations.metric = 'pdns.qsize-q'
                    and observations.t_s between 0 and trials.sent / nullif(trials.offered_rate, 0)
                ) >= 3
                then median(
                        case
                            when
                                observations.metric = 'pdns.qsize-q'
                                and observations.t_s between 0 and trials.sent / nullif(trials.offered_rate, 0)
                                then observations.value
                        end
                    )
        end as queue_median,
        max(observations.value) filter (where observations.metric = 'server_deaths') as server_deaths,
        -- of the generator's machine, from a sidecar: a counter that did not move is left out
        sum(observations.value) filter (
            where observations.host = 'generator'
            and observations.metric in ('udp.UdpOutDatagrams', 'udp.Udp6OutDatagrams')
        ) as sent_by_generator,
        coalesce(
            sum(observations.value) filter (
                where observations.host = 'generator'
                and observations.metric in ('udp.UdpInDatagrams', 'udp.Udp6InDatagrams')
            ), 0
        ) as read_by_generator
    from observations
    inner join trials on observations.trial_id = trials.trial_id
    group by observations.trial_id

),

accounts as (

    select
        trials.trial_id,
        trials.sent,
        trials.received,
        network.lost_in_receive_buffer,
        network.lost_at_closed_port,
        watched.probes,
        watched.probes_answered,
        watched.probes_failed,
        watched.queue_peak,
        watched.queue_median / nullif(trials.offered_rate, 0) as queue_s,
        round(cast({{ json_text('trials.details', 'ratio_printed') }} as double) / 100, 4) as ratio_printed,
        coalesce(watched.server_deaths, 0) > 0
        -- a server that has been up for less than the trial took was started meanwhile, and counts from 0 again
        or coalesce(
            server.uptime_s < {{ seconds_between('trials.started_at', 'trials.ended_at') }} - 2, false
        ) as is_server_restarted,
        server.answers_in_error,
        server.cache_hits,
        server.cache_misses,
        watched.sent_by_generator,
        watched.read_by_generator,
        server.answers - coalesce(watched.probes_answered, 0) as counted_by_server,
        -- generator, probe and server on one machine: its datagrams are queries, probes, and the answers to both
        network.datagrams_out - trials.sent - coalesce(watched.probes + watched.probes_answered, 0)
            as counted_by_network
    from trials
    left join network on trials.trial_id = network.trial_id
    left join server on trials.trial_id = server.trial_id
    left join watched on trials.trial_id = watched.trial_id
    where coalesce(network.trial_id, server.trial_id, watched.trial_id) is not null

),

-- other counts are of a server that began anew, or of others that asked meanwhile
with_counts as (

    select
        *,
        case
            when not is_server_restarted and counted_by_server between received - 3 and sent + 3
                then least(counted_by_server, sent)
        end as answered_by_server,
        case when counted_by_network between received - 3 and sent + 3 then least(counted_by_network, sent) end
            as answered_by_network,
        case when not is_server_restarted then cache_hits / nullif(cache_hits + cache_misses, 0) end as cache_hit_ratio
    from accounts

),

with_answers as (

    select
        *,
        case
            -- nothing else used the generator's network
            when sent_by_generator between sent and sent + 3 and read_by_generator between received and sent + 3
                then least(read_by_generator, sent)
            else coalesce(answered_by_server, answered_by_network)
        end as answered
    from with_counts

),

with_ratios as (

    select
        *,
        case
            when is_server_restarted then null
            when answers_in_error > answered then answered
            else answers_in_error
        end as answered_in_error,
        answered / nullif(sent, 0) as ratio_true,
        -- the counters around a trial may hold a datagram or two of before and after it
        case
            when sent - answered >= lost_in_receive_buffer + lost_at_closed_port
                then sent - answered - lost_in_receive_buffer - lost_at_closed_port
            when sent - answered < lost_in_receive_buffer + lost_at_closed_port then 0
        end as lost_in_server
    from with_answers

)

select * from with_ratios
