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

observations as (

    select * from {{ ref('stg_observations') }}
    where metric in ('latency_avg', 'outstanding_window') and label is null and t_s is null

),

closed_loops as (

    select
        trial_id,
        max(value) filter (where metric = 'latency_avg') as avg_latency_ms,
        max(value) filter (where metric = 'outstanding_window') as outstanding_window
    from observations
    group by trial_id

),

exchange_totals as (

    select
        trial_id,
        max(sent) filter (where position = 0) as first_sent,
        arg_max(received, position) filter (where position <= 1) as last_received,
        arg_max(received - coalesce(rejected, 0), position) filter (where position <= 1) as completed_leases,
        -- a DHCPv4 RELEASE is never answered, so its "drops" are no loss
        max(drops / nullif(sent, 0)) filter (where exchange <> 'RELEASE') as loss_worst_exchange,
        sum(drops) filter (where exchange <> 'RELEASE')
        / nullif(sum(sent) filter (where exchange <> 'RELEASE'), 0) as loss_packet,
        max(max_delay_ms) as max_delay_ms,
        sum(rejected) as rejected_leases,
        sum(orphans) as orphans
    from exchanges
    group by trial_id

),

joined as (

    select
        trials.*,
        exchange_totals.first_sent,
        exchange_totals.last_received,
        exchange_totals.completed_leases,
        exchange_totals.max_delay_ms,
        exchange_totals.rejected_leases,
        exchange_totals.orphans,
        closed_loops.avg_latency_ms,
        closed_loops.outstanding_window,
        server_configs.pool_addresses as pool_size,
        coalesce(exchange_totals.loss_worst_exchange, trials.dropped / nullif(trials.sent, 0)) as loss_worst_exchange,
        coalesce(exchange_totals.loss_packet, trials.dropped / nullif(trials.sent, 0)) as loss_packet,
        coalesce(
            1 - exchange_totals.completed_leases / nullif(exchange_totals.first_sent, 0),
            trials.dropped / nullif(trials.sent, 0)
        ) as loss_lease,
        -- perfdhcp's rate is answers over wall time, so the two of them tell when a limit ended the trial early
        exchange_totals.last_received / nullif(trials.achieved_rate, 0) as elapsed_s,
        -- nothing but the folder tells such trials apart
        case
            when trials.product is null and trials.backend is null and trials.threading is null
                then trials.context_path
        end as unnamed_folder
    from trials
    left join exchange_totals on trials.trial_id = exchange_totals.trial_id
    left join closed_loops on trials.trial_id = closed_loops.trial_id
    left join server_configs on trials.server_config_id = server_configs.server_config_id

),

with_period as (

    select
        *,
        coalesce(first_sent, sent) as requests_sent,
        case when elapsed_s < 0.95 * duration_s then elapsed_s else duration_s end as test_period_s
    from joined

),

with_rates as (

    select
        *,
        achieved_rate as reported_rate,
        coalesce(completed_leases / nullif(test_period_s, 0), achieved_rate) as computed_rate,
        -- one packet of grace: perfdhcp sends rate x period - 1
        coalesce(requests_sent + 1 < 0.98 * offered_rate * test_period_s, false) as is_sending_short,
        -- a closed loop whose window is full waits for the server and cannot offer more (Little's law)
        coalesce(achieved_rate * avg_latency_ms / 1000 > 0.9 * outstanding_window, false) as is_window_full,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', unnamed_folder, method, repetition') }} as run_id
    from with_period

),

with_pool as (

    select
        *,
        is_sending_short or is_window_full as is_generator_limited,
        case
            when server_wiped = false
                then sum(completed_leases) over (
                        partition by run_id order by started_at, offered_rate, trial_id rows unbounded preceding
                    )
            else completed_leases
        end as leases_granted
    from with_rates

)

select * from with_pool
