"""What a trial of the lake must be like."""

from typing import Final

from dropline.expectations.suite import Suite, above, at_least, at_most, between, not_above, one_of, present

PROTOCOLS: Final = (
    *("DHCPv4", "DHCPv6", "DNS", "DNS UPDATE (RFC 2136)"),
    *("HTTP", "HTTP API", "HTTPS", "TLS", "TCP", "UDP"),
)

# What one unit of a rate takes at least of the busier direction of a full-duplex Ethernet, in bytes.
# Around the payload of a frame, 46 bytes or more, stand 14 of header, 4 of check sequence, 8 of preamble and 12 of
# gap (IEEE 802.3); IPv4 and UDP take 28 of the payload (RFC 791, 768), IPv6 and UDP 48 (RFC 8200).
ETHERNET: Final = 14 + 4 + 8 + 12
FRAME_BYTES: Final = 46 + ETHERNET  # a DNS message: 12 of header and 5 of question at least (RFC 1035) + 28 < 46
# DHCPv4 (RFC 2131, tables 1 and 5; RFC 2132): 236 of header, 4 of cookie, 1 of the end option. A server's OFFER and ACK
# carry message type (3), lease time (6) and server identifier (6): no less than a client's DISCOVER and REQUEST.
DORA_BYTES: Final = 2 * (236 + 4 + 3 + 6 + 6 + 1 + 28 + ETHERNET)
# DHCPv6 (RFC 8415): 4 of header; client and server identifier (14 each with a DUID-LL of Ethernet) and an IA_NA (16)
# with its address (28) in a server's ADVERTISE and REPLY: no less than in a client's SOLICIT and REQUEST together.
SARR_BYTES: Final = 2 * (4 + 14 + 14 + 16 + 28 + 48 + ETHERNET)

SUITE: Final = Suite(
    name="lake/trials",
    query=f"""
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
            case
                when
                    known_hosts.nic_speed_mbps > 0
                    and not regexp_matches(coalesce(trials.command, ''), '127[.]0[.]|::1|-l lo\\b')
                    then known_hosts.nic_speed_mbps * 1e6 / case
                        when trials.rate_unit = 'leases/s' and trials.protocol = 'DHCPv4' then 8 * {DORA_BYTES}
                        when trials.rate_unit = 'leases/s' and trials.protocol = 'DHCPv6' then 8 * {SARR_BYTES}
                        when trials.rate_unit in ('queries/s', 'updates/s', 'frames/s', 'packets/s')
                            then 8 * {FRAME_BYTES}
                        when trials.rate_unit = 'Mbit/s' then 1e6
                    end
            end as wire_rate,
            trials.duration_s,
            trials.threads,
            trials.started_at,
            trials.ended_at,
            if(trials.threading = 'single', trials.threads, null) as single_threads,
            epoch(trials.ended_at) - epoch(trials.started_at) as elapsed_s,
            -- A lease takes two packets, all else one. A second is left for clocks that count whole ones.
            case
                when trials.completed
                    then 0.9 * least(trials.duration_s, trials.sent / 2 / nullif(trials.offered_rate, 0)) - 1
            end as shortest_elapsed_s,
            1.5 * trials.duration_s + coalesce(trials.wait_s, 0) + 60 as longest_elapsed_s,
            (epoch(trials.started_at) - epoch(now())) / 86400 as days_ahead,
            epoch(trials.started_at) - epoch(timestamptz '2000-01-01 00:00:00+00') as seconds_since_2000
        from trials
        left join known_hosts on trials.host_id = known_hosts.host_id
        left join (
            select batch, trial_id, count(*) as rows_of_trial
            from trials
            where hash(batch, trial_id) in (select hash(batch, trial_id) from trials group by all having count(*) > 1)
            group by batch, trial_id
            having count(*) > 1
        ) as repeated
            on trials.batch = repeated.batch
            and trials.trial_id = repeated.trial_id
    """,  # noqa: S608 - numbers from this module
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
                "The link bounds the rate: in its busier direction a DHCPv4 lease takes at least two packets of "
                f"{DORA_BYTES // 2} bytes, a DHCPv6 lease two of {SARR_BYTES // 2}, a DNS query one of {FRAME_BYTES}, "
                "Ethernet's overhead included (RFC 2131, 8415, 1035; IEEE 802.3)."
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
        not_above(
            "shortest_elapsed_s",
            "elapsed_s",
            code="elapsed_too_short",
            severity="warning",
            reason="The packets that were sent take their time at the offered rate; the two clocks contradict that.",
            detail="{elapsed_s:.1f} s from start to end, but the load was offered for {duration_s:.6g} s",
        ),
        not_above(
            "elapsed_s",
            "longest_elapsed_s",
            code="elapsed_too_long",
            severity="warning",
            reason=(
                "A trial ends when its load does, give or take half of it and a minute; a longer one hung, or a clock "
                "was set."
            ),
            detail="{elapsed_s:.1f} s from start to end, but the load was offered for {duration_s:.6g} s",
        ),
        at_least(
            "seconds_since_2000",
            0,
            code="starts_before_2000",
            severity="warning",
            reason="No generator known here is that old; a machine without a battery for its clock starts in 1970.",
            detail="started at {started_at}",
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
        at_most(
            "single_threads",
            1,
            code="single_threaded_with_threads",
            severity="warning",
            reason="A server is either single-threaded or has several threads; two sources contradict each other.",
            detail="single-threaded, with {threads} threads",
        ),
    ),
)
