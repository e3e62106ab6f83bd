"""The page of claims: what is said, what the figures give, and the way to the figures."""

from dropline.app import queries
from tests.app.shown import links, rows


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


def test_where_rule_and_maintainers_differ_can_be_seen_alone(open_page, published_home):
    app = open_page(published_home, "claims")
    app.toggle("differing").set_value(True).run()
    claims = listed(app)
    assert len(claims) == 14  # docs/explanation/claims.md
    assert not ((claims["Maintainers"] == "✓ holds") & (claims["Rule"] == "✓ holds")).any()


def test_a_claim_in_the_address_shows_its_figures_and_leads_to_their_comparison(open_page, published_home):
    app = open_page(published_home, "claims", claim="C02")
    figures = rows(app, "Figure")
    assert len(figures) == 24
    assert {2396, 7441, 575, 10370} <= set(figures["Value"])
    way = links(app)["Compare the first 12 of 24 configurations"]
    assert len(open_page(published_home, way.page, **way.choices).multiselect("configurations").value) == 12
