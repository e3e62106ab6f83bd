"""What the report says, from the summary to the findings: the warehouse's answers as sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dropline.app import words
from dropline.report import capacities, comparisons, curves
from dropline.report.scope import chosen, day, grouped, joined, moment, number, percent, printable, shown, web
from dropline.report.sections import Cell, Paragraph, Points, Report, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dropline.app.warehouse import Warehouse
    from dropline.report.scope import Row, Scope

MACHINE_UNITS: Final = {
    "memory_bytes": "memory",
    "cpu_mhz": "cpu clock, MHz",
    "nic_speed_mbps": "nic speed, Mbit/s",
}
METHOD: Final = (
    "Capacity of a run: its steps are ordered by offered rate; the capacity is the achieved rate at the last step "
    "before the loss first exceeds the limit.",
    "Figure of a configuration: the mean of its runs after the campaign's rule has left out some of the lowest "
    "and highest. It is a lower bound of what these runs reach (≥): the last step that passed lies below the limit. <: "
    "a run's first step already lost more than the limit.",
    "Rate at the limit: where the loss reaches the limit, between the last step that passed and the first that failed. "
    "The 95 % interval is Student's, of the runs that do not dip, from the lower end of an estimate linear in the loss "
    "to the upper end of one in its logarithm. Where the steps are coarser than five times the runs' spread, and for a "
    "single run, no interval can be had: the bracket of steps is what is known. Open upwards where no step exceeded "
    "the limit. Published figures have neither.",
    "Ratio: of the rates at the limit, half-way between both estimates; its 95 % interval has Welch's margins. "
    "Published single figures are divided as they are, without an interval.",
    "Verdict: faster or slower where the interval leaves 1 out and p, corrected by Holm for all tests of its kind, is "
    "at most 0.05; probably where only the interval of the pair alone does: among many pairs one such is no surprise. "
    "Ratios that are not told apart have no colour.",
    "Runs are taken as independent. Neighbours that resemble each other widen the interval, from eight runs on. Of "
    "configurations measured one after the other, instead of in turn, drift of the machine counts as a difference.",
    "Fairness: the worst of what differs besides the factor compared: same, minor, unknown (one side does not say), "
    "unfair.",
    "⚠ and ✖: findings touch the figure; they are listed at the end.",
)


def report(warehouse: Warehouse, campaigns: Sequence[str] = ()) -> Report:
    """Return the report on some campaigns; without any, on all that were measured, else on all.

    Raises:
        ReportError: a campaign is not in the warehouse.
    """
    scope = chosen(warehouse, campaigns)
    told = scope.rows(
        """
        select
            campaign, title, origin, description, started_on, source_url, configurations, runs, trials, files,
            rejected_files, discard_lowest, discard_highest, discard_from_runs, first_started_at, last_started_at
        from campaigns
        where list_contains($campaigns, campaign)
        order by origin, campaign
        """
    )
    configurations = scope.rows("select * from configurations where list_contains($ids, configuration_id)")
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
                "Configurations": words.count(row["configurations"]),
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
    rows = scope.rows(
        """
        select
            configuration_id, tool, backend, offered_rate, count(*) as trials, sum(sent) as sent,
            sum(ratio_printed * sent) / nullif(sum(sent), 0) as ratio_printed,
            sum(ratio_true * sent) / nullif(sum(sent), 0) as ratio_true,
            sum(lost_in_receive_buffer) as lost_in_receive_buffer, sum(lost_at_closed_port) as lost_at_closed_port,
            sum(lost_in_server) as lost_in_server, sum(probes) as probes, sum(probes_failed) as probes_failed,
            bool_or(is_server_restarted) as is_server_restarted, bool_or(is_pace_lost) as is_pace_lost
        from packet_accounting
        where list_contains($ids, configuration_id) and ratio_printed is not null and ratio_true is not null
        group by all
        order by backend nulls last, configuration_id, offered_rate nulls first
        """
    )
    table = Table.of(
        "Answered share as the generator prints it, and as the counters of the server and the network have it",
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
        "Which runs are left out of the mean",
        ({"Campaign": row["campaign"], "Rule": _rule(row)} for row in told if row["discard_lowest"] is not None),
    )
    used = grouped(
        sorted(configurations, key=lambda row: (row["campaign"], row["tool"] or "", row["method"] or "")),
        lambda row: repr([row[name] for name in ("campaign", "tool", "tool_version", "method", "scenario")]),
    )
    generators = Table.of(
        "Generators and how they were run; the drop time is how long an answer may take",
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
    return Section("method", "Method", (Points((*texts, *METHOD)), rules, generators))


def _rule(row: Row) -> str:
    if not row["discard_lowest"] and not row["discard_highest"]:
        return "none: all runs count"
    fewest = row["discard_from_runs"] or 1
    return f"lowest {row['discard_lowest']} and highest {row['discard_highest']}, from {fewest} runs on"


def _machines(scope: Scope) -> Section:
    hosts = scope.rows(
        """
        select distinct on (host_id) * exclude (facts, campaign, host_id, origin)
        from hosts
        where host_id in (
            select coalesce(host_id, testbed) from configurations where list_contains($ids, configuration_id)
        )
        order by host_id, campaign
        """
    )
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
    rows = scope.rows(
        """
        select configurations.configuration_id, server.*
        from configurations
        inner join (
            select distinct on (server_config_id) * from server_configurations order by server_config_id, campaign
        ) as server on configurations.server_config_id = server.server_config_id
        where list_contains($ids, configurations.configuration_id)
        order by configurations.campaign, configurations.configuration, configurations.configuration_id
        """
    )
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
        "What the servers' own configurations say",
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
    rows = scope.rows(
        """
        with

        kinds as (

            select
                severity, finding, subject, case when severity <> 'info' then configuration_id end as configuration_id,
                count(*) as times,
                min({'place': coalesce(source_path, ''), 'id': finding_id, 'detail': coalesce(detail, '')}) as example
            from quality_findings
            where list_contains($campaigns, campaign)
            group by all

        )

        select * from kinds
        order by severity <> 'suspect', severity <> 'warning', finding, subject, example
        """
    )
    if not rows:
        return Section("findings", "Findings", (Paragraph("Nothing was found against these campaigns."),))
    table = Table.of(
        "Findings by severity; of several the first by file",
        (
            {
                "Severity": row["severity"],
                "Finding": words.findings([row["finding"]]),
                "Configuration": scope.labels.get(row["configuration_id"] or "", ""),
                "Times": f"{number(row['times'])} ({row['subject']})",
                "For example": Cell(shown(row["example"]["detail"]), shown(row["example"]["place"])),
            }
            for row in rows
        ),
    )
    return Section("findings", "Findings", (table,))
