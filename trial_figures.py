"""Figures of the trials of one file, computed by the same models as in a build."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from dropline.ingest.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from dropline.ingest.rows import Outcome

_MODEL: Final = "int_trials__measured"
_COLUMNS: Final = (
    "trial_id, computed_rate as achieved_rate, send_rate, loss_worst_exchange, loss_packet, loss_lease, error_ratio, "
    "is_generator_limited, is_unsustained"
)
_READ_FROM: Final = ("trials", "exchanges", "observations", "raw_files")  # tables of the lake
_COMPILED: Final = Path(__file__).parent / "compiled.json"
_READ: Final = re.compile(r"read_parquet\('@lake@/(\w+)/[^)]*\)")
_TABLE: Final = re.compile(r'"(?:scratch|next)"\."main"\.("\w+")')
_CREATED: Final = re.compile(  # a view, a table, or a table with a contract, which a second statement fills
    r'create\s+(?:table|view)\s+"\w+"\."main"\."(\w+)__dbt_tmp"'
    r"(?:\s+as\s+|.*?;\s+insert into[^()]*\([^()]*\)\s*)(\(.*\))",
    re.DOTALL,
)
_BATCH: Final = "alone"
_LIMITS: Final[dict[str, Any]] = {"memory_limit": "384MB", "threads": "1", "temp_directory": ""}


def compute(outcome: Outcome | None, trial_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the figures of trials of a file by trial_id: rates per second, ratios from 0 to 1, and flags.

    Sidecars are taken into account, but not other files with counters, which correct dnsblast's figures. An `outcome`
    of None only prepares for the first file.
    """
    from dropline.ingest.rows import tables

    database = _database()
    rows = tables([outcome]) if outcome else {}
    for name in _READ_FROM:
        database.execute(f"delete from lake_{name}")  # noqa: S608 - of the schema
        if found := rows.get(name):
            if "trial_id" in found.column_names:
                found = found.filter(pc.is_in(found["trial_id"], pa.array(trial_ids)))
            of_batch = found.append_column("batch", pa.repeat(_BATCH, len(found)))  # noqa: F841 - in SQL
            database.execute(f"insert into lake_{name} by name from of_batch")
    database.execute("execute figures")
    names = [column for column, *_ in database.description or ()]
    figures = [dict(zip(names, row, strict=True)) for row in database.fetchall()]
    return {row.pop("trial_id"): row for row in figures}


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """Return an empty lake with the prepared statement `figures`, as planning takes longer than running it."""
    import duckdb

    database = duckdb.connect(config=_LIMITS)
    database.execute("pragma disable_optimizer")  # it would plan for an empty lake
    for name, schema in TABLES.items():
        empty = schema.empty_table()  # noqa: F841 - in SQL
        database.execute(f"create table lake_{name} as from empty")
    database.execute(f"prepare figures as {_query()}")
    return database


def _query() -> str:
    """Return the models as one query over the tables of a lake: a CTE for each, after those that it refers to."""
    leading: list[str] = []
    wanted = {f"model.dropline.{_MODEL}"}
    for name, parents, statements, _ in reversed(json.loads(_COMPILED.read_bytes())["nodes"]):
        if name in wanted:
            wanted |= {*parents}
            leading[:0] = [f"{found[1]} as {found[2]}" for each in statements if (found := _CREATED.match(each))]
    models = _TABLE.sub(r"\1", _READ.sub(r"lake_\1", ", ".join(leading)))
    return f"with {models} select {_COLUMNS} from {_MODEL}"  # noqa: S608 - compiled from the models
