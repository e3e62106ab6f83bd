"""What the interim lines of a trial must be like; `drops` may fall: it counts what is in flight.

Only perfdhcp prints such lines. What they must be like beside the final report stands in exchanges.py.
"""

from typing import Final

from dropline.expectations.suite import Suite, at_least, not_above

INTERLEAVED: Final = "of one process; reports of two processes are mixed in this file"

SUITE: Final = Suite(
    name="lake/intervals",
    origins="trials",
    query="""
        select
            batch,
            trial_id,
            exchange,
            position + 1 as line,
            sent,
            received,
            sent - interval_sent as sent_before,
            received - interval_received as received_before,
            least(sent, received, rejected) as lowest_interim_count
        from intervals
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
            reason=f"A cumulative counter never falls within the output {INTERLEAVED}.",
            detail="{exchange}, interim line {line}: sent falls from {sent_before} to {sent}",
        ),
        not_above(
            "received_before",
            "received",
            code="received_counter_falls",
            severity="warning",
            reason=f"A cumulative counter never falls within the output {INTERLEAVED}.",
            detail=("{exchange}, interim line {line}: received falls from {received_before} to {received}"),
        ),
        not_above(
            "received",
            "sent",
            code="interim_received_exceeds_sent",
            severity="warning",
            reason=("perfdhcp counts an answer only when it matches a packet that was sent, each packet once."),
            detail="{exchange}, interim line {line}: received {received}, sent {sent}",
        ),
    ),
)
