"""What the readers of TestCenter, Avalanche, CyberFlood and their neighbours make of files and of traps in them.

The files under captures/spirent are made after documented layouts: their names and columns are real, their numbers
are not. They are no captures of a vendor.
"""

import json
import sqlite3
import time
from pathlib import Path

import pytest

from dropline.ingest.formats import Reject, Report, testcenter_periodic, testcenter_results

CAPTURES = Path(__file__).parents[1] / "captures" / "spirent"


def read(name):
    return (CAPTURES / name).read_bytes()


def reports(reader, data):
    parts = list(reader.parse(data))
    assert all(isinstance(part, Report) for part in parts), parts
    return parts


def reject(reader, data):
    (part,) = reader.parse(data)
    assert isinstance(part, Reject), part
    assert part.hint
    return part


def details(report):
    return json.loads(report.facts["details"])


# --- TestCenter: results database ------------------------------------------------------------------------------------


def database(*statements):
    with sqlite3.connect(":memory:") as connection:
        for statement in statements:
            connection.executescript(statement)
        return connection.serialize()


DATA_SET = "create table DataSet (Id integer primary key, Name, CreatedTime)"


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        (["create table leases (a)"], "without a table DataSet"),
        ([DATA_SET, "create table Port (Id, Name)"], "configuration without results"),
        ([DATA_SET, "create table Rfc2544ThroughputPerLoadResult (Id, TxFrameCount)"], "without a row of results"),
    ],
)
def test_database_without_results_says_so(statements, reason):
    assert reason in reject(testcenter_results, database(*statements)).reason


@pytest.mark.parametrize(
    ("statements", "figures"),
    [
        (  # columns may be missing, or in another order
            "create table Rfc2544FrameLossPerLoadResult (RxSigFrameCount, TrialNum, FrameSize, TxSigFrameCount);"
            "insert into Rfc2544FrameLossPerLoadResult values (999, 1, 64, 1000)",
            (1000, 999, 1, "RFC 2544 frame loss; 64 B frames; sum_both; loss tolerance not stated"),
        ),
        (  # a stream that nobody received is lost, and older data sets do not count
            "insert into DataSet values (1, '', 'a'), (2, '', 'b');"
            "create table TxEotStreamResults (DataSetId, PortName, StreamBlockName, StreamId, FrameCount);"
            "create table RxEotStreamResults (DataSetId, Comp32, FrameCount);"
            "insert into TxEotStreamResults values (1, 'p', 's', 7, 50), (2, 'p', 's', 7, 60);"
            "insert into RxEotStreamResults values (1, 7, 50)",
            (60, 0, 60, "end of test, streams; sum_both; loss tolerance not stated"),
        ),
        (  # ports, when no streams were collected
            "create table GeneratorPortResults (DataSetId, ParentHnd, TotalFrameCount, GeneratorSigFrameCount);"
            "create table AnalyzerPortResults (DataSetId, ParentHnd, TotalFrameCount, SigFrameCount);"
            "insert into GeneratorPortResults values (1, 3, 1100, 1000);"
            "insert into AnalyzerPortResults values (1, 4, 1500, 990)",
            (1000, 990, 10, "end of test, ports; sum_both; loss tolerance not stated"),
        ),
    ],
)
def test_a_database_has_the_frames_of_its_latest_results(statements, figures):
    (report,) = reports(testcenter_results, database(DATA_SET, statements))
    assert tuple(report.facts[name] for name in ("sent", "received", "dropped", "method")) == figures


def test_hostile_database_neither_hangs_nor_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select i as TxFrameCount from n"
    data = database(
        DATA_SET,
        f"create view Rfc2544ThroughputPerLoadResult as {endless}",
        "create table TxEotStreamResults (StreamId, FrameCount as (length(hex(zeroblob(100000000)))))",
        "create table RxEotStreamResults (Comp32, FrameCount)",
        "insert into TxEotStreamResults (StreamId) values (1)",
    )
    before = time.monotonic()
    assert "neither a count of frames" in reject(testcenter_results, data).reason
    assert time.monotonic() - before < 10
    assert list(tmp_path.iterdir()) == []


def test_query_that_takes_too_long_is_ended(monkeypatch):
    monkeypatch.setattr(testcenter_results, "_SECONDS", -1.0)
    monkeypatch.setattr(testcenter_results, "_STEPS_BETWEEN_CHECKS", 1)
    assert "interrupted" in reject(testcenter_results, read("EotResultDb_2012-05-14_10-20-30.db")).reason


def test_database_with_a_write_ahead_log_is_read_without_it():
    data = bytearray(read("EotResultDb_2012-05-14_10-20-30.db"))
    data[18:20] = b"\2\2"
    assert len(reports(testcenter_results, bytes(data))) == 1


def test_damaged_database_is_rejected():
    data = read("EotResultDb_2012-05-14_10-20-30.db")
    assert "cannot be read" in reject(testcenter_results, data[:5000]).reason


# --- TestCenter: periodic results and views --------------------------------------------------------------------------

GENERATOR = "ResultObject,ResultObjectName,ResultParent,ResultParentName,TotalFrameCount,TotalFrameRate,L1BitRate,x,\n"
STREAMS = (
    "ResultObject,ResultObjectName,ResultParent,ResultParentName,FrameCount,SigFrameCount,MinLatency,MaxLatency,"
    "DroppedFrameCount,FrameRate,AvgLatency,VlanFrameRate,VlanFrameRate,\n"
)
ANALYZER = "ResultObject,ResultObjectName,ResultParent,ResultParentName,SigFrameCount,TotalFrameCount,x,\n"
SIX_PORTS = (
    "Generator_Results\n"
    + GENERATOR
    + "".join(f'g{n},"",port{n},"Port //{n}",1000000,1,1,null,\n' for n in range(6))
    + "Analyzer_Results\n"
    + ANALYZER
    + "".join(f'a{n},"",port{n},"Port //{n}",890982,890982,null,\n' for n in range(6))
    + "RxStream_Results\n"
    + STREAMS
    + "".join(f'r{n},"",port{n},"Port //{n}",890982,890982,3.09,3.14,0,84077,3.116,NA,0,\n' for n in range(6))
)


@pytest.mark.parametrize("cut", range(5))
@pytest.mark.parametrize("half", ["", 'r9,"",port9,"Po'])
def test_file_cut_after_some_of_its_ports_has_the_loss_of_the_analyzer_or_none(cut, half):
    kept = SIX_PORTS[: SIX_PORTS.index(f"r{cut + 1},")] + half
    found = [part for part in testcenter_periodic.parse(kept.encode()) if isinstance(part, Report)]
    assert [part.facts["received"] for part in found] == [6 * 890982]
    assert details(found[0])["loss_observed_pct"] == pytest.approx(10.9, abs=0.01)
    lone = kept[: kept.index("Analyzer_Results")] + kept[kept.index("RxStream_Results") :]
    found = [part for part in testcenter_periodic.parse(lone.encode()) if isinstance(part, Report)]
    assert half == "" or [(part.facts["received"], part.facts["dropped"]) for part in found] == [(None, None)]
