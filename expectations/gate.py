"""The gate: every batch of the lake is checked once, every warehouse before it is published.

<quality>/findings/lake-<batch>.<digest>.parquet    what was found in a batch, in how many rows, and by which suites
<quality>/gate.json                                 the last result of every suite
<quality>/docs/                                     the same as Great Expectations' own pages: expectations/docs.py

The digest is the SHA-256 of the file, so that `dropline verify` can vouch for it.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from dropline.expectations import lake as lake_suites
from dropline.expectations import marts as mart_suites
from dropline.expectations import rows
from dropline.expectations.suite import SEVERITIES, Finding, fingerprint
from dropline.ingest.lake import Lake
from dropline.ingest.parquet import replacing
from dropline.ingest.schema import TABLES, TEXT
from dropline.ingest.verification import batch_of
from dropline.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from dropline.expectations.suite import Suite
    from dropline.expectations.validation import Judge

_COLUMNS: Final = ("finding", "severity", "batch", "campaign", "source_path", "trial_id", "detail")
_SCHEMA: Final = pa.schema([(name, TEXT) for name in _COLUMNS])
_EMPTY: Final = "00000000-empty"
_EXAMPLES: Final = 10  # rows of a finding whose words gate.json keeps

_CURRENT: Final = """
    select findings.*
    from findings
    left join (
        select campaign, source_path, max(batch) as batch
        from raw_files
        semi join findings using (campaign, source_path)
        group by campaign, source_path
    ) as newest
        on findings.campaign = newest.campaign
        and findings.source_path = newest.source_path
    where newest.batch is null or newest.batch = findings.batch
    order by all
"""

# Few files have several versions: those are found by a hash, and only what shares one is compared.
_BUILT_LAKE: Final = """
    create temp view built_files as
    select campaign, source_path, batch, hash(campaign, source_path) as file_hash
    from all_raw_files
    where batch in (select unnest(lake_batches) from build_info);

    create temp table superseded_files as
    select campaign, source_path, batch
    from built_files
    where file_hash in (select file_hash from built_files group by file_hash having count(*) > 1)
    qualify batch < max(batch) over (partition by campaign, source_path);

    create temp view lake_trials as
    select trial_id
    from all_trials
    anti join superseded_files using (campaign, source_path, batch)
    where batch in (select unnest(lake_batches) from build_info);

    create temp view lake_findings as
    select finding, severity, trial_id
    from all_findings
    semi join built_files using (campaign, source_path, batch)
    anti join superseded_files using (campaign, source_path, batch);
"""


def check_lake(lake: Path, quality: Path, *, progress: Callable[[str], None] | None = None) -> list[Finding]:
    """Check every batch that these suites have not seen; return what is wrong with current files.

    A finding about a version of a file that a newer batch supersedes is kept but not returned:
    taking in a repaired file heals the gate. Raises duckdb.Error when a batch cannot be read.
    """
    folder = quality / "findings"
    folder.mkdir(parents=True, exist_ok=True)
    suites = fingerprint(lake_suites.SUITES)
    batches = Lake(lake).commits()
    _forget_all_but(folder, {_EMPTY, *batches})
    seen = _seen(folder)
    if seen.get(_EMPTY, {}).get("suites") != suites:
        _write_findings(folder, _EMPTY, [], {"suites": suites})
    unseen = [batch for batch in batches if seen.get(batch, {}).get("suites") != suites]
    if unseen:
        _check_batches(lake, folder, {batch: batches[batch] for batch in unseen}, suites, progress)
    found = _current_findings(lake, folder)
    spent: Counter[str] = Counter()
    looked_at: Counter[str] = Counter()
    for of_batch in _seen(folder).values():
        spent.update(of_batch.get("seconds", {}))
        looked_at.update(of_batch.get("rows", {}))
    _record(quality, "lake", lake_suites.SUITES, found, spent, looked_at)
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
    found: list[Finding] = []
    spent: dict[str, float] = {}
    looked_at: dict[str, int] = {}
    with _judge_in_the_making() as judge, _connected() as connection:
        # Attached, not connected: this process may hold the file open with other settings.
        connection.execute(f"attach {quoted(warehouse)} as warehouse (read_only)")
        connection.execute("use warehouse")
        _view(connection, "all_trials", Lake(lake).files("trials"))
        _view(connection, "all_raw_files", Lake(lake).files("raw_files"))
        _view(connection, "all_findings", _findings_files(quality / "findings"))
        connection.execute(_BUILT_LAKE)
        for suite in mart_suites.SUITES:
            if progress:
                progress(f"checking {suite.name}")
            began = time.perf_counter()
            profiles = rows.profiles(connection, suite)
            found += rows.findings(connection, suite, judge().failed(suite, profiles.values()))
            spent[suite.name] = time.perf_counter() - began
            looked_at[suite.name] = sum(profile.rows for profile in profiles.values())
    _record(quality, "marts", mart_suites.SUITES, found, spent, looked_at)
    return found


def _check_batches(
    lake: Path,
    folder: Path,
    batches: Mapping[str, str],
    suites: str,
    progress: Callable[[str], None] | None,
) -> None:
    profiles: dict[str, dict[str | None, rows.Profile]] = {}
    spent: dict[str, float] = {}
    found: dict[str | None, list[Finding]] = defaultdict(list)
    with _judge_in_the_making() as judge, _connected() as connection:
        _open_batches(connection, lake, batches)
        for suite in lake_suites.SUITES:
            if progress:
                progress(f"checking {suite.name}")
            began = time.perf_counter()
            profiles[suite.name] = rows.profiles(connection, suite)
            spent[suite.name] = time.perf_counter() - began
        for suite in lake_suites.SUITES:
            for finding in rows.findings(connection, suite, judge().failed(suite, profiles[suite.name].values())):
                found[finding.batch].append(finding)
    for batch in batches:
        looked_at = {name: of[batch].rows for name, of in profiles.items() if batch in of}
        seconds = {name: total / len(batches) for name, total in spent.items()}
        _write_findings(folder, batch, found[batch], {"suites": suites, "seconds": seconds, "rows": looked_at})


@contextmanager
def _judge_in_the_making() -> Iterator[Callable[[], Judge]]:
    """Import Great Expectations, which takes seconds, while DuckDB counts; the judge is there when it is asked for."""
    from dropline.expectations import validation

    importing = threading.Thread(target=validation.load)
    importing.start()

    @cache
    def judge() -> Judge:
        importing.join()
        return validation.Judge()

    try:
        yield judge
    finally:
        importing.join()


def _connected() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")  # the words of a finding do not depend on where it was found
    connection.execute("set parquet_metadata_cache = true")  # every suite asks the same files again
    return connection


def _open_batches(connection: duckdb.DuckDBPyConnection, lake: Path, batches: Mapping[str, str]) -> None:
    """Make the tables of some batches, each in a folder of the lake, the relations that the lake's suites ask."""
    connection.register("asked", pa.table({"batch": list(batches)}))
    folders = set(batches.values())
    held = {commit for commit, folder in Lake(lake).commits().items() if folder in folders}
    asked = "" if held == batches.keys() else "semi join asked using (batch)"
    _view(connection, "hosts_of_lake", Lake(lake).files("hosts"))
    connection.execute(
        "create table known_hosts as "
        "select host_id, max(nic_speed_mbps) as nic_speed_mbps, max(cpu_threads) as cpu_threads "
        "from hosts_of_lake group by host_id"
    )
    for table, schema in TABLES.items():
        # A batch may be older than the table, or than some of its columns.
        files = [file for file in Lake(lake).files(table) if file.parent.name in folders]
        connection.register(f"no_{table}", schema.empty_table())
        if files:
            _view(connection, f"some_{table}", files)
            some = f"select * from some_{table} {asked}"  # noqa: S608 - ours
            whole = f"select * from no_{table} union all by name {some}"  # noqa: S608 - ours
        else:
            whole = f"select * from no_{table}"  # noqa: S608 - ours
        connection.execute(f"create temp view {table} as {whole}")


def _current_findings(lake: Path, folder: Path) -> list[Finding]:
    raw_files = Lake(lake).files("raw_files")
    if not raw_files:
        return []
    with _connected() as connection:
        _view(connection, "raw_files", raw_files)
        _view(connection, "findings", _findings_files(folder))
        return [Finding(*row) for row in connection.execute(_CURRENT).fetchall()]


def _view(connection: duckdb.DuckDBPyConnection, name: str, files: Iterable[Path]) -> None:
    listed = ", ".join(quoted(file) for file in files)
    connection.execute(
        f"create or replace temp view {name} as "  # noqa: S608 - names from this module, paths quoted
        f"select * from read_parquet([{listed}], hive_partitioning = false, union_by_name = true)"
    )


def _findings_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("lake-*.parquet"))


def _forget_all_but(folder: Path, batches: Collection[str]) -> None:
    files = [*folder.glob("lake-*")]
    times = Counter(batch_of(file) for file in files)  # killed between two, a gate leaves both
    for file in files:
        whole = file.suffix == ".parquet" and times[batch_of(file)] == 1
        if not whole or batch_of(file) not in batches:
            file.unlink()


def _seen(folder: Path) -> dict[str, dict[str, Any]]:
    """Return by which suites each batch was checked, and the seconds and rows of each."""
    seen: dict[str, dict[str, Any]] = {}
    for file in _findings_files(folder):
        try:
            metadata = pq.read_schema(file).metadata or {}
            seen[batch_of(file)] = json.loads(metadata.get(b"dropline.gate", b"{}"))
        except (pa.ArrowInvalid, ValueError):
            continue
    return seen


def _write_findings(folder: Path, batch: str, found: Sequence[Finding], seen: Mapping[str, Any]) -> None:
    columns = {name: [getattr(finding, name) for finding in found] for name in _COLUMNS}
    table = pa.table(columns, schema=_SCHEMA.with_metadata({"dropline.gate": json.dumps(seen)}))
    written = pa.BufferOutputStream()
    pq.write_table(table, written, compression="zstd")
    data = written.getvalue()
    new = folder / f"lake-{batch}.{hashlib.sha256(data).hexdigest()}.parquet"
    with replacing(new) as file:
        file.write(data)
    for old in folder.glob(f"lake-{batch}.*"):
        if old != new:
            old.unlink()


def _record(
    quality: Path,
    part: str,
    suites: Sequence[Suite],
    found: Sequence[Finding],
    spent: Mapping[str, float],
    looked_at: Mapping[str, int],
) -> None:
    """Put the results of one part, `lake` or `marts`, into gate.json."""
    details: dict[str, list[str]] = defaultdict(list)
    for finding in found:
        details[finding.finding].append(finding.detail)
    results = []
    for suite in suites:
        failed = [one for one in suite.expectations if one.code in details]
        results.append(
            {
                "suite": suite.name,
                "rows": looked_at.get(suite.name, 0),
                "expectations": len(suite.expectations),
                "successes": len(suite.expectations) - len(failed),
                "failures": len(failed),
                "severity": min((one.severity for one in failed), key=SEVERITIES.index, default=None),
                "findings": {one.code: len(details[one.code]) for one in failed},
                "examples": {one.code: details[one.code][:_EXAMPLES] for one in failed},
                "seconds": round(spent.get(suite.name, 0), 3),
            }
        )
    file = quality / "gate.json"
    try:
        gate = json.loads(file.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        gate = {}
    gate[part] = {"checked_at": datetime.now(UTC).isoformat(timespec="seconds"), "suites": results}
    with replacing(file) as written:
        written.write(json.dumps(gate, indent=2).encode() + b"\n")
