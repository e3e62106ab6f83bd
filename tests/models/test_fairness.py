"""What else differs between two configurations of the examples and of the published figures."""

import csv
from pathlib import Path

import pytest

SEED = Path(__file__).parents[2] / "seeds" / "comparison_factors.csv"
FACTORS = {"threading", "ha_mode", "backend", "protocol", "product_version"}
ASPECTS = {"configuration", "hardware", "tuning", "system", "packages", "server", "method", "campaign"}
MACHINE = {"hardware", "tuning"}


def ids(sql, **dimensions):
    """The configurations of Kea 2.2 of the examples with these dimensions."""
    wanted = {"protocol": "DHCPv4", "ha_mode": "none", "threading": "multi", **dimensions}
    where = " and ".join(f"{column} = ?" for column in wanted)
    return [
        row[0]
        for row in sql(
            f"select configuration_id from configurations where origin = 'measured' and {where}", *wanted.values()
        )
    ]


def differences(sql, a, b):
    rows = sql(f"select * from differences('{a}', '{b}')")
    return {(aspect, item): (value_a, value_b, grade) for aspect, item, value_a, value_b, grade, _ in rows}


def test_a_configuration_does_not_differ_from_itself(sql):
    for (configuration,) in sql("select configuration_id from configurations"):
        assert differences(sql, configuration, configuration) == {}


def test_one_and_four_threads_differ_in_what_the_configuration_files_say(sql):
    """Transcribed from the two files of the example: memfile with and without multi-threading."""
    [several] = ids(sql, backend="memfile")
    [one] = ids(sql, backend="memfile", threading="single")
    assert differences(sql, one, several) == {
        ("configuration", "threading"): ("single", "multi", "unfair"),
        ("configuration", "threads"): ("1", "4", "unfair"),
        ("configuration", "packet_queue_size"): (None, "28", "unknown"),
        ("server", "multi-threading.enable-multi-threading"): ("false", "true", "unfair"),
        ("server", "multi-threading.thread-pool-size"): ("not set", "4", "unfair"),
        ("server", "multi-threading.packet-queue-size"): ("not set", "28", "minor"),
    }


def test_the_sides_swap_with_the_arguments(sql):
    [memfile] = ids(sql, backend="memfile")
    [mysql] = ids(sql, backend="mysql")
    forth, back = differences(sql, memfile, mysql), differences(sql, mysql, memfile)
    assert forth[("server", "lease-database.type")] == ("memfile", "mysql", "unfair")
    assert back == {item: (b, a, grade) for item, (a, b, grade) in forth.items()}


def test_the_worst_stands_first_and_every_difference_says_why(sql):
    [pair] = ids(sql, backend="memfile", ha_mode="load-balancing")
    [alone] = ids(sql, backend="memfile", threading="single", protocol="DHCPv6")
    rows = sql(f"select grade, why from differences('{pair}', '{alone}')")
    ranks = [("unfair", "unknown", "minor").index(grade) for grade, _ in rows]
    assert ranks == sorted(ranks)
    assert all(why for _, why in rows)


def test_a_measured_and_a_published_configuration_are_not_known_to_be_alike(sql):
    [measured] = ids(sql, backend="memfile")
    published = sql(
        """select configuration_id from leases_per_second
        where campaign = 'isc-kb-kea-2.0' and protocol = 'DHCPv4' and ha_mode = 'none'
            and threading = 'multi' and backend = 'memfile'"""
    )[0][0]
    found = differences(sql, measured, published)
    assert found[("hardware", "cpu_cores")] == ("2", "6", "unfair")
    assert found[("system", "kernel")][1:] == (None, "unknown")
    assert found[("server", "configuration_file")] == ("known", None, "unknown")
    assert found[("packages", "package_list")] == ("known", None, "unknown")
    assert not [item for item in found if item == ("server", "renew-timer")], "a missing file is one difference"


def test_the_grade_is_the_worst_of_the_differences_that_are_counted(sql):
    for grade, differences_found, *counts in sql(
        """select distinct fairness, differences, unfair_differences, unknown_differences, minor_differences
        from ratios"""
    ):
        assert differences_found == sum(counts)
        expected = next(
            (name for name, count in zip(("unfair", "unknown", "minor"), counts, strict=True) if count), "same"
        )
        assert grade == expected


@pytest.mark.parametrize(
    ("factor", "grades"),
    [("threading", {"same"}), ("backend", {"same", "minor"}), ("ha_mode", {"minor"}), ("protocol", {"minor"})],
)
def test_the_examples_compare_what_they_set_out_to_compare(sql_of_examples, factor, grades):
    rows = sql_of_examples(
        "select distinct fairness from ratios where origin = 'measured' and factor = ?",
        factor,
    )
    assert {grade for (grade,) in rows} == grades


def test_the_pairs_of_the_ha_example_come_from_two_campaigns_and_networks(sql):
    worst = sql(
        """select distinct worst_differences[1], worst_differences[-1] from ha_speedup
        where campaign = 'kea-2.2-ha' and ha_mode = 'hot-standby'"""
    )
    assert worst == [
        (
            "campaign, campaign: kea-2.2-backends against kea-2.2-ha",
            "server, subnet[0].subnet: 10.0.0.0/8 against 11.0.0.0/8",
        )
    ]


def test_what_a_published_source_leaves_out_is_told(sql):
    rows = sql("select distinct unstated_aspects from ratios where campaign = 'isc-kb-kea-2.0'")
    assert rows == [(["packages", "server"],)]


def test_the_seed_names_factors_and_aspects_that_there_are():
    with SEED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["aspect"] for row in rows} == ASPECTS
    assert {factor for row in rows for factor in row["goes_with"].split()} == FACTORS


def test_machines_differ_in_what_differences_grades_as_unfair(sql):
    pairs = sql("""with one_each as (select min(configuration_id) as id from configurations group by host_id)
        select a.id, b.id from one_each as a cross join one_each as b""")
    found = {tuple(pair): items for *pair, items in sql("from machine_differences($1, $2)", *zip(*pairs, strict=True))}
    for pair in pairs:
        items = differences(sql, *pair).items()
        unfair = {item.split(".")[0] for (of, item), (*_, grade) in items if of in MACHINE and grade == "unfair"}
        assert found.get(pair, []) == sorted(unfair)
    assert len(found) > 1
