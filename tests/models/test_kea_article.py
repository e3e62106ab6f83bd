"""The Kea 2.0 article of ISC: its 36 figures come out as printed, its ratios out of the models."""

import pytest

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


def test_every_ratio_of_the_article_is_that_of_two_figures_and_has_no_interval(sql):
    rows = sql("""
        select protocol, ha_mode, 'speedup', backend, speedup, ci_low, ci_high from multithreading_speedup
        where campaign = 'isc-kb-kea-2.0'
        union all select protocol, ha_mode, threading, backend, ratio, ci_low, ci_high from ha_speedup
        where campaign = 'isc-kb-kea-2.0'
    """)
    expected = {}
    for (protocol, ha_mode, threading), figures in ARTICLE.items():
        for backend, lps, single, alone in zip(
            BACKENDS, figures, ARTICLE[protocol, ha_mode, "single"], ARTICLE[protocol, "none", threading], strict=True
        ):
            if threading == "multi":
                expected[protocol, ha_mode, "speedup", backend] = lps / single
            if ha_mode != "none":
                expected[protocol, ha_mode, threading, backend] = lps / alone
    assert {row[:4]: row[4] for row in rows} == pytest.approx(expected)
    assert {row[5:] for row in rows} == {(None, None)}
    assert len(rows) == 18 + 24
