"""The questions of the page that compares: capacities at any limit, verdicts on pairs, and what else differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dropline.app.queries import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def run_capacities_at(warehouse: Warehouse, configuration_ids: Sequence[str], limit: float, basis: str) -> pa.Table:
    """Return the capacity of each run at a limit of one's own, like `queries.run_capacities` at a named goal.

    Args:
        warehouse: the warehouse.
        configuration_ids: whose runs.
        limit: loss ratio, 0..1, that may not be exceeded.
        basis: worst_exchange, packet or lease.
    """
    return warehouse.query(
        """
        select configuration_id, run_id, repetition, rate, rate_unit, status
        from run_rates_at($limit, loss_basis := $basis, configuration_ids := $ids)
        where rate is not null
        order by configuration_id, repetition, run_id
        limit $most
        """,
        {"ids": list(configuration_ids), "limit": limit, "basis": basis, "most": MOST_ROWS},
    )


def capacities_at(warehouse: Warehouse, configuration_ids: Sequence[str], limit: float, basis: str) -> pa.Table:
    """Return what measured configurations sustain at a limit of one's own, fastest first, like `queries.capacities`.

    Nothing is judged at such a limit: quality and findings are empty.

    Args:
        warehouse: the warehouse.
        configuration_ids: which.
        limit: loss ratio, 0..1, that may not be exceeded.
        basis: worst_exchange, packet or lease.
    """
    return warehouse.query(
        """
        select
            configurations.* exclude (runs, trials, rate_unit),
            capacities.rate_unit,
            capacities.runs,
            capacities.rate,
            capacities.rate_at_most,
            capacities.interval_kind,
            capacities.ci_low,
            capacities.ci_high,
            capacities.rate_interpolated,
            capacities.status,
            null as qualifier,
            null as quality,
            null as findings
        from lps_at($limit, loss_basis := $basis, configuration_ids := $ids) as capacities
        inner join configurations using (configuration_id)
        order by capacities.rate desc nulls last, configuration_id
        """,
        {"ids": list(configuration_ids), "limit": limit, "basis": basis},
    )


def verdicts(warehouse: Warehouse, loss_goal: str, configuration_ids: Sequence[str]) -> pa.Table:
    """Return each pair of configurations, the first over the second: ratio, interval, p value, verdict, fairness.

    The function `compare` tests one pair. Here all pairs are looked at together, so that its p values are adjusted
    (Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979) before the verdict is given.

    Returns:
        configuration_id_a and _b in the order chosen, ratio (of the rates at the limit where both were estimated, else
        of the figures), ci_low, ci_high, p_value, p_value_holm, runs_a, runs_b, verdict,
        and of `differences`: grade (same where nothing known differs), unfair, unknown and minor (counts).
    """
    return warehouse.query(
        """
        with

        chosen as (

            select unnest($ids) as id, generate_subscripts($ids, 1) as place

        ),

        pairs as (

            select one.id as a, other.id as b, one.place as place_a, other.place as place_b
            from chosen as one
            inner join chosen as other on one.place < other.place

        ),

        compared as (

            select pairs.*, tested.*
            from pairs, lateral (select * from compare(pairs.a, pairs.b) where loss_goal = $loss_goal) as tested

        ),

        numbered as (

            select
                *,
                row_number() over (order by p_value nulls last, place_a, place_b) as test,
                count(p_value) over () as tests
            from compared

        ),

        adjusted as (

            select
                *,
                case when p_value is not null then
                    max(least(1, (tests - test + 1) * p_value)) over (order by test rows unbounded preceding)
                end as p_value_holm
            from numbered

        ),

        fairness as (

            select
                pairs.a,
                pairs.b,
                count(*) filter (where grade = 'unfair') as unfair,
                count(*) filter (where grade = 'unknown') as unknown,
                count(*) filter (where grade = 'minor') as minor
            from pairs, lateral (select grade from differences(pairs.a, pairs.b)) as differing
            group by pairs.a, pairs.b

        )

        select
            pairs.a as configuration_id_a,
            pairs.b as configuration_id_b,
            coalesce(ratio_interpolated, ratio) as ratio,
            ci_low, ci_high, p_value, p_value_holm, runs_a, runs_b,
            case
                when p_value_holm is null then 'not testable'
                when verdict in ('faster', 'slower') and p_value_holm > 0.05 then 'probably ' || verdict
                else verdict
            end as verdict,
            case
                when unfair > 0 then 'unfair' when unknown > 0 then 'unknown' when minor > 0 then 'minor' else 'same'
            end as grade,
            coalesce(unfair, 0) as unfair,
            coalesce(unknown, 0) as unknown,
            coalesce(minor, 0) as minor
        from pairs
        left join adjusted on pairs.a = adjusted.a and pairs.b = adjusted.b
        left join fairness on pairs.a = fairness.a and pairs.b = fairness.b
        order by pairs.place_a, pairs.place_b
        """,
        {"ids": list(configuration_ids), "loss_goal": loss_goal},
    )


def differences(warehouse: Warehouse, one: str, other: str) -> pa.Table:
    """Return what differs between two configurations, worst first: aspect, item, value_a, value_b, grade, why."""
    return warehouse.query("select * from differences($one, $other)", {"one": one, "other": other})


def fairness(warehouse: Warehouse, one: str, other: str) -> pa.Table:
    """Return how fair a pair is as a test of one factor: factor, grade, differences besides it, unstated_aspects.

    None where the two differ in several factors, so that the warehouse compares them in none.
    """
    return warehouse.query(
        """
        select distinct factor, grade, differences, unstated_aspects from comparison_fairness
        where (baseline_configuration_id = $one and treatment_configuration_id = $other)
            or (baseline_configuration_id = $other and treatment_configuration_id = $one)
        order by factor
        """,
        {"one": one, "other": other},
    )
