"""Export of every table of the warehouse to plain files, with a description of each column."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import duckdb

from dropline.app.queries import text
from dropline.errors import DroplineError
from dropline.progress import Progress, unseen
from dropline.quoting import quoted

# DuckDB's COPY options for each format.
FORMATS: Final = {"parquet": "format parquet, compression zstd", "csv": "format csv, header"}
COLUMNS: Final = "columns.csv"

_README: Final = Path(__file__).with_name("export.txt")
_NESTED: Final = frozenset({"list", "array", "map", "struct"})


@contextmanager
def appearing(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that is renamed to `folder` on success; raise DroplineError if `folder` is not empty."""
    folder = folder.expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DroplineError(f"{folder} already exists: choose a new folder, so that nothing gets mixed up")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            yield made
            made.chmod(0o755)
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except (OSError, duckdb.IOException) as error:
        raise DroplineError(f"{folder}: {error}; nothing was exported") from error


def dump(warehouse: Path, folder: Path, form: str, *, raw: bool = False, progress: Progress = unseen) -> dict[str, int]:
    """Write every table to `folder`/tables in one of FORMATS, with COLUMNS and a README; return rows by table.

    CSV holds nested values as JSON. `raw` only controls whether the README mentions raw files.
    """
    import jinja2

    (folder / "tables").mkdir()
    rows = {}
    with duckdb.connect(":memory:", config={"memory_limit": "1GB", "temp_directory": ""}) as database:
        database.execute(f"set timezone = 'UTC'; attach {quoted(warehouse)} as warehouse (read_only); use warehouse")
        described = text("export_columns")
        database.execute(f"copy ({described}) to {quoted(folder / COLUMNS)} (format csv)")
        tables = [str(name) for (name,) in database.execute("show tables").fetchall()]
        for done, table in enumerate(tables):
            progress(done, len(tables))
            file = quoted(folder / "tables" / f"{table}.{form}")
            copied = database.execute(f"copy ({_rows(database, table, form)}) to {file} ({FORMATS[form]})").fetchone()
            rows[table] = copied[0] if copied else 0
        (built,) = database.execute("select built_at from build_info").fetchone() or (None,)
    text_of = jinja2.Template(_README.read_text("utf-8"), trim_blocks=True, keep_trailing_newline=True)
    readme = text_of.render(built_at=built, tables=len(tables), form=form, raw=raw)
    (folder / "README.txt").write_text(readme, "utf-8")
    return rows


def _rows(database: duckdb.DuckDBPyConnection, table: str, form: str) -> str:
    found = database.table(table)
    nested = [name for name, kind in zip(found.columns, found.types, strict=True) if kind.id in _NESTED]
    if form != "csv" or not nested:
        return f'from "{table}"'
    texts = ", ".join(f'to_json("{name}") as "{name}"' for name in nested)
    return f'select * replace ({texts}) from "{table}"'  # noqa: S608 - the warehouse's own names
