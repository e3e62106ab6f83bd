"""What the interim lines of a trial must be like; `drops` may fall: it counts what is in flight."""

from typing import Final

from expectations.suite import Suite, at_least, not_above

_INTERLEAVED: Final = "of one process; reports of two processes are mixed in this file"

SUITE: Final = Suite(
    name="lake/intervals",
    query="""
        with
        lines as (
            select
                trials.campaign,
                trials.source_path,
                trials.tool,
                intervals.trial_id,
                intervals.exchange,
                intervals.position,
                intervals.sent,
                intervals.received,
                intervals.drops,
                intervals.rejected,
                lag(intervals.sent) over line as sent_before,
                lag(intervals.received) over line as received_before,
                lead(intervals.position) over line is null as is_last
            from intervals
            inner join trials on intervals.trial_id = trials.trial_id
            window line as (
                partition by intervals.trial_id, intervals.exchange order by intervals.position
            )
        )

        select
            lines.*,
            lines.position + 1 as line,
            least(lines.sent, lines.received, lines.rejected) as lowest_interim_count,
            case when lines.tool = 'perfdhcp' then lines.received end as matched_answers,
            case when lines.is_last then lines.sent end as last_sent,
            case when lines.is_last then lines.received end as last_received,
            exchanges.sent as final_sent,
            exchanges.received as final_received
        from lines
        left join exchanges
            on lines.is_last
            and lines.trial_id = exchanges.trial_id
            and lines.exchange = exchanges.exchange
    """,
    expectations=(
        at_least(
            "lowest_interim_count",
            0,
            code="negative_interim_count",
            severity="critical",
            reason="Packets are counted from zero upwards.",
            detail="{exchange}, interim line {line}: a packet count is {lowest_interim_count}",
        ),
        not_above(
            "sent_before",
            "sent",
            code="sent_counter_falls",
            severity="warning",
            reason=f"A cumulative counter never falls within the output {_INTERLEAVED}.",
            detail="{exchange}, interim line {line}: sent falls from {sent_before} to {sent}",
        ),
        not_above(
            "received_before",
            "received",
            code="received_counter_falls",
            severity="warning",
            reason=f"A cumulative counter never falls within the output {_INTERLEAVED}.",
            detail=("{exchange}, interim line {line}: received falls from {received_before} to {received}"),
        ),
        not_above(
            "matched_answers",
            "sent",
            code="interim_received_exceeds_sent",
            severity="warning",
            reason=("perfdhcp counts an answer only when it matches a packet that was sent, each packet once."),
            detail="{exchange}, interim line {line}: received {received}, sent {sent}",
        ),
        not_above(
            "last_sent",
            "final_sent",
            code="interim_sent_exceeds_final",
            severity="warning",
            reason=(f"The final report counts at least what the last interim line did in the output {_INTERLEAVED}."),
            detail=("{exchange}: the last interim line has sent {sent}, the final report {final_sent}"),
        ),
        not_above(
            "last_received",
            "final_received",
            code="interim_received_exceeds_final",
            severity="warning",
            reason=(f"The final report counts at least what the last interim line did in the output {_INTERLEAVED}."),
            detail=("{exchange}: the last interim line has received {received}, the final report {final_received}"),
        ),
    ),
)
