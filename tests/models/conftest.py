from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="session")
def connection(warehouse_home: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(str(warehouse_home / "warehouse.duckdb"), read_only=True)
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def sql(connection: duckdb.DuckDBPyConnection) -> Callable[..., Rows]:
    """Run one query against the warehouse of the examples."""
    return lambda query, *parameters: connection.execute(query, list(parameters)).fetchall()
