"""The LPS-needed calculator: how many leases per second a site needs, and which configurations give them.

The arithmetic is the SQL function `lps_needed` (macros/functions.sql); the command line, the page and an analyst
all run that one text. The hour after an event is simulated by `inference.recovery` from the loads that it returns.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from app.warehouse import Warehouse
    from inference.recovery import Course

FUNCTIONS: Final = Path(__file__).parent.parent / "macros" / "functions.sql"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One input of the calculator; `unit` is a count, `s` or a ratio (0 to 1); `group` is where a form shows it."""

    name: str
    label: str
    unit: str
    default: float
    minimum: float
    maximum: float
    help: str
    group: str

    @property
    def full_label(self) -> str:
        """The label for a place where the line above it is not seen, with its unit if that is a time."""
        return self.label.replace("...", "New clients") + (" (s)" if self.unit == "s" else "")


_CLIENTS, _NEW, _EVENTS, _TIMERS, _ALLOWANCES = (
    "Clients and their leases",
    "New clients and movement",
    "Boot wave and outage",
    "Time-outs of waiting clients",
    "Allowances",
)
PARAMETERS: Final[tuple[Parameter, ...]] = (
    Parameter("clients", "Clients", "clients", 0, 0, 1e12, "How many devices hold a lease.", _CLIENTS),
    Parameter("lease_s", "Lease time", "s", 86400, 1, 1e10, "The valid lifetime that the server gives.", _CLIENTS),
    Parameter(
        "t1_ratio", "T1 of the lease", "ratio", 0.5, 0.01, 1,
        "When clients renew, as a share of the lease: half, unless the server sends another T1.", _CLIENTS,
    ),
    Parameter(
        "t2_ratio", "T2 of the lease", "ratio", 0.875, 0.01, 1,
        "When clients without an answer ask any server: 0.875 in DHCPv4, 0.8 in DHCPv6. Never before T1.", _CLIENTS,
    ),
    Parameter(
        "renewing_ratio", "Share that renews", "ratio", 1, 0, 1,
        "The others let the lease run out and come for a new one, with four messages in place of two.", _CLIENTS,
    ),
    Parameter("ip_version", "IP version", "version", 4, 4, 6, "4 or 6: it decides how clients repeat.", _CLIENTS),
    Parameter(
        "arriving_clients", "New clients", "clients", 0, 0, 1e12, "How many devices come for a new lease ...", _NEW,
    ),
    Parameter("arrival_window_s", "... within", "s", 3600, 1, 1e10, "The time over which they come.", _NEW),
    Parameter(
        "moves_per_client_h", "Moves per client and hour", "moves", 0, 0, 3600,
        "How often a client moves to another network, where it needs a new lease.", _NEW,
    ),
    Parameter(
        "boot_ratio", "Share that boots at once", "ratio", 0, 0, 1,
        "The share of all clients that starts together: the morning, a building's power coming back.", _EVENTS,
    ),
    Parameter(
        "boot_window_s", "Boot wave lasts", "s", 600, 1, 1e10,
        "The time over which these clients start, and over which the clients to recover come back.", _EVENTS,
    ),
    Parameter(
        "down_clients", "Clients to recover", "clients", 0, 0, 1e12,
        "How many come back without a lease at once: a power cut, a region that was cut off.", _EVENTS,
    ),
    Parameter(
        "outage_s", "Server is down for", "s", 0, 0, 1e10,
        "Clients keep running: those that reach T1 meanwhile, and those that come, wait for the server.", _EVENTS,
    ),
    Parameter("recovery_s", "Recover within", "s", 600, 1, 1e10, "How soon all of them shall be served.", _EVENTS),
    Parameter(
        "first_timeout_s", "First time-out", "s", 0, 0, 3600,
        "After how long a client repeats. 0: as in the RFC, 4 s (DHCPv4) or 1 s (DHCPv6). It doubles each time.",
        _TIMERS,
    ),
    Parameter(
        "longest_timeout_s", "Longest time-out", "s", 0, 0, 1e6,
        "Where the doubling ends. 0: as in the RFC, 64 s (DHCPv4) or 3600 s (DHCPv6, SOL_MAX_RT).", _TIMERS,
    ),
    Parameter(
        "relay_ratio", "Relay ratio", "ratio", 1, 0.01, 2, "LPS through your relays over LPS without.", _ALLOWANCES,
    ),
    Parameter(
        "ha_ratio", "High-availability ratio", "ratio", 1, 0.01, 2,
        "LPS with HA over LPS without; see ha_speedup. Leave it at 1 when comparing with figures measured with HA.",
        _ALLOWANCES,
    ),
    Parameter(
        "utilisation_ratio", "Highest utilisation", "ratio", 1, 0.01, 1,
        "How much of the measured LPS you are willing to use; the rest is head-room: laboratory figures are a maximum.",
        _ALLOWANCES,
    ),
)  # fmt: skip
BY_NAME: Final = {parameter.name: parameter for parameter in PARAMETERS}


class Preset(NamedTuple):
    """Inputs to begin with: what a page calls them, the inputs that differ from their defaults, and who says so."""

    title: str
    inputs: dict[str, float]
    source: str


PRESETS: Final[dict[str, Preset]] = {
    "day-lease": Preset(
        "86,400 clients, one-day lease",
        {"clients": 86400, "lease_s": 86400},
        "ISC webinar of 22 April 2020, slide on how much speed is needed: 2 leases per second.",
    ),
    "office-day": Preset(
        "20,000 devices, once in eight hours",
        {"arriving_clients": 20000, "arrival_window_s": 28800},
        "UK Ministry of Justice, DHCP performance page of 20 January 2021: 0.69 requests per second.",
    ),
    "public-wifi": Preset(
        "Public Wi-Fi, 6,000 clients, half-hour lease",
        {
            "clients": 6000, "lease_s": 1800, "renewing_ratio": 0.7, "arriving_clients": 6000,
            "moves_per_client_h": 0.5, "utilisation_ratio": 0.5,
        },
        "Clients and lease: an example of ipdetecto.com, with 6.7 renewals per second if all renew. The share that "
        "renews, the arrivals, the moves and the head-room are assumptions: put in your own.",
    ),
    "subscribers-2h": Preset(
        "350,000 subscribers, two-hour lease",
        {"clients": 350000, "lease_s": 7200},
        "S. Hobson on dhcp-users, June 2014: just under 100 per second.",
    ),
    "subscribers-1min": Preset(
        "350,000 subscribers, one-minute lease",
        {"clients": 350000, "lease_s": 60},
        "S. Hobson on dhcp-users, June 2014: close to 12,000 per second.",
    ),
    "power-cut": Preset(
        "Regional power cut, 12,000 clients",
        {"clients": 12000, "lease_s": 604800, "down_clients": 12000, "boot_window_s": 60, "recovery_s": 600},
        "Clients and seven-day lease: R. Hibbs on dhcp-users, February 2008, after a regional power failure. That all "
        "come back within a minute and shall have a lease within ten are assumptions: put in your own.",
    ),
    "cold-start": Preset(
        "50,000 clients start anew within 90 minutes",
        {"down_clients": 50000, "boot_window_s": 600, "recovery_s": 5400},
        "F. Bulk on dhcp-users, April 2008: 10 leases per second serve 50,000 clients in less than 90 minutes.",
    ),
}  # fmt: skip


# What the calculator computes: column of `lps_needed` -> its name and how it is computed. The first six add up.
LOADS: Final[dict[str, tuple[str, str]]] = {
    "renewals_lps": ("Renewals", "share that renews x clients / (T1 x lease time)"),
    "expiries_lps": ("New leases after the end", "the other clients / lease time"),
    "arrivals_lps": ("New clients", "new clients / the time over which they come"),
    "moves_lps": ("Moving clients", "clients x moves per hour / 3600 s"),
    "boot_wave_lps": ("Boot wave", "share that boots x clients / length of the wave"),
    "recovery_lps": ("Recovery after an outage", "all who wait for the server / recovery time"),
    "steady_lps": ("Steady", "renewals, new leases, new and moving clients"),
    "peak_lps": ("Peak", "all of these together"),
    "needed_steady_lps": ("Steady, with the allowances", "steady / (relay x HA ratio x highest utilisation)"),
    "needed_lps": ("Needed", "peak / (relay x high-availability ratio x highest utilisation)"),
    "steady_messages_per_s": ("Messages, steady", "per second: two for a renewal, four for a new lease"),
    "retransmissions_per_s": ("Repetitions", "messages per second of clients that wait for long"),
    "peak_messages_per_s": ("Messages", "per second at the peak: two for a renewal, four for a new lease"),
    "starting_clients": ("Clients without a lease", "to recover, or came or ran out of their lease in the outage"),
    "renewing_clients": ("Clients past T1", "after the outage: they ask their own server"),
    "rebinding_clients": ("Clients past T2", "after the outage: they ask every server"),
    "useful_queue_requests": (
        "Longest useful queue",
        "requests: needed x first time-out; in a longer one they grow stale",
    ),
}
PARTS: Final = tuple(LOADS)[:6]
SWING: Final = 0.2  # by which share an input is varied
ENDS: Final = ("smaller", "larger")
HARDLY: Final = 0.001  # an input that moves the need by a smaller share hardly matters
MOST_MEETING: Final = 10
MOST_MISSING: Final = 5
_VARIED: Final = tuple(each for each in PARAMETERS if each.unit != "version")
# One question: as many as there are cases would take ten times as long.
_INFLUENCES: Final = """with

cases as (

    select input, changed, cast(value as double) as value
    from (
        values
        (null, null, null),
        {cases}
    ) as listed (input, changed, value)

)

select input, changed, value, needed_lps
from cases, lateral (select needed_lps from lps_needed(
    {arguments}
))"""

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|d|w)?")
_SECONDS: Final = {None: 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}


def seconds(text: str) -> float:
    """Return a duration such as `24h`, `90m`, `7d` or `3600` in seconds; raises ValueError."""
    found = _DURATION.fullmatch(text.strip())
    if not found:
        message = f"{text!r} is no duration; write for example 24h, 90m, 7d or 3600 (seconds)"
        raise ValueError(message)
    return float(found[1]) * _SECONDS[found[2]]


def complete(given: Mapping[str, float], preset: str | None = None) -> dict[str, float]:
    """Return all inputs: those given, then those of the preset, then the defaults.

    Raises:
        ValueError: the preset or an input is unknown, or a value is not a finite number within its limits.
    """
    if preset is not None and preset not in PRESETS:
        message = f"{preset!r} is no preset; there are {', '.join(PRESETS)}"
        raise ValueError(message)
    beginning = PRESETS[preset].inputs if preset else {}
    values = {parameter.name: parameter.default for parameter in PARAMETERS} | beginning | dict(given)
    for name, value in values.items():
        if name not in BY_NAME:
            message = f"{name!r} is no input of the calculator; it knows {', '.join(BY_NAME)}"
            raise ValueError(message)
        limits = BY_NAME[name]
        if not math.isfinite(value) or not limits.minimum <= value <= limits.maximum:
            message = f"{limits.label} ({name}) is {value:g}; expected {limits.minimum:g} to {limits.maximum:g}"
            raise ValueError(message)
    if values["ip_version"] not in (4, 6):
        message = f"IP version is {values['ip_version']:g}; expected 4 or 6"
        raise ValueError(message)
    return values


def lps_needed(connection: duckdb.DuckDBPyConnection, inputs: Mapping[str, float]) -> dict[str, float]:
    """Return the columns of `lps_needed`: loads in leases and messages per second, clients that wait, by name.

    Args:
        connection: any connection where the function `lps_needed` is known: a warehouse, or `blank()`.
        inputs: values of `PARAMETERS` by name; what is left out takes its default.

    Raises:
        ValueError: as `complete`.
    """
    values = complete(inputs)
    arguments = ", ".join(f"{name} := ${name}" for name in values)
    cursor = connection.cursor().execute(f"select * from lps_needed({arguments})", values)  # noqa: S608 - fixed names
    names = [column[0] for column in cursor.description or ()]
    row: tuple[Any, ...] = cursor.fetchone() or ()
    return dict(zip(names, row, strict=True))


def sql(inputs: Mapping[str, float]) -> str:
    """Return the question to a warehouse that gives the same loads: only what differs from its default is named."""
    values = complete(inputs)
    named = [f"{name} := {value!r}" for name, value in values.items() if value != BY_NAME[name].default]
    return f"select * from lps_needed({', '.join(named)})"  # noqa: S608 - our names, and numbers


def blank() -> duckdb.DuckDBPyConnection:
    """Return an empty database in memory that knows the calculator, for use without a warehouse."""
    import duckdb
    import jinja2

    templates = jinja2.Environment(autoescape=False)  # noqa: S701 - renders SQL of our own, never HTML
    functions = templates.from_string(FUNCTIONS.read_text("utf-8")).module
    connection = duckdb.connect(":memory:")
    connection.execute(functions.lps_needed_function())  # type: ignore[attr-defined]
    return connection


class Influence(NamedTuple):
    """What an input does to the need: its value and the leases per second needed, below and above what was given."""

    name: str
    value: float
    low_value: float
    high_value: float
    low_lps: float
    high_lps: float

    @property
    def swing_lps(self) -> float:
        """By how many leases per second the need moves from one end to the other."""
        return abs(self.high_lps - self.low_lps)


def influences(connection: duckdb.DuckDBPyConnection, inputs: Mapping[str, float]) -> list[Influence]:
    """Return what each input does to the LPS needed when it alone is a fifth smaller or larger, strongest first.

    An input stays within its limits, and a ratio of at most 1 does not exceed it: no relay makes a server faster.
    Inputs that hardly matter are left out, such as those that are zero.
    """
    values = complete(inputs)
    rows = connection.cursor().execute(influences_sql(values)).fetchall()
    lps = {(name, end): needed_lps for name, end, _, needed_lps in rows}
    found = [
        Influence(each.name, values[each.name], *_ends(each, values[each.name]), *(lps[each.name, end] for end in ENDS))
        for each in _VARIED
    ]
    moving = [each for each in found if each.swing_lps > HARDLY * lps[None, None]]
    return sorted(moving, key=lambda each: -each.swing_lps)


def influences_sql(inputs: Mapping[str, float]) -> str:
    """Return the question for the LPS needed: with each input smaller and larger in turn, and with all as given."""
    values = complete(inputs)
    cases = [
        f"('{each.name}', '{end}', {value!r})"
        for each in _VARIED
        for end, value in zip(ENDS, _ends(each, values[each.name]), strict=True)
    ]
    arguments = [
        f"{each.name} := if(input is not distinct from '{each.name}', value, {values[each.name]!r})" for each in _VARIED
    ]
    arguments += [f"{each.name} := {values[each.name]!r}" for each in PARAMETERS if each not in _VARIED]
    return _INFLUENCES.format(cases=",\n        ".join(cases), arguments=",\n    ".join(arguments))


def _ends(parameter: Parameter, value: float) -> tuple[float, float]:
    highest = min(parameter.maximum, max(1, value)) if parameter.unit == "ratio" else parameter.maximum
    low, high = (min(max(value * factor, parameter.minimum), highest) for factor in (1 - SWING, 1 + SWING))
    return low, high


def hour(inputs: Mapping[str, float], loads: Mapping[str, float], measured_lps: float) -> Course:
    """Return the simulated hour after the boot wave or the outage.

    Args:
        inputs: as for `lps_needed`.
        loads: what it returned for them.
        measured_lps: leases per second of the server as measured; the relay, HA and utilisation ratios reduce it. It
            keeps as many requests as it answers before the first client repeats.
    """
    from inference import recovery

    values = complete(inputs)
    t1_s = values["t1_ratio"] * values["lease_s"]
    timers = recovery.timers(
        int(values["ip_version"]),
        values["lease_s"],
        t1_s,
        max(t1_s, values["t2_ratio"] * values["lease_s"]),
        values["first_timeout_s"] or None,
        values["longest_timeout_s"] or None,
    )
    capacity = measured_lps * values["relay_ratio"] * values["ha_ratio"] * values["utilisation_ratio"]
    starting_lps = loads["expiries_lps"] + loads["arrivals_lps"] + loads["moves_lps"]
    outage_s = values["outage_s"]
    came = starting_lps * outage_s - loads["expiries_lps"] * max(0.0, outage_s - values["lease_s"])
    returning = values["down_clients"] + values["boot_ratio"] * values["clients"]
    return recovery.simulate(
        recovery.steady(starting_lps) + recovery.wave(returning, values["boot_window_s"]),
        recovery.steady(loads["renewals_lps"]),
        capacity,
        timers,
        capacity * max(0.0, timers.waits[0].low),
        recovery.after_outage(timers, came, loads["renewals_lps"] * min(outage_s, t1_s), outage_s, t1_s),
    )


class Answer(NamedTuple):
    """All that the calculator says; `configurations` is None without a warehouse."""

    inputs: dict[str, float]
    loads: dict[str, float]
    influences: list[Influence]
    measured_lps: float
    hour: Course
    configurations: list[dict[str, Any]] | None


def answer(warehouse: Path, inputs: Mapping[str, float], measured_lps: float | None = None) -> Answer:
    """Compute the need, the hour after the event at `measured_lps` (by default what is needed), and who meets it.

    Raises ValueError as `complete` does.
    """
    from app.queries.planner import configurations
    from app.warehouse import Warehouse, WarehouseMissing

    values, calculator = complete(inputs), blank()
    loads = lps_needed(calculator, values)
    at = loads["needed_lps"] if measured_lps is None else measured_lps
    known: Warehouse | None
    try:
        known = Warehouse.open(warehouse)
    except WarehouseMissing:
        known = None
    protocol = f"DHCPv{values['ip_version']:.0f}"
    rows = configurations(known, loads["needed_lps"], protocol).to_pylist() if known else None
    return Answer(values, loads, influences(calculator, values), at, hour(values, loads, at), rows)


_FIGURES: Final = (
    *("configuration", "campaign", "origin", "lps", "ci_low", "ci_high", "headroom_ratio", "missing_lps"),
    *("meeting_probability", "status", "quality", "configuration_id"),
)


def as_json(found: Answer) -> str:
    """Return an answer as JSON; the hour is summed up."""
    rows = found.configurations
    content = {
        "inputs": found.inputs,
        "loads": found.loads,
        "influences": [each._asdict() for each in found.influences],
        "hour_after": {"measured_lps": found.measured_lps} | summed_up(found.hour),
        "configurations": rows and [{name: row[name] for name in _FIGURES} for row in rows],
    }
    return json.dumps(content, indent=1)


def summed_up(course: Course) -> dict[str, float | None]:
    """Return an hour in four figures; `recovered_s` is None where an hour does not suffice."""
    return {
        "recovered_s": course.recovered_s,
        "most_waiting_clients": float(course.waiting.max()),
        "requests": float(course.sent.sum()),
        "repeated_requests": float(course.repeated.sum()),
    }


def as_text(found: Answer) -> str:
    """Return an answer for people: loads, the hour after the event, what matters most, and who meets the need."""
    shown = {name: text for name, text in LOADS.items() if found.loads[name] or name == "needed_lps"}
    lines = [f"{found.loads[name]:>12,.2f}  {label}: {formula}" for name, (label, formula) in shown.items()]
    if found.measured_lps > 0:
        lines += ["", hour_in_words(found.hour, found.measured_lps)]
    if found.influences:
        strongest = found.influences[0]
        lines += [
            "",
            f"What matters most: {BY_NAME[strongest.name].full_label}. From {strongest.low_value:,g} to "
            f"{strongest.high_value:,g}, the need goes from {strongest.low_lps:,.2f} to {strongest.high_lps:,.2f}.",
        ]
    if found.configurations is None:
        lines += ["", "Build a warehouse (dropline up examples) to see which configurations give that."]
        return "\n".join(lines)
    meeting = [row for row in found.configurations if row["missing_lps"] == 0]
    missing = [row for row in found.configurations if row["missing_lps"]]
    if found.loads["needed_lps"] <= 0:
        lines += ["", "Say how many clients there are (--clients), or how many come, to see who can serve them."]
        return "\n".join(lines)
    heading = f"{'leases/s':>12}  {'x needed':>8}  {'probable':>8}"
    lines += [
        "",
        "x needed: the lower end of the 95 % interval, or the figure where there is none, over the need.",
        "probable: that one more run reaches the need, by the spread of all runs; - without repeated runs.",
    ]
    lines += ["", f"{heading}  configurations that meet it, fastest first: {len(meeting)}"]
    lines += [_line(row) for row in meeting[:MOST_MEETING]] or ["none"]
    if missing:
        lines += ["", f"{heading}  configurations that miss it, closest first: {len(missing)}"]
        lines += [f"{_line(row)}, {row['missing_lps']:,.0f} leases/s short" for row in missing[:MOST_MISSING]]
    return "\n".join(lines)


def hour_in_words(course: Course, measured_lps: float) -> str:
    """Return what happens in the hour after the event, as a sentence or two."""
    if not course.repeated.any() and not course.without_lease.any():
        return f"With {measured_lps:,.2f} measured leases/s nobody waits and nobody repeats."
    recovered = course.recovered_s
    end = "not everybody has a lease after an hour" if recovered is None else f"all have a lease after {recovered:,} s"
    return (
        f"With {measured_lps:,.2f} measured leases/s {end}; at most {course.waiting.max():,.0f} clients wait, and "
        f"{course.repeated.sum():,.0f} of {course.sent.sum():,.0f} requests are repetitions."
    )


def _line(row: Mapping[str, Any]) -> str:
    probable = row["meeting_probability"]
    return (
        f"{row['lps']:>12,.0f}  {row['headroom_ratio']:>8,.2f}  "
        f"{'-' if probable is None else f'{100 * probable:.1f} %':>8}  "
        f"{row['configuration']} ({row['origin']}, {row['quality']})"
    )
