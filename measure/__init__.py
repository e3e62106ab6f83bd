"""Unattended measurements, which drive a generator to the capacity and keep its outputs."""
