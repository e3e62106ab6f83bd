"""The Kea 2.0 article of ISC: its 36 figures come out as printed, its ratios out of the models."""

import csv
from pathlib import Path

import pytest

FIGURES = Path(__file__).parents[2] / "seeds" / "reported_figures.csv"
BACKENDS = ("memfile", "mysql", "postgresql")

# Transcribed from the tables of the article: (protocol, HA mode, threading) -> memfile, MySQL, PostgreSQL.
ARTICLE = {
    ("DHCPv4", "none", "single"): (11686, 2559, 2396),
    ("DHCPv4", "none", "multi"): (18977, 10135, 7441),
    ("DHCPv4", "hot-standby", "single"): (5621, 692, 1518),
    ("DHCPv4", "hot-standby", "multi"): (11962, 7416, 6768),
    ("DHCPv4", "load-balancing", "single"): (5532, 575, 427),
    ("DHCPv4", "load-balancing", "multi"): (12417, 9981, 5891),
    ("DHCPv6", "none", "single"): (13612, 1218, 2355),
    ("DHCPv6", "none", "multi"): (37956, 11191, 7792),
    ("DHCPv6", "hot-standby", "single"): (5621, 486, 1400),
    ("DHCPv6", "hot-standby", "multi"): (12417, 8163, 6800),
    ("DHCPv6", "load-balancing", "single"): (5561, 575, 486),
    ("DHCPv6", "load-balancing", "multi"): (12417, 10370, 6442),
}
SPEEDUPS = {
    ("DHCPv4", "none"): (1.624, 3.961, 3.106),
    ("DHCPv4", "hot-standby"): (2.128, 10.717, 4.458),
    ("DHCPv4", "load-balancing"): (2.245, 17.358, 13.796),
    ("DHCPv6", "none"): (2.788, 9.188, 3.309),
    ("DHCPv6", "hot-standby"): (2.209, 16.796, 4.857),
    ("DHCPv6", "load-balancing"): (2.233, 18.035, 13.255),
}


def test_the_36_figures_are_those_of_the_article(sql):
    rows = sql(
        """select protocol, ha_mode, threading, backend, lps from leases_per_second
        where origin = 'published' and campaign = 'isc-kb-kea-2.0'"""
    )
    expected = {
        (*key, backend): float(lps)
        for key, figures in ARTICLE.items()
        for backend, lps in zip(BACKENDS, figures, strict=True)
    }
    assert {row[:4]: row[4] for row in rows} == expected
    assert len(rows) == 36


@pytest.mark.parametrize(("protocol", "ha_mode"), SPEEDUPS)
def test_the_multithreading_speedup_is_the_ratio_of_two_figures(sql, protocol, ha_mode):
    rows = sql(
        """select round(speedup, 3), ci_low, ci_high from multithreading_speedup
        where campaign = 'isc-kb-kea-2.0' and protocol = ? and ha_mode = ? order by backend""",
        protocol,
        ha_mode,
    )
    assert tuple(row[0] for row in rows) == SPEEDUPS[protocol, ha_mode]
    assert {row[1:] for row in rows} == {(None, None)}, "single figures have no interval"


def test_every_ha_cell_of_the_article_has_its_ratio(sql):
    ratios = {
        row[:4]: row[4]
        for row in sql(
            """select protocol, ha_mode, threading, backend, ratio from ha_speedup
            where campaign = 'isc-kb-kea-2.0'"""
        )
    }
    assert len(ratios) == 24
    for (protocol, ha_mode, threading), figures in ARTICLE.items():
        if ha_mode == "none":
            continue
        for backend, lps, alone in zip(BACKENDS, figures, ARTICLE[protocol, "none", threading], strict=True):
            assert ratios[protocol, ha_mode, threading, backend] == pytest.approx(lps / alone)


def test_every_published_capacity_is_in_capacity_once_and_unchanged(sql):
    with FIGURES.open(encoding="utf-8") as file:
        figures = {row["figure_id"]: row for row in csv.DictReader(file)}
    rows = sql("select figure_id, rate from capacity where origin = 'published'")
    assert len(rows) == len({figure_id for figure_id, _ in rows})
    assert all(float(figures[figure_id]["value"]) == rate for figure_id, rate in rows)
    leases = {f for f, row in figures.items() if row["metric"] == "leases_per_second"}
    assert leases <= {figure_id for figure_id, _ in rows}
