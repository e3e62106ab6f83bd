"""Kea configurations: identity, recognition and limits; what they say and what is refused stands in told.jsonl."""

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
    ("data", "line", "reason"),
    [
        (b'{ "Dhcp4": { "id": ' + b"9" * 5000 + b" } }", None, "not the JSON"),
        (b'{ "Dhcp4": { "a": ' + b"[" * 100_000, None, "nested too deeply"),
        (b'{ "Control-agent": {} }', None, "Kea Control Agent"),
        (b"[]", None, "expected an object"),
        (b"", 1, "Expecting"),
    ],
)
def test_what_is_not_known_for_a_configuration_or_too_large_is_refused(data, line, reason):
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
