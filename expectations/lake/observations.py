"""What a value watched beside a trial must be like."""

from typing import Final

from dropline.expectations.suite import Suite, at_least, at_most, between, one_of

# Times, sizes, counts and rates: none of them is below zero.
_COUNTED: Final = (
    *("ns", "us", "ms", "s", "jiffies", "bit", "bits", "bytes", "kB", "bit/s", "bytes/s", "kB/s", "Mbit/s"),
    *("packets", "packets/s", "frames", "frames/s", "connections", "connections/s", "transactions", "transactions/s"),
    *("queries", "queries/s", "responses", "responses/s", "requests", "requests/s", "leases", "leases/s"),
    *("exchanges", "exchanges/s", "updates/s", "operations/s", "probes", "processes", "deaths"),
)
UNITS: Final = (*_COUNTED, "%", "ratio")

SUITE: Final = Suite(
    name="lake/observations",
    query=f"""
        select
            batch,
            campaign,
            source_path,
            trial_id,
            metric,
            value,
            unit,
            observed_at,
            t_s,
            case when unit in {_COUNTED} then value end as counted_value,
            case when unit = 'ratio' then value end as ratio,
            (epoch(observed_at) - epoch(now())) / 86400 as days_ahead,
            epoch(observed_at) - epoch(timestamptz '2000-01-01 00:00:00+00') as seconds_since_2000
        from observations
    """,  # noqa: S608 - words of this module
    expectations=(
        at_least(
            "counted_value",
            0,
            code="negative_observation",
            severity="warning",
            reason=("Times and counts over a trial grow; a negative one means that the counter was reset."),
            detail="{metric} is {value:.6g} {unit}",
        ),
        between(
            "ratio",
            0,
            1,
            code="observed_ratio_out_of_range",
            severity="warning",
            reason="A share lies between nothing and all; one above 1 may be a percentage.",
            detail="{metric} is {value:.6g}",
        ),
        at_least(
            "t_s",
            0,
            code="observed_before_start",
            severity="warning",
            reason="Time within a trial counts from its start.",
            detail="{metric} was watched {t_s:.6g} s after the start",
        ),
        at_most(
            "days_ahead",
            1,
            code="observed_in_future",
            severity="warning",
            reason="A value of more than a day ahead comes from a machine with a wrong clock; it finds no trial.",
            detail="{metric} was watched at {observed_at}, {days_ahead:.1f} days ahead",
        ),
        at_least(
            "seconds_since_2000",
            0,
            code="observed_before_2000",
            severity="warning",
            reason="A machine without a battery for its clock starts in 1970; such a value finds no trial.",
            detail="{metric} was watched at {observed_at}",
        ),
        one_of(
            "unit",
            UNITS,
            code="observed_unit_unknown",
            severity="info",
            reason="Values of an unusual unit are compared with no others.",
            detail="{metric} has the unit {unit!r}",
        ),
    ),
)
