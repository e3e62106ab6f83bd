"""The warehouse in the hands of DuckDB clients that people have: the oldest that answers all functions, and the newest.

Each is alone in its folder, as after `pip install duckdb`: no pytz, no pandas, nothing else of an environment.
"""

import json
import re
import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements-client.lock"
OLDEST = re.match(r"duckdb==(\S+)", LOCK.read_text("utf-8"))[1]
PAGE = (ROOT / "docs" / "reference" / "sql-functions.md").read_text("utf-8")
QUESTIONS = [
    *re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL),
    *(f"from {path.stem} order by all limit 3" for path in sorted((ROOT / "models" / "marts").glob("*.sql"))),
    "from build_info",
]
ASK = """
import json, sys
folder, file = sys.argv[1:]
sys.path.insert(0, folder)
import duckdb
connection = duckdb.connect(file, read_only=True)
rounded = lambda value: float(f"{value:.9g}") if isinstance(value, float) else value
def answered(question):  # rows that the question leaves in no order are put in one
    return sorted(([rounded(value) for value in row] for row in connection.execute(question).fetchall()), key=str)
said = [answered(question) for question in json.load(sys.stdin)]
print(json.dumps([duckdb.__version__, "pytz" in sys.modules, said], default=str))
"""


def ask(folder, home):
    """Ask everything with the DuckDB in `folder`, by a Python that knows no other package."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", ASK, folder, home / "warehouse.duckdb"],
        input=json.dumps(QUESTIONS),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def oldest(tmp_path_factory):
    folder = tmp_path_factory.mktemp("oldest")
    options = ["--quiet", "--no-deps", "--no-compile", "--only-binary", ":all:", "--require-hashes"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", folder, "--requirement", LOCK],
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        pytest.fail(
            f"DuckDB {OLDEST} could not be installed, so nobody knows if it still opens the warehouse. Is the package "
            f"index reachable? pip says:\n{done.stderr}"
        )
    return folder


@pytest.fixture(scope="module")
def newest(tmp_path_factory):
    """The DuckDB that the warehouse is built with."""
    folder = tmp_path_factory.mktemp("newest")
    for name in {file.parts[0] for file in files("duckdb") or []} - {".."}:
        (folder / name).symlink_to(Path(duckdb.__file__).parents[1] / name)
    return folder


def test_the_oldest_and_the_newest_client_give_the_same_answers(oldest, newest, warehouse_home):
    old_version, old_pytz, old = ask(oldest, warehouse_home)
    new_version, new_pytz, new = ask(newest, warehouse_home)
    assert (old_version, old_pytz, new_pytz) == (OLDEST, False, False)
    assert new_version != old_version
    for question, before, now in zip(QUESTIONS, old, new, strict=True):
        assert before == now, question
    functions = [question for question in QUESTIONS if not question.startswith("from ")]
    assert all(answer for question, answer in zip(QUESTIONS, new, strict=True) if question in functions)


def test_the_documentation_names_the_oldest_client():
    pages = ("README.md", "docs/tutorial/first-steps.md", "docs/reference/sql-functions.md")
    for page in (*pages, "docs/how-to/ask-a-question-in-sql.md"):
        assert f"client from {OLDEST} on" in " ".join((ROOT / page).read_text("utf-8").split()), page
