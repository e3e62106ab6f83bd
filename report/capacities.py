"""Capacities in the report: tables as in ISC's articles, single figures, and comparison with published figures."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from dropline.app import queries, wording
from dropline.report.scope import Row, Scope, grouped, joined, printable, web
from dropline.report.sections import Block, Cell, Section, Table

SERVERS: Final = {
    **{"none": "Single server", "hot-standby": "Hot standby", "load-balancing": "Load balancing"},
    "ha": "High availability",
}
THREADING: Final = {"single": "single-threaded", "multi": "multi-threaded"}
MARKS: Final = {"warn": " ⚠", "suspect": " ✖"}


def figures(scope: Scope) -> list[Row]:
    """Return one capacity per configuration, preferably at its usual loss goal, with `sign` and `shown`."""
    headline = printable(queries.ask(scope.warehouse, "capacities", configuration_ids=scope.ids, loss_goal=None))
    lacking = scope.labels.keys() - {row["configuration_id"] for row in headline}
    other_rates = printable(queries.ask(scope.warehouse, "other_rates"))
    others = [row for row in other_rates if row["configuration_id"] in lacking]
    found = []
    for row in [*headline, *others]:
        sign = wording.bound(row["status"], row["qualifier"])
        value = row["rate"] if row["rate"] is not None else row["rate_at_most"]
        shown = wording.rate(value, wording.figure_sign(*[row[name] for name in wording.FIGURE_COLUMNS]))
        found.append(row | {"sign": sign, "value": value, "shown": shown})
    return found


def sections(scope: Scope, figures: Sequence[Row]) -> Iterable[Section]:
    """Return one section per unit, leases per second first: the tables by backend, then every figure."""
    by_unit = grouped(figures, lambda row: str(row["rate_unit"]))
    for unit, rows in sorted(by_unit.items(), key=lambda item: (item[0] != "leases/s", item[0])):
        matrices = [block for some in _alike(rows) for block in _matrices(some)]
        title = unit.replace("/s", " per second")
        key = "".join(char if char.isalnum() else "-" for char in unit.lower())
        yield Section(f"capacity-{key}", title[0].upper() + title[1:], (*matrices, *_list(scope, rows, unit)))


def _alike(rows: Sequence[Row]) -> list[list[Row]]:
    """Split figures into tables; campaigns share a table unless their figures would share a cell."""
    same = ("origin", "product", "product_version", "testbed", "scenario", "method", "tool", "loss_goal")
    parts: list[list[Row]] = []
    for some in grouped(rows, lambda row: repr([row[name] for name in same])).values():
        cells = Counter((row["protocol"], _set_up(row), row["backend"]) for row in some)
        split = max(cells.values()) > 1
        parts += grouped(some, lambda row: row["campaign"]).values() if split else [some]
    return [part for part in parts if len(part) > 1]


def _matrices(rows: Sequence[Row]) -> list[Block]:
    """Return a table per protocol, with set-ups as rows and backends as columns, as in ISC's articles.

    Leave out tables in which no figure shares a row or a column with another.
    """
    tables = [
        _matrix(protocol, some)
        for protocol, some in sorted(grouped(rows, lambda row: row["protocol"] or "").items())
        if min(len({_set_up(row) for row in some}), len({row["backend"] for row in some})) < len(some)
    ]
    return [_conditions(rows), *tables] if tables else []


def _matrix(protocol: str, rows: Sequence[Row]) -> Table:
    backends = sorted({row["backend"] or "" for row in rows})  # by name, as in the articles
    tested = joined(rows[0]["product"], rows[0]["product_version"], protocol)
    lines = []
    for set_up, some in grouped(sorted(rows, key=_set_up_order), _set_up).items():
        of = grouped(some, lambda row: row["backend"] or "")
        cells = {name or wording.NOT_STATED: _cell(of.get(name, ())) for name in backends}
        lines.append({"Set-up": set_up or "All"} | cells)
    return Table.of(", ".join(filter(None, [tested, rows[0]["rate_unit"]])), lines)


def _cell(rows: Sequence[Row]) -> Cell:
    """Return the figures of a cell, fastest first; a single figure comes with its interval and runs."""
    ordered = sorted(rows, key=lambda row: -(row["value"] or 0))
    text = " / ".join(row["shown"] + MARKS.get(row["quality"], "") for row in ordered)
    return Cell(text or "-", spread(rows[0]) if len(rows) == 1 else "")


def spread(row: Row) -> str:
    """Return the range and the runs of a figure, e.g. `bracket 8,288 to 9,750; 3 of 5 runs`; empty if published."""
    return "; ".join(filter(None, (_range(row).removeprefix("-"), _runs(row))))


def _range(row: Row) -> str:
    return wording.capacity_range(*(row[name] for name in wording.RANGE_COLUMNS))


def _runs(row: Row) -> str:
    if row["runs"] is None:
        return ""
    kept = f"{wording.count(row['runs_kept'])} of " if row["runs_kept"] not in (None, row["runs"]) else ""
    return kept + wording.plural(row["runs"], "run")


def _conditions(rows: Sequence[Row]) -> str:
    row = rows[0]
    campaigns = sorted({each["campaign"] for each in rows})
    parts = (
        f"Campaign{'s' if len(campaigns) > 1 else ''} {', '.join(campaigns)}",
        joined(row["tool"], row["tool_version"]),
        f"scenario {row['scenario']}" if row["scenario"] else "",
        f"testbed {row['testbed']}" if row["testbed"] else "",
        row["method"] or "",
        f"loss goal {wording.loss_goal(row['loss_goal'], row['loss_limit'], row['loss_basis'])}",
    )
    return "; ".join(part for part in parts if part) + "."


def _set_up(row: Row) -> str:
    """Return HA mode and threading in the terms of ISC's articles, e.g. `Hot standby, multi-threaded ×4`.

    Other parts of the configuration's name, such as the folder of its files, are appended.
    """
    threads = f" ×{row['threads']}" if row["threading"] == "multi" and row["threads"] else ""
    threading = THREADING.get(row["threading"] or "", row["threading"] or "")
    named = ("product", "product_version", "protocol", "backend", "threading", "ha_mode", "scenario", "testbed")
    known = {word for name in named for word in (row[name] or "").split()} | {f"x{row['threads']}"}
    others = " ".join(word for word in row["configuration"].split() if word not in known)
    parts = (SERVERS.get(row["ha_mode"] or "", row["ha_mode"] or ""), threading + threads, others)
    return ", ".join(part for part in parts if part)


def _set_up_order(row: Row) -> tuple[int, str, bool, int, str]:
    modes = list(SERVERS)
    place = modes.index(row["ha_mode"]) if row["ha_mode"] in modes else len(modes)
    return place, row["ha_mode"] or "", row["threading"] != "single", row["threads"] or 0, _set_up(row)


def _best(row: Row) -> str:
    best = row["rate_interpolated"]
    return "-" if best is None else wording.rate(wording.about(best, row["ci_low"], row["ci_high"]), "≈")


def _list(scope: Scope, rows: Sequence[Row], unit: str) -> Iterable[Block]:
    goals = {
        row["loss_goal"]: wording.loss_goal(row["loss_goal"], row["loss_limit"], row["loss_basis"]) for row in rows
    }
    usual = f"; ≥ {wording.STATUSES['bracketed']}" if "bracketed" in {row["status"] for row in rows} else ""
    yield Table.of(
        f"All figures in {unit}; {', '.join(goals[name] for name in sorted(goals))}{usual}",
        (
            {
                "Configuration": scope.labels[row["configuration_id"]],
                unit.capitalize(): row["shown"],
                "Rate at the limit": _range(row),
                "Best single figure": _best(row),
                "Runs": _runs(row),
                "Loss goal": row["loss_goal"] if len(goals) > 1 else "",
                "How": "" if row["status"] == "bracketed" else wording.STATUSES.get(row["status"], row["status"] or ""),
                "Quality": Cell(wording.quality(row["quality"]), wording.findings(row["findings"])),
            }
            for row in rows
        ),
    )
    widened = wording.widened({scope.labels[row["configuration_id"]]: row["widening"] for row in rows})
    if widened:
        yield widened


def beside_published(scope: Scope, figures: Sequence[Row]) -> Section:
    """Return the measured figures with a published counterpart of the same kind."""
    pairs = [row for row in figures if row.get("published_rate") is not None]
    campaigns = printable(scope.warehouse.query("select campaign, title, source_url from campaigns"))
    sources = {row["campaign"]: Cell(row["title"] or row["campaign"], url=web(row["source_url"])) for row in campaigns}
    table = Table.of(
        "Measured, and the latest published figure of the same product, protocol, backend, threading and HA mode",
        (
            {
                "Configuration": scope.labels[row["configuration_id"]],
                "Measured": Cell(row["shown"], spread(row)),
                "Published": wording.rate(row["published_rate"]),
                "Measured / published": wording.ratio(row["value"], row["published_rate"], row["sign"]),
                "Of version": row["published_version"] or "",
                "Source": sources[row["published_campaign"]],
            }
            for row in pairs
        ),
    )
    warning = "The machines and versions differ: the ratio says how far apart the figures are, not why."
    return Section("published", "Compared with published figures", (warning, table) if pairs else ())
