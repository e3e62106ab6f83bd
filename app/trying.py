"""A file that a visitor drops: read in a process and a folder of its own, which are gone afterwards.

Nothing of it is stored, unless the operator set DROPLINE_ALLOW_UPLOADS and an editor asks for it (`keep`, `take_in`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dropline.app import bounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
_FIGURES: Final = (
    "source_line", "tool", "tool_version", "command", "protocol", "offered_rate", "rate_unit", "sent", "received",
    "dropped", "duration_s", "started_at", "completed", "warnings", "conflicts",
)  # fmt: skip

Row = dict[str, Any]


def prepare() -> None:
    """Make ready for the next file, so that it need not wait for a process."""
    bounded.prepare(__name__)


def explain(name: str, data: bytes) -> Row:
    """Return what a file is and says.

    The keys are kind and why (in words), left_alone, trials (as `_trial` gives them, the first `MOST_REPORTS`),
    rejects (line, reason, hint; the first `MOST_REJECTS`), lines ([number, text, kind]; the first `MOST_LINES`), and
    trials_in_all, rejects_in_all, lines_in_all.

    Raises:
        Refused: the file cannot be looked at.
        TooMuch: reading it took too long or too much memory.
    """
    if len(data) > MOST_BYTES:
        message = f"{len(data):,} bytes are more than {MOST_BYTES // 2**20} MiB: use `dropline show FILE` for it."
        raise bounded.Refused(message)
    with tempfile.TemporaryDirectory(prefix="dropline-") as folder:  # for our user only
        file = Path(folder, safe_name(name))
        file.write_bytes(data)
        return dict(json.loads(bounded.run(__name__, str(file), seconds=SECONDS)))


def safe_name(name: str) -> str:
    """Return what a visitor's browser calls a file as the name of a file in one folder, with its endings."""
    kept = re.sub(r"[^\w.+=,@ -]", "_", name.replace("\\", "/").rpartition("/")[2], flags=re.ASCII)
    return kept.lstrip(".")[-_LONGEST_NAME:].strip() or "unnamed"


def may_keep() -> bool:
    """Say whether the operator lets editors store files."""
    return os.environ.get(ALLOWED) == "1"


def keep(home: Home, name: str, data: bytes) -> Path:
    """Store the bytes under uploads/ of the home, by their digest, and return the path; the same bytes only once."""
    folder = home.root / "uploads" / hashlib.sha256(data).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    if known := next((each for each in folder.iterdir() if not each.name.startswith(".")), None):
        return known
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".", delete=False) as fresh:
        fresh.write(data)
    return Path(fresh.name).replace(folder / safe_name(name))


def take_in(home: Home) -> str:
    """Ingest the kept files, as campaign `uploads` and in a process of its own, and return what it says.

    What was taken in before is skipped. The process is the command line, so that the app never writes to a lake.

    Raises:
        Refused: nothing was taken in; the text says why.
        TooMuch: it took longer than `INGEST_S`.
    """
    command = [sys.executable, "-m", "dropline", "--home", str(home.root), "ingest", str(home.root / "uploads")]
    environment = {"PYTHONUTF8": "1", "TZ": "UTC"}  # none of the app's, which may hold secrets
    try:
        done = subprocess.run(  # noqa: S603 - ourselves
            command, capture_output=True, text=True, timeout=INGEST_S, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        message = f"The ingest took longer than {INGEST_S:g} s and was ended. The file is kept: type `dropline ingest`."
        raise bounded.TooMuch(message) from None
    if not done.stdout:
        raise bounded.Refused(done.stderr.strip())
    return done.stdout.strip()


def losses(trial: Mapping[str, Any], exchanges: Sequence[Mapping[str, Any]]) -> Row:
    """Return achieved_rate (per second) and the loss ratios (0..1) of a trial, as int_trials__measured defines them.

    The keys are achieved_rate, loss_worst_exchange, loss_packet and loss_lease; what is not known is None. Counters
    that lie beside a trial, which correct what dnsblast prints, are not here.
    """
    answered = [each for each in exchanges if each["exchange"] != "RELEASE"]  # a RELEASE is never answered
    lease = {each["position"]: each for each in exchanges if each["position"] <= 1}
    last = lease.get(1) or lease.get(0) or {}
    received = last.get("received")
    completed = None if received is None else received - (last.get("rejected") or 0)
    plain = _over(trial.get("dropped"), trial.get("sent"))
    worst = [ratio for each in answered if (ratio := _over(each["drops"], each["sent"])) is not None]
    packets = _over(_total(each["drops"] for each in answered), _total(each["sent"] for each in answered))
    asked = lease.get(0, {}).get("sent")
    # whole numbers until the one division: 1 - 99 / 100 is above 0.01
    leases = None if completed is None or asked is None else _over(asked - completed, asked)
    per_second = _over(completed, _period(trial, received))
    return {
        "achieved_rate": trial.get("achieved_rate") if per_second is None else per_second,
        "loss_worst_exchange": max(worst, default=plain),
        "loss_packet": plain if packets is None else packets,
        "loss_lease": plain if leases is None else leases,
    }


def _period(trial: Mapping[str, Any], received: float | None) -> float | None:
    """Return how long a trial lasted in s: perfdhcp's rate is answers over wall time, which tells of an early end."""
    asked, elapsed = trial.get("duration_s"), _over(received, trial.get("achieved_rate"))
    early = asked is not None and elapsed is not None and elapsed < 0.95 * asked
    return elapsed if early else asked


def _over(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _total(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _trial(row: Row, exchanges: Sequence[Row]) -> Row:
    started = row.get("started_at")
    shown = {name: row.get(name) for name in _FIGURES} | {"started_at": None if started is None else str(started)}
    return shown | losses(row, exchanges)


def look(file: Path) -> Row:
    """Return what `explain` returns for a file that lies in a folder of its own; to be called in a confined process.

    Raises:
        SystemExit: the file cannot be looked at; why stands on standard error.
    """
    from dropline.ingest import formats
    from dropline.ingest.files import HEAD_BYTES, IntakeError
    from dropline.ingest.show import show

    try:
        found = show(file, within=file.parent)
    except IntakeError as error:
        bounded.refuse(str(error).replace(f"{file.parent}/", ""))
    trials: list[Row] = []
    data = file.read_bytes()
    if found.trials and (reader := formats.recognise(data[:HEAD_BYTES])):
        reports = (part for part in reader.parse(data) if isinstance(part, formats.Report))
        pairs = zip(found.trials[:MOST_REPORTS], reports, strict=False)
        trials = [_trial(trial.row, report.exchanges) for trial, report in pairs]
    return {
        "kind": found.kind,
        "why": found.why,
        "left_alone": found.left_alone,
        "trials": trials,
        "trials_in_all": len(found.trials),
        "rejects": [{key: each[key] for key in ("line", "reason", "hint")} for each in found.rejects[:MOST_REJECTS]],
        "rejects_in_all": len(found.rejects),
        "lines": [list(line) for line in found.lines[:MOST_LINES]],
        "lines_in_all": len(found.lines),
    }


def ready() -> None:
    """Confine this process, and import what the work needs."""
    bounded.confine(_MEMORY_BYTES)
    import_module("dropline.ingest.show")


def main(path: str) -> None:
    """Write what the file at `path` is and says to standard output, as JSON."""
    sys.stdout.buffer.write(json.dumps(look(Path(path))).encode())
