"""Stands for dbt's `adapter` where sqlfluff renders the models: it lints the SQL that DuckDB gets."""

from collections.abc import Callable

from jinja2 import pass_context
from jinja2.runtime import Context


@pass_context
def dispatch(context: Context, macro: str, package: str) -> Callable[..., str]:
    """Return the macro of that name for DuckDB."""
    return context.resolve(f"duckdb__{macro}")
