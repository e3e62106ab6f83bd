"""Uploaded files, parsed in a sandboxed process and a temporary folder.

Files are stored only if the operator set DROPLINE_ALLOW_UPLOADS and an editor asks for it (`keep`, `take_in`).
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from dropline import trial_figures
from dropline.app import sandbox
from dropline.paths import Home

MOST_BYTES: Final = 16 * 2**20
MOST_REPORTS: Final = 1000
MOST_REJECTS: Final = 200
MOST_LINES: Final = 500
SECONDS: Final = 30.0
INGEST_S: Final = 300.0
ALLOWED: Final = "DROPLINE_ALLOW_UPLOADS"
_MEMORY_BYTES: Final = 3 * 2**29
_LONGEST_NAME: Final = 100  # characters

Row = dict[str, Any]


def explain(name: str, data: bytes) -> Row:
    """Return the kind of a file and its contents.

    The keys are kind and why (as text), left_alone, trials (columns of schema.TRIALS, and `trial_figures`; the first
    `MOST_REPORTS`), rejects (line, reason, hint; the first `MOST_REJECTS`), lines ([number, text, kind]; the first
    `MOST_LINES`), and trials_in_all, rejects_in_all, lines_in_all. Raise Refused if the file cannot be examined,
    TooMuch if that takes too much time or memory.
    """
    if len(data) > MOST_BYTES:
        raise sandbox.Refused(
            f"{len(data):,} bytes are more than {MOST_BYTES // 2**20} MiB: use `dropline show FILE` for it."
        )
    with tempfile.TemporaryDirectory(prefix="dropline-") as folder:  # readable by our user only
        file = Path(folder, safe_name(name))
        file.write_bytes(data)
        return dict(json.loads(sandbox.run(__name__, str(file), seconds=SECONDS)))


def safe_name(name: str) -> str:
    """Return a safe name, with extensions and without folders, for a file name from a visitor's browser."""
    kept = re.sub(r"[^\w.+=,@ -]", "_", name.replace("\\", "/").rpartition("/")[2], flags=re.ASCII)
    return kept.lstrip(".")[-_LONGEST_NAME:].strip() or "unnamed"


def may_keep() -> bool:
    """Return whether the operator lets editors store files."""
    return os.environ.get(ALLOWED) == "1"


def keep(home: Home, name: str, data: bytes) -> Path:
    """Store the bytes under uploads/ of the home, by digest and without duplicates, and return the path."""
    folder = home.root / "uploads" / hashlib.sha256(data).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    if known := next((each for each in folder.iterdir() if not each.name.startswith(".")), None):
        return known
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".", delete=False) as fresh:
        fresh.write(data)
    return Path(fresh.name).replace(folder / safe_name(name))


def take_in(home: Home) -> str:
    """Ingest the stored files as campaign `uploads` in a subprocess, and return its output.

    Skip files ingested before. The subprocess is the command line, so that the app never writes to a lake. Raise
    Refused, with the reason, if nothing was ingested; TooMuch if it took longer than `INGEST_S`.
    """
    command = [sys.executable, "-m", "dropline", "--home", str(home.root), "ingest", str(home.root / "uploads")]
    environment = {"PYTHONUTF8": "1", "TZ": "UTC"}  # not the app's environment, which may hold secrets
    try:
        done = subprocess.run(  # noqa: S603 - ourselves
            command, capture_output=True, text=True, timeout=INGEST_S, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        raise sandbox.TooMuch(
            f"The ingest took longer than {INGEST_S:g} s and was stopped. The file is kept: type `dropline ingest`."
        ) from None
    if not done.stdout:
        raise sandbox.Refused(done.stderr.strip())
    return done.stdout.strip()


def look(file: Path) -> Row:
    """Return the result of `explain` for a file alone in its folder, in a confined process; exit if refused."""
    from dropline.ingest.files import IntakeError
    from dropline.ingest.names import ARCHIVES
    from dropline.ingest.schema import TRIALS
    from dropline.ingest.show import show

    if ARCHIVES.search(file.name):  # this process may not write, so it cannot unpack
        sandbox.refuse(f"{file.name}: an archive. Drop one file of it, or type dropline ingest {file.name}")
    try:
        found = show(file, within=file.parent)
    except IntakeError as error:
        sandbox.refuse(str(error).replace(f"{file.parent}/", ""))
    trials, rejects = [each.row for each in found.trials[:MOST_REPORTS]], found.outcome.rejects
    figures = trial_figures.compute(found.outcome, [row["trial_id"] for row in trials]) if trials else {}
    return {
        "kind": found.kind,
        "why": found.why,
        "left_alone": found.left_alone,
        "trials": [dict.fromkeys(TRIALS.names) | row | figures[row["trial_id"]] for row in trials],
        "trials_in_all": len(found.trials),
        "rejects": [{key: each[key] for key in ("line", "reason", "hint")} for each in rejects[:MOST_REJECTS]],
        "rejects_in_all": len(rejects),
        "lines": found.lines[:MOST_LINES],
        "lines_in_all": len(found.lines),
    }


def ready() -> None:
    """Confine this process, import what the job needs, and run the model once, as the first run is slow."""
    sandbox.confine(_MEMORY_BYTES)
    import dropline.ingest.show  # noqa: F401

    trial_figures.compute(None, ())


def main(path: str) -> None:
    """Write the result of `look` for the file at `path` to standard output, as JSON."""
    sys.stdout.buffer.write(json.dumps(look(Path(path)), default=str).encode())
