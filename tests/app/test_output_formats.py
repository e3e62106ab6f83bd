"""Answers on their way out: what the file formats make of types that they do not have."""

import csv
import io
import json
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
import yaml

from dropline.app import output_formats

KINDS = yaml.safe_load(Path(__file__).with_name("output_formats.yml").read_text())


@pytest.mark.parametrize(("kind", "values"), KINDS.items())
def test_what_few_programs_can_hold_is_written_as_duckdb_prints_it(kind, values):
    given = ", ".join(f"('{each}'::{kind})" for each in values)
    asked = f"select span, cast(span as varchar) as text from (values {given}, (null)) as spans (span)"
    rows = duckdb.sql(asked).to_arrow_table()
    expected = rows["text"].to_pylist()
    assert len(expected) == len(values) + 1
    as_csv = list(csv.DictReader(io.StringIO(output_formats.encoded(rows, "csv").decode())))
    assert [row["span"] or None for row in as_csv] == expected
    assert [row["span"] for row in json.loads(output_formats.encoded(rows, "json"))] == expected
    assert pq.read_table(io.BytesIO(output_formats.encoded(rows, "parquet")))["span"].to_pylist() == expected
    assert all(f"| {text} |" in output_formats.encoded(rows, "markdown").decode() for text in expected if text)
    assert all(text in output_formats.encoded(rows, "table").decode() for text in expected if text)


def test_a_structure_stays_one_whatever_its_fields_are_called():
    rows = duckdb.sql("select {'interval': 1, 'binary': 2} as s").to_arrow_table()
    assert json.loads(output_formats.encoded(rows, "json")) == [{"s": {"interval": 1, "binary": 2}}]
