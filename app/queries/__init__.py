"""Queries of the pages: SQL in the files of this folder; answers are Arrow tables with the columns of the marts."""

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

MOST_ROWS: Final = 5000  # that a browser draws smoothly
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

    It may read other tables than those of the warehouse, `given` as for `text`. The parameter `most` is MOST_ROWS
    unless given, `campaigns` empty, which means all. Raises QueryRefused if the warehouse lacks what the query reads.
    """
    return own(warehouse, text(name, **given or {}), {"most": MOST_ROWS, "campaigns": [], **parameters})


def own(warehouse: Warehouse, sql: str, known: Mapping[str, Any] = {}) -> pa.Table:
    """Answer a query of Dropline's own that uses some `known` parameters; QueryRefused advises to build again."""
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
    """Return the newest version and the one before it, and the set-ups of both, compared; none without two versions."""
    asked = {"loss_goal": loss_goal, "campaigns": [*campaigns]}
    if not (known := row(warehouse, "versions_known", **asked)):
        return "", []
    pairs = verdicts(warehouse, "versions_pairs", **known, **asked)
    return known["title"], [pair | {"version": known["version"]} for pair in pairs.to_pylist()]


def changed_series(
    warehouse: Warehouse, loss_goal: str | None, versions: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the series whose level changed for good, but for the changes that the pairs of `since_versions` tell."""
    known = {(pair["configuration_id_a"], pair["version"]) for pair in versions}
    found = ask(warehouse, "trends_series", loss_goal=loss_goal).to_pylist()
    return [each for each in found if each["changes"] and (each["newest_id"], each["changed_with"]) not in known]


def labels(warehouse: Warehouse) -> dict[str, str]:
    """Return a unique text for each configuration_id; measured first, then by text."""
    table = ask(warehouse, "labels")
    return dict(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def loss_goals(warehouse: Warehouse, rate_units: Sequence[str | None] = ()) -> list[dict[str, Any]]:
    """Return the loss goals (loss_goal, loss_limit, loss_basis, description), the units' usual goal first."""
    goals: list[dict[str, Any]] = ask(warehouse, "loss_goals", rate_units=[*rate_units]).to_pylist()
    return goals


def compared(
    warehouse: Warehouse, loss_goal: str | None, configuration: str, others: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the tested ratio of a configuration to each of the others, by its id; a `loss_goal` of None is usual."""
    asked = {"configuration_ids": [configuration, *others], "loss_goal": loss_goal}
    found = verdicts(warehouse, "compare_pairs", **asked).to_pylist()
    return {row["configuration_id_b"]: row for row in found if row["configuration_id_a"] == configuration}


def verdicts(warehouse: Warehouse, pairs: str, **asked: Any) -> pa.Table:
    """Return the tested ratios of the pairs in the file of a query."""
    return ask(warehouse, "compare_verdicts", {"pairs": pairs}, **asked)
