"""Everything leaves as plain files, whole or not at all."""

import csv
import json
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from dropline.app.dump import COLUMNS, appearing, dump
from dropline.app.warehouse import Warehouse
from dropline.errors import DroplineError
from tests.commands import dropline

ROOT = Path(__file__).parents[2]


@pytest.fixture
def warehouse(tmp_path):
    """A small one with what is hard to write as text."""
    file = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("create table build_info as select timestamp '2026-11-20 13:45:01' as built_at")
        connection.execute("create table trials (name text, tags text[], facts map(text, double), rate double)")
        connection.execute("comment on column trials.rate is 'Leases per second.'")
        connection.execute(
            "insert into trials values ('a,\"b\"\n', ['x, y', null], map {'k': 0.5}, 1), ('', [], null, null), "
            "(null, null, map {}, 'nan')"
        )
        connection.execute("create table many as select range as n from range(200000)")
    return Warehouse.open(file)


def test_every_table_comes_out_as_parquet_with_types_and_nulls(warehouse, tmp_path):
    with appearing(tmp_path / "out") as made:
        assert dump(warehouse.identity.path, made, "parquet") == {"build_info": 1, "many": 200_000, "trials": 3}
    assert sorted(file.name for file in (tmp_path / "out" / "tables").iterdir()) == [
        "build_info.parquet",
        "many.parquet",
        "trials.parquet",
    ]
    for table in ("many", "trials"):
        written = pq.read_table(tmp_path / "out" / "tables" / f"{table}.parquet")
        assert dict(zip(written.column_names, written.schema.types, strict=True)) == {
            field.name: field.type for field in warehouse.query(f"from {table}").schema
        }
        assert str(written.to_pylist()) == str(warehouse.query(f"from {table}").to_pylist())


def test_in_csv_nested_values_are_json_no_value_differs_from_empty_text_and_columns_are_described(warehouse, tmp_path):
    with appearing(tmp_path / "out") as made:
        dump(warehouse.identity.path, made, "csv")
    file = tmp_path / "out" / "tables" / "trials.csv"
    with file.open(encoding="utf-8", newline="") as opened:
        first, second, third = csv.DictReader(opened)
    assert first["name"] == 'a,"b"\n'
    assert (json.loads(first["tags"]), json.loads(first["facts"])) == (["x, y", None], {"k": 0.5})
    assert (json.loads(second["tags"]), second["facts"], third["tags"]) == ([], "", "")
    assert file.read_text("utf-8").splitlines()[-2].startswith('"",')
    assert file.read_text("utf-8").splitlines()[-1].startswith(",")
    with (tmp_path / "out" / COLUMNS).open(encoding="utf-8", newline="") as opened:
        rows = {(row["table_name"], row["column_name"]): row for row in csv.DictReader(opened)}
    assert rows["trials", "rate"]["description"] == "Leases per second."
    assert rows["trials", "tags"]["data_type"] == "VARCHAR[]"
    readme = (tmp_path / "out" / "README.txt").read_text("utf-8")
    assert "3 tables as CSV" in readme
    assert "raw/" not in readme


def test_an_export_that_fails_leaves_nothing_and_none_overwrites(tmp_path):
    with pytest.raises(KeyboardInterrupt), appearing(tmp_path / "out") as made:
        (made / "half").touch()
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine").touch()
    for folder in (tmp_path, tmp_path / "mine"):
        with pytest.raises(DroplineError, match="already exists"), appearing(folder):
            pass
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_command_line_writes_every_mart_and_the_raw_files(warehouse_home, tmp_path, form):
    done = dropline("export", tmp_path / "out", "--format", form, "--raw", home=warehouse_home)
    assert done.code == 0, done.stderr
    marts = {model.stem for model in (ROOT / "models" / "marts").glob("*.sql")}
    assert marts <= {file.stem for file in (tmp_path / "out" / "tables").iterdir()}
    rendered = next((tmp_path / "out" / "raw").glob("*/campaign.yaml"))
    assert rendered.read_bytes() in {file.read_bytes() for file in (ROOT / "examples").glob("*/campaign.yaml")}
