"""PowerDNS configurations: identity, recognition and limits; what they say and what is refused stands in told.jsonl."""

import json
import time
from pathlib import Path

import pytest

from dropline.ingest import servers
from dropline.ingest.servers import ConfigError, kea, powerdns
from dropline.ingest.synonyms import normalise

CAPTURES = Path(__file__).parent.parent / "captures"
CONFIGS = CAPTURES / "dns" / "server"
AUTHORITATIVE, RECURSOR = "PowerDNS Authoritative Server", "PowerDNS Recursor"


def test_settings_are_those_of_the_file_without_its_secrets():
    row = powerdns.parse((CONFIGS / "pdns-lmdb.conf").read_bytes())
    config = json.loads(row["settings"])
    assert len(config) == 29
    assert (config["lmdb-sync-mode"], config["socket-dir"]) == ("nosync", "/srv/bench/ctl-lmdb")
    assert (config["setuid"], config["local-address"]) == ("", "127.0.0.1,::1")
    assert config["api-key"] == "***"
    other = (CONFIGS / "pdns-lmdb.conf").read_bytes().replace(b"api-key=bench", b"api-key=x")
    assert powerdns.parse(other)["server_config_id"] == row["server_config_id"]


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"launch=lmdb\nthis is no setting", 2, "expected key=value or a comment"),
        (b"launch=lmdb\n\n[mysqld]", 3, "expected key=value or a comment"),
        (b"local-port=53", None, "expected settings of the PowerDNS"),
        (b"", None, "expected settings of the PowerDNS"),
    ],
)
def test_what_is_no_configuration_is_refused_with_reason_line_and_hint(data, line, reason):
    with pytest.raises(ConfigError, match=reason) as caught:
        powerdns.parse(data)
    assert caught.value.line == line
    assert caught.value.hint


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"launch=lmdb",  # one word is not enough to know a file by
        b"threads=4\nquiet=yes\n",
        b"master=a\nslave=b\n",
        b"launch=lmdb\ncache-ttl=20\nsome words of a text\nlocal-port=53\n",
        b"Statistics:\n\n  Queries sent: 1000\n",
        (CONFIGS / "my.cnf").read_bytes(),
    ],
)
def test_other_files_are_no_configurations_of_powerdns(data):
    assert servers.recognise(data) is None


def test_a_configuration_is_known_by_its_first_bytes_wherever_they_end():
    data = (CONFIGS / "pdns-lmdb.conf").read_bytes()
    assert all(servers.recognise(data[:end]) is powerdns for end in range(40, len(data)))
    assert not powerdns.sniff((CAPTURES / "perfdhcp" / "configs" / "v4_st_mysql_none.json").read_bytes())
    assert not kea.sniff(data)


@pytest.mark.parametrize("data", [b"[remote]\nurl = x\n", b"max_connections = 5\nother = 1\n", b"fsync\n", b""])
def test_other_files_are_no_configurations_of_databases(data):
    assert servers.describe(data) is None


@pytest.mark.parametrize(
    ("text", "product", "version"),
    [
        ("PowerDNS Authoritative 4.7.3-2 (Debian)", AUTHORITATIVE, "4.7.3"),
        ("PowerDNS Authoritative Server 4.9.0-beta1", AUTHORITATIVE, "4.9.0-beta1"),
        ("PowerDNS Recursor 5.1.2", RECURSOR, "5.1.2"),
        ("Kea 2.2.0", "ISC Kea", "2.2.0"),
        ("kea-dhcp4 2.7.0-git", "ISC Kea", "2.7.0-git"),
        ("BIND 9.18.24-1~deb12u1 (Extended Support Version)", "ISC BIND 9", "9.18.24"),
        ("bind-9.16.1-P2", "ISC BIND 9", "9.16.1-P2"),
        ("NSD 4.8", "NSD", "4.8"),
        ("Knot DNS 3.3", "Knot DNS", "3.3"),
        ("BIND 9", "ISC BIND 9", None),
        ("pdns-recursor", RECURSOR, None),
        ("PowerDNS", "PowerDNS", None),  # may be the one server or the other
        ("Kemp LoadMaster 7.2.1", "Kemp LoadMaster 7.2.1", None),  # where its version begins is not known
        ("Kea 2.5.0foo", "Kea 2.5.0foo", None),
    ],
)
def test_a_product_is_known_with_its_version(text, product, version):
    expected = {"product": product} | ({"product_version": version} if version else {})
    assert normalise("product", text) == expected


@pytest.mark.parametrize(
    ("column", "text", "word"),
    [
        ("protocol", "dns", "DNS"),
        ("backend", "gmysql", "mysql"),
        ("backend", "gsqlite3", "sqlite"),
        ("product_version", "4.7.3-2", "4.7.3-2"),
    ],
)
def test_words_of_dns_are_brought_to_those_of_the_warehouse(column, text, word):
    assert normalise(column, text) == {column: word}


def test_reading_takes_time_in_proportion_to_the_size():
    start = time.perf_counter()
    for hostile in ("a\\\n", "#", "# a", "=", "+", " ", "a=\n", "\\\n", "launch+=a\n"):
        data = ("launch=lmdb\ncache-ttl=1\n" + hostile * 100_000).encode()
        powerdns.sniff(data)
        servers.describe(data)
        try:
            powerdns.parse(data)
        except ConfigError as error:
            assert error.hint
    normalise("product", "Kea 2" * 10_000)
    assert time.perf_counter() - start < 10  # quadratic time would be minutes
