"""Comparisons in the report: the effect of threads, HA and backends, with verdicts and fairness."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from dropline.app import headlines, queries, wording
from dropline.report.scope import Row, Scope, grouped
from dropline.report.sections import Block, Cell, Section, Table

TONES: Final = {"faster": "good", "slower": "bad"}
FACTORS: Final = {"threading": "Multithreading", "ha_mode": "High availability", "backend": "Backends"}


def pairs(scope: Scope, figures: Sequence[Row]) -> list[Row]:
    """Return the pairs that differ in one factor, each with its fairness and its ratio as text.

    Interval and verdict refer to this ratio, which compares the rates at the limit if both were estimated.
    """
    of = {row["configuration_id"]: row for row in figures}
    return [
        row | _compared(row, of[row["baseline_configuration_id"]], of[row["treatment_configuration_id"]])
        for row in scope.rows("pairs")
    ]


def _compared(row: Row, baseline: Row, treatment: Row) -> Row:
    shown = "?"  # a ramp ended too soon; one end of the interval may be known
    if row["ratio_interpolated"] is not None:
        shown = wording.ratio(row["ratio_interpolated"], 1)
    elif row["ratio"] is not None:
        shown = wording.ratio(row["rate"], row["reference_rate"], treatment["sign"], baseline["sign"])
    return {"shown": shown, "reference_shown": baseline["shown"], "rate_shown": treatment["shown"]}


def section(scope: Scope, pairs: Sequence[Row]) -> Section:
    """Return one table per factor."""
    by_factor = grouped(pairs, lambda row: str(row["factor"]))
    tables = (_ratios(scope, FACTORS[name], by_factor[name]) for name in FACTORS if name in by_factor)
    drift = wording.drift(*([row[name] for row in pairs] for name in ("is_in_turn", "series_variation")))
    notes = [drift] if drift else []
    return Section("changes", "What threads, high availability and backends change", (*notes, *tables))


def _ratios(scope: Scope, caption: str, rows: Sequence[Row]) -> Table:
    units = ", ".join(sorted({row["rate_unit"] for row in rows}))
    return Table.of(
        f"{caption}: rate of the first divided by the rate of the second, {units}",
        (
            {
                "Set-up": row["set_up"],
                "Campaign": row["campaigns"] if len(scope.campaigns) > 1 else "",
                "Compared": row["comparison"],
                "Rate": row["rate_shown"],
                "Against": row["reference_shown"],
                "Ratio": Cell(row["shown"], tone=TONES.get(row["verdict"], "")),
                "95 % interval": wording.factor_interval(row["ci_low"], row["ci_high"]),
                "Runs": row["runs"],
                "Measured": wording.order(row["is_in_turn"]) or "",
                "Verdict": Cell(row["verdict"] or "-", tone=TONES.get(row["verdict"], "")),
                "p (Holm)": row["p_value_holm"],
                "Fairness": row["fairness_shown"],
            }
            for row in rows
        ),
    )


def between_versions(scope: Scope, title: str, pairs: Sequence[Row]) -> Iterable[Block]:
    """Return how many set-ups changed between versions, and each by how much, from `queries.since_versions`."""
    known = {*scope.ids}
    own = [row for row in pairs if {row["configuration_id_a"], row["configuration_id_b"]} <= known]
    if own:
        yield f"{title}: {headlines.changes(row['verdict'] for row in own)}. {wording.doubts(own)}".strip()
    real = [row for row in own if row["verdict"] in headlines.DECIDED and row["ratio"]]
    if real:
        yield tuple(
            f"{wording.percent(row['ratio'])}{wording.change_interval(row['ci_low'], row['ci_high'])}: "
            f"{scope.labels[row['configuration_id_a']]}"
            for row in sorted(real, key=lambda row: -abs(math.log(row["ratio"])))
        )


def changed_levels(scope: Scope, pairs: Sequence[Row]) -> list[str]:
    """Return the other series with a lasting change of level whose newest result is in the report."""
    own = [each for each in queries.changed_series(scope.warehouse, None, pairs) if each["newest_id"] in scope.ids]
    return [f"{headlines.changed_level(each)}." for each in own[: headlines.MOST_CHANGED]]


def summary(pairs: Sequence[Row]) -> Iterable[Block]:
    """Return a summary: the number of comparisons per verdict, and those with evidence of a difference."""
    if not pairs:
        return
    shown = [row for row in pairs if row["verdict"] in TONES]
    many = f"{len(pairs)} comparisons" if len(pairs) > 1 else "One comparison"
    counts = headlines.changes((row["verdict"] for row in pairs), "pair")
    yield f"{many} of configurations that differ in one factor: {counts}."
    if shown:
        yield tuple(
            f"{row['set_up']}: {row['comparison']} is {row['verdict']}, "
            f"{'by an unknown factor' if row['shown'] == '?' else row['shown']} "
            f"(95 %: {wording.factor_interval(row['ci_low'], row['ci_high'])}); "
            f"{wording.FAIRNESS[row['fairness']].partition(' ')[2]}"  # without the sign
            for row in shown
        )
