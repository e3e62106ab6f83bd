"""PowerDNS configurations: what they say of a server, in every spelling, and what is refused."""

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


def authoritative(text):
    return powerdns.parse(("launch=lmdb\n" + text).encode())


def said(row, *columns):
    return tuple(row.get(column) for column in columns)


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
    ("text", "key", "value"),
    [
        ("cache-ttl = 20", "cache-ttl", "20"),
        ("cache-ttl=20\r", "cache-ttl", "20"),
        ("  cache-ttl=20   # twenty", "cache-ttl", "20"),
        ("gmysql-dbname=a#b", "gmysql-dbname", "a#b"),
        ("gmysql-dbname=a#b # c", "gmysql-dbname", "a#b # c"),  # the server looks at the first # only
        ("cache-ttl=20\ncache-ttl=30", "cache-ttl", "30"),
        ("guardian", "guardian", ""),
        ("allow-axfr-ips=::1,\\\n  127.0.0.1", "allow-axfr-ips", "::1,  127.0.0.1"),
        ("also-notify=::1\nalso-notify+=127.0.0.1", "also-notify", "::1, 127.0.0.1"),
        ("also-notify=\nalso-notify+=127.0.0.1", "also-notify", "127.0.0.1"),
        ("gpgsql-extra-query=select a=b", "gpgsql-extra-query", "select a=b"),
    ],
)
def test_lines_are_read_as_the_server_reads_them(text, key, value):
    assert json.loads(authoritative(text)["settings"])[key] == value


@pytest.mark.parametrize(
    ("launch", "backend", "persistent"),
    [
        ("launch=gmysql", "mysql", True),
        ("launch=gpgsql", "postgresql", True),
        ("launch=gsqlite3", "sqlite", True),
        ("launch=bind", "bind", True),
        ("launch=gmysql:server1, bind", "mysql", True),
        ("launch=\nlaunch+=bind\nlaunch+=lmdb", "bind", True),
        ("launch=random", "random", False),
        ("launch=pipe", "pipe", None),
        ("launch=", None, None),
        ("", None, None),
    ],
)
def test_the_first_backend_that_is_launched_is_the_backend(launch, backend, persistent):
    row = powerdns.parse(f"{launch}\ncache-ttl=20\nlocal-port=5300".encode())
    assert said(row, "backend", "backend_persistent") == (backend, persistent)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("multi", 3, 5000)),
        ("receiver-threads=2\ndistributor-threads=4", ("multi", 8, 10_000)),  # each receiver has a queue
        ("distributor-threads=1", ("single", 1, None)),  # the receiver asks the backend itself: no queue
        ("receiver-threads=4\ndistributor-threads=1\nmax-queue-length=10", ("multi", 4, None)),
        ("max-queue-length=10", ("multi", 3, 10)),
        ("include-dir=/etc/powerdns/pdns.d", (None, None, None)),  # its files may set them
        ("include-dir=/d\nreceiver-threads=1\ndistributor-threads=3\nmax-queue-length=7", ("multi", 3, 7)),
        ("include-dir=", ("multi", 3, 5000)),
    ],
)
def test_threads_are_those_that_ask_the_backend(text, expected):
    assert said(authoritative(text), "threading", "threads", "packet_queue_size") == expected


@pytest.mark.parametrize(
    ("text", "threading", "threads"),
    [("", "multi", 2), ("threads=1", "single", 1), ("threads=8", "multi", 8), ("include-dir=/d", None, None)],
)
def test_the_recursor_has_two_threads_unless_told_otherwise(text, threading, threads):
    row = powerdns.parse(f"forward-zones=a.example=127.0.0.1\nquiet=yes\n{text}".encode())
    assert said(row, "product", "threading", "threads") == (RECURSOR, threading, threads)


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"launch=lmdb\nthis is no setting", 2, "expected key=value or a comment"),
        (b"launch=lmdb\n\n[mysqld]", 3, "expected key=value or a comment"),
        (b"launch=lmdb\nreceiver-threads=two", 2, "receiver-threads: expected a whole number from 1"),
        (b"launch=lmdb\ndistributor-threads=0", 2, "distributor-threads: expected a whole number from 1"),
        (b"launch=lmdb\nmax-queue-length=99999999999", 2, "max-queue-length: expected a whole number"),
        (b"launch=lmdb\nsetuid=\xff", 2, "UTF-8"),
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


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ((CONFIGS / "my.cnf").read_bytes(), "MariaDB or MySQL"),
        ((CAPTURES / "perfdhcp" / "configs" / "mariadb.cnf").read_bytes(), "MariaDB or MySQL"),
        (b"[client-server]\n!includedir /etc/mysql/conf.d/\n", "MariaDB or MySQL"),
        (b"[mariadb-10.11]\n", "MariaDB or MySQL"),
        (b"#listen_addresses = 'localhost'\t\t# what\nshared_buffers = 128MB\n", "PostgreSQL"),
    ],
)
def test_configurations_of_databases_are_named(data, words):
    assert servers.recognise(data) is None
    assert words in (servers.describe(data) or "")


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
