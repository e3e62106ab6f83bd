"""Tutorials, how-to pages and README show what the commands print: each block is run on the bundled examples."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dropline import cli

ROOT = Path(__file__).parent.parent
PAGES = sorted(page for folder in ("tutorial", "how-to") for page in (ROOT / "docs" / folder).glob("*.md"))
BLOCKS = [
    (page.stem, command, shown)
    for page in PAGES
    for command, shown in re.findall(
        r'```console\n\$ \.venv/bin/dropline (sql ".*?")\n(.*?)```', page.read_text("utf-8"), re.DOTALL
    )
]
QUERIES = re.findall(r"(?:^    .*\n)+", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)


def test_every_console_block_is_a_command_with_its_output():
    assert len(BLOCKS) == sum(page.read_text("utf-8").count("```console") for page in PAGES) >= 12


@pytest.mark.parametrize(("page", "command", "shown"), BLOCKS, ids=[page for page, _, _ in BLOCKS])
def test_a_command_prints_what_its_page_shows(examples_home, page, command, shown):
    done = CliRunner().invoke(cli.app, ["--home", str(examples_home), *shlex.split(command)])
    assert (done.stdout, done.stderr) == (shown, ""), page


def test_the_sql_of_the_readme_runs_as_it_stands(examples_home):
    queries = [block for block in QUERIES if block.strip().startswith("select")]
    assert len(queries) >= 6
    for query in queries:
        done = CliRunner().invoke(cli.app, ["--home", str(examples_home), "sql", query])
        assert done.exit_code == 0, query
        assert "(0 rows)" not in done.stdout, query
