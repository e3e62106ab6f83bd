"""The page Trends, and its chart."""

import shutil
from pathlib import Path

import duckdb

from dropline.app import headlines, wording
from dropline.app.queries import ask
from dropline.app.warehouse import Warehouse


def test_every_series_has_a_label_of_its_own_and_its_runs_in_order(warehouse):
    found = ask(warehouse, "trends_series", loss_goal="isc").to_pylist()
    assert len({row["label"] for row in found}) == len(found) > 5
    for row in found[:3]:
        runs = ask(warehouse, "trends_points", series_id=row["series_id"]).to_pylist()
        assert [run["place"] for run in runs] == list(range(1, row["runs"] + 1))
        assert sum(run["is_dip"] for run in runs) == row["dips"]


def test_the_page_opens_with_the_series_that_changed_most_or_that_of_the_address(open_page, warehouse_home):
    page = open_page(warehouse_home, "trends")
    table = page.dataframe[0].value
    assert list(table["Run"]) == list(range(1, len(table) + 1))
    assert "Level" in table.columns
    other = page.selectbox(key="series").options[2]
    again = open_page(warehouse_home, "trends", series=other, goal=page.selectbox(key="goal").options[2])
    assert again.selectbox(key="goal").value == "ndr"


def test_without_a_goal_each_series_is_at_the_usual_one_of_its_unit(warehouse):
    found = {row["series_id"] for row in ask(warehouse, "trends_series", loss_goal=None).to_pylist()}
    expected = warehouse.query(
        "select distinct series_id from trends "
        "where loss_goal = case rate_unit when 'leases/s' then 'isc' else 'permille' end"
    )
    assert found == set(expected["series_id"].to_pylist())


def test_a_change_with_another_session_is_said_to_be_perhaps_no_more(open_page, warehouse_home, tmp_path):
    file = Path(shutil.copy(warehouse_home / "warehouse.duckdb", tmp_path))
    with duckdb.connect(file) as connection:
        ((series, place, since),) = connection.execute("""
            update trends
            set is_change = true, is_other_session = true, level_before = 2 * level, change_ratio = 0.5
            where (series_id, place) = (
                select (series_id, place) from trends
                where loss_goal = 'isc' and series_runs >= 4 and not is_dip and place = 3 and environment_changes = []
                order by series_id limit 1
            )
            returning series_id, place, 'run 3 (' || measured_on || ')'
        """).fetchall()
    found = open_page(tmp_path, "trends", series=series).header[0].value
    expected = f"-50 % from {since} on, perhaps only because another session began"
    assert found.startswith(wording.plain(expected))
    first = ask(Warehouse.open(file), "trends_series", loss_goal="isc").to_pylist()[0]
    change = f"-50 % from run {place} of {first['runs']}{first['last_day']} on"
    assert headlines.changed_level(first) == f"{change}, perhaps only another session: {first['label']}"
