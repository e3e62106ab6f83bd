"""Expectations of the data, and the gate that checks them.

A build counts failing rows; Great Expectations, which takes seconds to import, judges the counts in `dropline check`.
"""

from dropline.expectations.gate import check_lake, check_marts
from dropline.expectations.suite import Expectation, Finding, Suite

__all__ = ["Expectation", "Finding", "Suite", "check_lake", "check_marts"]
