"""Figures that people read from documents flow through the models as the bundled ones do."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dropline.ingest import figures
from dropline.ingest.lake import Lake
from dropline.ingest.schema import TABLES
from dropline.paths import Home
from tests.homes import asking, built
from tests.lakes import put

EXAMPLE = Path(__file__).parents[1] / "captures" / "figures" / "figures.csv"
HEADER = "figure_id,source_id,location,product,protocol,metric,value,unit,qualifier,ha_mode,loss_limit_ratio\n"
FIRST = HEADER + "1,isc-kb-kea-2.0,p. 1,Kea 3.0.0,4,leases_per_second,900,leases/s,at_least,none,0.025\n"
SECOND = (
    FIRST.replace(",900,", ",1000,")
    + "kea20-001,isc-kb-kea-2.0,p. 1,Kea 3.0.0,4,leases_per_second,500,leases/s,exact,hot-standby,0.025\n"
    + "2,isc-kb-kea-2.0,p. 2,NSD 4.8,dns,queries_per_second,7000,queries/s,,,\n"
    + "3,isc-kb-kea-2.0,p. 3,NSD 4.8,dns,queries_per_second,8000,queries/s,,,\n"
)

Sql = Callable[[str], list[tuple[Any, ...]]]


def commit(lake, campaign, path, data):
    """Put a file of figures into the lake as an ingest does."""
    file = {"campaign": campaign, "source_path": path, "batch": ""}
    digest = hashlib.sha256(data).hexdigest()
    rows = [row | file | {"source_sha256": digest} for row in figures.parse(data) if isinstance(row, dict)]
    raw = {"size_bytes": len(data), "sha256": digest, "context_sha256": "", "content": data, "status": "figures"}
    found = pa.Table.from_pylist(rows, schema=TABLES["figures"])
    put(lake, raw_files=pa.Table.from_pylist([raw | file], schema=TABLES["raw_files"]), figures=found)


@pytest.fixture(scope="module")
def sql(tmp_path_factory):
    home = Home.chosen(tmp_path_factory.mktemp("home"))
    lake = Lake.create(home.lake)
    commit(lake, "lab", "figures.csv", EXAMPLE.read_bytes())
    commit(lake, "dns-2025", "figures.csv", EXAMPLE.read_bytes())
    commit(lake, "lab", "kea.csv", FIRST.encode())
    commit(lake, "lab", "kea.csv", SECOND.encode())
    with asking(built(home.root)) as asked:
        yield asked


def test_an_ingested_figure_is_a_capacity_with_source_and_qualifier(sql):
    assert sql(
        """select origin, product, product_version, threads, rate, rate_unit, loss_limit, status, qualifier
        from capacity where campaign = 'lab/dns-2025' and backend = 'lmdb'"""
    ) == [("published", "PowerDNS Authoritative Server", "4.9.1", 3, 61200.0, "queries/s", 0.01, "published", "exact")]
    assert sql(
        """select source_title, publisher, source_url, location from published_figures
        where source_id = 'lab/dns-2025' and metric = 'latency_avg_ms'"""
    ) == [
        ("Name servers and their databases", "Example Laboratory", "https://example.org/dns-2025", "text below table 2")
    ]


def test_ratios_are_computed_within_the_source(sql):
    assert sql(
        "select backend, reference_backend, ratio from backend_ratio where campaign = 'lab/dns-2025' and ratio > 1"
    ) == [("lmdb", "mysql", 61200 / 15300)]
    assert sql("select lps_with_ha, lps_without_ha, ratio from ha_speedup where campaign = 'lab/isc-kb-kea-2.0'") == [
        (500.0, 1000.0, 0.5)
    ]


def test_only_the_last_version_of_a_file_counts(sql):
    assert sql("select figure_id, value, qualifier from published_figures where figure_id like 'lab/kea.csv#1'") == [
        ("lab/kea.csv#1", 1000.0, "at_least")
    ]


def test_ids_of_others_are_never_taken(sql):
    """A bundled source and a bundled figure of the same ids, and a campaign that is named as its source."""
    assert sql("select figure_id, value from published_figures where figure_id like '%kea20-001' order by 1") == [
        ("kea20-001", 11686.0),
        ("lab/kea.csv#kea20-001", 500.0),
    ]
    assert sql("select campaign, origin from campaigns where campaign like '%dns-2025' order by 1") == [
        ("dns-2025", "measured"),
        ("dns-2025/dns-2025", "published"),
        ("lab/dns-2025", "published"),
    ]


def test_two_figures_of_one_configuration_stay_two(sql):
    assert sql("select rate, method from capacity where campaign like 'lab/%' and product = 'NSD' order by rate") == [
        (7000.0, "figure lab/kea.csv#2"),
        (8000.0, "figure lab/kea.csv#3"),
    ]
