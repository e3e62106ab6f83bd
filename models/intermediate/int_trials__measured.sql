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

files as (

    select * from {{ ref('stg_raw_files') }}

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
        {{ value_at_highest('received', 'position') }} filter (where position <= 1) as last_received,
        {{ value_at_highest('received - coalesce(rejected, 0)', 'position') }} filter (where position <= 1)
            as completed_exchanges,
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

described_campaigns as (

    select distinct campaign
    from files
    where format = 'campaign'

),

-- what tells of the runs, without the texts of a trial: sorted and joined with itself below
told as (

    select
        trial_id,
        campaign,
        source_path,
        context_path,
        name_words,
        stem,
        report_index,
        {{ configuration_columns() }},
        method,
        repetition,
        offered_rate,
        achieved_rate,
        sent,
        received,
        started_at,
        server_wiped,
        command is not null as has_command,
        rate_unit,
        {{ json_text('details', 'run') }} as tool_run,
        coalesce(method like 'statistics polls%', false) as is_of_polls
    from {{ ref('stg_trials') }}

),

-- nearly every stem is of one trial; a file with several of them, or a shared hash, only lets more through
shared_stems as (

    select hash(campaign, stem, tool) as stem_hash
    from told
    group by hash(campaign, stem, tool)
    having count(*) > 1

),

files_of_processes as (

    -- the text and the JSON of one process tell of the same trials: the fuller one counts
    select
        campaign,
        source_path,
        first_value(source_path) over (
            partition by campaign, stem, tool
            order by
                count(*) desc,
                count(sent) + count(received) + count(achieved_rate) + count(*) filter (where has_command) desc,
                source_path
        ) as fullest_path
    from told
    where hash(campaign, stem, tool) in (select shared_stems.stem_hash from shared_stems)
    group by campaign, stem, tool, source_path

),

files_of_tool_runs as (

    -- polls, results and exports of one run of CyberFlood name it: the results count, of polls alone the last ones
    select
        trial_id,
        campaign,
        source_path,
        tool,
        tool_run,
        rate_unit,
        is_of_polls,
        first_value(source_path) over (
            partition by campaign, tool, tool_run
            order by is_of_polls asc, sent desc nulls last, source_path asc
        ) as fullest_path
    from told
    where tool_run is not null

),

duplicates as (

    select
        told.trial_id,
        same_report.trial_id as duplicate_of
    from told
    inner join files_of_processes
        on told.campaign = files_of_processes.campaign
            and told.source_path = files_of_processes.source_path
            and told.source_path <> files_of_processes.fullest_path
    -- two processes may share a name, too (rate500.st, rate500.mt), but not what they counted
    inner join told as same_report
        on told.campaign = same_report.campaign
            and files_of_processes.fullest_path = same_report.source_path
            and told.report_index = same_report.report_index
            and coalesce(told.sent = same_report.sent, true)
            and coalesce(told.received = same_report.received, true)
            and coalesce(told.started_at = same_report.started_at, true)
    where told.tool_run is null
    union all
    select
        files_of_tool_runs.trial_id,
        min(counted.trial_id) as duplicate_of
    from files_of_tool_runs
    inner join files_of_tool_runs as counted
        on files_of_tool_runs.campaign = counted.campaign
            and files_of_tool_runs.tool = counted.tool
            and files_of_tool_runs.tool_run = counted.tool_run
            and files_of_tool_runs.fullest_path = counted.source_path
            and files_of_tool_runs.source_path <> counted.source_path
            -- connections/s beside Mbit/s are told by one file only
            and (files_of_tool_runs.is_of_polls or files_of_tool_runs.rate_unit = counted.rate_unit)
    group by files_of_tool_runs.trial_id

),

with_folder as (

    select
        told.*,
        case
            -- nothing but folder and file name tell such trials apart
            when
                (described_campaigns.campaign is null and told.scenario is null)
                or (told.product is null and told.backend is null and told.threading is null)
                then
                    case
                        when told.name_words is null then told.context_path
                        when told.context_path = '.' then told.name_words
                        else concat_ws('/', told.context_path, told.name_words)
                    end
            else told.name_words
        end as unnamed_folder
    from told
    left join described_campaigns on told.campaign = described_campaigns.campaign

),

-- a script may set perfdhcp's clients (-R), renewals (-f) or releases (-F), or dnsperf's window (-q), from the rate
campaigns_of_methods as (

    select campaign
    from told
    group by campaign
    having count(distinct method) > 2

),

with_alike as (

    select
        *,
        {{ with_numbers_by_rate('method') }} as alike
    from with_folder
    where campaign in (select campaigns_of_methods.campaign from campaigns_of_methods)

),

with_family as (

    select
        trial_id,
        offered_rate,
        method,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', unnamed_folder, alike') }} as family_id
    from with_alike

),

-- three numbers or more, each at rates of its own, and few of them at two, as a script may round. Several numbers at
-- one rate, or each at many rates, are compared on purpose.
ramps as (

    select
        {{ numbers_by_rate('method') }},
        family_id
    from with_family
    group by family_id
    having
        count(distinct method) > 2
        and 2 * count(distinct method) > count(distinct offered_rate)
        and count(distinct concat_ws(' ', method, offered_rate)) = count(distinct offered_rate)

),

methods_of_ramps as (

    select
        with_family.trial_id,
        {{ with_numbers_by_rate('with_family.method', 'ramps') }} as method
    from with_family
    inner join ramps on with_family.family_id = ramps.family_id

),

with_method as (

    select
        {{ all_but('with_folder', 'method') }},
        coalesce(methods_of_ramps.method, with_folder.method) as method
    from with_folder
    left join methods_of_ramps on with_folder.trial_id = methods_of_ramps.trial_id

),

own_runs as (

    select
        trial_id,
        unnamed_folder,
        method,
        offered_rate,
        started_at,
        server_wiped,
        {{ surrogate_key('campaign, ' ~ configuration_columns() ~ ', unnamed_folder, method, repetition') }} as run_id
    from with_method

),

runs_of_duplicates as (

    select
        own_runs.trial_id,
        own_runs.run_id
    from own_runs
    where own_runs.trial_id in (select duplicates.duplicate_of from duplicates)

),

with_runs as (

    select
        {{ all_but('own_runs', 'run_id') }},
        duplicates.duplicate_of,
        -- a duplicate belongs to the run of the trial that counts
        coalesce(runs_of_duplicates.run_id, own_runs.run_id) as run_id
    from own_runs
    left join duplicates on own_runs.trial_id = duplicates.trial_id
    left join runs_of_duplicates on duplicates.duplicate_of = runs_of_duplicates.trial_id

),

-- of the few runs with a trial before which the server kept its leases: to sort all runs would take much longer
unwiped_runs as (

    select
        with_runs.trial_id,
        sum(exchange_totals.completed_exchanges) over (
            partition by with_runs.run_id
            order by
                with_runs.started_at nulls last,
                with_runs.offered_rate nulls last,
                with_runs.trial_id
            rows unbounded preceding
        ) as exchanges_so_far
    from with_runs
    left join exchange_totals on with_runs.trial_id = exchange_totals.trial_id
    where
        with_runs.run_id in (
            select kept.run_id
            from with_runs as kept
            where kept.server_wiped = false
        )

),

joined as (

    select
        {{ all_but('trials', 'method') }},
        with_runs.run_id,
        with_runs.method,
        with_runs.unnamed_folder,
        with_runs.duplicate_of,
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
        coalesce(observed.unexpected_answers, accounting.answered_in_error) as unexpected_answers,
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
    inner join with_runs on trials.trial_id = with_runs.trial_id
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
                        -- a run lasts until its last answer, or until that is given up
                        duration_s
                        - coalesce(case when unanswered > 0 then drop_time_s else latency_max_ms / 1000 end, 0)
                    )
        end as sending_s
    from with_ramp

),

with_rates as (

    select
        *,
        coalesce(
            completed_exchanges / nullif(test_period_s, 0),
            -- dnsblast prints a mean since its start that it cuts off at the offered rate
            case when ratio_printed is not null then offered_rate * ratio_true end,
            achieved_rate
        ) as computed_rate,
        -- one packet of grace: perfdhcp sends rate x period - 1
        coalesce(observed_send_rate, (requests_sent + 1) / nullif(coalesce(sending_s, test_period_s), 0)) as send_rate,
        -- Little's law: how many requests waited in the mean, of as many as the generator allows
        (received * latency_avg_ms / 1000 + unanswered * coalesce(drop_time_s, 0))
        / nullif(duration_s * outstanding_window, 0) as waiting_ratio
    from with_period

),

with_pace as (

    select
        *,
        coalesce(
            rate_unit = 'queries/s' and send_rate < {{ least_sent_ratio_of_queries() }} * offered_rate, false
        ) as is_falling_behind,
        coalesce(waiting_ratio > 0.9, false) as is_window_full,
        -- a generator that is slow by itself has few requests under way
        coalesce(
            send_rate < {{ least_sent_ratio_of_queries() }} * offered_rate
            and waiting_ratio > {{ most_waiting_ratio() }},
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
        ~ 'ramp_end_s, loss_of_exchanges, loss_of_packets, elapsed_s, sending_s, is_falling_behind, answered, '
        ~ 'unexpected_answers, unanswered'
    ) }}
from judged
