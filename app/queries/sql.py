"""What the SQL page offers beside the editor: worked questions, tables, columns and functions, with their meaning."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dropline.app.queries.files import text

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse

ANALYSES: Final = Path(__file__).parents[2] / "analyses"
_REF: Final = re.compile(r"\{\{ ref\('(\w+)'\) \}\}")


def examples() -> dict[str, str]:
    """Return the questions of `analyses/` as the plain SQL that the warehouse answers, by the first line of each.

    A model is a table of its own name in the warehouse, so that a dbt `ref` stands for nothing but that name.
    """
    texts = [_REF.sub(r"\1", path.read_text("utf-8")) for path in sorted(ANALYSES.glob("*.sql"))]
    return {text.partition("\n")[0].removeprefix("--").strip(): text for text in texts}


def tables(warehouse: Warehouse) -> dict[str, str]:
    """Return the tables by name, with their descriptions."""
    found = warehouse.query(text("sql_tables")).to_pylist()
    return {row["table_name"]: " ".join((row["comment"] or "").split()) for row in found}


def columns(warehouse: Warehouse, table: str) -> pa.Table:
    """Return column_name, data_type and comment of a table, in its order."""
    return warehouse.query(
        text("sql_columns"),
        {"table": table},
    )


def functions(warehouse: Warehouse) -> pa.Table:
    """Return the functions that the warehouse brings: call and comment."""
    return warehouse.query(text("sql_functions"))
