"""Fixtures of the app's tests: the app over a home, and homes in odd states."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from dropline.app.warehouse import Warehouse

if TYPE_CHECKING:
    from collections.abc import Callable

MAIN = Path(__file__).parents[2] / "app" / "main.py"
HOSTILE = "<script>alert(1)</script> **bold** [link](http://evil.example) :material/bolt: $x$ `code`"


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
def warehouse(warehouse_home: Path) -> Warehouse:
    """The warehouse of the bundled examples."""
    return Warehouse.open(warehouse_home / "warehouse.duckdb")


@pytest.fixture(scope="session")
def hostile() -> str:
    """Text that is markup almost everywhere."""
    return HOSTILE


@pytest.fixture(scope="session")
def hostile_home(warehouse_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples, but every text that comes from files tries to be markup."""
    home = tmp_path_factory.mktemp("hostile")
    with duckdb.connect(str(home / "warehouse.duckdb")) as database:
        database.execute(f"attach '{warehouse_home / 'warehouse.duckdb'}' as source (read_only)")
        database.execute("copy from database source to warehouse")
        for table, column in (
            ("configurations", "configuration"),
            ("capacity", "configuration"),
            ("capacity", "backend"),
            ("trials", "source_path"),
            ("trials", "command"),
            ("quality_findings", "detail"),
            ("quality_findings", "source_path"),
            ("claims", "statement"),
            ("claims", "reason"),
            ("hosts", "name"),
            ("hosts", "cpu_model"),
            ("server_configurations", "source_path"),
        ):
            database.execute(f"update {table} set {column} = $1 || coalesce({column}, '')", [HOSTILE])
        database.execute("update trials set conflicts = [$1]", [HOSTILE])
    return home
