"""State of a home in a few lines, and its measured capacities."""

import json
from typing import Any

from dropline.app.queries import ask
from dropline.app.warehouse import Warehouse, WarehouseMissing
from dropline.ingest import log
from dropline.paths import Home


def committed(home: Home) -> list[str]:
    """Return the names of the batches in the lake, oldest first."""
    return [batch for entry in log.read(home.lake / "log") for batch in entry.batches]


def gate(home: Home) -> list[dict[str, Any]]:
    """Return the last result of every suite of the gate; empty before the first build.

    Each has suite, checked_at (ISO 8601), expectations, successes, failures, severity (of the worst failure; None if
    all pass) and findings (name -> count).
    """
    file = home.quality / "gate.json"
    if not file.exists():
        return []
    parts = json.loads(file.read_text("utf-8")).values()
    return [suite | {"checked_at": part["checked_at"]} for part in parts for suite in part["suites"]]


def describe(home: Home) -> str:
    """Return the state of the lake, the warehouse and the gate as text; a missing one is no error."""
    batches = committed(home)
    lines = [
        f"home       {home.root}",
        f"lake       {len(batches)} batch{'es' * (len(batches) != 1)}" + (f", newest {batches[-1]}" if batches else ""),
    ]
    try:
        warehouse = Warehouse.open(home.warehouse)
    except WarehouseMissing:
        first = "" if batches else "dropline ingest FOLDER, then "
        return "\n".join([*lines, f"warehouse  not built yet: {first}dropline build"])
    held = warehouse.query("select built_at, lake_batches from build_info").to_pylist()[0]
    behind = len(set(batches) - set(held["lake_batches"]))
    state = f"{behind} batch{'es' * (behind != 1)} behind the lake: dropline build" if behind else "up to date"
    lines.append(f"warehouse  built {held['built_at']:%Y-%m-%d %H:%M:%S} UTC, {state}")
    lines += ask(warehouse, "status_lines")["line"].to_pylist()
    if suites := gate(home):
        failed = sum(suite["failures"] for suite in suites)
        held = sum(suite["successes"] for suite in suites)
        severities = ", ".join(sorted({suite["severity"] for suite in suites if suite["severity"]}))
        lines.append(f"gate       {held} expectations passed, {failed} failed" + (f" ({severities})" if failed else ""))
    return "\n".join(lines)
