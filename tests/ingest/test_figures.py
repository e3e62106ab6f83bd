"""Figures from published documents: forms and limits. What tables contain, and skipped rows, is in readings.jsonl."""

import csv
import gzip
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dropline.ingest import figures, formats
from dropline.ingest.formats import Reject
from dropline.ingest.formats.text import MAX_REJECTS

ROOT = Path(__file__).parents[2]
SEEDS = ROOT / "seeds"
EXAMPLE = ROOT / "tests" / "captures" / "figures" / "figures.csv"
HEADER = "source_id,location,metric,value,unit"
ROW = "acme,table 1,queries_per_second,100,queries/s"


def figures_of(text):
    parts = list(figures.parse(text.encode() if isinstance(text, str) else text))
    assert [part for part in parts if isinstance(part, Reject)] == []
    return [part for part in parts if isinstance(part, dict)]


def rejects_of(text):
    parts = figures.parse(text.encode() if isinstance(text, str) else text)
    return [part for part in parts if isinstance(part, Reject)]


def parquet(columns):
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def test_the_example_of_the_documentation_is_this_one():
    page = (ROOT / "docs" / "how-to" / "bring-your-own-figures.md").read_text("utf-8")
    block = "".join("    " + line for line in EXAMPLE.read_text("utf-8").splitlines(keepends=True))
    assert block in page
    assert [name for name in (*figures.COLUMNS, *figures.UNITS) if f"`{name}`" not in page] == []
    words = {
        word for column in ("qualifier", "evidence_kind", "loss_basis", "domain") for word in figures.WORDS[column]
    }
    assert [word for word in sorted(words) if f"`{word}`" not in page] == []


def test_the_bundled_figures_have_this_very_form():
    data = (SEEDS / "reported_figures.csv").read_bytes()
    assert figures.recognise(data[: 64 * 1024])
    assert formats.recognise(data[: 64 * 1024]) is None
    parts = list(figures.parse(data))
    with (SEEDS / "reported_figures.csv").open(encoding="utf-8", newline="") as file:
        bundled = {row["figure_id"]: row for row in csv.DictReader(file)}
    read = {part["figure_id"]: part for part in parts if isinstance(part, dict)}
    assert bundled.keys() - read.keys() == {key for key, row in bundled.items() if not row["value"] or not row["unit"]}
    assert len(parts) == len(bundled)
    for key, figure in read.items():
        assert figure["value"] == float(bundled[key]["value"])
        for column in ("source_id", "location", "metric", "unit", "qualifier", "quality_flag", "testbed", "ha_mode"):
            assert figure.get(column, "") == " ".join(bundled[key][column].split())


def test_the_words_are_those_of_the_models():
    with (SEEDS / "quality_flags.csv").open(encoding="utf-8", newline="") as file:
        flags = {row["quality_flag"] for row in csv.DictReader(file)}
    assert set(figures.WORDS["quality_flag"]) - {"ok"} <= flags, "a flag without a meaning is no finding"
    with (SEEDS / "capacity_metrics.csv").open(encoding="utf-8", newline="") as file:
        units = {row["metric"]: row["rate_unit"] for row in csv.DictReader(file)}
    assert {metric: accepted[0] for metric, accepted in figures.UNITS.items()} == units


def spreadsheet(text, delimiter):
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, lineterminator="\r\n").writerows(csv.reader(io.StringIO(text)))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "encode",
    [
        pytest.param(lambda text: text.encode("utf-8-sig"), id="byte order mark"),
        pytest.param(lambda text: text.replace("\n", "\r\n").encode(), id="CRLF"),
        pytest.param(lambda text: text.replace("\n", "\r").encode(), id="CR"),
        pytest.param(lambda text: text.rstrip("\n").encode(), id="no end of line"),
        pytest.param(lambda text: spreadsheet(text, ";").encode(), id="semicolons"),
        pytest.param(lambda text: ("sep=;\r\n" + spreadsheet(text, ";")).encode(), id="Excel's line of the separator"),
        pytest.param(lambda text: spreadsheet(text, "\t").encode("utf-16"), id="tabs in UTF-16"),
        pytest.param(lambda text: gzip.compress(text.encode()), id="gzip"),
        pytest.param(lambda text: text.replace("\n", ",,\n").encode(), id="empty columns at the end"),
        pytest.param(lambda text: text.replace("source_id,", '"Source ID",', 1).encode(), id="quoted header"),
    ],
)
def test_the_same_table_in_another_dress_gives_the_same_figures(encode):
    text = EXAMPLE.read_text("utf-8")
    data = encode(text)
    assert figures.recognise(data)
    assert figures_of(data) == figures_of("\n" * data.startswith(b"sep=") + text)  # it keeps its line


def test_parquet_gives_the_same_figures_with_the_number_of_their_rows():
    rows = list(csv.DictReader(io.StringIO(EXAMPLE.read_text("utf-8"))))
    columns = {name: [row[name] or None for row in rows] for name in rows[0]}
    columns["value"] = [float(row["value"]) for row in rows]
    columns["threads"] = [float(row["threads"]) for row in rows]  # pandas keeps whole numbers with gaps so
    columns["tool"] = pa.array(columns["tool"]).dictionary_encode()
    data = parquet(columns)
    assert figures.recognise(data)
    read = figures_of(data)
    assert [row.pop("line") for row in read] == [1, 2, 3]
    expected = figures_of(EXAMPLE.read_bytes())
    assert [row.pop("line") for row in expected] == [2, 3, 4]
    assert read == expected


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PAR1", "not readable as Parquet"),
        (b"PAR1" + bytes(100) + b"PAR1", "not readable as Parquet"),
        (parquet({"source_id": ["a"], "value": [[1, 2]]}), "not readable as Parquet with one value in each cell"),
        (parquet({"a": [1], "value": [2]}), "there is no column 'a'"),
        (parquet({"metric": ["a"], "value": [2]}), "expected the columns source_id (or source_title), location, unit"),
    ],
)
def test_parquet_that_holds_no_figures_is_refused(data, reason):
    assert figures.recognise(data)
    assert reason in rejects_of(data)[0].reason


def test_a_damaged_gzip_keeps_what_could_be_read():
    packed = gzip.compress((f"{HEADER}\n" + "".join(f"{ROW[:-10]}{n},queries/s\n" for n in range(5000))).encode())
    parts = list(figures.parse(packed[: len(packed) // 2]))
    assert sum(isinstance(part, dict) for part in parts) > 100
    assert isinstance(parts[-1], Reject)
    assert "compressed file is damaged" in parts[-1].reason


CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=150, deadline=None)
@given(rows=st.lists(st.lists(CELLS, min_size=7, max_size=7), max_size=4), delimiter=st.sampled_from(",;\t"))
def test_every_row_of_any_cells_gives_one_figure_or_one_reject(rows, delimiter):
    header = [*HEADER.split(","), "threads", "note"]
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([header, *rows])
    parts = list(figures.parse(buffer.getvalue().encode()))
    filled = [row for row in rows if any(cell.replace("\ufeff", "").split() for cell in row)]
    assert len(parts) == max(len(filled), 1)


def test_of_very_many_unusable_rows_only_the_first_are_told_one_by_one():
    found = list(figures.parse(b"source_id,location,metric,value,unit\n" + b"a,b,c,junk,d\n" * 5000))
    assert len(found) == MAX_REJECTS + 1
    assert isinstance(found[-1], Reject)
    assert found[-1].reason == f"{5000 - MAX_REJECTS} more parts up to here cannot be used"
