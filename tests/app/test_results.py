"""The home page: what changed with the version, what is new against the figures, where it begins."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import duckdb
import pytest

from dropline.app.queries import results
from dropline.app.warehouse import Warehouse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

    Open = Callable[..., AppTest]

# series, version of each run, capacity of each run, place of a change of level (0: none), levels
SERIES = {
    "slower": ("1 1 1 2 2 2", (100, 101, 99, 90, 91, 89), 4, (100, 100, 100, 90, 90, 90)),
    "faster": ("1 1 1 2 2 2", (100, 101, 99, 120, 121, 119), 4, (100, 100, 100, 120, 120, 120)),
    "same": ("1 1 1 2 2 2", (100, 101, 99, 100, 102, 98), 0, (100,) * 6),
    "before": ("1 1 1 1 2 2", (100, 101, 90, 91, 90, 91), 3, (100, 100, 90.5, 90.5, 90.5, 90.5)),
    "few": ("1 2", (100, 80), 0, (90, 90)),
    "third": ("1 1 2 2 3 3", (80, 80, 100, 100, 100, 100), 3, (80, 80, 100, 100, 100, 100)),
    "single": ("2 2 2 2", (100, 101, 99, 100), 0, (100,) * 4),
}


@pytest.fixture(scope="module")
def versions(warehouse_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples, but the trends are those of `SERIES`, and queries are measured more often than leases."""
    home = tmp_path_factory.mktemp("versions")
    shutil.copy(warehouse_home / "warehouse.duckdb", home / "warehouse.duckdb")
    with duckdb.connect(str(home / "warehouse.duckdb")) as database:
        database.execute("delete from trends")
        for name, (texts, rates, change, levels) in SERIES.items():
            each = texts.split()
            for place, version in enumerate(each, 1):
                database.execute(
                    "insert into trends by name select $1 as series_id, $1 as series, 'isc' as loss_goal, $2 as place, "
                    "$3 as series_runs, 'k' as run_id, 'k' as configuration_id, 'k' as campaign, 'k' as tool, "
                    "$4 as product_version, $5 as rate_interpolated, $6 as level, $7 as is_change, false as is_dip, "
                    "false as is_drift, false as is_spread_changed, "
                    "$8 as is_version_changed, [] as environment_changes, 'bracketed' as status, "
                    "'leases/s' as rate_unit",
                    [
                        *(name, place, len(each), version, rates[place - 1], levels[place - 1]),
                        *(place == change, place > 1 and version != each[place - 2]),
                    ],
                )
        database.execute("update capacity set rate_unit = 'queries/s' where origin = 'measured'")
    return home


@pytest.mark.parametrize(
    ("series", "verdict", "previous_version", "previous_level", "level"),
    [
        ("slower", "slower", "1", 100, 90),
        ("faster", "faster", "1", 100, 120),
        ("same", "no evidence", "1", 100, 100),
        ("before", "no evidence", "1", 90.5, 90.5),
        ("few", "too few runs", "1", 100, 80),
        ("third", "no evidence", "2", 100, 100),
    ],
)
def test_the_latest_version_stands_beside_the_one_before(
    versions: Path, series: str, verdict: str, previous_version: str, previous_level: float, level: float
) -> None:
    rows = results.version_changes(Warehouse.open(versions / "warehouse.duckdb"), "isc").to_pylist()
    row = next(row for row in rows if row["series_id"] == series)
    assert (row["verdict"], row["previous_version"]) == (verdict, previous_version)
    assert (row["previous_level"], row["level"]) == (previous_level, level)


def test_changed_series_come_first_and_one_version_is_no_change(versions: Path) -> None:
    rows = results.version_changes(Warehouse.open(versions / "warehouse.duckdb"), "isc").to_pylist()
    assert [row["series_id"] for row in rows][:2] == ["faster", "slower"]
    assert "single" not in {row["series_id"] for row in rows}


def test_only_a_change_that_was_found_is_given_as_a_figure(open_page: Open, versions: Path) -> None:
    table = open_page(versions).dataframe[0].value.set_index("Series")
    assert table.loc["faster", "Change of level"] == "+20.0 %"
    assert table.loc["slower", "Change of level"] == "-10.0 %"
    assert table.loc[["same", "few"], "Change of level"].isna().all()
    assert table.loc["few", "Verdict"] == "too few runs to tell"
    assert table.loc["slower", "Versions"] == "1 → 2"


def test_the_page_says_how_many_set_ups_changed_only_where_two_versions_were_run(
    open_page: Open, warehouse_home: Path, versions: Path
) -> None:
    assert open_page(versions).header[0].value == (
        "Since the version before: 1 slower, 1 faster, 3 unchanged, 1 with too few runs"
    )
    assert "Since the version before" not in "".join(each.value for each in open_page(warehouse_home).header)


def test_the_answer_is_the_first_thing_on_the_page(open_page: Open, warehouse_home: Path) -> None:
    app = open_page(warehouse_home)
    first, *others = [each.value.replace("\\", "") for each in app.header]
    assert first == "ISC Kea 2.2.0, DHCPv4, memfile, 1 thread: at least 12,180 leases/s"
    assert "Multi-threading costs 14 to 36 % of the rate" in others
    assert "High availability costs 83 to 84 % of the rate" in others
    said = [each.value.replace("\\", "") for each in app.markdown]
    assert "1.5 times as much as with 4 threads on 2 CPUs, 6.6 times postgresql, 8.1 times mysql." in said
    assert any("Both servers shared one core" in each for each in said), "why HA costs so much"


def test_another_loss_goal_changes_the_answer_and_the_address(open_page: Open, warehouse_home: Path) -> None:
    app = open_page(warehouse_home, "results", only_goal="ndr: 0 % of any exchange")
    assert "12,180" not in app.header[0].value
    assert not [each for each in app.header if "costs" in each.value], "pairs are tested at the usual goal only"


def test_fresh_findings_lead_to_the_same_findings(open_page: Open, warehouse_home: Path, warehouse: Warehouse) -> None:
    first = results.fresh_findings(warehouse).to_pylist()[0]
    links = [each.proto for each in open_page(warehouse_home).get("page_link")]
    link = next(each for each in links if each.label.startswith("**"))
    assert link.label.startswith(f"**{first['findings']:,}** ")
    address = dict(each.split("=") for each in link.query_string.split("&"))
    assert address["campaign"] in first["campaigns"]
    app = open_page(
        warehouse_home,
        "quality",
        severity={"suspect": "✖ suspect", "warning": "⚠ warning"}[first["severity"]],
        finding=first["finding"].replace("_", " "),
        campaign=first["campaigns"],
    )
    assert len(next(each.value for each in app.dataframe if "Finding" in each.value.columns)) == first["findings"]


def test_findings_of_older_batches_are_not_fresh(warehouse_home: Path, tmp_path: Path) -> None:
    shutil.copy(warehouse_home / "warehouse.duckdb", tmp_path / "warehouse.duckdb")
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as database:
        database.execute(
            "update campaigns set last_batch = 'zz' "
            "where campaign = (select min(campaign) from campaigns where files > 0)"
        )
        (name,) = database.execute("select campaign from campaigns where last_batch = 'zz'").fetchone() or ("",)
    changed = Warehouse.open(tmp_path / "warehouse.duckdb")
    assert results.freshness(changed)["campaigns"] == [name]
    assert {each for row in results.fresh_findings(changed).to_pylist() for each in row["campaigns"]} <= {name}


def test_an_empty_lake_has_nothing_fresh(published_home: Path) -> None:
    nothing = Warehouse.open(published_home / "warehouse.duckdb")
    assert results.freshness(nothing) == {"last_started_at": None, "last_batch": None, "campaigns": []}
