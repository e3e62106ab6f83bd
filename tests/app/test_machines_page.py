"""The page of machines: what is known of a host or a server configuration, and what two differ in."""

from itertools import combinations

import pytest

from dropline.app import queries, wording
from tests.app.shown import rows, said

MEMFILE = "configs/v4_mt4_memfile_none.json (kea-2.2-backends)"
MYSQL = "configs/v4_mt4_mysql_none.json (kea-2.2-backends)"
PUBLISHED = "isc-r340-kea20 (published in isc-kb-kea-2.0)"


def facts(app):
    return {(aspect, item): value for aspect, item, value in rows(app, "Value").itertuples(index=False)}


def test_every_host_is_listed_measured_first_and_all_that_is_known_of_it_leaf_by_leaf(open_page, warehouse_home):
    page = open_page(warehouse_home, "machines")
    hosts = rows(page, "Processor")
    more = (hosts["Origin"] == "published").sum()
    answer = f"You measured on Intel(R) Xeon(R) Processor, 2 cores, 24 GiB. Published sources describe {more} more."
    assert answer in said(page)
    assert list(hosts["Origin"].drop_duplicates()) == ["measured", "published"]
    kea20 = hosts[hosts["Host"] == "isc-r340-kea20"].iloc[0]
    assert (kea20["Processor"], kea20["Cores"], kea20["Memory"]) == ("Intel Xeon E-2146G", 6, 64)
    known = facts(page)
    assert known["hardware", "Memory"].endswith("GiB")
    assert known["hardware", "Clock"] == "2,299.998 MHz"
    assert known["system", "System"] == "Debian GNU/Linux"
    assert known["packages", "kea-dhcp4-server"] == "2.2.0-6"
    assert known["sysctl-net", "sysctl.net.core.rmem_default"] == "212992"
    assert "tx-checksumming" in known["ethtool-k-lo", "offloads"].split(", "), "a list is one fact"


def test_settings_of_a_server_are_shown_and_what_two_differ_in(open_page, warehouse_home):
    chosen = {"tab": "Server configurations", "server_config": MEMFILE}
    known = facts(open_page(warehouse_home, "machines", **chosen))
    assert known["server", "multi-threading.thread-pool-size"] == "4"
    assert known["server", "subnet[0].pools[0].pool"] == "10.1.0.0-10.255.255.254"
    app = open_page(warehouse_home, "machines", **chosen, server_config_b=MYSQL)
    table = rows(app, "Grade").set_index("Item")
    assert list(table.loc["backend", ["Grade", MEMFILE, MYSQL]]) == ["⚠ unfair", "memfile", "mysql"]
    assert list(table.loc["lease-database.user", ["Grade", MEMFILE, MYSQL]]) == ["minor", "not set", "kea"]
    shown = list(table["Grade"].dropna().drop_duplicates())
    assert shown == [each for each in wording.ITEM_GRADES.values() if each in shown], "most serious first"
    assert f"They differ in {len(table)} things" in said(app)


def test_what_only_one_host_says_is_no_difference(open_page, warehouse_home):
    app = open_page(warehouse_home, "machines", host_b=PUBLISHED)
    table = rows(app, "Grade").set_index("Item")
    assert table.loc["Cores", "Grade"] == "⚠ unfair"
    assert table.loc["Kernel", "Grade"] == "? unknown"
    assert not set(table["Aspect"]) & {"packages", "sysctl-net"}
    assert "packages" in said(app), "but it is told"


def test_grades_are_those_of_differences(warehouse):
    users = warehouse.query("""
        select server_config_id, min(configuration_id) as configuration_id from configurations
        where server_config_id is not null group by server_config_id order by server_config_id
        """).to_pylist()
    pairs = list(combinations(users, 2))
    assert len(pairs) >= 10
    for a, b in pairs:
        known = warehouse.query(
            "select * from differences($a, $b) where aspect = 'server'",
            {"a": a["configuration_id"], "b": b["configuration_id"]},
        ).to_pylist()
        sides = {"a": a["server_config_id"], "b": b["server_config_id"]}
        leaves = {"leaves": "machines_leaves_of_server_configurations"}
        mine = queries.ask(warehouse, "machines_compared", leaves, **sides)
        assert {
            (row["item"], row["value_a"] or "not set", row["value_b"] or "not set", row["grade"], row["why"])
            for row in mine.to_pylist()
            if row["differs"] and row["aspect"] == "server"
        } == {(row["item"], row["value_a"], row["value_b"], row["grade"], row["why"]) for row in known}


@pytest.mark.parametrize(
    ("everything", "key", "leaves"),
    [
        ("machines_hosts", "host_id", "machines_leaves_of_hosts"),
        ("machines_server_configurations", "server_config_id", "machines_leaves_of_server_configurations"),
    ],
)
def test_a_fact_stands_once(warehouse, everything, key, leaves):
    for row in queries.ask(warehouse, everything).to_pylist():
        known = queries.ask(warehouse, "machines_compared", {"leaves": leaves}, a=row[key], b=None).to_pylist()
        assert known
        assert len({(fact["aspect"], fact["item"]) for fact in known}) == len(known)
        assert all(fact["value_a"] is not None and fact["value_b"] is None for fact in known)
