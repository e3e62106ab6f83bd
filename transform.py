"""Run of all seeds, models and tests in a fresh database: as compiled SQL, or by dbt, which explains failures."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple, Self

import duckdb

from dropline import compiled
from dropline.publication import wal
from dropline.quoting import quoted

_FAILED: Final = frozenset({"error", "fail", "runtime error", "partial success"})


class Places(NamedTuple):
    """Paths that the models read and write; the project's profile takes them from environment variables."""

    lake: Path  # in the layout that the models read; kept until the next build, for Spark
    quality: Path
    database: Path
    scratch: Path  # the models' intermediate tables
    work: Path  # dbt's parse cache and logs

    @classmethod
    def within(cls, work: Path, quality: Path) -> Self:
        """Return the places of a build in the folder `work`."""
        return cls(work / "lake", quality, work / "next.duckdb", work / "scratch.duckdb", work)

    def clear(self) -> None:
        """Remove the databases of this or a killed build."""
        for file in (self.database, self.scratch):
            file.unlink(missing_ok=True)
            wal(file).unlink(missing_ok=True)

    def environment(self) -> dict[str, str]:
        """Return the variables of profiles.yml and of the sources."""
        names = ("LAKE", "QUALITY", "BUILD", "SCRATCH")
        return {f"DROPLINE_{name}": str(place) for name, place in zip(names, self, strict=False)}


def run(project: Path, places: Places, *, shown_rows: int, up_to: str | None = None) -> list[str]:
    """Run everything in `project` except unit tests, which need no data; return the failures with the failing rows.

    dbt itself runs if the project or the lake differs from the compiled one, and after a failure. If `up_to` names a
    model, build only that model and its ancestors, without tests. Raise KeyboardInterrupt, to dbt a mere failure.
    """
    with _environment(places.environment()), _noting_interrupts() as interrupted:
        if compiled.play(project, places, up_to):
            return []
        if not interrupted():
            places.clear()
            failures = _run_dbt(project, places, shown_rows, up_to)
    if interrupted():
        raise KeyboardInterrupt
    return failures


def _run_dbt(project: Path, places: Places, shown_rows: int, up_to: str | None) -> list[str]:
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager
    from dbt.cli.main import dbtRunner

    executed: list[tuple[str, str]] = []

    def note(event: Any) -> None:
        if event.info.name == "SQLQuery":
            executed.append((event.data.node_info.unique_id, event.data.sql))

    arguments = [
        *("build", "--project-dir", str(project), "--profiles-dir", str(project)),
        *("--target", "duckdb", "--exclude-resource-type", "unit_test"),
        *("--target-path", str(places.work / "target"), "--log-path", str(places.work / "logs")),
        *("--log-level", "none", "--log-level-file", "none", "--no-use-colors"),
        *("--no-send-anonymous-usage-stats", "--no-write-json"),
        *(("--select", f"+{up_to}", "--exclude-resource-type", "test") if up_to else ()),
    ]
    try:
        outcome = dbtRunner(callbacks=[note]).invoke(arguments)
    finally:
        # Otherwise dbt would keep the file open until the process ends.
        DuckDBConnectionManager.close_all_connections()
    results = getattr(outcome.result, "results", None) or []
    failed = [result for result in results if result.status in _FAILED]
    if not failed and not outcome.success:
        return [f"dbt could not start: {outcome.exception}"]
    if not failed and not up_to:
        compiled.record(project, places, executed, results)
    return [_explain(result, places, shown_rows) for result in failed]


@contextmanager
def _noting_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was typed; only the main thread can know."""
    caught: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: False
        return

    def note(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(caught)
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = os.environ.copy()
    os.environ.update(values)
    try:
        with chdir("."):  # dbt changes it
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _explain(result: Any, places: Places, shown_rows: int) -> str:
    node = result.node
    lines = [f"{node.resource_type} {node.name} ({node.original_file_path}): {result.message}"]
    if node.resource_type == "test" and result.status == "fail":
        with duckdb.connect() as connection:
            for name, file in ((places.database.stem, places.database), ("scratch", places.scratch)):
                connection.execute(f"attach {quoted(file)} as {name} (read_only)")
            rows = connection.sql(f"select * from ({node.compiled_code}) limit {shown_rows}")  # noqa: S608 - ours
            for row in rows.fetchall():
                lines.append("    " + ", ".join(f"{c}={v}" for c, v in zip(rows.columns, row, strict=True)))
    return "\n".join(lines)
