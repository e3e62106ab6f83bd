"""Expectations of the data, and the gate that checks them.

A build only counts failing rows; in `dropline check`, Great Expectations, which takes seconds to import, judges them.
"""
