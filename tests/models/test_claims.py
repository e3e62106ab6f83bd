"""Claims of public sources: the warehouse's arithmetic against the maintainers', and what the rule makes of it."""

import csv
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from dropline.app.queries.sql import examples

LOAD_BALANCERS = examples()["What do IPv6 and NAT cost on a load balancer?"]
SEED = Path(__file__).parents[2] / "seeds" / "reported_claims.csv"
with SEED.open(encoding="utf-8", newline="") as file:
    READ = {row["claim_id"]: row for row in csv.DictReader(file)}


class Claim(NamedTuple):
    low: float | None
    high: float | None
    arithmetic: str
    verdict: str
    reviewed_verdict: str
    figure_ids: list[str]


# The maintainers' words for the same thing: a caveat overturns no claim, and they do not say which way one fails.
SAME = {"holds_with_caveat": {"holds"}, "does_not_hold": {"does_not_hold", "overstated", "understated"}}

# Claim -> (rule, maintainers). They saw more than the numbers (see `reason`), or were content with part of a claim.
DIFFERENT = {
    "C06": ("holds", "partly"),  # the slide's own equation gives half
    "C09": ("holds", "partly"),  # 4 of 24 pairs are enough for "can"
    "C18": ("does_not_hold", "partly"),  # 66 is nearly 65
    "C23": ("understated", "partly"),  # the table is one run late
    "C24": ("not_checkable", "holds_with_caveat"),  # counted in the logs
    "C25": ("overstated", "partly"),  # sent, not answered: 0.3 % less
    "C26": ("not_checkable", "holds_with_caveat"),  # "room for more" is no number
    "C27": ("partly", "holds_with_caveat"),  # true of the halves, not of whole exchanges
    "C28": ("not_checkable", "does_not_hold"),  # an option was misread
    "C35": ("holds", "partly"),  # another row of the table is off as well
    "C37": ("overstated", "partly"),  # the other mode has no number
    "C40": ("holds", "partly"),  # the other half of the sentence fails
    "C43": ("not_checkable", "contradicted_in_source"),  # told in words
    "C47": ("partly", "holds_with_caveat"),  # one test fits, ten do not
}


@pytest.fixture(scope="module")
def judged(sql):
    rows = sql(
        """select claim_id, recomputed_low, recomputed_high, arithmetic, verdict, reviewed_verdict, figure_ids
        from claims"""
    )
    return {claim_id: Claim(*rest) for claim_id, *rest in rows}


def number(text):
    return float(text) if text else None


@pytest.mark.parametrize("claim_id", READ)
def test_the_figures_give_what_the_maintainers_computed_by_hand(judged, claim_id):
    claim, read = judged[claim_id], READ[claim_id]
    by_hand = [number(read["computed_low"]), number(read["computed_high"])]
    assert [claim.low, claim.high] == pytest.approx(by_hand, abs=5e-5)


def test_rule_and_maintainers_agree_but_for_the_claims_named_here(judged):
    different = {
        claim_id: (claim.verdict, claim.reviewed_verdict)
        for claim_id, claim in judged.items()
        if claim.verdict not in SAME.get(claim.reviewed_verdict, {claim.reviewed_verdict})
    }
    assert different == DIFFERENT
    assert len(judged) - len(different) == 34
    assert sum(claim.verdict == claim.reviewed_verdict for claim in judged.values()) == 27


@pytest.mark.parametrize(
    ("claim_id", "said"), yaml.safe_load(Path(__file__).with_name("arithmetic.yml").read_text("utf-8")).items()
)
def test_a_person_can_follow_the_arithmetic(judged, claim_id, said):
    assert [judged[claim_id].verdict, judged[claim_id].arithmetic] == said


def test_what_hangs_on_the_tolerance_of_a_tenth_is_on_record(sql):
    rows = sql(
        """select claim_id, verdict_at_5_percent, verdict, verdict_at_15_percent from claims
        where verdict <> verdict_at_5_percent or verdict <> verdict_at_15_percent order by claim_id"""
    )
    assert rows == [
        ("C01", "does_not_hold", "partly", "partly"),  # 2.13 is within 10 % of 2, not within 5 %
        ("C29", "partly", "holds", "holds"),  # 6.67 is within 5 % of 7, 7.5 is not
    ]
    assert sql("select distinct wording, tolerance_ratio from claims where tolerance_ratio is not null order by 1") == [
        ("about", 0.1),
        ("up_to", 0.1),
    ]


def test_every_figure_of_a_claim_can_be_looked_up(sql, judged):
    known = {row[0] for row in sql("select figure_id from published_figures")}
    assert len(judged["C02"].figure_ids) == 24
    assert all(set(claim.figure_ids) <= known for claim in judged.values())


def test_a_repeated_figure_names_the_cells_that_share_it(sql):
    rows = sql(
        """select subject_id, regexp_extract_all(detail, 'kea20-[0-9]+') from quality_findings
        where finding = 'identical_figures' and campaign = 'isc-kb-kea-2.0'"""
    )
    cells = [("007", "025"), ("014", "032"), ("016", "028", "034"), ("026", "033")]
    assert dict(rows) == {
        f"kea20-{cell}": [f"kea20-{other}" for other in group if other != cell] for group in cells for cell in group
    }


def test_the_two_drop_times_are_a_finding_on_all_36_cells_of_the_article_and_no_other(sql):
    rows = sql(
        """select subject_id, detail from quality_findings
        where finding = 'source_contradicts_itself' and campaign = 'isc-kb-kea-2.0'"""
    )
    assert sorted(row[0] for row in rows) == [f"kea20-{cell:03d}" for cell in range(1, 37)]
    assert {detail.rpartition("Its own numbers: ")[2] for _, detail in rows} == {
        "1 (results part, line 38); 2 (set-up part)."
    }


def test_the_load_balancer_report_is_one_table_with_its_cpu_load(sql):
    answer = f"""select osi_layer, ip_version, mode, links, rate, line_rate_ratio, round(100 * cpu_ratio_low),
        round(100 * cpu_ratio_high) from ({LOAD_BALANCERS}) where source_id = 'kemp-lm3600-bbt-2012' order by all"""
    read_in_the_report = Path(__file__).with_name("load_balancer.csv")
    assert sql(answer) == sql(f"from '{read_in_the_report}' order by all")


def test_only_numbers_that_are_no_bounds_make_a_ratio(sql):
    rows = sql(
        f"""select ip_version, links, round(ipv6_over_ipv4, 4), round(nat_over_transparent, 4)
        from ({LOAD_BALANCERS})
        where ipv6_over_ipv4 is not null or nat_over_transparent is not null order by all"""
    )
    assert rows == [(4, 1, None, 1.0), (6, 1, 0.9184, None), (6, 4, 1.0556, None)]


def test_lmdb_and_mysql_of_powerdns_are_on_record_as_published_and_as_rates_sent(sql):
    assert sql(
        """select capacity.backend, capacity.rate, reference_backend, reference_rate, ratio, status, findings
        from backend_ratio inner join capacity on configuration_id_backend = capacity.configuration_id
        where capacity.campaign = 'pdns-users-lmdb-2019' and capacity.backend = 'lmdb'"""
    ) == [("lmdb", 7500.0, "mysql", 1000.0, 7.5, "published", ["rate_is_sent_not_answered"])]
