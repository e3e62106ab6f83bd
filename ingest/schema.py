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


def _of(kind: pa.DataType, *names: str) -> list[tuple[str, pa.DataType]]:
    return [(name, kind) for name in names]


def _table(*columns: tuple[str, pa.DataType], required: str) -> pa.Schema:
    names = set(required.split())
    return pa.schema([pa.field(name, kind, nullable=name not in names) for name, kind in columns])


# What was tested and how. A sidecar, a server's own configuration, a path and campaign.yaml may all set these.
CONFIGURATION: Final[tuple[tuple[str, pa.DataType], ...]] = (
    *_of(TEXT, "product", "product_version", "protocol", "backend", "backend_version"),
    ("threading", TEXT),  # single | multi
    ("threads", pa.int32()),
    ("packet_queue_size", COUNT),
    ("ha_mode", TEXT),  # none | hot-standby | load-balancing | passive-backup
    *_of(TEXT, "scenario", "testbed"),
)

CAMPAIGNS: Final = _table(
    *_of(TEXT, "campaign", "batch", "title", "description"),
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
    *_of(TEXT, "trial_id", "batch", "campaign"),
    ("source_path", TEXT),  # relative to the campaign's folder, with forward slashes
    ("source_sha256", TEXT),
    ("context_path", TEXT),  # folder without what other columns say, if a better source describes the set-up
    ("name_words", TEXT),  # words of banner, file and else folder that describe the set-up
    ("report_index", pa.int32()),  # 0 for the first report of a file
    ("source_line", pa.int32()),  # where the report begins, from 1
    *_of(TEXT, "tool", "tool_version", "command"),
    ("method", TEXT),  # the generator's load options in one canonical form, without rate and target
    *CONFIGURATION,
    *_of(TEXT, "host_id", "server_config_id"),
    ("repetition", pa.int32()),
    ("offered_rate", NUMBER),
    ("achieved_rate", NUMBER),  # as the tool reports it
    ("rate_unit", TEXT),
    ("sent", COUNT),  # all packets of all exchanges
    *_of(COUNT, "received", "dropped", "malformed"),
    ("duration_s", NUMBER),  # the period in which load was offered
    ("drop_time_s", NUMBER),  # of the first exchange
    *_of(NUMBER, "drop_time_second_s", "wait_s"),
    ("clients", COUNT),
    *_of(TIME, "started_at", "ended_at"),
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
    *_of(TEXT, "trial_id", "batch", "exchange"),
    ("position", pa.int32()),  # 0 for the first exchange of the protocol
    *_of(COUNT, "sent", "received", "drops"),
    ("drop_ratio", NUMBER),
    ("drop_ratio_printed", TEXT),  # the percentage as printed, with its precision
    *_of(COUNT, "orphans", "rejected", "non_unique", "collected"),
    *_of(NUMBER, "min_delay_ms", "avg_delay_ms", "max_delay_ms", "stdev_delay_ms"),
    required="trial_id batch exchange position",
)

INTERVALS: Final = _table(
    *_of(TEXT, "trial_id", "batch"),
    ("position", pa.int32()),  # 0 for the first interim line of the report
    ("t_s", NUMBER),  # nominal end of the interval since the start: interim lines carry no clock
    ("exchange", TEXT),
    ("sent", COUNT),  # cumulative, as printed
    *_of(COUNT, "received", "drops", "rejected"),
    ("interval_sent", COUNT),  # since the line before
    ("interval_received", COUNT),
    ("interval_drops", COUNT),  # negative if packets in flight arrived after all
    required="trial_id batch position exchange",
)

OBSERVATIONS: Final = _table(
    ("trial_id", TEXT),  # null for a separate file: the models match it to trials, by time or by `beside`
    *_of(TEXT, "batch", "campaign", "source_path"),
    ("beside", TEXT),  # path, without ending, of the output that a separate file belongs to
    ("moment", TEXT),  # before | after | null, of a snapshot without a clock
    ("observed_at", TIME),
    *_of(TEXT, "host", "metric"),
    ("label", TEXT),  # which exchange, interface or process the value belongs to
    ("t_s", NUMBER),  # since the start of the trial
    ("value", NUMBER),
    ("unit", TEXT),
    required="batch campaign metric value",
)

HOSTS: Final = _table(
    *_of(TEXT, "host_id", "batch", "campaign", "source_path", "name", "architecture", "cpu_model", "cpu_vendor"),
    ("cpu_sockets", pa.int32()),
    ("cpu_cores", pa.int32()),  # physical, over all sockets
    ("cpu_threads", pa.int32()),  # logical, over all sockets
    ("cpu_mhz", NUMBER),
    ("memory_bytes", COUNT),
    *_of(TEXT, "nic_model", "nic_driver"),
    ("nic_speed_mbps", NUMBER),
    *_of(TEXT, "disks", "os_name", "os_version", "kernel", "virtualisation"),
    ("packages", pa.map_(TEXT, TEXT)),
    ("facts", TEXT),  # everything else that was found, as JSON
    required="host_id batch campaign source_path",
)

SERVER_CONFIGS: Final = _table(
    *_of(TEXT, "server_config_id", "batch", "campaign", "source_path", "source_sha256", "product", "product_version"),
    *_of(TEXT, "protocol", "backend"),
    ("backend_persistent", FLAG),
    ("threading", TEXT),
    ("threads", pa.int32()),
    ("packet_queue_size", COUNT),
    *_of(TEXT, "ha_mode", "ha_server_name", "ha_role"),
    *_of(pa.int32(), "ha_peers", "subnets", "pools"),
    ("pool_addresses", NUMBER),  # a double, because DHCPv6 pools do not fit an integer
    ("prefix_pools", pa.int32()),
    ("prefix_pool_prefixes", NUMBER),
    *_of(pa.int32(), "reservations", "client_classes"),
    ("hooks", pa.list_(TEXT)),
    *_of(NUMBER, "valid_lifetime_s", "renew_timer_s", "rebind_timer_s"),
    ("socket_type", TEXT),
    ("settings", TEXT),  # the whole configuration as JSON, secrets masked
    required="server_config_id batch campaign source_path source_sha256 product",
)

RAW_FILES: Final = _table(
    *_of(TEXT, "campaign", "batch"),
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
    *_of(TEXT, "campaign", "batch", "source_path", "source_sha256"),
    ("line", pa.int32()),
    *_of(TEXT, "reason", "hint"),
    required="campaign batch source_path reason hint",
)

# A figure as printed in a published document; the columns that a figures file may have, and its location in the file.
FIGURES: Final = _table(
    ("figure_id", TEXT),  # within its file: as given, else a digest of the figure
    *_of(TEXT, "batch", "campaign", "source_path", "source_sha256"),
    ("line", pa.int32()),
    *_of(TEXT, "source_id", "source_title", "source_publisher"),
    ("source_date", TEXT),  # as far as known: a year, a month, a day
    ("source_url", TEXT),
    ("location", TEXT),  # where in the source
    ("test_date", TEXT),
    ("domain", TEXT),  # dhcp | dns | adc
    *CONFIGURATION,
    ("ip_version", pa.int32()),
    ("transport", TEXT),
    ("osi_layer", pa.int32()),
    *_of(TEXT, "scenario_detail", "metric"),
    ("value", NUMBER),
    ("unit", TEXT),
    ("qualifier", TEXT),  # exact | approx | at_least | at_most | greater_than | less_than
    *_of(pa.int32(), "repetitions", "discard_lowest", "discard_highest"),
    ("loss_limit_ratio", NUMBER),
    ("loss_basis", TEXT),
    *_of(NUMBER, "drop_time_s", "offered_rate"),
    ("offered_rate_unit", TEXT),
    ("duration_s", NUMBER),
    *_of(TEXT, "tool", "tool_version"),
    ("evidence_kind", TEXT),  # measured | vendor_claim | hearsay | ...
    *_of(TEXT, "quality_flag", "note"),
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
