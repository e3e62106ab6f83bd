"""Read-only, locked-down DuckDB connection of the dashboard and the command line."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import duckdb

from dropline.app import query_log, sql_guard
from dropline.errors import DroplineError
from dropline.quoting import quoted

if TYPE_CHECKING:
    import pyarrow as pa

Limits = dict[str, str]
_THREADS: Final = min(4, os.cpu_count() or 1)  # with more threads than cores, queries take a fifth longer
LIMITS: Final[Limits] = {"memory_limit": "1GB", "threads": str(_THREADS), "temp_directory": ""}
# No automatic downloads or extensions, and table names never refer to Python variables.
_CLOSED: Final[Limits] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
MOST_COLUMNS: Final = 1000  # in an answer to a visitor
_BATCH_ROWS: Final = 2048
warnings.filterwarnings("ignore", "Arrow output on a DB-API result")  # that only copies a few rows


class WarehouseError(DroplineError):
    """The warehouse cannot answer; the message says why and what to do."""


class WarehouseMissing(WarehouseError):
    """No warehouse was built yet."""


class QueryRefused(WarehouseError):
    """The text is not one SELECT that the warehouse can answer."""


class Identity(NamedTuple):
    """Identity of a published warehouse file: each build replaces the file, so that its inode and time change."""

    path: Path
    inode: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> Identity:
        """Return the identity of the file now; raise WarehouseMissing if there is none."""
        try:
            found = path.stat()
        except OSError:
            raise WarehouseMissing(
                f"There is no warehouse at {path}. Type `dropline up examples` to build one from the examples, "
                "or `dropline ingest FOLDER` and `dropline build` for your own results."
            ) from None
        return cls(path, found.st_ino, found.st_mtime_ns)


class Answer(NamedTuple):
    """Rows, and whether there were more."""

    rows: pa.Table
    cut: bool


@dataclass(frozen=True, slots=True)
class Warehouse:
    """An open warehouse; safe to use from several threads at once."""

    identity: Identity
    database: duckdb.DuckDBPyConnection
    remembered_bytes: int = 0
    _remembered: dict[str, tuple[int, pa.Table]] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path, limits: Limits = LIMITS, remembered_bytes: int = 0) -> Warehouse:
        """Open the file read-only, without access to other files or the network, and lock the settings.

        Attach the file to a separate instance: `duckdb.connect(path)` would return the previous file of this name as
        long as this process reads it. `query` caches answers up to `remembered_bytes`; they stay valid, as a published
        file never changes. Raise WarehouseMissing without a file, WarehouseError if it cannot be opened.
        """
        identity = Identity.of(path)
        database = duckdb.connect(":memory:", config={**limits, **_CLOSED})
        try:
            database.execute(f"attach {quoted(path)} as warehouse (read_only)")
        except duckdb.Error as error:
            database.close()
            reason = str(error).splitlines()[0]
            raise WarehouseError(
                f"{path} cannot be opened ({reason}). Stop the program that writes to it; if there is none, "
                "type `dropline build` to publish the warehouse again."
            ) from error
        database.execute("set enable_external_access = false")
        database.execute("set lock_configuration = true")
        return cls(identity, database, remembered_bytes)

    def query(self, sql: str, params: Mapping[str, Any] | None = None) -> pa.Table:
        """Answer one SELECT, with `params` by name (`$name`); raise QueryRefused if it is no SELECT or fails."""
        question = query_log.pasteable(sql, params or {})
        _, answer = self._remembered.get(question, (0, None))
        if answer is None:
            answer = self._answer(sql, params or {})
            self._remembered[question] = len(question) + answer.nbytes, answer
            if sum(size for size, _ in list(self._remembered.values())) > self.remembered_bytes:
                self._remembered.clear()
        query_log.note(question)
        return answer

    def _answer(self, sql: str, params: Mapping[str, Any]) -> pa.Table:
        with self.database.cursor() as cursor:
            try:
                cursor.execute("use warehouse")
                statements = cursor.extract_statements(sql)
                if _kinds(statements) not in _READING:
                    raise QueryRefused(
                        f"Expected one SELECT, found {_kinds(statements)}. The warehouse is read-only; to keep a "
                        "result, use `dropline sql ... --output FILE`."
                    )
                return cursor.execute(statements[0], dict(params)).to_arrow_table()  # sql() would plan the query twice
            except duckdb.Error as error:
                raise QueryRefused(str(error)) from error

    def ask(self, text: str, most_rows: int, most_bytes: int) -> Answer:
        """Answer one untrusted SELECT, with at most `most_rows`, `most_bytes` and `MOST_COLUMNS` columns.

        Unlike `query`, refuse EXPLAIN, which can run other statements, and anything that reveals facts about the
        machine: see app/sql_guard.py. Raise QueryRefused if the text is something else or DuckDB cannot answer it,
        MemoryError if the answer does not fit into this process's memory.
        """
        with self.database.cursor() as cursor:
            try:
                cursor.execute("use warehouse")
                self._require_harmless(cursor, text)
                return _read(cursor.sql(text).to_arrow_reader(_BATCH_ROWS), most_rows, most_bytes)
            except (duckdb.Error, OSError) as error:  # Arrow raises DuckDB's errors during reading as OSError
                raise QueryRefused(str(error)) from error

    def _require_harmless(self, cursor: duckdb.DuckDBPyConnection, text: str) -> None:
        kinds = _kinds(cursor.extract_statements(text))
        if kinds == duckdb.StatementType.MULTI.name:
            raise QueryRefused("List the values of the PIVOT: pivot ... on column in ('one', 'other') using ...")
        if kinds != duckdb.StatementType.SELECT.name:
            raise QueryRefused(f"Expected one SELECT, found {kinds}. The warehouse is read-only.")
        (serialized,) = cursor.execute("select json_serialize_sql($1::varchar)", [text]).fetchone() or ("{}",)
        tree = json.loads(serialized)
        reason = tree.get("error_message") if tree.get("error", True) else sql_guard.complaint(tree, *_known(cursor))
        if reason:
            raise QueryRefused(f"This query is not allowed: {reason}.")


def _known(cursor: duckdb.DuckDBPyConnection) -> Iterator[frozenset[str]]:
    """Yield the functions and system views for `sql_guard`; not cached, as each process answers only one query."""
    for names in (
        "select lower(function_name) from duckdb_functions() where database_name = 'warehouse'",
        "select lower(view_name) from duckdb_views() where internal and schema_name <> 'information_schema'",
    ):
        yield frozenset(name for (name,) in cursor.execute(names).fetchall())


def _read(reader: pa.RecordBatchReader, most_rows: int, most_bytes: int) -> Answer:
    """Return the first rows of `reader` without computing the others."""
    import pyarrow as pa

    if len(reader.schema) > MOST_COLUMNS:
        raise QueryRefused(f"The answer has {len(reader.schema):,} columns; name at most {MOST_COLUMNS:,} of them.")
    batches, rows, size = [], 0, 0
    for batch in reader:
        batches.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows > most_rows or size > most_bytes:
            break
    table = pa.Table.from_batches(batches, reader.schema)
    kept = table.slice(0, most_rows)
    while kept.num_rows and kept.nbytes > most_bytes:
        kept = kept.slice(0, kept.num_rows // 2)
    if rows and not kept.num_rows:
        raise QueryRefused(f"One row has more than {most_bytes // 2**20} MiB: ask for shorter texts or lists.")
    return Answer(kept, cut=rows > most_rows or size > most_bytes)


_READING: Final = (duckdb.StatementType.SELECT.name, duckdb.StatementType.EXPLAIN.name)


def _kinds(statements: list[duckdb.Statement]) -> str:
    return ", ".join(map(_kind, statements)) or "nothing"


def _kind(statement: duckdb.Statement) -> str:
    try:
        return statement.type.name
    except ValueError:  # DuckDB's Python package lacks names for some kinds, e.g. UPDATE EXTENSIONS
        return "another statement"
