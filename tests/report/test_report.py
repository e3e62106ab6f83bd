"""The report says what the marts say, each figure in its place."""

from pathlib import Path

import pytest

import report
from dropline.app import queries, wording
from dropline.app.warehouse import Warehouse
from dropline.errors import DroplineError
from dropline.report import content
from dropline.report.sections import Table
from tests.commands import dropline

ROOT = Path(__file__).parents[2]
EXAMPLES = ["kea-2.2-backends", "kea-2.2-ha"]


@pytest.fixture(scope="module")
def examples(warehouse, tables_of):
    return tables_of(report.make(warehouse, form="markdown"))


def rows_of(made, key):
    [section] = [section for section in made.sections if section.key == key]
    for table in section.blocks:
        if isinstance(table, Table):
            yield from (dict(zip(table.columns, row, strict=True)) for row in table.rows)


def test_each_measured_figure_stands_in_its_place_with_interval_and_runs(warehouse, examples):
    known = warehouse.query("select * from capacity where origin = 'measured' and loss_goal = 'isc'").to_pylist()
    known = [row for row in known if row["rate_unit"] == "leases/s"]
    servers = {"none": "Single server", "hot-standby": "Hot standby", "load-balancing": "Load balancing"}
    assert len(known) == 12
    for row in known:
        threading = "single-threaded" if row["threading"] == "single" else f"multi-threaded ×{row['threads']}"
        head, *rows = examples[f"ISC Kea 2.2.0 {row['protocol']}, leases/s"]
        [line] = [line for line in rows if line[0] == f"{servers[row['ha_mode']]}, {threading}"]
        cell = line[head.index(row["backend"])]
        sign = "≈" if (row["ci_low"] or 0) < row["rate"] and row["interval_kind"] == "confidence" else "≥"
        assert cell.startswith(f"{wording.rate(row['rate'], sign)} (")
        assert wording.capacity_range(*(row[name] for name in wording.RANGE_COLUMNS)) in cell
        assert f"{row['runs']} run" in cell
    head, single, multi, *_ = examples["ISC Kea 2.2.0 DHCPv4, leases/s"]
    assert "7 of 9 runs" in single[1]
    assert "3 of 5 runs" in multi[head.index("memfile")]
    assert "8,496" not in multi[head.index("memfile")], "where the last passing steps lie is not what is known"


def test_a_ratio_is_that_of_its_mart_with_verdict_and_fairness(warehouse, examples):
    known = warehouse.query("""
        select coalesce(ratio_interpolated, speedup) as speedup, verdict, p_value_holm, fairness, lps_multi, lps_single
        from multithreading_speedup
        where origin = 'measured'
        """).to_pylist()
    head, *rows = examples["Multithreading: rate of the first divided by the rate of the second, leases/s"]
    asked = ("Rate", "Against", "Ratio", "Verdict", "p (Holm)", "Fairness")
    assert len(known) == 6
    assert sorted([row[head.index(name)].lstrip("≥≈ ") for name in asked] for row in rows) == sorted(
        [
            wording.rate(row["lps_multi"]),
            wording.rate(row["lps_single"]),
            f"{row['speedup']:.3g} ×",
            row["verdict"],
            "-" if (p := row["p_value_holm"]) is None else f"{p:.2g}" if p >= 0.001 else r"\< 0.001",
            row["fairness"],
        ]
        for row in known
    )


def test_a_pair_of_backends_is_compared_once(examples):
    head, *rows = examples["Backends: rate of the first divided by the rate of the second, leases/s"]
    pairs = [(row[0], *sorted(row[head.index("Compared")].split(" against "))) for row in rows]
    assert len(pairs) == len(set(pairs)) == 6


def test_only_what_a_test_has_shown_has_a_colour(warehouse):
    compared = list(rows_of(content.report(warehouse), "changes"))
    tones = {(row["Ratio"].tone, row["Verdict"].text) for row in compared}
    assert tones <= {
        ("good", "faster"),
        ("bad", "slower"),
        ("", "no evidence"),
        ("", "probably faster"),
        ("", "probably slower"),
        ("", "not testable"),
    }
    assert ("bad", "slower") in tones


def test_published_figures_stand_beside_measured_ones(examples):
    title = "Measured, and the latest published figure of the same product, protocol, backend, threading and HA mode"
    head, *rows = examples[title]
    [row] = [row for row in rows if row[0] == "ISC Kea 2.2.0 DHCPv4 memfile single (kea-2.2-backends)"]
    found = dict(zip(head, row, strict=True))
    assert found["Published"] == "11,686"
    assert found["Source"] == "Kea Performance Tests - 2.0 <https://kb.isc.org/docs/en/kea-20-performance-tests>"
    assert len(rows) == 12


def test_bounds_are_shown_as_bounds(changed):
    of = "(select min(configuration_id) from capacity where threading = 'multi' and campaign = '{}' and backend = '{}')"
    one, another = of.format("kea-2.2-backends", "mysql"), of.format("kea-2.2-ha", "memfile")
    warehouse = changed(
        f"update capacity set status = 'never_exceeded' where configuration_id = {one}",
        f"update capacity set status = 'exceeded_at_first_step', rate = null, rate_at_most = 444, ci_low = 0, "
        "ci_high = 450, last_passing_rate = 0, first_exceeding_rate = 462, interval_kind = 'bracket' "
        f"where configuration_id = {another}",
    )
    made = content.report(warehouse, EXAMPLES)
    rows = [row for row in rows_of(made, "capacity-leases-s") if "Leases/s" in row]
    figures = {row["Leases/s"].text: (row["How"].text, row["Rate at the limit"].text) for row in rows}
    assert figures["< 444"] == (wording.STATUSES["exceeded_at_first_step"], "bracket below 462 offered")
    hows = {how for text, (how, _) in figures.items() if text.startswith("≥")}
    assert hows == {"at least: a ramp ended below the limit", ""}
    assert "; ≥ at least: the last step that passed" in str(made.sections), "once, above the table"


def test_pairs_that_were_not_measured_in_turn_and_widened_intervals_are_named(warehouse, changed):
    def said(of, key):
        [section] = [section for section in content.report(of, EXAMPLES).sections if section.key == key]
        return " ".join(block for block in section.blocks if isinstance(block, str))

    drift = "were measured one after the other: drift of the machine may look like a difference."
    assert drift in said(warehouse, "changes")
    assert "widened the interval of ISC Kea 2.2.0 DHCPv4 memfile single (kea-2.2-backends)" in said(
        warehouse, "capacity-leases-s"
    )
    alternating = changed("update ratios set is_in_turn = true", "update capacity set widening = 1")
    assert drift not in said(alternating, "changes")
    assert "widened" not in said(alternating, "capacity-leases-s")


def test_a_series_that_changed_its_level_is_among_the_answers(changed):
    warehouse = changed(
        "update trends set is_change = true, change_ratio = 0.9 where place = 4 and loss_goal = 'isc' "
        "and configuration = 'ISC Kea 2.2.0 DHCPv4 memfile single'"
    )
    summary, *_ = content.report(warehouse, EXAMPLES).sections
    change = "-10.0 % from run 4 of 9 (2026-11-20) on: ISC Kea DHCPv4 memfile single · perfdhcp · kea-netns-2core."
    assert change in summary.blocks


def test_throughput_that_no_ramp_gave_has_its_table(changed, tables_of):
    warehouse = changed(
        "insert into configurations by name select unnest(['f', 'g']) as configuration_id, 'f' as configuration, "
        "'measured' as origin, 'kea-2.2-ha' as campaign, 'permille' as usual_goal",
        "insert into queries_per_second by name select 'f' as configuration_id, 'lower bound' as kind, "
        "'throughput' as seen_in, 9 as rate, 2 as runs",
        "insert into capacity select * replace ('g' as configuration_id, 'throughput' as loss_goal, 9 as rate, "
        "'queries/s' as rate_unit) from capacity where campaign = 'kea-2.2-ha' limit 1",
        "delete from capacity where campaign = 'kea-2.2-backends'",
        "update trials set (rate_unit, achieved_rate, run_id, offered_rate, configuration_id) = "
        "('frames/s', 7, 'r', null, if(campaign = 'kea-2.2-ha', 'f', configuration_id))",
    )
    tables = tables_of(report.make(warehouse, ["kea-2.2-ha"], "markdown"))
    [(_, *rows)] = [table for title, table in tables.items() if title.startswith("Throughput without a set rate")]
    assert [row[1:] for row in rows] == [["7", "frames/s", "1", "as reported"], ["9", "queries/s", "2", "lower bound"]]
    figures = queries.ask(warehouse, "own_figures", {"labels": "labels"}).to_pylist()
    told = {(row["status"] == "no set rate", row["rate"], row["rate_unit"]) for row in figures}
    assert told >= {(False, 9, "queries/s"), (True, None, None)}


def test_the_share_that_a_generator_prints_stands_beside_the_true_one(changed, tables_of):
    row = (
        "insert into packet_accounting by name select 't{0}' as trial_id, 'run' as run_id, configuration_id, campaign, "
    )
    row += "'dnsblast' as tool, 'lmdb' as backend, 2000 as offered_rate, {0} as sent, {1} as ratio_printed, "
    row += "{2} as ratio_true, {3} as lost_in_receive_buffer, 60 as probes, {4} as probes_failed, {5} as "
    row += "is_server_restarted from configurations where configuration = 'ISC Kea 2.2.0 DHCPv4 mysql single'"
    warehouse = changed(row.format(10000, 0.673, 0.7988, 2012, 0, False), row.format(30000, 1, 1, 0, 3, True))
    tables = tables_of(report.make(warehouse, ["kea-2.2-backends"], "markdown"))
    [title] = [title for title in tables if title.startswith("Answered share, as the generator prints it")]
    [found] = [dict(zip(tables[title][0], row, strict=True)) for row in tables[title][1:]]
    assert found == {
        "Configuration": "ISC Kea 2.2.0 DHCPv4 mysql single",
        "Backend": "lmdb",
        "Generator": "dnsblast",
        "Offered, queries/s": "2,000",
        "Trials": "2",
        "Sent": "40,000",
        "Printed": "91.8 %",  # (0.673 * 10000 + 1 * 30000) / 40000
        "True": "95 %",  # (0.7988 * 10000 + 1 * 30000) / 40000
        "Lost in receive buffer": "2,012",
        "Probes failed": "3 of 120",
        "Noticed": "server restarted",
    }


def test_what_else_a_configuration_is_called_by_is_a_set_up_of_its_own(changed, tables_of):
    warehouse = changed("update capacity set configuration = configuration || ' large-buffer' where backend = 'mysql'")
    head, *rows = tables_of(report.make(warehouse, EXAMPLES, "markdown"))["ISC Kea 2.2.0 DHCPv4, leases/s"]
    assert [row[0] for row in rows if row[head.index("mysql")] != "-"] == [
        "Single server, single-threaded, large-buffer",
        "Single server, multi-threaded ×4, large-buffer",
    ]


def test_method_machine_and_servers_are_told(examples):
    assert examples["Which runs the mean leaves out"][1:] == [
        [name, "lowest 1 and highest 1, from 5 runs on"] for name in EXAMPLES
    ]
    generators = examples["Generators and their options; the drop time is how long an answer may take"]
    assert generators[1][1:3] == ["perfdhcp 2.2.0", "period 3 s; drop time 1 s/1 s; 10000000 clients"]
    machine = dict(examples["Machine vm (kea-2.2-backends, kea-2.2-ha)"])
    assert machine["cpu model"] == "Intel(R) Xeon(R) Processor"
    assert machine["memory"] == "24.0 GiB"
    servers = examples["Values from the servers' own configurations"]
    assert {"Threads", "Queue, packets", "Hooks"} <= set(servers[0])
    assert len(servers) == 13


def test_every_finding_is_counted(warehouse, examples):
    [counted] = warehouse.query(
        f"select count(*) as n from quality_findings where campaign in {tuple(EXAMPLES)}"
    ).to_pylist()
    head, *rows = examples["Findings by severity; if there are several alike, the first by file"]
    assert sum(int(row[head.index("Times")].partition(" ")[0].replace(",", "")) for row in rows) == counted["n"]


def test_each_ramp_and_each_capacity_step_has_its_chart(warehouse):
    charts = {section.key: section.blocks for section in content.report(warehouse).sections}
    assert len(charts["loss"]) == 12
    assert len(charts["seconds"][1:]) == 24, "two exchanges each"
    [chart] = [
        chart for chart in charts["loss"] if chart.about.startswith("ISC Kea 2.2.0 DHCPv4 memfile single (kea-2.2-b")
    ]
    assert "7 of 9 runs" in chart.drawn.description
    assert "Median of n = 9 runs each" in chart.drawn.description
    assert "the limit of 2.5 %" in chart.drawn.description


def test_without_anything_measured_everything_published_is_told(published_home):
    made = content.report(Warehouse.open(published_home / "warehouse.duckdb"))
    keys = [section.key for section in made.sections]
    assert "capacity-leases-s" in keys
    assert "capacity-queries-s" in keys
    assert "loss" not in keys


def test_the_same_warehouse_gives_the_same_file_dated_by_its_build(warehouse, warehouse_home):
    [built] = warehouse.query(
        "select strftime(built_at at time zone 'UTC', '%Y-%m-%d %H:%M') as at from build_info"
    ).to_pylist()
    again = Warehouse.open(warehouse_home / "warehouse.duckdb")
    for form in report.FORMATS:
        text = report.make(warehouse, EXAMPLES, form)
        assert text == report.make(again, EXAMPLES[::-1], form)
        assert f"built {built['at']} UTC" in text


def test_an_unknown_campaign_is_named_with_its_neighbours(warehouse):
    with pytest.raises(DroplineError, match=r"--campaign kea-2\.2-hb: .* did you mean kea-2\.2-ha"):
        report.make(warehouse, ["kea-2.2-hb"])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["-o", "{tmp}/report.html", "--campaign", "kea-2.2-ha"], 0, ""),
        (["--format", "markdown"], 0, ""),
        (["--format", "pdf"], 2, "'pdf' is not one of 'html', 'markdown'"),
        (["-o", "{tmp}/no/where.html"], 1, "No such file or directory"),
        (["--campaign", "nobody"], 1, "no campaign with that name"),
    ],
)
def test_the_command_writes_the_report_or_says_why_not(warehouse_home, tmp_path, arguments, code, said):
    done = dropline("report", *(each.replace("{tmp}", str(tmp_path)) for each in arguments), home=warehouse_home)
    assert done.code == code, done.stderr
    assert said in done.stderr
    if code == 0:
        written = tmp_path / "report.html"
        assert (written.read_text("utf-8") if written.exists() else done.stdout).startswith(
            ("<!doctype html>", "# Bench")
        )
