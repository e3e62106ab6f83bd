"""SQL console: one SELECT over the warehouse, in a process that is used once."""

import sys
from pathlib import Path
from typing import Final

import pyarrow as pa

from dropline.app import sandbox
from dropline.app.warehouse import Answer, Limits, QueryRefused, Warehouse

SECONDS: Final = 10.0
MEMORY_BYTES: Final = 3 * 2**29  # address space: Python, Arrow and DuckDB use about half of it on start
LIMITS: Final[Limits] = {"memory_limit": "384MB", "threads": "1", "temp_directory": ""}
MOST_ROWS: Final = 10_000
MOST_BYTES: Final = 32 * 2**20
MOST_CHARACTERS: Final = 20_000
_CUT: Final = b"cut"


def ask(path: Path, text: str, seconds: float = SECONDS) -> Answer:
    """Answer one SELECT over the warehouse at `path`.

    Raise Refused, with the reason, if it is something else or DuckDB cannot answer it; TooMuch at a limit.
    """
    if len(text) > MOST_CHARACTERS:
        raise sandbox.Refused(f"The text has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read.")
    stream = sandbox.run(__name__, str(path), given=text.encode("utf-8", "replace"), seconds=seconds)
    with pa.ipc.open_stream(stream) as reader:
        rows = reader.read_all()
    return Answer(rows.replace_schema_metadata(), cut=_CUT in (rows.schema.metadata or {}))


def ready() -> None:
    """Confine this process."""
    sandbox.confine(MEMORY_BYTES)


def main(path: str) -> None:
    """Run the SELECT on standard input and write an Arrow stream to standard output."""
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        rows, cut = Warehouse.open(Path(path), LIMITS).ask(text, MOST_ROWS, MOST_BYTES)
    except QueryRefused as error:
        sandbox.refuse(error)
    except MemoryError:
        sandbox.refuse("Out of memory: one question may use about 400 MB. Ask for fewer rows or shorter texts.")
    rows = rows.replace_schema_metadata({_CUT: b"1"} if cut else None)
    with pa.ipc.new_stream(sys.stdout.buffer, rows.schema) as stream:
        stream.write_table(rows)
