"""What a trial of the lake must be like."""

from typing import Final

from expectations.suite import Suite, above, at_least, at_most, between, not_above, one_of, present

PROTOCOLS: Final = (
    *("DHCPv4", "DHCPv6", "DNS", "DNS UPDATE (RFC 2136)"),
    *("HTTP", "HTTP API", "HTTPS", "TLS", "TCP", "UDP"),
)

SUITE: Final = Suite(
    name="lake/trials",
    query="""
        select
            nullif(trim(trials.campaign), '') as campaign,
            nullif(trim(trials.source_path), '') as source_path,
            nullif(trim(trials.trial_id), '') as trial_id,
            nullif(trim(trials.tool), '') as tool,
            count(*) over (partition by trials.trial_id) as rows_of_trial,
            trials.protocol,
            least(trials.sent, trials.received, trials.dropped, trials.malformed) as lowest_count,
            least(trials.offered_rate, trials.achieved_rate) as lowest_rate,
            trials.sent,
            trials.received,
            case when trials.tool = 'perfdhcp' then trials.received end as matched_answers,
            case when trials.tool <> 'perfdhcp' then trials.received end as unmatched_answers,
            case when trials.completed then trials.sent end as sent_when_completed,
            trials.achieved_rate,
            trials.rate_unit,
            if(trials.achieved_rate is null, '', trials.rate_unit) as needed_rate_unit,
            trials.offered_rate,
            -- an avalanche offers all at once, whatever -r says
            case
                when not concat_ws(' ', trials.scenario, trials.command) like '%avalanche%'
                    then 1.02 * trials.offered_rate + coalesce(2 / nullif(trials.duration_s, 0), 0)
            end as highest_plausible_rate,
            known_hosts.nic_speed_mbps,
            -- Bits that one unit of the rate takes at least in each direction of the link.
            -- Ethernet adds 14 (header) + 4 (FCS) + 8 (preamble) + 12 (gap) = 38 bytes to a payload
            -- of 46 or more; IPv4 and UDP add 28, IPv6 and UDP 48.
            -- DHCPv4: 236 (RFC 2131) + 4 (cookie) + 3 (message type) + 1 (end) + 28 + 38 = 310
            -- DHCPv6: 4 (RFC 8415) + 14 (client id, DUID-LL) + 16 (IA_NA) + 48 + 38 = 120 bytes
            -- DNS: 12 + 5 (question for the root) + 28 = 45, filled up to 46, + 38 = 84 bytes
            -- 1 Gbit/s is 201,612 DHCPv4 or 520,833 DHCPv6 leases/s, or 1,488,095 queries/s
            if(known_hosts.nic_speed_mbps > 0, known_hosts.nic_speed_mbps, null) * 1e6 / case
                when trials.rate_unit = 'leases/s' and trials.protocol = 'DHCPv4' then 2 * 310 * 8
                when trials.rate_unit = 'leases/s' and trials.protocol = 'DHCPv6' then 2 * 120 * 8
                when trials.rate_unit = 'queries/s' then 84 * 8
                when trials.rate_unit = 'Mbit/s' then 1e6
            end as wire_rate,
            trials.duration_s,
            trials.threads,
            trials.started_at,
            trials.ended_at,
            epoch(trials.ended_at) - epoch(trials.started_at) as elapsed_s,
            (epoch(trials.started_at) - epoch(now())) / 86400 as days_ahead
        from trials
        left join known_hosts on trials.host_id = known_hosts.host_id
    """,
    expectations=(
        present(
            "trial_id",
            code="trial_id_missing",
            severity="critical",
            reason="Without its key a trial cannot be told from others.",
            detail="the trial has no trial_id",
        ),
        present(
            "campaign",
            code="campaign_missing",
            severity="critical",
            reason="Every trial belongs to a campaign; its file is identified by it.",
            detail="the trial has no campaign",
        ),
        present(
            "source_path",
            code="source_path_missing",
            severity="critical",
            reason="A figure that leads back to no file can be neither checked nor superseded.",
            detail="the trial has no source_path",
        ),
        present(
            "tool",
            code="tool_missing",
            severity="critical",
            reason="What a counter means depends on the generator that printed it.",
            detail="the trial has no tool",
        ),
        between(
            "rows_of_trial",
            1,
            1,
            code="trial_id_repeated",
            severity="critical",
            reason="A trial that stands twice in a batch would count twice in every average.",
            detail="the trial_id stands in {rows_of_trial} rows of the batch",
        ),
        at_least(
            "lowest_count",
            0,
            code="negative_count",
            severity="critical",
            reason="Packets are counted from zero upwards.",
            detail="a packet count is {lowest_count}",
        ),
        at_least(
            "lowest_rate",
            0,
            code="negative_rate",
            severity="critical",
            reason="A rate is a count over a time; neither is negative.",
            detail="a rate is {lowest_rate:.6g} {rate_unit}",
        ),
        not_above(
            "matched_answers",
            "sent",
            code="trial_received_exceeds_sent",
            severity="critical",
            reason=("perfdhcp counts an answer only when it matches a packet that was sent, each packet once."),
            detail="received {received} answers to {sent} packets sent",
        ),
        not_above(
            "unmatched_answers",
            "sent",
            code="answers_duplicated",
            severity="warning",
            reason=(
                "A generator that counts every datagram gets more answers than it sent queries "
                "only when answers are duplicated on the way or by the server; its loss is then "
                "understated."
            ),
            detail="received {received} answers to {sent} packets sent",
        ),
        above(
            "sent_when_completed",
            0,
            code="nothing_sent",
            severity="warning",
            reason="A completed trial that sent nothing measured nothing.",
            detail="the report counts {sent} packets sent",
        ),
        one_of(
            "protocol",
            PROTOCOLS,
            code="protocol_unknown",
            severity="warning",
            reason="An unusual name keeps the trial apart from all others of its protocol.",
            detail="protocol {protocol!r} is none of " + ", ".join(PROTOCOLS),
        ),
        present(
            "needed_rate_unit",
            code="rate_unit_missing",
            severity="warning",
            reason="A rate without a unit can be compared with nothing.",
            detail="the achieved rate {achieved_rate:.6g} has no unit",
        ),
        not_above(
            "achieved_rate",
            "highest_plausible_rate",
            code="achieved_exceeds_offered",
            severity="warning",
            reason=(
                "No more exchanges complete than are begun; 2 % and two packets are left for the "
                "generator's timing and rounding."
            ),
            detail="achieved {achieved_rate:.6g}/s of {offered_rate:.6g}/s offered",
        ),
        not_above(
            "achieved_rate",
            "wire_rate",
            code="rate_exceeds_wire",
            severity="warning",
            reason=(
                "The link of the server bounds the rate: in each direction a DHCPv4 lease takes at "
                "least two packets of 310 bytes, a DHCPv6 lease two of 120, a DNS query one of 84, "
                "Ethernet overhead included."
            ),
            detail=(
                "achieved {achieved_rate:.6g} {rate_unit}; {nic_speed_mbps:.6g} Mbit/s carry at most {wire_rate:.6g}"
            ),
        ),
        above(
            "duration_s",
            0,
            code="duration_not_positive",
            severity="warning",
            reason="A rate needs a time in which it was reached.",
            detail="the load was offered for {duration_s:.6g} s",
        ),
        at_least(
            "elapsed_s",
            0,
            code="ends_before_start",
            severity="warning",
            reason="A trial ends after it began, unless the clock was set in between.",
            detail="started at {started_at}, ended at {ended_at}",
        ),
        at_most(
            "days_ahead",
            1,
            code="starts_in_future",
            severity="warning",
            reason=("A trial that lies more than a day ahead comes from a machine with a wrong clock."),
            detail="started at {started_at}, {days_ahead:.1f} days ahead",
        ),
        at_least(
            "threads",
            1,
            code="threads_below_one",
            severity="warning",
            reason=("A server that answers has at least one thread; 0 is often a configuration's word for automatic."),
            detail="the server is said to have {threads} threads",
        ),
    ),
)
