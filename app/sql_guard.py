"""Allow-list of the names that a visitor's SELECT may use, checked on the syntax tree of DuckDB's own parser.

Even a connection without file access reveals facts about the machine: the path of the warehouse, the settings, the
memory behind an Arrow pointer. A query may therefore read only from tables and functions of the warehouse, and from a
few of DuckDB's functions that generate rows.
"""

from collections.abc import Iterator
from typing import Any, Final

# Functions allowed in FROM besides those of the warehouse.
ROW_MAKERS: Final = frozenset({"range", "generate_series", "unnest", "repeat_row", "json_each", "json_tree"})
# Views and functions that describe the warehouse.
CATALOGUE: Final = frozenset({"duckdb_tables", "duckdb_columns", "duckdb_views", "duckdb_functions"})
# Scalar functions that reveal facts about the process, write to its log, or only wait.
REFUSED: Final = frozenset(
    {
        "current_setting", "getvariable", "getenv", "get_block_size", "current_query", "write_log", "sleep_ms",
        "pg_sleep", "nextval", "currval", "setval",
    }
)  # fmt: skip
_READING_NODES: Final = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})


def complaint(tree: Any, functions: frozenset[str], system: frozenset[str]) -> str | None:
    """Return why a SELECT is refused, from its tree (DuckDB's json_serialize_sql), or None if it may run.

    `functions` are those of the warehouse for FROM, `system` DuckDB's views except information_schema; in lower case.
    """
    for node in _nodes(tree):
        kind = str(node.get("type", ""))
        if kind.endswith("_NODE") and kind not in _READING_NODES:
            return "it changes data, and the warehouse is read-only"
        if kind == "TABLE_FUNCTION":
            name = _name(node["function"], "function_name")
            if name not in (allowed := ROW_MAKERS | CATALOGUE | functions):
                return f"{name}() is not among the functions that FROM may use here: {', '.join(sorted(allowed))}"
        elif kind == "FUNCTION" and _name(node, "function_name") in REFUSED:
            return f"{_name(node, 'function_name')}() is not allowed here"
        elif kind == "BASE_TABLE" and _name(node, "table_name") in system - CATALOGUE:
            return f"{_name(node, 'table_name')} describes the machine, not results"
    return None


def _name(node: dict[str, Any], key: str) -> str:
    return str(node[key]).lower()


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a JSON document, without recursion, as it can be deep."""
    pending = [tree]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            yield each
            pending += each.values()
        elif isinstance(each, list):
            pending += each
