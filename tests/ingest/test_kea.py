"""Kea configurations: what they say of a server, in every spelling, and what is refused."""

import json
import time
from pathlib import Path

import pytest

from dropline.ingest import servers
from dropline.ingest.servers import ConfigError, kea

CONFIGS = Path(__file__).parent.parent / "captures" / "perfdhcp" / "configs"


def kea4(**keywords):
    names = {name.replace("_", "-"): value for name, value in keywords.items()}
    return json.dumps({"Dhcp4": names}).encode()


def captured(name):
    return kea.parse((CONFIGS / name).read_bytes())


def test_passwords_leave_the_settings_and_not_the_identity():
    row = captured("v4_st_mysql_none.json")
    database = json.loads(row["settings"])["Dhcp4"]["lease-database"]
    assert (database["user"], database["password"]) == ("kea", "***")
    other = (CONFIGS / "v4_st_mysql_none.json").read_bytes().replace(b'd": "kea"', b'd": "x"')
    assert kea.parse(other)["server_config_id"] == row["server_config_id"]


@pytest.mark.parametrize(
    ("pool", "addresses"),
    [
        ("192.0.2.10-192.0.2.10", 1.0),
        (" 192.0.2.1 -\t192.0.2.200 ", 200.0),
        ("192.0.2.64/26", 64.0),
        ("192.0.2.77/26", 64.0),  # Kea takes the prefix that the address lies in
        ("0.0.0.0/0", 2.0**32),
        ("192.0.2.9-192.0.2.1", None),
        ("192.0.2.0/33", None),
        ("192.0.2.0/255.255.255.0", None),
        ("2001:db8::/64", None),
        ("192.0.2.1", None),
        ("1-2-3", None),
        ("", None),
        ("pool", None),
    ],
)
def test_a_pool_has_so_many_addresses(pool, addresses):
    row = kea.parse(kea4(subnet4=[{"pools": [{"pool": pool}]}]))
    assert (row["pools"], row["pool_addresses"]) == (1, addresses)


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({}, (None, None, None)),
        ({"enable-multi-threading": False}, ("single", 1, None)),
        ({"enable-multi-threading": False, "thread-pool-size": 8}, ("single", 1, None)),
        ({"enable-multi-threading": True}, ("multi", None, None)),
        ({"enable-multi-threading": True, "thread-pool-size": 0}, ("multi", None, None)),
        ({"thread-pool-size": 8, "packet-queue-size": 0}, (None, 8, 0)),
    ],
)
def test_threading_is_what_the_file_says_and_unknown_without(keywords, expected):
    row = kea.parse(kea4(multi_threading=keywords))
    assert (row["threading"], row["threads"], row["packet_queue_size"]) == expected


@pytest.mark.parametrize(
    ("version", "threading"),
    [
        ("1.8.2", "single"),
        ("2.2.0", "single"),
        ("2.2.0-6", "single"),
        ("2.3.4", "single"),
        ("2.3.5", "multi"),
        ("2.4", "multi"),
        ("2.4.1-git", "multi"),
        ("3.0.0", "multi"),
        ("10.0", "multi"),
        ("", None),
        ("stable", None),
    ],
)
def test_default_threading_changed_with_the_version(version, threading):
    assert kea.default_threading(version) == threading


@pytest.mark.parametrize(
    ("database", "expected"),
    [
        (None, ("memfile", True)),
        ({"type": "memfile"}, ("memfile", True)),
        ({"type": "memfile", "persist": False}, ("memfile", False)),
        ({"type": "MySQL"}, ("mysql", True)),
        ({"type": "cql"}, ("cql", True)),
    ],
)
def test_leases_lie_in_a_memfile_unless_told_otherwise(database, expected):
    row = kea.parse(kea4(lease_database=database) if database else kea4())
    assert (row["backend"], row["backend_persistent"]) == expected


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b'{\n"Dhcp4": {\n<?include "/etc/kea/subnets.json"?>\n}}', 3, "includes another file"),
        (b'{ "Dhcp4":\n<?include', 2, "includes another file"),
        (b'{ "Dhcp4": {\n\n"a": /* never\nends', 3, "never ends"),
        (b'{ "Dhcp4": {\n"valid-lifetime": 60', 2, "Expecting"),
        (b'{ "Dhcp4": {\n"a": "b\n" } }', 2, "Invalid control"),
        (b'{ "Dhcp4": {} }\n{ "Dhcp4": {} }', 2, "Extra data"),
        (b'{ "Dhcp4": {}\n,, }', 2, "Expecting"),
        (b'{ "Dhcp4": {\n"a": "\xff" } }', 2, "UTF-8"),
        (b'{ "Dhcp4": { "valid-lifetime": NaN } }', None, "NaN"),
        (b'{ "Dhcp4": { "cache-threshold": 1e999 } }', None, "out of range"),
        (b'{ "Dhcp4": { "id": ' + b"9" * 5000 + b" } }", None, "not the JSON"),
        (b'{ "Dhcp4": { "a": ' + b"[" * 100_000, None, "nested too deeply"),
        (b'{ "Dhcp4": {}, "Dhcp6": {} }', None, "both Dhcp4 and Dhcp6"),
        (b'{ "Dhcp4": [] }', None, "Dhcp4: expected an object, found a list"),
        (b'{ "Dhcp4": { "subnet4": {} } }', None, "subnet4: expected a list of objects"),
        (b'{ "Dhcp4": { "subnet4": [1] } }', None, "subnet4: expected a list of objects"),
        (b'{ "Dhcp4": { "valid-lifetime": "60" } }', None, "valid-lifetime: expected a whole"),
        (b'{ "Dhcp4": { "valid-lifetime": true } }', None, "valid-lifetime: expected a whole"),
        (b'{ "Dhcp4": { "renew-timer": -1 } }', None, "renew-timer: expected a whole"),
        (b'{ "Dhcp6": { "subnet6": [{ "pd-pools": [{ "delegated-len": 129 }] }] } }', None, "delegated-len: expected"),
        (b'{ "Control-agent": {} }', None, "Kea Control Agent"),
        (b"[]", None, "expected an object"),
        (b"", 1, "Expecting"),
    ],
)
def test_what_kea_would_not_take_is_refused_with_reason_line_and_hint(data, line, reason):
    with pytest.raises(ConfigError, match=reason) as caught:
        kea.parse(data)
    assert caught.value.line == line
    assert caught.value.hint


def test_a_configuration_is_known_by_its_outermost_keys_alone():
    for path in CONFIGS.glob("v[46]_*.json"):
        assert servers.recognise(path.read_bytes()[:40]) is kea
    for data in (
        b'{ "config": { "Dhcp4": {} } }',  # a sidecar that quotes one
        b'[ { "Dhcp4": {} } ]',
        b'{ "text": "Dhcp4" }',
        b'"Dhcp4": {}',
        b"Running: perfdhcp -4 -r 100 10.0.0.1",
        b"",
    ):
        assert servers.recognise(data) is None
        assert servers.describe(data) is None


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ((CONFIGS / "ctrl-agent_ha1.json").read_bytes(), "Control Agent"),
        (b'{ "DhcpDdns": { "port": 1 } }', "DHCP-DDNS"),
        (b'{ "Netconf": {} }', "NETCONF"),
    ],
)
def test_other_programs_of_kea_are_named(data, words):
    assert servers.recognise(data) is None
    assert words in (servers.describe(data) or "")
    assert kea.describe(kea4()) is None


@pytest.mark.parametrize("depth", range(100, 1001, 100))
def test_depth_that_only_the_parser_can_bear_is_no_crash(depth):
    data = b'{"Dhcp4": {"a": ' + b"[" * depth + b"]" * depth + b"}}"
    try:
        assert kea.parse(data)["protocol"] == "DHCPv4"
    except ConfigError as error:
        assert "nested too deeply" in str(error)


def test_reading_takes_time_in_proportion_to_the_size():
    start = time.perf_counter()
    for hostile in (b'"\\', b'\\"', b"/*", b"<?", b"#", b"://", b"{", b","):
        data = b'{"Dhcp4": {"a": "' + hostile * 100_000
        servers.recognise(data)
        with pytest.raises(ConfigError):
            kea.parse(data)
    kea.parse(kea4(a="://" * 100_000))
    assert time.perf_counter() - start < 10  # quadratic time would be minutes
