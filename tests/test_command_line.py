"""The command line as people use it."""

import json
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from dropline import cli
from tests.commands import dropline

ROOT = Path(__file__).parent.parent
REPORT = ROOT / "examples/kea-2.2-ha/runs/v4_mt4_memfile_hot-standby/rep1/rate740.txt"


def test_every_command_is_listed_and_teaches_itself():
    listed = dropline("--help").stdout
    for command in typer.main.get_command(cli.app).commands:
        asked = CliRunner().invoke(cli.app, [command, "--help"])
        assert asked.exit_code == 0
        assert len(asked.stdout.split()) > 30, command
        assert f" {command} " in listed
    assert dropline("--version").stdout == f"dropline {version('dropline')}\n"


def test_ingest_build_sql_status_from_nothing(tmp_path):
    home, results = tmp_path / "somebody's home", tmp_path / "results"
    results.mkdir()
    (results / "rate740.txt").write_bytes(REPORT.read_bytes())

    first = dropline("ingest", str(results), home=home)
    assert first.code == 0, first.stderr
    assert "1 trial" in first.stdout
    again = dropline("ingest", str(results), home=home)
    assert again.code == 0
    assert "nothing new" in again.stdout

    built = dropline("build", home=home)
    assert built.code == 0, built.stderr
    assert "1 trial, 1 configuration; findings: " in built.stdout
    figures = [" ".join(line.split()) for line in built.stdout.splitlines() if line.startswith("results ")]
    assert figures == ["results DHCPv4 1 740 leases/s limit not reached never_exceeded warn"]

    asked = dropline("sql", "select offered_rate, completed_exchanges from trials", "-f", "json", home=home)
    assert json.loads(asked.stdout) == [{"offered_rate": 740.0, "completed_exchanges": 2219}]
    assert "1 batch," in dropline("status", home=home).stdout
    assert dropline("check", home=home).code == 0


def test_a_dry_run_shows_what_would_come_and_writes_nothing(tmp_path):
    home, results = tmp_path / "home", tmp_path / "results"
    (results / "rep1").mkdir(parents=True)
    for rate in ("rate740", "rate1050"):
        (results / "rep1" / f"{rate}.txt").write_bytes(REPORT.with_name(f"{rate}.txt").read_bytes())
    (results / "noise.bin").write_bytes(bytes(range(256)))
    shown = dropline("ingest", "--dry-run", str(results), home=home)
    assert not home.exists()
    assert [line.split() for line in shown.stdout.splitlines() if line.startswith("results ")] == [
        ["results", "DHCPv4", "1", "740", "to", "1,050", "2", "2"]
    ]
    assert shown.stdout.endswith(
        "\n3 files = 2 ingested + 0 skipped + 1 rejected + 0 ignored; 2 trials; nothing was written\n"
    )
    assert (shown.code, shown.stderr.strip()) == (1, "")


def test_a_build_that_is_interrupted_says_what_stays(tmp_path):
    command = [sys.executable, "-m", "dropline", "--home", str(tmp_path), "build"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    begun = time.monotonic()
    while not (tmp_path / "build/next.duckdb").exists() and time.monotonic() < begun + 60:  # the models run
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert (running.returncode, said.strip()) == (130, "dropline: Interrupted; there is no warehouse yet")
    assert not (tmp_path / "warehouse.duckdb").exists()


def test_a_rejected_file_is_named_with_reason_and_advice_and_gives_exit_code_1(tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    (results / "good.txt").write_bytes(REPORT.read_bytes())
    (results / "noise.bin").write_bytes(bytes(range(256)))
    done = dropline("ingest", str(results), home=tmp_path / "home")
    assert done.code == 1
    assert "noise.bin" in done.stdout
    assert "1 trial" in done.stdout, "the rest goes on"
    assert "noise.bin" in dropline("rejects", home=tmp_path / "home").stdout
    assert "perfdhcp" in dropline("show", str(results / "good.txt"), home=tmp_path / "home").stdout
    again = dropline("reparse", home=tmp_path / "home")
    assert again.code == 0, again.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("ingest", "nowhere"), 2, "nowhere"),
        (("sql", "select 1", "--format", "xml"), 2, "xml"),
        (("export", "out", "--format", "xml"), 2, "xml"),
        (("sql", ""), 2, "empty"),
        (("measure", "nowhere"), 2, "there is no plan nowhere"),
        (("sql", "select 1"), 1, "dropline up"),
    ],
)
def test_wrong_use_gives_exit_code_2_and_a_missing_warehouse_1_with_what_to_type(tmp_path, words, code, said):
    asked = dropline(*words, home=tmp_path)
    assert asked.code == code
    assert said in asked.stderr
    assert "Traceback" not in asked.stderr
    assert list(tmp_path.iterdir()) == []


def test_results_leave_in_every_format(warehouse_home, tmp_path):
    query = "select protocol p, lps n, lps n from leases_per_second where campaign = 'isc-kb-kea-2.0' and lps > 3e4"
    assert "37956" in dropline("sql", query, home=warehouse_home).stdout
    assert dropline("sql", query, "-f", "csv", home=warehouse_home).stdout == '"p","n","n_2"\n"DHCPv6",37956,37956\n'
    markdown = dropline("sql", "-", "-f", "markdown", home=warehouse_home, stdin=query).stdout
    assert markdown == "| p | n | n_2 |\n| --- | --- | --- |\n| DHCPv6 | 37956 | 37956 |\n"
    refused = dropline("sql", "drop table trials", home=warehouse_home)
    assert (refused.code, refused.stderr.startswith("dropline: Expected one SELECT")) == (1, True)
    file = tmp_path / "out.parquet"
    assert dropline("sql", query, "-f", "parquet", "-o", str(file), home=warehouse_home).code == 0
    assert pq.read_table(file).to_pylist() == [{"p": "DHCPv6", "n": 37956.0, "n_2": 37956.0}]


def test_an_answer_in_arrow_is_mapped_and_read_without_a_copy(warehouse_home, tmp_path):
    query = "select row_number() over () as n, trial_id, warnings, context_sources from trials"
    file = tmp_path / "trials.arrows"
    assert dropline("sql", query, "-f", "arrow", "-o", str(file), home=warehouse_home).code == 0
    with pa.memory_map(str(file)) as mapped:
        before = pa.total_allocated_bytes()
        rows = pa.ipc.open_stream(mapped).read_all()
        assert pa.total_allocated_bytes() - before < 10_000, "the columns lie in the file"
        assert rows.num_rows > 300
        assert rows["n"].to_pylist() == list(range(1, rows.num_rows + 1))
        assert pa.types.is_list(rows.schema.field("warnings").type)


def test_an_unusable_campaign_yaml_gives_exit_code_1_with_its_key_and_the_rest_goes_on(tmp_path):
    for name, text in (("good", "campaign: good\n"), ("bad", "campaign: bad\nbackend: mysql\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rate740.txt").write_bytes(REPORT.read_bytes())
        (tmp_path / name / "campaign.yaml").write_text(text)
    done = dropline("ingest", str(tmp_path / "good"), str(tmp_path / "bad"), home=tmp_path / "home")
    assert done.code == 1
    assert f"{tmp_path / 'bad' / 'campaign.yaml'}, line 2: backend: belongs below `defaults:`" in done.stdout
    assert "4 files = 2 ingested + 0 skipped + 2 rejected + 0 ignored" in done.stdout
