"""A lake made by hand.

Each trial is the first of examples/kea-2.2-ha/runs/v4_st_memfile_hot-standby but for what a test
changes.
"""

from __future__ import annotations

import shutil
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from dropline.ingest.lake import Lake
from dropline.ingest.schema import TABLES
from dropline.paths import Home
from tests.lakes import put

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]

DISCOVER_OFFER: Row = {
    **{"exchange": "DISCOVER-OFFER", "position": 0, "sent": 2219, "received": 2219, "drops": 0},
    **{"drop_ratio": 0.0, "drop_ratio_printed": "0", "orphans": 0, "rejected": 0, "collected": 0},
    **{"min_delay_ms": 0.098, "avg_delay_ms": 0.308, "max_delay_ms": 3.863, "stdev_delay_ms": 0.349},
}
REQUEST_ACK: Row = {
    **{"exchange": "REQUEST-ACK", "position": 1, "sent": 2219, "received": 2218, "drops": 1},
    **{"drop_ratio": 0.00045, "drop_ratio_printed": "0.045", "orphans": 0, "rejected": 0},
    **{"min_delay_ms": 0.728, "avg_delay_ms": 2.411, "max_delay_ms": 27.746, "stdev_delay_ms": 4.297},
}
TRIAL: Row = {
    **{"source_sha256": "00", "report_index": 0, "tool": "perfdhcp", "completed": True},
    **{"protocol": "DHCPv4", "offered_rate": 740.0, "achieved_rate": 739.063},
    **{"rate_unit": "leases/s", "sent": 4438, "received": 4437, "dropped": 1, "malformed": 0},
    **{"duration_s": 3.0, "threads": 1, "scenario": "basic"},
    "started_at": datetime(2026, 11, 20, 11, 0, 0, tzinfo=UTC),
    "ended_at": datetime(2026, 11, 20, 11, 0, 3, tzinfo=UTC),
}
LINES: list[Row] = [
    {"position": position, "exchange": exchange, "sent": count, "received": count, "rejected": 0}
    | {"interval_sent": count - before, "interval_received": count - before}
    for exchange in ("DISCOVER-OFFER", "REQUEST-ACK")
    for position, (before, count) in enumerate(((0, 739), (739, 1479)))
]
HOST: Row = {
    **{"name": "server", "cpu_sockets": 1, "cpu_cores": 2, "cpu_threads": 2, "cpu_mhz": 2100.0},
    **{"memory_bytes": 4 << 30, "nic_speed_mbps": 10000.0},
}
SERVER: Row = {
    **{"source_sha256": "00", "product": "ISC Kea", "renew_timer_s": 900.0},
    **{"rebind_timer_s": 1800.0, "valid_lifetime_s": 3600.0, "ha_mode": "hot-standby"},
    **{"ha_peers": 2, "threading": "single", "threads": 1, "pools": 1, "pool_addresses": 254.0},
}
CAMPAIGN: Row = {
    **{"title": "By hand", "started_on": date(2026, 11, 20)},
    **{"discard_lowest": 1, "discard_highest": 1, "discard_from_runs": 5, "exceed_ratio": 0.5},
}
REJECT: Row = {"source_sha256": "00", "line": 12, "reason": "cut off", "hint": "run the trial again"}
FIGURE: Row = {
    **{"source_sha256": "00", "line": 2, "source_id": "article", "source_date": "2021-10", "test_date": "2021"},
    **{"location": "table 1", "metric": "leases_per_second", "value": 5621.0, "unit": "leases/s"},
    **{"qualifier": "exact", "protocol": "DHCPv4", "ip_version": 4, "threads": 4, "repetitions": 9},
    **{"discard_lowest": 1, "discard_highest": 1, "loss_limit_ratio": 0.025, "drop_time_s": 1.0},
}


class BatchOfTrials:
    """Collects rows by file; every trial comes with the whole of its report."""

    def __init__(self, campaign: str = "by-hand") -> None:
        self.campaign = campaign
        self.rows: dict[str, list[Row]] = {name: [] for name in TABLES}

    def trial(self, name: str, changes: dict[str, Any] | None = None) -> BatchOfTrials:
        """Add the trial `name` in a file of that name, with `changes` to parts of its report."""
        changed = changes or {}
        keys = {"campaign": self.campaign, "source_path": f"{name}.txt"}
        one = {"trial_id": name}
        exchanges = [
            {**one, **DISCOVER_OFFER, **changed.get("first", {})},
            {**one, **REQUEST_ACK, **changed.get("second", {})},
        ]
        observed = {**one, **keys, "metric": "udp.InErrors", "value": 0.0, "unit": "packets"}
        trial = {**one, **keys, "host_id": name, "server_config_id": name, **TRIAL}
        self.rows["trials"].append({**trial, **changed.get("trial", {})})
        self.rows["exchanges"] += exchanges
        self.rows["intervals"] += [{**one, **line} for line in changed.get("lines", LINES)]
        self.rows["observations"].append({**observed, **changed.get("observation", {})})
        self.rows["hosts"].append({"host_id": name, **keys, **HOST, **changed.get("host", {})})
        server = {"server_config_id": name, **keys, **SERVER, **changed.get("server", {})}
        self.rows["server_configs"].append(server)
        self.file(f"{name}.txt", changed.get("file", {}))
        if "campaign" in changed:
            self._described(name, changed["campaign"])
        for table, row in (("rejects", REJECT), ("figures", {**FIGURE, "figure_id": name})):
            if table in changed:
                self.rows[table].append({**keys, **row, **changed[table]})
        return self

    def _described(self, name: str, changes: Row) -> None:
        """Describe a campaign of the name of the trial."""
        self.rows["campaigns"].append({"campaign": name, **CAMPAIGN, **changes})
        described = {"campaign": name, "format": "campaign", "status": "context", "trials": None}
        self.file(f"{name}.txt", described)

    def file(self, path: str, changes: Row | None = None) -> BatchOfTrials:
        """Register an input file with one trial."""
        file = {"campaign": self.campaign, "source_path": path, "size_bytes": 800, "sha256": "00"}
        more = {"context_sha256": "00", "status": "trials", "trials": 1, "content": b""}
        self.rows["raw_files"].append({**file, **more, **(changes or {})})
        return self

    def commit(self, lake: Path) -> str:
        tables = {}
        for name, rows in self.rows.items():
            schema = TABLES[name]
            columns = {key: [row.get(key) for row in rows] for key in schema.names}
            columns["batch"] = ["" for _ in rows]
            tables[name] = pa.table(columns, schema=schema)
        batch = put(Lake.create(lake), **tables)
        assert batch
        return batch


@pytest.fixture(scope="session")
def batch() -> type[BatchOfTrials]:
    return BatchOfTrials


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def built_home(warehouse_home: Path, tmp_path: Path) -> Home:
    """A home of one's own with the examples ingested, checked and built."""
    shutil.copytree(warehouse_home, tmp_path / "built")
    return Home(tmp_path / "built")
