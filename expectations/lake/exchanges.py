"""What one exchange of a trial (DISCOVER-OFFER, REQUEST-ACK, ...) must be like."""

from typing import Final

from dropline.expectations.lake.intervals import INTERLEAVED
from dropline.expectations.suite import Suite, above, at_least, between, not_above

# Below this loss nothing hangs on how a loss came about: it is the tightest limit in use, that of the
# partial drop rate (ETSI GS NFV-TST 009; FD.io CSIT).
_NOTABLE_LOSS: Final = 0.005

SUITE: Final = Suite(
    name="lake/exchanges",
    query=f"""
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
            sent,
            received,
            case when is_matched then received end as matched_answers,
            drops,
            case
                when is_matched and received <= sent then abs(drops - (sent - received))
                when is_matched and received > sent then abs(drops)
            end as drops_off,
            rejected,
            least(sent, received, drops, orphans, rejected, non_unique, collected)
                as lowest_exchange_count,
            drop_ratio,
            case when is_matched then drop_ratio end as loss_ratio,
            printed,
            percent,
            if(isfinite(printed_percent), abs(printed_percent - percent), null) as ratio_off,
            -- perfdhcp prints the first exchange with 6 significant digits, the others with 3
            -- decimals up to Kea 2.x and with 3 significant digits from 3.0 on
            1.000001 * case
                when position > 0 and regexp_matches(printed, '^[0-9]+[.][0-9]{{3}}$') then 0.0005
                when percent = 0 then 0
                else 0.5 * pow(10, floor(log10(percent)) - if(position = 0, 5, 2))
            end as half_a_digit,
            case when is_matched and position = 1 then sent end as second_sent,
            first_received,
            interim_sent,
            interim_received,
            in_flight,
            case when is_matched and drops > {_NOTABLE_LOSS} * sent then drops - in_flight end as drops_beyond_flight,
            min_delay_ms,
            avg_delay_ms,
            max_delay_ms,
            stdev_delay_ms,
            -- clocks of files and of shells count whole seconds
            if(elapsed_s >= 0, 1000 * (elapsed_s + 1), null) as longest_possible_delay_ms,
            least(min_delay_ms, avg_delay_ms, max_delay_ms, stdev_delay_ms) as lowest_delay_ms,
            -- each of the three is rounded to 0.001 ms
            (max_delay_ms - min_delay_ms) / 2 + 0.001 as highest_stdev_ms
        from numbered
    """,  # noqa: S608 - a number from this module
    expectations=(
        not_above(
            "matched_answers",
            "sent",
            code="received_exceeds_sent",
            severity="critical",
            reason=("perfdhcp counts an answer only when it matches a packet that was sent, each packet once."),
            detail="{exchange}: received {received} answers to {sent} packets sent",
        ),
        at_least(
            "lowest_exchange_count",
            0,
            code="negative_exchange_count",
            severity="critical",
            reason="Packets are counted from zero upwards.",
            detail="{exchange}: a packet count is {lowest_exchange_count}",
        ),
        not_above(
            "rejected",
            "received",
            code="rejected_exceeds_received",
            severity="critical",
            reason="An answer without a lease is one of the answers received.",
            detail="{exchange}: {rejected} of {received} answers rejected",
        ),
        between(
            "loss_ratio",
            0,
            1,
            code="drop_ratio_out_of_range",
            severity="critical",
            reason="A share of the packets sent lies between none and all of them.",
            detail="{exchange}: the drop ratio is {drop_ratio:.6g}",
        ),
        not_above(
            "min_delay_ms",
            "avg_delay_ms",
            code="min_delay_exceeds_avg",
            severity="critical",
            reason="An average is no smaller than the smallest of its values.",
            detail="{exchange}: min delay {min_delay_ms:.3f} ms, avg delay {avg_delay_ms:.3f} ms",
        ),
        not_above(
            "avg_delay_ms",
            "max_delay_ms",
            code="avg_delay_exceeds_max",
            severity="critical",
            reason="An average is no larger than the largest of its values.",
            detail="{exchange}: avg delay {avg_delay_ms:.3f} ms, max delay {max_delay_ms:.3f} ms",
        ),
        between(
            "drops_off",
            0,
            0,
            code="drops_inconsistent",
            severity="warning",
            reason=("perfdhcp computes drops as sent less received, at least 0; another number was not printed by it."),
            detail="{exchange}: drops {drops}, but sent {sent} and received {received}",
        ),
        not_above(
            "ratio_off",
            "half_a_digit",
            code="drop_ratio_misprinted",
            severity="warning",
            reason="The printed ratio is drops over sent, rounded to the digits shown.",
            detail="{exchange}: printed {printed} %, drops over sent give {percent:.6g} %",
        ),
        not_above(
            "second_sent",
            "first_received",
            code="second_exchange_exceeds_first",
            severity="warning",
            reason="A client goes on to the second exchange only with an answer from the first.",
            detail="{exchange}: sent {sent} after {first_received} answers in the first exchange",
        ),
        at_least(
            "lowest_delay_ms",
            0,
            code="negative_delay",
            severity="warning",
            reason=("No answer comes before its question; the generator's clock was set back during the trial."),
            detail="{exchange}: a delay is {lowest_delay_ms:.3f} ms",
        ),
        not_above(
            "stdev_delay_ms",
            "highest_stdev_ms",
            code="stdev_exceeds_half_range",
            severity="warning",
            reason=("A standard deviation is at most half the range of its values (Popoviciu's inequality)."),
            detail=(
                "{exchange}: std deviation {stdev_delay_ms:.3f} ms of delays "
                "from {min_delay_ms:.3f} to {max_delay_ms:.3f} ms"
            ),
        ),
        not_above(
            "max_delay_ms",
            "longest_possible_delay_ms",
            code="delay_exceeds_trial",
            severity="warning",
            reason="No answer takes longer than the trial in which it was asked for and came.",
            detail="{exchange}: max delay {max_delay_ms:.3f} ms in a trial of {longest_possible_delay_ms:.0f} ms",
        ),
        not_above(
            "interim_sent",
            "sent",
            code="interim_sent_exceeds_final",
            severity="warning",
            reason=f"The final report counts at least what every interim line did in the output {INTERLEAVED}.",
            detail="{exchange}: an interim line has sent {interim_sent}, the final report {sent}",
        ),
        not_above(
            "interim_received",
            "received",
            code="interim_received_exceeds_final",
            severity="warning",
            reason=f"The final report counts at least what every interim line did in the output {INTERLEAVED}.",
            detail="{exchange}: an interim line has received {interim_received}, the final report {received}",
        ),
        above(
            "drops_beyond_flight",
            0,
            code="loss_in_flight",
            severity="info",
            reason=(
                "What was sent within the longest delay before the end may only have been under way when the generator "
                "stopped (rate times delay: Little's law); a longer trial, or perfdhcp's -W, tells it from a loss."
            ),
            detail="{exchange}: {drops} of {sent} dropped; up to {in_flight:.0f} were under way at the end",
        ),
    ),
)
