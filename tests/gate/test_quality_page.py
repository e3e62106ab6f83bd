"""The handbook's page of expectations, and what every expectation must say for itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from dropline.expectations import catalogue

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "quality.md"
ALL = [one for suite in catalogue.SUITES for one in suite.expectations]


def test_the_page_is_what_the_code_says():
    assert PAGE.read_text("utf-8") == catalogue.page(), (
        "write it again: python -m dropline.expectations.catalogue > docs/reference/quality.md"
    )


def test_a_finding_means_one_thing():
    assert [code for code, times in Counter(one.code for one in ALL).items() if times > 1] == []


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.code)
def test_every_expectation_gives_its_ground_in_one_sentence(one):
    assert one.code.isidentifier() and one.code.islower()
    assert one.reason[0].isupper() or one.reason.startswith("perfdhcp")
    assert one.reason.endswith(".") and len(one.reason) > 20
