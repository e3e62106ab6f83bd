"""Gate that checks every batch of the lake once, and every warehouse before publication.

<quality>/findings/lake-<batch>.<digest>.parquet    the findings of a batch, and the digest of its suites
<quality>/gate.json                                 the last result of every suite

The digest in the name is the SHA-256 of the file, so that `dropline verify` can check it.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from dropline.expectations import failing_rows
from dropline.expectations.suite import LAKE, MARTS, SEVERITIES, Finding, Suite, fingerprint, sql
from dropline.ingest.lake import Lake
from dropline.ingest.parquet import replacing
from dropline.ingest.schema import TABLES, TEXT
from dropline.ingest.verification import batch_of
from dropline.progress import unseen
from dropline.quoting import quoted

Judge = Callable[[Sequence[Suite], Mapping[str, int]], Collection[str]]
Progress = Callable[[str], None]

_OF_LAKE: Final = ("finding", "severity", "batch", "campaign", "source_path", "trial_id", "detail")
_OF_MARTS: Final = (
    *("finding", "severity", "campaign", "source_path", "trial_id", "configuration_id", "loss_goal", "detail"),
)
_EMPTY: Final = "00000000-empty"  # a file without findings, so that there is always one to read


def check_lake(
    lake: Path, quality: Path, *, progress: Progress = unseen, judge: Judge = failing_rows.failed
) -> list[Finding]:
    """Check every batch that the current suites have not checked yet; return the findings about current files.

    Findings about a version of a file that a newer batch supersedes are stored but not returned: ingesting a repaired
    file clears the gate. Raise duckdb.Error if a batch cannot be read.
    """
    folder = quality / "findings"
    folder.mkdir(parents=True, exist_ok=True)
    suites = fingerprint(LAKE)
    batches = Lake(lake).commits()
    _forget_all_but(folder, {_EMPTY, *batches})
    checked = _checked(folder, suites)
    unchecked = {batch: place for batch, place in batches.items() if batch not in checked}
    found: dict[str | None, list[Finding]] = defaultdict(list)
    if unchecked:
        with _connected() as connection:
            _open_batches(connection, lake, unchecked)
            for finding in _check(connection, LAKE, progress, judge):
                found[finding.batch].append(finding)
    for batch in {_EMPTY, *unchecked} - checked:
        _write_findings(folder, batch, found[batch], suites)
    current = _current_findings(lake, folder)
    _record(quality, "lake", LAKE, current)
    return current


def check_marts(
    warehouse: Path, lake: Path, quality: Path, *, progress: Progress = unseen, judge: Judge = failing_rows.failed
) -> list[Finding]:
    """Check a warehouse file against the marts' suites and its batches; raise duckdb.Error if it is unreadable."""
    with _connected() as connection:
        # Attach the file instead of connecting to it, as this process may have it open with other settings.
        connection.execute(f"attach {quoted(warehouse)} as warehouse (read_only)")
        connection.execute("use warehouse")
        _view(connection, "all_trials", Lake(lake).files("trials"))
        _view(connection, "all_raw_files", Lake(lake).files("raw_files"))
        _view(connection, "all_findings", _findings_files(quality / "findings"))
        connection.execute(sql("built_lake"))
        found = _check(connection, MARTS, progress, judge)
    _record(quality, "marts", MARTS, found)
    return found


def mark(connection: duckdb.DuckDBPyConnection, findings: Sequence[Finding]) -> None:
    """Write the findings of `check_marts` into the new warehouse, open in `connection`, in one transaction."""
    if not findings:
        return
    with connection.cursor() as cursor:
        cursor.register("found", _table(findings, _OF_MARTS))
        cursor.begin()
        cursor.execute(sql("marks"))
        cursor.commit()


def _table(findings: Sequence[Finding], columns: Sequence[str]) -> pa.Table:
    texts = {name: [getattr(finding, name) for finding in findings] for name in columns}
    return pa.table(texts, schema=pa.schema([(name, TEXT) for name in columns]))


def _check(
    connection: duckdb.DuckDBPyConnection, suites: Sequence[Suite], progress: Progress, judge: Judge
) -> list[Finding]:
    """Count and store the failing rows, judge the counts, and return findings."""
    counts: dict[str, int] = {}
    for suite in suites:
        progress(f"checking {suite.name}")
        counts |= failing_rows.count_failing(connection, suite)
    failed = judge(suites, counts)
    return [finding for suite in suites for finding in failing_rows.findings(connection, suite, failed)]


def _connected() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")  # the text of a finding must not depend on the local time zone
    connection.execute("set parquet_metadata_cache = true")  # every suite reads the same files
    return connection


def _open_batches(connection: duckdb.DuckDBPyConnection, lake: Path, batches: Mapping[str, str]) -> None:
    """Create views of the tables of these batches (name -> folder of the lake), for the lake's suites."""
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
        whole = f"create temp view {table} as select * from no_{table}"  # noqa: S608 - ours
        if files:
            _view(connection, f"some_{table}", files)
            whole += f" union all by name select * from some_{table} {asked}"  # noqa: S608 - ours
        connection.execute(whole)


def _current_findings(lake: Path, folder: Path) -> list[Finding]:
    raw_files = Lake(lake).files("raw_files")
    if not raw_files:
        return []
    with _connected() as connection:
        _view(connection, "raw_files", raw_files)
        _view(connection, "findings", _findings_files(folder))
        return [Finding(*row) for row in connection.execute(sql("current_findings")).fetchall()]


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
    times = Counter(batch_of(file) for file in files)  # a gate killed before removing the old file leaves both
    for file in files:
        whole = file.suffix == ".parquet" and times[batch_of(file)] == 1
        if not whole or batch_of(file) not in batches:
            file.unlink()


def _checked(folder: Path, suites: str) -> set[str]:
    """Return the batches that exactly these suites have checked."""
    checked = set()
    for file in _findings_files(folder):
        try:
            metadata = pq.read_schema(file).metadata or {}
        except pa.ArrowInvalid:
            continue
        if metadata.get(b"dropline.gate") == suites.encode():
            checked.add(batch_of(file))
    return checked


def _write_findings(folder: Path, batch: str, found: Sequence[Finding], suites: str) -> None:
    table = _table(found, _OF_LAKE).replace_schema_metadata({"dropline.gate": suites})
    written = pa.BufferOutputStream()
    pq.write_table(table, written, compression="zstd")
    data = written.getvalue()
    new = folder / f"lake-{batch}.{hashlib.sha256(data).hexdigest()}.parquet"
    with replacing(new) as file:
        file.write(data)
    for old in folder.glob(f"lake-{batch}.*"):
        if old != new:
            old.unlink()


def _record(quality: Path, part: str, suites: Sequence[Suite], found: Sequence[Finding]) -> None:
    """Write the results of one part, `lake` or `marts`, to gate.json."""
    counts = Counter(finding.finding for finding in found)
    results = []
    for suite in suites:
        failed = {code: each for code, each in suite.expectations.items() if code in counts}
        results.append(
            {
                "suite": suite.name,
                "expectations": len(suite.expectations),
                "successes": len(suite.expectations) - len(failed),
                "failures": len(failed),
                "severity": min((each.severity for each in failed.values()), key=SEVERITIES.index, default=None),
                "findings": {code: counts[code] for code in failed},
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
