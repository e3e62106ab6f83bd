"""Preview of an ingest: configurations, runs and rates, before anything is stored."""

import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa

from dropline import compiled, transform
from dropline.app.queries import text
from dropline.errors import DroplineError
from dropline.ingest.change_detection import Known
from dropline.ingest.lake import Lake
from dropline.ingest.loader import Summary, ingest
from dropline.paths import Home
from dropline.pipeline import PROJECT, SHOWN_ROWS
from dropline.progress import Progress, unseen


def preview(
    paths: Iterable[Path], home: Home, *, campaign: str | None = None, progress: Progress = unseen
) -> tuple[Summary, pa.Table]:
    """Return the summary of an ingest and one row per configuration, using a temporary lake; `home` is only read.

    Raises DroplineError if a model fails, and the errors of `ingest`.
    """
    held = Lake(home.lake)
    with TemporaryDirectory(prefix="dropline-") as folder:
        work = Path(folder)
        lake = Lake.create(work / "ingested")
        summary = ingest(paths, lake, campaign=campaign, named_in=held, progress=progress)
        with held.reading():
            _compare(summary, lake, Known(held))
        with suppress(FileNotFoundError):  # exists if models were changed
            shutil.copy(home.root / "build" / compiled.NAME, work)
        places = transform.Places.within(work, work / "quality")
        lake.lay_out(places.lake)
        if failures := transform.run(PROJECT, places, shown_rows=SHOWN_ROWS, up_to="int_runs__identified"):
            raise DroplineError("\n".join(failures))
        with duckdb.connect(str(places.scratch), read_only=True) as connection:
            return summary, connection.sql(text("preview_runs")).to_arrow_table()


def _compare(summary: Summary, lake: Lake, known: Known) -> None:
    """Correct a summary for files that the real lake already holds."""
    summary.batch = None
    for key, version in lake.current_files().items():
        held = known.get(key)
        summary.superseded += held not in {None, version}
        if version.status != "rejected" and held == version:
            summary.ingested -= 1
            summary.skipped += 1
