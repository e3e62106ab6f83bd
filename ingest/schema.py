"""Arrow schemas of the lake, from schema.yml: the contract between the readers and dbt.

Each table that has rows in a commit is one Parquet file with exactly these columns. Units are in the names (`_s`,
`_ms`, `_bytes`, `_ratio` from 0 to 1); a `rate` has its `rate_unit` beside it.
"""

from typing import Any, Final

import pyarrow as pa

from dropline import beside

TEXT: Final = pa.string()
_KINDS: Final = {
    **{"text": TEXT, "whole": pa.int32(), "count": pa.int64(), "number": pa.float64(), "flag": pa.bool_()},
    **{"time": pa.timestamp("us", tz="UTC"), "day": pa.date32(), "bytes": pa.binary()},
    **{"texts": pa.list_(TEXT), "map": pa.map_(TEXT, TEXT)},
}
_TABLES: Final = beside.words(__file__)


def _fields(columns: dict[str, Any]) -> list[pa.Field]:
    fields = []
    for name, declared in columns.items():
        if isinstance(declared, dict):
            fields += _fields(declared)
        else:
            kind, _, required = declared.partition(", ")
            fields.append(pa.field(name, _KINDS[kind], nullable=not required))
    return fields


# Columns that describe what was tested and how, with their types.
CONFIGURATION: Final = tuple((field.name, field.type) for field in _fields(_TABLES["configuration"]))
TABLES: Final[dict[str, pa.Schema]] = {
    table: pa.schema(_fields(columns)) for table, columns in _TABLES.items() if table != "configuration"
}
CAMPAIGNS: Final = TABLES["campaigns"]
TRIALS: Final = TABLES["trials"]
EXCHANGES: Final = TABLES["exchanges"]
INTERVALS: Final = TABLES["intervals"]
OBSERVATIONS: Final = TABLES["observations"]
HOSTS: Final = TABLES["hosts"]
SERVER_CONFIGS: Final = TABLES["server_configs"]
RAW_FILES: Final = TABLES["raw_files"]
REJECTS: Final = TABLES["rejects"]
FIGURES: Final = TABLES["figures"]
