"""Measurements that run by themselves: a generator is driven to the capacity, and what it printed is kept."""
