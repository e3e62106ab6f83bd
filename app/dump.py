"""Everything leaves as plain files: each table of the warehouse, and what its columns mean."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from dropline.errors import DroplineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dropline.app.warehouse import Warehouse

FORMATS: Final = ("parquet", "csv")
COLUMNS: Final = "columns.csv"

_ROWS: Final = 65_536  # that are in memory at once
_NESTED: Final = frozenset({"list", "array", "map", "struct"})
_DESCRIBED: Final = """
    select
        table_name,
        column_name,
        data_type,
        comment as description
    from duckdb_columns()
    where database_name = 'warehouse' and not internal
    order by table_name, column_index
"""
_README: Final = """Written by `dropline export` from a warehouse of {built_at:%Y-%m-%d %H:%M:%S} UTC.

tables/        {tables} tables as {form}
columns.csv    every column of them: its type, and what it means
"""
_CSV: Final = """
The CSV is UTF-8 with commas and a line of names; texts stand in quotes, so that an empty text differs from no value;
lists, maps and structures are JSON; times carry their offset from UTC.
"""
_RAW: Final = """
raw/              the current version of every raw file, by campaign and path
raw-files.csv     where each of them lies, and its SHA-256
"""


class ExportFailed(DroplineError):
    """Nothing was exported; the text says why and what to do."""


@contextmanager
def appearing(folder: Path) -> Iterator[Path]:
    """Yield a folder to write to that becomes `folder`, whole, when the block ends, and is gone when it fails.

    Raises ExportFailed when `folder` is there and not empty, or cannot be made.
    """
    folder = folder.expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = f"{folder} is there already: name a new folder, so that nothing is mixed up"
        raise ExportFailed(message)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            yield made
            made.chmod(0o755)
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        message = f"{folder}: {error}; nothing was exported"
        raise ExportFailed(message) from error


def dump(
    warehouse: Warehouse,
    folder: Path,
    form: str,
    *,
    raw: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> dict[str, int]:
    """Write every table to `folder`/tables in one of FORMATS, COLUMNS and a README; return the rows of each table.

    The rows stream: memory is bounded by a few record batches. In CSV nested values are JSON. `raw` only says whether
    the README tells of raw files. `progress` is called with (done, total, table) before each table.
    """
    (folder / "tables").mkdir()
    described = warehouse.query(_DESCRIBED)
    with (folder / COLUMNS).open("wb") as file:
        csv.write_csv(described, file)
    tables = dict.fromkeys(described["table_name"].to_pylist())
    rows = {}
    for done, table in enumerate(tables):
        if progress:
            progress(done, len(tables), table)
        rows[table] = _write(warehouse, table, folder / "tables" / f"{table}.{form}", form)
    built = warehouse.query("select built_at from build_info").to_pylist()[0]
    readme = _README.format(tables=len(tables), form=form.upper(), **built)
    (folder / "README.txt").write_text(readme + _CSV * (form == "csv") + _RAW * raw, "utf-8")
    return rows


def _write(warehouse: Warehouse, table: str, file: Path, form: str) -> int:
    written = 0
    with warehouse.database.cursor() as cursor:
        cursor.execute("use warehouse")
        relation = cursor.table(table)
        if form == "csv":
            nested = [name for name, kind in zip(relation.columns, relation.types, strict=True) if kind.id in _NESTED]
            texts = ", ".join(f'to_json("{name}") as "{name}"' for name in nested)
            relation = relation.project(f"* replace ({texts})" if nested else "*")
        reader = relation.to_arrow_reader(_ROWS)
        make = csv.CSVWriter if form == "csv" else _parquet_writer
        with make(file, reader.schema) as out:
            for rows in reader:
                out.write_batch(rows)
                written += rows.num_rows
    return written


def _parquet_writer(file: Path, schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(file, schema, compression="zstd")
