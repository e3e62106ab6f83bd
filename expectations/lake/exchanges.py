"""What one exchange of a trial (DISCOVER-OFFER, REQUEST-ACK, ...) must be like."""

from typing import Final

from expectations.suite import Suite, at_least, between, not_above

SUITE: Final = Suite(
    name="lake/exchanges",
    query="""
        with
        numbered as (
            select
                trials.campaign,
                trials.source_path,
                trials.tool = 'perfdhcp' as is_matched,
                exchanges.*,
                regexp_extract(exchanges.drop_ratio_printed, '[-+.0-9a-zA-Z]+') as printed,
                try_cast(printed as double) as printed_percent,
                100 * exchanges.drops / nullif(exchanges.sent, 0) as percent,
                first_exchange.received as first_received
            from exchanges
            inner join trials on exchanges.trial_id = trials.trial_id
            left join exchanges as first_exchange
                on exchanges.trial_id = first_exchange.trial_id
                and exchanges.position = 1
                and first_exchange.position = 0
        )

        select
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
                when position > 0 and regexp_matches(printed, '^[0-9]+[.][0-9]{3}$') then 0.0005
                when percent = 0 then 0
                else 0.5 * pow(10, floor(log10(percent)) - if(position = 0, 5, 2))
            end as half_a_digit,
            case when is_matched and position = 1 then sent end as second_sent,
            first_received,
            min_delay_ms,
            avg_delay_ms,
            max_delay_ms,
            stdev_delay_ms,
            least(min_delay_ms, avg_delay_ms, max_delay_ms, stdev_delay_ms) as lowest_delay_ms,
            -- each of the three is rounded to 0.001 ms
            (max_delay_ms - min_delay_ms) / 2 + 0.001 as highest_stdev_ms
        from numbered
    """,
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
    ),
)
