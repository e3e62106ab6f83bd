"""Build of the warehouse: gate of the lake, dbt into a new file in `<home>/build`, gate of that, one rename."""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final

import duckdb

from dropline import compiled, publication, transform
from dropline.errors import DroplineError
from dropline.expectations.catalogue import reason_of
from dropline.expectations.gate import check_lake, check_marts, mark
from dropline.expectations.suite import Finding, sql
from dropline.ingest.lake import Lake
from dropline.ingest.loader import counted
from dropline.ingest.verification import damaged
from dropline.paths import Home
from dropline.progress import unseen
from dropline.transform import Places

Progress = Callable[[str], None]

PROJECT: Final = Path(__file__).resolve().parent
SHOWN_ROWS: Final = 10
_MAKES_TABLES: Final = frozenset({".sql", ".yml", ".csv", ".py"})

_ADVICE: Final = {
    "lake": "Repair or remove these files and ingest them again.",
    "warehouse": "The models contradict each other: please report this with the rows above.",
}


@dataclass(frozen=True, slots=True)
class BuildReport:
    """Result of a build."""

    warehouse: Path  # the published file
    seconds: dict[str, float]  # how long each phase took: checksums, lake gate, models, marts gate, publish
    tables: dict[str, int]  # the number of rows of every table
    measured: int  # the number of measured configurations; the others were published
    findings: dict[str, int]  # rows of quality_findings by severity, without those about published figures

    def text(self) -> str:
        """Return the report as text."""
        spent = ", ".join(f"{phase} {seconds:.1f} s" for phase, seconds in self.seconds.items())
        found = ", ".join(f"{rows} {severity}" for severity, rows in self.findings.items()) or "none"
        held = f"{counted(self.tables['trials'], 'trial', 'trials')}, "
        held += counted(self.measured, "configuration", "configurations")
        beside = f"{self.tables['configurations'] - self.measured:,} published configurations, too"
        if not self.tables["trials"]:
            spent += "\nNo trial yet: type dropline ingest FOLDER, or dropline rejects to see what could not be used"
        return f"Published {self.warehouse}\n{held}; findings: {found} ({beside})\n{spent}"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The gate's results for the lake and for the published warehouse (None if there is none yet)."""

    lake: tuple[Finding, ...]
    marts: tuple[Finding, ...] | None

    @property
    def passed(self) -> bool:
        """Whether there are no critical findings."""
        return not _critical((*self.lake, *(self.marts or ())))

    def text(self) -> str:
        """Return the report as text: each finding by name, with its reason and up to ten rows."""
        parts = {"lake": self.lake, "warehouse": self.marts or ()}
        lines = [line for place, findings in parts.items() for line in _listed(place, findings)]
        missing = "" if self.marts is not None else " There is no warehouse yet."
        verdict = "The checks pass" if self.passed else "The checks fail"
        found = counted(len(self.lake) + len(parts["warehouse"]), "finding", "findings")
        return "\n".join([*lines, f"{verdict}: {found}.{missing}"])


def is_current(home: Home) -> bool:
    """Return whether the published warehouse holds all batches of the lake and was built by the current models."""
    if not home.warehouse.exists():
        return False
    try:
        with duckdb.connect(str(home.warehouse), read_only=True) as connection:
            made = connection.execute("select project_sha256, lake_batches from build_info").fetchone()
    except duckdb.Error:
        return False
    return made == (_project_sha256(), Lake(home.lake).batches())


def build(home: Home, *, progress: Progress = unseen) -> BuildReport:
    """Build the warehouse of `home` and publish it by one rename; a concurrent build waits.

    Raise DroplineError, and keep the old warehouse, if a critical expectation, a seed, a model or a test fails, or a
    file cannot be read or written.
    """
    with publication.alone(home, progress), Lake(home.lake).reading():
        work = _places(home)
        work.clear()
        try:
            return _build(home, work, progress)
        except (duckdb.Error, OSError) as error:
            _stop_if_damaged(home, Lake(home.lake))
            raise DroplineError(f"The build stopped: {error}\n{_unchanged(home)}") from error
        finally:
            work.clear()


def check(home: Home, *, progress: Progress = unseen) -> CheckReport:
    """Check the lake and the published warehouse against all expectations; raise if one of them is unreadable."""
    from dropline.expectations import validation

    places = home.lake, home.quality
    with publication.alone(home, progress), Lake(home.lake).reading():
        try:
            Lake.create(home.lake).lay_out(_places(home).lake)
            lake = tuple(check_lake(*places, progress=progress, judge=validation.failed))
            marts = None
            if home.warehouse.exists():
                marts = tuple(check_marts(home.warehouse, *places, progress=progress, judge=validation.failed))
        except (duckdb.Error, OSError) as error:
            raise DroplineError(f"The check stopped: {error}") from error
    return CheckReport(lake, marts)


def _places(home: Home) -> Places:
    return Places.within(home.root / "build", home.quality)


def _build(home: Home, work: Places, say: Progress) -> BuildReport:
    seconds: dict[str, float] = {}
    phase, project = partial(_phase, say=say, seconds=seconds), _project_sha256()
    lake = Lake.create(home.lake).lay_out(work.lake)
    with phase("checksums"):
        _stop_if_damaged(home, lake)
    with phase("lake gate"):
        _stop_if_critical(home, "lake", check_lake(work.lake, home.quality, progress=say))
    with phase("models"):
        if failures := transform.run(PROJECT, work, shown_rows=SHOWN_ROWS):
            raise DroplineError("\n".join(["What failed in dbt:", *failures, _unchanged(home)]))
    with phase("marts gate"):
        made = [datetime.now(UTC).replace(tzinfo=None), *map(version, ("dropline", "dbt-core")), duckdb.__version__]
        with duckdb.connect(str(work.database)) as connection:
            connection.execute(sql("build_info"))
            row = [*made, project, lake.batches()]
            connection.execute("insert into build_info values (?, ?, ?, ?, ?, ?)", row)
        found = check_marts(work.database, work.lake, home.quality, progress=say)
        _stop_if_critical(home, "warehouse", found)
    with phase("publish"):
        contents = _finish(work.database, found)
        publication.publish(work.database, home)
    return BuildReport(home.warehouse, seconds, *contents)


@contextmanager
def _phase(name: str, say: Progress, seconds: dict[str, float]) -> Iterator[None]:
    say(name)
    began = time.perf_counter()
    yield
    seconds[name] = time.perf_counter() - began


def _critical(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity == "critical"]


def _stop_if_critical(home: Home, place: str, findings: Sequence[Finding]) -> None:
    if critical := _critical(findings):
        lines = ["The gate stopped the build.", *_listed(place, critical), _ADVICE[place], _unchanged(home)]
        raise DroplineError("\n".join(lines))


def _stop_if_damaged(home: Home, lake: Lake) -> None:
    if faults := damaged(lake):
        lines = ["The lake is damaged.", *(fault.text() for fault in faults[:SHOWN_ROWS]), _unchanged(home)]
        raise DroplineError("\n".join(lines))


def _listed(place: str, findings: Sequence[Finding]) -> list[str]:
    lines = []
    for code, rows in Counter(finding.finding for finding in findings).items():
        lines.append(f"{code}: {rows} rows of the {place} fail. {reason_of(code)}")
        shown = [finding for finding in findings if finding.finding == code][:SHOWN_ROWS]
        for each in shown:
            values = (each.trial_id, each.source_path, each.campaign, each.configuration_id)
            parts = zip(("trial", "file", "campaign", "configuration"), values, strict=True)
            subject = ", ".join(f"{name} {value}" for name, value in parts if value) or "all"
            lines.append(f"    {subject}: {each.detail}")
        lines += [f"    and {rows - len(shown)} more"] if rows > len(shown) else []
    return lines


def _unchanged(home: Home) -> str:
    kept = home.warehouse.exists()
    return f"The old warehouse stays as it is: {home.warehouse}" if kept else "There is no warehouse yet."


def _project_sha256() -> str:
    digest = hashlib.sha256()
    folders = ("models", "macros", "seeds", "expectations", "inference")
    files = (file for folder in folders for file in (PROJECT / folder).rglob("*") if file.suffix in _MAKES_TABLES)
    modules = (Path(module) for module in (__file__, compiled.__file__, transform.__file__))
    for file in sorted([*files, *modules, PROJECT / "dbt_project.yml", PROJECT / "profiles.yml"]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _finish(database: Path, findings: Sequence[Finding]) -> tuple[dict[str, int], int, dict[str, int]]:
    """Write the gate's findings into the marts; return `tables`, `measured` and `findings` of the report."""
    with duckdb.connect(str(database)) as connection:
        mark(connection, findings)
        names = connection.execute("select table_name from duckdb_tables() order by all").fetchall()
        tables = {name: connection.table(name).shape[0] for (name,) in names}
        (measured,) = connection.execute(
            "select count(*) from configurations where origin = 'measured'"
        ).fetchone() or (0,)
        counts = dict(connection.execute(sql("severities")).fetchall())
        connection.execute("checkpoint")
    return tables, measured, counts
