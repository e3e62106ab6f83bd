"""What changed since the last build: a build computes those campaigns anew and keeps the rest.

The models of single trials are kept between builds: those that are published in the warehouse, those on the way in
`<home>/build/scratch.duckdb`. The two belong together when both hold the same row of `build_info`; otherwise, and
when anything but new files makes the lake differ, everything is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb

from dropline.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_FILES: Final = """
    create temp view raw_files as
    select campaign, batch, status, filename
    from read_parquet($files, hive_partitioning = false, filename = true, union_by_name = true)
"""
_CHANGED: Final = "select distinct campaign from raw_files where batch > $newest"
_FORGOTTEN: Final = "select count(*) from raw_files where batch > $newest and status = 'forgotten'"
_TO_READ: Final = "select distinct filename from raw_files where campaign in (select campaign from changed_campaigns)"
_GROUPS: Final = (  # what is computed together, its key, and where the last build left it
    ("trials", "trial_id", "database.trials"),
    ("runs", "run_id", "database.runs"),
    ("series", "series_id", "database.trends"),
    ("kin", "kin_key", "int_capacity"),
)
_MEMORY: Final = """
    create or replace table scratch.memory as
    select
        $built_at::timestamp as built_at,
        $project::varchar as project,
        coalesce(max(batch), '') as newest,
        count(*) as files
    from raw_files
"""


class Change(NamedTuple):
    """What a build has to compute when it need not compute everything.

    Attributes:
        campaigns: those of which there are new files, or new versions of files.
        batches: the folders of all batches that hold any file of theirs.

    """

    campaigns: tuple[str, ...]
    batches: tuple[str, ...]


def since_last_build(raw_files: Sequence[Path], warehouse: Path, scratch: Path, project: str) -> Change | None:
    """Say what changed since `warehouse` was built together with `scratch`; None when everything is to be computed.

    `raw_files` are the files of that table in all batches, `project` is the digest of the models.
    """
    if not (warehouse.exists() and scratch.exists()):
        return None
    with duckdb.connect() as connection:
        try:
            connection.execute(f"attach {quoted(warehouse)} as warehouse (read_only)")
            connection.execute(f"attach {quoted(scratch)} as scratch (read_only)")
            found = connection.execute(
                "select newest, files from scratch.memory, warehouse.build_info "
                "where memory.built_at = build_info.built_at and project = $project and project_sha256 = $project",
                {"project": project},
            ).fetchone()
        except duckdb.Error:  # none of ours, or written by another version: not worth a repair
            return None
        if not found:
            return None
        newest, files = found
        _view(connection, raw_files)
        held = connection.execute("select count(*) from raw_files where batch <= $newest", {"newest": newest})
        if held.fetchone() != (files,):  # a batch was taken out
            return None
        forgotten = connection.execute(_FORGOTTEN, {"newest": newest})
        if forgotten.fetchone() != (0,):  # what others were joined to may have gone with it
            return None
        connection.execute(f"create temp table changed_campaigns as {_CHANGED}", {"newest": newest})
        campaigns = connection.execute("select campaign from changed_campaigns order by campaign").fetchall()
        folders = {name.split("/")[-2] for (name,) in connection.execute(_TO_READ).fetchall()}
    return Change(tuple(campaign for (campaign,) in campaigns), tuple(sorted(folders)))


def begin(change: Change, database: Path, scratch: Path) -> None:
    """Tell the models what to compute: see macros/changed.sql; what `scratch` remembers is void from now on."""
    with duckdb.connect(str(scratch)) as connection:
        connection.execute("drop table if exists memory")
        connection.execute(f"attach {quoted(database)} as database (read_only)")
        connection.execute(
            "create or replace table changed_campaigns as select unnest($campaigns::varchar[]) as campaign",
            {"campaigns": list(change.campaigns)},
        )
        for changed, key, table in _GROUPS:
            connection.execute(
                f"create or replace table changed_{changed} as "  # noqa: S608 - ours
                f"select distinct {key} from {table} where campaign in (select campaign from changed_campaigns)"
            )


def remember(raw_files: Sequence[Path], scratch: Path, built_at: object, project: str) -> None:
    """Note in `scratch` of which publication it holds the steps on the way."""
    with duckdb.connect() as connection:
        connection.execute(f"attach {quoted(scratch)} as scratch")
        _view(connection, raw_files)
        connection.execute(_MEMORY, {"built_at": built_at, "project": project})


def _view(connection: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> None:
    listed = ", ".join(quoted(file) for file in files)
    connection.execute(_FILES.replace("$files", f"[{listed}]"))
