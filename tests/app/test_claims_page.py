"""The page of claims: what is said, what the figures give, and the way to the figures."""

import json

import pytest
from test_pages import rows, said

from dropline.app import queries


def listed(app):
    return rows(app, "Statement").set_index("Claim")


def test_every_claim_is_listed_with_what_the_figures_give(open_page, published_home):
    claims = listed(open_page(published_home, "claims"))
    assert len(claims) == 48
    assert list(claims.loc["C02", ["Claimed", "Figures give", "Cases that agree", "Rule"]]) == [
        "up to 10 times",
        "3.106 to 18.03 times",  # 7441 / 2396 and 10370 / 575
        "1 of 12",
        "▲ understated",
    ]
    assert claims.loc["C03", "Claimed"] == "no number named"
    assert claims.loc["C05", "Figures give"] == "-"


def test_the_chart_counts_the_verdicts_and_says_it_in_words(open_page, published_home):
    app = open_page(published_home, "claims")
    chart = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    claims = listed(app)
    held = (claims["Rule"] == "✓ holds").sum()
    assert app.header[0].value == f"{held} of 48 hold; rule and maintainers agree on 34"  # docs/explanation
    assert chart["description"].startswith("Claims by the verdict of the rule.")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ({"source": "moj-ha-2021-02-09"}, {"C23", "C24"}),
        ({"verdict": "≠ contradicted in its source"}, {"C04", "C13", "C32"}),
        ({"source": "isc-kb-kea-2.0", "verdict": "▲ understated"}, {"C02"}),
        ({"verdict": "≡ only restates itself"}, {"C07", "C17"}),
        ({"source": "isc-kb-kea-2.0", "reviewed": ["◐ partly", "✓ holds"]}, {"C01", "C03"}),
    ],
)
def test_filters_come_from_the_address(open_page, published_home, address, expected):
    assert set(listed(open_page(published_home, "claims", **address)).index) == expected


def test_where_rule_and_maintainers_differ_can_be_seen_alone(open_page, published_home):
    app = open_page(published_home, "claims")
    app.toggle("differing").set_value(True).run()
    claims = listed(app)
    assert len(claims) == 14  # docs/explanation/claims.md
    assert not claims["Maintainers"].str.startswith("✓ holds").where(claims["Rule"] == "✓ holds", False).any()


def test_where_the_tolerance_decides_can_be_seen_alone(open_page, published_home):
    app = open_page(published_home, "claims", sensitive="true")
    claims = listed(app)
    assert list(claims[["At 5 %", "Rule", "At 15 %"]].itertuples(name=None)) == [
        ("C01", "✖ does not hold", "◐ partly", "◐ partly"),
        ("C29", "◐ partly", "✓ holds", "✓ holds"),
    ]


def test_a_claim_names_the_tolerance_of_the_rule_and_who_reviewed_it(open_page, published_home):
    shown = said(open_page(published_home, "claims", claim="C29"))
    assert "**Its tolerance:** 10 % of the claimed number; at 5 %: ◐ partly; at 15 %: ✓ holds" in shown.replace(
        "\\", ""
    )
    assert "**Verdict of the maintainers:** ✓ holds" in shown
    assert "Its tolerance" not in said(open_page(published_home, "claims", claim="C07"))


def test_a_claim_in_the_address_shows_its_arithmetic_and_its_figures(open_page, published_home):
    app = open_page(published_home, "claims", claim="C02")
    assert "lowest 3.11 = 7441 / 2396\nhighest 18.03 = 10370 / 575" in said(app)
    assert "1 of 12 agree, 6 above, 5 below" in said(app)
    figures = rows(app, "Figure")
    assert len(figures) == 24
    assert {2396, 7441, 575, 10370} <= set(figures["Value"])
    links = {link.proto.label: link.proto.query_string for link in app.get("page_link")}
    assert links["Compare the first 12 of 24 configurations"].count("configurations=") == 12


def test_each_rate_behind_a_claim_leads_to_its_own_capacity(warehouse):
    rates = {
        row["configuration_id"]: row["rate"]
        for row in warehouse.query("select configuration_id, rate from capacity where origin = 'published'").to_pylist()
    }
    for claim in queries.ask(warehouse, "claims_claims").to_pylist():
        figures = queries.ask(warehouse, "claims_figures", claim_id=claim["claim_id"]).to_pylist()
        assert [figure["figure_id"] for figure in figures] == sorted(claim["figure_ids"]), claim["claim_id"]
        for figure in figures:
            if figure["rate_unit"] is not None and figure["value"] is not None:
                assert rates[figure["configuration_id"]] == figure["value"], figure["figure_id"]
            else:
                assert figure["configuration_id"] is None


def test_the_way_to_compare_names_configurations_as_that_page_does(open_page, published_home, warehouse):
    figures = queries.ask(warehouse, "claims_figures", claim_id="C14").to_pylist()
    labels = [queries.labels(warehouse)[figure["configuration_id"]] for figure in figures]
    app = open_page(published_home, "compare", configurations=labels)
    assert not [each for each in app.warning if "not in this warehouse" in each.value]
