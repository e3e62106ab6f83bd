{% set generators = '(?i)(^|[^a-z])(client|injector|(load[-_ ]?)?gen(erator)?|tester)[-_ ]?[0-3ab]([^0-9a-z]|$)' -%}

with

trials as (

    select * from {{ ref('int_trials__measured') }}

),

runs as (

    select * from {{ ref('int_runs__identified') }}

),

steps_of_several_trials as (

    select * from {{ ref('int_steps') }}
    where trials > 1

),

-- at the goal by which pages and reports judge them
run_capacity as (

    select
        capacities.*,
        {{ is_search('runs.options') }} as is_search,
        -- in every run, and by far: no chance
        count(*) over set_up > 2
        and bool_and(coalesce(capacities.loss_before_dip, 0) > greatest(4 * capacities.loss_limit, 0.1)) over set_up
            as dips_always
    from {{ ref('int_run_capacity') }} as capacities
    inner join runs on capacities.run_id = runs.run_id
    where capacities.loss_goal = {{ usual_goal_of('runs.rate_unit') }}
    window set_up as (partition by runs.configuration_id)

),

configurations as (

    select * from {{ ref('int_configurations') }}

),

figures as (

    select * from {{ ref('stg_published_figures') }}

),

published_capacity as (

    select * from {{ ref('int_capacity__published') }}

),

quality_flags as (

    select * from {{ ref('quality_flags') }}

),

claims as (

    select * from {{ ref('int_claims') }}

),

claim_terms as (

    select * from {{ ref('reported_claim_terms') }}

),

rejects as (

    select * from {{ ref('stg_rejects') }}

),

observations as (

    select * from {{ ref('stg_observations') }}
    where trial_id is null and observed_at is not null

),

gate_findings as (

    select * from {{ ref('stg_gate_findings') }}

),

trials_at_one_rate as (

    select
        trials.run_id,
        trials.offered_rate,
        min(trials.loss_worst_exchange) as lowest_loss,
        max(trials.loss_worst_exchange) as highest_loss,
        min_by(trials.requests_sent, trials.loss_worst_exchange) as sent_at_lowest,
        max_by(trials.requests_sent, trials.loss_worst_exchange) as sent_at_highest,
        count(trials.server_config_id) = count(*) and count(distinct trials.server_config_id) = 1
            as has_one_server_config
    from trials
    inner join steps_of_several_trials as steps
        on trials.run_id = steps.run_id and trials.offered_rate = steps.offered_rate
    where trials.completed and trials.loss_worst_exchange is not null and trials.duplicate_of is null
    group by trials.run_id, trials.offered_rate
    having count(*) > 1

),

-- the test of two proportions; a server varies from trial to trial by itself, so a twentieth of its answers counts, too
trials_that_disagree as (

    select
        run_id,
        offered_rate,
        lowest_loss,
        highest_loss,
        highest_loss - lowest_loss as difference,
        has_one_server_config
    from (
        select
            *,
            (lowest_loss * sent_at_lowest + highest_loss * sent_at_highest)
            / nullif(sent_at_lowest + sent_at_highest, 0) as pooled_loss
        from trials_at_one_rate
    ) as pooled
    where
        highest_loss - lowest_loss > 0.05 * (1 - lowest_loss)
        and highest_loss - lowest_loss
        > 4 * sqrt(pooled_loss * (1 - pooled_loss) * (1 / sent_at_lowest + 1 / sent_at_highest))

),

-- answers that came after the last request: the mean delay of a queue that grows steadily is half of its last one, and
-- a generator that prints when the last answer came knows them
trials_with_late_share as (

    select
        *,
        case
            when rate_unit = 'queries/s'
                then least(1 - achieved_rate / send_rate, 2 * latency_avg_ms / 1000 * achieved_rate / sent)
            else 2 * queueing_ms / 1000 / test_period_s
        end as late_share
    from trials
    where loss_packet <= 0.025

),

trials_with_window as (

    select
        *,
        -- of the time that queries waited, most was for answers that never came
        coalesce(loss_packet * sent * drop_time_s > 0.5 * waiting_ratio * test_period_s * outstanding_window, false)
            as is_window_lost
    from trials

),

trials_in_order as (

    select
        trial_id,
        {{ seconds_between('started_at', 'ended_at') }} as duration_s,
        coalesce({{ seconds_between('started_at', 'lag(ended_at) over in_order') }}, 0) as previous_overlap_s,
        coalesce({{ seconds_between('lead(started_at) over in_order', 'ended_at') }}, 0) as next_overlap_s,
        lag(source_path) over in_order as previous_path,
        lead(source_path) over in_order as next_path
    from trials
    where
        started_at is not null
        and ended_at is not null
        and duplicate_of is null
        and not {{ is_search('method') }} -- whose results are of the same time
    window in_order as (partition by campaign, host_id order by started_at, trial_id)

),

trials_at_once as (

    select
        trial_id,
        case when previous_overlap_s >= next_overlap_s then previous_path else next_path end as other_path
    from trials_in_order
    where greatest(previous_overlap_s, next_overlap_s) > greatest(1, 0.1 * duration_s)

),

trial_findings as (

    select
        trial_id,
        'generator_limited' as finding,
        'warning' as severity,
        case
            when rate_unit in ('Mbit/s', 'connections/s', 'transactions/s')
                then
                    cast(round(send_rate) as bigint) || ' ' || rate_unit || ' were reached of the '
                    || {{ short_number('offered_rate') }}
                    || ' asked for: the generator or the server was at its limit.'
            else
                'The generator sent ' || cast(round(send_rate) as bigint) || ' requests/s of the '
                || {{ short_number('offered_rate') }}
                || ' asked for: the rate says more about the generator than about the server.'
        end as detail
    from trials
    where is_generator_limited
    union all
    select
        trial_id,
        'window_full' as finding,
        case when is_window_lost then 'warning' else 'info' end as severity,
        'The generator was at its limit of ' || {{ short_number('outstanding_window') }} || ' waiting queries '
        || case when is_window_full then 'all the time' else 'much of the time' end
        || ': ' || cast(round(computed_rate) as bigint) || '/s is what the server answers with that many waiting'
        || case when is_held_back then ', not the ' || {{ short_number('offered_rate') }} || ' asked for.' else '.' end
        || case
            when is_window_lost
                then
                    ' Most of these were lost and waited for the time-out of ' || {{ short_number('drop_time_s') }}
                    || ' s, which limits the rate: shorten it, or let more queries wait.'
            else ''
        end as detail
    from trials_with_window
    where is_window_full or (is_held_back and outstanding_window is not null)
    union all
    select
        trial_id,
        case when rate_unit = 'queries/s' then 'unexpected_answers' else 'failed_transactions' end as finding,
        case when error_ratio >= 0.5 then 'suspect' else 'warning' end as severity,
        {{ percent('error_ratio') }} || case
            when rate_unit = 'queries/s'
                then ' of the queries got an answer with an unexpected code, mostly '
                    || coalesce(unexpected_rcode, 'SERVFAIL or REFUSED') || ': an answer is not always a success.'
            else ' of the HTTP transactions failed: the throughput does not show it.'
        end as detail
    from trials
    where error_ratio > 0.001
    union all
    select
        trial_id,
        'sent_exceeds_offered' as finding,
        'warning' as severity,
        'perfdhcp sent ' || cast(round(send_rate) as bigint) || ' requests/s when asked for '
        || {{ short_number('offered_rate') }}
        || ': the rate or the period (-r, -p) belongs to another report.' as detail
    from trials
    where tool = 'perfdhcp' and send_rate > 1.05 * offered_rate
    union all
    select
        trial_id,
        'measured_at_once' as finding,
        'warning' as severity,
        other_path || ' was measured at the same time. If both loaded one server, it carried the sum of both rates: '
        || 'its capacity is above these figures.' as detail
    from trials_at_once
    union all
    select
        trial_id,
        'standing_queue' as finding,
        'warning' as severity,
        'For half of the time, over ' || cast(round(queue_s * offered_rate) as bigint)
        || ' questions waited in the server, '
        || {{ short_number('round(queue_s, 2)') }} || ' s of the load: it answers late and loses what waits too long.'
            as detail
    from trials
    where queue_s > 0.2
    union all
    select
        trial_id,
        'answers_lag' as finding,
        'warning' as severity,
        case
            when rate_unit = 'queries/s'
                then
                    {{ percent('late_share') }} || ' of the queries were answered only after the last one was sent: '
                    || cast(round(achieved_rate) as bigint) || '/s came back of ' || cast(round(send_rate) as bigint)
                    || '/s, so a queue was growing. A longer trial, or a shorter time-out, would count it as loss.'
            else
                'About ' || {{ percent('late_share') }} || ' of the exchanges were complete only after the last one '
                || 'began: on average they took ' || {{ short_number('round(queueing_ms)') }}
                || ' ms longer than the quickest, so a queue was growing. A longer trial, or a shorter -W, would count '
                || 'it as loss.'
        end as detail
    from trials_with_late_share
    where late_share > 0.05 and late_share * coalesce(test_period_s, sent / achieved_rate) > 0.2
    union all
    select
        trial_id,
        'queue_counted_as_throughput' as finding,
        'suspect' as severity,
        'Had the server kept the ' || cast(round(achieved_rate) as bigint)
        || '/s that resperf prints, it would have answered ' || cast(round(answers_at_maximum) as bigint)
        || ' queries of the ramp; it answered ' || cast(received as string)
        || ': a queue that filled up counts as throughput.' as detail
    from trials
    where received < 0.8 * answers_at_maximum
    union all
    select
        trial_id,
        'renewals' as finding,
        'warning' as severity,
        cast(completed_exchanges - clients as string) || ' of the ' || cast(completed_exchanges as string)
        || ' exchanges renewed an existing lease: the test had only ' || {{ counted('clients', 'client') }} || ' (-R).'
            as detail
    from trials
    where tool = 'perfdhcp' and rate_unit = 'leases/s' and completed_exchanges > clients
    union all
    select
        trial_id,
        'no_leases_asked' as finding,
        'warning' as severity,
        'perfdhcp made only the first exchange (-i): the server offered leases but granted none.' as detail
    from trials
    where tool = 'perfdhcp' and rate_unit = 'exchanges/s'
    union all
    select
        trial_id,
        'incomplete' as finding,
        'warning' as severity,
        'The trial was interrupted or its report is incomplete; no capacity is computed from it.' as detail
    from trials
    where not completed and duplicate_of is null
    union all
    select
        trial_id,
        'pool_nearly_full' as finding,
        'warning' as severity,
        'The leases fill '
        || {{ percent('coalesce(leases_granted, least(exchanges_since_wiped, clients)) / pool_size') }}
        || ' of the address pools: allocation slows down when they are nearly full.' as detail
    from trials
    where pool_size > 0 and coalesce(leases_granted, least(exchanges_since_wiped, clients)) > 0.9 * pool_size
    union all
    select
        trial_id,
        'late_answers' as finding,
        'warning' as severity,
        'The slowest answer took ' || {{ short_number('round(max_delay_ms)') }} || ' ms and still counts as received: '
        || 'the drop time of perfdhcp is not a limit.' as detail
    from trials
    where max_delay_ms > 1000 * greatest(drop_time_s, coalesce(drop_time_second_s, drop_time_s))
    union all
    select
        trial_id,
        'leases_rejected' as finding,
        'warning' as severity,
        {{ counted('rejected_leases', 'answer') }} || ' carried no lease; perfdhcp counts such answers as received.'
            as detail
    from trials
    where rejected_leases > 0
    union all
    select
        trial_id,
        'malformed_packets' as finding,
        'warning' as severity,
        {{ counted('malformed', 'packet') }} || ' could not be decoded by the generator.' as detail
    from trials
    where malformed > 0
    union all
    select
        trial_id,
        'printed_ratio_misleads' as finding,
        'warning' as severity,
        'The generator printed ' || {{ percent('ratio_printed') }}
        || ', the counters give ' || {{ percent('ratio_true') }}
        || ' answered: it stops counting before the last answers are in.' as detail
    from trials
    where abs(ratio_printed - ratio_true) > 0.005
    union all
    select
        trial_id,
        'receive_buffer_overrun' as finding,
        'warning' as severity,
        {{ short_number('lost_in_receive_buffer') }}
        || ' datagrams, ' || {{ percent('lost_in_receive_buffer / sent') }}
        || ' of those sent, were lost because the receive buffer of a UDP socket was full (RcvbufErrors, which '
        || 'PowerDNS shows as udp-in-errors): raise net.core.rmem_default or the server''s SO_RCVBUF.'
            as detail
    from trials
    where lost_in_receive_buffer > 0
    union all
    select
        trial_id,
        'server_restarted' as finding,
        'warning' as severity,
        'The server died or was restarted during the trial.' as detail
    from trials
    where is_server_restarted
    union all
    select
        trial_id,
        'probes_failed' as finding,
        'warning' as severity,
        cast(probes_failed as string)
        || ' probe queries timed out, were refused or got a wrong answer during the trial.' as detail
    from trials
    where probes_failed > 0
    union all
    select
        trial_id,
        'generator_stalled' as finding,
        'warning' as severity,
        'dnsblast sent ' || cast(sent as string) || ' of ' || cast(requests_planned as string)
        || ' queries and then stopped: once it is behind, its wait (unsigned) underflows to days.' as detail
    from trials
    where tool = 'dnsblast' and sent < requests_planned
    union all
    select
        trial_id,
        'same_process' as finding,
        'info' as severity,
        'Another file of the same process or run, or a copy, also describes this trial; only that one counts.' as detail
    from trials
    where duplicate_of is not null
    union all
    select
        trial_id,
        'in_no_figure' as finding,
        'info' as severity,
        case
            when offered_rate is null then 'The output does not state the rate that was asked for'
            else 'The output does not state what was lost at this rate'
        end || ', so no capacity follows from it.' as detail
    from trials
    where
        (offered_rate is null or loss_worst_exchange is null)
        and completed
        and duplicate_of is null
        and rate_unit not in ('leases/s', 'queries/s')
    union all
    select
        trial_id,
        'context_conflict' as finding,
        'warning' as severity,
        {{ each_of('conflicts') }} as detail
    from trials
    union all
    select
        trial_id,
        'reader_warning' as finding,
        'info' as severity,
        {{ each_of('warnings') }} as detail
    from trials

),

run_findings as (

    select
        run_id,
        'ramp_too_short' as finding,
        'warning' as severity,
        'The ramp has ' || {{ counted('steps', 'step') }} || '; it takes three to see where the loss begins.' as detail
    from run_capacity
    where steps < 3 and coalesce(first_exceeding_rate / last_passing_rate, 2) > 1.05 and not is_search
    union all
    select
        run_id,
        'never_exceeded' as finding,
        'info' as severity,
        'No step lost more than '
        || {{ short_number('100 * loss_limit') }}
        || ' %: the capacity is at least the figure given.'
            as detail
    from run_capacity
    where status = 'never_exceeded'
    union all
    select
        run_id,
        'exceeded_at_first_step' as finding,
        'warning' as severity,
        'The first step, ' || {{ short_number('first_exceeding_rate') }} || '/s, '
        || case
            when first_exceeding_loss > loss_limit then 'already lost more than '
            else 'was not sustained (pace, probes or answer codes), though it lost no more than '
        end || {{ short_number('100 * loss_limit') }} || ' %: the capacity is below it.'
        || case when dips_back then ' Higher rates lost less: was the server cold at the first one?' else '' end
            as detail
    from run_capacity
    where status = 'exceeded_at_first_step'
    union all
    select
        run_id,
        'loss_dips_back' as finding,
        case when dips_always then 'warning' else 'info' end as severity,
        'Above ' || {{ short_number('first_exceeding_rate') }} || case
            when first_exceeding_loss > loss_limit then '/s the loss falls below the limit again'
            else '/s, not sustained (pace, probes or answer codes) though it lost no more, steps pass again'
        end || case
            when dips_always then ', as in every run: two set-ups may have been taken for one.'
            when is_disturbed then ': the first failure counts as a disturbance.'
            else ': the ramp is noisy.'
        end as detail
    from run_capacity
    where dips_back
    union all
    select
        run_id,
        'trials_disagree' as finding,
        case when bool_and(has_one_server_config) then 'info' else 'warning' end as severity,
        'Trials of one run at ' || {{ short_number('max_by(offered_rate, difference)') }} || '/s lost '
        || {{ percent('max_by(lowest_loss, difference)') }} || ' and '
        || {{ percent('max_by(highest_loss, difference)') }}
        || ', more than chance explains: '
        || case
            when bool_and(has_one_server_config)
                then 'the server configuration was the same, so something disturbed it, or it tips over near this rate.'
            else 'they may come from different set-ups or several runs. Distinguish them by name, sidecar or `path:`.'
        end as detail
    from trials_that_disagree
    group by run_id

),

rates_of_runs as (

    select
        runs.configuration_id,
        runs.is_numbered_by_order,
        runs.server_config_id,
        run_capacity.run_id is null as is_without_steps,
        case
            when run_capacity.run_id is null then runs.highest_achieved_rate
            when not run_capacity.is_disturbed then run_capacity.rate
        end as rate,
        case when not run_capacity.is_disturbed then run_capacity.last_passing_rate end as last_passing_rate,
        case when not run_capacity.is_disturbed then run_capacity.first_exceeding_rate end as first_exceeding_rate
    from runs
    left join run_capacity on runs.run_id = run_capacity.run_id

),

set_ups_of_runs as (

    select
        configuration_id,
        is_numbered_by_order,
        count(*) as runs,
        min(rate) as lowest_rate,
        max(rate) as highest_rate,
        -- more than repetitions on a noisy machine, or runs on a coarse ramp, differ
        case
            when bool_and(is_without_steps) then max(rate) > 2 * min(rate)
            else max(rate) > 1.5 * min(rate) and max(last_passing_rate) > min(first_exceeding_rate)
        end as is_far_apart,
        count(server_config_id) = count(*) and count(distinct server_config_id) = 1 as has_one_server_config
    from rates_of_runs
    group by configuration_id, is_numbered_by_order

),

rates_by_height as (

    select
        *,
        row_number() over (partition by configuration_id order by rate desc nulls last, last_passing_rate desc)
            as height
    from rates_of_runs
    where not is_without_steps

),

fastest_runs as (

    select
        configuration_id,
        count(rate) as runs,
        max(rate) as rate,
        max(case when height = 1 then last_passing_rate end) as last_passing_rate,
        max(case when height > 1 then rate end) as next_rate,
        min(rate) as lowest_rate,
        max(case when height > 1 then first_exceeding_rate end) as first_exceeding_rate
    from rates_by_height
    group by configuration_id

),

set_ups_alike as (

    select
        configuration_id,
        runs,
        count(*) over alike as set_ups_alike,
        max(runs) over alike as most_runs
    from configurations
    where origin = 'measured'
    window alike as (
        partition by
            campaign,
            {{ configuration_columns_of('configurations') }},
            method,
            {{ with_any_number('unnamed_folder') }}
    )

),

-- servers that share the load, each with a generator of its own; or generators that load one server
shares as (

    select
        configuration_id,
        ha_mode = 'load-balancing' as is_of_pair,
        {{ fits('unnamed_folder', "'" ~ generators ~ "'") }} as is_of_generators,
        count(*) over pair as servers,
        count(*) over load as generators
    from configurations
    where origin = 'measured'
    window pair as (
        partition by
            campaign,
            {{ configuration_columns_of('configurations') }},
            method,
            {{ replaced('unnamed_folder', '(?i)(node|server|peer|ha)[-_ ]?[0-9ab]|primary|secondary|partner', '#') }}
    ),
    load as (
        partition by
            campaign,
            {{ configuration_columns_of('configurations') }},
            method,
            {{ replaced('unnamed_folder', generators, '#') }}
    )

),

targets as (

    select
        runs.configuration_id,
        coalesce(
            {{ json_text('trials.details', 'target') }},
            -- the last word, unless an option takes it
            nullif(regexp_extract(
                case when trials.tool = 'perfdhcp' then trials.command end,
                ' (?:[^- ][^ ]*|-[hvV46iBc1u]+|-[a-zA-Z][^ ]+) ([0-9]+(?:[.][0-9]+){3}|[0-9a-f]*:[0-9a-f:.]+)$',
                1
            ), '')
        ) as target
    from trials
    inner join runs on trials.run_id = runs.run_id

),

servers_of_set_ups as (

    select
        configuration_id,
        count(distinct target) as servers,
        min(target) as one,
        max(target) as other
    from targets
    group by configuration_id

),

unread as (

    select
        runs.configuration_id,
        {{ json_text('trials.details', 'unread') }} as said,
        count(distinct trials.run_id) as runs,
        min(trials.offered_rate) as lowest_rate,
        max(trials.offered_rate) as highest_rate
    from trials
    inner join runs on trials.run_id = runs.run_id
    where {{ json_text('trials.details', 'unread') }} is not null
    group by all

),

-- Values that are no label of the repetition, and of which each was measured in about the same range of rates.
unread_of_set_ups as (

    select
        unread.configuration_id,
        count(*) as spellings,
        min(unread.said) as one,
        max(unread.said) as other
    from unread
    inner join configurations on unread.configuration_id = configurations.configuration_id
    group by unread.configuration_id
    having
        count(*) > 1
        and (max(unread.runs) > 1 or sum(unread.runs) <> max(configurations.runs))
        and coalesce(
            2 * (min(unread.highest_rate) - max(unread.lowest_rate))
            >= max(unread.highest_rate) - min(unread.lowest_rate)
            or bool_or({{ fits('unread.said', "'(?i)(^|[. _-])(backend|ha_mode|product|scenario|threading)='") }}),
            true
        )

),

configuration_findings as (

    select
        configuration_id,
        'unread_keys' as finding,
        'warning' as severity,
        'Its sidecars say ' || cast(spellings as string) || ' different things in keys that no column has, among them '
        || one || ' and ' || other || '. If these are several set-ups, their figures are mixed: name the key in '
        || 'campaign.yaml, such as `sidecar_fields: {scenario: ' || split_part(one, '=', 1) || '}`.' as detail
    from unread_of_set_ups
    union all
    select
        configuration_id,
        'several_servers' as finding,
        'warning' as severity,
        'Its trials were sent to ' || cast(servers as string) || ' addresses, among them ' || one || ' and ' || other
        || ': if these are several servers, their figures are mixed; distinguish them by name, sidecar or `path:`.'
            as detail
    from servers_of_set_ups
    where servers > 1
    union all
    select
        configuration_id,
        'share_of_a_pair' as finding,
        'warning' as severity,
        'One of ' || cast(servers as string) || ' set-ups named like the servers of a pair that shares the load. If '
        || 'these were loaded at the same time, each figure is one server''s share: the pair reaches their sum, which '
        || 'is not computed, and has no ratio to a single server. For that, load both from one generator.' as detail
    from shares
    where is_of_pair and servers > 1
    union all
    select
        configuration_id,
        'one_of_several_generators' as finding,
        'info' as severity,
        'One of ' || cast(generators as string) || ' set-ups named like traffic generators. If these loaded one '
        || 'server at the same time, each figure is one generator''s share: the server reaches their sum, which is '
        || 'not computed.' as detail
    from shares
    where is_of_generators and generators > 1
    union all
    select
        configuration_id,
        case when is_numbered_by_order then 'runs_by_order' else 'runs_disagree' end as finding,
        case when is_far_apart then 'warning' else 'info' end as severity,
        case
            when is_numbered_by_order
                then 'No name numbers its runs; the order or the times of the trials separate them. Its '
            else 'Only a number distinguishes the names of its runs, or nothing. Its '
        end || {{ counted('runs', 'run') }}
        || ' reach ' || cast(round(lowest_rate) as bigint) || ' to ' || cast(round(highest_rate) as bigint)
        || '/s; if they are of different set-ups, distinguish them by name, sidecar or `path:`.' as detail
    from set_ups_of_runs
    where highest_rate is not null and (is_numbered_by_order or (is_far_apart and not has_one_server_config))
    union all
    select
        configuration_id,
        'one_run_faster' as finding,
        'warning' as severity,
        'One run reaches ' || cast(round(rate) as bigint) || '/s, the other ' || cast(runs - 1 as string) || ' '
        || cast(round(lowest_rate) as bigint) || ' to ' || cast(round(next_rate) as bigint) || '/s: is it of another '
        || 'set-up, or had it less to do, with a warm cache or clients that had leases?' as detail
    from fastest_runs
    where
        runs >= 5
        -- of five equal runs 1.5 % do, of seven 0.1 %
        and rate - next_rate > 3 * (next_rate - lowest_rate)
        and last_passing_rate > first_exceeding_rate
    union all
    select
        configuration_id,
        'too_few_runs' as finding,
        'info' as severity,
        {{ counted('runs', 'run') }} || ': with fewer than three the spread is unknown.'
        || case
            when set_ups_alike > 1 and most_runs = 1
                then ' ' || cast(set_ups_alike as string) || ' set-ups differ only in numbers or hashes of their '
                    || 'names. If these count repetitions, call them run1, run2, ..., or write a `path:` with '
                    || '{repetition}, or {_} for what is no set-up, such as a job.'
            else ''
        end as detail
    from set_ups_alike
    where runs < 3
    union all
    select
        configuration_id,
        'hidden_thread_count' as finding,
        -- a publication may hide what matters; who measured can look
        case when origin = 'measured' then 'info' else 'warning' end as severity,
        'Multi-threaded, but the number of threads is not given.' as detail
    from configurations
    where threading = 'multi' and threads is null

),

exact_figures as (

    select
        figures.figure_id,
        figures.source_id,
        figures.metric,
        figures.value,
        published_capacity.configuration,
        published_capacity.testbed,
        published_capacity.conditions
    from figures
    inner join published_capacity on figures.figure_id = published_capacity.figure_id
    where figures.evidence_kind = 'measured' and figures.qualifier = 'exact'

),

identical_figures as (

    select
        one.figure_id,
        one.value,
        {{ joined_texts("other.figure_id || ' (' || other.configuration || ')'", ', ', 'other.figure_id') }} as others
    from exact_figures as one
    inner join exact_figures as other
        on one.source_id = other.source_id
            and one.metric = other.metric
            and one.value = other.value
            and (
                one.configuration <> other.configuration
                or one.testbed is distinct from other.testbed
                or one.conditions is distinct from other.conditions
            )
    group by one.figure_id, one.value

),

contradicted_claims as (

    select distinct
        claim_terms.figure_id,
        claims.statement,
        claims.location,
        claims.arithmetic
    from claims
    inner join claim_terms on claims.claim_id = claim_terms.claim_id
    where claims.verdict = 'contradicted_in_source' and claim_terms.figure_id is not null

),

figure_findings as (

    select
        figures.figure_id,
        figures.quality_flag as finding,
        quality_flags.severity,
        quality_flags.meaning || '.' as detail
    from figures
    inner join quality_flags on figures.quality_flag = quality_flags.quality_flag
    union all
    select
        figure_id,
        'identical_figures' as finding,
        'warning' as severity,
        'The source gives the same value, ' || {{ short_number('value') }} || ', for ' || others || '.' as detail
    from identical_figures
    union all
    select
        figure_id,
        'source_contradicts_itself' as finding,
        'info' as severity,
        'The source says: "' || statement || '" (' || location || '). Its own numbers: ' || arithmetic || '.' as detail
    from contradicted_claims

),

metrics_files as (

    select
        campaign,
        source_path,
        count(*) as observations,
        min(observed_at) as first_observed_at,
        max(observed_at) as last_observed_at
    from observations
    group by campaign, source_path

),

measured_campaigns as (

    select
        campaign,
        min(started_at) as first_started_at,
        max(coalesce({{ end_of_trial() }}, started_at)) as last_ended_at
    from trials
    group by campaign

),

file_findings as (

    select
        'rejected' as finding,
        campaign,
        source_path,
        coalesce('Line ' || cast(line as string) || ': ', '') || concat_ws('; ', reason, hint) as detail
    from rejects
    union all
    select
        'metrics_of_no_trial' as finding,
        metrics_files.campaign,
        metrics_files.source_path,
        'No trial matches its ' || {{ counted('metrics_files.observations', 'value') }} || ', '
        || left(cast(metrics_files.first_observed_at as string), 16) || ' to '
        || left(cast(metrics_files.last_observed_at as string), 16) || ' (UTC): '
        || coalesce(
            'the trials ran from ' || left(cast(measured_campaigns.first_started_at as string), 16) || ' to '
            || left(cast(measured_campaigns.last_ended_at as string), 16)
            || '. Is a clock wrong, or are local times taken for UTC?',
            'no output or sidecar says when a trial began (`started_at`).'
        ) as detail
    from metrics_files
    inner join measured_campaigns on metrics_files.campaign = measured_campaigns.campaign
    where
        measured_campaigns.first_started_at is null
        or metrics_files.first_observed_at > {{ later('measured_campaigns.last_ended_at', 30) }}
        or metrics_files.last_observed_at < {{ later('measured_campaigns.first_started_at', -30) }}

),

combined as (

    select
        trial_findings.finding,
        trial_findings.severity,
        'trial' as subject,
        trial_findings.trial_id as subject_id,
        trials.campaign,
        runs.configuration_id,
        trials.run_id,
        trials.trial_id,
        trials.offered_rate,
        trials.source_path,
        trial_findings.detail
    from trial_findings
    inner join trials on trial_findings.trial_id = trials.trial_id
    inner join runs on trials.run_id = runs.run_id
    union all
    select
        run_findings.finding,
        run_findings.severity,
        'run' as subject,
        run_findings.run_id as subject_id,
        runs.campaign,
        runs.configuration_id,
        runs.run_id,
        null as trial_id,
        null as offered_rate,
        null as source_path,
        run_findings.detail
    from run_findings
    inner join runs on run_findings.run_id = runs.run_id
    union all
    select
        configuration_findings.finding,
        configuration_findings.severity,
        'configuration' as subject,
        configuration_findings.configuration_id as subject_id,
        configurations.campaign,
        configurations.configuration_id,
        null as run_id,
        null as trial_id,
        null as offered_rate,
        null as source_path,
        configuration_findings.detail
    from configuration_findings
    inner join configurations on configuration_findings.configuration_id = configurations.configuration_id
    union all
    select
        figure_findings.finding,
        figure_findings.severity,
        'figure' as subject,
        figure_findings.figure_id as subject_id,
        figures.source_id as campaign,
        published_capacity.configuration_id,
        null as run_id,
        null as trial_id,
        null as offered_rate,
        figures.location as source_path,
        figure_findings.detail
    from figure_findings
    inner join figures on figure_findings.figure_id = figures.figure_id
    left join published_capacity on figures.figure_id = published_capacity.figure_id
    union all
    select
        finding,
        'warning' as severity,
        'file' as subject,
        source_path as subject_id,
        campaign,
        null as configuration_id,
        null as run_id,
        null as trial_id,
        null as offered_rate,
        source_path,
        detail
    from file_findings
    union all
    select
        gate_findings.finding,
        gate_findings.severity,
        case when gate_findings.trial_id is null then 'file' else 'trial' end as subject,
        coalesce(gate_findings.trial_id, gate_findings.source_path) as subject_id,
        gate_findings.campaign,
        runs.configuration_id,
        trials.run_id,
        trials.trial_id,
        trials.offered_rate,
        gate_findings.source_path,
        gate_findings.detail
    from gate_findings
    left join trials on gate_findings.trial_id = trials.trial_id
    left join runs on trials.run_id = runs.run_id

)

select * from combined
