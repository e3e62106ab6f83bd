with
-- a number is looked up many times faster than two texts; it may stand for several of them
shared as (
    select hash(batch, trial_id) as trial_hash
    from trials
    group by all
    having count(*) > 1
),

repeated as (
    select
        batch,
        trial_id,
        count(*) as rows_of_trial
    from trials
    where hash(batch, trial_id) in (from shared)
    group by batch, trial_id
    having count(*) > 1
)

select
    trials.batch,
    nullif(trim(trials.campaign), '') as campaign,
    nullif(trim(trials.source_path), '') as source_path,
    nullif(trim(trials.trial_id), '') as trial_id,
    nullif(trim(trials.tool), '') as tool,
    coalesce(repeated.rows_of_trial, 1) as rows_of_trial,
    trials.protocol,
    least(trials.sent, trials.received, trials.dropped, trials.malformed) as lowest_count,
    least(trials.offered_rate, trials.achieved_rate) as lowest_rate,
    trials.sent,
    trials.received,
    trials.completed,
    trials.achieved_rate,
    trials.rate_unit,
    trials.offered_rate,
    -- an avalanche offers all at once, whatever -r says
    case
        when not concat_ws(' ', trials.scenario, trials.command) like '%avalanche%'
            then 1.02 * trials.offered_rate + coalesce(2 / nullif(trials.duration_s, 0), 0)
    end as highest_plausible_rate,
    known_hosts.nic_speed_mbps,
    -- What one unit of the rate takes at least of the busier direction of a full-duplex Ethernet, in bits. Each frame
    -- takes 38 bytes beside its payload: 14 of header, 4 of check sequence, 8 of preamble, 12 of gap (IEEE 802.3).
    -- IPv4 and UDP take 28 bytes of the payload (RFC 791, 768), IPv6 and UDP 48 (RFC 8200).
    case
        when
            known_hosts.nic_speed_mbps > 0
            and not regexp_matches(coalesce(trials.command, ''), '127[.]0[.]|::1|-l lo\b')
            then known_hosts.nic_speed_mbps * 1e6 / case
                    -- RFC 2131, tables 1 and 5; RFC 2132: 236 of header, 4 of cookie, message type, lease time, server
                    -- identifier, end; the client's DISCOVER and REQUEST are no larger than the OFFER and ACK
                    when trials.rate_unit = 'leases/s' and trials.protocol = 'DHCPv4'
                        then 8 * 2 * (236 + 4 + 3 + 6 + 6 + 1 + 28 + 38)
                    -- RFC 8415: 4 of header, client and server identifier (DUID-LL of Ethernet), IA_NA with its address
                    -- in ADVERTISE and REPLY: no less than in SOLICIT and REQUEST together
                    when trials.rate_unit = 'leases/s' and trials.protocol = 'DHCPv6'
                        then 8 * 2 * (4 + 14 + 14 + 16 + 28 + 48 + 38)
                    -- the smallest payload of a frame is 46, which holds the smallest DNS message
                    -- (RFC 1035: 12 of header, 5 of question)
                    when trials.rate_unit in ('queries/s', 'updates/s', 'frames/s', 'packets/s')
                        then 8 * (46 + 38)
                    when trials.rate_unit = 'Mbit/s'
                        then 1e6
                end
    end as wire_rate,
    trials.duration_s,
    trials.threading,
    trials.threads,
    trials.started_at,
    trials.ended_at,
    epoch(trials.ended_at) - epoch(trials.started_at) as elapsed_s,
    -- a lease takes two packets, all else one; a second is left for clocks that count whole ones
    case
        when trials.completed
            then 0.9 * least(trials.duration_s, trials.sent / 2 / nullif(trials.offered_rate, 0)) - 1
    end as shortest_elapsed_s,
    1.5 * trials.duration_s + coalesce(trials.wait_s, 0) + 60 as longest_elapsed_s,
    (epoch(trials.started_at) - epoch(now())) / 86400 as days_ahead
from trials
left join known_hosts on trials.host_id = known_hosts.host_id
left join repeated
    on trials.batch = repeated.batch
        and trials.trial_id = repeated.trial_id
