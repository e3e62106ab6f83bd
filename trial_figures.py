"""Figures of the trials of one file, computed by the models that a build executes."""

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
_READ_FROM: Final = ("trials", "exchanges", "observations", "raw_files")  # of the lake
_COMPILED: Final = Path(__file__).parent / "compiled.json"
_READ: Final = re.compile(r"read_parquet\('@lake@/(\w+)/[^)]*\)")
_CREATED: Final = re.compile(r'create\s+table\s+("\w+"\."main"\."\w+)__dbt_tmp"')
_BATCH: Final = "alone"
_LIMITS: Final[dict[str, Any]] = {"memory_limit": "384MB", "threads": "1", "temp_directory": ""}


def compute(outcome: Outcome | None, trial_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the figures of some trials of a file by trial_id: rates per second, ratios of 0 to 1, and marks.

    Files with counters beside it, which correct dnsblast's figures, are not known here, but what a sidecar says is.
    None prepares for the first file.
    """
    from dropline.ingest.rows import tables

    database, fillings = _model()
    rows = tables([outcome]) if outcome else {}
    for name in _READ_FROM:
        database.execute(f"delete from temp.main.lake_{name}")  # noqa: S608 - of the schema
        if found := rows.get(name):
            if "trial_id" in found.column_names:
                found = found.filter(pc.is_in(found["trial_id"], pa.array(trial_ids)))
            of_batch = found.append_column("batch", pa.repeat(_BATCH, len(found)))  # noqa: F841 - in SQL
            database.execute(f"insert into temp.main.lake_{name} by name from of_batch")
    for place, table in enumerate(fillings):
        database.execute(f"delete from {table}")  # noqa: S608 - of the model
        database.execute(f"execute fill_{place}")
    figures = database.table(f"scratch.main.{_MODEL}").project(_COLUMNS).to_arrow_table()
    return {row.pop("trial_id"): row for row in figures.to_pylist()}


@cache
def _model() -> tuple[duckdb.DuckDBPyConnection, list[str]]:
    """Return the model's tables over an empty lake, in order, each with a prepared statement that fills it.

    For the few rows of a file, planning takes most of the time.
    """
    import duckdb

    database = duckdb.connect(config=_LIMITS)
    database.execute("pragma disable_optimizer")  # it would plan for an empty lake
    for name, schema in TABLES.items():
        empty = schema.empty_table()  # noqa: F841 - in SQL
        database.execute(f"create temp table lake_{name} as from empty")
    database.execute("attach ':memory:' as scratch; attach ':memory:' as next; use next")
    fillings = {}
    for statement in _statements(_MODEL):
        sql = _READ.sub(r"temp.main.lake_\1", statement)
        database.execute(sql)
        if created := _CREATED.match(sql):
            table = created[1] + '"'
            _, _, inserted = sql.partition("insert into ")
            fillings[table] = inserted.replace("__dbt_tmp", "") or f"{table} {sql[sql.index(' as (') + 3 :]}"
    for place, filling in enumerate(fillings.values()):
        database.execute(f"prepare fill_{place} as insert into {filling}")
    return database, [*fillings]


def _statements(model: str) -> list[str]:
    """Return the compiled statements that create a model and all models that it refers to."""
    leading: list[str] = []
    wanted = {f"model.dropline.{model}"}
    for name, parents, statements, _ in reversed(json.loads(_COMPILED.read_bytes())["nodes"]):
        if name in wanted:
            leading[:0] = statements
            wanted |= {*parents}
    return leading
