"""Contents of the report, from the summary to the findings, as sections."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dropline.app import wording
from dropline.report import capacities, comparisons, curves
from dropline.report.scope import chosen, day, grouped, joined, moment, number, percent, printable, shown, web
from dropline.report.sections import Cell, Paragraph, Points, Report, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dropline.app.warehouse import Warehouse
    from dropline.report.scope import Row, Scope

MACHINE_UNITS: Final = {"memory_bytes": "memory", "cpu_mhz": "cpu clock, MHz", "nic_speed_mbps": "nic speed, Mbit/s"}
METHOD: Final = Path(__file__).with_name("method.txt")


def report(warehouse: Warehouse, campaigns: Sequence[str] = ()) -> Report:
    """Return the report on some campaigns; by default on all measured ones, or on all if none was measured.

    Raises:
        ReportError: a campaign is not in the warehouse.
    """
    scope = chosen(warehouse, campaigns)
    told = scope.rows("campaigns")
    configurations = scope.rows("configurations")
    figures = capacities.figures(scope)
    pairs = comparisons.pairs(scope, figures)
    sections = [
        _summary(told, configurations, pairs),
        *capacities.sections(scope, figures),
        comparisons.section(scope, pairs),
        _accounting(scope),
        capacities.beside_published(scope, figures),
        curves.loss(scope, figures),
        curves.seconds(scope),
        _method(scope, told, configurations, figures),
        _machines(scope),
        _servers(scope),
        _findings(scope),
    ]
    [built] = printable(warehouse.query("select built_at, dropline_version from build_info"))
    return Report(
        f"Benchmark report: {_subject(told, configurations)}",
        f"From the warehouse built {moment(built['built_at'])} by Dropline {built['dropline_version']}",
        tuple(section for section in sections if section.blocks),
    )


def _subject(told: Sequence[Row], configurations: Sequence[Row]) -> str:
    products = _products(configurations)
    if len(told) == 1:
        return str(told[0]["title"] or told[0]["campaign"])
    return ", ".join(products) if 1 <= len(products) <= 3 else f"{len(told)} campaigns"


def _products(rows: Iterable[Row]) -> list[str]:
    return sorted({joined(row["product"], row["product_version"]) for row in rows} - {""})


def _summary(told: Sequence[Row], configurations: Sequence[Row], pairs: Sequence[Row]) -> Section:
    table = Table.of(
        "Campaigns",
        (
            {
                "Campaign": Cell(row["campaign"], row["title"] or "", url=web(row["source_url"])),
                "Origin": row["origin"],
                "Date": day(row["started_on"]),
                "Products": ", ".join(_products(r for r in configurations if r["campaign"] == row["campaign"])),
                "Configurations": wording.count(row["configurations"]),
                "Runs": number(row["runs"]),
                "Trials": number(row["trials"]),
                "Files rejected": number(row["rejected_files"]),
                "First trial": moment(row["first_started_at"]),
                "Last trial": moment(row["last_started_at"]),
            }
            for row in told
        ),
    )
    about = tuple(Paragraph(row["description"]) for row in told if row["description"])
    return Section("summary", "Summary", (*about, *comparisons.what_was_shown(pairs), table))


def _accounting(scope: Scope) -> Section:
    rows = scope.rows("accounting")
    table = Table.of(
        "Answered share, as the generator prints it and by the counters of the server and the network",
        (
            {
                "Configuration": scope.labels[row["configuration_id"]],
                "Backend": row["backend"] or "",
                "Generator": row["tool"],
                "Offered, queries/s": number(row["offered_rate"]),
                "Trials": number(row["trials"]),
                "Sent": number(row["sent"]),
                "Printed": percent(row["ratio_printed"]),
                "True": percent(row["ratio_true"]),
                "Lost in receive buffer": number(row["lost_in_receive_buffer"]),
                "Lost at closed port": number(row["lost_at_closed_port"]),
                "Lost in server": number(row["lost_in_server"]),
                "Probes failed": f"{row['probes_failed']} of {row['probes']}" if row["probes"] else "",
                "Noticed": ", ".join(
                    text
                    for name, text in (("is_server_restarted", "server restarted"), ("is_pace_lost", "pace lost"))
                    if row[name]
                ),
            }
            for row in rows
        ),
    )
    return Section("queries", "Where the queries went", (table,) if rows else ())


def _method(scope: Scope, told: Sequence[Row], configurations: Sequence[Row], figures: Sequence[Row]) -> Section:
    goals = {row["loss_goal"] for row in figures}
    texts = [
        f"Loss goal {row['loss_goal']}: {row['description']}."
        for row in printable(scope.warehouse.query("select * from loss_goals order by loss_goal"))
        if row["loss_goal"] in goals
    ]
    rules = Table.of(
        "Which runs the mean leaves out",
        ({"Campaign": row["campaign"], "Rule": _rule(row)} for row in told if row["discard_lowest"] is not None),
    )
    used = grouped(
        sorted(configurations, key=lambda row: (row["campaign"], row["tool"] or "", row["method"] or "")),
        lambda row: repr([row[name] for name in ("campaign", "tool", "tool_version", "method", "scenario")]),
    )
    generators = Table.of(
        "Generators and their options; the drop time is how long an answer may take",
        (
            {
                "Campaign": rows[0]["campaign"],
                "Generator": joined(rows[0]["tool"], rows[0]["tool_version"]),
                "Method": rows[0]["method"] or "",
                "Scenario": rows[0]["scenario"] or "",
                "Drop time, s": number(rows[0]["drop_time_s"]),
                "Configurations": number(len(rows)),
            }
            for rows in used.values()
        ),
    )
    rules_of_all = (" ".join(text.split()) for text in METHOD.read_text("utf-8").split("\n\n"))
    return Section("method", "Method", (Points((*texts, *rules_of_all)), rules, generators))


def _rule(row: Row) -> str:
    if not row["discard_lowest"] and not row["discard_highest"]:
        return "none: all runs count"
    fewest = row["discard_from_runs"] or 1
    return f"lowest {row['discard_lowest']} and highest {row['discard_highest']}, from {fewest} runs on"


def _machines(scope: Scope) -> Section:
    hosts = scope.rows("machines")
    tables = (
        Table.of(
            f"Machine {host['name']}",
            (
                {"Fact": MACHINE_UNITS.get(name, name.replace("_", " ")), "Value": _fact(name, value)}
                for name, value in host.items()
                if value not in (None, []) and name != "name"
            ),
        )
        for host in hosts
    )
    return Section("machines", "Machines", tuple(tables))


def _fact(name: str, value: Any) -> str:
    if name == "memory_bytes":
        return f"{value / 2**30:.1f} GiB"
    if name == "packages":
        return ", ".join(f"{package} {version}" for package, version in value)
    return f"{value:,g}" if isinstance(value, float) else str(value)


def _servers(scope: Scope) -> Section:
    rows = scope.rows("servers")
    numbers = {
        "Threads": "threads",
        "Queue, packets": "packet_queue_size",
        "Subnets": "subnets",
        "Pools": "pools",
        "Addresses": "pool_addresses",
        "Prefixes": "prefix_pool_prefixes",
        "Reservations": "reservations",
        "Classes": "client_classes",
        "Lease time, s": "valid_lifetime_s",
    }
    table = Table.of(
        "Values from the servers' own configurations",
        (
            {"Configuration": Cell(scope.labels[row["configuration_id"]], row["source_path"] or "")}
            | {title: number(row[name]) for title, name in numbers.items()}
            | {
                "HA role": row["ha_role"] or "",
                "Hooks": ", ".join(row["hooks"] or ()),
                "Sockets": row["socket_type"] or "",
            }
            for row in rows
        ),
    )
    return Section("servers", "Server configurations", (table,) if rows else ())


def _findings(scope: Scope) -> Section:
    rows = scope.rows("findings")
    if not rows:
        return Section("findings", "Findings", (Paragraph("There are no findings about these campaigns."),))
    table = Table.of(
        "Findings by severity; if there are several alike, the first by file",
        (
            {
                "Severity": row["severity"],
                "Finding": wording.findings([row["finding"]]),
                "Configuration": scope.labels.get(row["configuration_id"] or "", ""),
                "Times": f"{number(row['times'])} ({row['subject']})",
                "For example": Cell(shown(row["example"]["detail"]), shown(row["example"]["place"])),
            }
            for row in rows
        ),
    )
    return Section("findings", "Findings", (table,))
