"""The SQL of the pages: one file per query, with parameters written `$name`."""

from __future__ import annotations

import re
import textwrap
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
_WITH: Final = re.compile(r"\A(?:--.*\n)*(?:with\s+)?")  # DuckDB allows a comma after the last table


@cache
def text(name: str, **given: str) -> str:
    """Return the query in the file `name`.sql.

    `given` are the tables that it reads besides those of the warehouse, each the file of a query; in this order.
    """
    question = FOLDER.joinpath(f"{name}.sql").read_text("utf-8")
    tables = [f"{table} as (\n\n{textwrap.indent(text(file), '    ')}\n),\n\n" for table, file in given.items()]
    return _WITH.sub(lambda _: f"with\n\n{''.join(tables)}", question) if given else question
