"""What the readers of TestCenter, Avalanche, CyberFlood and their neighbours make of files and of traps in them.

The files under captures/spirent are made after documented layouts: their names and columns are real, their numbers
are not. They are no captures of a vendor.
"""

import json
import sqlite3
import time
from pathlib import Path

import pytest

from dropline.ingest.formats import (
    Reject,
    Report,
    avalanche,
    csit,
    cyberflood,
    cyberflood_csv,
    cyberflood_polls,
    ixload,
    ixnetwork,
    nfvbench,
    testcenter_csv,
    testcenter_periodic,
    testcenter_results,
    testcenter_views,
    trex,
    vsperf,
)

CAPTURES = Path(__file__).parents[1] / "captures" / "spirent"
THIRD_PARTY = Path(__file__).parents[3].joinpath("shared", "raw", "spirent", "third-party")


def reports_beside_rejects(reader, text):
    return [part for part in reader.parse(text.encode()) if isinstance(part, Report)]


def read(name):
    return (CAPTURES / name).read_bytes()


def reports(reader, data):
    parts = list(reader.parse(data if isinstance(data, bytes) else data.encode()))
    assert all(isinstance(part, Report) for part in parts), parts
    return parts


def reject(reader, data):
    (part,) = reader.parse(data if isinstance(data, bytes) else data.encode())
    assert isinstance(part, Reject), part
    assert part.hint
    return part


def details(report):
    return json.loads(report.facts["details"])


def lines(name):
    return read(name).decode("utf-8-sig").splitlines(keepends=True)


# --- TestCenter: RFC 2544 tables -------------------------------------------------------------------------------------

EXPORT = "2544-Tput-Summary-1_2012-05-14_10-20-30.csv"


@pytest.mark.parametrize("twin", ["vsperf_Rfc2544Tput.csv", "stc_QueryResult_throughput.txt"])
def test_all_spellings_of_the_view_give_the_same_trials(twin):
    export, other = reports(testcenter_csv, read(EXPORT)), reports(testcenter_csv, read(twin))
    assert [report.facts for report in export] == [report.facts for report in other]


def test_database_and_export_of_one_test_agree():
    export = reports(testcenter_csv, read(EXPORT))
    database = reports(testcenter_results, read("2544-Tput-Summary-1_2012-05-14_10-20-30.db"))
    columns = ("offered_rate", "achieved_rate", "sent", "received", "dropped", "duration_s", "method")
    for one, other in zip(export, database, strict=True):
        assert [one.facts[column] for column in columns] == [other.facts[column] for column in columns]


def test_passed_is_not_zero_loss():
    header, first = lines(EXPORT)[:2]
    row = first.replace("89285714,89285714,0,0.0", "569196462,569193204,3258,0.000572385848737057")
    (report,) = reports(testcenter_csv, header + row)
    assert report.facts["dropped"] == 3258
    assert details(report)["verdict"] == "Passed"
    assert details(report)["loss_tolerance_pct"] is None
    assert details(report)["loss_observed_pct"] == pytest.approx(0.000572385848737057)
    assert any("Passed with 3258 frames lost" in warning for warning in report.warnings)


def test_foreign_rows_are_named_and_cost_no_trial():
    text = "".join([*lines(EXPORT), "," * 27 + "#https://example.net/gist\n", "," * 27 + "#GistID 1\n"])
    *found, foreign = testcenter_csv.parse(text.encode())
    assert len(found) == 28
    assert foreign.line == 30
    assert "without a trial number: '#https://example.net/gist'" in foreign.reason
    assert "1 more up to line 31" in foreign.reason


@pytest.mark.parametrize(
    ("unit", "load", "layer", "share"),
    [
        ("%", 50.0, "L1", 0.5),
        ("Mbps", 500.0, "L1", None),
        ("fps", 744047.6, None, None),
        ("inter burst gap", 96.0, None, None),
    ],
)
def test_load_has_the_unit_of_its_brackets(unit, load, layer, share):
    header, row = lines(EXPORT)[:2]
    header = header.replace("Load (%)", f"Load ({unit})").replace("Throughput (%)", f"Throughput ({unit})")
    (report,) = reports(testcenter_csv, header + row.replace("50.0,50.0,Passed,50.0", f"{load},{load},Passed,{load}"))
    said = details(report)
    assert (said["load_unit"], said["load_offered"], said["load_layer"]) == (unit.lower(), load, layer)
    assert said["line_rate_share"] == (None if share is None else pytest.approx(share, rel=1e-6))
    assert report.facts["offered_rate"] == 1488095.233


def test_row_moved_by_a_comma_in_a_value_is_rejected():
    header, row, *rest = lines("vsperf_Rfc2544Tput.csv")
    *found, fault = testcenter_csv.parse("".join([header, *rest, row.replace("N/A", "My,Mix")]).encode())
    assert len(found) == 27
    assert "row of 29 cells, its header in line 1 has 28" in fault.reason


def test_columns_are_found_by_name_in_the_frame_loss_view():
    text = (
        "TrialNumber,FrameSizeType,ConfiguredFrameSize,TxFrameCount,RxFrameCount,PercentLoss(%),OfferedLoad(fps)\n"
        "1,Fixed,512,1000,990,1.0,16.7\n"
    )
    (report,) = reports(testcenter_csv, text)
    assert (report.facts["sent"], report.facts["dropped"], report.facts["offered_rate"]) == (1000, 10, 16.7)


def test_rfc_2889_table_is_read_by_name():
    text = (
        "FrameSize,OfferedLoad(fps),OfferedLoad(%),TxSignatureFrameCount,RxFrameCount,PercentFrameLoss(%),"
        "ForwardingRate(fps),OptimalLearningRate\n64,1488095,100,1000,1000,0,1488000,100\n"
    )
    (report,) = reports(testcenter_csv, text)
    assert (report.facts["offered_rate"], report.facts["achieved_rate"]) == (1488095.0, 1488000.0)
    assert report.facts["method"].startswith("RFC 2889; 64 B frames")


def test_trial_number_is_the_repetition_only_among_several():
    header, row = lines(EXPORT)[:2]
    assert "repetition" not in reports(testcenter_csv, header + row)[0].facts
    both = reports(testcenter_csv, header + row + "2" + row[1:])
    assert [report.facts["repetition"] for report in both] == [1, 2]


def test_file_cut_in_its_last_number_is_not_complete():
    whole = read(EXPORT)
    assert reports(testcenter_csv, whole.rstrip())[-1].facts["completed"] is True  # 60.0 gives the rate
    last = reports(testcenter_csv, whole.rstrip()[:-3])[-1]
    assert last.facts["completed"] is False
    assert last.facts["duration_s"] is None


def test_row_in_which_nothing_was_sent_is_no_trial():
    header, row = lines(EXPORT)[:2]
    assert "nothing was sent" in reject(testcenter_csv, header + row.replace("89285714", "0")).reason


def test_table_without_rows_is_rejected():
    assert "header without rows" in reject(testcenter_csv, lines(EXPORT)[0]).reason


# --- TestCenter: results database ------------------------------------------------------------------------------------


def database(*statements):
    with sqlite3.connect(":memory:") as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
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


def test_columns_of_a_database_may_be_missing_or_in_another_order():
    data = database(
        DATA_SET,
        "create table Rfc2544FrameLossPerLoadResult (RxSigFrameCount, TrialNum, FrameSize, TxSigFrameCount, DataSetId)",
        "insert into Rfc2544FrameLossPerLoadResult values (999, 1, 64, 1000, 1)",
    )
    (report,) = reports(testcenter_results, data)
    assert (report.facts["sent"], report.facts["dropped"]) == (1000, 1)
    assert report.facts["method"].startswith("RFC 2544 frame loss; 64 B frames")


def test_stream_that_nobody_received_is_lost_and_older_data_sets_do_not_count():
    data = database(
        DATA_SET,
        "insert into DataSet values (1, '', 'a'), (2, '', 'b')",
        "create table TxEotStreamResults (DataSetId, PortName, StreamBlockName, StreamId, FrameCount)",
        "create table RxEotStreamResults (DataSetId, Comp32, FrameCount)",
        "insert into TxEotStreamResults values (1, 'p', 's', 7, 50), (2, 'p', 's', 7, 60)",
        "insert into RxEotStreamResults values (1, 7, 50)",
    )
    (report,) = reports(testcenter_results, data)
    assert (report.facts["sent"], report.facts["received"], report.facts["dropped"]) == (60, 0, 60)


def test_ports_are_read_when_no_streams_were_collected():
    data = database(
        DATA_SET,
        "create table GeneratorPortResults (DataSetId, ParentHnd, TotalFrameCount, GeneratorSigFrameCount)",
        "create table AnalyzerPortResults (DataSetId, ParentHnd, TotalFrameCount, SigFrameCount)",
        "insert into GeneratorPortResults values (1, 3, 1100, 1000)",
        "insert into AnalyzerPortResults values (1, 4, 1500, 990)",
    )
    (report,) = reports(testcenter_results, data)
    assert (report.facts["sent"], report.facts["received"]) == (1000, 990)


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


def periodic(kind, header, *records):
    text = f"D:/stc/x-0001-{kind.lower()}.csv for periodic results\n"
    for number, rows in enumerate(records, 1):
        text += f"\n================== Periodic Results: {kind} Record #{number}\n{header}\n{rows}"
    return text


SENT = periodic(
    "GeneratorPortResults",
    GENERATOR,
    'g1,"",port1,"Port //2/1",0,0,0,null,\ng2,"",port2,"Port //2/2",0,0,0,null,\n',
    'g1,"",port1,"Port //2/1",500000,84459,99999816,null,\ng2,"",port2,"Port //2/2",500000,84459,99999885,null,\n',
)
RECEIVED = periodic(
    "RxStreamSummaryResults",
    STREAMS,
    'r1,"",port1,"Port //2/1",0,0,0,0,0,0,0,NA,0,\n',
    'r1,"",port1,"Port //2/1",129148,129148,3.09,3.14,444403,84077,3.116,NA,0,\n',
)


def test_periodic_records_are_a_series_and_the_last_one_counts():
    (report,) = reports(testcenter_periodic, SENT)
    assert (report.facts["sent"], report.facts["received"], report.facts["achieved_rate"]) == (1000000, None, None)
    assert details(report)["ports_tx"] == 2
    rates = [
        (row["label"], row["t_s"], row["value"]) for row in report.observations if row["metric"] == "tx_frame_rate"
    ]
    assert ("Port //2/2", 2.0, 84459.0) in rates
    assert len(rates) == 4
    assert any("no timestamps" in warning for warning in report.warnings)


def test_dropped_frames_of_sequence_numbers_are_no_loss():
    (report,) = reports(testcenter_periodic, RECEIVED)
    assert (report.facts["received"], report.facts["dropped"]) == (129148, None)
    assert details(report)["dropped_by_sequence"] == 444403
    assert {row["value"] for row in report.observations if row["metric"] == "latency_avg"} == {0.003116}


def test_subscriptions_in_one_file_are_trials_of_their_own():
    assert len(reports(testcenter_periodic, SENT + RECEIVED)) == 2


def test_merged_sections_give_both_sides():
    row = 'g1,"",port1,"Port //2/1",'
    text = (
        f"Generator_Results\n{GENERATOR}{row}1000,84459,99999816,null,\n"
        f"RxStream_Results\n{STREAMS}{row}990,990,3.09,3.14,10,84077,3.116,NA,0,\n"
    )
    assert testcenter_periodic.sniff(text.encode())
    (report,) = reports(testcenter_periodic, text)
    assert (report.facts["sent"], report.facts["received"], report.facts["dropped"]) == (1000, 990, 10)


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


def test_file_cut_among_its_senders_has_no_loss():
    kept = SIX_PORTS[: SIX_PORTS.index("g3,")] + "g3,\n" + SIX_PORTS[SIX_PORTS.index("Analyzer_Results") :]
    found = [part for part in testcenter_periodic.parse(kept.encode()) if isinstance(part, Report)]
    assert [(part.facts["sent"], part.facts["dropped"]) for part in found] == [(None, None)]


def test_periodic_row_that_is_cut_is_named():
    fault, _ = testcenter_periodic.parse((SENT + 'g1,"",port1\n').encode())
    assert "row of 3 cells" in fault.reason


def test_port_view_with_two_spaces_in_a_caption_is_read():
    text = (
        "Port Name,Total Tx Count (Frames),Total Rx Count (Frames),Generator Count (Frames),"
        "Generator Sig Count (Frames),Rx Sig Count (Frames),Total Tx  Count (bits)\r\n"
        'Port //1/1,"1,100",5,"1,000","1,000",0,"8,800"\r\nPort //1/2,0,"1,200",0,0,990,0\r\n'
    )
    (report,) = reports(testcenter_views, text)
    assert (report.facts["sent"], report.facts["received"], report.facts["dropped"]) == (1000, 990, 10)
    assert details(report)["tx_l2_bits"] == 8800
    assert details(report)["ports_tx"] == 1


def test_loss_of_a_view_is_sent_less_received_not_its_dropped_count():
    text = (
        "Stream Block,Tx Count (Frames),Rx Count (Frames),Tx-Rx (Frames),Dropped Frame Count\n"
        "a,5452,3929,1523,444403\nb,10,12,N/A,0\n"
    )
    (report,) = reports(testcenter_views, text)
    assert (report.facts["sent"], report.facts["dropped"]) == (5462, 1523)


def test_stream_that_is_twice_in_a_view_counts_once():
    text = "Stream Block,Tx Count (Frames),Rx Count (Frames)\na,100,90\nb,10,10\na,100,90\n"
    fault, report = testcenter_views.parse(text.encode())
    assert (fault.line, fault.reason) == (4, "repeated stream: 'a,100,90'")
    assert (report.facts["sent"], report.facts["received"], report.facts["completed"]) == (110, 100, False)


PRINTED = (
    "Basic Counters\n"
    "Tx Port Name  Rx Port Names  Stream Block  Tx Count (Frames)  Rx Count (Frames)  Tx Rate (fps)  Rx Rate (fps)  "
    "Avg Latency (us)\n" + "-" * 60 + "\n"
    "Gig1          Gig2           one way       1000               990                100            99             "
    "N/A\n"
)


def test_view_printed_in_fixed_width_is_read_by_its_captions():
    assert testcenter_views.sniff(PRINTED.encode())
    (report,) = reports(testcenter_views, PRINTED)
    assert (report.facts["sent"], report.facts["dropped"], report.facts["achieved_rate"]) == (1000, 10, 99.0)


# --- Avalanche and CyberFlood ----------------------------------------------------------------------------------------

REALTIME = "avalanche_results/merged/client/realtime.csv"


def test_realtime_without_its_header_row_is_refused():
    text = "".join(line for line in lines(REALTIME) if not line.startswith("Seconds Elapsed"))
    assert "no row begins with `Seconds Elapsed`" in reject(avalanche, text).reason


def test_column_of_realtime_is_found_by_name_wherever_it_is():
    text = "text\nSeconds Elapsed,x,Incoming Traffic (Kbps)\n4,0,0\n8,0,940000\n12,0,942000\n16,0,0\n"
    (report,) = reports(avalanche, text)
    assert report.facts["achieved_rate"] == 941.0


def test_goodput_above_the_bytes_received_is_told():
    text = read("avalanche_results/client-subtest_0_core0/hostStats.csv").decode().replace("991612592", "99161259")
    (report,) = reports(avalanche, text)
    assert any("more goodput than bytes" in warning for warning in report.warnings)


def test_block_of_a_vlan_that_cannot_be_read_is_missed_by_the_hosts_after_it():
    whole = read("avalanche_results/client-subtest_0_core0/hostStats.csv").decode()
    first, damaged, later = reports_beside_rejects(avalanche, whole + "W" + whole + whole)
    assert first.facts["completed"] is False, "it got the lines of the block without a name"
    assert damaged.facts["completed"] is False
    assert later.facts["completed"] is False
    assert any("the trial lacks what it says" in warning for warning in damaged.warnings)


def http_run(**raw):
    summary = {"Executed": 22440, "Passed": 21245, "Failed": 1195, "Test Duration": "30", "Average Throughput": 750481}
    return {
        "runId": "r1",
        "test": {"name": "n", "type": "httpbandwidth"},
        "raw": {"Summary": summary, **raw},
        "grade": "A",
        "startedAt": "2019-04-19T09:21:21Z",
        "finishedAt": 1555665713000,
    }


LOAD = {
    "Desired Bandwidth": [[0, 0], [4, 100000], [8, 200000], [12, 200000], [16, 200000]],
    "Live Bandwidth": [[0, 0], [4, 500000], [8, 971809], [12, 971811], [16, 0]],
}


def test_bandwidth_of_cyberflood_is_both_directions_without_ramps():
    run = http_run(**{"Load Specification": LOAD, "Protocol Data": {"HTTP": [1214760320.5]}})
    (report,) = reports(cyberflood, json.dumps([run]))
    assert report.facts["achieved_rate"] == 971.81  # neither 618 (ramps) nor 1214 (twice the rate)
    assert report.facts["offered_rate"] == 200.0
    assert report.facts["rate_unit"] == "Mbit/s"
    assert report.facts["protocol"] == "HTTP"
    assert details(report)["direction_scope"] == "sum_both"
    assert details(report)["average_throughput_reported"] == 750.481
    assert any("both directions" in warning for warning in report.warnings)


def test_load_that_still_rises_when_all_of_it_is_desired_is_no_part_of_the_mean():
    load = {
        "Desired Bandwidth": [[4, 100000], *([t, 200000] for t in (8, 12, 16, 20))],
        "Live Bandwidth": [[4, 100000], [8, 308900], [12, 942800], [16, 971800], [20, 0]],
    }
    (report,) = reports(cyberflood, json.dumps([http_run(**{"Load Specification": load})]))
    assert report.facts["achieved_rate"] == pytest.approx((942.8 + 971.8) / 2)
    assert (details(report)["steady_from_s"], details(report)["steady_samples"]) == (12.0, 2)


def test_incoming_bandwidth_is_preferred_where_a_version_has_it():
    load = {**LOAD, "Live Incoming Bandwidth": [[8, 955251], [12, 955251]]}
    (report,) = reports(cyberflood, json.dumps([http_run(**{"Load Specification": load})]))
    assert (report.facts["achieved_rate"], details(report)["direction_scope"]) == (955.251, "one_way")


def test_failed_transactions_are_no_packet_loss():
    (report,) = reports(cyberflood, json.dumps([http_run(**{"Load Specification": LOAD})]))
    assert (report.facts["sent"], report.facts["dropped"]) == (22440, 1195)
    assert details(report)["counted"] == "transactions"
    assert any("not packet loss" in warning for warning in report.warnings)


def test_times_of_cyberflood_need_a_zone():
    (report,) = reports(cyberflood, json.dumps([http_run(**{"Load Specification": LOAD})]))
    assert report.facts["started_at"].isoformat() == "2019-04-19T09:21:21+00:00"
    assert report.facts["ended_at"].isoformat() == "2019-04-19T09:21:53+00:00"


@pytest.mark.parametrize(
    ("kind", "subject", "unit", "rate"),
    [
        ("httpcps", "Connections/Second", "connections/s", 5000.0),
        ("httpstransactions", "Transactions/Second", "transactions/s", 5000.0),
        ("httpsbandwidth", "Bandwidth", "Mbit/s", 5.0),
    ],
)
def test_unit_follows_the_desired_load(kind, subject, unit, rate):
    load = {f"Desired {subject}": [[4, 5000]], f"Live {subject}": [[4, 5000]]}
    run = {**http_run(**{"Load Specification": load}), "test": {"type": kind}}
    (report,) = reports(cyberflood, json.dumps([run]))
    assert (report.facts["rate_unit"], report.facts["achieved_rate"]) == (unit, rate)


def test_run_that_has_not_finished_is_rejected():
    found, fault = cyberflood.parse(json.dumps([http_run(**{"Load Specification": LOAD}), {"runId": "r2"}]).encode())
    assert isinstance(found, Report)
    assert "1 of 2 test runs" in fault.reason


def poll(elapsed, remaining, *client):
    entries = [{"type": "timeElapsed", "value": elapsed}, {"type": "timeRemaining", "value": remaining}, *client]
    return json.dumps({"runId": "r", "client": entries if client else [], "server": []})


def http(name, value):
    return {"type": "sum", "id": "http", "subType": name, "value": value}


def test_polls_of_one_run_are_one_trial_without_its_single_ports():
    port = {"type": "driver", "subType": "rxBandwidth@192.0.2.1/1/1", "value": 1}
    rate = http("successfulTxnsPerSec", 50)
    counts = {"attempted": 100, "successful": 90, "unsuccessful": 8, "aborted": 2}
    totals = [http(f"{outcome}Txns", count) for outcome, count in counts.items()]
    text = "\n".join([poll(0, 8), poll(4, 4, port, rate), poll(8, 0, rate, *totals)])
    assert cyberflood_polls.sniff(text.encode())
    (report,) = reports(cyberflood_polls, text)
    assert (report.facts["achieved_rate"], report.facts["sent"], report.facts["dropped"]) == (50.0, 100, 10)
    assert report.facts["completed"] is True
    assert "incoming_traffic" not in {row["metric"] for row in report.observations}


def test_polls_before_the_run_has_begun_are_rejected():
    assert "had not begun" in reject(cyberflood_polls, poll(0, 9)).reason


DETAILED = (
    "test_name,seconds,state,current_load,desired_load,tps,cps,rx_bandwidth,successful_txn,unsuccessful_txn,"
    "aborted_txn,client_cpu,load_type,run_id\n"
)


def test_detailed_csv_with_many_more_connections_than_desired_is_incomplete():
    row = "m,4,sustain,5,5,7,{},1,28,0,0,5,Connections/s,r2\n"
    sound, damaged = (reports(cyberflood_csv, DETAILED + row.format(cps))[0] for cps in (8, 2**31))
    assert sound.facts["completed"] is True
    assert damaged.facts["completed"] is False
    assert any("2147483648 connections/s where 5 were desired" in each for each in damaged.warnings)


def test_detailed_csv_has_a_trial_per_run_and_the_cpu_of_the_tester():
    text = DETAILED
    text += "n,4,ramp,10,100,5,5,400000,20,0,0,10,Bandwidth,r1\nn,8,sustain,100,100,9,9,900000,90,1,0,60,Bandwidth,r1\n"
    text += "n,12,sustain,100,100,9,9,902000,126,1,1,61,Bandwidth,r1\nm,4,sustain,5,5,7,8,1,28,0,0,5,Connections/s,r2\n"
    assert cyberflood_csv.sniff(text.encode())
    first, second = reports(cyberflood_csv, text)
    assert (first.facts["achieved_rate"], first.facts["rate_unit"], first.facts["sent"]) == (901.0, "Mbit/s", 128)
    assert (second.facts["achieved_rate"], second.facts["rate_unit"]) == (8.0, "connections/s")
    assert {row["metric"] for row in first.observations if row["unit"] == "%"} == {"generator_cpu"}


# --- Neighbours ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damaged", ["1824404.767,-1", "1,934.095"])
def test_rates_of_ixnetwork_that_contradict_each_other_make_the_trial_incomplete(damaged):
    text = read("ixnetwork_AggregateResults.csv").decode()
    assert all(part.facts["completed"] for part in reports(ixnetwork, text))
    found = reports(ixnetwork, text.replace("1824404.767,934.095", damaged))
    assert [part.facts["completed"] for part in found].count(False) == text.count("1824404.767,934.095") > 0


def test_flows_of_iteration_csv_make_one_trial():
    text = (
        "Trial,Framesize,Iteration,Tx Port,Rx Port,Traffic Item,Tx Rate (% Line Rate),Rx Throughput (% Line Rate),"
        "Rx Throughput (fps),Tx Count (frames),Rx Count (frames),Min Latency (ns),Max Latency (n),Avg Latency (ns)\n"
        "1,64,1,P1,P2,t,50,50,700,1000,1000,10,30,20\n1,64,1,P2,P1,t,50,50,700,1000,990,10,30,20\n"
        "1,64,2,P1,P2,t,60,60,800,1000,1000,10,30,20\n"
    )
    first, second = reports(ixnetwork, text)
    assert (first.facts["achieved_rate"], first.facts["sent"], first.facts["dropped"]) == (1400.0, 2000, 10)
    assert (details(first)["ports_tx"], second.line) == (2, 4)
    assert [row["value"] for row in first.observations if row["label"] == "P1 -> P2"] == [1e-5, 2e-5, 3e-5]


def test_ixload_without_its_last_line_is_cut_off():
    (report,) = reports(ixload, "".join(lines("ixload_HTTP_Client.csv")[:-1]))
    assert report.facts["completed"] is False


def test_megabytes_of_vsperf_are_told_and_unknown_cells_are_none():
    (report,) = reports(vsperf, read("vsperf_result_0_phy2phy_tput_p2p.csv"))
    assert any("factor 8" in warning for warning in report.warnings)
    unknown = read("vsperf_result_0_phy2phy_tput_p2p.csv").replace(b"1822916.0", b"Unknown")
    assert "neither a count" in reject(vsperf, unknown).reason


def test_live_counters_of_vsperf_are_no_result():
    data = b"Time,RxPrt,DrpFrCnt,SeqRnLen,AvgLat\n1,2,3,4,5\n"
    assert vsperf.sniff(data)
    assert "without a result" in reject(vsperf, data).reason


def test_halved_rates_of_nfvbench_are_not_taken():
    (report,) = reports(nfvbench, read("nfvbench_ndr.json"))
    assert report.facts["achieved_rate"] == pytest.approx(108928571 / 60)
    del (said := json.loads(read("nfvbench_ndr.json")))["ndr"]["duration_sec"]
    (report,) = reports(nfvbench, json.dumps(said))
    assert report.facts["achieved_rate"] == 2 * 907738.0


def test_whole_result_of_nfvbench_is_searched_for_its_trials():
    search = json.loads(read("nfvbench_ndr.json"))["ndr"]
    del search["l2frame_size"]
    chains = {"PVP": {"result": {"result": {"64": {"ndr": search, "pdr": search}}}}}
    whole = {
        "nfvbench_version": "3.5.0",
        "config": {"measurement": {"NDR": 0.001, "PDR": 0.1}},
        "benchmarks": {"network": {"service_chain": chains}},
    }
    ndr, pdr = reports(nfvbench, json.dumps(whole))
    assert (details(ndr)["loss_tolerance_pct"], details(pdr)["loss_tolerance_pct"]) == (0.001, 0.1)
    assert (details(ndr)["frame_size_bytes"], ndr.facts["tool_version"]) == (64.0, "3.5.0")


def test_record_for_fluentd_is_a_trial():
    record = {
        **{"total_orig_rate_pps": 297618, "total_tx_rate_pps": 283169, "total_rx_rate_pps": 136949},
        **{"drop_rate_percent": 51.6, "avg_delay_usec": 6271, "frame_size": "64", "bidirectional": True},
        **{"chain_analysis_duration": "60.091", "version": "1.0.10.dev1", "type": "single_run"},
    }
    (report,) = reports(nfvbench, json.dumps({"_index": "resultnfvbench", "_source": record}))
    assert (report.facts["offered_rate"], report.facts["achieved_rate"]) == (297618.0, 136949.0)
    assert (report.facts["duration_s"], details(report)["loss_observed_pct"]) == (60.091, pytest.approx(51.6))
    assert report.facts["dropped"] / report.facts["sent"] == pytest.approx(0.516)
    assert report.facts["sent"] == round(283169 * 60.091)
    assert "counts are computed" in report.warnings[-1]


def csit_case(**result):
    return json.dumps({"dut_type": "VPP", "tg_type": "TREX", "passed": True, "tags": ["IMIX"], "result": result})


@pytest.mark.parametrize(
    ("result", "unit", "rate", "tolerance"),
    [
        (
            {"type": "mrr", "receive_rate": {"rate": {"avg": 10.0, "stdev": 1, "values": [9, 11], "unit": "pps"}}},
            "frames/s",
            10.0,
            None,
        ),
        ({"type": "soak", "critical_rate": {"lower": {"rate": {"value": 7, "unit": "pps"}}}}, "frames/s", 7.0, 1e-5),
        ({"type": "hoststack", "bandwidth": {"value": 9.5e9, "unit": "bps"}}, "Mbit/s", 9500.0, None),
        (
            {"type": "hoststack", "bandwidth": {"value": 1e9, "unit": "bps"}, "rate": {"value": 5, "unit": "cps"}},
            "connections/s",
            5.0,
            None,
        ),
        (
            {
                "type": "reconf",
                "aggregate_rate": {"rate": {"value": 3, "unit": "pps"}},
                "loss": {"packet": {"value": 12, "unit": "packets"}, "time": {"value": 4, "unit": "s"}},
            },
            "frames/s",
            3.0,
            None,
        ),
    ],
)
def test_every_kind_of_csit_result_has_its_rate(result, unit, rate, tolerance):
    (report,) = reports(csit, csit_case(**result))
    assert (report.facts["rate_unit"], report.facts["achieved_rate"]) == (unit, rate)
    assert details(report)["loss_tolerance_pct"] == tolerance
    assert "IMIX frames" in report.facts["method"]


def test_csit_case_without_a_rate_is_rejected():
    assert "result is of type unknown" in reject(csit, csit_case(type="unknown")).reason


def test_json_may_be_indented_or_follow_without_a_newline():
    text = read("trex_ndr_bench.json").decode().strip()
    indented = "\n".join("    " + line for line in text.splitlines())
    assert len(reports(trex, "\n" + indented)) == 1
    assert len(reports(trex, text + text)) == 2


# --- JSON that is not whole ------------------------------------------------------------------------------------------


# --- Captures that may not be copied ---------------------------------------------------------------------------------

needs_third_party = pytest.mark.skipif(
    not THIRD_PARTY.is_dir(), reason="captures under licences that forbid copying are not here"
)


@needs_third_party
def test_poll_of_a_run_that_was_going_on():
    (report,) = reports(cyberflood_polls, (THIRD_PARTY / "cyberflood_netsecopen_statistics.json").read_bytes())
    assert (report.facts["sent"], report.facts["received"], report.facts["dropped"]) == (233538, 233527, 0)
    assert report.facts["achieved_rate"] == 52680.0
    assert report.facts["completed"] is False
    cpu = {row["label"]: row["value"] for row in report.observations if row["metric"] == "generator_cpu"}
    assert cpu == pytest.approx({"client": 69.933333333, "server": 56.433333333})


@needs_third_party
def test_printed_view_of_traffic_that_never_ran_is_rejected():
    data = (THIRD_PARTY / "itest_StreamBlockResults_Basic_Counters_1.txt").read_bytes()
    assert testcenter_views.sniff(data)
    assert "nothing was sent" in reject(testcenter_views, data).reason
