"""The shape of the project: who may import whom, what starts fast, and what a checkout may hold."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
ROOMS_NOT_IMPORTED = {
    "ingest": {"app", "expectations", "pipeline", "cli"},
    # it reads files, and writes no lake
    "app": {"expectations", "pipeline", "cli"} | {f"ingest.{name}" for name in ("lake", "loader", "reparsing")},
    "expectations": {"app", "pipeline", "cli"},
    "inference": {"app", "expectations", "ingest", "pipeline", "cli"},
    # it reads what generators print, and writes no lake
    "measure": {"app", "expectations", "pipeline", "cli", "report", "ingest.lake", "ingest.loader"},
    "report": {"expectations", "ingest", "pipeline", "cli"},
}
PACKAGES_NOT_IMPORTED = {
    "ingest": {"dbt", "streamlit", "great_expectations", "pandas"},
    "app": {"dbt", "great_expectations"},
    "expectations": {"dbt", "streamlit"},
    "inference": {"dbt", "streamlit", "duckdb", "pandas"},
    "measure": {"dbt", "streamlit", "great_expectations", "pandas"},
    "report": {"dbt", "streamlit", "duckdb", "pandas"},
}


def imported(file):
    """The modules that a file imports, and the packages that they lie in."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.rsplit(".", cut)[0] for name in names for cut in range(name.count(".") + 1)}


@pytest.mark.parametrize("room", ROOMS_NOT_IMPORTED)
def test_imports_run_downwards_only(room):
    forbidden = {f"dropline.{name}" for name in ROOMS_NOT_IMPORTED[room]} | PACKAGES_NOT_IMPORTED[room]
    for file in (ROOT / room).rglob("*.py"):
        assert not imported(file) & forbidden, file


HEAVY = {"dbt", "great_expectations", "streamlit", "altair"}


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        ("cli", {"duckdb", "pyarrow", "pandas", *HEAVY}),
        ("app.warehouse, dropline.app.planner", {"pandas", *HEAVY}),
        ("ingest.loader", {"pandas", *HEAVY}),
        ("pipeline", HEAVY),
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(modules, heavy):
    script = f"import dropline.{modules}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())


def test_lock_files_pin_with_hashes_and_name_no_index():
    for lock in ROOT.glob("requirements*.lock"):
        text = lock.read_text("utf-8")
        assert "://" not in text
        assert "--index-url" not in text
        pinned = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
        added = {"setup": 1, "client": 1, "peers": 4}.get(lock.stem.removeprefix("requirements-"))  # to others
        assert len(pinned) == added if added else len(pinned) > 20
        assert all("==" in line for line in pinned)
        assert text.count("--hash=sha256:") >= len(pinned)


def test_every_model_has_its_description_beside_it():
    for model in (ROOT / "models").rglob("*.sql"):
        described = model.with_suffix(".yml").read_text("utf-8")
        assert f"name: {model.stem}\n" in described
        if model.parent.name in {"marts", "intermediate", "staging"}:
            assert "One row per" in described, f"{model.stem} does not say what a row is"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_a_page_lead_somewhere(page):
    links = re.findall(r"\]\((?!http|#)([^)#]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_reader_is_in_the_reference():
    from dropline.ingest.formats import READERS
    from dropline.ingest.telemetry import TELEMETRY_READERS

    page = (ROOT / "docs" / "reference" / "formats.md").read_text("utf-8")
    assert [reader.NAME for reader in (*READERS, *TELEMETRY_READERS) if f"`{reader.NAME}`" not in page] == []


def test_the_how_to_of_a_new_format_shows_the_files_as_they_are():
    page = (ROOT / "docs" / "how-to" / "add-a-format.md").read_text("utf-8")
    for file in ("ingest/formats/queryperf.py", "tests/captures/dns/tools/queryperf/documented/queryperf.out"):
        assert (ROOT / file).read_text("utf-8").strip() in page, file
    (line,) = re.findall(r"```text\n( +.*\"queryperf\".*)\n```", page)
    assert line in (ROOT / "ingest" / "formats" / "__init__.py").read_text("utf-8")
