"""DuckDB views of the tables of a lake, and the queries over them from queries/*.sql."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dropline.errors import DroplineError
from dropline.ingest.schema import TABLES
from dropline.quoting import quoted

if TYPE_CHECKING:
    import duckdb

    from dropline.ingest.lake import Lake

_QUERIES: Final = Path(__file__).parent / "queries"
_OF_FILES: Final = ("raw_files", "trials", "server_configs", "figures", "rejects")  # tables with a file per row
_VERSION: Final = "campaign, source_path, batch"


def opened(files: Mapping[str, Iterable[Path]], prefix: str = "") -> duckdb.DuckDBPyConnection:
    """Open DuckDB with a view of each table over its `files`; columns that an older version did not write are null.

    The column file_row_number gives the order of the rows of a batch.
    """
    import duckdb  # not needed by an ingest

    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")  # text must not depend on the local time zone
    for table, schema in TABLES.items():
        connection.register(f"no_{table}", schema.empty_table())
        rows = f"select *, null::bigint as file_row_number from no_{table}"  # noqa: S608 - ours
        if listed := ", ".join(quoted(file) for file in files.get(table, ())):
            options = "hive_partitioning = false, union_by_name = true, file_row_number = true"
            rows += f" union all by name select * from read_parquet([{listed}], {options})"  # noqa: S608 - ours
        connection.execute(f"create view {prefix}{table} as {rows}")
    return connection


def current(lake: Lake) -> duckdb.DuckDBPyConnection:
    """Open DuckDB with the current rows of a lake in the schema `held`, all rows in all_<table>; see current.sql."""
    with naming_damage():
        connection = opened({table: lake.files(table) for table in TABLES}, "all_").execute(sql("current"))
        for table in _OF_FILES:
            rows = f"select * exclude (batch, file_row_number) from all_{table}"  # noqa: S608 - ours
            connection.execute(f"create view held.{table} as {rows} semi join current_files using ({_VERSION})")
        return connection


@contextmanager
def naming_damage() -> Iterator[None]:
    """Convert DuckDB's errors to DroplineError."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        what, *_ = str(error).splitlines()
        raise DroplineError(f"The lake cannot be read ({what}): type `dropline verify`") from error


def sql(name: str) -> str:
    """Return the SQL in queries/<name>.sql."""
    return (_QUERIES / f"{name}.sql").read_text("utf-8")
