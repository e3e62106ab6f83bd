"""Query results as a table for people, or as CSV, JSON, Markdown, Arrow or Parquet."""

from __future__ import annotations

import io
import json
import math
from itertools import chain, count
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow as pa

BINARY: Final = ("arrow", "parquet")
_DAY: Final = {"us": 86_400 * 10**6, "ns": 86_400 * 10**9}


def write(rows: pa.Table, form: str, out: IO[bytes]) -> None:
    """Write `rows` to `out` as table, csv, json, markdown, arrow or parquet.

    Formats other than `BINARY` are UTF-8 text that ends in a line feed. Arrow, in the IPC streaming format, is the only
    one with types for DuckDB's intervals, unions and infinite dates; the others hold them as DuckDB prints them.
    """
    if form == "arrow":
        import pyarrow as pa

        rows = named_apart(rows)
        with pa.ipc.new_stream(out, rows.schema) as stream:
            stream.write_table(rows)
        return
    rows = presentable(rows)
    if form == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(rows, out, compression="zstd")
    elif form == "csv":
        _write_csv(rows, out)
    elif form == "json":
        out.write(_json(rows.to_pylist(), indent=1).encode() + b"\n")
    else:
        draw = _markdown if form == "markdown" else _table
        out.write(draw(rows).encode("utf-8", "replace"))


def encoded(rows: pa.Table, form: str) -> bytes:
    """Return `rows` in one of the formats of `write`."""
    out = io.BytesIO()
    write(rows, form, out)
    return out.getvalue()


def named_apart(rows: pa.Table) -> pa.Table:
    """Return the rows with unique column names: a repeated name gets a number."""
    names: dict[str, None] = {}
    for name in rows.column_names:
        names[next(each for each in chain([name], (f"{name}_{n}" for n in count(2))) if each not in names)] = None
    return rows.rename_columns([*names])


def presentable(rows: pa.Table) -> pa.Table:
    """Return the rows with unique column names, and values of uncommon types as the text that DuckDB prints."""
    import duckdb
    import pyarrow as pa

    rows = named_apart(rows)
    for index, field in enumerate(rows.schema):
        if _is_uncommon(field.type) or _is_beyond_python(rows[index]):
            column = pa.table({"value": rows[index]})
            texts = duckdb.from_arrow(column).project("cast(value as varchar)").to_arrow_table()
            rows = rows.set_column(index, field.name, texts[0])
    return rows


def _is_uncommon(kind: pa.DataType) -> bool:
    import pyarrow as pa

    kind = getattr(kind, "storage_type", kind)  # integers of any length are an extension type of binary
    is_any_of = (pa.types.is_interval, pa.types.is_union, pa.types.is_binary, pa.types.is_large_binary)
    parts = (kind.field(index).type for index in range(kind.num_fields))
    return any(is_such(kind) for is_such in is_any_of) or any(map(_is_uncommon, parts))


def _is_beyond_python(column: pa.ChunkedArray) -> bool:
    """Return whether dates or times exceed Python's range, such as the time 24:00:00."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_time64(column.type):
        return (compute.max(column.cast(pa.int64())).as_py() or 0) >= _DAY[column.type.unit]
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        try:
            compute.min_max(column).as_py()
        except (OverflowError, ValueError):
            return True
    return False


def _write_csv(rows: pa.Table, out: IO[bytes]) -> None:
    import pyarrow as pa
    from pyarrow import csv

    for index, field in enumerate(rows.schema):
        if pa.types.is_nested(field.type):
            values = rows[index].to_pylist(maps_as_pydicts="strict")
            texts = [None if value is None else _json(value) for value in values]
            rows = rows.set_column(index, field.name, pa.array(texts, pa.string()))
    csv.write_csv(rows, out)


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(_finite(value), default=str, ensure_ascii=False, indent=indent)


def _finite(value: Any) -> Any:
    """Return a value with null in place of NaN and infinities, which JSON lacks."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_finite, value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _markdown(rows: pa.Table) -> str:
    lines = [rows.column_names, ["---"] * rows.num_columns]
    lines += [[_cell(value) for value in row.values()] for row in rows.to_pylist()]
    escaped = (" | ".join(printable(cell).replace("|", "\\|") for cell in line) for line in lines)
    return "".join(f"| {line} |\n" for line in escaped)


def _table(rows: pa.Table) -> str:
    import pyarrow as pa

    is_number = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    right = [any(is_such(field.type) for is_such in is_number) for field in rows.schema]
    texts = ([_cell(value) for value in row.values()] for row in rows.to_pylist())
    names, *lines = printable([rows.column_names, *texts])
    widths = [max(map(len, column)) for column in zip(names, *lines, strict=True)]

    def laid_out(cells: list[str]) -> str:
        placed = zip(cells, widths, right, strict=True)
        return "  ".join(f"{cell:{'>' if number else '<'}{width}}" for cell, width, number in placed).rstrip() + "\n"

    rule = "  ".join("-" * width for width in widths) + "\n"
    count = f"({rows.num_rows} row{'s' if rows.num_rows != 1 else ''})\n"
    return laid_out(names) + rule + "".join(map(laid_out, lines)) + count


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1000 else f"{value:.10g}"
    if isinstance(value, list):
        return ", ".join(str(item[0]) + "=" + str(item[1]) if isinstance(item, tuple) else str(item) for item in value)
    return str(value)


def printable(value: Any) -> Any:
    """Return a value with blanks in place of characters that control a terminal or the text direction."""
    if isinstance(value, str):
        return "".join(char if char.isprintable() else " " for char in value)
    if isinstance(value, dict):
        return {name: printable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(printable(each) for each in value)
    return value
