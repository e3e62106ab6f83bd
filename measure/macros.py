"""Macros of the models, rendered for DuckDB without dbt: searches and simulations use the same SQL as a build."""

from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import jinja2

ROOT = Path(__file__).parent.parent
_QUERIES = Path(__file__).parent / "queries"


def sql(macro: str, *arguments: object) -> str:
    """Return the rendered text of a macro of the dbt project."""
    return str(getattr(_module(), macro)(*arguments))


def query(name: str) -> str:
    """Return the query in queries/<name>.sql with its macros rendered."""
    return _templates().from_string((_QUERIES / f"{name}.sql").read_text("utf-8"), vars(_module())).render()


@cache
def number(macro: str, loss_limit: float = 0) -> float:
    """Return the value of a macro that is a threshold, which may depend on a loss limit."""
    with duckdb.connect() as connection:
        (found,) = connection.execute(f"select {sql(macro)} from (select ? as loss_limit)", [loss_limit]).fetchall()  # noqa: S608 - the text is ours
    return float(found[0])


def looked_up() -> str:
    """Return the statements that create the seeds that `capacities_of_runs` reads."""
    tables = ("student_t", "interval_constants")
    return "".join(f"create table {name} as from read_csv('{ROOT / 'seeds' / name}.csv');" for name in tables)


@cache
def _module() -> Any:
    class Adapter:
        """Stand-in for dbt's adapter, with which macros distinguish engines."""

        @staticmethod
        def dispatch(macro: str, _project: str) -> Any:
            return getattr(_module(), f"duckdb__{macro}")

    texts = [path.read_text("utf-8") for path in sorted((ROOT / "macros").glob("*.sql"))]
    return _templates().from_string("\n".join(texts), {"adapter": Adapter()}).module


def _templates() -> jinja2.Environment:
    return jinja2.Environment(extensions=["jinja2.ext.do"], autoescape=False)  # noqa: S701 - SQL of our own
