"""The gate: every batch of the lake is checked once, every warehouse before it is published.

<quality>/findings/lake-<batch>.parquet    what was found in a batch, and by which suites
<quality>/gate.json                        the last result of every suite
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from expectations import lake as lake_suites
from expectations import marts as mart_suites
from expectations.suite import SEVERITIES, Finding, fingerprint
from ingest.lake import Lake
from ingest.schema import TABLES, TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from expectations.suite import Suite

_COLUMNS: Final = ("finding", "severity", "batch", "campaign", "source_path", "trial_id", "detail")
_SCHEMA: Final = pa.schema([(name, TEXT) for name in _COLUMNS])
_EMPTY: Final = "00000000-empty"

_CURRENT: Final = """
    select findings.*
    from findings
    left join (
        select campaign, source_path, max(batch) as batch
        from raw_files
        group by campaign, source_path
    ) as newest
        on findings.campaign = newest.campaign
        and findings.source_path = newest.source_path
    where newest.batch is null or newest.batch = findings.batch
    order by all
"""

_BUILT_LAKE: Final = """
    create temp view built_files as
    select campaign, source_path, max(batch) as batch
    from all_raw_files
    where batch in (select unnest(lake_batches) from build_info)
    group by campaign, source_path;

    create temp view lake_trials as
    select trial_id from all_trials semi join built_files using (campaign, source_path, batch);

    create temp view lake_findings as
    select finding, severity, trial_id
    from all_findings
    semi join built_files using (campaign, source_path, batch);
"""


def check_lake(lake: Path, quality: Path, *, progress: Callable[[str], None] | None = None) -> list[Finding]:
    """Check every batch that these suites have not seen; return what is wrong with current files.

    A finding about a version of a file that a newer batch supersedes is kept but not returned:
    taking in a repaired file heals the gate. Raises duckdb.Error when a batch cannot be read.
    """
    folder = quality / "findings"
    folder.mkdir(parents=True, exist_ok=True)
    suites = fingerprint(lake_suites.SUITES)
    batches = Lake(lake).batches()
    _forget_all_but(folder, {_EMPTY, *batches})
    if _seen_by(folder, _EMPTY).get("suites") != suites:
        _write_findings(folder, _EMPTY, [], {}, suites)
    unseen = [batch for batch in batches if _seen_by(folder, batch).get("suites") != suites]
    if unseen:
        _check_batches(lake, folder, unseen, suites, progress)
    found = _current_findings(lake, folder)
    seconds: Counter[str] = Counter()
    for batch in batches:
        seconds.update(_seen_by(folder, batch).get("seconds", {}))
    _record(quality, "lake", lake_suites.SUITES, found, seconds)
    return found


def check_marts(
    warehouse: Path,
    lake: Path,
    quality: Path,
    *,
    progress: Callable[[str], None] | None = None,
) -> list[Finding]:
    """Hold a warehouse file against the marts' suites and the batches that it was built from.

    Raises duckdb.Error when the file cannot be read or lacks a table.
    """
    from expectations.validation import Validator

    found: list[Finding] = []
    seconds: dict[str, float] = {}
    with duckdb.connect() as connection:
        # Attached, not connected: this process may hold the file open with other settings.
        connection.execute(f"attach {_quoted(warehouse)} as warehouse (read_only)")
        connection.execute("use warehouse")
        _view(connection, "all_trials", Lake(lake).files("trials"))
        _view(connection, "all_raw_files", Lake(lake).files("raw_files"))
        _view(connection, "all_findings", _findings_files(quality / "findings"))
        connection.execute(_BUILT_LAKE)
        validator = Validator(connection)
        for suite in mart_suites.SUITES:
            if progress:
                progress(f"checking {suite.name}")
            began = time.perf_counter()
            found += validator.findings(suite)
            seconds[suite.name] = time.perf_counter() - began
    _record(quality, "marts", mart_suites.SUITES, found, seconds)
    return found


def _check_batches(
    lake: Path,
    folder: Path,
    batches: Sequence[str],
    suites: str,
    progress: Callable[[str], None] | None,
) -> None:
    from expectations.validation import Validator

    with duckdb.connect() as connection:
        _view(connection, "hosts_of_lake", Lake(lake).files("hosts"))
        connection.execute(
            "create table known_hosts as select host_id, max(nic_speed_mbps) as nic_speed_mbps "
            "from hosts_of_lake group by host_id"
        )
        validator = Validator(connection)
        files = {table: Lake(lake).files(table) for table in TABLES}
        for number, batch in enumerate(batches, 1):
            if progress:
                progress(f"checking batch {batch} ({number} of {len(batches)})")
            for table, schema in TABLES.items():
                file = lake / "batches" / batch / f"{table}.parquet"
                if file in files[table]:
                    _view(connection, table, [file])
                else:  # the batch is older than the table
                    connection.register(table, schema.empty_table())
            found: list[Finding] = []
            seconds: dict[str, float] = {}
            for suite in lake_suites.SUITES:
                began = time.perf_counter()
                found += validator.findings(suite, batch)
                seconds[suite.name] = time.perf_counter() - began
            _write_findings(folder, batch, found, seconds, suites)


def _current_findings(lake: Path, folder: Path) -> list[Finding]:
    raw_files = Lake(lake).files("raw_files")
    if not raw_files:
        return []
    with duckdb.connect() as connection:
        _view(connection, "raw_files", raw_files)
        _view(connection, "findings", _findings_files(folder))
        return [Finding(*row) for row in connection.execute(_CURRENT).fetchall()]


def _view(connection: duckdb.DuckDBPyConnection, name: str, files: Iterable[Path]) -> None:
    listed = ", ".join(_quoted(file) for file in files)
    connection.execute(
        f"create or replace temp view {name} as "  # noqa: S608 - names from this module, paths quoted
        f"select * from read_parquet([{listed}], hive_partitioning = false)"
    )


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _findings_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("lake-*.parquet"))


def _forget_all_but(folder: Path, batches: Collection[str]) -> None:
    kept = {f"lake-{batch}.parquet" for batch in batches}
    for file in folder.glob("lake-*"):
        if file.name not in kept:
            file.unlink()


def _seen_by(folder: Path, batch: str) -> dict[str, Any]:
    """Return by which suites a batch was checked and in how many seconds; empty when it was not."""
    try:
        metadata = pq.read_schema(folder / f"lake-{batch}.parquet").metadata or {}
        seen: dict[str, Any] = json.loads(metadata.get(b"dropline.gate", b"{}"))
    except (FileNotFoundError, pa.ArrowInvalid, ValueError):
        return {}
    return seen


def _write_findings(
    folder: Path, batch: str, found: Sequence[Finding], seconds: Mapping[str, float], suites: str
) -> None:
    columns = {name: [getattr(finding, name) for finding in found] for name in _COLUMNS}
    note = json.dumps({"suites": suites, "seconds": seconds})
    rows = pa.table(columns, schema=_SCHEMA.with_metadata({"dropline.gate": note}))
    partial = folder / f"lake-{batch}.partial"
    pq.write_table(rows, partial, compression="zstd")
    _replace(partial, folder / f"lake-{batch}.parquet")


def _record(
    quality: Path,
    part: str,
    suites: Sequence[Suite],
    found: Sequence[Finding],
    seconds: Mapping[str, float],
) -> None:
    """Put the results of one part, `lake` or `marts`, into gate.json."""
    rows = Counter(finding.finding for finding in found)
    results = []
    for suite in suites:
        failed = [one for one in suite.expectations if rows[one.code]]
        results.append(
            {
                "suite": suite.name,
                "expectations": len(suite.expectations),
                "successes": len(suite.expectations) - len(failed),
                "failures": len(failed),
                "severity": min((one.severity for one in failed), key=SEVERITIES.index, default=None),
                "findings": {one.code: rows[one.code] for one in failed},
                "seconds": round(seconds.get(suite.name, 0), 3),
            }
        )
    file = quality / "gate.json"
    try:
        gate = json.loads(file.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        gate = {}
    gate[part] = {"checked_at": datetime.now(UTC).isoformat(timespec="seconds"), "suites": results}
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(gate, indent=2) + "\n", "utf-8")
    _replace(partial, file)


def _replace(partial: Path, file: Path) -> None:
    with partial.open("rb") as written:
        os.fsync(written.fileno())
    partial.replace(file)
