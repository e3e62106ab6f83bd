"""The reference page of expectations."""

from collections import Counter
from pathlib import Path

from dropline.expectations import catalogue

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "quality.md"


def test_the_page_is_what_the_code_says():
    assert PAGE.read_text("utf-8") == catalogue.page(), (
        "write it again: python -m dropline.expectations.catalogue > docs/reference/quality.md"
    )


def test_a_finding_means_one_thing():
    codes = Counter(code for suite in catalogue.SUITES for code in suite.expectations)
    assert [code for code, times in codes.items() if times > 1] == []
