"""The one way into the DuckDB file: read-only, locked, bounded; the dashboard and the command line share it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import duckdb

from errors import DroplineError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa

LIMITS: Final = {"memory_limit": "1GB", "threads": "4", "temp_directory": ""}


class WarehouseError(DroplineError):
    """The warehouse cannot answer; the text says why and what to do."""


class WarehouseMissing(WarehouseError):
    """No warehouse was built yet."""


class WarehouseUnreadable(WarehouseError):
    """The file is there, but it is no warehouse of ours or somebody is writing to it."""


class QueryRefused(WarehouseError):
    """The text is not one SELECT that the warehouse can answer."""


class Identity(NamedTuple):
    """Which publication of a warehouse a file is: a build replaces the file, so that its inode and time change."""

    path: Path
    inode: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> Identity:
        """Look at the file now.

        Raises:
            WarehouseMissing: there is none.
        """
        try:
            found = path.stat()
        except OSError:
            message = (
                f"There is no warehouse at {path}. Type `dropline up examples` to build one from the examples, "
                "or `dropline ingest FOLDER` and `dropline build` for your own results."
            )
            raise WarehouseMissing(message) from None
        return cls(path, found.st_ino, found.st_mtime_ns)

    @property
    def published_at(self) -> datetime:
        """When the file was published, UTC."""
        return datetime.fromtimestamp(self.mtime_ns / 1e9, UTC)


@dataclass(frozen=True, slots=True)
class Warehouse:
    """An open warehouse; safe to use from several threads at once."""

    identity: Identity
    database: duckdb.DuckDBPyConnection

    @classmethod
    def open(cls, path: Path) -> Warehouse:
        """Open the file read-only, without access to other files or the network, and lock the settings.

        The file is attached to an instance of its own: `duckdb.connect(path)` would hand out the old file, by its
        name, for as long as anybody in this process still reads it.

        Raises:
            WarehouseMissing: there is no such file.
            WarehouseUnreadable: the file cannot be opened.
        """
        identity = Identity.of(path)
        database = duckdb.connect(":memory:", config=dict(LIMITS))
        quoted = str(path).replace("'", "''")
        try:
            database.execute(f"attach '{quoted}' as warehouse (read_only)")
        except duckdb.Error as error:
            database.close()
            reason = str(error).splitlines()[0]
            message = (
                f"{path} cannot be opened ({reason}). End the program that writes to it; if there is none, "
                "type `dropline build` to publish the warehouse anew."
            )
            raise WarehouseUnreadable(message) from error
        database.execute("set enable_external_access = false")
        database.execute("set lock_configuration = true")
        return cls(identity, database)

    def query(self, sql: str, params: Mapping[str, Any] | None = None) -> pa.Table:
        """Answer one SELECT; `$name` in its text stands for `params["name"]`.

        Raises:
            QueryRefused: the text is something else, or DuckDB cannot answer it.
        """
        with self.database.cursor() as cursor:
            try:
                cursor.execute("use warehouse")
                statements = cursor.extract_statements(sql)
                if len(statements) != 1 or statements[0].type not in _READING:
                    message = (
                        f"Expected one SELECT, found {_kinds(statements)}: the warehouse is read-only. To keep a "
                        "result, use `dropline sql ... --output FILE`."
                    )
                    raise QueryRefused(message)
                relation = cursor.sql(sql, params=dict(params or {}))
                return relation.to_arrow_table()
            except duckdb.Error as error:
                raise QueryRefused(str(error)) from error


_READING: Final = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


def _kinds(statements: list[duckdb.Statement]) -> str:
    return ", ".join(statement.type.name for statement in statements) or "nothing"
