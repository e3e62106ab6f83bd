"""Very large input, through a whole ingest: it is read or refused in bounded memory and time."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from dropline.ingest.formats import dnsblast, draft, ixload, perfdhcp, perfdhcp_lines, text

MB = 1024 * 1024
MAX_MEMORY_MB = 700
MAX_SECONDS = 20  # of processor time
ROOT = Path(__file__).parents[2]
CAPTURES = ROOT / "tests" / "captures"

PERFDHCP = (ROOT / "examples/kea-2.2-ha/runs/v4_st_memfile_hot-standby/rep1/rate740.txt").read_bytes()
DNSPERF = (CAPTURES / "dns/tools/dnsperf/mysql-once/dnsperf.out").read_bytes()
QUERYPERF = (CAPTURES / "dns/tools/queryperf/documented/queryperf.out").read_bytes()
NFVBENCH = (CAPTURES / "spirent/nfvbench_ndr.json").read_bytes().rstrip().removesuffix(b"}") + b', "x": '
VIEW = (CAPTURES / "spirent/stc_gui_DetailedStreamResults.csv").read_bytes()
DATABASE = (CAPTURES / "spirent/EotResultDb_2012-05-14_10-20-30.db").read_bytes()
KEA = b'{"Dhcp4": {"x": '
STATUS = b"Sent: [5] - Received: [5] - Reply rate: [5 pps] - Ratio: [100.00%]  \r"
INTERIM = b"sent: 1/1; received: 1/1; drops: 0/0; rejected: 0/0\n"


def packed(*pieces):
    """Text in gzip; a number repeats the mebibyte, or less, before it, without anybody ever having the whole."""
    members = []
    for piece in pieces:
        members.append(members.pop() * piece if isinstance(piece, int) else gzip.compress(piece, compresslevel=1))
    return b"".join(members)


def mb(text):
    return text * (MB // len(text))


# Name -> (file, its bytes or, for a hole, its size, trials, what is told).
FILES = {
    "a line of 100 MB": ("a.txt", lambda: PERFDHCP + b"a" * 100 * MB, 0, "more than the limit"),
    "a line of 60 MB behind a report of perfdhcp": ("a.txt", lambda: PERFDHCP + b"a" * 60 * MB, 1, ""),
    "a packed line of 100 MB behind a report of perfdhcp": ("a.gz", lambda: packed(PERFDHCP, mb(b"a"), 100), 1, ""),
    "a packed line of 100 MB behind a report of dnsperf": ("a.gz", lambda: packed(DNSPERF, mb(b"a"), 100), 1, ""),
    "a JSON text of 100 MB": ("a.json.gz", lambda: packed(NFVBENCH + b'"', mb(b"a"), 100), 0, "MiB of text"),
    "JSON of many objects": ("a.json.gz", lambda: packed(NFVBENCH + b"[", mb(b"{},"), 30), 0, "more than"),
    "JSON of as many objects as may be": (
        "a.json.gz",
        lambda: packed(NFVBENCH + b"[" + b'{"a":1},' * 1_400_000 + b"{}]}"),
        1,
        "",
    ),
    "JSON that is nested 2,000,000 deep": ("a.json", lambda: NFVBENCH + b"[" * 2_000_000, 0, "nested too deeply"),
    "a row of 30,000,000 cells": ("a.csv.gz", lambda: packed(VIEW, mb(b","), 30), 1, "row of 1 cells"),
    "a hole of 1 GB": ("a.txt", 1024 * MB, 0, "more than the limit"),
    "a hole of 60 MB": ("a.txt", 60 * MB, 0, "not recognised"),
    "10 GB of zeros": ("a.gz", lambda: packed(mb(b"\0"), 10_000), 0, "not recognised"),
    "10 GB of a behind a report": ("a.gz", lambda: packed(PERFDHCP, mb(b"a"), 10_000), 0, "MiB of text"),
    "10 GB behind a report in UTF-16": (
        "a.gz",
        lambda: packed(PERFDHCP.decode().encode("utf-16"), mb("é".encode("utf-16-le")), 10_000),
        0,
        "MiB of text",
    ),
    "10 GB behind a database": ("a.gz", lambda: packed(DATABASE, mb(b"a"), 10_000), 0, "more than 32 MiB"),
    "100,000,000 blank lines": ("a.gz", lambda: packed(PERFDHCP, mb(b"\n"), 100), 0, "more than 1000000 lines"),
    "a hundred thousand runs": ("a.gz", lambda: packed(b"Running: perfdhcp -r 1\n" * 100_000), 0, "99000 more parts"),
    "a line of several tools 200,000 times": ("a.txt", lambda: QUERYPERF + b"Statistics:\n" * 200_000, 1, ""),
    "tabs behind 2,000 counts": ("a.txt", lambda: DNSPERF + (b"Queries sent: 1%s!\n" % (b"\t" * 3900)) * 2000, 1, ""),
    "a status line for 300,000 half seconds": ("a.gz", lambda: packed(STATUS * 300_000), 1, ""),
    "YAML": ("a.yml", lambda: b"\noutput: |\n " + PERFDHCP.replace(b"\n", b"\n ") + b"\nk: " + b"[" * 300_000, 1, ""),
    "a configuration of 60 MB": ("kea.conf", lambda: KEA + b'"' + b"a" * 60 * MB + b'"}}', 0, "more than 8 MiB"),
    "a configuration of many objects": ("kea.conf", lambda: KEA + b"[" + b"{}," * 2_000_000 + b"{}]}}", 0, "[]"),
    "a configuration that is nested deep": ("kea.conf", lambda: KEA + b"[" * 8_000_000, 0, "nested too deeply"),
    "machine facts of 60 MB": ("lscpu.txt", lambda: b"Architecture: x86_64\n" + b"a: b\n" * 12_000_000, 0, "8 MiB"),
}


INGEST = """
import json, resource, sys
from pathlib import Path
from dropline.ingest.lake import Lake
from dropline.ingest.loader import ingest

file = Path(sys.argv[1])
done = ingest([file], Lake.create(file.parent / "lake"))
reasons = str([row["reason"] for row in done.rejects[-3:]])
own, workers = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
seconds = sum(each.ru_utime + each.ru_stime for each in (own, workers))
status = Path("/proc/self/status").read_text()  # own.ru_maxrss begins with the memory of the process that started this
peak_kib = max(int(status.partition("VmHWM:")[2].split()[0]), workers.ru_maxrss)
print(json.dumps([done.seen, done.trials, reasons, seconds, peak_kib / 1024]))
"""


@pytest.mark.parametrize("name", FILES)
def test_large_file_is_read_or_refused_in_bounded_memory_and_time(name, tmp_path):
    file, content, trials, told = FILES[name]
    with (tmp_path / file).open("wb") as opened:
        opened.truncate(content) if isinstance(content, int) else opened.write(content())
    ran = subprocess.run([sys.executable, "-c", INGEST, tmp_path / file], stdout=subprocess.PIPE, check=True)
    *counted, reasons, seconds, megabytes = json.loads(ran.stdout)
    (tmp_path / file).unlink()
    assert counted == [1, trials]
    assert told in reasons
    assert seconds < MAX_SECONDS
    assert megabytes < MAX_MEMORY_MB


def test_values_of_a_report_are_kept_up_to_a_limit_and_the_rest_is_told(monkeypatch):
    for module in (draft, perfdhcp, perfdhcp_lines):
        monkeypatch.setattr(module, "MAX_SERIES", 10)
    (blasted,) = dnsblast.parse(STATUS * 100)
    (loaded,) = ixload.parse((CAPTURES / "spirent/ixload_HTTP_Client.csv").read_bytes())
    head, interim, rest = PERFDHCP.partition(b"sent: 739/739")
    (report,) = perfdhcp.parse(head + INTERIM * 100 + interim + rest)
    assert len(blasted.observations) == len(loaded.observations) == 10
    assert {*report.intervals["position"]} == set(range(10))
    for found in (blasted, loaded, report):
        assert [warning for warning in found.warnings if "first 10 " in warning]


def test_behind_too_many_values_nothing_is_read_and_that_is_told(monkeypatch):
    monkeypatch.setattr(text, "MAX_ROWS", 5)
    *reports, fault = perfdhcp.parse(PERFDHCP * 10)
    assert 1 <= len(reports) < 10
    assert "from here on the file is not read" in fault.reason
    assert fault.line == len(reports) * PERFDHCP.count(b"\n") + 1


def test_rejects_are_named_up_to_a_limit_and_then_counted(monkeypatch):
    monkeypatch.setattr(text, "MAX_REJECTS", 3)
    *first, rest = perfdhcp.parse(b"Running: perfdhcp -4 -r 1\n" * 10)
    assert [fault.line for fault in first] == [1, 2, 3]
    assert (rest.line, rest.reason) == (10, "7 more parts up to here cannot be used")


def test_counter_that_no_double_holds_costs_no_trial():
    (report,) = dnsblast.parse(STATUS.replace(b"5]", b"9007199254740993]"))
    assert report.facts["sent"] == 2**53 + 1
    assert {each.value for each in report.observations if each.metric == "sent"} == {2.0**53}
