"""The LPS-needed calculator: how many leases per second a site needs, and which configurations give them.

The arithmetic is the SQL function `lps_needed` (macros/functions.sql); the command line, the page and an analyst
all run that one text.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

FUNCTIONS: Final = Path(__file__).parent.parent / "macros" / "functions.sql"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One input of the calculator; `unit` is a count, `s` or a ratio (0 to 1)."""

    name: str
    label: str
    unit: str
    default: float
    minimum: float
    maximum: float
    help: str


PARAMETERS: Final[tuple[Parameter, ...]] = (
    Parameter("clients", "Clients", "clients", 0, 0, 1e12, "How many devices hold a lease."),
    Parameter("lease_s", "Lease time", "s", 86400, 1, 1e10, "The valid lifetime that the server gives."),
    Parameter(
        "t1_ratio", "T1 of the lease", "ratio", 0.5, 0.01, 1,
        "When clients renew, as a share of the lease: half, unless the server sends another T1.",
    ),
    Parameter("arriving_clients", "New clients", "clients", 0, 0, 1e12, "How many devices come for a new lease ..."),
    Parameter("arrival_window_s", "... within", "s", 3600, 1, 1e10, "The time over which they come."),
    Parameter(
        "boot_ratio", "Share that boots at once", "ratio", 0, 0, 1,
        "The share of all clients that starts together: the morning, a building's power coming back.",
    ),
    Parameter("boot_window_s", "Boot wave lasts", "s", 600, 1, 1e10, "The time over which these clients start."),
    Parameter("down_clients", "Clients to recover", "clients", 0, 0, 1e12, "How many lost their lease in an outage."),
    Parameter("recovery_s", "Recover within", "s", 600, 1, 1e10, "How soon all of them shall have a lease again."),
    Parameter("ip_version", "IP version", "version", 4, 4, 6, "4 or 6: it decides how often waiting clients repeat."),
    Parameter(
        "ha_ratio", "High-availability ratio", "ratio", 1, 0.01, 2,
        "LPS with HA over LPS without; see ha_speedup. Leave it at 1 when comparing with figures measured with HA.",
    ),
    Parameter(
        "utilisation_ratio", "Highest utilisation", "ratio", 1, 0.01, 1,
        "How much of the measured LPS you are willing to use: laboratory figures are a maximum.",
    ),
)  # fmt: skip

PRESETS: Final[dict[str, dict[str, float]]] = {
    "86,400 clients, one-day lease": {"clients": 86400, "lease_s": 86400},
    "20,000 devices, once in eight hours": {"arriving_clients": 20000, "arrival_window_s": 28800},
    "350,000 subscribers, two-hour lease": {"clients": 350000, "lease_s": 7200},
    "350,000 subscribers, one-minute lease": {"clients": 350000, "lease_s": 60},
}


# What the calculator computes: column of `lps_needed` -> its name and how it is computed. The first four add up.
LOADS: Final[dict[str, tuple[str, str]]] = {
    "renewals_lps": ("Renewals", "clients / (T1 x lease time)"),
    "arrivals_lps": ("New clients", "new clients / the time over which they come"),
    "boot_wave_lps": ("Boot wave", "share that boots x clients / length of the wave"),
    "recovery_lps": ("Recovery after an outage", "clients to recover / recovery time"),
    "steady_lps": ("Steady", "renewals and new clients"),
    "peak_lps": ("Peak", "all of these together"),
    "needed_lps": ("Needed", "peak / (high-availability ratio x highest utilisation)"),
    "retransmissions_per_s": ("Repetitions", "messages per second of clients that wait"),
    "peak_messages_per_s": ("Messages", "per second at the peak: two for a renewal, four for a new lease"),
}
PARTS: Final = tuple(LOADS)[:4]


_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|d|w)?")
_SECONDS: Final = {None: 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}


def seconds(text: str) -> float:
    """Return a duration such as `24h`, `90m`, `7d` or `3600` in seconds; raises ValueError."""
    found = _DURATION.fullmatch(text.strip())
    if not found:
        message = f"{text!r} is no duration; write for example 24h, 90m, 7d or 3600 (seconds)"
        raise ValueError(message)
    return float(found[1]) * _SECONDS[found[2]]


def lps_needed(connection: duckdb.DuckDBPyConnection, inputs: Mapping[str, float]) -> dict[str, float]:
    """Return the loads in leases per second and messages per second, by name.

    Args:
        connection: any connection where the function `lps_needed` is known: a warehouse, or `blank()`.
        inputs: values of `PARAMETERS` by name; what is left out takes its default.

    Raises:
        ValueError: an input is unknown, not a finite number, or outside its limits.
    """
    values = {parameter.name: parameter.default for parameter in PARAMETERS} | dict(inputs)
    limits = {parameter.name: parameter for parameter in PARAMETERS}
    for name, value in values.items():
        if name not in limits:
            message = f"{name!r} is no input of the calculator; it knows {', '.join(limits)}"
            raise ValueError(message)
        low, high = limits[name].minimum, limits[name].maximum
        if not math.isfinite(value) or not low <= value <= high:
            message = f"{limits[name].label} ({name}) is {value:g}; expected {low:g} to {high:g}"
            raise ValueError(message)
    arguments = ", ".join(f"{name} := ${name}" for name in values)
    cursor = connection.cursor().execute(f"select * from lps_needed({arguments})", values)  # noqa: S608 - fixed names
    names = [column[0] for column in cursor.description or ()]
    row: tuple[Any, ...] = cursor.fetchone() or ()
    return dict(zip(names, row, strict=True))


def blank() -> duckdb.DuckDBPyConnection:
    """Return an empty database in memory that knows the calculator, for use without a warehouse."""
    import duckdb
    import jinja2

    templates = jinja2.Environment(autoescape=False)  # noqa: S701 - renders SQL of our own, never HTML
    functions = templates.from_string(FUNCTIONS.read_text("utf-8")).module
    connection = duckdb.connect(":memory:")
    connection.execute(functions.lps_needed_function())  # type: ignore[attr-defined]
    return connection


def report(warehouse: Path, inputs: Mapping[str, float]) -> str:
    """Return the loads as text, and the configurations in `warehouse` that meet them, if there is one.

    Raises ValueError as `lps_needed` does.
    """
    from app.warehouse import Warehouse, WarehouseMissing

    loads = lps_needed(blank(), inputs)
    lines = [f"{loads[name]:>12,.2f}  {label}: {formula}" for name, (label, formula) in LOADS.items()]
    try:
        known = Warehouse.open(warehouse)
    except WarehouseMissing:
        lines.append("\nBuild a warehouse (dropline up examples) to see which configurations give that.")
        return "\n".join(lines)
    meeting = known.query(
        "select configuration, origin, lps, headroom_ratio, quality from configurations_meeting($lps) limit 10",
        {"lps": loads["needed_lps"]},
    ).to_pylist()
    lines.append(f"\n{'leases/s':>12}  {'x needed':>8}  configurations that meet it, fastest first")
    lines += [
        f"{row['lps']:>12,.0f}  {row['headroom_ratio'] or math.inf:>8,.1f}  "
        f"{row['configuration']} ({row['origin']}, {row['quality']})"
        for row in meeting
    ] or ["none"]
    return "\n".join(lines)
