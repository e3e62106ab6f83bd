from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.homes import asking


@pytest.fixture(scope="session")
def sql(warehouse_home: Path) -> Iterator[Callable[..., list[tuple[Any, ...]]]]:
    """Run one query against the warehouse of the examples of Kea."""
    with asking(warehouse_home) as asked:
        yield asked


@pytest.fixture(scope="session")
def sql_of_examples(examples_home: Path) -> Iterator[Callable[..., list[tuple[Any, ...]]]]:
    """Run one query against the warehouse of all examples."""
    with asking(examples_home) as asked:
        yield asked
