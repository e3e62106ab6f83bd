"""What the data must be like, and the gate that holds it against that.

Great Expectations decides; it is imported only when there is something to check.
"""

from dropline.expectations.gate import check_lake, check_marts
from dropline.expectations.suite import Expectation, Finding, Suite

__all__ = ["Expectation", "Finding", "Suite", "check_lake", "check_marts"]
