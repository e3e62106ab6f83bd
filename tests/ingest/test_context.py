"""Where a trial's configuration comes from, who wins, and who is found to disagree."""

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dropline.ingest.campaign import Campaign
from dropline.ingest.context import WATCHED, Context, ServerConfig, ServerConfigs, context_path, gather, read_sidecar
from dropline.ingest.formats import Rejected
from dropline.ingest.names import names
from dropline.ingest.schema import OBSERVATIONS, TRIALS

CASES = yaml.safe_load(Path(__file__).with_name("context.yml").read_text())
EXAMPLE = Path(__file__).parents[2] / "examples" / "kea-2.2-ha"
SIDECAR = "runs/v4_mt4_memfile_hot-standby/rep1/rate1050.json"
OUTPUT = SIDECAR.replace(".json", ".txt")
SHA256 = "80eb487986f07ce7a9509a46460975b465dcec6178452b18529b14ea5c7b6a89"
TEXT = {"protocol": "DHCPv4", "scenario": "basic", "offered_rate": 1050.0, "completed": True}


def config(path="configs/a.json", sha256="1", folder="/data", **columns):
    row = {"server_config_id": f"id-{path}", "product": "ISC Kea", "ha_mode": "none", **columns}
    return ServerConfig(row, folder, path, sha256)


def known(*configs):
    return ServerConfigs(configs)


def resolve(
    sidecar=None, *, path="a/1.txt", campaign=None, servers=None, facts=TEXT, level=None, contrasts=(), banner="", **of
):
    read = Campaign.parse(campaign.encode()) if campaign else None
    beside = ("a/1.json", read_sidecar(json.dumps(sidecar).encode())) if sidecar is not None else None
    context = gather(
        path, "/data", read, servers or ServerConfigs(), beside, names=lambda: (None, level, (), contrasts, False)
    )
    row = context.resolve(facts, banner=names([banner])[banner] if banner else None, **of)
    return row, dict(row["context_sources"]), context


def test_a_real_sidecar_fills_the_configuration_and_names_itself_as_the_source():
    sidecar = read_sidecar((EXAMPLE / SIDECAR).read_bytes())
    row = gather(OUTPUT, "/", None, ServerConfigs(), (SIDECAR, sidecar), "h", SHA256).resolve(TEXT)
    assert {name: row[name] for name in TRIALS.names if name in row} == {
        "context_path": "runs",
        "name_words": None,
        "product": "ISC Kea",
        "product_version": "2.2.0",
        "protocol": "DHCPv4",
        "backend": "memfile",
        "backend_version": "2.1",
        "threading": "multi",
        "threads": 4,
        "packet_queue_size": 28,
        "ha_mode": "hot-standby",
        "scenario": "basic",
        "testbed": "vm",
        "tool_version": "2.2.0",
        "repetition": 1,
        "offered_rate": 1050.0,
        "exit_code": 3,
        "completed": True,
        "command": "/usr/sbin/perfdhcp -4 -r 1050 -R 10000000 -p 3 -d 1 -d 1 -t 1 -l hbr0",
        "server_wiped": True,
        "host_id": "h",
        "server_config_id": None,
        "started_at": row["started_at"],
        "ended_at": row["ended_at"],
        "context_sources": row["context_sources"],
        "conflicts": [],
    }
    assert row["started_at"].isoformat() == "2026-11-20T13:10:45.675492+00:00"
    assert dict(row["context_sources"])["backend"] == f"sidecar {SIDECAR}"
    assert dict(row["context_sources"])["protocol"] == "text"


def test_a_real_sidecar_gives_what_was_watched_beside_the_trial():
    sidecar = read_sidecar((EXAMPLE / SIDECAR).read_bytes())
    observed = gather(OUTPUT, "/", None, ServerConfigs(), (SIDECAR, sidecar)).observations
    seen = {(metric, host, label): value for host, label, metric, _, value in observed}
    assert seen["perfdhcp_cpu_s", "vm", None] == 1.277
    assert seen["server_cpu_s", "vm", "0"] == 1.57
    assert seen["server_cpu_s", "vm", "1"] == 1.12
    assert seen["other_cpu_s", "vm", None] == 0.01
    assert seen["loadavg_before", "vm", None] == 3.70
    assert seen["host_cpu_jiffies", "vm", "softirq"] == 40
    assert seen["udp.UdpInDatagrams", "kp-cli", None] == 6298
    assert seen["leases_in_db_after", "ha1", "rows"] > 3000
    assert ("db_cpu_s", "vm", None) not in seen


def test_the_order_is_text_server_sidecar_path_defaults():
    campaign = "\n".join(
        (
            "campaign: a",
            "path: '{backend}_{threading}_{testbed}/x'",
            "defaults: {backend: e, threading: mt8, testbed: e, product: e, protocol: v6}",
        )
    )
    row, sources, _ = resolve(
        {"backend": "c", "mode": "st"},
        path="d_mt4_d/x",
        campaign=campaign,
        servers=known(config("d_mt4_d/kea.json", backend="b")),
    )
    assert "config" not in sources
    assert (row["protocol"], sources["protocol"]) == ("DHCPv4", "text")
    assert (row["backend"], sources["backend"]) == ("b", "server configuration d_mt4_d/kea.json")
    assert (row["threading"], sources["threading"]) == ("single", "sidecar a/1.json")
    assert (row["testbed"], sources["testbed"]) == ("d", "path")
    row, sources, _ = resolve({}, path="x/y", campaign=campaign)
    assert (row["product"], sources["product"]) == ("e", "campaign.yaml defaults")


def test_two_sources_that_disagree_are_told_and_the_better_one_is_used():
    row, _, _ = resolve({"proto": "DHCPv6", "backend": "memfile", "kea_version": "2.4.1"}, path="kea-2.4/mysql/1.txt")
    assert (row["protocol"], row["backend"]) == ("DHCPv4", "memfile")
    assert row["conflicts"] == [
        "protocol: DHCPv4 (text) is used, not DHCPv6 (sidecar a/1.json)",
        "backend: memfile (sidecar a/1.json) is used, not mysql (names of folders and file)",
    ]


def test_sources_that_agree_in_other_words_do_not_conflict():
    row, _, _ = resolve(
        {"proto": 4, "mode": "mt4", "server_threads": 4, "ha": "no"},
        servers=known(config("a/kea.json", threading="multi", threads=4, protocol="DHCPv4")),
    )
    assert row["conflicts"] == resolve({"product": "PowerDNS"}, path="pdns/1.txt")[0]["conflicts"] == []


@pytest.mark.parametrize(("given", "expected"), CASES["told"])
def test_what_is_around_a_report_tells(given, expected):
    row, _, _ = resolve(**given | {"facts": TEXT | given.get("facts", {})})
    assert {column: row.get(column) for column in expected} == expected


CLEAN = {
    "tool": "perfdhcp",
    "command": None,
    "method": None,
    "offered_rate": None,
    "duration_s": None,
    "completed": True,
}
COMMAND = {"command": "sudo /usr/sbin/perfdhcp -4 -r 200 -R 100000 -p 4 -t 1 -C , -l c0 10.0.0.1"}


def test_options_that_a_clean_report_leaves_out_are_those_of_its_sidecars_command():
    row, _, _ = resolve(COMMAND, facts=CLEAN)
    assert (row["offered_rate"], row["duration_s"], row["clients"]) == (200.0, 4.0, 100000)
    assert row["method"] == "drop time 1 s/1 s; 100000 clients"
    row, _, _ = resolve(COMMAND, facts=CLEAN | {"offered_rate": 100.0})
    assert row["offered_rate"] == 100.0
    row, _, _ = resolve(COMMAND, facts=CLEAN, alone=False)
    assert (row["offered_rate"], row["method"]) == (None, None)
    row, _, _ = resolve({"command": "make bench"}, facts=CLEAN)
    assert row["method"] is None


def test_the_scenario_of_the_generator_is_the_last_to_be_asked():
    row, sources, _ = resolve({"scenario": "Renewal"})
    assert (row["scenario"], sources["scenario"]) == ("renewal", "sidecar a/1.json")
    assert row["conflicts"] == []
    row, sources, _ = resolve({})
    assert (row["scenario"], sources["scenario"]) == ("basic", "text")


def test_own_sidecar_fields_replace_the_known_ones_and_values_are_translated():
    row, _, _ = resolve(
        {"proto": "DHCPv6", "setup": {"db": {"kind": "pg"}, "ip": "four"}},
        campaign=(
            "campaign: a\nsidecar_fields: {backend: setup.db.kind, protocol: setup.ip}\n"
            "values: {backend: {pg: postgresql}, protocol: {four: v4}}\n"
        ),
    )
    assert (row["backend"], row["protocol"], row["conflicts"]) == ("postgresql", "DHCPv4", [])


@pytest.mark.parametrize(("path", "repetition", "folder"), [(path, *told) for path, told in CASES["folders"].items()])
def test_folders_of_repetitions_count_and_do_not_name_the_set_up(path, repetition, folder):
    row, sources, _ = resolve(path=path, level=0 if repetition else None)
    assert (row.get("repetition"), sources.get("repetition")) == (repetition, "path" if repetition else None)
    assert (row["name_words"] or ".") == folder == context_path(path, {}, {})


def test_a_folder_that_names_the_rate_or_a_word_of_the_configuration_does_not_name_the_set_up():
    known = {"backend": "lmdb", "offered_rate": 300.0}
    assert context_path("dns/dnsblast-one-cpu/LMDB/r1/00300pps/dnsblast.out", known, {}) == "dns/dnsblast-one-cpu"
    assert context_path("ramp/lmdb/Q00300-r2/dnsperf.out", known, {}) == "ramp"
    assert context_path("ramp/mysql/Q00500-r2/dnsperf.out", known, {}) == "ramp/mysql/Q00500"


@pytest.mark.parametrize(("version", "told"), [("2.2.0", ["single", 1, None]), ("2.4.0", ["multi", 6, 64])])
def test_the_default_threading_of_a_kea_follows_its_version(version, told):
    servers = known(config("a/kea.json", threading=None, threads=6, packet_queue_size=64))
    row, sources, _ = resolve({"kea_version": version}, servers=servers)
    assert [row.get(column) for column in ("threading", "threads", "packet_queue_size")] == told
    assert sources["threading"] == (f"server configuration a/kea.json (default of ISC Kea {version})")
    assert "threading" not in resolve({}, servers=servers)[0]


@pytest.mark.parametrize(("sidecar", "found", "warned"), CASES["named configurations"])
def test_a_servers_configuration_is_found_by_digest_then_by_path(sidecar, found, warned):
    servers = known(
        config("configs/a.json", "1"), config("configs/b.json", "2"), config("x/c.json", "4"), config("y/c.json", "5")
    )
    row, _, context = resolve(sidecar, servers=servers)
    assert row["server_config_id"] == (f"id-{found}" if found else None)
    assert [warned in text for text in context.warnings] == ([True] if warned else [])


def test_the_configuration_of_the_own_campaign_goes_before_that_of_another():
    servers = known(config("a.json", folder="/other"), config("a.json", server_config_id="own"))
    assert resolve({"config": "a.json"}, servers=servers)[0]["server_config_id"] == "own"


@pytest.mark.parametrize(("path", "found", "warned"), CASES["placed configurations"])
def test_without_a_word_the_configuration_that_lies_alone_above_is_the_one(path, found, warned):
    of_v6 = config("a/v6.json", protocol="DHCPv6")
    places = ("b/1.json", "b/2.json", "c/etc/kea/kea.json")
    servers = known(config("a/kea.json", protocol="DHCPv4"), of_v6, *map(config, places))
    context = gather(path, "/data", None, servers, holds=lambda folder: "etc" not in folder, protocol="DHCPv4")
    assert context.own["server_config_id"] == (f"id-{found}" if found else None)
    assert [*context.warnings] == warned


def test_a_trial_that_was_interrupted_is_not_complete():
    row, sources, _ = resolve({"signal_sent": "SIGINT", "rc": 3})
    assert (row["completed"], sources["completed"]) == (False, "sidecar a/1.json")
    assert resolve({"signal_sent": None})[0]["completed"] is True
    assert resolve({}, facts={**TEXT, "completed": False})[0]["completed"] is False


def test_times_and_exit_code_of_one_process_are_not_given_to_several_reports():
    sidecar = {"rc": 0, "start_utc": "2026-11-20T13:10:45", "backend": "memfile", "offered_rate": 5}
    assert resolve(sidecar)[0]["exit_code"] == 0
    row, _, _ = resolve(sidecar, alone=False)
    assert "exit_code" not in row
    assert "started_at" not in row
    assert (row["backend"], row["conflicts"]) == ("memfile", [])


@pytest.mark.parametrize("sidecar", CASES["senseless"])
def test_a_value_that_makes_no_sense_is_left_out_and_told(sidecar):
    _, sources, context = resolve(sidecar)
    assert set(sources) == {"protocol", "scenario", "offered_rate", "name_words"}
    (warning,) = context.warnings
    assert warning.startswith("sidecar a/1.json: ")


def test_a_sidecar_of_another_output_is_told():
    context = gather("1.txt", "/", None, ServerConfigs(), ("1.json", {"output_sha256": "a"}), None, "b")
    assert "output_sha256" in context.warnings[0]


@pytest.mark.parametrize(
    ("data", "line"), [(b"", 1), (b"{\n\n]", 3), (b"[1]", 1), (b"\xff{}", 1), (b"[" * 100_000, 1), (b"9" * 10_000, 1)]
)
def test_a_broken_sidecar_is_refused_with_its_line(data, line):
    with pytest.raises(Rejected) as caught:
        read_sidecar(data)
    assert caught.value.reject.line == line
    assert "JSON" in str(caught.value)


def test_another_context_is_another_digest_and_the_same_is_the_same():
    digests = {
        gather("1.txt", "/", None, ServerConfigs(), ("1.json", said), host).sha256()
        for said in ({}, {"backend": "memfile"}, {"perfdhcp_cpu_s": 1.0})
        for host in ("h", None)
    }
    assert len(digests) == 6
    assert Context().sha256() == Context().sha256()
    assert len({resolve({"start_utc": "2026-11-20T13:10:45Z"})[2].sha256() for _ in range(2)}) == 1


KEYS = [
    *("proto", "mode", "backend", "ha", "rep", "offered_rate", "server_threads", "kea_version"),
    *("perfdhcp_version", "rc", "signal_sent", "start_utc", "lease_db_wiped_before", "host"),
    *("config", "config_sha256", "udp_delta", "leases_in_db_after", "server_cpu_s", "campaign"),
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(KEYS), json_values))
def test_any_sidecar_gives_values_that_the_lake_can_hold(said):
    sidecar = read_sidecar(json.dumps(said).encode())
    row, _, context = resolve(sidecar, servers=known(config()))
    schema = pa.schema([TRIALS.field(n) for n in TRIALS.names if n in row])
    assert pa.Table.from_pylist([row], schema=schema).num_rows == 1
    watched = [dict(zip(WATCHED, each, strict=True)) for each in context.observations]
    assert pa.Table.from_pylist(watched, schema=OBSERVATIONS).num_rows == len(context.observations)
    # A digest of today is that of yesterday, or every file would be a new version.
    rows = [{name: row[name] for name in row if name != "label" or row[name] is not None} for row in watched]
    parts = [context.claims, context.warnings, rows, context.own, context.shared]
    text = json.dumps(parts, sort_keys=True, default=str, separators=(",", ":"))
    assert context.sha256() == hashlib.sha256(text.encode()).hexdigest()
