"""What a published figure that somebody has brought must be like."""

from typing import Final

from dropline.expectations.suite import Suite, above, at_least, between, not_above, one_of

QUALIFIERS: Final = ("exact", "approx", "at_least", "at_most", "greater_than", "less_than")

SUITE: Final = Suite(
    name="lake/figures",
    query="""
        select
            batch,
            campaign,
            source_path,
            figure_id,
            metric,
            value,
            unit,
            if(ends_with(metric, '_per_second') or metric = 'throughput_mbps', value, null) as rate,
            qualifier,
            protocol,
            ip_version,
            ip_version - case protocol when 'DHCPv4' then 4 when 'DHCPv6' then 6 end as ip_version_off,
            threads,
            repetitions,
            discard_lowest,
            discard_highest,
            repetitions - coalesce(discard_lowest, 0) - coalesce(discard_highest, 0) as repetitions_kept,
            least(drop_time_s, duration_s, offered_rate) as lowest_condition,
            loss_limit_ratio,
            source_date,
            test_date,
            try_cast(left(source_date, 4) as integer) as source_year,
            try_cast(left(test_date, 4) as integer) as test_year,
            year(current_date) as this_year
        from figures
    """,
    expectations=(
        above(
            "rate",
            0,
            code="figure_not_positive",
            severity="warning",
            reason="A capacity of nothing is no capacity; a dash or a gap was read as a number.",
            detail="figure {figure_id}: {metric} is {value:.6g} {unit}",
        ),
        one_of(
            "qualifier",
            QUALIFIERS,
            code="figure_qualifier_unknown",
            severity="warning",
            reason="Whether a figure is exact or a bound decides what may be computed from it.",
            detail="figure {figure_id} is {qualifier!r}, none of " + ", ".join(QUALIFIERS),
        ),
        between(
            "ip_version_off",
            0,
            0,
            code="figure_ip_version_contradicts_protocol",
            severity="warning",
            reason="DHCPv4 (RFC 2131) runs over IPv4 only, DHCPv6 (RFC 8415) over IPv6 only.",
            detail="figure {figure_id}: {protocol} over IPv{ip_version}",
        ),
        at_least(
            "threads",
            1,
            code="figure_threads_below_one",
            severity="warning",
            reason="A server that answers has at least one thread.",
            detail="figure {figure_id}: {threads} threads",
        ),
        between(
            "repetitions",
            1,
            10_000,
            code="figure_repetitions_implausible",
            severity="warning",
            reason="A figure comes from at least one test; beyond ten thousand the number means something else.",
            detail="figure {figure_id}: {repetitions} repetitions",
        ),
        at_least(
            "repetitions_kept",
            1,
            code="figure_discards_all",
            severity="warning",
            reason="An average needs a test that is not left out.",
            detail=(
                "figure {figure_id}: of {repetitions} repetitions {discard_lowest} lowest and {discard_highest} "
                "highest left out"
            ),
        ),
        at_least(
            "lowest_condition",
            0,
            code="figure_condition_negative",
            severity="warning",
            reason="Times and rates are not negative.",
            detail="figure {figure_id}: drop time, duration or offered rate is {lowest_condition:.6g}",
        ),
        between(
            "loss_limit_ratio",
            0,
            1,
            code="figure_loss_limit_out_of_range",
            severity="warning",
            reason="A share lies between nothing and all; one above 1 may be a percentage.",
            detail="figure {figure_id}: the loss limit is {loss_limit_ratio:.6g}",
        ),
        not_above(
            "source_year",
            "this_year",
            code="figure_from_future",
            severity="warning",
            reason="What is published was published by now; the date is misspelt.",
            detail="figure {figure_id}: published {source_date}",
        ),
        at_least(
            "source_year",
            1983,
            code="figure_before_dns",
            severity="warning",
            reason="DNS (RFC 882) is of 1983, DHCP and load balancers are younger; the date is misspelt.",
            detail="figure {figure_id}: published {source_date}",
        ),
        not_above(
            "test_year",
            "source_year",
            code="figure_tested_after_publication",
            severity="warning",
            reason="A test is reported after it was run.",
            detail="figure {figure_id}: tested {test_date}, published {source_date}",
        ),
    ),
)
