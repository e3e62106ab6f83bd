"""Fixtures of the app's tests: the app over a home, and homes in odd states."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from altair.utils import schemapi
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from dropline.app import planner
from dropline.app.charts import theme  # noqa: F401 - it stops Altair's validation of charts

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb

schemapi.enable_debug_mode()
# Each AppTest would read the metadata of all packages, to find that none has components.
manifest_scanner.scan_component_manifests = list

MAIN = Path(__file__).parents[2] / "app" / "main.py"


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Return a function that runs one page over a home; keyword arguments are the address's parameters."""

    def run(home: Path, page: str = "results", /, **address: str | list[str]) -> AppTest:
        monkeypatch.setenv("DROPLINE_HOME", str(home))
        app = AppTest.from_file(str(MAIN), default_timeout=30)
        if page != "results":
            app.switch_page(f"views/{page}.py")
        for name, value in address.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, [each.value for each in app.exception]
        return app

    return run


@pytest.fixture(scope="session")
def blank() -> duckdb.DuckDBPyConnection:
    """The calculator without a warehouse."""
    return planner.blank()
