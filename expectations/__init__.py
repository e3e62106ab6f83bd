"""Expectations of the data, and the gate that checks them.

A build counts failing rows; Great Expectations, which takes seconds to import, judges the counts in `dropline check`.
"""
