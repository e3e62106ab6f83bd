"""The suites of the lake, held against every batch once. The queries see one batch at a time.

Beside the tables of the batch they see `known_hosts` (host_id, nic_speed_mbps) of the whole lake.
"""

from typing import Final

from expectations.lake import (
    exchanges,
    hosts,
    intervals,
    observations,
    raw_files,
    server_configs,
    trials,
)
from expectations.suite import Suite

SUITES: Final[tuple[Suite, ...]] = (
    trials.SUITE,
    exchanges.SUITE,
    intervals.SUITE,
    observations.SUITE,
    hosts.SUITE,
    server_configs.SUITE,
    raw_files.SUITE,
)
