"""Server configurations: identity, recognition and limits. Contents and refusals are in readings.jsonl."""

import time
from pathlib import Path

import pytest

from dropline.ingest import servers
from dropline.ingest.formats import Rejected
from dropline.ingest.servers import kea, powerdns
from dropline.ingest.synonyms import normalise

CAPTURES = Path(__file__).parent.parent / "captures"
KEA = CAPTURES / "perfdhcp" / "configs" / "v4_st_mysql_none.json"
POWERDNS = CAPTURES / "dns" / "server" / "pdns-lmdb.conf"


@pytest.mark.parametrize(
    ("server", "file", "secret", "another", "masked"),
    [
        (kea, KEA, b'"password": "kea"', b'"password": "x"', '"password":"***"'),
        (powerdns, POWERDNS, b"api-key=bench", b"api-key=x", '"api-key":"***"'),
    ],
)
def test_secrets_leave_the_settings_and_not_the_identity(server, file, secret, another, masked):
    data = file.read_bytes()
    assert secret in data
    row, other = server.parse(data), server.parse(data.replace(secret, another))
    assert masked in row["settings"].replace(": ", ":")
    assert other["server_config_id"] == row["server_config_id"]


@pytest.mark.parametrize(
    ("version", "threading"),
    [
        *((version, "single") for version in ("1.8.2", "2.2.0", "2.2.0-6", "2.3.4")),
        *((version, "multi") for version in ("2.3.5", "2.4", "2.4.1-git", "3.0.0", "10.0")),
        *((version, None) for version in ("", "stable")),
    ],
)
def test_default_threading_of_kea_changed_with_the_version(version, threading):
    assert kea.default_threading(version) == threading


@pytest.mark.parametrize(
    ("server", "data", "line", "reason"),
    [
        (kea, b'{ "Dhcp4": { "id": ' + b"9" * 5000 + b" } }", 1, "not the JSON"),
        (kea, b'{ "Dhcp4": { "a": ' + b"[" * 100_000, 1, "nested too deeply"),
        (kea, b'{ "Control-agent": {} }', 1, "Kea Control Agent"),
        (kea, b"[]", 1, "expected an object"),
        (kea, b"", 1, "Expecting"),
        (powerdns, b"launch=lmdb\nthis is no setting", 2, "expected key=value or a comment"),
        (powerdns, b"launch=lmdb\n\n[mysqld]", 3, "expected key=value or a comment"),
        (powerdns, b"local-port=53", 1, "expected settings of the PowerDNS"),
        (powerdns, b"", 1, "expected settings of the PowerDNS"),
    ],
)
def test_what_is_not_known_for_a_configuration_or_too_large_is_refused(server, data, line, reason):
    with pytest.raises(Rejected, match=reason) as caught:
        server.parse(data)
    assert caught.value.reject.line == line
    assert caught.value.reject.hint


def test_a_configuration_is_known_by_its_first_bytes_wherever_they_end():
    for path in KEA.parent.glob("v[46]_*.json"):
        assert servers.recognise(path.read_bytes()[:40]) is kea
    data = POWERDNS.read_bytes()
    assert all(servers.recognise(data[:end]) is powerdns for end in range(40, len(data)))


@pytest.mark.parametrize(
    "data",
    [
        b'{ "config": { "Dhcp4": {} } }',  # a sidecar that quotes one
        b'[ { "Dhcp4": {} } ]',
        b'{ "text": "Dhcp4" }',
        b'"Dhcp4": {}',
        b"",
        b"launch=lmdb",  # one word is not enough to know a file by
        b"threads=4\nquiet=yes\n",
        b"master=a\nslave=b\n",
        b"launch=lmdb\ncache-ttl=20\nsome words of a text\nlocal-port=53\n",
        b"Statistics:\n\n  Queries sent: 1000\n",
        b"[remote]\nurl = x\n",
        b"max_connections = 5\nother = 1\n",
        b"fsync\n",
    ],
)
def test_other_files_are_no_configurations(data):
    assert servers.recognise(data) is None
    assert servers.describe(data) is None


@pytest.mark.parametrize("depth", range(100, 1001, 100))
def test_depth_that_only_the_parser_can_bear_is_no_crash(depth):
    data = b'{"Dhcp4": {"a": ' + b"[" * depth + b"]" * depth + b"}}"
    try:
        assert kea.parse(data)["protocol"] == "DHCPv4"
    except Rejected as error:
        assert "nested too deeply" in str(error)


@pytest.mark.parametrize(
    ("server", "form", "pieces"),
    [
        (kea, b'{"Dhcp4": {"a": "%s', (b'"\\', b'\\"', b"/*", b"<?", b"#", b"://", b"{", b",")),
        (kea, b'{"Dhcp4": {"a": "%s"}}', (b"://",)),
        (
            powerdns,
            b"launch=lmdb\ncache-ttl=1\n%s",
            (b"a\\\n", b"#", b"# a", b"=", b"+", b" ", b"a=\n", b"\\\n", b"launch+=a\n"),
        ),
    ],
)
def test_reading_takes_time_in_proportion_to_the_size(server, form, pieces):
    start = time.process_time()
    for piece in pieces:
        data = form % (piece * 100_000)
        servers.recognise(data)
        servers.describe(data)
        try:
            server.parse(data)
        except Rejected as error:
            assert error.reject.hint
    normalise("product", "Kea 2" * 10_000)
    assert time.process_time() - start < 10  # quadratic time would be minutes
