with
interim as (
    select
        batch,
        trial_id,
        exchange,
        max(sent) as sent,
        max(received) as received
    from intervals
    group by batch, trial_id, exchange
),

numbered as (
    select
        trials.campaign,
        trials.source_path,
        trials.tool = 'perfdhcp' as is_matched,
        epoch(trials.ended_at) - epoch(trials.started_at) as elapsed_s,
        interim.sent as interim_sent,
        interim.received as interim_received,
        -- Little's law: what was sent within the longest delay before the generator stopped listening
        exchanges.sent / nullif(trials.duration_s, 0)
        * greatest(exchanges.max_delay_ms / 1000 - coalesce(trials.wait_s, 0), 0) as in_flight,
        exchanges.*,
        regexp_extract(exchanges.drop_ratio_printed, '[-+.0-9a-zA-Z]+') as printed,
        try_cast(printed as double) as printed_percent,
        100 * exchanges.drops / nullif(exchanges.sent, 0) as percent,
        first_exchange.received as first_received
    from exchanges
    inner join trials
        on exchanges.trial_id = trials.trial_id
            and exchanges.batch = trials.batch
    left join exchanges as first_exchange
        on exchanges.trial_id = first_exchange.trial_id
            and exchanges.position = 1
            and exchanges.batch = first_exchange.batch
            and first_exchange.position = 0
    left join interim
        on exchanges.trial_id = interim.trial_id
            and exchanges.batch = interim.batch
            and exchanges.exchange = interim.exchange
)

select
    batch,
    campaign,
    source_path,
    trial_id,
    exchange,
    position,
    is_matched,
    sent,
    received,
    rejected,
    drops,
    case
        when received <= sent then sent - received
        when received > sent then 0
    end as expected_drops,
    least(sent, received, drops, orphans, rejected, non_unique, collected) as lowest_exchange_count,
    drop_ratio,
    printed,
    percent,
    if(isfinite(printed_percent), abs(printed_percent - percent), null) as ratio_off,
    -- perfdhcp prints the first exchange with 6 significant digits, the others with 3
    -- decimals up to Kea 2.x and with 3 significant digits from 3.0 on; zeros at the end may be missing
    1.000001 * case
        when regexp_matches(printed, '^[0-9]+[.][0-9]{2,}$') then 0.5 / pow(10, length(split_part(printed, '.', 2)))
        when percent = 0 then 0
        else 0.5 * pow(10, floor(log10(percent)) - if(position = 0, 5, 2))
    end as half_a_digit,
    first_received,
    interim_sent,
    interim_received,
    in_flight,
    -- below the tightest limit in use, the partial drop rate (ETSI GS NFV-TST 009; FD.io CSIT), no verdict depends on
    -- how a loss came about
    is_matched and drops > 0.005 * sent as is_notable_loss,
    min_delay_ms,
    avg_delay_ms,
    max_delay_ms,
    stdev_delay_ms,
    least(min_delay_ms, avg_delay_ms, max_delay_ms, stdev_delay_ms) as lowest_delay_ms,
    -- clocks of files and of shells count whole seconds
    if(elapsed_s >= 0, 1000 * (elapsed_s + 1), null) as longest_possible_delay_ms,
    -- each of the three is rounded to 0.001 ms
    (max_delay_ms - min_delay_ms) / 2 + 0.001 as highest_stdev_ms
from numbered
