"""Example queries, tables, columns and functions for the SQL page, with their descriptions."""

import re
from pathlib import Path
from typing import Any, Final

from dropline.app.queries import text
from dropline.app.warehouse import Warehouse

ANALYSES: Final = Path(__file__).parents[2] / "analyses"
_REF: Final = re.compile(r"\{\{ ref\('(\w+)'\) \}\}")


def examples() -> dict[str, str]:
    """Return the queries of `analyses/` as plain SQL for the warehouse, by their first lines.

    Models are tables of the same name in the warehouse, so that a dbt `ref` becomes just that name.
    """
    texts = [_REF.sub(r"\1", path.read_text("utf-8")) for path in sorted(ANALYSES.glob("*.sql"))]
    return {text.partition("\n")[0].removeprefix("--").strip(): text for text in texts}


def schema(warehouse: Warehouse) -> dict[str, Any]:
    """Return the schema for completion as JSON values: the tables with comment and columns, and the functions.

    A column is name, type and comment; a function is its call, its comment, whether it belongs in FROM, and whether it
    is the warehouse's own.
    """
    tables = {row.pop("table_name"): row for row in warehouse.query(text("sql_tables")).to_pylist()}
    functions = warehouse.query(text("sql_functions")).to_pylist()
    return {"tables": tables, "functions": [list(each.values()) for each in functions]}
