"""What the table of leases per second must be like, seen as one row: there is something in it."""

from typing import Final

from dropline.expectations.suite import Suite, not_above

SUITE: Final = Suite(
    name="marts/leases_per_second",
    query="""
        select
            count(*) as usable_trials,
            least(count(*), 1) as expected_rows,
            (select count(*) from leases_per_second where origin = 'measured') as measured_rows
        from trials
        where
            completed
            and offered_rate is not null
            and rate_unit = 'leases/s'
            and loss_packet is not null
    """,
    expectations=(
        not_above(
            "expected_rows",
            "measured_rows",
            code="leases_per_second_empty",
            severity="critical",
            reason=("Completed DHCP trials with an offered rate give at least one row, be it only a bound."),
            detail="{usable_trials} usable trials gave {measured_rows} rows",
        ),
    ),
)
