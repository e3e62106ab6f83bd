"""Figures from published documents: what a table of them says, and which rows are none."""

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


def one(column, value):
    return f"{HEADER},{column}\n{ROW},{value}\n"


def parquet(columns):
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def test_the_example_gives_exactly_these_figures():
    best, second, latency = figures_of(EXAMPLE.read_bytes())
    assert len(best.pop("figure_id")) == 16
    assert best == {
        "line": 2,
        "source_id": "dns-2025",
        "source_title": "Name servers and their databases",
        "source_publisher": "Example Laboratory",
        "source_date": "2025-03",
        "source_url": "https://example.org/dns-2025",
        "location": "table 2, row 1",
        "product": "PowerDNS Authoritative Server",
        "product_version": "4.9.1",
        "protocol": "DNS",
        "backend": "lmdb",
        "threading": "multi",
        "threads": 3,
        "metric": "queries_per_second",
        "value": 61200.0,
        "unit": "queries/s",
        "loss_limit_ratio": 0.01,
        "tool": "dnsperf",
        "evidence_kind": "measured",
    }
    assert (second["line"], second["backend"], second["value"]) == (3, "mysql", 15300.0)
    assert (latency["metric"], latency["value"], latency["unit"]) == ("latency_avg_ms", 1.8, "ms")


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
    assert figures_of(data) == figures_of(text)


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
    ],
)
def test_parquet_that_holds_no_figures_is_refused(data, reason):
    assert figures.recognise(data)
    assert reason in rejects_of(data)[0].reason


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\n\n",
        b"metric,value,unit\n",  # of which source?
        b"source_id,location,unit\n",
        b"t_s,metric,value\n1,qsize,5\n",
        b"Running: perfdhcp -4 -r 100 10.0.0.1",
        b'{"source_id": 1, "metric": 2, "value": 3}',
        b"\x00\xff" * 100,
    ],
)
def test_other_tables_are_no_figures(head):
    assert not figures.recognise(head)


def test_no_capture_of_another_kind_is_taken_for_figures():
    for file in (ROOT / "tests" / "captures").rglob("*"):
        if file.is_file() and file.parent != EXAMPLE.parent:
            with file.open("rb") as opened:
                assert not figures.recognise(opened.read(64 * 1024)), file


@pytest.mark.parametrize(
    ("header", "reason", "hint"),
    [
        (f"{HEADER},threds", "there is no column 'threds'", "did you mean 'threads'?"),
        (f"{HEADER},colour", "there is no column 'colour'", "remove it"),
        (f"{HEADER},,tool", "there is no column ''", "remove it"),
        (f"{HEADER},unit", "the column 'unit' appears twice", "keep one"),
        ("source_id,metric,value", "also expected the columns location, unit", "add them"),
        ("location,metric,value,unit", "also expected the columns source_id (or source_title)", "add them"),
    ],
)
def test_a_header_that_is_not_understood_stops_the_file(header, reason, hint):
    (part,) = figures.parse(f"{header}\n{ROW},{ROW}\n".encode())
    assert isinstance(part, Reject)
    assert (part.line, part.reason) == (1, reason)
    assert hint in part.hint


@pytest.mark.parametrize(
    ("column", "value", "reason", "hint"),
    [
        ("threads", "four", "threads: expected a whole number, found 'four'", "correct the row"),
        ("threads", "-1", "threads: expected a whole number", "correct the row"),
        ("repetitions", "1.5", "repetitions: expected a whole number, found '1.5'", "correct the row"),
        ("ip_version", "5", "ip_version: expected one of 4, 6, found '5'", "correct the row"),
        ("loss_limit_ratio", "2.5", "expected a ratio from 0 to 1", "write 2.5 % as 0.025"),
        ("loss_limit_ratio", "2.5 %", "loss_limit_ratio: expected a number, found '2.5 %'", "no unit"),
        ("duration_s", "-1", "duration_s: expected a number of 0 or more", "correct the row"),
        ("offered_rate", '"1,000"', "offered_rate: expected a number, found '1,000'", "nothing between thousands"),
        ("offered_rate", "1e999", "offered_rate: expected a number", "1234.5"),
        ("offered_rate", "nan", "offered_rate: expected a number", "1234.5"),
        ("qualifier", "roughly", "qualifier: expected one of exact, approx, at_least", "correct the row"),
        ("evidence_kind", "guess", "evidence_kind: expected one of measured", "correct the row"),
        ("quality_flag", "odd", "quality_flag: expected one of ok", "correct the row"),
        ("threading", "some", "threading: expected one of single, multi, found 'some'", "correct the row"),
        ("source_url", "javascript:alert(1)", "source_url: expected an address that begins with", "correct the row"),
        ("note", "x" * 2001, "note: expected at most 2000 characters, found 2001", "correct the row"),
    ],
)
def test_a_value_that_the_column_cannot_hold_rejects_its_row_alone(column, value, reason, hint):
    parts = list(figures.parse((one(column, value) + f"{ROW},\n").encode()))
    bad, good = parts
    assert isinstance(bad, Reject)
    assert bad.line == 2
    assert reason in bad.reason
    assert hint in bad.hint
    assert isinstance(good, dict)
    assert good["line"] == 3


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (",table 1,queries_per_second,100,queries/s", "expected a value of source_id, found none"),
        ("acme, ,queries_per_second,,queries/s", "expected a value of location, value, found none"),
        ("acme,table 1,queries_per_second,100,kqps", "unit: expected queries/s for queries_per_second, found 'kqps'"),
        ("acme,table 1,throughput_mbps,100,Gbps", "unit: expected Mbit/s or Mbps for throughput_mbps"),
        ("acme,table 1,queries_per_second,0,queries/s", "value: expected queries_per_second above 0, found 0"),
        ("acme,table 1,queries_per_second,100", "expected 5 values as in the header, found 4"),
        ("acme,table 1, row 2,queries_per_second,100,queries/s", "expected 5 values as in the header, found 6"),
    ],
)
def test_a_row_that_is_no_figure_is_rejected_with_its_line(row, reason):
    (reject,) = rejects_of(f"{HEADER}\n{ROW}\n\n{row}\n")
    assert reject.line == 4
    assert reason in reject.reason
    assert reject.hint


def test_more_runs_cannot_be_left_out_than_there_were():
    header = f"{HEADER},repetitions,discard_lowest,discard_highest\n"
    assert figures_of(header + f"{ROW},3,1,1\n")[0]["repetitions"] == 3
    assert "fewer than repetitions" in rejects_of(header + f"{ROW},2,1,1\n")[0].reason


@pytest.mark.parametrize("value", ["-12.5", "+3", ".5", "1e3", "0"])
def test_a_value_that_is_no_capacity_may_be_any_number(value):
    (figure,) = figures_of(f"{HEADER}\nacme,table 1,improvement_percent,{value},%\n")
    assert figure["value"] == float(value)


def test_a_source_without_id_has_one_of_its_title():
    (figure,) = figures_of("source_title,location,metric,value,unit\nThe DNS Report (2025),p. 3,cpu_percent,9,%\n")
    assert (figure["source_id"], figure["source_title"]) == ("the-dns-report-2025", "The DNS Report (2025)")


@pytest.mark.parametrize(
    ("columns", "values", "expected"),
    [
        ("product,product_version", "Kea 2.2.0,2.2.0-6", {"product": "ISC Kea", "product_version": "2.2.0-6"}),
        ("product_version,product", ",NSD 4.8", {"product": "NSD", "product_version": "4.8"}),
        ("threading", "mt4", {"threading": "multi", "threads": 4}),
        ("threading,threads", "mt,8.0", {"threading": "multi", "threads": 8}),
        ("backend,ha_mode", "MariaDB,hs", {"backend": "mysql", "ha_mode": "hot-standby"}),
    ],
)
def test_words_become_those_of_the_warehouse_and_a_cell_of_its_own_goes_first(columns, values, expected):
    (figure,) = figures_of(f"{HEADER},{columns}\n{ROW},{values}\n")
    assert {name: figure[name] for name in expected} == expected


def test_a_figure_is_known_by_its_id_or_by_all_that_it_says():
    (one_note,), (other_note,) = figures_of(one("note", "a")), figures_of(one("note", "b"))
    assert one_note["figure_id"] != other_note["figure_id"]
    assert figures_of(one("note", "a"))[0]["figure_id"] == one_note["figure_id"]
    (again,) = rejects_of(f"{HEADER}\n{ROW}\n{ROW}\n")
    assert (again.line, again.reason[:28]) == (3, "the figure of line 2 again: ")
    (again,) = rejects_of(f"{HEADER},figure_id\n{ROW},f1\n{ROW.replace('100', '200')},f1\n")
    assert again.reason == "the figure of line 2 again: figure_id 'f1'"


def test_appended_tables_are_one():
    second = f"{HEADER}\n{ROW.replace('100', '200')}\n"
    assert [row["value"] for row in figures_of(f"{HEADER}\n{ROW}\n\ufeff{second}")] == [100.0, 200.0]
    assert rejects_of(f"{HEADER}\n{ROW}\n{second.replace('unit', 'note', 1)}")[0].line == 3


def test_a_quote_that_never_ends_is_named_and_what_stands_before_it_is_kept():
    parts = list(figures.parse(f'{HEADER}\n{ROW}\nacme,"table 2,queries_per_second,1\n{ROW}\n'.encode()))
    assert isinstance(parts[0], dict)
    assert isinstance(parts[1], Reject)
    assert (parts[1].line, parts[1].reason[:35]) == (3, "not CSV from here to the end of the")


def test_bytes_that_are_no_text_are_named_with_their_line():
    (reject,) = rejects_of(f"{HEADER}\n{ROW}\n".encode() + "acme,Tabelle für".encode("cp1252"))
    assert (reject.line, reject.reason) == (3, "expected UTF-8, found the byte 0xfc")


def test_a_damaged_gzip_keeps_what_could_be_read():
    packed = gzip.compress((f"{HEADER}\n" + "".join(f"{ROW[:-10]}{n},queries/s\n" for n in range(5000))).encode())
    parts = list(figures.parse(packed[: len(packed) // 2]))
    assert sum(isinstance(part, dict) for part in parts) > 100
    assert isinstance(parts[-1], Reject)
    assert "gzip file is damaged" in parts[-1].reason


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


def test_a_header_without_rows_is_one_reject():
    (found,) = figures.parse(b"source_id,location,metric,value,unit\n")
    assert isinstance(found, Reject)
    assert found.reason == "the header of a table of figures without rows"


def test_of_very_many_unusable_rows_only_the_first_are_told_one_by_one():
    found = list(figures.parse(b"source_id,location,metric,value,unit\n" + b"a,b,c,junk,d\n" * 5000))
    assert len(found) == MAX_REJECTS + 1
    assert isinstance(found[-1], Reject)
    assert found[-1].reason == f"{5000 - MAX_REJECTS} more parts up to here cannot be used"
