"""The Arrow schemas of the lake: the contract between the readers and dbt.

Each table that has rows in a commit is one Parquet file with exactly these columns. Units are in the names (`_s`,
`_ms`, `_bytes`, `_ratio` from 0 to 1); a `rate` has its `rate_unit` beside it. Null means that no source gives a value.
"""

from typing import Final

import pyarrow as pa

TEXT: Final = pa.string()
COUNT: Final = pa.int64()
NUMBER: Final = pa.float64()
FLAG: Final = pa.bool_()
TIME: Final = pa.timestamp("us", tz="UTC")


def _table(*columns: tuple[str, pa.DataType], required: str) -> pa.Schema:
    names = set(required.split())
    return pa.schema([pa.field(name, kind, nullable=name not in names) for name, kind in columns])


# What was tested and how. A sidecar, a server's own configuration, a path and campaign.yaml may all set these.
CONFIGURATION: Final[tuple[tuple[str, pa.DataType], ...]] = (
    ("product", TEXT),
    ("product_version", TEXT),
    ("protocol", TEXT),
    ("backend", TEXT),
    ("backend_version", TEXT),
    ("threading", TEXT),  # single | multi
    ("threads", pa.int32()),
    ("packet_queue_size", COUNT),
    ("ha_mode", TEXT),  # none | hot-standby | load-balancing | passive-backup
    ("scenario", TEXT),
    ("testbed", TEXT),
)

CAMPAIGNS: Final = _table(
    ("campaign", TEXT),
    ("batch", TEXT),
    ("title", TEXT),
    ("description", TEXT),
    ("started_on", pa.date32()),
    ("source_url", TEXT),
    ("discard_lowest", pa.int32()),  # number of runs that the method leaves out at each end
    ("discard_highest", pa.int32()),
    ("discard_from_runs", pa.int32()),  # ... if there are at least this many
    ("exceed_ratio", pa.float64()),  # share of a step's trials that may exceed a loss goal; null for 0.5
    ("expected_rcodes", pa.list_(TEXT)),  # answer codes that are no errors; null for NOERROR and NXDOMAIN
    ("tags", pa.list_(TEXT)),
    required="campaign batch",
)

TRIALS: Final = _table(
    ("trial_id", TEXT),
    ("batch", TEXT),
    ("campaign", TEXT),
    ("source_path", TEXT),  # relative to the campaign's folder, with forward slashes
    ("source_sha256", TEXT),
    ("context_path", TEXT),  # folder without what other columns say, if a better source describes the set-up
    ("name_words", TEXT),  # words of banner, file and else folder that describe the set-up
    ("report_index", pa.int32()),  # 0 for the first report of a file
    ("source_line", pa.int32()),  # where the report begins, from 1
    ("tool", TEXT),
    ("tool_version", TEXT),
    ("command", TEXT),
    ("method", TEXT),  # the generator's load options in one canonical form, without rate and target
    *CONFIGURATION,
    ("host_id", TEXT),
    ("server_config_id", TEXT),
    ("repetition", pa.int32()),
    ("offered_rate", NUMBER),
    ("achieved_rate", NUMBER),  # as the tool reports it
    ("rate_unit", TEXT),
    ("sent", COUNT),  # all packets of all exchanges
    ("received", COUNT),
    ("dropped", COUNT),
    ("malformed", COUNT),
    ("duration_s", NUMBER),  # the period in which load was offered
    ("drop_time_s", NUMBER),  # of the first exchange
    ("drop_time_second_s", NUMBER),
    ("wait_s", NUMBER),
    ("clients", COUNT),
    ("started_at", TIME),
    ("ended_at", TIME),
    ("exit_code", pa.int32()),
    ("completed", FLAG),  # the final report is complete and nobody interrupted the trial
    ("server_wiped", FLAG),  # the server had no leases when the trial began
    ("requests_planned", COUNT),  # number of requests the generator was told to send
    ("details", TEXT),  # anything else the tool reports, as JSON: transport, window, load layer, ...
    ("warnings", pa.list_(TEXT)),
    ("context_sources", pa.map_(TEXT, TEXT)),  # column -> where its value came from
    ("conflicts", pa.list_(TEXT)),  # descriptions of disagreements between sources
    required="trial_id batch campaign source_path source_sha256 report_index tool completed",
)

EXCHANGES: Final = _table(
    ("trial_id", TEXT),
    ("batch", TEXT),
    ("exchange", TEXT),
    ("position", pa.int32()),  # 0 for the first exchange of the protocol
    ("sent", COUNT),
    ("received", COUNT),
    ("drops", COUNT),
    ("drop_ratio", NUMBER),
    ("drop_ratio_printed", TEXT),  # the percentage as printed, with its precision
    ("orphans", COUNT),
    ("rejected", COUNT),
    ("non_unique", COUNT),
    ("collected", COUNT),
    ("min_delay_ms", NUMBER),
    ("avg_delay_ms", NUMBER),
    ("max_delay_ms", NUMBER),
    ("stdev_delay_ms", NUMBER),
    required="trial_id batch exchange position",
)

INTERVALS: Final = _table(
    ("trial_id", TEXT),
    ("batch", TEXT),
    ("position", pa.int32()),  # 0 for the first interim line of the report
    ("t_s", NUMBER),  # nominal end of the interval since the start: interim lines carry no clock
    ("exchange", TEXT),
    ("sent", COUNT),  # cumulative, as printed
    ("received", COUNT),
    ("drops", COUNT),
    ("rejected", COUNT),
    ("interval_sent", COUNT),  # since the line before
    ("interval_received", COUNT),
    ("interval_drops", COUNT),  # negative if packets in flight arrived after all
    required="trial_id batch position exchange",
)

OBSERVATIONS: Final = _table(
    ("trial_id", TEXT),  # null for a separate file: the models match it to trials, by time or by `beside`
    ("batch", TEXT),
    ("campaign", TEXT),
    ("source_path", TEXT),
    ("beside", TEXT),  # path, without ending, of the output that a separate file belongs to
    ("moment", TEXT),  # before | after | null, of a snapshot without a clock
    ("observed_at", TIME),
    ("host", TEXT),
    ("metric", TEXT),
    ("label", TEXT),  # which exchange, interface or process the value belongs to
    ("t_s", NUMBER),  # since the start of the trial
    ("value", NUMBER),
    ("unit", TEXT),
    required="batch campaign metric value",
)

HOSTS: Final = _table(
    ("host_id", TEXT),
    ("batch", TEXT),
    ("campaign", TEXT),
    ("source_path", TEXT),
    ("name", TEXT),
    ("architecture", TEXT),
    ("cpu_model", TEXT),
    ("cpu_vendor", TEXT),
    ("cpu_sockets", pa.int32()),
    ("cpu_cores", pa.int32()),  # physical, over all sockets
    ("cpu_threads", pa.int32()),  # logical, over all sockets
    ("cpu_mhz", NUMBER),
    ("memory_bytes", COUNT),
    ("nic_model", TEXT),
    ("nic_driver", TEXT),
    ("nic_speed_mbps", NUMBER),
    ("disks", TEXT),
    ("os_name", TEXT),
    ("os_version", TEXT),
    ("kernel", TEXT),
    ("virtualisation", TEXT),
    ("packages", pa.map_(TEXT, TEXT)),
    ("facts", TEXT),  # everything else that was found, as JSON
    required="host_id batch campaign source_path",
)

SERVER_CONFIGS: Final = _table(
    ("server_config_id", TEXT),
    ("batch", TEXT),
    ("campaign", TEXT),
    ("source_path", TEXT),
    ("source_sha256", TEXT),
    ("product", TEXT),
    ("product_version", TEXT),
    ("protocol", TEXT),
    ("backend", TEXT),
    ("backend_persistent", FLAG),
    ("threading", TEXT),
    ("threads", pa.int32()),
    ("packet_queue_size", COUNT),
    ("ha_mode", TEXT),
    ("ha_server_name", TEXT),
    ("ha_role", TEXT),
    ("ha_peers", pa.int32()),
    ("subnets", pa.int32()),
    ("pools", pa.int32()),
    ("pool_addresses", NUMBER),  # a double, because DHCPv6 pools do not fit an integer
    ("prefix_pools", pa.int32()),
    ("prefix_pool_prefixes", NUMBER),
    ("reservations", pa.int32()),
    ("client_classes", pa.int32()),
    ("hooks", pa.list_(TEXT)),
    ("valid_lifetime_s", NUMBER),
    ("renew_timer_s", NUMBER),
    ("rebind_timer_s", NUMBER),
    ("socket_type", TEXT),
    ("settings", TEXT),  # the whole configuration as JSON, secrets masked
    required="server_config_id batch campaign source_path source_sha256 product",
)

RAW_FILES: Final = _table(
    ("campaign", TEXT),
    ("batch", TEXT),
    ("scope", TEXT),  # the campaign of the folder; a sidecar may have named another
    ("place", TEXT),  # path of that folder on disk when the file was read
    ("source_path", TEXT),
    ("size_bytes", COUNT),
    ("modified_at", TIME),
    ("sha256", TEXT),
    ("context_sha256", TEXT),  # of everything joined to the file: a new context makes a new version
    ("content", pa.binary()),
    ("format", TEXT),  # perfdhcp, kea, lscpu, campaign, sidecar, ...
    ("status", TEXT),  # trials | observations | figures | context | rejected | partly_rejected | ignored | forgotten
    ("trials", pa.int32()),
    required="campaign batch source_path size_bytes sha256 context_sha256 status",
)

REJECTS: Final = _table(
    ("campaign", TEXT),
    ("batch", TEXT),
    ("source_path", TEXT),
    ("source_sha256", TEXT),
    ("line", pa.int32()),
    ("reason", TEXT),
    ("hint", TEXT),
    required="campaign batch source_path reason hint",
)

# A figure as printed in a published document; the columns that a figures file may have, and its location in the file.
FIGURES: Final = _table(
    ("figure_id", TEXT),  # within its file: as given, else a digest of the figure
    ("batch", TEXT),
    ("campaign", TEXT),
    ("source_path", TEXT),
    ("source_sha256", TEXT),
    ("line", pa.int32()),
    ("source_id", TEXT),
    ("source_title", TEXT),
    ("source_publisher", TEXT),
    ("source_date", TEXT),  # as far as known: a year, a month, a day
    ("source_url", TEXT),
    ("location", TEXT),  # where in the source
    ("test_date", TEXT),
    ("domain", TEXT),  # dhcp | dns | adc
    *CONFIGURATION,
    ("ip_version", pa.int32()),
    ("transport", TEXT),
    ("osi_layer", pa.int32()),
    ("scenario_detail", TEXT),
    ("metric", TEXT),
    ("value", NUMBER),
    ("unit", TEXT),
    ("qualifier", TEXT),  # exact | approx | at_least | at_most | greater_than | less_than
    ("repetitions", pa.int32()),
    ("discard_lowest", pa.int32()),
    ("discard_highest", pa.int32()),
    ("loss_limit_ratio", NUMBER),
    ("loss_basis", TEXT),
    ("drop_time_s", NUMBER),
    ("offered_rate", NUMBER),
    ("offered_rate_unit", TEXT),
    ("duration_s", NUMBER),
    ("tool", TEXT),
    ("tool_version", TEXT),
    ("evidence_kind", TEXT),  # measured | vendor_claim | hearsay | ...
    ("quality_flag", TEXT),
    ("note", TEXT),
    required="figure_id batch campaign source_path source_sha256 line source_id location metric value unit",
)

TABLES: Final[dict[str, pa.Schema]] = {
    "campaigns": CAMPAIGNS,
    "trials": TRIALS,
    "exchanges": EXCHANGES,
    "intervals": INTERVALS,
    "observations": OBSERVATIONS,
    "hosts": HOSTS,
    "server_configs": SERVER_CONFIGS,
    "raw_files": RAW_FILES,
    "rejects": REJECTS,
    "figures": FIGURES,
}
