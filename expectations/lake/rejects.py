"""What the account of refused input must be like."""

from typing import Final

from dropline.expectations.suite import Suite, at_least, present

SUITE: Final = Suite(
    name="lake/rejects",
    query="""
        select
            batch,
            campaign,
            source_path,
            line,
            nullif(trim(reason), '') as reason,
            nullif(trim(hint), '') as hint
        from rejects
    """,
    expectations=(
        at_least(
            "line",
            1,
            code="reject_line_below_one",
            severity="warning",
            reason="Lines count from 1; without its place nobody finds what was refused.",
            detail="the line is said to be {line}",
        ),
        present(
            "reason",
            code="reject_reason_missing",
            severity="warning",
            reason="Whoever is refused wants to know why.",
            detail="line {line} was refused without a reason",
        ),
        present(
            "hint",
            code="reject_hint_missing",
            severity="warning",
            reason="Whoever is refused wants to know what to do about it.",
            detail="line {line} was refused ({reason}), and nothing says what to do",
        ),
    ),
)
