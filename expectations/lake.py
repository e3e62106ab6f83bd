"""Expectations of the lake, checked once for every batch.

The queries see several batches at a time. Each row belongs to one `batch` and is joined to rows of that batch only: a
trial may be in several. Beside the tables of the lake they see `known_hosts` (host_id, nic_speed_mbps, cpu_threads).
"""

from typing import Final

from dropline.expectations.suite import Suite, critical, info, suite, warning

PROTOCOLS: Final = (
    *("DHCPv4", "DHCPv6", "DNS", "DNS UPDATE (RFC 2136)"),
    *("HTTP", "HTTP API", "HTTPS", "TLS", "TCP", "UDP"),
)
QUALIFIERS: Final = ("exact", "approx", "at_least", "at_most", "greater_than", "less_than")
STATUSES: Final = (
    *("trials", "observations", "figures", "context", "rejected", "partly_rejected", "ignored", "forgotten"),
)

TRIALS: Final = suite(
    "lake/trials",
    trial_id_missing=critical(
        "trial_id is not null", "the trial has no trial_id", "Without its key a trial cannot be told from others."
    ),
    campaign_missing=critical(
        "campaign is not null", "the trial has no campaign", "A file is identified by its campaign and path."
    ),
    source_path_missing=critical(
        "source_path is not null",
        "the trial has no source_path",
        "A figure that leads back to no file can be neither checked nor superseded.",
    ),
    tool_missing=critical(
        "tool is not null", "the trial has no tool", "The meaning of a counter depends on the generator."
    ),
    trial_id_repeated=critical(
        "rows_of_trial = 1",
        "the trial_id stands in {rows_of_trial} rows of the batch",
        "A trial that is in a batch twice would count twice in every average.",
    ),
    negative_count=critical("lowest_count >= 0", "a packet count is {lowest_count}", "Packets are counted from zero."),
    negative_rate=critical(
        "lowest_rate >= 0",
        "a rate is {lowest_rate:.6g} {rate_unit}",
        "A rate is a count over a time; neither is negative.",
    ),
    trial_received_exceeds_sent=critical(
        "tool <> 'perfdhcp' or received <= sent",
        "received {received} answers to {sent} packets sent",
        "perfdhcp counts an answer only when it matches a packet that was sent, and each packet once.",
    ),
    answers_duplicated=warning(
        "tool = 'perfdhcp' or received <= sent",
        "received {received} answers to {sent} packets sent",
        "More answers than queries mean duplicates, made on the way or by the server; they hide losses.",
    ),
    nothing_sent=warning(
        "not completed or sent > 0",
        "the report counts {sent} packets sent",
        "A completed trial that sent nothing measured nothing.",
    ),
    protocol_unknown=warning(
        f"protocol in {PROTOCOLS}",
        "protocol {protocol!r} is none of " + ", ".join(PROTOCOLS),
        "An unusual name keeps the trial apart from all others of its protocol.",
    ),
    rate_unit_missing=warning(
        "achieved_rate is null or rate_unit is not null",
        "the achieved rate {achieved_rate:.6g} has no unit",
        "A rate without a unit cannot be compared.",
    ),
    achieved_exceeds_offered=warning(
        "achieved_rate <= highest_plausible_rate",
        "achieved {achieved_rate:.6g}/s of {offered_rate:.6g}/s offered",
        "No more exchanges complete than begin; 2 % and two packets are left for timing and rounding.",
    ),
    rate_exceeds_wire=warning(
        "achieved_rate <= wire_rate",
        "achieved {achieved_rate:.6g} {rate_unit}; {nic_speed_mbps:.6g} Mbit/s carry at most {wire_rate:.6g}",
        "In the busier direction of an Ethernet link, a DHCPv4 lease takes at least two frames of 322 bytes, a DHCPv6 "
        "lease two of 162, a DNS query one of 84 (RFC 2131, 8415, 1035; IEEE 802.3).",
    ),
    duration_not_positive=warning(
        "duration_s > 0",
        "the load was offered for {duration_s:.6g} s",
        "A rate needs a time in which it was reached.",
    ),
    ends_before_start=warning(
        "elapsed_s >= 0",
        "started at {started_at}, ended at {ended_at}",
        "A trial ends after it began, unless the clock was set in between.",
    ),
    elapsed_too_short=warning(
        "elapsed_s >= shortest_elapsed_s",
        "{elapsed_s:.1f} s from start to end, but the load was offered for {duration_s:.6g} s",
        "Sending that many packets at the offered rate takes longer than the clock shows.",
    ),
    elapsed_too_long=warning(
        "elapsed_s <= longest_elapsed_s",
        "{elapsed_s:.1f} s from start to end, but the load was offered for {duration_s:.6g} s",
        "A trial that outlasts its load by more than half of it and a minute hung, or a clock was set.",
    ),
    starts_before_2000=warning(
        "started_at >= '2000-01-01'",
        "started at {started_at}",
        "No known generator is that old; a machine without a clock battery starts in 1970.",
    ),
    starts_in_future=warning(
        "days_ahead <= 1",
        "started at {started_at}, {days_ahead:.1f} days ahead",
        "A trial more than a day ahead comes from a machine with a wrong clock.",
    ),
    threads_below_one=warning(
        "threads >= 1",
        "the server is said to have {threads} threads",
        "A server has at least one thread; in configurations, 0 often means automatic.",
    ),
    single_threaded_with_threads=warning(
        "threading <> 'single' or threads <= 1",
        "single-threaded, with {threads} threads",
        "A server is either single-threaded or has several threads; two sources contradict each other.",
    ),
)

EXCHANGES: Final = suite(
    "lake/exchanges",
    received_exceeds_sent=critical(
        "not is_matched or received <= sent",
        "{exchange}: received {received} answers to {sent} packets sent",
        "perfdhcp counts an answer only when it matches a packet that was sent, and each packet once.",
    ),
    negative_exchange_count=critical(
        "lowest_exchange_count >= 0",
        "{exchange}: a packet count is {lowest_exchange_count}",
        "Packets are counted from zero.",
    ),
    rejected_exceeds_received=critical(
        "rejected <= received",
        "{exchange}: {rejected} of {received} answers rejected",
        "An answer without a lease is one of the answers received.",
    ),
    drop_ratio_out_of_range=critical(
        "not is_matched or drop_ratio between 0 and 1",
        "{exchange}: the drop ratio is {drop_ratio:.6g}",
        "A share of the packets sent is between none and all of them.",
    ),
    min_delay_exceeds_avg=critical(
        "min_delay_ms <= avg_delay_ms",
        "{exchange}: min delay {min_delay_ms:.3f} ms, avg delay {avg_delay_ms:.3f} ms",
        "An average is no smaller than the smallest of its values.",
    ),
    avg_delay_exceeds_max=critical(
        "avg_delay_ms <= max_delay_ms",
        "{exchange}: avg delay {avg_delay_ms:.3f} ms, max delay {max_delay_ms:.3f} ms",
        "An average is no larger than the largest of its values.",
    ),
    drops_inconsistent=warning(
        "not is_matched or drops = expected_drops",
        "{exchange}: drops {drops}, but sent {sent} and received {received}",
        "perfdhcp computes drops as sent less received, at least 0; it did not print another number.",
    ),
    drop_ratio_misprinted=warning(
        "ratio_off <= half_a_digit",
        "{exchange}: printed {printed} %, drops over sent give {percent:.6g} %",
        "The printed ratio is drops over sent, rounded to the digits shown.",
    ),
    second_exchange_exceeds_first=warning(
        "not is_matched or position <> 1 or sent <= first_received",
        "{exchange}: sent {sent} after {first_received} answers in the first exchange",
        "A client starts the second exchange only with an answer from the first.",
    ),
    negative_delay=warning(
        "lowest_delay_ms >= 0",
        "{exchange}: a delay is {lowest_delay_ms:.3f} ms",
        "No answer precedes its question; the generator's clock was set back during the trial.",
    ),
    stdev_exceeds_half_range=warning(
        "stdev_delay_ms <= highest_stdev_ms",
        "{exchange}: std deviation {stdev_delay_ms:.3f} ms of delays from {min_delay_ms:.3f} to {max_delay_ms:.3f} ms",
        "A standard deviation is at most half the range of its values (Popoviciu's inequality).",
    ),
    delay_exceeds_trial=warning(
        "max_delay_ms <= longest_possible_delay_ms",
        "{exchange}: max delay {max_delay_ms:.3f} ms in a trial of {longest_possible_delay_ms:.0f} ms",
        "No answer takes longer than the trial in which it came.",
    ),
    interim_sent_exceeds_final=warning(
        "interim_sent <= sent",
        "{exchange}: an interim line has sent {interim_sent}, the final report {sent}",
        "The final report counts at least what interim lines do; reports of two processes are mixed in this file.",
    ),
    interim_received_exceeds_final=warning(
        "interim_received <= received",
        "{exchange}: an interim line has received {interim_received}, the final report {received}",
        "The final report counts at least what interim lines do; reports of two processes are mixed in this file.",
    ),
    loss_in_flight=info(
        "not is_notable_loss or drops > in_flight",
        "{exchange}: {drops} of {sent} dropped; up to {in_flight:.0f} were under way at the end",
        "Packets sent within the longest delay before the end may have been under way, not lost (rate times delay: "
        "Little's law); a longer trial or perfdhcp's -W tells the two apart.",
    ),
)

# `drops` may fall: it counts what is in flight. Only perfdhcp prints interim lines.
INTERVALS: Final = suite(
    "lake/intervals",
    origins="trials",
    negative_interim_count=critical(
        "lowest_interim_count >= 0",
        "{exchange}, interim line {line}: a packet count is {lowest_interim_count}",
        "Packets are counted from zero.",
    ),
    sent_counter_falls=warning(
        "sent_before <= sent",
        "{exchange}, interim line {line}: sent falls from {sent_before} to {sent}",
        "The counter of one process never falls; reports of two processes are mixed in this file.",
    ),
    received_counter_falls=warning(
        "received_before <= received",
        "{exchange}, interim line {line}: received falls from {received_before} to {received}",
        "The counter of one process never falls; reports of two processes are mixed in this file.",
    ),
    interim_received_exceeds_sent=warning(
        "received <= sent",
        "{exchange}, interim line {line}: received {received}, sent {sent}",
        "perfdhcp counts an answer only when it matches a packet that was sent, and each packet once.",
    ),
)

OBSERVATIONS: Final = suite(
    "lake/observations",
    negative_observation=warning(
        "kind <> 'count' or value >= 0",
        "{metric} is {value:.6g} {unit}",
        "Times and counts over a trial grow; a negative one means that the counter was reset.",
    ),
    observed_ratio_out_of_range=warning(
        "kind <> 'ratio' or value between 0 and 1",
        "{metric} is {value:.6g}",
        "A share is between 0 and 1; one above 1 may be a percentage.",
    ),
    observed_before_start=warning(
        "t_s >= 0", "{metric} was watched {t_s:.6g} s after the start", "Time within a trial counts from its start."
    ),
    observed_in_future=warning(
        "days_ahead <= 1",
        "{metric} was watched at {observed_at}, {days_ahead:.1f} days ahead",
        "A value more than a day ahead comes from a machine with a wrong clock; it finds no trial.",
    ),
    observed_before_2000=warning(
        "observed_at >= '2000-01-01'",
        "{metric} was watched at {observed_at}",
        "A machine without a clock battery starts in 1970; such a value finds no trial.",
    ),
    observed_unit_unknown=info(
        "kind <> 'unknown'", "{metric} has the unit {unit!r}", "Values of an unusual unit are compared with no others."
    ),
)

CPU: Final = suite(
    "lake/cpu",
    cpu_below_zero=warning(
        "unit <> '%' or value >= 0", "{metric} is {value:.6g} %", "No processor is busy for a negative time."
    ),
    cpu_exceeds_threads=warning(
        "unit <> '%' or value <= highest_cpu_percent",
        "{metric} is {value:.6g} %; {cpu_threads} threads give at most {highest_cpu_percent} %",
        "A machine is busy on all of its hardware threads at most; the load was measured on another one.",
    ),
    cpu_time_exceeds_trial=warning(
        "cpu_s <= highest_cpu_s",
        "{metric} is {value:.6g} s; {cpu_threads} threads give at most {highest_cpu_s:.6g} s",
        "A process cannot use a hardware thread for longer than the trial; twice its time and a minute are allowed.",
    ),
)

HOSTS: Final = suite(
    "lake/hosts",
    sockets_exceed_cores=warning(
        "cpu_sockets <= cpu_cores",
        "host {name}: {cpu_sockets} sockets, {cpu_cores} cores",
        "Every socket holds at least one core; cores are counted over all sockets.",
    ),
    cores_exceed_threads=warning(
        "cpu_cores <= cpu_threads",
        "host {name}: {cpu_cores} cores, {cpu_threads} threads",
        "Every core runs at least one thread; threads are counted over all sockets.",
    ),
    cpu_clock_not_positive=warning("cpu_mhz > 0", "host {name}: {cpu_mhz:.6g} MHz", "A processor at work has a clock."),
    memory_not_positive=warning(
        "memory_bytes > 0", "host {name}: {memory_bytes} bytes", "A machine at work has memory."
    ),
    nic_speed_not_positive=warning(
        "nic_speed_mbps > 0",
        "host {name}: {nic_speed_mbps:.6g} Mbit/s",
        "Linux reports a link of unknown speed as -1, which is not a speed.",
    ),
    cpu_clock_too_high=warning(
        "cpu_mhz <= 10_000",
        "host {name}: {cpu_mhz:.6g} MHz",
        "No server processor runs above 10 GHz; the figure is in another unit.",
    ),
    memory_too_small=warning(
        "memory_bytes >= 64 * 1024 * 1024",
        "host {name}: {memory_bytes} bytes",
        "No server with a network runs in less than 64 MiB; the figure is in another unit.",
    ),
    nic_speed_too_high=warning(
        "nic_speed_mbps <= 1_600_000",
        "host {name}: {nic_speed_mbps:.6g} Mbit/s",
        "The fastest Ethernet carries 1.6 Tbit/s (IEEE P802.3dj); the figure is in another unit.",
    ),
)

SERVER_CONFIGS: Final = suite(
    "lake/server_configs",
    renewal_after_rebinding=warning(
        "renew_timer_s <= rebind_timer_s",
        "renew-timer {renew_timer_s:.6g} s, rebind-timer {rebind_timer_s:.6g} s",
        "A client asks its own server (T1) before it asks any (T2): RFC 2131 4.4.5, RFC 8415 21.4.",
    ),
    timer_after_lease_end=warning(
        "last_timer_s <= valid_lifetime_s",
        "timer {last_timer_s:.6g} s, valid-lifetime {valid_lifetime_s:.6g} s",
        "A lease that ends before its timer is never renewed; the load has other causes then.",
    ),
    ha_without_partner=warning(
        "ha_mode not in ('hot-standby', 'load-balancing') or ha_peers >= 2",
        "{ha_mode} with {ha_peers} servers",
        "High availability needs two servers.",
    ),
    timer_not_positive=warning(
        "shortest_time_s > 0",
        "the shortest of lease, renew-timer and rebind-timer is {shortest_time_s:.6g} s",
        "A lease or timer has a positive length.",
    ),
    negative_size=warning(
        "lowest_size >= 0",
        "a size of the configuration is {lowest_size:.6g}",
        "Subnets, pools, addresses, reservations and queues are counted from zero.",
    ),
    pool_without_addresses=warning(
        "pools <= pool_addresses",
        "{pools} pools, {pool_addresses:.6g} addresses",
        "Every pool has at least one address; an empty one gives no lease.",
    ),
    single_threaded_configuration_with_threads=warning(
        "threading <> 'single' or threads <= 1",
        "single-threaded, with {threads} threads",
        "A server is either single-threaded or has several threads.",
    ),
)

RAW_FILES: Final = suite(
    "lake/raw_files",
    file_repeated=critical(
        "versions = 1",
        "the file stands in {versions} rows of the batch",
        "A batch holds one version of a file; nobody could say which of two is current.",
    ),
    trials_miscounted=critical(
        "found_trials = registered_trials",
        "{registered_trials} trials were read from the file, {found_trials} are in the lake",
        "Every trial that was read from a file is in the lake, and no other.",
    ),
    negative_file_size=critical(
        "size_bytes >= 0", "the file is said to have {size_bytes} bytes", "Bytes are counted from zero."
    ),
    file_status_unknown=critical(
        f"status in {STATUSES}", "the file ended as {status!r}", "Another word would not say what became of the file."
    ),
    rejected_without_reason=critical(
        "status not in ('rejected', 'partly_rejected') or rejects > 0",
        "the file is {status}, but no reason is kept",
        "A rejected file has a reason and says what to do about it.",
    ),
    file_from_future=warning(
        "modified_days_ahead <= 1",
        "modified at {modified_at}, {modified_days_ahead:.1f} days ahead",
        "A file more than a day ahead comes from a machine with a wrong clock.",
    ),
)

REJECTS: Final = suite(
    "lake/rejects",
    reject_line_below_one=warning(
        "line >= 1", "the line is said to be {line}", "Lines count from 1; the line leads to what was rejected."
    ),
    reject_reason_missing=warning(
        "reason is not null", "line {line} was refused without a reason", "A rejection says why."
    ),
    reject_hint_missing=warning(
        "hint is not null",
        "line {line} was refused ({reason}), and nothing says what to do",
        "A rejection says what to do about it.",
    ),
)

CAMPAIGNS: Final = suite(
    "lake/campaigns",
    negative_discard=critical(
        "fewest_discarded >= 0",
        "{discard_lowest} lowest and {discard_highest} highest runs are to be left out",
        "A method leaves out no runs or some.",
    ),
    discard_leaves_no_run=critical(
        "fewest_kept >= 1",
        "of {discard_from_runs} runs the {discard_lowest} lowest and {discard_highest} highest are left out",
        "An average needs a run that is not left out.",
    ),
    campaign_in_future=warning(
        "days_ahead <= 366", "started on {started_on}", "A start more than a year from now is a misspelt date."
    ),
    campaign_before_2000=warning(
        "started_on >= '2000-01-01'", "started on {started_on}", "No known generator is that old; the date is misspelt."
    ),
)

FIGURES: Final = suite(
    "lake/figures",
    figure_not_positive=warning(
        "not is_rate or value > 0",
        "figure {figure_id}: {metric} is {value:.6g} {unit}",
        "A capacity is above zero; a dash or a gap was read as a number.",
    ),
    figure_qualifier_unknown=warning(
        f"qualifier in {QUALIFIERS}",
        "figure {figure_id} is {qualifier!r}, none of " + ", ".join(QUALIFIERS),
        "Whether a figure is exact or a bound decides what may be computed from it.",
    ),
    figure_ip_version_contradicts_protocol=warning(
        "ip_version = ip_version_of_protocol",
        "figure {figure_id}: {protocol} over IPv{ip_version}",
        "DHCPv4 (RFC 2131) runs over IPv4 only, DHCPv6 (RFC 8415) over IPv6 only.",
    ),
    figure_threads_below_one=warning(
        "threads >= 1", "figure {figure_id}: {threads} threads", "A server that answers has at least one thread."
    ),
    figure_repetitions_implausible=warning(
        "repetitions between 1 and 10_000",
        "figure {figure_id}: {repetitions} repetitions",
        "A figure comes from at least one test; beyond ten thousand the number means something else.",
    ),
    figure_discards_all=warning(
        "repetitions_kept >= 1",
        "figure {figure_id}: of {repetitions} repetitions {discard_lowest} lowest and {discard_highest} highest "
        "left out",
        "An average needs a test that is not left out.",
    ),
    figure_condition_negative=warning(
        "lowest_condition >= 0",
        "figure {figure_id}: drop time, duration or offered rate is {lowest_condition:.6g}",
        "Times and rates are not negative.",
    ),
    figure_loss_limit_out_of_range=warning(
        "loss_limit_ratio between 0 and 1",
        "figure {figure_id}: the loss limit is {loss_limit_ratio:.6g}",
        "A share is between 0 and 1; one above 1 may be a percentage.",
    ),
    figure_from_future=warning(
        "source_year <= year(current_date)",
        "figure {figure_id}: published {source_date}",
        "What is published was published by now; the date is misspelt.",
    ),
    figure_before_dns=warning(
        "source_year >= 1983",
        "figure {figure_id}: published {source_date}",
        "DNS (RFC 882) is of 1983, DHCP and load balancers are younger; the date is misspelt.",
    ),
    figure_tested_after_publication=warning(
        "test_year <= source_year",
        "figure {figure_id}: tested {test_date}, published {source_date}",
        "A test is reported after it was run.",
    ),
)

SUITES: Final[tuple[Suite, ...]] = (
    *(TRIALS, EXCHANGES, INTERVALS, OBSERVATIONS, CPU, HOSTS, SERVER_CONFIGS),
    *(RAW_FILES, REJECTS, CAMPAIGNS, FIGURES),
)
