"""Queries of the pages: the SQL files of this folder, answered as Arrow tables with the columns of the marts."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dropline.app.warehouse import QueryRefused, Warehouse

if TYPE_CHECKING:
    import pyarrow as pa

MOST_ROWS: Final = 5000  # a browser still draws these smoothly
FOLDER: Final = Path(__file__).parent
_WITH: Final = re.compile(r"\A(?:--.*\n)*(?:with\s+)?")  # DuckDB allows a comma after the last table
_PARAMETER: Final = re.compile(r"\$(\w+)")


@cache
def text(name: str, **given: str) -> str:
    """Return the query in the file `name`.sql.

    `given` maps the tables that it reads besides those of the warehouse to the files of their queries, in this order.
    """
    question = FOLDER.joinpath(f"{name}.sql").read_text("utf-8")
    tables = [f"{table} as (\n\n{textwrap.indent(text(file), '    ')}\n),\n\n" for table, file in given.items()]
    return _WITH.sub(lambda _: f"with\n\n{''.join(tables)}", question) if given else question


def ask(warehouse: Warehouse, name: str, given: Mapping[str, str] | None = None, /, **parameters: Any) -> pa.Table:
    """Answer the query in `name`.sql, whose first lines describe its rows.

    `given` are further tables, as for `text`; the parameters `most` and `campaigns` are by default MOST_ROWS and empty,
    which means all. Raise QueryRefused if the warehouse lacks a table or column that the query reads.
    """
    return own(warehouse, text(name, **given or {}), {"most": MOST_ROWS, "campaigns": [], **parameters})


def own(warehouse: Warehouse, sql: str, known: Mapping[str, Any] = {}) -> pa.Table:
    """Answer one of Dropline's own queries, which may use `known` parameters; QueryRefused advises to build again."""
    try:
        return warehouse.query(sql, {each: known[each] for each in _PARAMETER.findall(sql)})
    except QueryRefused as error:
        advice = "If an earlier version of Dropline built this warehouse, type `dropline build`."
        raise QueryRefused(f"{advice} {str(error).splitlines()[0]}") from error


def row(warehouse: Warehouse, name: str, **parameters: Any) -> dict[str, Any]:
    """Return the first row of the answer to a query; empty if there is none."""
    return next(iter(ask(warehouse, name, **parameters).to_pylist()), {})


def since_versions(
    warehouse: Warehouse, loss_goal: str | None, campaigns: Sequence[str] = ()
) -> tuple[str, list[dict[str, Any]]]:
    """Return a title with the newest two versions, and the pairs of set-ups measured with both; empty if none."""
    asked = {"loss_goal": loss_goal, "campaigns": [*campaigns]}
    if not (known := row(warehouse, "versions_known", **asked)):
        return "", []
    pairs = verdicts(warehouse, "versions_pairs", **known, **asked)
    return known["title"], [pair | {"version": known["version"]} for pair in pairs.to_pylist()]


def changed_series(
    warehouse: Warehouse, loss_goal: str | None, versions: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the series with a lasting change of level that no pair of `since_versions` shows already."""
    known = {(pair["configuration_id_a"], pair["version"]) for pair in versions}
    found = ask(warehouse, "trends_series", loss_goal=loss_goal).to_pylist()
    return [each for each in found if each["changes"] and (each["newest_id"], each["changed_with"]) not in known]


def labels(warehouse: Warehouse) -> dict[str, str]:
    """Return a unique text for each configuration_id; measured ones first, then by text."""
    table = ask(warehouse, "labels")
    return dict(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def loss_goals(warehouse: Warehouse, rate_units: Sequence[str | None] = ()) -> list[dict[str, Any]]:
    """Return the loss goals (loss_goal, loss_limit, loss_basis, description), the units' usual goal first."""
    goals: list[dict[str, Any]] = ask(warehouse, "loss_goals", rate_units=[*rate_units]).to_pylist()
    return goals


def compared(
    warehouse: Warehouse, loss_goal: str | None, configuration: str, others: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the tested ratio of a configuration to each of the others, by id; None means the usual loss goal."""
    asked = {"configuration_ids": [configuration, *others], "loss_goal": loss_goal}
    found = verdicts(warehouse, "compare_pairs", **asked).to_pylist()
    return {row["configuration_id_b"]: row for row in found if row["configuration_id_a"] == configuration}


def verdicts(warehouse: Warehouse, pairs: str, **asked: Any) -> pa.Table:
    """Return the tested ratios of the pairs in the file of a query."""
    return ask(warehouse, "compare_verdicts", {"pairs": pairs}, **asked)
