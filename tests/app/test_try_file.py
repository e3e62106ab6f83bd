"""Page Add results: what a file says, where it ranks, that nothing stays behind, and what strangers may drop."""

import gzip
import json
import tempfile
import time
from pathlib import Path

import pytest

from dropline.app import queries, sandbox, uploads
from dropline.app.sandbox import Refused, TooMuch
from dropline.errors import DroplineError
from dropline.paths import Home
from tests.app.shown import charts, rows, said

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
CAPTURES = ROOT / "tests" / "captures"
PERFDHCP = EXAMPLES / "kea-2.2-backends" / "runs" / "v4_st_mysql_none" / "rep2" / "rate1100.txt"
DNSPERF = EXAMPLES / "powerdns-4.7-measured" / "lmdb" / "rep1" / "rate3000-1.txt.gz"
FIGURES = ("achieved_rate", "loss_worst_exchange", "loss_packet", "loss_lease", "error_ratio", "is_unsustained")


def dropped(open_page, home, name, data):
    app = open_page(home, "try_file")
    app.file_uploader[0].upload(name, data).run()
    assert not app.exception, [each.value for each in app.exception]
    return app


@pytest.fixture
def in_process(monkeypatch):
    """Read dropped files in this process: another takes seconds to start, and has tests of its own below."""

    def run(_module, file, *, seconds):
        try:
            return json.dumps(uploads.look(Path(file))).encode()
        except DroplineError as error:
            raise Refused(str(error)) from error

    monkeypatch.setattr(sandbox, "run", run)
    monkeypatch.setattr(sandbox, "prepare", lambda module: None)


def test_the_figures_are_those_of_the_warehouse(warehouse, tmp_path):
    rows = warehouse.query(f"""
        select campaign, source_path, report_index, {", ".join(FIGURES)} from trials
        where tool <> 'dnsblast' and hash(trial_id) % 12 = 0
        order by trial_id
        """).to_pylist()
    assert len(rows) > 20
    for row in rows:
        copied = tmp_path / Path(row["source_path"]).name
        copied.write_bytes((EXAMPLES / row["campaign"] / row["source_path"]).read_bytes())
        trial = uploads.look(copied)["trials"][row["report_index"]]
        assert {name: trial[name] for name in FIGURES} == pytest.approx({name: row[name] for name in FIGURES})
        copied.unlink()


def test_a_report_is_explained_placed_and_not_stored(open_page, warehouse_home, warehouse, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    app = dropped(open_page, warehouse_home, PERFDHCP.name, PERFDHCP.read_bytes())
    assert app.header[0].value == "Output of perfdhcp"
    assert "Recognised by: line 1: Running: perfdhcp -4 -r 1100" in app.text[0].value
    table = rows(app, "Offered")
    assert list(table["Offered"]) == [1100]
    assert {"Loss, worst exchange", "Loss, packets", "Loss, leases"} <= set(table.columns)
    (spec,) = charts(app)
    known = queries.ask(warehouse, "tried_loss_curves", tool="perfdhcp", protocol="DHCPv4", rate_unit="leases/s")
    configurations = len(set(known["configuration_id"].to_pylist()))
    assert "within a loss of 2.5 %" in spec["description"]
    assert f"n = 1; lines: {configurations} known configurations" in spec["description"]
    assert "It is not stored" in said(app)
    assert not app.button
    assert list(tmp_path.iterdir()) == []
    assert not (warehouse_home / "uploads").exists()


@pytest.mark.parametrize(
    ("file", "kind", "words"),
    [
        (PERFDHCP, "Output of perfdhcp", "There is nothing to compare it with"),
        (CAPTURES / "spirent/trex_ndr_bench.json", "Output of trex", "is in the warehouse to compare with"),
    ],
)
@pytest.mark.usefixtures("in_process")
def test_what_has_no_known_neighbours_says_so(open_page, warehouse_home, tmp_path, file, kind, words):
    app = dropped(open_page, tmp_path if "nothing" in words else warehouse_home, file.name, file.read_bytes())
    assert app.header[0].value == kind
    assert words in said(app)


@pytest.mark.usefixtures("in_process")
def test_a_server_that_only_refuses_stays_within_no_limit(open_page, examples_home):
    data = gzip.decompress(DNSPERF.read_bytes())
    app = dropped(open_page, examples_home, "a.txt", data)
    assert "3,000 queries/s within a loss of 0.1 %: less than the only known capacity of its kind, 5,424" in said(app)
    app = dropped(open_page, examples_home, "a.txt", data.replace(b"NOERROR", b"REFUSED"))
    assert "No complete trial of this file stays within a loss of 0.1 % and 0.1 % of errors" in said(app)
    assert not {"Loss, leases", "Loss, worst exchange"} & set(rows(app, "Errors").columns)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty.txt", b"", "the file is empty"),
        ("noise.bin", bytes(range(256)) * 4000, "not recognised"),
        ("../../etc/passwd", b"root:x:0:0:", "not recognised"),
        ("cut.txt", PERFDHCP.read_bytes()[: PERFDHCP.stat().st_size // 2], ""),
    ],
)
@pytest.mark.usefixtures("in_process")
def test_what_gives_no_trial_or_half_of_one_says_why_and_what_to_do(open_page, published_home, name, data, reason):
    app = dropped(open_page, published_home, name, data)
    why = rows(app, "Why")
    assert reason in why["Why"][0]
    assert why["What to do"][0]
    assert "Read without problems" not in said(app)


@pytest.mark.usefixtures("in_process")
def test_a_campaign_that_is_no_yaml_is_an_error(open_page, published_home):
    assert r"campaign\.yaml" in dropped(open_page, published_home, "campaign.yaml", b"campaign: [").error[0].value


@pytest.mark.usefixtures("in_process")
def test_markup_and_control_characters_are_text(open_page, published_home):
    hostile = "<script>alert(1)</script> **bold** [link](http://evil.example) :material/bolt: $x$ `code`"
    data = PERFDHCP.read_bytes().replace(b"10.0.0.1", hostile.encode() + b"\x1b[31m\x07")
    app = dropped(open_page, published_home, f"{hostile}\x1b\u202e.txt", data)
    markdown = [
        each.value for kind in ("header", "markdown", "caption", "info", "warning") for each in getattr(app, kind)
    ]
    assert "<script>" not in "".join(markdown)
    assert not [each for each in app.markdown if each.allow_html]
    assert "\x1b" not in "".join(each.value for each in app.text)
    assert "\u202e" not in "".join(each.value for each in app.text)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("rate1100.txt", "rate1100.txt"),
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\a b.csv", "a b.csv"),
        ("", "unnamed"),
        ("..", "unnamed"),
        ("/", "unnamed"),
        (".bashrc", "bashrc"),
        ("a\x00b\nc.txt", "a_b_c.txt"),
        ("<script>", "_script_"),
        ("x" * 300 + ".csv.gz", "x" * 93 + ".csv.gz"),
    ],
)
def test_a_name_stays_in_its_folder(name, safe):
    assert uploads.safe_name(name) == safe


def test_a_file_that_is_too_large_is_not_read():
    with pytest.raises(Refused, match="more than 16 MiB: use `dropline show FILE`"):
        uploads.explain("big.txt", bytes(uploads.MOST_BYTES + 1))


def test_an_archive_is_refused_before_anything_is_unpacked():
    with pytest.raises(Refused, match=r"results\.zip: an archive\. Drop one file of it"):
        uploads.explain("results.zip", b"PK\x03\x04")


def test_a_gzip_bomb_is_bounded(monkeypatch):
    monkeypatch.setattr(uploads, "SECONDS", 5)
    bomb = gzip.compress(b"Running: perfdhcp -4 -r 1 10.0.0.1\n" + bytes(400 * 2**20), 1)
    began = time.monotonic()
    try:
        found = uploads.explain("bomb.gz", bomb)
    except TooMuch as error:
        assert "was stopped" in str(error)
    else:
        assert found["rejects_in_all"] + found["trials_in_all"] > 0
    assert time.monotonic() - began < uploads.SECONDS + 5


def test_a_reader_that_never_ends_is_ended(monkeypatch):
    monkeypatch.setattr(uploads, "SECONDS", 0.05)
    with pytest.raises(TooMuch, match=r"longer than 0\.05 s"):
        uploads.explain("a.txt", b"a")
    assert sandbox._TURNS.acquire(timeout=1), "the turn was given back"
    sandbox._TURNS.release()


def test_an_operator_may_let_files_be_kept(open_page, warehouse_home, tmp_path, monkeypatch):
    monkeypatch.setenv(uploads.ALLOWED, "1")
    (tmp_path / "warehouse.duckdb").symlink_to(warehouse_home / "warehouse.duckdb")
    app = dropped(open_page, tmp_path, "../<b>rate.txt", PERFDHCP.read_bytes())
    assert not (tmp_path / "uploads").exists(), "only when asked for"
    app.button[0].click().run()
    (kept,) = (tmp_path / "uploads").rglob("*.txt")
    assert kept.name == "_b_rate.txt"
    assert kept.read_bytes() == PERFDHCP.read_bytes()
    assert any("1 file = 1 ingested" in each.value for each in app.code), "and is in the lake"
    assert uploads.keep(Home(tmp_path), "b.txt", PERFDHCP.read_bytes()) == kept, "the same bytes once"
    assert uploads.keep(Home(tmp_path), "rate.txt", b"other") != kept


def test_a_process_is_ready_before_there_is_a_file_and_serves_one(monkeypatch):
    sandbox.prepare(uploads.__name__)
    waiting = sandbox._PREPARED[uploads.__name__]
    sandbox.prepare(uploads.__name__)
    assert sandbox._PREPARED[uploads.__name__] is waiting, "one is enough"
    monkeypatch.setattr(sandbox, "_started", lambda module: pytest.fail("another was started"))
    assert uploads.explain("empty", b"")["trials"] == []
    assert waiting.returncode == 0
    assert uploads.__name__ not in sandbox._PREPARED


def test_a_process_that_died_while_it_waited_is_replaced_and_none_outlives_this_one():
    sandbox.prepare(uploads.__name__)
    waiting = sandbox._PREPARED[uploads.__name__]
    waiting.kill()
    waiting.wait()
    assert uploads.explain("empty", b"")["trials"] == []
    sandbox.prepare(uploads.__name__)
    waiting = sandbox._PREPARED.pop(uploads.__name__)
    assert (waiting.communicate(timeout=30), waiting.returncode) == ((b"", b""), 0), "its input has ended"
