"""LPS-needed calculator: how many leases per second a site needs, and which configurations provide them.

The SQL function `lps_needed` (macros/functions.sql) does the arithmetic and checks the limits of its inputs; the
command line, the page and SQL users all run the same text. From its loads, `inference.recovery` simulates the time
from the event to the end of the lease.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dropline import beside
from dropline.app import output_formats, wording

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import duckdb
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse
    from dropline.inference.recovery import Course

FUNCTIONS: Final = Path(__file__).parent.parent / "macros" / "functions.sql"
_DECLARED: Final = beside.words(__file__, "calculator")


class Parameter(NamedTuple):
    """One input of the calculator; `unit` is a count, `s` or a ratio (0 to 1); `group` is its section in the form.

    `option` is its name in `dropline needs`; `minimum` and `maximum` are its limits.
    """

    name: str
    group: str
    option: str
    label: str
    unit: str
    help: str
    default: float
    minimum: float
    maximum: float

    @property
    def full_label(self) -> str:
        """Label that is understood on its own, with the unit if it is a time."""
        return self.label.replace("...", "New clients") + (" (s)" if self.unit == "s" else "")


def _parameters() -> Iterator[Parameter]:
    [given] = re.findall(r"lps_needed_inputs\(\) -%\}(.*?)\{%- endmacro", FUNCTIONS.read_text("utf-8"), re.DOTALL)
    limits = {name: numbers for name, *numbers in json.loads(given)}
    for group, inputs in _DECLARED["inputs"].items():
        for name, declared in inputs.items():
            yield Parameter(
                name, group, *(declared[each] for each in ("option", "label", "unit", "help")), *limits[name]
            )


PARAMETERS: Final = tuple(_parameters())
BY_NAME: Final = {parameter.name: parameter for parameter in PARAMETERS}
_NAMED: Final = re.compile(rf"\b({'|'.join(BY_NAME)})\b( is\b)?")


class Preset(NamedTuple):
    """Example inputs: a title, the inputs that differ from their defaults, and the source."""

    title: str
    inputs: dict[str, float]
    source: str


PRESETS: Final[dict[str, Preset]] = {name: Preset(**declared) for name, declared in _DECLARED["presets"].items()}
# Results: column of `lps_needed` -> label, and how it is computed.
LOADS: Final[dict[str, tuple[str, str]]] = {name: (label, how) for name, (label, how) in _DECLARED["loads"].items()}
PARTS: Final = tuple(LOADS)[:7]
SWING: Final = 0.2  # share by which an input is varied
ENDS: Final = ("smaller", "larger")
HARDLY: Final = 0.001  # inputs that change the need by a smaller share are left out
_VARIED: Final = [each for each in PARAMETERS if each.unit not in {"version", "leases"} and "timeout" not in each.name]
# One query for all cases: a query per case takes ten times as long.
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

_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?\s*(?:s|m|min|h|d|w)\s*)+")
_SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(min|[smhdw])")
_SECONDS: Final = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_WRITTEN: Final = (("d", 86400), ("h", 3600), ("min", 60))
_UNITS: Final = (("days", 86400), ("h", 3600), ("min", 60), ("s", 1))
_SUFFIXES: Final = {"%": 0.01, "k": 1e3, "M": 1e6}
_EXPECTED: Final = {
    "s": "duration; write for example 24h, 1d12h, 90m or 3600 (seconds)",
    "ratio": "share; write for example 0.9 or 90%",
}


def parsed(name: str, text: str) -> float:
    """Parse a person's input: `350k`, `350,000`, `90%`, `24 h`, `1d12h`; raises ValueError."""
    return _quantity(BY_NAME[name].label, text, BY_NAME[name].unit)


def parsed_capacity(text: str) -> float:
    """Parse the leases per second of a server, such as `5k`; raises ValueError."""
    lps = _quantity("Capacity", text)
    if not 0 < lps < math.inf:
        raise ValueError(f"Capacity is {text}; expected more than 0 leases per second")
    return lps


def _quantity(label: str, text: str, unit: str = "") -> float:
    written = _THOUSANDS.sub("", text.strip())
    if unit == "s" and _DURATION.fullmatch(written):
        return sum(float(count) * _SECONDS[each] for count, each in _SPAN.findall(written))
    try:
        if written.endswith("%") and unit != "ratio":
            raise ValueError
        return float(written[:-1]) * _SUFFIXES[written[-1:]] if written[-1:] in _SUFFIXES else float(written)
    except ValueError:
        expected = _EXPECTED.get(unit, "number; write for example 350000, 350k or 1.5M")
        raise ValueError(f"{label}: {text!r} is not a {expected}") from None


def written(name: str, value: float) -> str:
    """Format the value of an input so that `parsed` reads it back: `24 h`, `350k`, `0.9`."""
    if BY_NAME[name].unit == "s" and value:
        fitting = (each for each in _WRITTEN if value % each[1] == 0 and value != each[1])
        unit, length = next(fitting, ("s", 1))
        return f"{value / length:,.12g} {unit}"
    return f"{value / 1000:.12g}k" if value >= 10_000 and value % 1000 == 0 else f"{value:,.12g}"


def complete(given: Mapping[str, float], preset: str | None = None) -> dict[str, float]:
    """Return all inputs: as given, else from the preset, else the default; raise ValueError if one is unknown."""
    if preset is not None and preset not in PRESETS:
        raise ValueError(f"{preset!r} is not a preset; the presets are {', '.join(PRESETS)}")
    for name in given:
        if name not in BY_NAME:
            raise ValueError(f"{name!r} is not an input of the calculator; the inputs are {', '.join(BY_NAME)}")
    beginning = PRESETS[preset].inputs if preset else {}
    return {parameter.name: parameter.default for parameter in PARAMETERS} | beginning | dict(given)


def in_words(error: ValueError) -> str:
    """Return an error of the SQL function with its parameters replaced by the labels of the inputs."""
    return _NAMED.sub(lambda found: BY_NAME[found[1]].full_label + (":" if found[2] else ""), str(error))


def lps_needed(connection: duckdb.DuckDBPyConnection, inputs: Mapping[str, float]) -> dict[str, float]:
    """Return the columns of `lps_needed` by name: loads in leases and messages per second, and waiting clients.

    The connection must have the function, like a warehouse or `blank()`. Omitted inputs take their defaults. Raise
    ValueError if an input is unknown, beyond its limits, or contradicts another.
    """
    import duckdb

    values = complete(inputs)
    arguments = ", ".join(f"{name} := ${name}" for name in values)
    try:
        cursor = connection.cursor().execute(f"select * from lps_needed({arguments})", values)  # noqa: S608 - fixed names
    except duckdb.InvalidInputException as error:
        raise ValueError(str(error).removeprefix("Invalid Input Error: ")) from None
    names = [column[0] for column in cursor.description or ()]
    row: tuple[Any, ...] = cursor.fetchone() or ()
    return dict(zip(names, row, strict=True))


def sql(inputs: Mapping[str, float]) -> str:
    """Return a warehouse query for the same loads that names only the inputs that differ from their defaults."""
    values = complete(inputs)
    named = [f"{name} := {value!r}" for name, value in values.items() if value != BY_NAME[name].default]
    return f"select * from lps_needed({', '.join(named)})"  # noqa: S608 - our names, and numbers


def blank() -> duckdb.DuckDBPyConnection:
    """Return an empty in-memory database with the calculator, for use without a warehouse."""
    import duckdb

    connection = duckdb.connect(":memory:", config={"threads": 1})  # for these few rows, two threads are a third slower
    connection.execute(definition())
    return connection


def definition() -> str:
    """Return the SQL text that creates `lps_needed`."""
    import jinja2

    templates = jinja2.Environment(autoescape=False)  # noqa: S701 - renders our own SQL, never HTML
    templates.globals["fromjson"] = json.loads  # as dbt names it
    functions: Any = templates.from_string(FUNCTIONS.read_text("utf-8")).module
    return str(functions.lps_needed_function())


class Influence(NamedTuple):
    """The effect of an input: a smaller and a larger value, and the leases per second needed at each."""

    name: str
    value: float
    low_value: float
    high_value: float
    low_lps: float
    high_lps: float

    @property
    def swing_lps(self) -> float:
        """Change of the need from one end to the other, in leases per second."""
        return abs(self.high_lps - self.low_lps)


def influences(
    connection: duckdb.DuckDBPyConnection, inputs: Mapping[str, float], loads: Mapping[str, float] | None = None
) -> list[Influence]:
    """Return how the LPS needed change if each input alone is a fifth smaller or larger, the strongest first.

    Inputs stay within their limits, and ratios of at most 1 do not exceed 1: no relay makes a server faster. Leave out
    inputs that hardly matter. `loads` is the result of `lps_needed`, if known.
    """
    values = effective(inputs, loads or lps_needed(connection, inputs))
    rows = connection.cursor().execute(influences_sql(values)).fetchall()
    lps = {(name, end): needed_lps for name, end, _, needed_lps in rows}
    found = [
        Influence(each.name, values[each.name], *_ends(each, values), *(lps[each.name, end] for end in ENDS))
        for each in _varied(values)
    ]
    moving = [each for each in found if each.swing_lps > HARDLY * lps[None, None]]
    return sorted(moving, key=lambda each: -each.swing_lps)


def effective(inputs: Mapping[str, float], loads: Mapping[str, float]) -> dict[str, float]:
    """Return all inputs with the derived `t2_ratio` and `preferred_ratio`; `loads` as from `lps_needed`."""
    values = complete(inputs)
    lifetime_s = loads["t1_s"] / values["t1_ratio"]
    preferred = lifetime_s / values["lease_s"] if values["ip_version"] == 6 else 0
    return values | {"t2_ratio": loads["t2_s"] / lifetime_s, "preferred_ratio": preferred}


def influences_sql(inputs: Mapping[str, float]) -> str:
    """Return the query for the LPS needed with all inputs as given, and with each smaller and larger in turn."""
    values = complete(inputs)
    varied = [each.name for each in _varied(values)]
    ends = [(name, *end) for name in varied for end in zip(ENDS, _ends(BY_NAME[name], values), strict=True)]
    cases = [f"('{name}', '{end}', {value!r})" for name, end, value in ends]
    arguments = [f"{name} := if(input is not distinct from '{name}', value, {values[name]!r})" for name in varied]
    arguments += [f"{name} := {values[name]!r}" for name in BY_NAME if name not in varied]
    return _INFLUENCES.format(cases=",\n        ".join(cases), arguments=",\n    ".join(arguments))


def _varied(values: Mapping[str, float]) -> list[Parameter]:
    """Return the inputs to vary: those that are not zero."""
    return [each for each in _VARIED if values[each.name]]


def _ends(parameter: Parameter, values: Mapping[str, float]) -> tuple[float, float]:
    value = values[parameter.name]
    lowest, highest = parameter.minimum, parameter.maximum
    if parameter.unit == "ratio":
        highest = min(highest, max(1, value))
    if parameter.name == "t1_ratio" and values["t2_ratio"]:
        highest = values["t2_ratio"]
    if parameter.name == "t2_ratio":
        lowest = values["t1_ratio"]
    low, high = (min(max(value * factor, lowest), highest) for factor in (1 - SWING, 1 + SWING))
    return low, high


def course(
    inputs: Mapping[str, float],
    loads: Mapping[str, float],
    measured_lps: float,
    goodput: tuple[tuple[float, float], ...] = (),
) -> Course:
    """Simulate the time after the boot wave or the outage, until the lease ends.

    The relay, HA and utilisation ratios reduce the server's measured leases per second. Its queue holds what it answers
    before the first client retries. `loads` are from `lps_needed`; `goodput` is as in `recovery.Server`.
    """
    from dropline.inference import recovery

    values = complete(inputs)
    t1_s, lease_s, outage_s, clients = loads["t1_s"], values["lease_s"], values["outage_s"], values["clients"]
    version, timeouts_s = int(values["ip_version"]), (values["first_timeout_s"], values["longest_timeout_s"])
    timers = recovery.timers(version, lease_s, t1_s, loads["t2_s"], *(each or None for each in timeouts_s))
    longest_s = max(recovery.LONGEST_TIMEOUT_S[version], lease_s / 1500)
    edges = recovery.periods(t1_s, lease_s, longest_s if measured_lps < loads["steady_lps"] else math.inf)
    leases, renewal = values["leases_per_client"], values["leases_per_client"] * values["renewal_cost_ratio"]
    renewals_per_s = loads["renewals_lps"] / renewal
    expiries_per_s = loads["expiries_lps"] / leases
    starting_per_s = expiries_per_s + (loads["arrivals_lps"] + loads["moves_lps"]) / leases
    came = starting_per_s * outage_s - expiries_per_s * max(0.0, outage_s - lease_s)
    returning = values["down_clients"] + values["boot_ratio"] * clients
    remembering = values["remembering_ratio"]
    # a client that confirms its lease keeps its T1; for a new lease, T1 starts anew
    anew = returning * (1 - remembering if version == 6 else 1)
    running_per_s = renewals_per_s * max(0.0, 1 - anew / clients) if clients else 0.0
    until_s = max(0.0, t1_s - outage_s)
    wave = values["boot_window_s"]
    staying = recovery.steady(starting_per_s, edges)
    leaving = staying + recovery.flow(returning - values["renewing_ratio"] * anew, 0, wave, edges)
    leaving[0] += came
    starting = returning + came
    remembered = remembering * returning / starting if starting else 0.0
    capacity = measured_lps * values["relay_ratio"] * values["ha_ratio"] * values["utilisation_ratio"]
    # a new lease takes two exchanges at half the cost each; a client that remembers its lease takes one
    offer_cost = leases / 2 + remembered * (renewal - leases / 2)
    queue = capacity / offer_cost * max(0.0, min(timers.waits[each].low for each in (0, timers.request)))
    return recovery.simulate(
        edges,
        staying + recovery.flow(returning, 0, wave, edges),
        recovery.flow(running_per_s * until_s, 0, until_s, edges) if until_s else 0 * edges[1:],
        recovery.Server(capacity, queue, offer_cost, leases / 2, 1 - remembered, renewal, goodput),
        timers,
        recovery.after_outage(timers, came, running_per_s * min(outage_s, t1_s), outage_s, t1_s, edges),
        (t1_s, leaving),
    )


class Measured(NamedTuple):
    """A measured set-up as input of `course`; `goodput` is the share that it answers beyond its capacity."""

    configuration: str
    lps: float
    goodput: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Measured:
        """Return the set-up of a row of `planner_goodputs.sql`."""
        points = tuple((each["asked_ratio"], each["answered_ratio"]) for each in row["goodput"])
        return cls(row["configuration"], row["lps"], points)


FIGURES: Final = (  # columns of a configuration
    *("configuration", "campaign", "origin", "lps", "ci_low", "ci_high", "headroom_ratio", "missing_lps"),
    *("meets", "meeting_probability", "status", "quality", "configuration_id"),
)


@dataclass
class Answer:
    """Results of the calculator; slow ones are computed when first read."""

    inputs: dict[str, float]
    loads: dict[str, float]
    measured_lps: float
    goodput: tuple[tuple[float, float], ...]
    calculator: duckdb.DuckDBPyConnection
    known: Warehouse | None

    @property
    def protocol(self) -> str:
        """Protocol of the clients: DHCPv4 or DHCPv6."""
        return f"DHCPv{self.inputs['ip_version']:.0f}"

    @cached_property
    def influences(self) -> list[Influence]:
        """The effect of each input."""
        return influences(self.calculator, self.inputs, self.loads)

    @cached_property
    def course(self) -> Course:
        """The course after the event."""
        return course(self.inputs, self.loads, self.measured_lps, self.goodput)

    @cached_property
    def candidates(self) -> pa.Table | None:
        """All configurations, most head-room first, as in `planner_configurations.sql`; None without a warehouse."""
        from dropline.app.queries import ask

        need = {"needed_lps": self.loads["needed_lps"], "protocol": self.protocol}
        return ask(self.known, "planner_configurations", **need) if self.known else None

    @cached_property
    def configurations(self) -> list[dict[str, Any]] | None:
        """The candidates as rows of FIGURES."""
        return None if self.candidates is None else self.candidates.select(FIGURES).to_pylist()


def answer(
    known: Warehouse | None,
    inputs: Mapping[str, float],
    measured_lps: float | None = None,
    setup: Measured | None = None,
    calculator: duckdb.DuckDBPyConnection | None = None,
) -> Answer:
    """Return the need, the course after the event, and the configurations that meet the need.

    The simulated server gives `measured_lps`, by default the capacity of `setup`, else the need; under overload it
    behaves like `setup`. `calculator` is an earlier result of `blank`. Raise ValueError like `lps_needed`.
    """
    values, calculator = complete(inputs), calculator or blank()
    loads = lps_needed(calculator, values)
    at = measured_lps if measured_lps is not None else setup.lps if setup else loads["needed_lps"]
    return Answer(values, loads, at, setup.goodput if setup else (), calculator, known)


def opened(file: Path) -> Warehouse | None:
    """Return the warehouse, or None if there is none."""
    from dropline.app.warehouse import Warehouse, WarehouseMissing

    try:
        return Warehouse.open(file)
    except WarehouseMissing:
        return None


def measured_like(known: Warehouse | None, inputs: Mapping[str, float], like: str) -> Measured:
    """Return the measured set-up with this configuration name or id; raise ValueError unless there is exactly one."""
    from dropline.app.queries import ask

    protocol = f"DHCPv{complete(inputs)['ip_version']:.0f}"
    rows = ask(known, "planner_goodputs", protocol=protocol).to_pylist() if known else []
    found = [row for row in rows if like in (row["configuration"], row["configuration_id"])]
    if len(found) > 1:
        names = ", ".join(f"{row['configuration_id']} ({row['campaign']})" for row in found)
        raise ValueError(f"{len(found)} configurations are called {like!r}: give the id of one, {names}")
    if found:
        return Measured.of(found[0])
    raise ValueError(f"{like!r} is not a {protocol} configuration with a measured step beyond its capacity")


def headline(found: Answer) -> list[str]:
    """Return the answer in sentences: the need, its parts, and the configurations that meet it."""
    loads = found.loads
    if not loads["needed_lps"]:
        return ["There are no clients to serve: give their number."]
    parts = [f"{amount(loads[name])} {LOADS[name][0].lower()}" for name in PARTS if loads[name]]
    is_longer = loads["recovery_lps"] and loads["recovery_lasts_s"] > found.inputs["recovery_s"]
    back_s = 60 * round(loads["recovery_lasts_s"] / 60) if is_longer else None
    return _said("headline", loads, parts, back_s, found)


@cache
def _sentences() -> Any:
    import jinja2

    templates = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701 - plain text
    templates.filters |= {"amount": amount, "duration": duration, "number": wording.number, "factor": wording.factor}
    templates.filters["count"] = "{:,.0f}".format
    return templates.from_string(Path(__file__).with_name("plan.txt").read_text("utf-8")).module


def _said(macro: str, *arguments: Any) -> list[str]:
    """Return the sentences that a macro of plan.txt writes."""
    parts = str(getattr(_sentences(), macro)(*arguments)).split("\n\n")
    return [" ".join(part.split()) for part in parts if part.strip()]


def demand(found: Answer) -> list[tuple[float, float]]:
    """Return the need until the lease ends, as steps: seconds after the event, leases per second from then on."""
    values, loads = found.inputs, found.loads
    recovery_s = loads["recovery_lasts_s"]
    wave_s = max(values["boot_window_s"] * bool(loads["boot_wave_lps"]), recovery_s)
    busiest_s, end_s = loads["busiest_after_s"] or 0, max(values["lease_s"], loads["t1_s"] + wave_s)
    stretches = [
        (0, values["boot_window_s"], loads["boot_wave_lps"]),
        (0, recovery_s, loads["recovery_lps"]),
        (max(0, busiest_s - 30), busiest_s + 30, loads["returning_lps"]),
        (loads["t1_s"], loads["t1_s"] + wave_s, loads["echo_lps"]),
    ]
    ends = (edge for begin, end, lps in stretches for edge in (begin, end) if lps and 1 < edge < end_s)
    allowance = loads["needed_lps"] / loads["peak_lps"] if loads["peak_lps"] else 1  # raises all loads
    return [
        (at, allowance * (loads["steady_lps"] + sum(lps for begin, end, lps in stretches if begin <= at < end)))
        for at in sorted({1.0, end_s, *ends})
    ]


def as_json(found: Answer) -> str:
    """Return an answer as JSON; in its summary of the course, no `recovered_s` means that not all have a lease."""
    course = found.course
    after = {
        "measured_lps": found.measured_lps,
        "ends_s": float(course.edges[-1]),
        "recovered_s": course.recovered_s,
        "most_waiting_clients": float(course.waiting.max()),
        "requests": float(course.sent.sum()),
        "repeated_requests": float(course.repeated.sum()),
    }
    content = {
        "inputs": found.inputs,
        "loads": found.loads,
        "influences": [each._asdict() for each in found.influences],
        "after": after,
        "configurations": found.configurations,
    }
    return json.dumps(content, indent=1)


def as_text(found: Answer) -> str:
    """Return an answer as text: loads, course after the event, strongest input, configurations that meet the need."""
    import jinja2

    loads = found.loads
    hidden = {"t1_s", "t2_s", "busiest_after_s"}
    if loads["needed_partner_down_lps"] == loads["needed_lps"]:
        hidden.add("needed_partner_down_lps")
    names = [name for name in LOADS if name == "needed_lps" or (loads[name] and name not in hidden)]
    shown = [(loads[name], *LOADS[name]) for name in names]
    given = [f"{name} {_figure(value)}" for name, value in found.inputs.items() if value != BY_NAME[name].default]
    template = jinja2.Template(Path(__file__).with_name("needs.txt").read_text("utf-8"), trim_blocks=True)
    context = {"shown": shown, "given": given, "after": _after(found), "inputs": BY_NAME, "enough": headline(found)[-1]}
    return template.render(found=found, figure=_figure, amount=amount, **context)


def as_markdown(found: Answer) -> str:
    """Return an answer as Markdown: sentences, inputs, parts, and configurations that meet the need."""
    sections = {"Inputs": _given(found), "How it adds up": _loads(found)}
    if found.configurations:
        sections[f"{found.protocol} configurations, most head-room first"] = _configurations(found)
    texts = ["# Leases per second needed", *headline(found), *_after(found)]
    for name, rows in sections.items():
        texts += [f"## {name}", _exported(rows, "markdown").strip()]
    return "\n\n".join(texts) + "\n"


def as_csv(found: Answer) -> str:
    """Return an answer as one table: section, name, value and meaning of the value."""
    rows = [
        {"section": section, "name": row[name], "value": str(row[value]), "note": str(row[note] or "")}
        for section, table, name, value, note in (
            ("input", _given(found), "name", "value", "input"),
            ("need", _loads(found), "load", "figure", "computed as"),
            ("configuration", _configurations(found), "configuration", "leases/s", "origin"),
        )
        for row in table
    ]
    return _exported(rows, "csv")


def _after(found: Answer) -> list[str]:
    return [course_in_words(found), *events_in_words(found)] if found.measured_lps > 0 else []


def _given(found: Answer) -> list[dict[str, Any]]:
    return [
        {"input": BY_NAME[name].full_label.removesuffix(" (s)"), "value": written(name, value), "name": name}
        for name, value in found.inputs.items()
        if value or BY_NAME[name].default
    ]


def _loads(found: Answer) -> list[dict[str, Any]]:
    return [
        {"load": label, "figure": round(found.loads[name], 2), "computed as": formula}
        for name, (label, formula) in LOADS.items()
        if found.loads[name]
    ]


def _configurations(found: Answer) -> list[dict[str, Any]]:
    return [
        {
            "configuration": row["configuration"],
            "leases/s": None if row["lps"] is None else round(row["lps"]),
            "enough": row["meets"],
            "times the need": row["headroom_ratio"] and round(row["headroom_ratio"], 2),
            "short by": round(row["missing_lps"]) or None,
            "origin": row["origin"],
            "quality": row["quality"],
        }
        for row in found.configurations or []
    ]


def _exported(rows: list[dict[str, Any]], form: str) -> str:
    import pyarrow as pa

    return output_formats.encoded(pa.Table.from_pylist(rows), form).decode()


def course_in_words(found: Answer) -> str:
    """Return the course after the event as a sentence."""
    peak_lps = found.loads["peak_lps"]
    gives_lps = found.measured_lps * found.inputs["relay_ratio"] * found.inputs["ha_ratio"]
    # clients arrive at random: this is the busiest minute of a day if the counts have a Poisson distribution
    chance_lps = peak_lps + math.sqrt(math.log(1440) / 30 * peak_lps)
    return " ".join(_said("course", found.loads, found.course, found.measured_lps, gives_lps, chance_lps))


def events_in_words(found: Answer) -> list[str]:
    """Return sentences on the return of clients that missed T1 in an outage, and on joint renewals after the event.

    A slow server spreads out the leases, and so the renewals.
    """
    return _said("events", found.loads | {"echo_lps": min(found.loads["echo_lps"], found.measured_lps)})


def amount(value: float) -> str:
    """Format a planned figure: below ten with two digits, as the inputs are no more precise."""
    if value >= 9.95 or not value:
        return f"{value:,.0f}"
    return f"{value:.2g}" if value >= 0.01 else "<0.01"


def duration(seconds: float) -> str:
    """Return a time as text, in the largest unit that gives at least two."""
    unit, length = next((each for each in _UNITS if seconds >= 2 * each[1]), _UNITS[-1])
    return f"{seconds / length:,.1f}".removesuffix(".0") + f" {unit}"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"
