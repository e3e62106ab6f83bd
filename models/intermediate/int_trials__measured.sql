with

trials as (

    select * from {{ ref('stg_trials') }}

),

exchanges as (

    select * from {{ ref('stg_exchanges') }}

),

server_configs as (

    select * from {{ ref('stg_server_configs') }}

),

labelled as (

    select * from {{ ref('int_trials__labelled') }}

),

identified as (

    select * from {{ ref('int_trials__identified') }}

),

accounting as (

    select * from {{ ref('int_query_accounting') }}

),

observed as (

    select * from {{ ref('int_trials__observed') }}

),

exchange_totals as (

    select
        trial_id,
        max(sent) filter (where position = 0) as first_sent,
        count(*) filter (where position <= 1) as lease_exchanges,
        max_by(received, position) filter (where position <= 1 and received is not null) as last_received,
        max_by(received - coalesce(rejected, 0), position) filter (where position <= 1 and received is not null)
            as completed_exchanges,
        -- a DHCPv4 RELEASE is never answered, so its "drops" are no loss
        max(drops / nullif(sent, 0)) filter (where exchange <> 'RELEASE') as loss_worst_exchange,
        sum(drops) filter (where exchange <> 'RELEASE')
        / nullif(sum(sent) filter (where exchange <> 'RELEASE'), 0) as loss_packet,
        max(max_delay_ms) as max_delay_ms,
        sum(avg_delay_ms - min_delay_ms) filter (where position <= 1) as queueing_ms,
        sum(rejected) as rejected_leases,
        sum(orphans) as orphans
    from exchanges
    group by trial_id

),

-- of the few runs with a trial before which the server kept its leases: to sort all runs would take much longer
unwiped_runs as (

    select
        identified.trial_id,
        sum(exchange_totals.completed_exchanges) over (
            partition by identified.run_id
            order by labelled.started_at nulls last, labelled.offered_rate nulls last, labelled.trial_id
            rows unbounded preceding
        ) as exchanges_so_far
    from identified
    inner join labelled on identified.trial_id = labelled.trial_id
    left join exchange_totals on identified.trial_id = exchange_totals.trial_id
    where
        identified.run_id in (
            select kept.run_id
            from identified as kept
            inner join labelled as unwiped on kept.trial_id = unwiped.trial_id
            where unwiped.server_wiped = false
        )

),

joined as (

    select
        {{ all_but('trials', 'method, repetition') }},
        identified.run_id,
        identified.method,
        identified.repetition,
        identified.is_numbered_by_order,
        identified.unnamed_folder,
        identified.duplicate_of,
        case
            -- an offer is no lease
            when trials.rate_unit = 'exchanges/s' then null
            when trials.server_wiped = false then unwiped_runs.exchanges_so_far
            else exchange_totals.completed_exchanges
        end as exchanges_since_wiped,
        observed.leases_held as leases_granted,
        accounting.answered,
        accounting.ratio_printed,
        accounting.ratio_true,
        accounting.lost_in_receive_buffer,
        accounting.probes_failed,
        accounting.is_server_restarted,
        exchange_totals.first_sent,
        exchange_totals.last_received,
        case
            -- a report that is cut off behind its first exchange tells of offers
            when trials.rate_unit = 'leases/s' and exchange_totals.lease_exchanges = 1 then null
            else exchange_totals.completed_exchanges
        end as completed_exchanges,
        exchange_totals.max_delay_ms,
        exchange_totals.queueing_ms,
        exchange_totals.rejected_leases,
        exchange_totals.orphans,
        observed.latency_avg_ms,
        observed.latency_p50_ms,
        observed.latency_p95_ms,
        observed.latency_p99_ms,
        observed.latency_max_ms,
        observed.outstanding_window,
        observed.unexpected_rcode,
        observed.send_rate as observed_send_rate,
        accounting.cache_hit_ratio,
        accounting.queue_s,
        lower({{ json_text('trials.details', 'transport') }}) as carrier,
        cast({{ json_text('trials.details', 'ramp_to') }} as double) as ramp_to,
        cast({{ json_text('trials.details', 'ramp_s') }} as double) as ramp_s,
        coalesce(
            observed.unexpected_answers,
            accounting.answered_in_error,
            -- no answer has no code
            case when trials.received = 0 and accounting.answered is null then 0 end
        ) as unexpected_answers,
        server_configs.pool_addresses as pool_size,
        -- dnsblast stops counting before the last answers are in; the counters around it know them
        coalesce(
            case when accounting.ratio_printed is not null then accounting.sent - accounting.answered end,
            trials.dropped
        ) as unanswered,
        exchange_totals.loss_worst_exchange as loss_of_exchanges,
        exchange_totals.loss_packet as loss_of_packets,
        -- perfdhcp's rate is answers over wall time, so the two of them tell when a limit ended the trial early
        exchange_totals.last_received / nullif(trials.achieved_rate, 0) as elapsed_s
    from trials
    inner join identified on trials.trial_id = identified.trial_id
    left join unwiped_runs on trials.trial_id = unwiped_runs.trial_id
    left join exchange_totals on trials.trial_id = exchange_totals.trial_id
    left join observed on trials.trial_id = observed.trial_id
    left join accounting on trials.trial_id = accounting.trial_id
    left join server_configs on trials.server_config_id = server_configs.server_config_id

),

with_ramp as (

    select
        *,
        case
            when carrier in ('udp', 'tcp') then upper(carrier)
            when carrier in ('dot', 'tls', 'tcp-tls') then 'DoT'
            when carrier like 'doh%' or carrier like 'http%' then 'DoH'
            when carrier in ('doq', 'quic') then 'DoQ'
        end as transport,
        -- resperf: the time until the last query follows from their number and the slope of the ramp
        case
            when sent <= ramp_to * ramp_s / 2 then sqrt(2 * ramp_s * sent / ramp_to)
            else ramp_s / 2 + sent / ramp_to
        end as ramp_end_s
    from joined

),

with_period as (

    select
        *,
        achieved_rate * (ramp_end_s - achieved_rate * ramp_s / (2 * ramp_to)) as answers_at_maximum,
        -- its codes are those of the whole ramp: the rate at which a server that stays at it would succeed so often
        case
            when unexpected_answers > 0
                then
                    ramp_end_s * ramp_to / ramp_s
                    * (1 - sqrt(greatest(
                        0, 1 - 2 * ramp_s * (received - unexpected_answers) / (ramp_to * ramp_end_s * ramp_end_s)
                    )))
        end as successes_of_ramp,
        coalesce(loss_of_exchanges, unanswered / nullif(sent, 0)) as loss_worst_exchange,
        coalesce(loss_of_packets, unanswered / nullif(sent, 0)) as loss_packet,
        -- whole numbers until the one division: 1 - 99 / 100 is above 0.01
        case
            when first_sent is null then unanswered / nullif(sent, 0)
            else (first_sent - completed_exchanges) / nullif(first_sent, 0)
        end as loss_lease,
        case when rate_unit = 'queries/s' then (sent - unanswered) / nullif(sent, 0) end as answered_ratio,
        case when rate_unit = 'queries/s' then (sent - unanswered - unexpected_answers) / nullif(sent, 0) end
            as successful_ratio,
        case
            when rate_unit = 'queries/s' then unexpected_answers / nullif(sent, 0)
            when protocol like 'HTTP%' then unanswered / nullif(sent, 0)
        end as error_ratio,
        coalesce(first_sent, sent) as requests_sent,
        case when elapsed_s < 0.95 * duration_s then elapsed_s else duration_s end as test_period_s,
        case
            when rate_unit = 'queries/s'
                then coalesce(
                        cast({{ json_text('details', 'sending_s') }} as double),
                        ramp_end_s,
                        -- a run lasts until its last answer, or until that is given up, unless all was lost earlier:
                        -- nothing is sent faster than asked
                        greatest(
                            duration_s
                            - coalesce(case when unanswered > 0 then drop_time_s else latency_max_ms / 1000 end, 0),
                            sent / nullif(offered_rate, 0)
                        )
                    )
        end as sending_s
    from with_ramp

),

with_drained as (

    select
        *,
        sending_s + 2 * latency_avg_ms / 1000 as drained_s
    from with_period

),

with_rates as (

    select
        *,
        coalesce(
            completed_exchanges / nullif(test_period_s, 0),
            -- dnsblast prints a mean since its start that it cuts off at the offered rate
            case when ratio_printed is not null then offered_rate * ratio_true end,
            -- dnsperf divides by the time until its last answer; a queue that grew drains within twice the mean
            -- latency, and what comes later is a straggler
            case when tool = 'dnsperf' and duration_s > 1.05 * drained_s then received / drained_s end,
            achieved_rate
        ) as computed_rate,
        case
            -- what was sent are transactions, those of the ramp included
            when rate_unit in ('Mbit/s', 'connections/s', 'transactions/s') then achieved_rate
            -- one packet of grace: perfdhcp sends rate x period - 1
            else coalesce(observed_send_rate, (requests_sent + 1) / nullif(coalesce(sending_s, test_period_s), 0))
        end as send_rate,
        -- Little's law: how many requests waited in the mean, of as many as the generator allows
        (
            case when received = 0 then 0 else received * latency_avg_ms / 1000 end
            + unanswered * coalesce(drop_time_s, 0)
        ) / nullif(coalesce(sending_s, duration_s) * outstanding_window, 0) as waiting_ratio
    from with_drained

),

with_pace as (

    select
        *,
        coalesce(
            (rate_unit = 'queries/s' or tool = 'bngblaster')
            and send_rate < {{ least_sent_ratio_of_queries() }} * offered_rate,
            false
        ) as is_falling_behind,
        coalesce(waiting_ratio > 0.9, false) as is_window_full,
        -- a generator that is slow by itself has few requests under way; BNG Blaster starts no session in time if
        -- too many of them wait
        coalesce(
            send_rate < {{ least_sent_ratio_of_queries() }} * offered_rate
            and (waiting_ratio > {{ most_waiting_ratio() }} or tool = 'bngblaster'),
            false
        ) as is_held_back
    from with_rates

),

judged as (

    select
        *,
        coalesce(send_rate < {{ least_sent_ratio() }} * offered_rate, false)
        and not is_held_back as is_generator_limited,
        is_falling_behind and not is_held_back as is_pace_lost,
        is_falling_behind
        or coalesce(rate_unit = 'queries/s' and probes_failed > 0, false)
        or coalesce(queue_s > 0.2, false) as is_unsustained
    from with_pace

)

-- without what only leads to these, and without what only `trials` shows
select
    {{ all_but(
        'judged',
        'batch, report_index, source_sha256, source_line, context_sources, stem, context_path, name_words, dropped, '
        ~ 'wait_s, exit_code, server_wiped, first_sent, last_received, observed_send_rate, carrier, ramp_to, ramp_s, '
        ~ 'ramp_end_s, loss_of_exchanges, loss_of_packets, elapsed_s, sending_s, drained_s, is_falling_behind, '
        ~ 'answered, unexpected_answers, unanswered'
    ) }}
from judged
