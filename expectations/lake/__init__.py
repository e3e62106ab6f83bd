"""The suites of the lake, held against every batch once. The queries see several batches at a time.

Each row is of one `batch` and is joined to others of that batch only: a trial may stand in several. Beside the tables
of the batches they see `known_hosts` (host_id, nic_speed_mbps, cpu_threads) of the whole lake.
"""

from typing import Final

from dropline.expectations.lake import (
    campaigns,
    cpu,
    exchanges,
    figures,
    hosts,
    intervals,
    observations,
    raw_files,
    rejects,
    server_configs,
    trials,
)
from dropline.expectations.suite import Suite

SUITES: Final[tuple[Suite, ...]] = (
    trials.SUITE,
    exchanges.SUITE,
    intervals.SUITE,
    observations.SUITE,
    cpu.SUITE,
    hosts.SUITE,
    server_configs.SUITE,
    raw_files.SUITE,
    rejects.SUITE,
    campaigns.SUITE,
    figures.SUITE,
)
