"""What the comparisons of two capacities must be like: one suite for each of the four tables."""

from typing import Final

from dropline.expectations.suite import Suite, above, between, not_above


def _suite(
    table: str, ratio: str, numerator: str, denominator: str, treatment_id: str, loss_goal: str = "loss_goal"
) -> Suite:
    return Suite(
        name=f"marts/{table}",
        query=f"""
            select
                campaign,
                {treatment_id} as configuration_id,
                {loss_goal} as loss_goal,
                {ratio} as ratio,
                case when {ratio} > 0 then {ratio} end as positive_ratio,
                {numerator} as numerator,
                {denominator} as denominator,
                abs({ratio} * {denominator} / nullif({numerator}, 0) - 1) as relative_error,
                ratio_interpolated,
                ci_low,
                ci_high
            from {table}
        """,  # noqa: S608 - names from this module
        expectations=(
            above(
                "ratio",
                0,
                code=f"{table}_not_positive",
                severity="critical",
                reason="A ratio of two positive capacities is positive.",
                detail=f"{ratio} {{ratio:.6g}}",
            ),
            between(
                "relative_error",
                0,
                1e-9,
                code=f"{table}_not_quotient",
                severity="critical",
                reason=f"The {ratio} is {numerator} over {denominator}, as they stand beside it.",
                detail=(f"{ratio} {{ratio:.6g}}, {numerator} {{numerator:.6g}}, {denominator} {{denominator:.6g}}"),
            ),
            not_above(
                "ci_low",
                "ratio_interpolated",
                code=f"{table}_below_interval",
                severity="critical",
                reason="The interval of a ratio contains the estimate that lies between its ends.",
                detail=f"{ratio} {{ratio_interpolated:.6g}} interpolated, interval from {{ci_low:.6g}}",
            ),
            not_above(
                "ratio_interpolated",
                "ci_high",
                code=f"{table}_above_interval",
                severity="critical",
                reason="The interval of a ratio contains the estimate that lies between its ends.",
                detail=f"{ratio} {{ratio_interpolated:.6g}} interpolated, interval up to {{ci_high:.6g}}",
            ),
            between(
                "positive_ratio",
                0.001,
                1000,
                code=f"{table}_implausible",
                severity="warning",
                reason=("One factor alone does not change a rate a thousandfold; the two tests differ in more."),
                detail=(f"{ratio} {{ratio:.6g}}, {numerator} {{numerator:.6g}}, {denominator} {{denominator:.6g}}"),
            ),
        ),
    )


SUITES: Final = (
    _suite("multithreading_speedup", "speedup", "lps_multi", "lps_single", "configuration_id_multi", "'isc'"),
    _suite("ha_speedup", "ratio", "lps_with_ha", "lps_without_ha", "configuration_id_with_ha", "'isc'"),
    _suite("backend_ratio", "ratio", "rate", "reference_rate", "configuration_id_backend"),
    _suite("ip_version_ratio", "ratio", "rate_v6", "rate_v4", "configuration_id_v6"),
)
