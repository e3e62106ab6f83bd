"""Queries of the page Machines: hosts and server configurations, leaf by leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dropline.app.queries.files import text

if TYPE_CHECKING:
    import pyarrow as pa

    from dropline.app.warehouse import Warehouse


def hosts(warehouse: Warehouse) -> pa.Table:
    """Return the hosts, measured first, each with a unique `label` and its number of runs."""
    return warehouse.query(text("machines_hosts"))


def server_configurations(warehouse: Warehouse) -> pa.Table:
    """Return the server configurations by campaign and path, each with a unique `label` and its number of runs."""
    return warehouse.query(text("machines_server_configurations"))


def facts_of_hosts(warehouse: Warehouse, a: str, b: str | None = None) -> pa.Table:
    """Return every fact of a host, or of two side by side.

    One row per aspect and item: value_a, value_b, may_be_absent (null means not set, else not stated), differs,
    is_one_sided (the other side has no such list), grade (minor | unfair | unknown; null if comparisons of capacities
    ignore the item) and why it matters.
    """
    return warehouse.query(text("machines_compared", leaves="machines_leaves_of_hosts"), {"a": a, "b": b})


def facts_of_server_configurations(warehouse: Warehouse, a: str, b: str | None = None) -> pa.Table:
    """Return every setting of a server configuration, or of two, in the columns of `facts_of_hosts`."""
    return warehouse.query(
        text("machines_compared", leaves="machines_leaves_of_server_configurations"), {"a": a, "b": b}
    )


def used_by(warehouse: Warehouse, *, host_id: str | None = None, server_config_id: str | None = None) -> pa.Table:
    """Return the runs on a host or with a server configuration, and its published figures.

    One row per run, and per published configuration (run_id is null): configuration_id, configuration, origin,
    campaign, run_id, repetition, started_at, rate, rate_unit, status, qualifier.
    """
    return warehouse.query(text("machines_used_by"), {"host_id": host_id, "server_config_id": server_config_id})
