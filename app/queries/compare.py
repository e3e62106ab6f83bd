"""Queries that compare pairs of configurations, of the visitor's choice or of two versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dropline.app.queries import ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def verdicts(warehouse: Warehouse, loss_goal: str, configuration_ids: Sequence[str]) -> pa.Table:
    """Compare each pair of configurations, first to second: ratio, interval, p value and verdict.

    The SQL function `compare` tests a single pair. This one tests all pairs, so it corrects the p values for their
    number (Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979).

    Returns:
        configuration_id_a and _b in the order chosen, ratio (of the rates at the limit if both were estimated, else of
        the figures), ci_low, ci_high, p_value, p_value_holm, runs_a, runs_b, rate_a, rate_b, rate_unit and verdict.
    """
    pairs = {"pairs": "compare_pairs"}
    return ask(warehouse, "compare_verdicts", pairs, configuration_ids=list(configuration_ids), loss_goal=loss_goal)


def versions(warehouse: Warehouse, loss_goal: str | None = None) -> list[dict[str, Any]]:
    """Return pairs of versions that were measured with the same set-ups, the newest measurement first.

    Columns: product, version, previous_version, set_ups. Without a loss goal, use the usual goal of each unit.
    """
    rows: list[dict[str, Any]] = ask(warehouse, "versions_known", loss_goal=loss_goal).to_pylist()
    return rows


def version_changes(warehouse: Warehouse, loss_goal: str | None, known: Mapping[str, Any]) -> pa.Table:
    """Compare the newer with the older version for each set-up of a row of `versions`; columns as in `verdicts`."""
    return ask(warehouse, "compare_verdicts", {"pairs": "versions_pairs"}, **{**known, "loss_goal": loss_goal})
