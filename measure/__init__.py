"""Unattended measurements: drive a generator to the capacity and keep its outputs."""
