"""Queries of the pages: SQL in the files of this folder; answers are Arrow tables with the columns of the marts."""

from __future__ import annotations

import re
import textwrap
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

USUAL_GOALS: Final[Mapping[str, Any]] = {
    "dhcp_units": ["leases/s", "exchanges/s"],
    "dhcp_goal": "isc",
    "other_goal": "permille",  # for DNS, as its operators ask for, and for load balancers
}
MOST_ROWS: Final = 5000  # that a browser draws smoothly
_SHARED: Final[Mapping[str, Any]] = {**USUAL_GOALS, "most": MOST_ROWS}
FOLDER: Final = Path(__file__).parent
_WITH: Final = re.compile(r"\A(?:--.*\n)*(?:with\s+)?")  # DuckDB allows a comma after the last table
_PARAMETER: Final = re.compile(r"\$(\w+)")


@cache
def text(name: str, **given: str) -> str:
    """Return the query in the file `name`.sql.

    `given` are the tables that it reads besides those of the warehouse, each the file of a query; in this order.
    """
    question = FOLDER.joinpath(f"{name}.sql").read_text("utf-8")
    tables = [f"{table} as (\n\n{textwrap.indent(text(file), '    ')}\n),\n\n" for table, file in given.items()]
    return _WITH.sub(lambda _: f"with\n\n{''.join(tables)}", question) if given else question


def ask(warehouse: Warehouse, name: str, given: Mapping[str, str] | None = None, /, **parameters: Any) -> pa.Table:
    """Answer the query in `name`.sql, whose first lines say what it returns.

    It may read other tables than those of the warehouse, `given` as for `text`. Of the parameters, those of
    `USUAL_GOALS` and `most`, MOST_ROWS unless given, need not be named.
    """
    sql = text(name, **given or {})
    known = {**_SHARED, **parameters}
    return warehouse.query(sql, {each: known[each] for each in _PARAMETER.findall(sql)})


def row(warehouse: Warehouse, name: str, **parameters: Any) -> dict[str, Any]:
    """Return the first row of the answer to a query; empty if there is none."""
    return next(iter(ask(warehouse, name, **parameters).to_pylist()), {})


def labels(warehouse: Warehouse) -> dict[str, str]:
    """Return a unique text for each configuration_id; measured first, then by text."""
    table = ask(warehouse, "labels")
    return dict(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def loss_goals(warehouse: Warehouse, rate_units: Sequence[str | None] = ()) -> list[dict[str, Any]]:
    """Return the loss goals (loss_goal, loss_limit, loss_basis, description), the units' usual goal first."""
    goals: list[dict[str, Any]] = ask(warehouse, "loss_goals", usual=usual_goal(*rate_units)).to_pylist()
    return goals


def usual_goal(*rate_units: str | None) -> str:
    """Return the usual loss goal for rates in these units: ISC's if DHCP is among them."""
    others = rate_units and None not in rate_units and not {*rate_units} & {*USUAL_GOALS["dhcp_units"]}
    return str(USUAL_GOALS["other_goal" if others else "dhcp_goal"])


def loss_by_rate(
    warehouse: Warehouse, configuration_ids: Sequence[str], basis: str, *, run_id: str | None = None, each_run: bool
) -> pa.Table:
    """Return loss ratio (0..1) and achieved rate over the offered rate.

    One row per run and step, or per configuration and step (the median run, with lowest_loss_ratio and
    highest_loss_ratio of all runs), always the latter if single runs would be too many rows for a chart.
    """
    return ask(
        warehouse,
        "loss_by_rate",
        configuration_ids=list(configuration_ids),
        basis=basis,
        run_id=run_id,
        each_run=each_run,
    )


def are_in_turn(warehouse: Warehouse, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    """Return for each pair of configurations whether their runs alternated, instead of running one after the other.

    Pairs are missing if one side has fewer than two runs, or a run without a start time.
    """
    found = ask(warehouse, "are_in_turn", ones=[one for one, _ in pairs], others=[other for _, other in pairs])
    return {(row["one"], row["other"]): row["is_in_turn"] for row in found.to_pylist()}


def verdicts(warehouse: Warehouse, pairs: str, **which: Any) -> pa.Table:
    """Compare the pairs of a query, `compare_pairs` or `versions_pairs`, first to second; `which` are its parameters.

    The SQL function `compare` tests a single pair. This one tests all pairs, so it corrects the p values for their
    number (Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979).

    Returns:
        configuration_id_a and _b in the order of the pairs, ratio (of the rates at the limit if both were estimated,
        else of the figures), ci_low, ci_high, p_value, p_value_holm, runs_a, runs_b, rate_a, rate_b, rate_unit and
        verdict.
    """
    return ask(warehouse, "compare_verdicts", {"pairs": pairs}, **which)
