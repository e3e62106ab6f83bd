"""Progress of a running measurement for the dashboard: one small file in the home."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dropline.measure.drive import Seen
    from dropline.measure.plan import Plan
    from dropline.paths import Home

_FILE: Final = "measuring.json"
_KEPT: Final = 2000  # trials


@contextmanager
def shown(plan: Plan, folder: Path, home: Home) -> Iterator[Callable[[Seen], None]]:
    """Maintain the file in `home` while `plan` is measured; yield a callback for each trial."""
    home.root.mkdir(parents=True, exist_ok=True)
    path = home.root / _FILE
    trials: list[dict[str, Any]] = []
    state = {"campaign": plan.campaign, "folder": str(folder), "pid": os.getpid(), "began_at": _now()}

    def see(seen: Seen | None) -> None:
        trials.extend([{**asdict(seen), "at": _now()}] if seen else [])
        half = path.with_name(f".{_FILE}.part")
        half.write_text(json.dumps({**state, "trials": trials[-_KEPT:]}))
        half.replace(path)

    see(None)
    try:
        yield see
    finally:
        path.unlink(missing_ok=True)


def current(home: Path) -> dict[str, Any] | None:
    """Return the current measurement of a home, with `is_alive`; None if there is none."""
    try:
        state: dict[str, Any] = json.loads((home / _FILE).read_bytes())
    except (OSError, ValueError):
        return None
    return {**state, "is_alive": Path(f"/proc/{state['pid']}").exists()}


def _now() -> str:
    return datetime.now(UTC).isoformat()
