"""Expectations of the data, and the gate that checks them.

Great Expectations decides; it is imported only when there is something to check.
"""

from dropline.expectations.gate import check_lake, check_marts
from dropline.expectations.suite import Expectation, Finding, Suite

__all__ = ["Expectation", "Finding", "Suite", "check_lake", "check_marts"]
