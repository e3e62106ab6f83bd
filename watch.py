"""Watch mode: ingest and publish new files in a folder."""

import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from dropline import pipeline
from dropline.app.queries import ask
from dropline.app.warehouse import Warehouse
from dropline.errors import DroplineError
from dropline.ingest.formats import EMPTY
from dropline.ingest.lake import Lake
from dropline.ingest.loader import counted, ingest, printable, reject_text
from dropline.paths import Home

LOOK_S: Final = 0.1
_SHOWN_FIGURES: Final = 3


def watch(home: Home, folder: Path, settle_s: float) -> Iterator[str]:
    """Watch a folder forever; yield a line for each publication, rejected file and failure.

    A failure is retried when the folder changes. Interrupts at any time leave complete batches and warehouses.
    """
    reported: set[str] = set()
    for _ in changes(folder, settle_s):
        began = time.perf_counter()
        try:
            summary = ingest([folder], Lake.create(home.lake))
            rejects = [reject_text(each, indent=10) for each in summary.rejects if each["reason"] != EMPTY]  # yet
            refused = [printable(f"rejected  {reject}") for reject in rejects]
            yield from (line for line in refused if line not in reported)
            reported = {*refused}
            if pipeline.is_current(home):
                continue
            pipeline.build(home)
        except (DroplineError, OSError) as error:
            yield str(error)
        else:
            news = f"{counted(summary.ingested, 'file', 'files')}, {counted(summary.trials, 'trial', 'trials')}"
            took = f"published in {time.perf_counter() - began:.1f} s"
            figures = ask(Warehouse.open(home.warehouse), "batch_figures", batch=summary.batch)["figure"].to_pylist()
            more = [f"and {len(figures) - _SHOWN_FIGURES} more"] if len(figures) > _SHOWN_FIGURES else []
            shown = [*map(printable, figures[:_SHOWN_FIGURES]), *more]
            yield "; ".join([f"{datetime.now():%H:%M:%S}  {news}, {took}", *shown])


def changes(folder: Path, settle_s: float, look_s: float = LOOK_S) -> Iterator[None]:
    """Yield at once, and then whenever the folder has changed and stayed unchanged for `settle_s`."""
    handled: dict[Path, tuple[int, int]] | None = None
    while True:
        began = time.perf_counter()
        seen = _state(folder)
        # Do not scan a folder of a hundred thousand files continuously.
        pause_s = max(look_s, 4 * (time.perf_counter() - began))
        time.sleep(pause_s if seen == handled else settle_s)
        if seen != handled and _state(folder) == seen:
            handled = seen
            yield


def _state(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return size and time of each file that is not empty and does not disappear during the scan."""
    state = {}
    for file in folder.rglob("*"):
        with suppress(OSError):
            if (found := file.stat()).st_size:
                state[file] = found.st_size, found.st_mtime_ns
    return state
